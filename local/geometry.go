package local

import "strings"

// Geometry is what the memory model of window.go needs of an architecture, from GGUF metadata. Zero is unknown.
type Geometry struct {
	Layers    int
	Embedding int
	Vocab     int
	Heads     int
	KVHeads   []int // one entry: the same for every layer; 0 for a layer that keeps no keys and values
	KeyDim    int
	ValueDim  int

	Window         int    // sliding window in tokens, 0 when every layer sees all
	Windowed       []bool // which layers see only Window tokens; one entry: all are alike
	WindowKeyDim   int    // head sizes on those layers, 0: as on the others
	WindowValueDim int
	Recurrent      []bool // layers with a state of fixed size instead of keys and values
	State          int64  // bytes of that state in one such layer
	Latent         int    // elements a token keeps in one layer of latent attention, 0: ordinary attention
	LatentRank     int    // those of them that Ollama before 0.30 keeps a second time
	WindowFixed    int    // cells of a sliding-window layer in Ollama's own engine, 0: as many as it sees
	Shared         int    // last layers that reuse earlier keys and values and keep none
	Drafts         int    // layers that draft tokens, beside Layers; they keep something only when drafting is on
	OnCPU          int64  // weight bytes that stay in main memory even when all layers are on a GPU
	Partial        bool   // counts per layer were left out; see Measurer

	Experts      int   // in each layer, 0 for a dense model
	ExpertsUsed  int   // for one token
	ExpertBytes  int64 // weight bytes of all experts, 0: estimated from ExpertParams
	ExpertParams int64 // parameters in all experts
	Parameters   int64 // all of them
}

// Known reports whether the size of a window can be computed.
func (g Geometry) Known() bool {
	return g.Layers > 0 && !g.Partial && (g.Latent > 0 || len(g.KVHeads) > 0 && g.KeyDim > 0 && g.ValueDim > 0)
}

// Metadata is the key and value section of a GGUF file, as servers pass it on in JSON: numbers, strings, booleans,
// arrays, and null for an array that was left out.
type Metadata map[string]any

// Architecture is general.architecture in the one spelling that the rules below use.
func (m Metadata) Architecture() string {
	name, _ := m["general.architecture"].(string)
	return name
}

// plain drops what converters spell differently: gpt-oss and gptoss are one architecture.
func plain(architecture string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(architecture))
}

// SameArchitecture reports whether two names mean one architecture.
func SameArchitecture(a, b string) bool { return plain(a) == plain(b) }

// Trained is the context the model was trained for.
func (m Metadata) Trained() int { return m.number("context_length") }

func (m Metadata) value(key string) any { return m[m.Architecture()+"."+key] }

func (m Metadata) number(key string) int { return integer(m.value(key)) }

func integer(v any) int {
	switch n := v.(type) {
	case float64:
		return int(n)
	case int:
		return n
	case int64:
		return int(n)
	case uint64:
		return int(n)
	}
	return 0
}

// leftOut reports a key whose array the server replaced by null.
func (m Metadata) leftOut(key string) bool {
	v, there := m[m.Architecture()+"."+key]
	return there && v == nil
}

// counts reads an integer or an array of them.
func (m Metadata) counts(key string) []int {
	switch v := m.value(key).(type) {
	case []any:
		out := make([]int, len(v))
		for i := range v {
			out[i] = integer(v[i])
		}
		return out
	case nil:
		return nil
	default:
		return []int{integer(v)}
	}
}

func (m Metadata) flags(key string) []bool {
	list, _ := m.value(key).([]any)
	var out []bool
	for _, v := range list {
		b, isBool := v.(bool)
		out = append(out, b || !isBool && integer(v) != 0)
	}
	return out
}

