package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
)

// listed is a model as GET /v1/models lists it. Beside the id each kind of server has members of its own: llama.cpp a
// meta, and in its router a status; vLLM and SGLang max_model_len; others context_length or context_window.
type listed struct {
	ID      string `json:"id"`
	Owner   string `json:"owned_by"`
	MaxLen  int    `json:"max_model_len"`
	Context int    `json:"context_length"`
	Window  int    `json:"context_window"`
	Meta    *struct {
		Trained    int     `json:"n_ctx_train"`
		Served     int     `json:"n_ctx"`
		Parameters float64 `json:"n_params"`
		Size       int64   `json:"size"`
	} `json:"meta"`
	Status *struct {
		Value string `json:"value"`
	} `json:"status"`
}

// window is the window that the list says is served, 0 when it does not say.
func (m listed) window() int {
	if m.Meta != nil && believed(m.Meta.Served) > 0 {
		return m.Meta.Served
	}
	return cmp.Or(believed(m.MaxLen), believed(m.Context), believed(m.Window))
}

// believed is a count that a server tells, 0 for one that no model has: sums are made of it.
func believed(n int) int {
	if n < 0 || n > 1<<30 {
		return 0
	}
	return n
}

// resident reports whether a model is in memory: all that a server lists are, but for those that llama.cpp's router
// says are not.
func (m listed) resident() bool {
	return m.Status == nil || m.Status.Value == "" || m.Status.Value == "loaded"
}

func (m listed) info(provider string) local.ModelInfo {
	info := local.ModelInfo{Name: m.ID, Provider: provider, Configured: m.window()}
	if m.Meta != nil {
		info.Trained, info.Size, info.Parameters = believed(m.Meta.Trained), min(max(m.Meta.Size, 0), 1<<50), parameters(m.Meta.Parameters)
	}
	return info
}

// parameters is a number of weights as people write it.
func parameters(n float64) string {
	switch {
	case n <= 0:
		return ""
	case n >= 1e9:
		return fmt.Sprintf("%.1fB", n/1e9)
	}
	return fmt.Sprintf("%.0fM", n/1e6)
}

// list asks what is served and remembers by that what kind of server it is.
func (p *Provider) list(ctx context.Context) ([]listed, error) {
	var answer struct {
		Data []listed `json:"data"`
	}
	address := p.api + "/models"
	if err := p.ask(ctx, listFor, address, "", &answer); err != nil {
		return nil, err
	}
	if answer.Data == nil {
		return nil, p.stranger(address, nil, "")
	}
	list := slices.DeleteFunc(answer.Data, func(m listed) bool { return m.ID == "" })
	for _, m := range list {
		switch m.Owner {
		case "llamacpp":
			p.kind.Store("llama.cpp")
		case "vllm", "sglang":
			p.kind.Store(m.Owner)
		}
	}
	return list, nil
}

// props is what llama.cpp's server tells of itself.
type props struct {
	Settings struct {
		Window int `json:"n_ctx"`
	} `json:"default_generation_settings"`
	Slots      int    `json:"total_slots"`
	Alias      string `json:"model_alias"`
	Template   string `json:"chat_template"`
	WithTools  string `json:"chat_template_tool_use"`
	Build      string `json:"build_info"`
	Role       string `json:"role"`
	Modalities struct {
		Vision bool `json:"vision"`
	} `json:"modalities"`
}

// props asks for them; ok is false when the server has none. model names one of several behind llama.cpp's router,
// which loads it when asked to, within the time given; otherwise it is "".
func (p *Provider) props(ctx context.Context, model string, limit time.Duration) (out props, ok bool, err error) {
	address := p.base + "/props"
	if model != "" {
		query := url.Values{"model": {model}}
		if limit <= listFor {
			query.Set("autoload", "false")
		}
		address += "?" + query.Encode()
	}
	err = p.ask(ctx, limit, address, model, &out)
	out.Settings.Window, out.Slots = believed(out.Settings.Window), believed(out.Slots)
	var failure *chat.Error
	switch {
	case err == nil:
		ok = out.Settings.Window > 0 || out.Build != "" || out.Slots > 0 || out.Role != ""
		if ok {
			p.kind.Store("llama.cpp")
		}
		return out, ok, nil
	case errors.As(err, &failure) && failure.Status != 0 && failure.Kind != chat.Busy:
		return props{}, false, nil // no such call here
	}
	return props{}, false, err
}

