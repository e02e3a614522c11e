package lmstudio

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"interpreter/local"
)

// entry is a model as one of the lists tells of it.
type entry struct {
	key       string   // what a request names it by
	variants  []string // the same model in other quantizations, as key@quantization
	selected  string   // the variant that the key stands for
	arch      string
	quant     string
	params    string
	format    string // "gguf" or "mlx"
	size      int64  // bytes of its files, 0 when the list does not say
	trained   int    // most tokens of a window
	declares  bool   // the list tells what the model can do
	tools     bool   // trained to call them
	vision    bool
	efforts   []string // allowed settings of its reasoning; nil: it has none, or the list does not say
	blunt     bool     // the list says that it has no reasoning
	instances []instance
}

// instance is a model in memory. window and slots are 0 when the list does not say.
type instance struct {
	id     string
	window int
	slots  int
}

// text is a JSON string; anything else is none.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)
	}
	return nil
}

// number is a count in JSON; anything that is none is 0.
type number int64

func (n *number) UnmarshalJSON(b []byte) error {
	var f float64
	if json.Unmarshal(b, &f) == nil && f > 0 && f < math.MaxInt64/2 {
		*n = number(f)
	}
	return nil
}

// flag is true in JSON; anything else is not.
type flag bool

func (f *flag) UnmarshalJSON(b []byte) error {
	*f = string(b) == "true"
	return nil
}

// lenient decodes what fits into a value and leaves the rest as it is: a list with one strange member stays a list.
type lenient[T any] struct {
	value T
	given bool
}

func (l *lenient[T]) UnmarshalJSON(b []byte) error {
	var v T
	if string(b) != "null" && json.Unmarshal(b, &v) == nil {
		l.value, l.given = v, true
	}
	return nil
}

// mostTokens is more than any window; a larger number is none.
const mostTokens = 1 << 30

func (n number) tokens() int {
	if n > mostTokens {
		return 0
	}
	return int(n)
}

type v1Model struct {
	Type         text                `json:"type"`
	Key          text                `json:"key"`
	Architecture text                `json:"architecture"`
	Quantization lenient[v1Quant]    `json:"quantization"`
	Size         number              `json:"size_bytes"`
	Params       text                `json:"params_string"`
	Instances    lenient[[]v1Loaded] `json:"loaded_instances"`
	Window       number              `json:"max_context_length"`
	Format       text                `json:"format"`
	Can          lenient[v1Can]      `json:"capabilities"`
	Variants     lenient[[]text]     `json:"variants"`
	Selected     text                `json:"selected_variant"`
}

type v1Quant struct {
	Name text `json:"name"`
}

// UnmarshalJSON also takes the name alone.
func (q *v1Quant) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, (*string)(&q.Name)) == nil {
		return nil
	}
	type plain v1Quant
	return json.Unmarshal(b, (*plain)(q))
}

type v1Loaded struct {
	ID     text `json:"id"`
	Config struct {
		Window   number `json:"context_length"`
		Parallel number `json:"parallel"`
	} `json:"config"`
}

type v1Can struct {
	Vision    flag `json:"vision"`
	Tools     flag `json:"trained_for_tool_use"`
	Reasoning lenient[struct {
		Options []text `json:"allowed_options"`
	}] `json:"reasoning"`
}

// decodeV1 reads the list since release 0.4.0. false means that this is not that list.
func decodeV1(body []byte) ([]entry, bool) {
	var list struct {
		Models lenient[[]lenient[v1Model]] `json:"models"`
	}
	if json.Unmarshal(body, &list) != nil || !list.Models.given {
		return nil, false
	}
	var out []entry
	keyed := len(list.Models.value) == 0
	for _, m := range list.Models.value {
		v := m.value
		if v.Key == "" {
			continue
		}
		keyed = true
		if strings.HasPrefix(string(v.Type), "embedding") {
			continue
		}
		e := entry{
			key: string(v.Key), selected: string(v.Selected), arch: string(v.Architecture), quant: string(v.Quantization.value.Name),
			params: string(v.Params), format: string(v.Format), size: int64(v.Size), trained: v.Window.tokens(),
			declares: v.Can.given, tools: bool(v.Can.value.Tools), vision: bool(v.Can.value.Vision),
		}
		for _, o := range v.Can.value.Reasoning.value.Options {
			e.efforts = append(e.efforts, strings.ToLower(string(o)))
		}
		e.blunt = e.declares && !v.Can.value.Reasoning.given
		for _, variant := range v.Variants.value {
			if variant != "" {
				e.variants = append(e.variants, string(variant))
			}
		}
		for _, i := range v.Instances.value {
			if i.ID != "" {
				e.instances = append(e.instances, instance{string(i.ID), i.Config.Window.tokens(), i.Config.Parallel.tokens()})
			}
		}
		out = append(out, e)
	}
	return out, keyed
}

type v0Model struct {
	ID           text            `json:"id"`
	Type         text            `json:"type"`
	Architecture text            `json:"arch"`
	Format       text            `json:"compatibility_type"`
	Quantization text            `json:"quantization"`
	State        text            `json:"state"`
	Window       number          `json:"max_context_length"`
	Loaded       number          `json:"loaded_context_length"`
	Can          lenient[[]text] `json:"capabilities"`
	Owner        text            `json:"owned_by"`
	Served       number          `json:"max_model_len"` // vLLM and its like name the window so
}

