package local

import (
	"slices"
	"strings"
	"testing"
)

// The table is whole: every row can be judged by its size, and every name in it leads somewhere.
func TestCatalogue(t *testing.T) {
	statuses := map[string]int{}
	for _, e := range Catalogue() {
		statuses[e.Status]++
		found, ok := Lookup(e.Name)
		if !ok || found.Info.Name != e.Name || found.Info.Size != e.Info.Size {
			t.Errorf("%s is not found by its own name: %+v", e.Name, found)
		}
		if e.Info.Size < 1e9 || e.Info.Parameters == "B" || e.Notes == "" || strings.Contains(e.Notes, "UNSURE") {
			t.Errorf("%s: %+v", e.Name, e)
		}
		if g := e.Info.Geometry; e.Sure && !g.Known() {
			t.Errorf("%s: sure, and its layers are not known", e.Name)
		} else if g.Experts > 0 && (g.ExpertsUsed == 0 || g.ExpertBytes == 0 || g.ExpertBytes >= e.Info.Size) {
			t.Errorf("%s: experts of %+v", e.Name, g)
		}
		if e.Status == Refused && len(e.Alternatives) < 2 {
			t.Errorf("%s: refused, with %d alternatives", e.Name, len(e.Alternatives))
		}
		for _, name := range e.Alternatives {
			if other, ok := Lookup(name); !ok || other.Status == Refused {
				t.Errorf("%s: alternative %s", e.Name, name)
			}
		}
	}
	for _, tier := range tiers {
		for _, name := range tier.models {
			if !slices.ContainsFunc(catalogue(), func(e Entry) bool { return e.Name == name }) {
				t.Errorf("a tier names %s, which is not in the catalogue", name)
			}
		}
	}
	if statuses[Recommended] < 10 || statuses[Refused] != 9 {
		t.Errorf("%v", statuses)
	}
}

func TestLookup(t *testing.T) {
	const none = ""
	for _, test := range []struct {
		name, row string
		gb        float64
	}{
		{"qwen3-coder:30b", "qwen3-coder:30b", 19},
		{"QWEN3-Coder:30B", "qwen3-coder:30b", 19},
		{" qwen3-coder ", "qwen3-coder:30b", 19},
		{"qwen3-coder:latest", "qwen3-coder:30b", 19},
		{"qwen3-coder:30b-a3b-q8_0", "qwen3-coder:30b", 32},
		{"qwen3-coder:30b-a3b-q4_K_M", "qwen3-coder:30b", 19},
		{"qwen3-coder:30b-a3b-fp16", "qwen3-coder:30b", 61},
		{"qwen/qwen3-coder-30b", "qwen3-coder:30b", 19},
		{"qwen/qwen3-coder-30b@q8_0", "qwen3-coder:30b", 32},
		{"qwen3-coder-30b-a3b-instruct", "qwen3-coder:30b", 19},
		{"hf.co/unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF:Q8_0", "qwen3-coder:30b", 32},
		{"hf.co/unsloth/Qwen3.6-35B-A3B-GGUF:UD-Q6_K", "qwen3.6:35b", 32.66},
		{"devstral-small-2", "devstral-small-2:24b", 15},
		{"devstral-small-2:24b-instruct-2512-q8_0", "devstral-small-2:24b", 26},
		{"devstral-small-2-q8_0", "devstral-small-2:24b", 26},
		{"mistralai/devstral-small-2-2512", "devstral-small-2:24b", 15},
		{"qwen3-coder-next", "qwen3-coder-next:q4_K_M", 52},
		{"qwen3-coder-next:q8_0", "qwen3-coder-next:q4_K_M", 85},
		{"glm-4.7-flash", "glm-4.7-flash:q4_K_M", 19},
		{"glm-4.7-flash:bf16", "glm-4.7-flash:q4_K_M", 60},
		{"gpt-oss", "gpt-oss:20b", 14},
		{"gpt-oss:120b", "gpt-oss:120b", 65},
		{"openai/gpt-oss-120b", "gpt-oss:120b", 65},
		{"gpt-oss:20b-q8_0", "gpt-oss:20b", 14}, // made in 4 bits: more does not exist
		{"qwen3.5:35b", "qwen3.6:35b", 24},
		{"qwen3.5", "qwen3.5:9b", 6.6},
		{"gemma4", "gemma4:e4b", 9.6},
		{"gemma4:26b-it-q8_0", "gemma4:26b", 28},
		{"gemma3:4b", "gemma3:27b", 0}, // the family's verdict, no size
		{"deepseek-r1:8b", "deepseek-r1:32b", 0},
		{"deepseek-r1:32b", "deepseek-r1:32b", 20},
		{"qwen2.5-coder:7b-instruct-q4_K_M", "qwen2.5-coder:14b", 0},
		{"lfm2:24b", "lfm2:24b", 14},
		{"liquid/lfm2-24b-a2b", "lfm2:24b", 14},

		{"google/gemma-4-12b", "gemma4:12b", 7.6},
		{"ibm/granite-4.1-8b", "granite4.1:8b", 5.3},
		{"mistralai/ministral-3-14b", "ministral-3:14b", 9.1},
		{"liquid/lfm2.5-8b-a1b", "lfm2.5:8b", 5},
		{"gemma-3-27b-it", "gemma3:27b", 17},
		{"deepseek-r1-distill-qwen-14b", "deepseek-r1:32b", 0},

		{"gpt-oss:120b-cloud", none, 0},
		{"qwen3-coder:480b", none, 0},
		{"qwen3-coder:480b-cloud", none, 0},
		{"qwen3:4b", none, 0},
		{"gemma3n:e4b", none, 0},
		{"gemma4:e2b", none, 0},
		{"qwen3.6:35b-mymerge", none, 0},
		{"llama3.3:70b", none, 0},
		{"m", none, 0},
		{"", none, 0},
		{":", none, 0},
		{"q8_0", none, 0},
		{"///", none, 0},
	} {
		e, ok := Lookup(test.name)
		if ok != (test.row != none) || ok && (e.row != test.row || int64(e.Info.Size/1e7) != int64(test.gb*100)) {
			t.Errorf("%q: got %q of %.2f GB, want %q of %.2f", test.name, e.row, float64(e.Info.Size)/1e9, test.row, test.gb)
		}
	}
}

