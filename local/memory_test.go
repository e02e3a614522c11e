package local

import (
	"math"
	"testing"

	"interpreter/probes"
)

// cacheRows are the keys, values and states of the models of the catalogue in GiB: at 64k, 128k and 256k tokens in f16,
// then in q8_0. 0 is beyond the trained context. They were computed by others from public dimensions, and some agree
// with published logs of servers.
var cacheRows = []struct {
	name string
	want [6]float64
}{
	{"qwen3-coder:30b", [6]float64{6.00, 12.00, 24.00, 3.19, 6.38, 12.75}},
	{"devstral-small-2:24b", [6]float64{10.00, 20.00, 40.00, 5.31, 10.62, 21.25}},
	{"gpt-oss:20b", [6]float64{1.55, 3.05, 0, 0.82, 1.62, 0}},
	{"gpt-oss:120b", [6]float64{2.33, 4.58, 0, 1.24, 2.43, 0}},
	{"qwen3.5:9b", [6]float64{2.05, 4.05, 8.05, 1.11, 2.17, 4.30}},
	{"qwen3.5:4b", [6]float64{2.05, 4.05, 8.05, 1.11, 2.17, 4.30}},
	{"qwen3.5:27b", [6]float64{4.15, 8.15, 16.15, 2.27, 4.40, 8.65}},
	{"qwen3.6:27b", [6]float64{4.15, 8.15, 16.15, 2.27, 4.40, 8.65}},
	{"qwen3.8:27b", [6]float64{4.15, 8.15, 16.15, 2.27, 4.40, 8.65}},
	{"qwen3.6:35b", [6]float64{1.31, 2.56, 5.06, 0.73, 1.39, 2.72}},
	// Published as 1.50 and so on without its states, which are up to 0.15.
	{"qwen3.5:122b", [6]float64{1.65, 3.15, 6.15, 0.95, 1.74, 3.34}},
	{"qwen3-coder-next", [6]float64{1.57, 3.07, 6.07, 0.87, 1.67, 3.26}},
	{"glm-4.7-flash", [6]float64{3.30, 6.61, 0, 1.76, 3.51, 0}},
	{"gemma3:12b", [6]float64{4.94, 8.94, 0, 2.62, 4.75, 0}},
	{"gemma3:27b", [6]float64{6.22, 11.22, 0, 3.30, 5.96, 0}},
	{"gemma4:12b", [6]float64{1.94, 2.94, 4.94, 1.03, 1.56, 2.62}},
	{"gemma4:e4b", [6]float64{1.10, 2.10, 0, 0.58, 1.11, 0}},
	{"gemma4:26b", [6]float64{1.84, 3.09, 5.59, 0.98, 1.64, 2.97}},
	{"gemma4:31b", [6]float64{7.34, 12.34, 22.34, 3.90, 6.56, 11.87}},
	{"granite4:small-h", [6]float64{1.14, 2.14, 0, 0.68, 1.21, 0}},
	{"granite4.1:8b", [6]float64{10.00, 20.00, 0, 5.31, 10.62, 0}},
	{"granite4.1:30b", [6]float64{16.00, 32.00, 0, 8.50, 17.00, 0}},
	{"nemotron-3-nano:30b", [6]float64{0.42, 0.80, 1.55, 0.25, 0.44, 0.84}},
	{"ministral-3:3b", [6]float64{6.50, 13.00, 26.00, 3.45, 6.91, 13.81}},
	{"ministral-3:8b", [6]float64{8.50, 17.00, 34.00, 4.52, 9.03, 18.06}},
	{"ministral-3:14b", [6]float64{10.00, 20.00, 40.00, 5.31, 10.62, 21.25}},
	{"lfm2.5:8b", [6]float64{0.75, 0, 0, 0.40, 0, 0}},
	{"laguna-xs-2.1", [6]float64{2.79, 5.29, 10.29, 1.48, 2.81, 5.47}},
}

