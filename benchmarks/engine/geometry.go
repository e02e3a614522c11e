package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"interpreter/local"
	"interpreter/local/practice"
)

// subjects are the geometries that are built and loaded, small enough for 24 GB of memory.
var subjects = [...]struct {
	name  string
	shape practice.Shape
}{
	{"gqa 1 layer 4x256", practice.Shape{Architecture: "llama", Layers: 1, Width: 1024, FFN: 1024, Heads: 4, KVHeads: 4, HeadDim: 256}},
	{"gqa 2 layers 8x64", practice.Shape{Architecture: "llama", Layers: 2, Width: 512, FFN: 1024, Heads: 16, KVHeads: 8, HeadDim: 64}},
	{"gqa 4 layers 4x128", practice.Shape{Architecture: "llama", Layers: 4, Width: 512, FFN: 1024, Heads: 16, KVHeads: 4, HeadDim: 128}},
	{"gqa 48 layers 2x64", practice.Shape{Architecture: "llama", Layers: 48, Width: 256, FFN: 512, Heads: 8, KVHeads: 2, HeadDim: 64}},
	{"gqa 4 layers 8x128", practice.Shape{Architecture: "qwen3", Layers: 4, Width: 1024, FFN: 3072, Heads: 16, KVHeads: 8, HeadDim: 128}},
	{"gqa, 151936 tokens", practice.Shape{Architecture: "qwen3", Layers: 4, Width: 1024, FFN: 3072, Heads: 16, KVHeads: 8, HeadDim: 128, Vocab: 151_936}},
	{"sliding, 1 of 6 full", practice.Shape{Architecture: "gemma3", Layers: 12, Width: 512, FFN: 1024, Heads: 8, KVHeads: 4, HeadDim: 256, Sliding: 1024}},
	{"sliding, 1 of 2 full", practice.Shape{Architecture: "gpt-oss", Layers: 8, Width: 512, FFN: 512, Heads: 16, KVHeads: 8, HeadDim: 64, Sliding: 128}},
	{"latent 512+64", practice.Shape{Architecture: "deepseek2", Layers: 4, Width: 512, FFN: 1024, Heads: 4, KVHeads: 4, HeadDim: 192, Rank: 512, Rope: 64}},
	{"hybrid, mamba2", practice.Shape{Architecture: "granitehybrid", Layers: 8, Width: 512, FFN: 1024, Heads: 8, KVHeads: 8, HeadDim: 64,
		Every: 4, Inner: 1024, State: 128, Groups: 1, Ranks: 16, Kernel: 4}},
	{"hybrid, delta net", practice.Shape{Architecture: "qwen3next", Layers: 8, Width: 512, FFN: 1024, Heads: 8, KVHeads: 2, HeadDim: 256,
		Every: 4, Inner: 2048, State: 128, Groups: 4, Ranks: 16, Kernel: 4}},
	{"hybrid, ffn layers", practice.Shape{Architecture: "nemotron_h", Layers: 8, Width: 512, FFN: 1024, Heads: 8, KVHeads: 4, HeadDim: 128,
		Every: 4, Inner: 1024, State: 128, Groups: 4, Ranks: 16, Kernel: 4}},
	{"hybrid, short conv", practice.Shape{Architecture: "lfm2", Layers: 8, Width: 1024, FFN: 2048, Heads: 16, KVHeads: 8, HeadDim: 64, Every: 4, Kernel: 3}},
}

const mib = 1 << 20

// load is one model loaded with one window, as predicted and as found.
type load struct {
	shape  practice.Shape
	model  local.ModelInfo
	window int
	kind   local.CacheType

	version             string          // of the engine
	own                 bool            // in the engine's own runner; else in llama.cpp's
	listed, pages       int64           // bytes that the server lists, and that the runner has written
	graph               int64           // bytes the engine says it reserved for computing
	logged              buffers         // what llama-server logged
	many                int64           // that it should list when it reads many tokens at a time
	sum                 local.Sum       // our formulas
	need                int64           // all that a fit reckons with
	used                local.CacheType // that the prediction is for
	listedWhy, pagesWhy []term
}

