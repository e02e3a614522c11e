package local

import (
	"math"
	"slices"
	"testing"

	"interpreter/probes"
)

func TestEngineOf(t *testing.T) {
	for _, test := range []struct {
		provider, version string
		m                 ModelInfo
		want              Engine
		flash             bool
	}{
		{"ollama", "0.24.0", ModelInfo{Architecture: "qwen3moe"}, OllamaOwn, true},
		{"ollama", "v0.24.0-rc1", ModelInfo{Architecture: "gpt-oss"}, OllamaOwn, true},
		{"ollama", "0.24.0", ModelInfo{Family: "gptoss"}, OllamaOwn, true},
		{"ollama", "0.24.0", ModelInfo{Architecture: "nemotron_h_moe"}, OllamaOwn, true},
		{"ollama", "0.24.0", ModelInfo{Architecture: "deepseek2"}, OllamaOwn, false},
		{"ollama", "0.24.0", ModelInfo{Architecture: "laguna"}, OllamaOwn, false},
		{"ollama", "0.20.0", ModelInfo{Architecture: "laguna"}, OldLlamaCPP, true},
		{"ollama", "0.20.0", ModelInfo{Architecture: "gemma4"}, OllamaOwn, false},
		{"ollama", "0.24.0", ModelInfo{Architecture: "gemma4"}, OllamaOwn, true},
		{"ollama", "0.24.0", ModelInfo{Architecture: "gemma3", Projector: mib}, OldLlamaCPP, true},
		{"ollama", "0.24.0", ModelInfo{Architecture: "llama"}, OldLlamaCPP, true},
		{"ollama", "0.24.0", ModelInfo{Architecture: "granitehybrid"}, OldLlamaCPP, true},
		{"ollama", "0.17.1", ModelInfo{Architecture: "qwen35"}, OllamaOwn, false},
		{"ollama", "0.15.0", ModelInfo{Architecture: "qwen3next"}, OldLlamaCPP, true},
		{"ollama", "0.12.6", ModelInfo{Architecture: "lfm2"}, OldLlamaCPP, true},
		{"ollama", "0.29.9", ModelInfo{Architecture: "lfm2"}, OllamaOwn, true},
		{"ollama", "0.30.0", ModelInfo{Architecture: "lfm2"}, LlamaCPP, true},
		{"ollama", "1.0.0", ModelInfo{Architecture: "gemma3"}, LlamaCPP, true},
		{"ollama", "0.0.0", ModelInfo{Architecture: "gemma3"}, LlamaCPP, true},
		{"ollama", "", ModelInfo{Architecture: "gemma3"}, LlamaCPP, true},
		{"ollama", "0.24.0", ModelInfo{}, LlamaCPP, true},
		{"lmstudio", "0.24.0", ModelInfo{Architecture: "gemma3"}, LlamaCPP, true},
		{"lmstudio", "0.4.0 or later", ModelInfo{Architecture: "gemma3", Format: "mlx"}, MLX, true},
		{"lmstudio", "0.4.0 or later", ModelInfo{Architecture: "gemma3", Format: "gguf"}, LlamaCPP, true},
		{"ollama", "0.24.0", ModelInfo{Architecture: "gemma3", Format: "safetensors"}, MLX, true},
		{"ollama", "0.24.0", ModelInfo{Architecture: "gemma3", Format: "gguf"}, OllamaOwn, true},
	} {
		if got, flash := engineOf(test.provider, test.version, test.m); got != test.want || flash != test.flash {
			t.Errorf("%s %s runs %+v on %s, flash %v; want %s, %v", test.provider, test.version, test.m, got, flash, test.want, test.flash)
		}
	}
}

// A model that runs on MLX leaves room for what that keeps of prompts, and its keys and values are not packed unasked.
func TestMLXModels(t *testing.T) {
	m := known(t, "devstral-small-2:24b")
	gguf := Judge(m, m1Max(40*gib), Held{}, Want{Own: true, Provider: "lmstudio"})
	m.Format = "mlx"
	for _, want := range []Want{{Own: true, Provider: "lmstudio"}, {Own: true}} {
		got := Judge(m, m1Max(40*gib), Held{}, want)
		if !got.Passes() || gguf.Fit.Room-got.Fit.Room != 8*gib || got.Fit.Window >= gguf.Fit.Window || got.Fit.Cache.quantised() {
			t.Errorf("%+v; as GGUF %+v", got.Fit, gguf.Fit)
		}
	}
}

