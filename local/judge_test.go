package local

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"interpreter/probes"
)

func known(t *testing.T, name string) ModelInfo {
	t.Helper()
	e, ok := Lookup(name)
	if !ok {
		t.Fatalf("%s: not in the catalogue", name)
	}
	return e.Info
}

func m1Max(available int64) probes.Machine {
	return probes.Machine{
		RAM: probes.Memory{Physical: 64 * gib, Total: 64 * gib, Available: available}, Unified: 48 * gib,
		GPUs: []probes.GPU{{Name: "Apple M1 Max", Vendor: "apple", Total: 48 * gib, Free: 48 * gib, Unified: true, Bandwidth: 400}},
	}
}

// 26 GB of weights and 131,072 tokens on 40 GiB: keys and values of 20 GiB are too many, of 10.6 GiB are not.
func TestJudgeAnswersWithLess(t *testing.T) {
	m := known(t, "devstral-small-2:24b-instruct-2512-q8_0")
	j := Judge(m, m1Max(40*gib), Held{}, Want{Window: 131072, Own: true})
	if j.Verdict != FullGPU || j.Fit.Window != 131072 || j.Fit.Cache != "q8_0" {
		t.Errorf("ours to start: %+v", j)
	}
	parts := j.Fit.Sum
	if sum := parts.Weights - parts.OnCPU + parts.Cache + parts.State + parts.Compute + parts.Driver + parts.Projector; sum != j.Fit.Need {
		t.Errorf("the parts are %d, the need %d", sum, j.Fit.Need)
	}
	text := strings.Join(j.Explain(), "\n")
	for _, want := range []string{"26.0 GB of files", "10.62 GiB", "85 KiB a token for 131072 tokens in q8_0", "needed", "37.44 GiB", "usable", "tokens a second"} {
		if !strings.Contains(text, want) {
			t.Errorf("the sum does not say %q:\n%s", want, text)
		}
	}
	j = Judge(m, m1Max(40*gib), Held{}, Want{Window: 131072})
	if j.Verdict != FullGPU || j.Fit.Window != 65536 || j.Fit.Cache != "f16" {
		t.Errorf("not ours to start: %+v", j)
	}
	if reasons := strings.Join(j.Reasons, "; "); !strings.Contains(reasons, "131072 tokens were asked for: with them it needs 44.") || !strings.Contains(reasons, "q8_0 would hold") {
		t.Errorf("reasons: %s", reasons)
	}
}

func withRAM(available int64, bandwidth float64, gpus ...probes.GPU) probes.Machine {
	m := box(available, gpus...)
	m.CPU.Bandwidth = bandwidth
	return m
}

func rated(total int64, bandwidth float64) probes.GPU {
	return probes.GPU{Name: "card", Vendor: "nvidia", Total: total, Free: total * 97 / 100, Bandwidth: bandwidth, Compute: "8.9"}
}