func TestCacheOfModels(t *testing.T) {
	for _, row := range cacheRows {
		e, ok := Lookup(row.name)
		if !ok {
			t.Errorf("%s: not in the catalogue", row.name)
			continue
		}
		for i, want := range row.want {
			if want == 0 {
				continue
			}
			window, kind := Floor<<(i%3), CacheType("f16")
			if i >= 3 {
				kind = "q8_0"
			}
			if got := float64(e.Info.Geometry.Cache(window, kind)) / gib; math.Abs(got-want) > 0.05 && math.Abs(got-want) > want/100 {
				t.Errorf("%s with %d tokens in %s: %.3f GiB, want %.2f", row.name, window, kind, got, want)
			}
		}
	}
}

// needRows are whole models on one CUDA card in GiB, in the same order: 64k f16, 64k q8_0, 128k f16, 128k q8_0,
// 256k f16, 256k q8_0.
var needRows = []struct {
	name string
	want [6]float64
}{
	{"qwen3-coder:30b", [6]float64{24.4, 21.6, 30.4, 24.8, 42.6, 31.3}},
	{"devstral-small-2:24b", [6]float64{24.5, 19.8, 34.6, 25.2, 54.7, 35.9}},
	{"gpt-oss:20b", [6]float64{14.4, 13.7, 16.0, 14.6}},
	{"gpt-oss:120b", [6]float64{62.7, 61.6, 65.0, 62.9}},
	{"qwen3.5:9b", [6]float64{9.3, 8.3, 11.3, 9.5, 15.5, 11.7}},
	{"qwen3.6:27b", [6]float64{20.4, 18.5, 24.5, 20.7, 32.6, 25.1}},
	{"qwen3.6:35b", [6]float64{24.5, 23.9, 25.8, 24.6, 28.4, 26.1}},
	{"qwen3.5:122b", [6]float64{77.6, 76.9, 79.2, 77.8, 82.3, 79.5}},
	{"qwen3-coder-next", [6]float64{50.7, 50.0, 52.3, 50.9, 55.4, 52.6}},
	{"glm-4.7-flash", [6]float64{21.7, 20.2, 25.1, 22.0}},
	{"gemma3:12b", [6]float64{13.1, 11.0, 17.2, 13.2}},
	{"gemma3:27b", [6]float64{22.5, 19.9, 27.6, 22.6}},
	{"gemma4:e4b", [6]float64{11.1, 10.6, 12.1, 11.2}},
	{"gemma4:12b", [6]float64{9.7, 9.0, 10.7, 9.6, 12.8, 10.7}},
	{"gemma4:26b", [6]float64{19.4, 18.7, 20.7, 19.4, 23.4, 20.9}},
	{"gemma4:31b", [6]float64{25.9, 23.0, 31.0, 25.7, 41.1, 31.2}},
	{"granite4:small-h", [6]float64{19.6, 19.2, 20.7, 19.8}},
	{"granite4.1:8b", [6]float64{15.7, 11.0, 25.8, 16.4}},
	{"granite4.1:30b", [6]float64{33.6, 26.1, 49.6, 34.6}},
	{"nemotron-3-nano:30b", [6]float64{23.4, 23.3, 23.9, 23.5, 24.8, 24.1}},
	{"ministral-3:3b", [6]float64{10.2, 7.1, 16.7, 10.6, 29.8, 17.7}},
	{"ministral-3:8b", [6]float64{14.7, 10.7, 23.2, 15.3, 40.4, 24.4}},
	{"ministral-3:14b", [6]float64{19.0, 14.3, 29.0, 19.7, 49.2, 30.4}},
	{"laguna-xs-2.1", [6]float64{22.1, 20.9, 24.7, 22.3, 29.8, 25.0}},
}

func TestNeedOfModels(t *testing.T) {
	vast := pool{place: OnGPU, bytes: 1 << 50, main: -1, gpus: []probes.GPU{{Vendor: "nvidia"}}}
	for _, row := range needRows {
		e, _ := Lookup(row.name)
		for i, want := range row.want {
			if want == 0 {
				continue
			}
			window, kind := Floor<<(i/2), CacheType("f16")
			if i%2 == 1 {
				kind = "q8_0"
			}
			got := float64(vast.take(sum(e.Info, window, Want{}.serving(kind, vast)), Want{}).need) / gib
			// The published number is rounded to a tenth.
			if math.Abs(got-want) > want/100+0.05 {
				t.Errorf("%s with %d tokens in %s: %.2f GiB, want %.1f", row.name, window, kind, got, want)
			}
		}
	}
}