// What a server is told shows whether flash attention is on there; an engine that is said is not asked for.
func TestWantAt(t *testing.T) {
	m := ModelInfo{Architecture: "laguna"}
	at := func(w Want) Want {
		w.Provider, w.Version = "ollama", "0.24.0"
		return w.at(m)
	}
	if w := at(Want{}); w.Engine != OllamaOwn || !w.NoFlash {
		t.Errorf("nobody asked for flash attention: %+v", w)
	}
	if w := at(Want{CacheType: "q8_0"}); w.NoFlash {
		t.Errorf("q8_0 is kept with flash attention: %+v", w)
	}
	if w := at(Want{Own: true}); w.NoFlash {
		t.Errorf("our server has flash attention: %+v", w)
	}
	if w := at(Want{Engine: MLX}); w.Engine != MLX || w.NoFlash {
		t.Errorf("the engine was said: %+v", w)
	}
	if w := (Want{}).at(m); w.Engine != "" || w.NoFlash {
		t.Errorf("without a server nothing is known: %+v", w)
	}
}

// What Ollama 0.24.0 was found to list (a) and its runner to hold right after a load (b), in MiB, for small models that
// differ in one thing each: a is weights, cache, states and compute; b weights, cache, states and half the
// masks.
func TestOwnEngine(t *testing.T) {
	gqa := Geometry{Layers: 4, Embedding: 1024, Vocab: 256, Heads: 16, KVHeads: []int{8}, KeyDim: 128, ValueDim: 128}
	latent := Geometry{Layers: 4, Embedding: 512, Vocab: 256, Heads: 4, KVHeads: []int{1}, KeyDim: 576, ValueDim: 512, Latent: 576, LatentRank: 512}
	delta := Geometry{Layers: 8, Embedding: 512, Vocab: 256, Heads: 8, KVHeads: []int{2}, KeyDim: 256, ValueDim: 256,
		Recurrent: []bool{true, true, true, false, true, true, true, false}, State: 4 * (3*(2048+2*4*128) + 128*2048)}
	oss := Geometry{Layers: 8, Embedding: 512, Vocab: 256, Heads: 16, KVHeads: []int{8}, KeyDim: 64, ValueDim: 64, Window: 128, WindowFixed: 4096,
		Windowed: []bool{true, false, true, false, true, false, true, false}}
	for _, test := range []struct {
		name         string
		g            Geometry
		kind         CacheType // asked for
		window       int
		weights      float64 // MiB
		listed, held float64
		used         CacheType
	}{
		{"qwen3", gqa, "f16", 65536, 121.1, 1233.1, 1412.4, "f16"},
		{"qwen3", gqa, "q8_0", 131072, 121.1, 1361.1, 1735.6, "q8_0"},
		{"deepseek2", latent, "f16", 65536, 25.8, 1095.8, 837.2, "f16"},
		{"deepseek2", latent, "q8_0", 65536, 25.8, 1095.8, 837.7, "f16"},
		{"deepseek2", latent, "q8_0", 131072, 25.8, 2151.8, 1640.4, "f16"},
		{"qwen3next", delta, "f16", 131072, 81.0, 916.4, 1301.2, "f16"},
		{"qwen3next", delta, "q8_0", 131072, 81.0, 676.4, 1061.1, "q8_0"},
		{"gpt-oss", oss, "f16", 65536, 48.6, 675.1, 882.2, "f16"},
	} {
		m := ModelInfo{Name: "made", Architecture: test.name, Size: int64(test.weights * mib), Geometry: test.g}
		machine := probes.Machine{RAM: probes.Memory{Physical: 1 << 40, Total: 1 << 40, Available: 1 << 40}}
		want := Want{Window: test.window, CacheType: test.kind, Provider: "ollama", Version: "0.24.0"}
		fit, err := ChooseWindow(m, machine, Held{}, want)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		s := fit.Sum
		if listed := float64(s.Weights+s.Cache+s.State+s.Compute) / mib; math.Abs(listed-test.listed) > 0.05*test.listed {
			t.Errorf("%s in %s with %d tokens: %.1f MiB listed, want %.1f", test.name, test.kind, test.window, listed, test.listed)
		}
		if held := float64(s.Weights+s.Cache+s.State+s.Masks/2) / mib; math.Abs(held-test.held) > 0.05*test.held {
			t.Errorf("%s in %s with %d tokens: %.1f MiB held, want %.1f", test.name, test.kind, test.window, held, test.held)
		}
		if fit.Cache != test.used || test.kind != test.used && len(fit.Warnings) == 0 {
			t.Errorf("%s in %s: kept in %s, want %s with a warning: %q", test.name, test.kind, fit.Cache, test.used, fit.Warnings)
		}
		if need := s.Weights + s.Cache + s.State + s.Compute + s.Masks; fit.Place != OnCPU || fit.Need != need {
			t.Errorf("%s in %s: %d bytes are needed in %s, want %d", test.name, test.kind, fit.Need, fit.Place, need)
		}
	}
}