func TestJudgeVerdicts(t *testing.T) {
	small := ModelInfo{Name: "dense", Size: 15e9, Trained: 131072, Capabilities: []string{"completion", "tools"}, Geometry: Geometry{
		Layers: 32, KVHeads: []int{2}, KeyDim: 128, ValueDim: 128, Embedding: 4096, Vocab: 100_000,
	}}
	radeon := rated(16*gib, 600)
	radeon.Vendor = "amd"
	slice := rated(16*gib, 600)
	slice.Slice = true
	old := rated(32*gib, 400)
	old.Compute = "5.2"
	for _, test := range []struct {
		name    string
		m       ModelInfo
		machine probes.Machine
		want    Want
		verdict string
		window  int
		says    string
	}{
		{"one card", known(t, "qwen3.6:35b"), withRAM(30*gib, 60, rated(32*gib, 1000)), Want{}, FullGPU, 131072, "fits card"},
		{"two cards of one maker", known(t, "qwen3.6:35b"), withRAM(30*gib, 60, rated(16*gib, 600), rated(16*gib, 600)), Want{}, MultiGPU, 131072, "2 GPUs"},
		{"two cards of two makers", known(t, "qwen3.6:35b"), withRAM(30*gib, 60, rated(16*gib, 600), radeon), Want{}, ExpertOffload, 98304, "experts"},
		{"two parts of one card", known(t, "qwen3.6:35b"), withRAM(30*gib, 60, slice, slice), Want{}, ExpertOffload, 98304, "experts"},
		{"experts in main memory", known(t, "qwen3.6:35b"), withRAM(30*gib, 60, rated(24*gib, 1000)), Want{}, ExpertOffload, 98304, "experts"},
		{"too many of them", known(t, "qwen3.6:35b"), withRAM(24*gib, 60, rated(8*gib, 300)), Want{}, RefuseVerdict, 65536, "60%"},
		{"main memory is too slow for them", known(t, "qwen3.6:35b"), withRAM(25*gib, 5, rated(14*gib, 300)), Want{}, RefuseVerdict, 65536, "10 are needed"},
		{"main memory is too small for them", known(t, "qwen3.6:35b"), withRAM(6*gib, 60, rated(16*gib, 300)), Want{}, RefuseVerdict, 65536, "together"},
		{"layers in main memory", small, withRAM(30*gib, 60, rated(16*gib, 900)), Want{}, PartialOffload, 65536, "layers"},
		{"layers in slow main memory", small, withRAM(30*gib, 15, rated(8*gib, 300)), Want{}, RefuseVerdict, 65536, "6 are needed"},
		{"on the processor", known(t, "qwen3.6:35b"), withRAM(60*gib, 80), Want{}, CPUOnly, 131072, "main memory"},
		{"on a slow processor", known(t, "qwen3.6:27b"), withRAM(60*gib, 80), Want{}, RefuseVerdict, 131072, "4 are needed"},
		{"never quantised on a processor", known(t, "qwen3-coder:30b"), withRAM(36*gib, 200), Want{Own: true}, CPUOnly, 98304, "main memory"},
		{"quantised where f16 ends early", known(t, "qwen3.6:27b"), withRAM(30*gib, 60, rated(24*gib, 1000)), Want{Own: true}, FullGPU, 131072, "q8_0"},
		{"not quantised where f16 suffices", known(t, "gemma4:26b"), withRAM(30*gib, 60, rated(24*gib, 1000)), Want{Own: true, Largest: true}, FullGPU, 196608, "fits card"},
		{"a server that is not ours", known(t, "qwen3.6:27b"), withRAM(30*gib, 60, rated(24*gib, 1000)), Want{}, FullGPU, 65536, "q8_0 would hold 131072"},
		{"no flash attention", known(t, "qwen3.5:9b"), withRAM(30*gib, 60, old), Want{Own: true}, FullGPU, 131072, "no flash attention"},
		{"no flash attention and twice the heads", known(t, "granite4.1:8b"), withRAM(30*gib, 60, old), Want{Own: true}, FullGPU, 98304, "no flash attention"},
		{"no more than the trained context", known(t, "gpt-oss:20b"), withRAM(30*gib, 60, rated(96*gib, 1000)), Want{Most: 262144}, FullGPU, 131072, ""},
		{"more when asked", known(t, "qwen3.6:35b"), withRAM(30*gib, 60, rated(96*gib, 1000)), Want{Most: 262144}, FullGPU, 262144, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := Judge(test.m, test.machine, Held{}, test.want)
			text := strings.Join(append(append([]string{}, j.Reasons...), j.Fit.Warnings...), "; ")
			if j.Refusal != nil {
				text = j.Refusal.Error()
			}
			if j.Verdict != test.verdict || j.Fit.Window != test.window && test.verdict != RefuseVerdict || !strings.Contains(text, test.says) {
				t.Errorf("got %s with %d tokens: %s", j.Verdict, j.Fit.Window, text)
			}
			if (j.Refusal == nil) != (j.Verdict != RefuseVerdict) {
				t.Errorf("verdict %s with %v", j.Verdict, j.Refusal)
			}
			if j.Verdict != RefuseVerdict && j.Fit.Need > j.Fit.Room {
				t.Errorf("needs %d of %d", j.Fit.Need, j.Fit.Room)
			}
			if len(j.Explain()) < 5 {
				t.Errorf("explained by %q", j.Explain())
			}
		})
	}
}

