package practice

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
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

// pieces is the tokenizer: a token a byte, in the kind that the architecture's servers expect.
func (s Shape) pieces() (kind, pre string, tokens []string) {
	switch s.Architecture {
	case "llama", "gemma3":
		tokens = []string{"<unk>", "<s>", "</s>"}
		for b := range 256 {
			tokens = append(tokens, fmt.Sprintf("<0x%02X>", b))
		}
		return "llama", "", tokens
	case "deepseek2":
		pre = "deepseek-v3"
	case "gpt-oss":
		pre = "gpt-4o"
	case "lfm2":
		pre = "lfm2"
	case "granitehybrid":
		pre = "refact"
	default:
		pre = "qwen2"
	}
	tokens = []string{"<unk>", "<s>", "</s>"}
	next := rune(256) // byte-level vocabularies write bytes that do not print as letters from here on
	for b := range 256 {
		r := rune(b)
		if b < '!' || b > '~' && b < 0xA1 || b == 0xAD {
			r, next = next, next+1
		}
		tokens = append(tokens, string(r))
	}
	return "gpt2", pre, append(tokens, "ab")
}

// part is a tensor of zeros.
type part struct {
	name  string
	shape []int
	whole bool // 32-bit floats, which servers want of vectors and convolutions
}

func (p part) bytes() int64 {
	n := int64(2)
	if p.whole {
		n = 4
	}
	for _, d := range p.shape {
		n *= int64(d)
	}
	return (n + align - 1) / align * align
}

// parts lists the tensors, by the names and shapes that the architecture's loaders ask for.
func (s Shape) parts() []part {
	_, _, tokens := s.pieces()
	all := []part{
		{name: "token_embd.weight", shape: []int{s.Width, len(tokens)}},
		{name: "output_norm.weight", shape: []int{s.Width}, whole: true},
		{name: "output.weight", shape: []int{s.Width, len(tokens)}},
	}
	if s.Architecture == "lfm2" { // its output is its embedding, and its last norm bears another name
		all = []part{all[0], {name: "token_embd_norm.weight", shape: []int{s.Width}, whole: true}}
	}
	for layer := range s.Layers {
		add := func(whole bool, name string, shape ...int) {
			all = append(all, part{name: "blk." + strconv.Itoa(layer) + "." + name, shape: shape, whole: whole})
		}
		matrix := func(name string, shape ...int) { add(false, name+".weight", shape...) }
		vector := func(name string, shape ...int) { add(true, name+".weight", shape...) }
		vector("attn_norm", s.Width)
		switch {
		case s.feeds(layer):
		case !s.attends(layer):
			s.keeper(matrix, vector, func(name string, shape ...int) { add(true, name, shape...) })
		case s.latent():
			s.compressed(matrix, vector)
		default:
			s.attention(matrix, vector)
		}
		s.forward(layer, matrix, vector)
	}
	return all
}

type adder func(name string, shape ...int)

func (s Shape) attention(matrix, vector adder) {
	q, kv := s.Heads*s.HeadDim, s.KVHeads*s.HeadDim
	if s.Architecture == "qwen3next" { // queries come with a gate of the same size
		matrix("attn_q", s.Width, 2*q)
	} else {
		matrix("attn_q", s.Width, q)
	}
	matrix("attn_k", s.Width, kv)
	matrix("attn_v", s.Width, kv)
	matrix("attn_output", q, s.Width)
	switch s.Architecture {
	case "qwen3", "gemma3", "lfm2", "qwen3next":
		vector("attn_q_norm", s.HeadDim)
		vector("attn_k_norm", s.HeadDim)
	case "gpt-oss":
		vector("attn_sinks", s.Heads)
	}
}

// compressed is latent attention: a row of Rank and Rope elements stands for all heads.
func (s Shape) compressed(matrix, vector adder) {
	matrix("attn_q_a", s.Width, s.Rank)
	vector("attn_q_a_norm", s.Rank)
	matrix("attn_q_b", s.Rank, s.Heads*s.HeadDim)
	matrix("attn_kv_a_mqa", s.Width, s.Rank+s.Rope)
	vector("attn_kv_a_norm", s.Rank)
	matrix("attn_k_b", s.HeadDim-s.Rope, s.Rank, s.Heads)
	matrix("attn_v_b", s.Rank, s.valueDim(), s.Heads)
	matrix("attn_output", s.Heads*s.valueDim(), s.Width)
}

