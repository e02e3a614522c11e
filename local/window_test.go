package local

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"interpreter/probes"
)

var stepTests = []struct{ room, weights, perToken, want int }{
	{8 * gib, 5 * gib, 32 * kib, 96 << 10},   // 3 GiB left over, 32 KiB a token
	{8 * gib, 7 * gib, 32 * kib, 0},          // 1 GiB is 32k tokens, half of what we need
	{8 * gib, 6 * gib, 32 * kib, 64 << 10},   // exactly the floor
	{8 * gib, 6*gib + 1, 32 * kib, 0},        // a byte too much
	{64 * gib, 5 * gib, 32 * kib, 128 << 10}, // more would fit, but costs time and quality
}

func TestLargestStep(t *testing.T) {
	for _, test := range stepTests {
		fits := func(n int) bool { return test.weights+n*test.perToken <= test.room }
		if got := largestStep(fits, Floor, usual); got != test.want {
			t.Errorf("%+v: got %d", test, got)
		}
	}
}

// pattern marks n layers by a rule.
func pattern(n int, rule func(i int) bool) []bool {
	out := make([]bool, n)
	for i := range out {
		out[i] = rule(i)
	}
	return out
}

func threeOfFour(i int) bool { return (i+1)%4 != 0 }

// The sizes of real models, from their public dimensions; want is GiB at 64k, 128k and 256k tokens in f16, then q8_0.
var cacheTests = []struct {
	name string
	g    Geometry
	want [6]float64
}{
	{"48 layers, 4 heads of 128", Geometry{Layers: 48, KVHeads: []int{4}, KeyDim: 128, ValueDim: 128},
		[6]float64{6.00, 12.00, 24.00, 3.19, 6.38, 12.75}},
	{"40 layers, 8 heads of 128", Geometry{Layers: 40, KVHeads: []int{8}, KeyDim: 128, ValueDim: 128},
		[6]float64{10.00, 20.00, 40.00, 5.31, 10.62, 21.25}},
	{"24 layers, every other one a window of 128", Geometry{
		Layers: 24, KVHeads: []int{8}, KeyDim: 64, ValueDim: 64, Window: 128, Windowed: pattern(24, func(i int) bool { return i%2 == 0 }),
	}, [6]float64{1.55, 3.05, 0, 0.82, 1.62, 0}},
	{"64 layers, one of four full, the rest a state", Geometry{
		Layers: 64, KVHeads: []int{4}, KeyDim: 256, ValueDim: 256, Recurrent: pattern(64, threeOfFour),
		State: 4 * (3*(6144+2*16*128) + 128*6144),
	}, [6]float64{4.15, 8.15, 16.15, 2.27, 4.40, 8.65}},
	{"47 layers of latent attention", Geometry{Layers: 47, Latent: 576}, [6]float64{3.30, 6.61, 0, 1.76, 3.51, 0}},
	{"62 layers, five of six a window of 1024", Geometry{
		Layers: 62, KVHeads: []int{16}, KeyDim: 128, ValueDim: 128, Window: 1024, Windowed: pattern(62, func(i int) bool { return (i+1)%6 != 0 }),
	}, [6]float64{6.22, 11.22, 0, 3.30, 5.96, 0}},
}

func TestCache(t *testing.T) {
	for _, test := range cacheTests {
		for i, want := range test.want {
			if want == 0 {
				continue
			}
			window, kind := 65536<<(i%3), CacheType("f16")
			if i >= 3 {
				kind = "q8_0"
			}
			if got := float64(test.g.Cache(window, kind)) / gib; math.Abs(got-want) > 0.05 {
				t.Errorf("%s, %d %s: got %.2f GiB, want %.2f", test.name, window, kind, got, want)
			}
		}
	}
}