// Each refusal names its number, models that pass here, and commands.
func TestRefusalsNameAlternatives(t *testing.T) {
	machine := withRAM(56*gib, 60, rated(32*gib, 1792))
	for _, test := range []struct {
		asked string
		code  Code
		says  string
		first []string
	}{
		{"qwen3:8b", TooShort, "40960", []string{"qwen3.5:9b", "qwen3.6:27b", "qwen3-coder:30b"}},
		{"qwen3:32b", TooShort, "40960", []string{"qwen3.5:9b", "qwen3.6:27b", "qwen3-coder:30b"}},
		{"qwen2.5-coder:7b", TooShort, "32768", []string{"qwen3.5:9b", "qwen3-coder:30b"}},
		{"deepseek-r1:14b", NoTools, "cannot call tools", []string{"gpt-oss:20b", "glm-4.7-flash:q4_K_M"}},
		{"gemma3:12b", NoTools, "cannot call tools", []string{"gemma4:12b", "gemma4:26b"}},
		{"gemma3:4b", NoTools, "cannot call tools", []string{"gemma4:12b", "gemma4:26b"}},
		{"lfm2:24b", TooShort, "32768", []string{"lfm2.5:8b", "nemotron-3-nano:30b"}},
		{"rnj-1:8b", TooShort, "32768", []string{"qwen3.5:9b", "ministral-3:8b"}},
		{"devstral-2:123b", TooBig, "needs about", []string{"gpt-oss:120b"}},
		{"qwen3.6:27b-bf16", TooSlow, "6 are needed", []string{"qwen3.6:27b"}},
	} {
		j := Judge(known(t, test.asked), machine, Held{}, Want{Own: true})
		if j.Verdict != RefuseVerdict || j.Refusal.Code != test.code || !strings.Contains(j.Refusal.Text, test.says) {
			t.Errorf("%s: %+v, %v", test.asked, j, j.Refusal)
			continue
		}
		if len(j.Alternatives) != 3 {
			t.Errorf("%s: alternatives %v", test.asked, j.Alternatives)
		}
		for i, name := range test.first {
			if i >= len(j.Alternatives) || j.Alternatives[i] != name {
				t.Errorf("%s: alternatives %v, want %v first", test.asked, j.Alternatives, test.first)
				break
			}
		}
		for _, name := range j.Alternatives {
			if !judge(known(t, name), machine, Held{}, Want{Own: true}).Passes() {
				t.Errorf("%s: alternative %s does not pass", test.asked, name)
			}
			if !strings.Contains(j.Refusal.Try, "interpreter models pull "+name) {
				t.Errorf("%s: %q lacks a command for %s", test.asked, j.Refusal.Try, name)
			}
		}
	}
	cloud := Judge(ModelInfo{Name: "gpt-oss:120b-cloud"}, withRAM(60*gib, 100, rated(96*gib, 2000)), Held{}, Want{})
	if cloud.Refusal == nil || cloud.Refusal.Code != Elsewhere || len(cloud.Alternatives) == 0 || cloud.Alternatives[0] != "gpt-oss:120b" {
		t.Errorf("cloud: %+v", cloud)
	}
	nothing := Judge(known(t, "qwen3.6:27b"), withRAM(3*gib, 20), Held{}, Want{})
	if nothing.Refusal == nil || len(nothing.Alternatives) != 0 || !strings.Contains(nothing.Refusal.Try, "free memory") {
		t.Errorf("a tiny machine: %+v", nothing.Refusal)
	}
}

