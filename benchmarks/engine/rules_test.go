package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interpreter/local"
	"interpreter/local/practice"
)

// found is what Ollama listed and its runner held, in MiB, for some of the subjects.
var found = []struct {
	version               string
	subject               string
	window                int
	kind                  local.CacheType
	own                   bool
	listed, pages, graph  float64 // graph is the compute buffer that was logged
	hidden                float64 // cache that a later line of the log replaced
	wantListed, wantPages string  // rules that must have been needed, "" none
}{
	{"0.24.0", "gqa 48 layers 2x64", 131072, "f16", false, 3138.2, 3156.7, 0, 0, "embedding", "own"},
	{"0.24.0", "gqa 48 layers 2x64", 131072, "q8_0", false, 1602.2, 1716.8, 0, 0, "q8=1", "own"},
	{"0.24.0", "gqa 4 layers 8x128", 131072, "f16", true, 2321.1, 2695.7, 152, 0, "graph", "own"},
	{"0.24.0", "gqa, 151936 tokens", 131072, "f16", true, 2913.5, 3295, 152, 0, "logits", "own"},
	{"0.24.0", "sliding, 1 of 6 full", 65536, "f16", true, 756.1, 974.2, 75.5, 0, "graph", "own"},
	{"0.24.0", "sliding, 1 of 2 full", 131072, "q8_0", true, 754.2, 1156.7, 142.5, 0, "graph", "own"},
	{"0.24.0", "latent 512+64", 65536, "q8_0", true, 1095.8, 837.6, 526, 0, "graph", "own"},
	{"0.24.0", "hybrid, mamba2", 65536, "q8_0", false, 179.1, 201.3, 0, 0, "q8=1", "own"},
	{"0.24.0", "hybrid, delta net", 131072, "q8_0", true, 676.4, 1061.6, 168.2, 0, "graph", "own"},
	{"0.24.0", "hybrid, ffn layers", 131072, "f16", true, 737.2, 1117.5, 146.1, 0, "graph", "own"},
	{"0.24.0", "hybrid, short conv", 65536, "f16", true, 494.3, 707.3, 80, 0, "tied", "tied"},
	{"0.34.0", "gqa 48 layers 2x64", 131072, "q8_0", false, 2228.4, 1712.2, 530.1, 0, "batch", "own"},
	{"0.34.0", "gqa, 151936 tokens", 131072, "f16", false, 3378.2, 2797.2, 616, 0, "logits", "own"},
	{"0.34.0", "gqa, 151936 tokens", 65536, "q8_0", false, 1618.2, 1290.3, 360.1, 0, "logits", "own"},
	{"0.34.0", "sliding, 1 of 6 full", 131072, "f16", false, 796.7, 1264, 568.1, 1024, "hidden", "batch"},
	{"0.34.0", "sliding, 1 of 2 full", 65536, "q8_0", false, 367.4, 338.2, 309.1, 272, "hidden", "batch"},
	{"0.34.0", "hybrid, mamba2", 65536, "f16", false, 628.2, 319.4, 320.8, 0, "graph", "own"},
}