// Version asks the server who it is: the kind and, where it says so, its version.
func (p *Provider) Version(ctx context.Context) (string, error) {
	if _, err := p.list(ctx); err != nil {
		return "", err
	}
	if kind := p.kind.Load(); kind == "llama.cpp" || kind == "" {
		props, ok, err := p.props(ctx, "", listFor)
		if err != nil {
			return "", err
		}
		if ok {
			return strings.TrimSpace("llama.cpp " + props.Build), nil
		}
	}
	var answer struct {
		Version string `json:"version"`
	}
	if err := p.ask(ctx, listFor, p.base+"/version", "", &answer); err != nil && ctx.Err() != nil {
		return "", err
	}
	kind, _ := p.kind.Load().(string)
	if kind == "" && answer.Version == "" {
		return "of an unknown version", nil
	}
	return strings.TrimSpace(kind + " " + answer.Version), nil
}

// Models lists what the server serves, in its order.
func (p *Provider) Models(ctx context.Context) ([]local.ModelInfo, error) {
	list, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	var all []local.ModelInfo
	for _, m := range list {
		all = append(all, m.info(p.Name()))
	}
	return all, nil
}

// find is a model of the list.
func (p *Provider) find(ctx context.Context, name string) (listed, error) {
	list, err := p.list(ctx)
	if err != nil {
		return listed{}, err
	}
	var names []string
	for _, m := range list {
		if m.ID == name || local.SameModel(m.ID, name) {
			return m, nil
		}
		names = append(names, m.ID)
	}
	failure := &chat.Error{
		Kind: chat.Missing, Model: name, Detail: fmt.Sprintf("%s at %s does not serve it", p.Name(), p.Address()),
		Remedy: fmt.Sprintf("start the server with %s", name),
	}
	if len(names) > 0 {
		failure.Remedy = fmt.Sprintf("name one that it serves (%s), or start it with %s", strings.Join(names[:min(len(names), 8)], ", "), name)
	}
	return listed{}, failure
}

// served is what the server tells of a model, the list and llama.cpp's props together. A model that is not in memory
// has no props unless limit leaves time to load it.
func (p *Provider) served(ctx context.Context, m listed, limit time.Duration) (props, error) {
	if kind := p.kind.Load(); kind != "" && kind != "llama.cpp" {
		return props{}, nil
	}
	name := ""
	if m.Status != nil {
		name = m.ID
		if !m.resident() && limit <= listFor {
			return props{}, nil
		}
	}
	out, _, err := p.props(ctx, name, limit)
	return out, err
}

// Show tells what the server says of a model. Configured is the window that is served. What a model can do is known
// only where its template is told and speaks of tools; servers can have other ways to offer tools, so that a template
// which does not leaves it unknown.
func (p *Provider) Show(ctx context.Context, name string) (local.ModelInfo, error) {
	m, err := p.find(ctx, name)
	if err != nil {
		return local.ModelInfo{}, err
	}
	told, err := p.served(ctx, m, listFor)
	if err != nil {
		return local.ModelInfo{}, err
	}
	info := m.info(p.Name())
	info.Configured = cmp.Or(told.Settings.Window, info.Configured, p.options.Window)
	info.Template = cmp.Or(told.WithTools, told.Template)
	if both := told.Template + told.WithTools; strings.Contains(both, "tools") {
		info.Capabilities = []string{"completion", "tools"}
		if strings.Contains(both, "think") || strings.Contains(both, "reasoning") {
			info.Capabilities = append(info.Capabilities, "thinking")
		}
		if told.Modalities.Vision {
			info.Capabilities = append(info.Capabilities, "vision")
		}
	}
	return info, nil
}

