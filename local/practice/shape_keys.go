package practice

import (
	"fmt"
	"io"
	"strconv"
)

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

// pieces is the tokenizer: a token a byte, in the kind that the architecture's servers expect, and then some that no
// text makes.
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
	tokens = append(tokens, "ab")
	for len(tokens) < s.Vocab {
		tokens = append(tokens, "x"+strconv.Itoa(len(tokens)))
	}
	return "gpt2", pre, tokens
}