// What a server says of a model's tools counts more than the catalogue, and so does a window that a person names.
func TestJudgeHonours(t *testing.T) {
	machine := withRAM(56*gib, 60, rated(32*gib, 1792))
	m := known(t, "deepseek-r1:32b")
	m.Capabilities = []string{"completion", "tools"}
	if j := Judge(m, machine, Held{}, Want{Own: true}); !j.Passes() {
		t.Errorf("its server says that it calls tools: %v", j.Refusal)
	}
	j := Judge(known(t, "qwen3:8b"), machine, Held{}, Want{Window: 40000})
	if !j.Passes() || j.Fit.Window != 36864 || !strings.Contains(strings.Join(j.Fit.Warnings, ";"), "is small") {
		t.Errorf("a small window that was asked for: %+v", j)
	}
}

// What a machine offers, in GiB.
func TestPools(t *testing.T) {
	apu := probes.GPU{Vendor: "amd", Unified: true, Total: gib / 2, Free: gib / 4, SharedTotal: 16 * gib, SharedFree: 15 * gib}
	for _, test := range []struct {
		name    string
		machine probes.Machine
		held    Held
		want    Want
		gives   string
	}{
		{"a card and main memory", box(20*gib, card(24*gib, 23*gib)), Held{}, Want{}, "one GPU 22.00, main memory 15.50"},
		{"a large card keeps 4%", box(20*gib, card(100*gib, 100*gib)), Held{}, Want{}, "one GPU 96.00, main memory 15.50"},
		{"what a server holds", box(20*gib, card(24*gib, 3*gib)), Held{GPU: 30 * gib, RAM: 100 * gib}, Want{}, "one GPU 23.00, main memory 16.35"},
		{"two cards", box(20*gib, card(24*gib, 20*gib), card(12*gib, 12*gib)), Held{}, Want{}, "one GPU 19.00, several GPUs 30.00, main memory 15.50"},
		{"two cards that a server fills", box(20*gib, card(24*gib, gib), card(24*gib, gib)), Held{GPU: 46 * gib}, Want{}, "one GPU 23.00, several GPUs 46.00, main memory 15.50"},
		{"a model on a card or not, as it seems on it", box(20*gib, card(24*gib, 3*gib)), Held{Either: 19 * gib}, Want{}, "one GPU 21.00, main memory 15.50"},
		{"more than the card can hold", box(20*gib, card(24*gib, 20*gib)), Held{Either: 9 * gib}, Want{}, "one GPU 23.00, main memory 16.35"},
		{"a card that is empty", box(20*gib, card(24*gib, 24*gib)), Held{Either: 9 * gib}, Want{}, "one GPU 23.00, main memory 16.35"},
		{"beside what is told", box(20*gib, card(24*gib, 4*gib)), Held{GPU: 16 * gib, Either: 9 * gib}, Want{}, "one GPU 23.00, main memory 16.35"},
		{"either of two cards", box(20*gib, card(24*gib, 4*gib), card(12*gib, 12*gib)), Held{Either: 19 * gib}, Want{}, "one GPU 22.00, several GPUs 33.00, main memory 15.50"},
		{"no card", box(20 * gib), Held{Either: 4 * gib}, Want{}, "main memory 16.35"},
		{"Apple, either", m1Max(20 * gib), Held{Either: 30 * gib}, Want{}, "unified memory 45.44"},
		{"a full card", box(20*gib, card(24*gib, gib/2)), Held{}, Want{}, "main memory 15.50"},
		{"Apple", m1Max(60 * gib), Held{}, Want{}, "unified memory 45.44"},
		{"Apple, busy", m1Max(40 * gib), Held{}, Want{}, "unified memory 37.44"},
		{"Apple, busy with our server", m1Max(20 * gib), Held{GPU: 30 * gib}, Want{}, "unified memory 45.44"},
		{"Apple's own engine keeps prompts", m1Max(60 * gib), Held{}, Want{Engine: MLX}, "unified memory 37.44"},
		{"Apple, prompts aside", m1Max(40 * gib), Held{}, Want{Prompts: 1}, "unified memory 35.44"},
		{"a graphics part that borrows", box(20*gib, apu), Held{}, Want{}, "unified memory 13.25, main memory 15.50"},
		{"a graphics part, little is available", box(10*gib, apu), Held{}, Want{}, "unified memory 8.00, main memory 7.00"},
		{"a graphics part beside a card", box(20*gib, card(4*gib, 4*gib), apu), Held{}, Want{}, "one GPU 3.00, main memory 15.50"},
		{"a graphics part that lends nothing", box(20*gib, probes.GPU{Vendor: "intel", Unified: true}), Held{}, Want{}, "main memory 15.50"},
		{"a superchip", box(99*gib, probes.GPU{Vendor: "nvidia", Unified: true}), Held{}, Want{}, "unified memory 95.00, main memory 82.65"},
		{"nothing is known", probes.Machine{}, Held{}, Want{}, ""},
	} {
		var parts []string
		for _, p := range pools(test.machine, test.held) {
			// A model of which nothing is known but two GiB of prompts.
			s := Sum{}
			if test.want.Prompts > 0 {
				s.HostCache = 2 * gib
			}
			parts = append(parts, fmt.Sprintf("%s %.2f", p.place, float64(p.take(s, test.want).room)/gib))
		}
		if got := strings.Join(parts, ", "); got != test.gives {
			t.Errorf("%s: got %s, want %s", test.name, got, test.gives)
		}
	}
}

