package local

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"interpreter/local/practice"
)

// part writes a GGUF file by hand: keys, and tensors of zeros.
type part struct {
	keys    []any // name, value, name, value, …
	tensors []tensorOf
}

type tensorOf struct {
	name  string
	kind  uint32 // 0 F32, 1 F16, 8 Q8_0, 12 Q4_K
	bytes int
	shape []uint64
}

func (p part) file() []byte {
	var head bytes.Buffer
	put := func(v any) { binary.Write(&head, binary.LittleEndian, v) }
	text := func(s string) { put(uint64(len(s))); head.WriteString(s) }
	head.WriteString("GGUF")
	put(uint32(3))
	put(uint64(len(p.tensors)))
	put(uint64(len(p.keys) / 2))
	for i := 0; i < len(p.keys); i += 2 {
		text(p.keys[i].(string))
		switch v := p.keys[i+1].(type) {
		case string:
			put(uint32(8))
			text(v)
		case int:
			put(uint32(4))
			put(uint32(v))
		case uint16:
			put(uint32(2))
			put(v)
		case []int:
			put(uint32(9))
			put(uint32(4))
			put(uint64(len(v)))
			for _, n := range v {
				put(uint32(n))
			}
		case []bool:
			put(uint32(9))
			put(uint32(7))
			put(uint64(len(v)))
			for _, b := range v {
				put(b)
			}
		}
	}
	offset := 0
	for _, t := range p.tensors {
		text(t.name)
		put(uint32(len(t.shape)))
		put(t.shape)
		put(t.kind)
		put(uint64(offset))
		offset += (t.bytes + 31) / 32 * 32
	}
	head.Write(make([]byte, (32-head.Len()%32)%32+offset))
	return head.Bytes()
}

func saved(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// mixed is a mixture of two layers, with embeddings beside the output.
var mixed = part{
	keys: []any{
		"general.architecture", "qwen3moe", "qwen3moe.block_count", 2, "qwen3moe.context_length", 131072, "qwen3moe.embedding_length", 256,
		"qwen3moe.attention.head_count", 4, "qwen3moe.attention.head_count_kv", []int{2, 1}, "qwen3moe.attention.key_length", 64, "qwen3moe.attention.value_length", 64,
		"qwen3moe.expert_count", 4, "qwen3moe.expert_used_count", 2, "tokenizer.chat_template", "{% if tools %}<think>{% endif %}",
	},
	tensors: []tensorOf{
		{"token_embd.weight", 12, 1000 * 144, []uint64{256, 1000}},
		{"output.weight", 8, 1000 * 256 / 32 * 34, []uint64{256, 1000}},
		{"blk.0.ffn_gate_exps.weight", 12, 4 * 32 * 144, []uint64{256, 32, 4}},
		{"blk.1.ffn_down_exps.weight", 1, 4 * 32 * 256 * 2, []uint64{32, 256, 4}},
		{"blk.1.attn_norm.weight", 0, 1024, []uint64{256}},
	},
}

func TestReadGGUF(t *testing.T) {
	data := mixed.file()
	m, err := ReadGGUF(saved(t, "mixed.gguf", data))
	if err != nil {
		t.Fatal(err)
	}
	g := m.Geometry
	if m.Name != "mixed.gguf" || m.Size != int64(len(data)) || m.Trained != 131072 || m.Architecture != "qwen3moe" || !slices.Equal(m.Capabilities, []string{"completion", "tools", "thinking"}) {
		t.Errorf("got %+v", m)
	}
	if g.Layers != 2 || !slices.Equal(g.KVHeads, []int{2, 1}) || g.Vocab != 1000 || g.Experts != 4 || g.ExpertsUsed != 2 || !g.Known() {
		t.Errorf("got %+v", g)
	}
	if g.OnCPU != 144_000 || g.ExpertBytes != 4*32*144+4*32*256*2 {
		t.Errorf("%d bytes of embeddings, %d of experts", g.OnCPU, g.ExpertBytes)
	}
	if want := int64(256 * (2 + 1) * 128 * 2); g.Cache(256, "") != want {
		t.Errorf("a cache of %d, want %d", g.Cache(256, ""), want)
	}
	if j := Judge(m, box(8*gib), Held{}, Want{}); j.Verdict != CPUOnly {
		t.Errorf("judged %+v", j)
	}
	tied := mixed
	tied.tensors = slices.Delete(slices.Clone(mixed.tensors), 1, 2)
	if m, err = ReadGGUF(saved(t, "tied.gguf", tied.file())); err != nil || m.Geometry.OnCPU != 0 {
		t.Errorf("embeddings that are the output too: %d bytes, %v", m.Geometry.OnCPU, err)
	}
}

// All parts of a model are read whichever is named; none may be missing.
func TestReadSplitGGUF(t *testing.T) {
	first, second := mixed, mixed
	first.keys = append(slices.Clone(mixed.keys), "split.no", uint16(0), "split.count", uint16(2))
	first.tensors, second.tensors = mixed.tensors[:2], mixed.tensors[2:]
	second.keys = []any{"split.no", uint16(1), "split.count", uint16(2)}
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "big-00001-of-00002.gguf"), filepath.Join(dir, "big-00002-of-00002.gguf")}
	os.WriteFile(paths[0], first.file(), 0o600)
	if _, err := ReadGGUF(paths[0]); !refusalSays(err, "one of 2 files", "big-00002-of-00002.gguf is missing") {
		t.Errorf("a part is missing: %v", err)
	}
	os.WriteFile(paths[1], second.file(), 0o600)
	for _, path := range paths {
		m, err := ReadGGUF(path)
		if err != nil || m.Size != int64(len(first.file())+len(second.file())) || m.Geometry.ExpertBytes == 0 || m.Geometry.OnCPU != 144_000 {
			t.Errorf("%s: %+v, %v", path, m, err)
		}
	}
	os.WriteFile(paths[1], second.file()[:300], 0o600)
	if _, err := ReadGGUF(paths[0]); err == nil {
		t.Error("a part is cut short, and nobody noticed")
	}
}