// Loaded lists what is served, with the window and the slots of each as far as the server says. Where it says nothing
// of any window, the one that a person named counts.
func (p *Provider) Loaded(ctx context.Context) ([]local.Resident, error) {
	list, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	var all []local.Resident
	for _, m := range list {
		if !m.resident() {
			continue
		}
		r, err := p.resident(ctx, m, listFor)
		if err != nil {
			return nil, err
		}
		if r.Window > 0 {
			all = append(all, r)
		}
	}
	return all, nil
}

func (p *Provider) resident(ctx context.Context, m listed, limit time.Duration) (local.Resident, error) {
	told, err := p.served(ctx, m, limit)
	if err != nil {
		return local.Resident{}, err
	}
	r := local.Resident{Name: m.ID, Guessed: true, Slots: told.Slots, Window: cmp.Or(told.Settings.Window, m.window(), p.options.Window)}
	if m.Meta != nil {
		r.Size = min(max(m.Meta.Size, 0), 1<<50)
	}
	return r, nil
}

// Load has nothing to load, but for llama.cpp's router: a server was started with its model and its window.
func (p *Provider) Load(ctx context.Context, info local.ModelInfo, l local.Loading) (chat.Model, error) {
	id, window, err := p.Serving(ctx, info, l)
	if err != nil {
		return nil, err
	}
	return p.Chat(info, id, window), nil
}

// Serving is what a model is called on the wire, and the window in tokens that there will be, 0 when nobody knows. A
// window that is smaller than what was asked for is refused with both numbers, unless it is enough for an agent, or
// adopted.
func (p *Provider) Serving(ctx context.Context, info local.ModelInfo, l local.Loading) (id string, window int, err error) {
	m, err := p.find(ctx, info.Name)
	if err != nil {
		return "", 0, err
	}
	have, err := p.resident(ctx, m, loadFor)
	if err != nil {
		return "", 0, err
	}
	if have.Window > 0 && have.Window < min(l.Window, local.Floor) && !l.Adopt {
		try := fmt.Sprintf("start the server again with a window of %d tokens", l.Window)
		switch p.kind.Load() {
		case "llama.cpp":
			try = fmt.Sprintf("start llama-server again with -c %d", l.Window*max(have.Slots, 1))
			if have.Slots > 1 {
				try += fmt.Sprintf(", which its %d slots share, or with -np 1 -c %d", have.Slots, l.Window)
			}
		case "vllm":
			try = fmt.Sprintf("start vLLM again with --max-model-len %d", l.Window)
		case "sglang":
			try = fmt.Sprintf("start SGLang again with --context-length %d", l.Window)
		}
		return "", 0, &local.Refusal{
			Code: local.WrongWindow, Model: info.Name, Needed: int64(l.Window), Available: int64(have.Window),
			Text: fmt.Sprintf("a window of %d tokens was asked for, %s at %s serves %d", l.Window, p.Name(), p.Address(), have.Window),
			Try:  fmt.Sprintf("%s, or accept the small window with -c model_context_window=%d", try, have.Window),
		}
	}
	window = l.Window
	if have.Window > 0 && (window == 0 || have.Window < window) {
		window = have.Window
	}
	return m.ID, window, nil
}

// Pull refuses: this wire has no call for it.
func (p *Provider) Pull(_ context.Context, name string) iter.Seq2[local.Progress, error] {
	return func(yield func(local.Progress, error) bool) {
		yield(local.Progress{}, &local.Refusal{
			Code: local.NoPull, Model: name,
			Text: fmt.Sprintf("pull %s: %s at %s cannot download models", name, p.Name(), p.Address()),
			Try:  fmt.Sprintf("start that server with %s, name a model that it serves, or use a provider that can: --local-provider ollama", name),
		})
	}
}