// data reads the list of models in the shape that the older API and the OpenAI style share.
func data(body []byte) (models []v0Model, ok bool) {
	var list struct {
		Data lenient[[]lenient[v0Model]] `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil || !list.Data.given {
		return nil, false
	}
	for _, m := range list.Data.value {
		if m.value.ID != "" {
			models = append(models, m.value)
		}
	}
	return models, len(models) > 0 || len(list.Data.value) == 0
}

// decodeV0 reads the list since release 0.3.6. false means that this is not that list.
func decodeV0(body []byte) ([]entry, bool) {
	models, ok := data(body)
	if !ok {
		return nil, false
	}
	var out []entry
	stated := len(models) == 0
	for _, m := range models {
		stated = stated || m.State != ""
		if strings.HasPrefix(string(m.Type), "embedding") {
			continue
		}
		e := entry{
			key: string(m.ID), arch: string(m.Architecture), quant: string(m.Quantization), format: string(m.Format),
			trained: m.Window.tokens(), declares: m.Can.given, vision: m.Type == "vlm",
		}
		for _, c := range m.Can.value {
			e.tools = e.tools || strings.EqualFold(string(c), "tool_use")
		}
		if m.State == "loaded" {
			e.instances = []instance{{id: e.key, window: m.Loaded.tokens()}}
		}
		out = append(out, e)
	}
	return fold(out), stated
}

// fold makes of further instances that the older list shows as models of their own, key:2 beside key, what they are.
func fold(list []entry) []entry {
	var out []entry
	for _, e := range list {
		base, number, ok := cutNumber(e.key)
		at := slices.IndexFunc(list, func(o entry) bool { return ok && number > 1 && strings.EqualFold(o.key, base) })
		if at < 0 || len(e.instances) == 0 {
			out = append(out, e)
		}
	}
	for i := range out {
		for _, e := range list {
			if base, number, ok := cutNumber(e.key); ok && number > 1 && strings.EqualFold(base, out[i].key) {
				out[i].instances = append(out[i].instances, e.instances...)
			}
		}
	}
	return out
}

// cutNumber takes the number off the id of a further instance.
func cutNumber(id string) (base string, number int, ok bool) {
	at := strings.LastIndexByte(id, ':')
	if at < 1 || at+1 == len(id) || len(id)-at > 4 {
		return id, 0, false
	}
	for _, r := range id[at+1:] {
		if r < '0' || r > '9' {
			return id, 0, false
		}
		number = number*10 + int(r-'0')
	}
	return id[:at], number, true
}

// decodeOpenAI reads the list in the OpenAI style. It tells names alone; foreign names another program whose list
// looks the same.
func decodeOpenAI(body []byte) (out []entry, foreign string, ok bool) {
	models, ok := data(body)
	for _, m := range models {
		owner := strings.ReplaceAll(strings.ToLower(string(m.Owner)), "-", "_")
		if owner != "" && !strings.Contains(owner, "organization") && !strings.Contains(owner, "studio") || m.Served > 0 {
			foreign = cmp.Or(owner, "another server")
		}
		if !strings.HasPrefix(string(m.ID), "text-embedding-") {
			out = append(out, entry{key: string(m.ID)})
		}
	}
	return out, foreign, ok
}

// is reports whether a person's name means this model: its key, one of its variants, or an instance of it.
func (e entry) is(name string) bool {
	return local.SameModel(e.key, name) ||
		slices.ContainsFunc(e.variants, func(v string) bool { return local.SameModel(v, name) }) ||
		slices.ContainsFunc(e.instances, func(i instance) bool { return strings.EqualFold(i.id, name) })
}

// variant is what a person's name asks for beside the key: another quantization than the one that the key stands for.
func (e entry) variant(name string) string {
	for _, v := range e.variants {
		if local.SameModel(v, name) && !local.SameModel(v, e.selected) {
			return v
		}
	}
	return ""
}

// info is what is known of a model.
func (e entry) info(provider string) local.ModelInfo {
	info := local.ModelInfo{
		Name: e.key, Provider: provider, Size: e.size, Family: e.arch, Architecture: e.arch, Parameters: e.params,
		Quantization: e.quant, Format: strings.ToLower(e.format), Trained: e.trained,
	}
	if !e.declares {
		return info
	}
	info.Capabilities = []string{"completion"}
	if e.tools {
		info.Capabilities = append(info.Capabilities, "tools")
	}
	if slices.ContainsFunc(e.efforts, func(s string) bool { return s != "off" }) {
		info.Capabilities = append(info.Capabilities, "thinking")
	}
	if e.vision {
		info.Capabilities = append(info.Capabilities, "vision")
	}
	return info
}

// enough finds an instance with at least so large a window: the one that fits best, or one whose window the list does
// not tell.
func (e entry) enough(window int) (instance, bool) {
	var best instance
	for _, i := range e.instances {
		if i.window >= window && (best.id == "" || i.window < best.window) {
			best = i
		}
	}
	if best.id != "" {
		return best, true
	}
	at := slices.IndexFunc(e.instances, func(i instance) bool { return i.window == 0 })
	if at < 0 {
		return instance{}, false
	}
	return e.instances[at], true
}
