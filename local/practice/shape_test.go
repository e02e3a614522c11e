package practice

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"interpreter/local"
)

// shapes is one of each architecture, small.
func shapes() []Shape {
	var out []Shape
	for _, name := range Shapes() {
		s := Shape{Architecture: name, Layers: 8, Width: 64, FFN: 96, Heads: 8, KVHeads: 4, HeadDim: 32, Trained: 131072}
		if s.windowed() {
			s.Sliding = 128
		}
		if s.latent() {
			s.Rank, s.Rope = 48, 16
		}
		if s.hybrid() {
			s.Every, s.Kernel = 4, 4
		}
		if s.scans() {
			s.Inner, s.State, s.Groups, s.Ranks = 128, 16, 2, 8
		}
		out = append(out, s)
	}
	return out
}

// What is written is read back as the geometry that it has.
func TestShapes(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.Architecture, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "shape.gguf")
			if err := WriteShape(path, s); err != nil {
				t.Fatal(err)
			}
			m, err := local.ReadGGUF(path)
			if err != nil {
				t.Fatal(err)
			}
			g := m.Geometry
			if m.Architecture != s.Architecture || m.Trained != s.Trained || !g.Known() || g.Layers != s.Layers || g.Embedding != s.Width || g.Window != s.Sliding {
				t.Errorf("read %+v, %+v", m, g)
			}
			if got := slices.Max(g.KVHeads); s.latent() && g.Latent != s.Rank+s.Rope || !s.latent() && (got != s.KVHeads || g.KeyDim != s.HeadDim || g.ValueDim != s.HeadDim) {
				t.Errorf("keys and values: %+v", g)
			}
			if s.hybrid() {
				var attends, want []bool
				for i := range s.Layers {
					attends = append(attends, !g.Recurrent[i])
					want = append(want, s.attends(i))
				}
				if s.Architecture != "nemotron_h" && !reflect.DeepEqual(attends, want) {
					t.Errorf("layers with attention: %v, want %v", attends, want)
				}
			}
			var weights int64
			for _, p := range s.parts() {
				weights += p.bytes()
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if head := info.Size() - weights; head < 1000 || head > 32<<10 {
				t.Errorf("%d bytes, of which the weights take %d", info.Size(), weights)
			}
		})
	}
}

// A larger vocabulary is read back, and its rows are weights.
func TestVocabulary(t *testing.T) {
	for _, s := range shapes() {
		s.Vocab = 5000
		path := filepath.Join(t.TempDir(), "shape.gguf")
		err := WriteShape(path, s)
		if s.Architecture == "llama" || s.Architecture == "gemma3" {
			if err == nil || !strings.Contains(err.Error(), "bytes alone") {
				t.Errorf("%s: %v", s.Architecture, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		m, err := local.ReadGGUF(path)
		if err != nil {
			t.Fatal(err)
		}
		if m.Geometry.Vocab != s.Vocab || !slices.Equal(s.parts()[0].shape, []int{s.Width, s.Vocab}) {
			t.Errorf("%s: read %d tokens, embedding %v", s.Architecture, m.Geometry.Vocab, s.parts()[0].shape)
		}
	}
}

// A shape that no loader could make sense of is refused by what is wrong with it.
func TestBadShapes(t *testing.T) {
	for _, s := range shapes() {
		for _, c := range []struct {
			spoil func(*Shape)
			want  string
		}{
			{func(s *Shape) { s.Architecture = "gpt2" }, `architecture "gpt2": want one of`},
			{func(s *Shape) { s.Layers = 0 }, "must be positive"},
			{func(s *Shape) { s.KVHeads = 3 }, "multiple of KV heads"},
			{func(s *Shape) { s.HeadDim = 31 }, "the head size even"},
			{func(s *Shape) { s.Sliding = 0 }, map[bool]string{true: "sliding window"}[s.windowed()]},
			{func(s *Shape) { s.Rope = s.HeadDim }, map[bool]string{true: "rotated part"}[s.latent()]},
			{func(s *Shape) { s.Every = 9 }, map[bool]string{true: "attention in some of its layers"}[s.hybrid()]},
			{func(s *Shape) { s.Ranks = 7 }, map[bool]string{true: "multiple of its heads"}[s.scans()]},
		} {
			bad := s
			c.spoil(&bad)
			err := WriteShape(filepath.Join(t.TempDir(), "x.gguf"), bad)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%+v: %v, want %q", bad, err, c.want)
			}
		}
	}
}