// The rules lead from our prediction to what was measured; a size that is further off is not explained away.
func TestRules(t *testing.T) {
	shapes := map[string]practice.Shape{}
	for _, s := range subjects {
		shapes[s.name] = s.shape
	}
	for _, f := range found {
		t.Run(f.version+" "+f.subject+" "+string(f.kind), func(t *testing.T) {
			shape, ok := shapes[f.subject]
			if !ok {
				t.Fatal("there is no such subject")
			}
			shape.Trained = windows[1]
			path := filepath.Join(t.TempDir(), "shape.gguf")
			if err := practice.WriteShape(path, shape); err != nil {
				t.Fatal(err)
			}
			m, err := local.ReadGGUF(path)
			if err != nil {
				t.Fatal(err)
			}
			load := func(listed, pages float64) *load {
				l := load{version: f.version, shape: shape, model: m, window: f.window, kind: f.kind, own: f.own,
					listed: int64(listed * mib), pages: int64(pages * mib), graph: int64(f.graph * mib),
					logged: buffers{compute: int64(f.graph * mib), hidden: int64(f.hidden * mib)}}
				if err := l.predict(); err != nil {
					t.Fatal(err)
				}
				return &l
			}
			l := load(f.listed, f.pages)
			if bad := l.wrong(f.subject); len(bad) > 0 {
				t.Errorf("not explained: %s\n%s", bad, l.row(f.subject))
			}
			if left := l.left(l.listed, l.predicted(), l.listedWhy); float64(max(left, -left)) > 0.01*float64(l.listed) {
				t.Errorf("%d bytes left of what is listed\n%s", left, l.row(f.subject))
			}
			named := func(rule string, terms []term) bool {
				for _, term := range terms {
					if term.rule == rule {
						return true
					}
				}
				return false
			}
			if f.wantListed != "" && !named(f.wantListed, l.listedWhy) || f.wantPages != "" && !named(f.wantPages, l.pagesWhy) {
				t.Errorf("want %s and %s among the rules: %s", f.wantListed, f.wantPages, l.because())
			}
			for _, factor := range []float64{0.88, 1.2} {
				if bad := load(f.listed*factor, f.pages).wrong(f.subject); len(bad) != 1 {
					t.Errorf("%v times what is listed is explained away: %s", factor, bad)
				}
			}
			if bad := load(f.listed, f.pages*1.2+80).wrong(f.subject); len(bad) != 1 {
				t.Errorf("much more resident is explained away: %s", bad)
			}
			if bad := load(f.listed, f.pages*0.8-80).wrong(f.subject); len(bad) != 1 {
				t.Errorf("much less resident is explained away: %s", bad)
			}
		})
	}
}

// Every rule that a term can name is in the legend of its version.
func TestLegend(t *testing.T) {
	for _, f := range found {
		text := legend(f.version)
		for _, rule := range []string{f.wantListed, f.wantPages} {
			if rule != "" && !strings.Contains(text, "\n  "+rule+" ") {
				t.Errorf("the legend of %s lacks %s", f.version, rule)
			}
		}
	}
}

// Of what llama-server logs, the last compute buffer counts, and a second cache hides the first.
func TestBuffers(t *testing.T) {
	s := &server{log: filepath.Join(t.TempDir(), "log")}
	head := "llama_kv_cache:        CPU KV buffer size =     9.00 MiB\n"
	text := head + `load_tensors:          CPU model buffer size =    20.50 MiB
llama_context:        CPU  output buffer size =     0.50 MiB
llama_kv_cache:        CPU KV buffer size =   512.00 MiB
llama_kv_cache: size =  512.00 MiB ( 65536 cells,   2 layers,  1/1 seqs), K (f16):  256.00 MiB, V (f16):  256.00 MiB
llama_kv_cache:        CPU KV buffer size =   120.00 MiB
llama_memory_recurrent:        CPU RS buffer size =     3.00 MiB
sched_reserve:        CPU compute buffer size =   100.00 MiB
sched_reserve:        CPU compute buffer size =   312.00 MiB
`
	if err := os.WriteFile(s.log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := buffers{compute: 312 * mib, hidden: 512 * mib}
	if got := s.buffers(int64(len(head))); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := s.buffers(int64(len(text))); got != (buffers{}) {
		t.Errorf("nothing was logged since, got %+v", got)
	}
}

func TestReserved(t *testing.T) {
	s := &server{log: filepath.Join(t.TempDir(), "log")}
	head := `level=INFO source=device.go:272 msg="compute graph" device=CPU size="9.0 MiB"` + "\n"
	text := head + `level=INFO msg="kv cache" device=CPU size="2.0 GiB"
level=INFO source=device.go:272 msg="compute graph" device=CPU size="1.5 GiB"
level=INFO source=device.go:272 msg="compute graph" device=CPU size="88.5 MiB"
`
	if err := os.WriteFile(s.log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.reserved(int64(len(head))); got != 88*mib+mib/2 {
		t.Errorf("got %d", got)
	}
	if got := s.reserved(int64(len(text))); got != 0 {
		t.Errorf("nothing was logged since, got %d", got)
	}
}