func TestRecommend(t *testing.T) {
	for _, test := range []struct {
		name    string
		machine probes.Machine
		first   string
		atLeast int
	}{
		{"96 GB", withRAM(100*gib, 80, rated(96*gib, 1800)), "qwen3.5:122b", 3},
		{"48 GB", withRAM(60*gib, 60, rated(48*gib, 900)), "qwen3-coder-next:q4_K_M", 3},
		{"48 GB, little main memory", withRAM(6*gib, 60, rated(48*gib, 900)), "qwen3.6:35b", 3},
		{"32 GB", withRAM(30*gib, 60, rated(32*gib, 1700)), "qwen3.6:35b", 3},
		{"24 GB", withRAM(30*gib, 60, rated(24*gib, 1000)), "qwen3.6:27b", 3},
		{"24 GB, slow", withRAM(30*gib, 60, rated(24*gib, 300)), "gemma4:26b", 3},
		{"16 GB", withRAM(30*gib, 60, rated(16*gib, 700)), "gpt-oss:20b", 3},
		{"12 GB", withRAM(30*gib, 60, rated(12*gib, 360)), "qwen3.5:9b", 3},
		{"8 GB", withRAM(14*gib, 60, rated(8*gib, 300)), "qwen3.5:4b", 2},
		{"no GPU, 64 GB", withRAM(60*gib, 90), "qwen3.6:35b", 3},
		{"no GPU, 16 GB", withRAM(14*gib, 90), "qwen3.5:4b", 1},
		{"next to nothing", withRAM(2*gib, 20), "", 0},
	} {
		got := Recommend(test.machine, Held{}, Want{Own: true}, 3)
		if len(got) < test.atLeast || len(got) > 3 || test.first != "" && (len(got) == 0 || got[0].Model.Name != test.first) {
			t.Errorf("%s: got %v", test.name, names(got))
		}
		for i, r := range got {
			if !r.Passes() || !strings.HasSuffix(r.Why, ".") || strings.Count(r.Why, ".") != 1 {
				t.Errorf("%s: %s: %q", test.name, r.Model.Name, r.Why)
			}
			if slices.Contains(names(got[:i]), r.Model.Name) {
				t.Errorf("%s: twice in %v", test.name, names(got))
			}
		}
	}
}