func refusalSays(err error, words ...string) bool {
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Remedy() == "" {
		return false
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			return false
		}
	}
	return true
}

func TestReadGGUFRefuses(t *testing.T) {
	whole := mixed.file()
	projector := part{keys: []any{"general.architecture", "clip", "clip.projector_type", "mlp"}}
	adapter := part{keys: []any{"general.architecture", "llama", "general.type", "adapter", "llama.block_count", 1}}
	empty := part{keys: []any{"general.architecture", "llama"}}
	strange := part{keys: mixed.keys, tensors: []tensorOf{{"token_embd.weight", 99, 32, []uint64{32}}}}
	huge := part{keys: mixed.keys, tensors: []tensorOf{{"token_embd.weight", 0, 32, []uint64{1 << 40, 1 << 40}}}}
	for _, test := range []struct {
		name string
		data []byte
		says string
	}{
		{"text", []byte("once upon a time there was a model"), "no GGUF file"},
		{"nothing", nil, "no GGUF file"},
		{"a head alone", whole[:40], "damaged"},
		{"cut in its tensors", whole[:len(whole)-5000], "damaged"},
		{"a projector", projector.file(), "projector"},
		{"an adapter", adapter.file(), "adapter"},
		{"no layers", empty.file(), "no language model"},
		{"a type of the future", strange.file(), "damaged"},
		{"sizes beyond reason", huge.file(), "damaged"},
	} {
		if _, err := ReadGGUF(saved(t, "m.gguf", test.data)); !refusalSays(err, test.says) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if _, err := ReadGGUF(filepath.Join(t.TempDir(), "none.gguf")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := ReadGGUF(t.TempDir()); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}
}

// Files of many builds read back as what they were written from.
func TestReadShapes(t *testing.T) {
	base := practice.Shape{Layers: 12, Width: 256, FFN: 64, Heads: 8, KVHeads: 2, HeadDim: 64, Trained: 131072, Sliding: 512,
		Rank: 128, Rope: 16, Every: 4, Inner: 512, State: 16, Groups: 2, Ranks: 8, Kernel: 4}
	const cells, window = 65536 * 2 * 128 * 2, (512 + 2048) * 2 * 128 * 2 // bytes of a layer at the floor, and of a windowed one
	for _, test := range []struct {
		architecture string
		full, narrow int64 // layers
	}{
		{"llama", 12, 0}, {"qwen3", 12, 0}, {"gemma3", 2, 10}, {"gpt-oss", 6, 6}, {"granitehybrid", 3, 0}, {"lfm2", 3, 0}, {"qwen3next", 3, 0},
	} {
		shape := base
		shape.Architecture = test.architecture
		path := filepath.Join(t.TempDir(), "shape.gguf")
		if err := practice.WriteShape(path, shape); err != nil {
			t.Errorf("%s: %v", test.architecture, err)
			continue
		}
		m, err := ReadGGUF(path)
		if err != nil {
			t.Errorf("%s: %v", test.architecture, err)
			continue
		}
		cache, state := m.Geometry.kept(Floor, serving{slots: 1, batch: windowBatch})
		if want := test.full*cells + test.narrow*window; cache != want {
			t.Errorf("%s: %d bytes of keys and values, want %d (%+v)", test.architecture, cache, want, m.Geometry)
		}
		if hybrid := test.full+test.narrow < 12; hybrid != (state > 0) {
			t.Errorf("%s: %d bytes of states", test.architecture, state)
		}
	}
	shape := base
	shape.Architecture = "deepseek2"
	path := filepath.Join(t.TempDir(), "shape.gguf")
	if err := practice.WriteShape(path, shape); err != nil {
		t.Fatal(err)
	}
	if m, err := ReadGGUF(path); err != nil || m.Geometry.Cache(Floor, "") != 12*65536*(128+16)*2 {
		t.Errorf("latent: %+v, %v", m.Geometry, err)
	}
}

func TestTensorBytes(t *testing.T) {
	for _, test := range []struct {
		kind  string
		shape []uint64
		want  int64
	}{
		{"F32", []uint64{10, 2}, 80}, {"bf16", []uint64{10, 2}, 40}, {"Q8_0", []uint64{32, 2}, 68}, {"q4_K", []uint64{256, 3}, 432},
		{"Q6_K", []uint64{512}, 420}, {"MXFP4", []uint64{64}, 34}, {"IQ4_XS", []uint64{256}, 136}, {"NVFP4", []uint64{64}, 36},
	} {
		if got, ok := TensorBytes(test.kind, test.shape); !ok || got != test.want {
			t.Errorf("%s of %v: %d, want %d", test.kind, test.shape, got, test.want)
		}
	}
	if _, ok := TensorBytes("Q9_9", []uint64{1}); ok {
		t.Error("a type that does not exist has a size")
	}
}