// valueDim is the size of a value of latent attention, whose keys carry a rotated part that values lack.
func (s Shape) valueDim() int { return s.HeadDim - s.Rope }

// keeper is a layer that keeps a state of fixed size.
func (s Shape) keeper(matrix, vector, bare adder) {
	channels := s.Inner + 2*s.Groups*s.State
	switch s.Architecture {
	case "lfm2":
		vector("shortconv.conv", s.Kernel, s.Width)
		matrix("shortconv.in_proj", s.Width, 3*s.Width)
		matrix("shortconv.out_proj", s.Width, s.Width)
	case "qwen3next":
		matrix("attn_qkv", s.Width, channels)
		matrix("attn_gate", s.Width, s.Inner)
		matrix("ssm_ba", s.Width, 2*s.Ranks)
		vector("ssm_conv1d", s.Kernel, channels)
		bare("ssm_dt", s.Ranks)
		bare("ssm_a", s.Ranks)
		vector("ssm_norm", s.Inner/s.Ranks)
		matrix("ssm_out", s.Inner, s.Width)
	default:
		matrix("ssm_in", s.Width, s.Inner+channels+s.Ranks)
		vector("ssm_conv1d", s.Kernel, channels)
		bare("ssm_conv1d.bias", channels)
		bare("ssm_dt.bias", s.Ranks)
		bare("ssm_a", 1, s.Ranks)
		bare("ssm_d", 1, s.Ranks)
		vector("ssm_norm", s.Inner/s.Groups, s.Groups)
		matrix("ssm_out", s.Inner, s.Width)
	}
}

func (s Shape) forward(layer int, matrix, vector adder) {
	switch s.Architecture {
	case "nemotron_h":
		if s.feeds(layer) {
			matrix("ffn_up", s.Width, s.FFN)
			matrix("ffn_down", s.FFN, s.Width)
		}
		return
	case "gpt-oss":
		vector("post_attention_norm", s.Width)
		matrix("ffn_gate_inp", s.Width, experts)
		matrix("ffn_gate_exps", s.Width, s.FFN, experts)
		matrix("ffn_up_exps", s.Width, s.FFN, experts)
		matrix("ffn_down_exps", s.FFN, s.Width, experts)
		return
	case "gemma3":
		vector("post_attention_norm", s.Width)
		vector("post_ffw_norm", s.Width)
		vector("ffn_norm", s.Width)
	case "qwen3next":
		vector("post_attention_norm", s.Width)
	default:
		vector("ffn_norm", s.Width)
	}
	matrix("ffn_gate", s.Width, s.FFN)
	matrix("ffn_up", s.Width, s.FFN)
	matrix("ffn_down", s.FFN, s.Width)
}

// experts is how many a mixture of them has, and all of them work.
const experts = 2

// head writes what comes before the weights, and returns the length of the whole file.
func (s Shape) head(w io.Writer) (int64, error) {
	parts, keys := s.parts(), s.keys()
	var head encoder
	head.raw("GGUF")
	head.number(uint32(3))
	head.number(uint64(len(parts)))
	head.number(uint64(keys.count))
	head.Write(keys.Bytes())
	var offset int64
	for _, p := range parts {
		head.text(p.name)
		head.number(uint32(len(p.shape)))
		for _, d := range p.shape {
			head.number(uint64(d))
		}
		kind := uint32(1) // F16
		if p.whole {
			kind = 0
		}
		head.number(kind)
		head.number(uint64(offset))
		offset += p.bytes()
	}
	begin := int64(padded(head.Len()))
	_, err := w.Write(head.Bytes())
	return begin + offset, err
}