func names(list []Recommendation) (out []string) {
	for _, r := range list {
		out = append(out, r.Model.Name)
	}
	return out
}

func TestSpeed(t *testing.T) {
	// One GB read a token, on a card of 100 GB/s at 65%, and two milliseconds.
	m := ModelInfo{Size: 1e9, Trained: 131072, Geometry: Geometry{Layers: 1, KVHeads: []int{1}, KeyDim: 64, ValueDim: 64}}
	p := pools(withRAM(8*gib, 20, rated(16*gib, 100)), Held{})[0]
	if got, want := p.decode(m, 0, "", spread{}), 1/(1/65.0+0.002); got < want*0.999 || got > want*1.001 {
		t.Errorf("%.2f tokens a second, want %.2f", got, want)
	}
	// A tenth of it in main memory of 20 GB/s at 60%.
	if got, want := p.decode(m, 0, "", spread{rest: 0.1}), 1/(0.9/65+0.1/12+0.002); got < want*0.999 || got > want*1.001 {
		t.Errorf("%.2f tokens a second, want %.2f", got, want)
	}
	measured := p.predict(m, 65536, "", spread{}, Want{Measured: Rates{Decode: 30, Prefill: 1000}, Prefix: 1808})
	if measured.Fresh != 30 || measured.First != 10 || measured.Deep >= 30 || measured.FirstClass() != "ok" {
		t.Errorf("measured: %+v", measured)
	}
	for rate, class := range map[float64]string{40: fast, 39.9: good, 20: good, 10: usable, 4: slow, 3.9: crawls} {
		if got := classOf(rate); got != class {
			t.Errorf("%.1f tokens a second are %s, want %s", rate, got, class)
		}
	}
	// A deep conversation slows a model with large keys and values more than one with small ones.
	big := withRAM(60*gib, 60, rated(48*gib, 900))
	dense := Judge(known(t, "qwen3-coder:30b"), big, Held{}, Want{}).Fit.Speed
	hybrid := Judge(known(t, "qwen3.6:35b"), big, Held{}, Want{}).Fit.Speed
	if dense.Deep/dense.Fresh > 0.7*hybrid.Deep/hybrid.Fresh {
		t.Errorf("%+v and %+v", dense, hybrid)
	}
	unknown := Judge(known(t, "qwen3.6:35b"), box(60*gib, card(48*gib, 47*gib)), Held{}, Want{})
	if unknown.Confidence != "low" || unknown.Fit.Speed.Fresh <= 0 {
		t.Errorf("nothing is known of bandwidths: %+v", unknown)
	}
}

// A server that lists no tensors still tells what share of a mixture is experts.
func TestExpertsWithoutTensors(t *testing.T) {
	meta := Metadata{
		"general.architecture": "qwen3moe", "general.parameter_count": 1000.0 * 1000, "qwen3moe.block_count": 3.0, "qwen3moe.leading_dense_block_count": 1.0,
		"qwen3moe.embedding_length": 100.0, "qwen3moe.expert_feed_forward_length": 50.0, "qwen3moe.expert_count": 8.0, "qwen3moe.expert_used_count": 2.0,
	}
	m := ModelInfo{Size: 1_000_000, Geometry: meta.Geometry()}
	const experts = 3 * 2 * 8 * 100 * 50
	if got := m.expertBytes(); got != experts {
		t.Errorf("%d bytes of experts, want %d", got, experts)
	}
	if rest, used := m.reads(); rest != 1_000_000-experts || used != experts/4 {
		t.Errorf("a token reads %.0f and %.0f", rest, used)
	}
}

