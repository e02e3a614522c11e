package practice

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"strconv"
)

const (
	align  = 32      // of tensors and widths
	ffn    = 32      // width of the feed-forward weights, which are all zero
	sure   = 8       // scales the output so that any temperature picks the same token
	leastB = 1 << 20 // bytes of weights: a smaller file looks like a stub of a model elsewhere
)

// tensor is a named array of 32-bit floats; ones lists its non-zero entries, and value is what they hold.
type tensor struct {
	name  string
	shape []int
	ones  []int
	value float32
	full  bool // every entry is value
}

func (t tensor) entries() int {
	n := 1
	for _, d := range t.shape {
		n *= d
	}
	return n
}

func (t tensor) padded() int { return padded(4 * t.entries()) }

func padded(n int) int { return (n + align - 1) / align * align }

// tensors lays the table of next tokens out as weights: embeddings name the current token by its axis, the layers
// add nothing, and row n of the output looks for the axes of the tokens that n follows.
func (v *vocabulary) tensors(width int, o GGUFOptions) []tensor {
	n, axis := len(v.texts), v.axes()
	embed := tensor{name: "token_embd.weight", shape: []int{width, n}, value: 1}
	out := tensor{name: "output.weight", shape: []int{width, n}, value: 1, ones: []int{v.lost * width}}
	for id := range v.texts {
		embed.ones = append(embed.ones, id*width+axis[id])
		if next, ok := v.next[id]; ok {
			out.ones = append(out.ones, next*width+axis[id])
		}
	}
	all := []tensor{embed, {name: "output_norm.weight", shape: []int{width}, value: sure, full: true}, out}
	for layer := range o.Layers {
		block := func(name string, shape ...int) tensor {
			return tensor{name: "blk." + strconv.Itoa(layer) + "." + name + ".weight", shape: shape}
		}
		norm := func(name string) tensor {
			t := block(name, width)
			t.value, t.full = 1, true
			return t
		}
		q, kv := o.Heads*o.HeadDim, o.KVHeads*o.HeadDim
		all = append(all,
			norm("attn_norm"), block("attn_q", width, q), block("attn_k", width, kv), block("attn_v", width, kv),
			block("attn_output", q, width), norm("ffn_norm"), block("ffn_gate", width, ffn), block("ffn_up", width, ffn),
			block("ffn_down", ffn, width))
	}
	return all
}

// width is that of the embeddings: an axis for each token, and enough of them for a file of a megabyte.
func (v *vocabulary) width(o GGUFOptions) int {
	width := padded(len(v.next) + 1)
	for {
		size := 0
		for _, t := range v.tensors(width, o) {
			size += t.padded()
		}
		if size >= leastB {
			return width
		}
		width += align
	}
}

// write puts the whole file out.
func (v *vocabulary) write(w io.Writer, name string, o GGUFOptions) error {
	width := v.width(o)
	tensors := v.tensors(width, o)
	var head encoder
	keys := v.keys(name, width, o)
	head.raw("GGUF")
	head.number(uint32(3))
	head.number(uint64(len(tensors)))
	head.number(uint64(keys.count))
	head.Write(keys.Bytes())
	offset := 0
	for _, t := range tensors {
		head.text(t.name)
		head.number(uint32(len(t.shape)))
		for _, d := range t.shape {
			head.number(uint64(d))
		}
		head.number(uint32(0)) // F32
		head.number(uint64(offset))
		offset += t.padded()
	}
	out := bufio.NewWriter(w)
	out.Write(head.Bytes())
	out.Write(make([]byte, padded(head.Len())-head.Len()))
	for _, t := range tensors {
		out.Write(t.bytes())
	}
	return out.Flush()
}

func (t tensor) bytes() []byte {
	data := make([]byte, t.padded())
	set := func(i int) { binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(t.value)) }
	for _, i := range t.ones {
		set(i)
	}
	if t.full {
		for i := range t.entries() {
			set(i)
		}
	}
	return data
}

func (v *vocabulary) keys(name string, width int, o GGUFOptions) *encoder {
	n := len(v.texts)
	e := &encoder{}
	e.keyText("general.architecture", "llama")
	e.keyText("general.name", name)
	e.keyText("general.description", Banner)
	e.keyNumber("general.file_type", 0)
	e.keyNumber("llama.context_length", o.Window)
	e.keyNumber("llama.embedding_length", width)
	e.keyNumber("llama.block_count", o.Layers)
	e.keyNumber("llama.feed_forward_length", ffn)
	e.keyNumber("llama.attention.head_count", o.Heads)
	e.keyNumber("llama.attention.head_count_kv", o.KVHeads)
	e.keyNumber("llama.attention.key_length", o.HeadDim)
	e.keyNumber("llama.attention.value_length", o.HeadDim)
	e.keyNumber("llama.rope.dimension_count", o.HeadDim)
	e.keyFloat("llama.attention.layer_norm_rms_epsilon", 1e-6)
	e.keyNumber("llama.vocab_size", n)
	e.keyText("tokenizer.ggml.model", "llama")
	e.keyArray("tokenizer.ggml.tokens", 8, n)
	for _, text := range v.texts {
		e.text(text)
	}
	e.keyArray("tokenizer.ggml.scores", 6, n)
	e.Write(make([]byte, 4*n))
	e.keyArray("tokenizer.ggml.token_type", 5, n)
	for _, kind := range v.kinds {
		e.number(kind)
	}
	e.keyNumber("tokenizer.ggml.bos_token_id", v.bos)
	e.keyNumber("tokenizer.ggml.eos_token_id", v.eos)
	e.keyNumber("tokenizer.ggml.unknown_token_id", 0)
	e.keyFlag("tokenizer.ggml.add_bos_token", true)
	e.keyFlag("tokenizer.ggml.add_space_prefix", false)
	return e
}

// encoder writes the parts of a GGUF header; count is the number of keys so far.
type encoder struct {
	bytes.Buffer
	count int
}

func (e *encoder) raw(s string)  { e.WriteString(s) }
func (e *encoder) number(n any)  { binary.Write(e, binary.LittleEndian, n) }
func (e *encoder) text(s string) { e.number(uint64(len(s))); e.raw(s) }
func (e *encoder) key(name string, kind uint32) {
	e.count++
	e.text(name)
	e.number(kind)
}
func (e *encoder) keyText(name, v string)          { e.key(name, 8); e.text(v) }
func (e *encoder) keyNumber(name string, v int)    { e.key(name, 4); e.number(uint32(v)) }
func (e *encoder) keyFloat(name string, v float32) { e.key(name, 6); e.number(v) }
func (e *encoder) keyFlag(name string, v bool)     { e.key(name, 7); e.number(v) }
func (e *encoder) keyArray(name string, kind, n int) {
	e.key(name, 9)
	e.number(uint32(kind))
	e.number(uint64(n))
}