// The bound for a model of unknown layers lies above dense models of all sizes (file GiB, bytes a token).
func TestUnknownCache(t *testing.T) {
	for _, dense := range []struct{ gib, perToken float64 }{
		{0.5, 114_688}, {2.8, 106_496}, {4.9, 163_840}, {5.6, 139_264}, {8.5, 163_840}, {14, 163_840}, {16.8, 262_144}, {18.6, 81_920},
	} {
		if got := float64(unknownCache(int64(dense.gib*gib), 1, "")); got < dense.perToken {
			t.Errorf("a file of %.1f GiB: %.0f bytes a token, a real one has %.0f", dense.gib, got, dense.perToken)
		}
	}
	if got := unknownCache(2*mib, Floor, ""); got > 100*mib {
		t.Errorf("a file of 2 MiB: %s", Bytes(got))
	}
}

func card(total, free int64) probes.GPU {
	return probes.GPU{Name: "card", Vendor: "nvidia", Total: total, Free: free}
}

func box(available int64, gpus ...probes.GPU) probes.Machine {
	return probes.Machine{RAM: probes.Memory{Physical: available + gib, Total: available + gib, Available: available}, GPUs: gpus}
}

// mixture is a 19 GB model with 96 KiB a token, trained for 262,144.
func mixture(change func(*ModelInfo)) ModelInfo {
	m := ModelInfo{Name: "m:30b", Size: 19e9, Trained: 262144, Geometry: Geometry{Layers: 48, KVHeads: []int{4}, KeyDim: 128, ValueDim: 128, Embedding: 2048, Vocab: 151936}}
	if change != nil {
		change(&m)
	}
	return m
}

var windowTests = []struct {
	name    string
	m       ModelInfo
	machine probes.Machine
	held    Held
	want    Want
	window  int
	place   Place
	warns   string
}{
	{"a 32 GB card holds 96k", mixture(nil), box(8*gib, card(32*gib, 31*gib)), Held{}, Want{}, 98304, OnGPU, ""},
	{"q8_0 doubles it", mixture(nil), box(8*gib, card(32*gib, 31*gib)), Held{}, Want{CacheType: "q8_0"}, 131072, OnGPU, ""},
	{"what the server holds comes back", mixture(nil), box(8*gib, card(32*gib, 2*gib)), Held{GPU: 29 * gib}, Want{}, 98304, OnGPU, ""},
	{"an 80 GB card: no more than 128k unasked", mixture(nil), box(8*gib, card(80*gib, 79*gib)), Held{}, Want{}, 131072, OnGPU, ""},
	{"but all of it when asked", mixture(nil), box(8*gib, card(80*gib, 79*gib)), Held{}, Want{Most: 262144}, 262144, OnGPU, ""},
	{"a cap", mixture(nil), box(8*gib, card(80*gib, 79*gib)), Held{}, Want{Most: 70000}, 69888, OnGPU, ""},
	{"a cap below the floor warns", mixture(nil), box(8*gib, card(80*gib, 79*gib)), Held{}, Want{Most: 32768}, 32768, OnGPU, "at most 32768"},
	{"a model file that asks for more", mixture(func(m *ModelInfo) { m.Configured = 200704 }), box(8*gib, card(80*gib, 79*gib)), Held{}, Want{}, 200704, OnGPU, ""},
	{"a model file that asks for less does not bind", mixture(func(m *ModelInfo) { m.Configured = 16384 }), box(8*gib, card(80*gib, 79*gib)), Held{}, Want{}, 131072, OnGPU, ""},
	{"two cards", mixture(nil), box(8*gib, card(16*gib, 15*gib), card(16*gib, 15*gib)), Held{}, Want{}, 65536, OnGPUs, ""},
	{"a small card and much RAM: the floor, slow", mixture(nil), box(64*gib, card(12*gib, 11*gib)), Held{}, Want{}, 65536, OnBoth, "slow"},
	{"no card", mixture(nil), box(64 * gib), Held{}, Want{}, 131072, OnCPU, ""},
	{"a superchip shares RAM", mixture(nil), box(100*gib, probes.GPU{Vendor: "nvidia", Unified: true}), Held{}, Want{}, 131072, OnUnified, ""},
	{"Apple, 36 GB", mixture(nil), probes.Machine{RAM: probes.Memory{Physical: 36 * gib, Total: 36 * gib, Available: 30 * gib}, Unified: 27 * gib}, Held{}, Want{}, 65536, OnUnified, ""},
	{"trained for 64,000 is its own floor", mixture(func(m *ModelInfo) { m.Trained = 64000 }), box(64 * gib), Held{}, Want{}, 64000, OnCPU, ""},
	{"trained for an odd number", mixture(func(m *ModelInfo) { m.Trained = 100_001 }), box(64 * gib), Held{}, Want{}, 99840, OnCPU, ""},
	{"trained is unknown", mixture(func(m *ModelInfo) { m.Trained = 0 }), box(64 * gib), Held{}, Want{}, 65536, OnCPU, ""},
	{"explicit", mixture(nil), box(64 * gib), Held{}, Want{Window: 90000}, 86016, OnCPU, ""},
	{"explicit below the floor", mixture(nil), box(64 * gib), Held{}, Want{Window: 8192}, 8192, OnCPU, "is small"},
	{"explicit above the trained context", mixture(func(m *ModelInfo) { m.Trained = 40960 }), box(64 * gib), Held{}, Want{Window: 65536}, 40960, OnCPU, "trained for 40960"},
	{"explicit and tiny", mixture(nil), box(64 * gib), Held{}, Want{Window: 100}, 256, OnCPU, "is small"},
	{"nothing is known of the machine", mixture(nil), probes.Machine{}, Held{}, Want{}, 65536, "", "could not be judged"},
	{"nothing is known of the model", ModelInfo{Name: "m"}, box(4 * gib), Held{}, Want{}, 65536, "", "could not be judged"},
	{"a tiny model of unknown layers", ModelInfo{Name: "m", Size: 2 * mib, Trained: 131072}, box(8 * gib), Held{}, Want{}, 131072, OnCPU, ""},
}