func TestHostCacheFor(t *testing.T) {
	m := known(t, "qwen3-coder:30b") // 6 GiB at the floor
	fit := Fit{Window: Floor, Place: OnGPU, Main: gib}
	for available, want := range map[int64]int64{64 * gib: 8 * gib, 12*gib + gib/2: 5 * gib, 3 * gib: 256 * mib, 0: 256 * mib} {
		if got := HostCacheFor(m, fit, box(available)); got != want {
			t.Errorf("%s available: %s, want %s", Bytes(available), Bytes(got), Bytes(want))
		}
	}
	small := known(t, "nemotron-3-nano:30b")
	if got := HostCacheFor(small, fit, box(64*gib)); got != gib {
		t.Errorf("cheap conversations: %s, want 1 GiB", Bytes(got))
	}
}

// What a server does not tell the place of is in either.
func TestHeldByGuess(t *testing.T) {
	got := HeldBy([]Resident{{Size: 9, VRAM: 5}, {Size: 7, Guessed: true}, {Guessed: true}})
	if got != (Held{GPU: 5, RAM: 4, Either: 7}) {
		t.Errorf("%+v", got)
	}
	// Its own model on its card, beside one of Ollama: it fits the card still.
	card := withRAM(14*gib, 60, rated(24*gib, 1000))
	card.GPUs[0].Free = 3 * gib
	guessed := HeldBy([]Resident{{Name: "m", Size: 18 * gib, Guessed: true}})
	if j := Judge(known(t, "gpt-oss:20b"), card, guessed, Want{}); j.Verdict != FullGPU || j.Fit.Speed.Deep < goodFrom {
		t.Errorf("%s, %+v", j.Verdict, j.Fit)
	}
}

// A model of which only the size is known is bounded, and every sentence says so.
func TestBounds(t *testing.T) {
	m := known(t, "north-mini-code-1.0:q4_K_M")
	for _, test := range []struct {
		machine probes.Machine
		verdict string
	}{{withRAM(60*gib, 60, rated(80*gib, 1700)), FullGPU}, {withRAM(20*gib, 60, rated(12*gib, 300)), RefuseVerdict}} {
		j := Judge(m, test.machine, Held{}, Want{})
		if j.Verdict != test.verdict || !j.Fit.Bound || j.Confidence != "low" {
			t.Errorf("%+v", j)
		}
		said := strings.Join(append(j.Reasons, j.Fit.Why()), "; ")
		if j.Refusal != nil {
			said = j.Refusal.Text
		}
		if !strings.Contains(said, "at most") || !strings.Contains(said, "bound") || !strings.Contains(strings.Join(j.Explain(), "\n"), "needed            at most") {
			t.Errorf("%s: %q\n%s", j.Verdict, said, strings.Join(j.Explain(), "\n"))
		}
	}
	if j := Judge(known(t, "gpt-oss:20b"), withRAM(60*gib, 60, rated(80*gib, 1700)), Held{}, Want{}); j.Fit.Bound || strings.Contains(j.Fit.Why(), "at most") {
		t.Errorf("its layers are known: %+v", j.Fit)
	}
}

// Room for pictures is kept where it costs no place, and given up with a word where it would.
func TestRoomForPictures(t *testing.T) {
	m := known(t, "qwen3.5:9b")
	bare := Judge(m, withRAM(8*gib, 40, rated(24*gib, 900)), Held{}, Want{Window: Floor}).Fit.Need
	for _, test := range []struct {
		room int64 // beyond what it needs without pictures
		kept bool
	}{{2 * gib, true}, {gib / 2, false}} {
		gpu := rated(16*gib, 900)
		gpu.Free = bare + margin(gpu.Total) + test.room
		j := Judge(m, withRAM(8*gib, 40, gpu), Held{}, Want{Images: true})
		said := strings.Contains(strings.Join(j.Fit.Warnings, " "), "no room for pictures is left beside qwen3.5:9b")
		if j.Verdict != FullGPU || (j.Fit.Sum.Projector > 0) != test.kept || said == test.kept {
			t.Errorf("%s more: got %s, %s for pictures, %q", Bytes(test.room), j.Verdict, Bytes(j.Fit.Sum.Projector), j.Fit.Warnings)
		}
	}
}
