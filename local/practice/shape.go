package practice

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// A Shape is the build of a model without its knowledge: a server reserves for it the memory that it would reserve for
// a real one of that build, so that a prediction can be compared. Its weights are zero, and what it says is noise.
type Shape struct {
	Architecture string // one of Shapes
	Layers       int
	Width        int // of the embeddings
	FFN          int // width of the feed-forward weights
	Heads        int // query heads
	KVHeads      int // of layers with attention
	HeadDim      int
	Trained      int // context in tokens
	Vocab        int // least number of tokens; 0: one for each byte and a few more
	Sliding      int // tokens that a windowed layer sees

	Rank, Rope int // of latent attention: elements of the compressed row and of its rotated part

	Every  int // attention in each so-many-th layer; the others keep a state
	Inner  int // of that state: width, size, groups, heads and the kernel of the convolution before it
	State  int
	Groups int
	Ranks  int
	Kernel int
}

// Shapes are the architectures that WriteShape knows, in the names that GGUF files use.
func Shapes() []string {
	return []string{"llama", "qwen3", "gemma3", "gpt-oss", "deepseek2", "granitehybrid", "lfm2", "qwen3next", "nemotron_h"}
}

// WriteShape writes a GGUF file of a shape: matrices as 16-bit floats, vectors as 32-bit ones, all of them zero.
func WriteShape(path string, s Shape) error {
	if err := s.valid(); err != nil {
		return fmt.Errorf("practice gguf: %w", err)
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("practice gguf: %w", err)
	}
	size, err := s.head(file)
	if err == nil {
		err = file.Truncate(size) // what was never written reads as zero
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("practice gguf: write %s: %w", path, err)
	}
	return nil
}

func (s Shape) valid() error {
	switch {
	case !slices.Contains(Shapes(), s.Architecture):
		return fmt.Errorf("architecture %q: want one of %v", s.Architecture, Shapes())
	case s.Layers < 1 || s.Width < 1 || s.FFN < 1 || s.Heads < 1 || s.KVHeads < 1 || s.HeadDim < 1 || s.Trained < 1:
		return fmt.Errorf("shape of %s: layers, width, feed-forward width, heads, KV heads, head size and context must be positive", s.Architecture)
	case s.Heads%s.KVHeads != 0 || s.HeadDim%2 != 0 || s.Width%align != 0 || s.FFN%align != 0:
		return fmt.Errorf("shape of %s: heads must be a multiple of KV heads, the head size even, the widths multiples of %d", s.Architecture, align)
	case s.Vocab < 0 || s.Vocab > 0 && (s.Architecture == "llama" || s.Architecture == "gemma3"):
		return fmt.Errorf("shape of %s: its vocabulary is one of bytes alone", s.Architecture)
	case s.windowed() && s.Sliding < 1:
		return fmt.Errorf("shape of %s: it needs a sliding window", s.Architecture)
	case s.latent() && (s.Rank < 1 || s.Rope < 2 || s.Rope >= s.HeadDim):
		return fmt.Errorf("shape of %s: it needs a rank and a rotated part smaller than a head", s.Architecture)
	case s.hybrid() && (s.Every < 2 || s.Every > s.Layers || s.Kernel < 2):
		return fmt.Errorf("shape of %s: it needs attention in some of its layers and a kernel for the others", s.Architecture)
	case s.scans() && (s.State < 1 || s.Groups < 1 || s.Ranks < 1 || s.Inner < 1 || s.Inner%s.Ranks != 0 || s.Inner%s.Groups != 0):
		return fmt.Errorf("shape of %s: the width of its state must be a multiple of its heads and of its groups", s.Architecture)
	}
	return nil
}

func (s Shape) windowed() bool { return s.Architecture == "gemma3" || s.Architecture == "gpt-oss" }
func (s Shape) latent() bool   { return s.Architecture == "deepseek2" }
func (s Shape) scans() bool    { return s.hybrid() && s.Architecture != "lfm2" }
func (s Shape) hybrid() bool {
	return slices.Contains([]string{"granitehybrid", "lfm2", "qwen3next", "nemotron_h"}, s.Architecture)
}

// attends reports whether a layer keeps keys and values.
func (s Shape) attends(layer int) bool { return !s.hybrid() || (layer+1)%s.Every == 0 }

// feeds reports whether a layer is nothing but a feed-forward network.
func (s Shape) feeds(layer int) bool { return s.Architecture == "nemotron_h" && layer%s.Every == 0 }