func TestChooseWindow(t *testing.T) {
	for _, test := range windowTests {
		t.Run(test.name, func(t *testing.T) {
			fit, err := ChooseWindow(test.m, test.machine, test.held, test.want)
			if err != nil {
				t.Fatal(err)
			}
			warnings := strings.Join(fit.Warnings, "; ")
			if fit.Window != test.window || fit.Place != test.place || test.warns == "" != (warnings == "") || !strings.Contains(warnings, test.warns) {
				t.Errorf("got %+v", fit)
			}
			if fit.Place != "" && fit.Need > fit.Room {
				t.Errorf("needs %s of %s", Bytes(fit.Need), Bytes(fit.Room))
			}
		})
	}
}

func TestWindowRefused(t *testing.T) {
	for _, test := range []struct {
		name    string
		m       ModelInfo
		machine probes.Machine
		want    Want
		code    Code
		says    []string
	}{
		{"trained below 64k", mixture(func(m *ModelInfo) { m.Trained = 40960 }), box(64 * gib), Want{}, TooShort,
			[]string{"40960", "65536", "model_context_window=40960"}},
		{"too big for the machine", mixture(nil), box(16 * gib), Want{}, TooBig, []string{"24.1 GiB", "12.1 GiB", "65536", "smaller model"}},
		{"a smaller window would fit", mixture(nil), box(26 * gib), Want{}, TooBig, []string{"model_context_window=2"}},
		{"an explicit window too big", mixture(nil), box(32 * gib), Want{Window: 131072}, TooBig, []string{"131072", "model_context_window=81920"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			fit, err := ChooseWindow(test.m, test.machine, Held{}, test.want)
			var refusal *Refusal
			if !errors.As(err, &refusal) || refusal.Code != test.code {
				t.Fatalf("got %+v, %v", fit, err)
			}
			text := fmt.Sprint(err, " / ", refusal.Remedy())
			for _, s := range test.says {
				if !strings.Contains(text, s) {
					t.Errorf("%q does not say %q", text, s)
				}
			}
			if refusal.Needed <= refusal.Available {
				t.Errorf("needed %d, available %d", refusal.Needed, refusal.Available)
			}
		})
	}
}