// The rules of engines, slots and switches, by hand.
func TestKept(t *testing.T) {
	windowed := Geometry{Layers: 20, KVHeads: []int{2}, KeyDim: 256, ValueDim: 256, Window: 512, Windowed: []bool{true}}
	full := Geometry{Layers: 2, Drafts: 1, KVHeads: []int{4}, KeyDim: 128, ValueDim: 128}
	hybrid := Geometry{Layers: 4, KVHeads: []int{1, 0, 0, 0}, KeyDim: 64, ValueDim: 64, Recurrent: []bool{false, true, true, true}, State: 1000}
	latent := Geometry{Layers: 47, Latent: 576, LatentRank: 512}
	oss := Geometry{Layers: 1, KVHeads: []int{8}, KeyDim: 64, ValueDim: 64, Window: 128, Windowed: []bool{true}, WindowFixed: ownMemory}
	for _, test := range []struct {
		name         string
		g            Geometry
		window       int
		s            serving
		cache, state int64
	}{
		// 3,072 cells and 120 MiB, as a published log of llama.cpp with two slots says.
		{"a window with two slots", windowed, 65536, serving{slots: 2}, 120 * mib, 0},
		{"the same in Ollama's own engine", windowed, 65536, serving{slots: 2, engine: OllamaOwn}, 20 * 1792 * 2 * 512 * 2, 0}, // 2 * 513 + 512, padded
		{"one slot there", windowed, 65536, serving{slots: 1, engine: OllamaOwn}, 20 * 1024 * 2 * 512 * 2, 0},
		{"gpt-oss there", oss, 65536, serving{slots: 1, engine: OllamaOwn}, 4608 * 8 * 128 * 2, 0},
		{"gpt-oss there with two slots", oss, 65536, serving{slots: 2, engine: OllamaOwn}, 8704 * 8 * 128 * 2, 0},
		{"a window that is not full", windowed, 1000, serving{slots: 1}, 20 * 1024 * 2 * 512 * 2, 0},
		{"two slots double what is whole", full, 1000, serving{slots: 2}, 2 * 2 * 1024 * 4 * 256 * 2, 0},
		{"drafting adds a layer", full, 1024, serving{slots: 1, drafting: true}, 3 * 1024 * 4 * 256 * 2, 0},
		{"drafting is like the last layer that keeps something", Geometry{Layers: 3, Drafts: 1, KVHeads: []int{1, 4, 0}, KeyDim: 64, ValueDim: 64}, 256, serving{slots: 1, drafting: true}, 256 * (1 + 4 + 4) * 128 * 2, 0},
		{"states for each slot", hybrid, 256, serving{slots: 3}, 3 * 256 * 128 * 2, 9000},
		{"slots that share a window", hybrid, 256, serving{slots: 3, unified: true}, 256 * 128 * 2, 9000},
		{"sliding windows of slots that share a window", windowed, 65536, serving{slots: 2, unified: true}, 120 * mib, 0},
		{"states in Ollama's own engine", hybrid, 256, serving{slots: 2, engine: OllamaOwn}, 2 * 256 * 128 * 2, 2 * 25 * 3000},
		{"states in the llama.cpp inside", hybrid, 256, serving{slots: 1, engine: OldLlamaCPP}, 256 * 128 * 2, 3000},
		{"latent rows", latent, 65536, serving{slots: 1}, 47 * 65536 * 576 * 2, 0},
		{"latent rows of older builds", latent, 65536, serving{slots: 1, engine: OldLlamaCPP}, 47 * 65536 * (576 + 512) * 2, 0},
		{"latent rows in Ollama's own engine", latent, 65536, serving{slots: 1, engine: OllamaOwn}, 47 * 65536 * (576 + 512) * 2, 0},
		{"q5_1", full, 1024, serving{slots: 1, kind: "q5_1"}, 2 * 1024 * 4 * 256 * 3 / 4, 0},
		{"q4_0", full, 1024, serving{slots: 1, kind: "q4_0"}, 2 * 1024 * 4 * 256 * 18 / 32, 0},
	} {
		test.s.batch = windowBatch
		cache, state := test.g.kept(test.window, test.s)
		if cache != test.cache || state != test.state {
			t.Errorf("%s: %d and %d, want %d and %d", test.name, cache, state, test.cache, test.state)
		}
	}
}

