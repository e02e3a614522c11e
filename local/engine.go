package local

import "cmp"

// Engine is what runs a model, as far as its memory depends on it.
type Engine string

// The engines. The zero value counts as LlamaCPP.
const (
	LlamaCPP    Engine = "llama.cpp"      // also Ollama from 0.30 on, and LM Studio's for GGUF
	OldLlamaCPP Engine = "llama.cpp-2025" // inside Ollama before 0.30: it keeps latent rows twice, and sets no prompts aside
	OllamaOwn   Engine = "ollama-own"     // Ollama before 0.30, for most architectures
	MLX         Engine = "mlx"
)

// ownRun is since when Ollama runs an architecture on its own engine, and since when it does so with flash attention
// though nobody asked; "" is never.
type ownRun struct{ since, flash string }

// always is older than any version that is judged.
const always = "0.0.0"

// ownRuns is by architecture, in the spelling of plain. It was read from the sources of 0.12.6, 0.15.0, 0.17.4, 0.20.0
// and 0.24.0 (fs/ggml/ggml.go). What came between two of them counts from just after the earlier, and its flash
// attention from the later: where it is not known, the larger memory is reckoned with. What is not listed runs on the
// llama.cpp inside.
var ownRuns = map[string]ownRun{
	"gemma3": {always, always}, "gptoss": {always, always}, "qwen3": {always, always}, "qwen3moe": {always, always},
	"mistral3": {always, "0.15.0"},
	"gemma3n":  {always, ""}, "llama4": {always, ""}, "mllama": {always, ""}, "qwen25vl": {always, ""},

	"glm4moelite": {"0.12.7", "0.15.0"}, "lfm2": {"0.12.7", "0.15.0"}, "olmo3": {"0.12.7", "0.15.0"},
	"qwen3vl": {"0.12.7", "0.15.0"}, "qwen3vlmoe": {"0.12.7", "0.15.0"},
	"deepseek2": {"0.12.7", ""}, "deepseekocr": {"0.12.7", ""},

	"glmocr": {"0.15.1", "0.17.4"}, "lfm2moe": {"0.15.1", "0.17.4"}, "nemotronh": {"0.15.1", "0.17.4"}, "nemotronhmoe": {"0.15.1", "0.17.4"},
	"qwen35": {"0.15.1", "0.17.4"}, "qwen35moe": {"0.15.1", "0.17.4"}, "qwen3next": {"0.15.1", "0.17.4"},

	"gemma4": {"0.17.5", "0.24.0"},
	"laguna": {"0.20.1", ""}, "nemotronhomni": {"0.20.1", "0.24.0"},
}

// engineOf is the engine on which a server's version runs a model, and whether it uses flash attention unless it is
// told otherwise. What the version does not tell is LlamaCPP: development builds call themselves 0.0.0. A model with a
// projector in a file of its own never runs on Ollama's own engine.
func engineOf(provider, version string, m ModelInfo) (e Engine, flash bool) {
	if m.mlx() {
		return MLX, true
	}
	v, ok := numbers(version)
	architecture := plain(cmp.Or(m.Architecture, m.Family))
	if provider != "ollama" || !ok || v == [3]int{} || architecture == "" || !OlderThan(version, "0.30.0") {
		return LlamaCPP, true
	}
	run, listed := ownRuns[architecture]
	if !listed || OlderThan(version, run.since) || m.Projector > 0 {
		return OldLlamaCPP, true
	}
	return OllamaOwn, run.flash != "" && !OlderThan(version, run.flash)
}

// mlx reports files that servers run on MLX: LM Studio names them so, and Ollama runs all that are no GGUF there.
func (m ModelInfo) mlx() bool { return m.Format == "mlx" || m.Format == "safetensors" }

// OnServer is the wish for a model that a server has, as a run makes it: with what is known of the server, room for
// pictures, and what earlier runs have learnt of the two.
func (w Want) OnServer(s Server, m ModelInfo, loaded []Resident, l Lessons) Want {
	w.Provider, w.Version, w.Images = s.Name(), s.Version, true
	w.Ratio = readLoads(l.Loads).Ratios[ratioKey(choice{answering: answering{s.Provider, s.Version}, model: m})]
	w.Measured = MeasuredRates(l.Verdicts, s.Name(), m)
	// A server that lists its slots and loads by request (LM Studio) shares one window among them; only states and
	// sliding windows are there for each. Ollama lists none. One slot it is until a server says otherwise.
	if have, ok := resident(loaded, m); ok && have.Slots > 1 {
		w.Slots, w.Unified = have.Slots, true
	}
	// Prompts stays 0, and so no memory counts for prompts that a server sets aside: every call of a session, that
	// which compacts it as well, goes on from the one thread, so no other prompt takes its slot.
	return w
}

// Lessons are the files of what earlier runs have learnt, "" for none.
type Lessons struct {
	Verdicts string // of tool checks, with the speeds that they saw
	Loads    string // of loads, with what predictions of memory were wrong by
}

// at settles what follows from the server for one model. Where flash attention was not asked for, the formats of keys
// and values tell: a server keeps quantised ones only with it, and one of ours is told to use it.
func (w Want) at(m ModelInfo) Want {
	if w.Engine != "" || w.Provider == "" && !m.mlx() {
		return w
	}
	flash := false
	w.Engine, flash = engineOf(w.Provider, w.Version, m)
	w.NoFlash = w.NoFlash || !flash && !w.Own && !w.CacheType.quantised()
	return w
}

// What Ollama's own engine keeps beyond others, from the sources of 0.24.0.
const (
	ownCheckpoints = 24   // copies of each recurrent state, to go back to (kvcache/recurrent.go)
	ownMemory      = 4096 // cells of a windowed layer of some architectures (model/models/{gptoss,gemma4})
	// ownMask is bytes for a cell and a token that is read: float32 in its heap and as the graph's input (kvcache/causal.go),
	// for the batch that is computed and for the next, which is made ready meanwhile (runner/ollamarunner). After a load
	// half of it is there. Garbage comes on top, 4 to 8 bytes as measured; main memory that is always left free has room.
	ownMask = 16
)

// ownWindow is the cells that the engine keeps for a windowed layer, 0 when they are as many as it sees.
func ownWindow(architecture string) int {
	switch plain(architecture) {
	case "gptoss", "gemma4":
		return ownMemory
	}
	return 0
}

// flash reports whether an engine can use flash attention: Ollama's own wants keys and values of one size
// (fs/ggml/ggml.go, SupportsFlashAttention).
func (g Geometry) flash(e Engine) bool { return e != OllamaOwn || g.KeyDim == g.ValueDim }

// masks is what Ollama's own engine takes in main memory, wherever the model is, to say which token sees which, once the
// window is full: for layers that see everything, and for those with a sliding window.
func (g Geometry) masks(window int, s serving) int64 {
	if s.engine != OllamaOwn {
		return 0
	}
	cells := pad(window) * s.slots
	for i := range g.Layers {
		if at(g.Windowed, i) {
			cells += min(pad(window)*s.slots, g.windowCells(s))
			break
		}
	}
	return ownMask * int64(cells) * int64(s.batch)
}