// geometry loads every subject with 64k and 128k tokens in two number formats and prints what was predicted and found.
// A difference of more than 5 % that no known rule of the engine explains is an error.
func geometry(ctx context.Context, engine, dir string) error {
	names := make([]string, len(subjects))
	for i, s := range subjects {
		names[i] = s.shape.Architecture + "-" + strings.NewReplacer(" ", "-", ",", "", "+", "-").Replace(s.name)
		s.shape.Trained = windows[len(windows)-1]
		path := filepath.Join(dir, names[i])
		if err := practice.WriteShape(path+".gguf", s.shape); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte("FROM "+path+".gguf\n"), 0o600); err != nil {
			return err
		}
	}
	var refused, bad []string
	made, loaded := map[string]bool{}, map[string]bool{}
	var version string
	var short int64 // the most that a runner held beyond the need of its fit
	for _, kind := range [...]local.CacheType{"f16", "q8_0"} {
		settings := []string{"OLLAMA_KV_CACHE_TYPE=" + string(kind)}
		if kind != "f16" {
			settings = append(settings, "OLLAMA_FLASH_ATTENTION=1")
		}
		s, err := start(engine, dir, "engine-"+string(kind), settings...)
		if err != nil {
			return err
		}
		version, err = s.judged(ctx)
		if err != nil {
			return errors.Join(err, s.stop())
		}
		for i, subject := range subjects {
			if kind == "f16" {
				if err = s.create(ctx, names[i], filepath.Join(dir, names[i])); err != nil {
					refused = append(refused, fmt.Sprintf("%-13s %-20s %v", subject.shape.Architecture, subject.name, err))
					err = nil
					continue
				}
				made[names[i]] = true
			}
			if !made[names[i]] {
				continue
			}
			var rows []load
			rows, err = s.measure(ctx, version, names[i], subject.shape, kind)
			var no refusal
			if errors.As(err, &no) {
				refused = append(refused, fmt.Sprintf("%-13s %-20s %s: %v", subject.shape.Architecture, subject.name, kind, no.error))
				err = nil
			}
			if err != nil {
				break
			}
			for _, l := range rows {
				if i == 0 && kind == "f16" && l.window == windows[0] {
					fmt.Println(header(version))
				}
				fmt.Println(l.row(subject.name))
				loaded[names[i]] = true
				bad = append(bad, l.wrong(subject.name)...)
				short = max(short, l.pages-l.need)
			}
		}
		if err = errors.Join(err, s.stop()); err != nil {
			return err
		}
	}
	fmt.Println()
	fmt.Print(legend(version))
	fmt.Printf("at most %d MiB were held beyond a fit's need; a fit on main memory leaves 1536 MiB and more free\n", short/mib)
	for _, r := range refused {
		fmt.Println("the engine refuses", r)
	}
	if len(loaded) < 8 {
		bad = append(bad, fmt.Sprintf("only %d geometries could be loaded, want 8", len(loaded)))
	}
	for _, b := range bad {
		fmt.Println("UNEXPLAINED", b)
	}
	if len(bad) > 0 {
		return fmt.Errorf("geometry: %d differences of more than 5 %% that no known rule explains", len(bad))
	}
	return nil
}

var windows = [...]int{65_536, 131_072}

// refusal is the engine's word that it will not load a model.
type refusal struct{ error }

// measure loads a model with each window, and reads what the server and its runner say of it.
func (s *server) measure(ctx context.Context, version, name string, shape practice.Shape, kind local.CacheType) ([]load, error) {
	m, err := s.known(ctx, name)
	if err != nil {
		return nil, err
	}
	var out []load
	for _, window := range windows {
		l := load{version: version, shape: shape, model: m, window: window, kind: kind}
		before, err := os.Stat(s.log)
		if err != nil {
			return nil, err
		}
		if _, err := s.Load(ctx, m, local.Loading{Window: window}); err != nil {
			return out, refusal{err}
		}
		found, err := s.Loaded(ctx)
		if err != nil {
			return nil, err
		}
		if len(found) != 1 || found[0].Window != window {
			return nil, fmt.Errorf("load %s with %d tokens: the server lists %+v", name, window, found)
		}
		l.listed = found[0].Size
		runner, err := s.runner()
		if err != nil {
			return nil, err
		}
		if l.own, err = ownRunner(runner); err != nil {
			return nil, err
		}
		if l.pages, err = written(runner); err != nil {
			return nil, err
		}
		l.graph, l.logged = s.reserved(before.Size()), s.buffers(before.Size())
		if err := s.unload(ctx, name); err != nil {
			return nil, err
		}
		if err := l.predict(); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// judged is the engine's version, if the rules are its.
func (s *server) judged(ctx context.Context) (string, error) {
	version, err := s.Version(ctx)
	if err != nil {
		return "", err
	}
	var minor int
	if n, _ := fmt.Sscanf(version, "0.%d", &minor); n != 1 || minor < 20 || minor >= 30 && minor != 34 {
		return "", fmt.Errorf("geometry: the engine is Ollama %s; its rules are known for 0.20 to 0.29 and for 0.34; try: ENGINE_BUILD=1 make e2e, which builds one", version)
	}
	return version, nil
}

// known asks the server about a model by our provider, as the program does before it chooses a window.
func (s *server) known(ctx context.Context, name string) (local.ModelInfo, error) {
	m, err := s.Show(ctx, name)
	if err != nil {
		return m, err
	}
	if m.Geometry.Partial {
		if m, err = s.Measure(ctx, m); err != nil {
			return m, err
		}
	}
	all, err := s.Models(ctx)
	if err != nil {
		return m, err
	}
	for _, listed := range all {
		if local.SameModel(listed.Name, name) {
			m.Size = listed.Size
		}
	}
	if !m.Geometry.Known() || m.Size == 0 {
		return m, fmt.Errorf("show %s: its geometry is not known: %+v", name, m.Geometry)
	}
	return m, nil
}