func TestRequantized(t *testing.T) {
	plain, _ := Lookup("qwen3-coder:30b")
	bigger, _ := Lookup("qwen3-coder:30b-q8_0")
	if a, b := plain.Info.Geometry, bigger.Info.Geometry; b.OnCPU*9 != a.OnCPU*17 || b.ExpertBytes*19/32 > a.ExpertBytes+1000 || b.ExpertBytes*19/32 < a.ExpertBytes-1000 {
		t.Errorf("embeddings and experts are not sized with the rest: %+v, %+v", a, b)
	}
	if bigger.Info.Name != "qwen3-coder:30b-q8_0" || bigger.Info.Quantization != "Q8_0" {
		t.Errorf("got %+v", bigger.Info)
	}
}

// What a server tells counts, except for the smaller trained context; what it leaves out is filled in.
func TestCompleted(t *testing.T) {
	file := ModelInfo{Name: "lfm2:24b", Size: 14e9, Trained: 128000, Architecture: "lfm2moe"}
	if got := completed(file); got.Trained != 32768 || !got.Geometry.Known() {
		t.Errorf("the maker's card is lower than the file: %+v", got)
	}
	own := ModelInfo{Name: "devstral-small-2:24b", Size: 15e9, Trained: 131072, Geometry: Geometry{Layers: 1, KVHeads: []int{1}, KeyDim: 64, ValueDim: 64}}
	if got := completed(own); got.Trained != 131072 || got.Geometry.Layers != 1 || got.Size != 15e9 {
		t.Errorf("what the server said was replaced: %+v", got)
	}
	if got := completed(ModelInfo{Name: "devstral-small-2:24b", Size: 15e9, Architecture: "llama"}); got.Geometry.Known() {
		t.Errorf("another architecture under that name: %+v", got)
	}
	tensors := ModelInfo{Name: "qwen3-coder:30b", Size: 19e9, Architecture: "qwen3moe", Geometry: Geometry{Partial: true, OnCPU: 123, ExpertBytes: 17e9, Vocab: 151000}}
	if g := completed(tensors).Geometry; !g.Known() || g.OnCPU != 123 || g.ExpertBytes != 17e9 || g.Vocab != 151000 {
		t.Errorf("what the tensors told was replaced: %+v", g)
	}
	tensors.Geometry = Geometry{Partial: true}
	if g := completed(tensors).Geometry; !g.Known() || g.OnCPU == 0 || g.ExpertBytes < 18e9 || g.ExpertBytes > 18.2e9 {
		t.Errorf("nothing told: %+v", g)
	}
	if got := completed(ModelInfo{Name: "mine:7b", Size: 4e9}); got.Geometry.Known() || got.Trained != 0 {
		t.Errorf("made up: %+v", got)
	}
}