func TestGeometry(t *testing.T) {
	layers := func(list []bool) string {
		text := ""
		for _, b := range list {
			text += map[bool]string{true: "x", false: "."}[b]
		}
		return text
	}
	for _, test := range []struct {
		name                string
		meta                Metadata
		known               bool
		windowed, recurrent string
		cache               int64 // of 256 tokens in f16
	}{
		{"plain, head sizes follow from the width", Metadata{
			"general.architecture": "llama", "llama.block_count": 2.0, "llama.embedding_length": 192.0, "llama.attention.head_count": 3.0,
		}, true, "", "", 2 * 256 * 3 * 128 * 2},
		{"grouped", Metadata{
			"general.architecture": "llama", "llama.block_count": 2.0, "llama.embedding_length": 192.0, "llama.attention.head_count": 3.0, "llama.attention.head_count_kv": 1.0,
		}, true, "", "", 2 * 256 * 1 * 128 * 2},
		{"gemma3", Metadata{
			"general.architecture": "gemma3", "gemma3.block_count": 7.0, "gemma3.embedding_length": 64.0, "gemma3.attention.head_count": 1.0, "gemma3.attention.sliding_window": 1024.0,
		}, true, "xxxxx.x", "", 7 * 256 * 128 * 2},
		{"gpt-oss in either spelling", Metadata{
			"general.architecture": "gpt-oss", "gpt-oss.block_count": 4.0, "gpt-oss.embedding_length": 64.0, "gpt-oss.attention.head_count": 1.0, "gpt-oss.attention.sliding_window": 128.0,
		}, true, "x.x.", "", 4 * 256 * 128 * 2},
		{"a pattern in the file", Metadata{
			"general.architecture": "new", "new.block_count": 3.0, "new.embedding_length": 64.0, "new.attention.head_count": 1.0, "new.attention.sliding_window": 128.0,
			"new.attention.sliding_window_pattern": []any{true, true, false},
		}, true, "xx.", "", 3 * 256 * 128 * 2},
		{"a hybrid, with a layer for drafts", Metadata{
			"general.architecture": "qwen35", "qwen35.block_count": 9.0, "qwen35.nextn_predict_layers": 1.0, "qwen35.embedding_length": 64.0, "qwen35.attention.head_count": 1.0,
			"qwen35.ssm.conv_kernel": 4.0, "qwen35.ssm.inner_size": 10.0, "qwen35.ssm.state_size": 2.0, "qwen35.ssm.group_count": 3.0,
		}, true, "", "xxx.xxx.", 2*256*128*2 + 6*4*(3*(10+2*3*2)+2*10)},
		{"attention, states and feed-forward in layers of their own", Metadata{
			"general.architecture": "nemotron_h_moe", "nemotron_h_moe.block_count": 4.0, "nemotron_h_moe.embedding_length": 64.0, "nemotron_h_moe.attention.head_count": 1.0,
			"nemotron_h_moe.attention.head_count_kv": []any{0.0, 0.0, 1.0, 0.0}, "nemotron_h_moe.feed_forward_length": []any{0.0, 32.0, 0.0, 32.0},
			"nemotron_h_moe.ssm.conv_kernel": 4.0, "nemotron_h_moe.ssm.inner_size": 10.0, "nemotron_h_moe.ssm.state_size": 2.0, "nemotron_h_moe.ssm.group_count": 3.0,
		}, true, "", "x...", 256*128*2 + 4*(3*(10+2*3*2)+2*10)},
		{"latent", Metadata{
			"general.architecture": "deepseek2", "deepseek2.block_count": 2.0, "deepseek2.attention.kv_lora_rank": 512.0, "deepseek2.rope.dimension_count": 64.0,
		}, true, "", "", 2 * 256 * 576 * 2},
		{"an array that was left out", Metadata{
			"general.architecture": "lfm2", "lfm2.block_count": 2.0, "lfm2.embedding_length": 64.0, "lfm2.attention.head_count": 1.0, "lfm2.attention.head_count_kv": nil,
		}, false, "", "", -1},
		{"nothing", Metadata{}, false, "", "", -1},
	} {
		g := test.meta.Geometry()
		if g.Known() != test.known || layers(g.Windowed) != test.windowed || layers(g.Recurrent) != test.recurrent {
			t.Errorf("%s: got %+v", test.name, g)
		}
		if got := g.Cache(256, ""); test.cache >= 0 && got != test.cache {
			t.Errorf("%s: cache %d, want %d", test.name, got, test.cache)
		}
	}
}