func (s Shape) keys() *encoder {
	e := &encoder{}
	key := func(name string) string { return s.Architecture + "." + name }
	number := func(name string, v int) { e.keyNumber(key(name), v) }
	e.keyText("general.architecture", s.Architecture)
	e.keyText("general.name", "shape of "+s.Architecture)
	e.keyText("general.description", Banner)
	e.keyNumber("general.file_type", 1)
	number("context_length", s.Trained)
	number("embedding_length", s.Width)
	number("block_count", s.Layers)
	number("attention.head_count", s.Heads)
	e.keyFloat(key("attention.layer_norm_rms_epsilon"), 1e-6)
	e.keyFloat(key("rope.freq_base"), 1e6)
	if s.Architecture == "nemotron_h" {
		e.keyNumbers(key("feed_forward_length"), s.perLayer(func(layer int) int { return when(s.feeds(layer), s.FFN) }))
	} else {
		number("feed_forward_length", s.FFN)
	}
	switch s.Architecture {
	case "granitehybrid", "lfm2", "nemotron_h":
		e.keyNumbers(key("attention.head_count_kv"), s.perLayer(func(layer int) int { return when(s.attends(layer), s.KVHeads) }))
	case "deepseek2":
		number("attention.head_count_kv", 1)
	default:
		number("attention.head_count_kv", s.KVHeads)
	}
	if s.latent() {
		number("attention.key_length", s.Rank+s.Rope)
		number("attention.value_length", s.Rank)
		number("attention.key_length_mla", s.HeadDim)
		number("attention.value_length_mla", s.valueDim())
		number("attention.q_lora_rank", s.Rank)
		number("attention.kv_lora_rank", s.Rank)
		number("rope.dimension_count", s.Rope)
		number("leading_dense_block_count", s.Layers)
		number("expert_count", 0)
		number("expert_feed_forward_length", s.FFN)
		number("expert_shared_count", 1)
		e.keyFloat(key("expert_weights_scale"), 1)
	} else {
		number("attention.key_length", s.HeadDim)
		number("attention.value_length", s.HeadDim)
		number("rope.dimension_count", s.HeadDim)
	}
	if s.windowed() {
		number("attention.sliding_window", s.Sliding)
	}
	switch s.Architecture {
	case "gpt-oss":
		number("expert_count", experts)
		number("expert_used_count", experts)
		number("expert_feed_forward_length", s.FFN)
	case "lfm2":
		number("shortconv.l_cache", s.Kernel)
	case "qwen3next":
		number("full_attention_interval", s.Every)
	}
	if s.scans() {
		number("ssm.conv_kernel", s.Kernel)
		number("ssm.inner_size", s.Inner)
		number("ssm.state_size", s.State)
		number("ssm.group_count", s.Groups)
		number("ssm.time_step_rank", s.Ranks)
	}
	s.vocabulary(e)
	return e
}

func (s Shape) vocabulary(e *encoder) {
	kind, pre, tokens := s.pieces()
	e.keyNumber(s.Architecture+".vocab_size", len(tokens))
	e.keyText("tokenizer.ggml.model", kind)
	if pre != "" {
		e.keyText("tokenizer.ggml.pre", pre)
	}
	e.keyArray("tokenizer.ggml.tokens", 8, len(tokens))
	for _, t := range tokens {
		e.text(t)
	}
	e.keyArray("tokenizer.ggml.token_type", 5, len(tokens))
	for i := range tokens {
		sort := uint32(1) // ordinary
		switch {
		case i == 0:
			sort = 2 // unknown
		case i < 3:
			sort = 3 // control
		case kind == "llama":
			sort = 6 // byte
		}
		e.number(sort)
	}
	if kind == "gpt2" {
		e.keyArray("tokenizer.ggml.merges", 8, 1)
		e.text("a b")
	} else {
		e.keyArray("tokenizer.ggml.scores", 6, len(tokens))
		e.Write(make([]byte, 4*len(tokens)))
	}
	e.keyNumber("tokenizer.ggml.bos_token_id", 1)
	e.keyNumber("tokenizer.ggml.eos_token_id", 2)
}

func (s Shape) perLayer(of func(layer int) int) []int {
	out := make([]int, s.Layers)
	for i := range out {
		out[i] = of(i)
	}
	return out
}

func when(yes bool, n int) int {
	if yes {
		return n
	}
	return 0
}

// keyNumbers writes an array of 32-bit numbers.
func (e *encoder) keyNumbers(name string, list []int) {
	e.keyArray(name, 4, len(list))
	for _, n := range list {
		e.number(uint32(n))
	}
}
