package local

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"interpreter/probes"
)

// What no model has must end neither in a panic nor in a sum without end, whoever claims it.
func TestAbsurdMetadata(t *testing.T) {
	good := map[string]any{
		"general.architecture": "qwen35", "qwen35.block_count": 40.0, "qwen35.context_length": 262144.0, "qwen35.embedding_length": 2048.0,
		"qwen35.attention.head_count": 16.0, "qwen35.attention.head_count_kv": 2.0, "qwen35.attention.key_length": 256.0,
		"qwen35.attention.value_length": 256.0, "qwen35.vocab_size": 248320.0, "qwen35.attention.sliding_window": 512.0,
	}
	machine := probes.Machine{RAM: probes.Memory{Total: 64 * gib, Available: 64 * gib}}
	for _, key := range []string{
		"block_count", "context_length", "embedding_length", "attention.head_count", "attention.head_count_kv", "attention.key_length",
		"attention.value_length", "vocab_size", "attention.sliding_window", "nextn_predict_layers", "attention.shared_kv_layers",
		"full_attention_interval", "ssm.inner_size", "ssm.state_size", "ssm.conv_kernel", "ssm.group_count", "expert_count",
		"expert_feed_forward_length", "leading_dense_block_count", "attention.kv_lora_rank", "rope.dimension_count",
	} {
		for _, value := range []any{-1.0, 0.0, 1e30, -1e30, 1e9, math.Inf(1), math.NaN(), uint64(1) << 63, int64(-5), "7", nil, []any{}, []any{-1.0, 1e30}, true} {
			for _, architecture := range []string{"qwen35", "gemma3", "gptoss", "nemotronh", "lfm2"} {
				meta := Metadata{}
				for k, v := range good {
					meta[k] = v
				}
				meta["qwen35."+key] = value
				meta["general.architecture"] = "qwen35"
				plain := meta.Plausible()
				// The rules of other architectures are tried on the same numbers.
				for k, v := range plain {
					plain[architecture+k[len("qwen35"):]] = v
				}
				plain["general.architecture"] = architecture
				g := plain.Geometry()
				if g.Layers < 0 || g.Layers > 1<<12 || g.State < 0 || plain.Trained() < 0 {
					t.Fatalf("%s = %v of %s: layers %d, state %d, trained %d", key, value, architecture, g.Layers, g.State, plain.Trained())
				}
				m := ModelInfo{Name: "absurd", Size: gib, Trained: plain.Trained(), Geometry: g, Capabilities: []string{"tools"}}
				if j := judge(m, machine, Held{}, Want{}); j.Fit.Need < 0 || j.Fit.Window < 0 || j.Fit.Window > usual {
					t.Errorf("%s = %v of %s: needs %d for %d tokens", key, value, architecture, j.Fit.Need, j.Fit.Window)
				}
			}
		}
	}
	if n := len(Metadata(good).Plausible()); n != len(good) {
		t.Errorf("%d of %d keys of a real model are left", n, len(good))
	}
}

// The vocabulary and what lies outside the memory model stay as they are.
func TestPlausibleKeepsTheRest(t *testing.T) {
	tokens := make([]any, 1<<13)
	var meta Metadata
	if err := json.Unmarshal([]byte(`{"general.architecture":"gemma3","gemma3.attention.sliding_window_pattern":[true,false],"gemma3.attention.recurrent_layers":null}`), &meta); err != nil {
		t.Fatal(err)
	}
	meta["tokenizer.ggml.tokens"] = tokens
	if plain := meta.Plausible(); len(plain) != 4 || !plain.leftOut("attention.recurrent_layers") {
		t.Errorf("%v", plain)
	}
}

func TestReadGGUFAbsurd(t *testing.T) {
	for name, keys := range map[string][]any{
		"more drafting layers than layers": {"general.architecture", "qwen35", "qwen35.block_count", uint32(1), "qwen35.nextn_predict_layers", uint32(5),
			"qwen35.context_length", uint32(131072), "qwen35.embedding_length", uint32(64), "qwen35.attention.head_count", uint32(4)},
		"billions of layers": {"general.architecture", "qwen35", "qwen35.block_count", uint32(4_000_000_000),
			"qwen35.context_length", uint32(131072), "qwen35.embedding_length", uint32(64), "qwen35.attention.head_count", uint32(4)},
		"an endless context": {"general.architecture", "llama", "llama.block_count", uint32(2), "llama.context_length", uint32(math.MaxUint32),
			"llama.embedding_length", uint32(math.MaxUint32), "llama.attention.head_count", uint32(4)},
	} {
		path := saved(t, "m.gguf", part{keys: keys, tensors: []tensorOf{{"token_embd.weight", 0, 64 * 64 * 4, []uint64{64, 64}}}}.file())
		m, err := ReadGGUF(path)
		if err != nil {
			continue // refusing such a file is as good
		}
		if j := judge(m, probes.Machine{RAM: probes.Memory{Total: gib, Available: gib}}, Held{}, Want{}); j.Fit.Need < 0 {
			t.Errorf("%s: needs %d", name, j.Fit.Need)
		}
	}
	if _, err := ReadGGUF(os.DevNull); err == nil {
		t.Error("a device was read")
	}
	if _, err := ReadGGUF(filepath.Join(t.TempDir(), "none.gguf")); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestUnspecifiedIsHere(t *testing.T) {
	for address, want := range map[string]bool{
		"http://0.0.0.0:8080": true, "http://[::]:8080": true, "http://127.0.0.2:1": true, "http://10.0.0.1:1": false, "http://0.0.0.1:1": false,
	} {
		if got := OnThisMachine(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}