// The largest states among the models of the catalogue, with the checkpoints of Ollama's own engine: 149.6 MiB of
// qwen3.6:27b become 3.65 GiB. On a card the masks lie in main memory beside it. Other models of the same server are
// judged for the engine that runs them, and without a server nothing changes.
func TestCheckpointsOfACatalogueModel(t *testing.T) {
	e, _ := Lookup("qwen3.6:27b")
	card := probes.Machine{
		RAM:  probes.Memory{Physical: 64 * gib, Total: 64 * gib, Available: 60 * gib},
		GPUs: []probes.GPU{{Vendor: "nvidia", Name: "card", Total: 48 * gib, Free: 47 * gib}},
	}
	plain, err := ChooseWindow(e.Info, card, Held{}, Want{Window: Floor})
	if err != nil {
		t.Fatal(err)
	}
	own, err := ChooseWindow(e.Info, card, Held{}, Want{Window: Floor, Provider: "ollama", Version: "0.24.0"})
	if err != nil {
		t.Fatal(err)
	}
	if got := float64(plain.Sum.State) / mib; math.Abs(got-149.6) > 0.1 {
		t.Errorf("%.1f MiB of states, want 149.6", got)
	}
	if got := float64(own.Sum.State) / gib; math.Abs(got-3.65) > 0.01 {
		t.Errorf("%.3f GiB of states with checkpoints, want 3.65", got)
	}
	if masks := int64(Floor * 512 * 16); plain.Sum.Masks != 0 || own.Sum.Masks != masks || own.Main-plain.Main != masks || own.Need-plain.Need != own.Sum.State-plain.Sum.State {
		t.Errorf("masks %d and %d, want 0 and %d, beside the card: %+v, %+v", plain.Sum.Masks, own.Sum.Masks, masks, plain, own)
	}
	server := Want{Provider: "ollama", Version: "0.24.0"}
	for _, name := range []string{"granite4:small-h", "qwen3.5:9b"} {
		e, _ := Lookup(name)
		j := Judge(e.Info, card, Held{}, server)
		factor := int64(1)
		if name == "qwen3.5:9b" {
			factor = 25
		}
		if one := Judge(e.Info, card, Held{}, Want{}).Fit.Sum.State; one == 0 || j.Fit.Sum.State != factor*one {
			t.Errorf("%s: %d bytes of states, want %d times %d", name, j.Fit.Sum.State, factor, one)
		}
	}
	ranked := func(w Want) (out []string) {
		for _, j := range Rank(card, Held{}, w) {
			out = append(out, j.Model.Name)
		}
		return out
	}
	if again := ranked(Want{Provider: "ollama", Version: "0.30.0"}); !slices.Equal(again, ranked(Want{})) {
		t.Errorf("a new server ranks otherwise: %v", again)
	}
}

// Ready knows the server, and counts slots only where the server lists them.
func TestWantOfAServer(t *testing.T) {
	m := ModelInfo{Name: "m"}
	for _, test := range []struct {
		residents []Resident
		slots     int
	}{
		{nil, 0},
		{[]Resident{{Name: "m", Window: 8192}}, 0},
		{[]Resident{{Name: "m", Window: 8192, Slots: 1}}, 0},
		{[]Resident{{Name: "m", Window: 8192, Slots: 4}}, 4},
		{[]Resident{{Name: "other", Window: 8192, Slots: 4}}, 0},
	} {
		c := choice{answering: answering{&fake{}, "0.24.0"}, model: m, residents: test.residents}
		got := (&run{}).corrected(c)
		if got.Slots != test.slots || got.Unified != (test.slots > 0) || got.Provider != "fake" || got.Version != "0.24.0" || got.Prompts != 0 {
			t.Errorf("%+v: %+v", test.residents, got)
		}
	}
}