// Geometry reads the memory model's inputs. The keys are those of the GGUF format; which layers of an architecture
// are windowed, recurrent or latent follows its GGUF converter where the file itself does not say.
func (m Metadata) Geometry() Geometry {
	g := Geometry{
		Layers:    m.number("block_count") - m.number("nextn_predict_layers"),
		Embedding: m.number("embedding_length"),
		Heads:     largest(m.counts("attention.head_count")),
		KVHeads:   m.counts("attention.head_count_kv"),
		KeyDim:    m.number("attention.key_length"),
		ValueDim:  m.number("attention.value_length"),
		Window:    m.number("attention.sliding_window"),
		Shared:    m.number("attention.shared_kv_layers"),

		WindowKeyDim:   m.number("attention.key_length_swa"),
		WindowValueDim: m.number("attention.value_length_swa"),

		Drafts:      m.number("nextn_predict_layers"),
		Experts:     m.number("expert_count"),
		ExpertsUsed: m.number("expert_used_count"),
		Parameters:  int64(integer(m["general.parameter_count"])),
	}
	if g.Experts > 0 {
		routed := int64(g.Layers - m.number("leading_dense_block_count"))
		g.ExpertParams = 3 * routed * int64(g.Experts) * int64(g.Embedding) * int64(m.number("expert_feed_forward_length"))
	}
	g.Vocab = m.number("vocab_size")
	if tokens, ok := m["tokenizer.ggml.tokens"].([]any); ok && g.Vocab == 0 {
		g.Vocab = len(tokens)
	}
	for _, key := range []string{"attention.head_count", "attention.head_count_kv", "attention.sliding_window_pattern", "attention.recurrent_layers"} {
		g.Partial = g.Partial || m.leftOut(key)
	}
	if len(g.KVHeads) == 0 && g.Heads > 0 {
		g.KVHeads = []int{g.Heads}
	}
	if g.Heads > 0 {
		if g.KeyDim == 0 {
			g.KeyDim = g.Embedding / g.Heads
		}
		if g.ValueDim == 0 {
			g.ValueDim = g.Embedding / g.Heads
		}
	}
	if rank := m.number("attention.kv_lora_rank"); rank > 0 {
		g.Latent, g.LatentRank = rank+m.number("rope.dimension_count"), rank
	}
	m.layers(&g)
	return g
}

func largest(counts []int) int {
	n := 0
	for _, c := range counts {
		n = max(n, c)
	}
	return n
}

// layers says which layer is of which kind.
func (m Metadata) layers(g *Geometry) {
	architecture := plain(m.Architecture())
	every := func(period int) []bool { // all but each period-th
		out := make([]bool, g.Layers)
		for i := range out {
			out[i] = (i+1)%period != 0
		}
		return out
	}
	if g.Window > 0 {
		g.WindowFixed = ownWindow(architecture)
		g.Windowed = m.flags("attention.sliding_window_pattern")
		if period := m.number("attention.sliding_window_pattern"); period > 1 {
			g.Windowed = every(period)
		}
		if g.Windowed == nil {
			switch architecture {
			case "gemma3":
				g.Windowed = every(6)
			case "gptoss":
				g.Windowed = every(2)
			case "cohere2":
				g.Windowed = every(4)
			}
		}
	}
	conv, inner := m.number("ssm.conv_kernel"), m.number("ssm.inner_size")
	state, groups := m.number("ssm.state_size"), m.number("ssm.group_count")
	if inner > 0 {
		g.State = 4 * int64((max(conv, 1)-1)*(inner+2*groups*state)+state*inner)
	}
	switch architecture {
	case "qwen3next", "qwen35", "qwen35moe":
		g.Recurrent = m.flags("attention.recurrent_layers")
		if g.Recurrent == nil && !m.leftOut("attention.recurrent_layers") {
			period := m.number("full_attention_interval")
			if period < 1 {
				period = 4
			}
			g.Recurrent = every(period)
		}
	case "nemotronh", "nemotronhmoe":
		// Feed-forward layers keep nothing; without their widths, charging each layer without heads is an upper bound.
		g.Recurrent = withoutHeads(g.KVHeads)
		if widths := m.counts("feed_forward_length"); len(widths) == len(g.Recurrent) && len(widths) > 1 {
			for i, width := range widths {
				g.Recurrent[i] = g.Recurrent[i] && width == 0
			}
		}
	case "granitehybrid", "jamba", "falconh1":
		g.Recurrent = withoutHeads(g.KVHeads)
	case "lfm2", "lfm2moe":
		g.Recurrent = withoutHeads(g.KVHeads)
		g.State = 4 * int64(g.Embedding) * int64(max(m.number("shortconv.l_cache"), 1)-1)
	}
}

func withoutHeads(counts []int) []bool {
	if len(counts) < 2 {
		return nil
	}
	out := make([]bool, len(counts))
	for i, n := range counts {
		out[i] = n == 0
	}
	return out
}
