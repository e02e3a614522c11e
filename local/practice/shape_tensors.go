package practice

import "strconv"

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
		if s.Architecture == "gpt-oss" {
			s.offsets(func(name string, shape ...int) { add(true, name+".bias", shape...) })
		}
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

// offsets are the biases that llama-server wants of gpt-oss.
func (s Shape) offsets(bias adder) {
	bias("attn_output", s.Width)
	bias("ffn_gate_inp", experts)
	bias("ffn_gate_exps", s.FFN, experts)
	bias("ffn_up_exps", s.FFN, experts)
	bias("ffn_down_exps", s.Width, experts)
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