// Compute buffers in GiB, by vocabulary and by tokens read at a time.
func TestCompute(t *testing.T) {
	for _, test := range []struct {
		vocab, width, batch int
		at64k, at256k       float64
	}{
		{131_072, 4096, 512, 0.41, 0.59}, {151_936, 2048, 512, 0.45, 0.63}, {201_088, 2880, 512, 0.51, 0.70}, {248_320, 4096, 512, 0.63, 0.82},
		{131_072, 4096, 2048, 1.6, 2.4}, {201_088, 2880, 2048, 2.0, 2.8}, {262_144, 3840, 2048, 2.6, 3.4},
	} {
		g := Geometry{Vocab: test.vocab, Embedding: test.width}
		for window, want := range map[int]float64{65_536: test.at64k, 262_144: test.at256k} {
			device, host := g.compute(window, serving{batch: test.batch})
			if got := float64(device) / gib; math.Abs(got-want) > 0.06 {
				t.Errorf("%+v with %d tokens: %.2f GiB, want %.2f", test, window, got, want)
			}
			if want := int64(window*test.batch*2 + test.width*test.batch*4); host != want {
				t.Errorf("%+v with %d tokens: %d bytes of main memory, want %d", test, window, host, want)
			}
		}
	}
	g := Geometry{Vocab: 1, Embedding: 1, Heads: 32}
	with, _ := g.compute(65_536, serving{batch: 2048})
	without, _ := g.compute(65_536, serving{batch: 2048, noFlash: true})
	if without-with != 16*gib {
		t.Errorf("without flash attention 32 heads need %s more, want 16 GiB", Bytes(without-with))
	}
}

func TestSum(t *testing.T) {
	m := ModelInfo{Size: 10 * gib, Projector: gib, Capabilities: []string{"vision"}, Geometry: Geometry{
		Layers: 1, KVHeads: []int{4}, KeyDim: 128, ValueDim: 128, Embedding: 1024, Vocab: 1024, OnCPU: mib, Recurrent: []bool{false}, State: mib,
	}}
	gpu := pool{place: OnGPU, bytes: 1 << 50, main: 1 << 50, gpus: []probes.GPU{{Vendor: "nvidia"}}}
	plain := sum(m, Floor, Want{}.serving("", gpu))
	if plain.Weights != 9*gib || plain.Projector != gib || plain.HostCache != 0 {
		t.Errorf("got %+v", plain)
	}
	if seeing := sum(m, Floor, Want{Images: true}.serving("", gpu)); seeing.Projector != 2*gib {
		t.Errorf("with pictures: %+v", seeing)
	}
	if aside := sum(m, Floor, Want{Prompts: 2}.serving("", gpu)); aside.HostCache != 2*plain.Cache {
		t.Errorf("two prompts aside: %+v", aside)
	}
	if capped := sum(m, Floor, Want{Prompts: 2, HostCache: 100}.serving("", gpu)); capped.HostCache != 100 {
		t.Errorf("prompts aside, capped: %+v", capped)
	}
	if own := sum(m, Floor, Want{Prompts: 2, Engine: OllamaOwn}.serving("", gpu)); own.HostCache != 0 {
		t.Errorf("Ollama before 0.30 sets nothing aside: %+v", own)
	}
	a, b := gpu.take(plain, Want{}), gpu.take(plain, Want{Ratio: 1.2})
	if math.Abs(float64(b.need)/float64(a.need)-1.2) > 1e-6 {
		t.Errorf("a correction of 1.2 makes %d of %d", b.need, a.need)
	}
	two := gpu
	two.gpus = append(two.gpus, two.gpus[0])
	if more := two.take(plain, Want{}).need - a.need; more != plain.Compute+driverOf(two.gpus[0]) {
		t.Errorf("a second card adds %s", Bytes(more))
	}
}
