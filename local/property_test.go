package local

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"interpreter/probes"
)

// everyMachine is all that was recorded.
func everyMachine(t *testing.T) map[string]probes.Machine {
	t.Helper()
	paths, err := filepath.Glob("testdata/machines/*.json")
	if err != nil || len(paths) < 8 {
		t.Fatalf("%d machines, %v", len(paths), err)
	}
	all := map[string]probes.Machine{}
	for _, path := range paths {
		all[strings.TrimSuffix(filepath.Base(path), ".json")] = recorded(t, path)
	}
	return all
}

// wishes are ways to ask.
var wishes = map[string]Want{
	"a session": {Images: true}, "fit": {Own: true}, "the largest": {Own: true, Largest: true}, "q8_0": {CacheType: "q8_0"}, "128k": {Window: usual, Own: true},
	"Ollama before 0.30": {Provider: "ollama", Version: "0.24.0", Images: true}, "four slots": {Slots: 4, Unified: true}, "one prompt aside": {Prompts: 1},
}

// The lines of each explanation add up to what is needed, which is the number that programs get.
func TestExplanationsAddUp(t *testing.T) {
	for name, machine := range everyMachine(t) {
		for asked, want := range wishes {
			for _, j := range Rank(machine, Held{}, want) {
				lines := j.Explain()
				if r := j.Refusal; r != nil && r.memory() && r.Needed != j.Fit.Need {
					t.Errorf("%s, %s, %s: refused for %d bytes, explained with %d", name, asked, j.Model.Name, r.Needed, j.Fit.Need)
				}
				if len(lines) == 0 {
					if j.Fit.Need != 0 {
						t.Errorf("%s, %s, %s: needs %d, unexplained", name, asked, j.Model.Name, j.Fit.Need)
					}
					continue
				}
				var sum, needed float64
				parts := 0
				for _, line := range lines {
					var amount float64
					if _, err := fmt.Sscanf(line, "%f GiB", &amount); err != nil {
						continue
					}
					what := strings.TrimSpace(line[14:min(32, len(line))])
					if what == "correction" {
						t.Errorf("%s, %s, %s: %s", name, asked, j.Model.Name, line)
					}
					if what == "needed" {
						needed = amount
						break
					}
					sum += amount
					parts++
				}
				if off := sum - needed; parts < 3 || off > 0.005*float64(parts+1) || off < -0.005*float64(parts+1) {
					t.Errorf("%s, %s, %s: %.2f is needed, the parts make %.2f:\n%s", name, asked, j.Model.Name, needed, sum, strings.Join(lines, "\n"))
				}
				if off := needed*gib - float64(j.Fit.Need); off > 0.006*gib || off < -0.006*gib {
					t.Errorf("%s, %s, %s: %.2f GiB are needed, %d bytes for programs", name, asked, j.Model.Name, needed, j.Fit.Need)
				}
			}
		}
	}
}

// A larger window never needs less, in whatever place and format.
func TestLargerWindowsNeedMore(t *testing.T) {
	for name, machine := range everyMachine(t) {
		for _, p := range pools(machine, Held{}) {
			for _, e := range catalogue() {
				for asked, want := range wishes {
					want = want.at(e.Info)
					for _, kind := range []CacheType{"f16", "q8_0"} {
						last, main := int64(0), int64(0)
						for n := granule; n <= 262144; n += n/8 + granule {
							took := p.take(sum(e.Info, n, want.serving(kind, p)), want)
							if took.need < last || took.main < main {
								t.Fatalf("%s, %s, %s in %s, %s: %d tokens need %d and %d, fewer %d and %d", name, asked, e.Name, p.place, kind, n, took.need, took.main, last, main)
							}
							last, main = took.need, took.main
						}
					}
				}
			}
		}
	}
}

// verdicts from the worst to the best.
var ranked = []string{RefuseVerdict, CPUOnly, PartialOffload, ExpertOffload, MultiGPU, FullGPU}

// copied is a machine of its own.
func copied(t *testing.T, m probes.Machine) (out probes.Machine) {
	t.Helper()
	data, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func classRank(j Judgement) int {
	return slices.Index([]string{crawls, slow, usable, good, fast}, j.Fit.Speed.Class)
}

// More memory never makes a verdict worse, nor in the same place a window smaller.
func TestMoreMemoryIsNoWorse(t *testing.T) {
	for name, machine := range everyMachine(t) {
		random := rand.New(rand.NewPCG(7, uint64(len(name))))
		for range 2 {
			less := copied(t, machine)
			less.RAM.Available = int64(float64(less.RAM.Available) * (0.3 + 0.7*random.Float64()))
			for i := range less.GPUs {
				g := &less.GPUs[i]
				g.Free = int64(float64(g.Free) * (0.3 + 0.7*random.Float64()))
			}
			more := copied(t, less)
			more.RAM.Available += int64(random.Float64() * float64(more.RAM.Total-more.RAM.Available))
			for i := range more.GPUs {
				g := &more.GPUs[i]
				g.Free += int64(random.Float64() * float64(g.Total-g.Free))
			}
			for asked, want := range wishes {
				for _, e := range catalogue() {
					a, b := judge(e.Info, less, Held{}, want), judge(e.Info, more, Held{}, want)
					before, after := slices.Index(ranked, a.Verdict), slices.Index(ranked, b.Verdict)
					shorter := b.Fit.Window < a.Fit.Window
					switch {
					case !a.Passes(): // nothing is worse, and the window is that of an attempt
						shorter = false
					case want.Window > 0 && b.Fit.Window > a.Fit.Window: // what was asked for, where it fits, before a better place
						after = max(after, before)
					case want.Largest && a.Fit.Cache == "q8_0" && b.Fit.Cache == "f16": // exact numbers, as soon as they reach the usual window
						shorter = shorter && b.Fit.Window < min(usual, e.Info.Trained)
					case want.Images && strings.Contains(strings.Join(a.Fit.Warnings, " "), "no room for pictures"): // and now there is
						shorter = false
					case a.Verdict == ExpertOffload: // faster by a class, before longer
						shorter = shorter && classRank(b) <= classRank(a)
					}
					if after < before || after == before && shorter {
						t.Errorf("%s, %s: %s is %s with %d tokens (%s), with more memory %s with %d (%s)\n%+v\n%+v\nRAM %d then %d", name, asked, e.Name, a.Verdict, a.Fit.Window, a.Fit.Cache, b.Verdict, b.Fit.Window, b.Fit.Cache, a.Fit.Speed, b.Fit.Speed, less.RAM.Available, more.RAM.Available)
					}
				}
			}
		}
	}
}

// What is named instead of a refused model is in the catalogue, and passes there when it is asked for itself.
func TestAlternativesPass(t *testing.T) {
	for name, machine := range everyMachine(t) {
		for _, asked := range []string{"a session", "fit", "128k"} {
			want := wishes[asked]
			passes := map[string]bool{}
			for _, e := range catalogue() {
				passes[e.Name] = judge(e.Info, machine, Held{}, alternativeWant(want)).Passes()
			}
			verify := func(j Judgement) {
				if j.Passes() {
					return
				}
				for _, other := range j.Alternatives {
					e, ok := Lookup(other)
					if !ok || e.Name != other {
						t.Errorf("%s, %s: %s, rather %s, which the catalogue does not have", name, asked, j.Model.Name, other)
					}
					if !passes[e.Name] {
						t.Errorf("%s, %s: %s, rather %s, which does not pass itself", name, asked, j.Model.Name, other)
					}
				}
				if any := slices.Contains(slices.Collect(maps.Values(passes)), true); any && len(j.Alternatives) == 0 && want.Window == 0 {
					t.Errorf("%s, %s: %s: nothing is named though something passes", name, asked, j.Model.Name)
				}
			}
			all := Rank(machine, Held{}, want)
			for _, j := range all {
				verify(j)
			}
			verify(Judge(ModelInfo{Name: "unheard-of", Size: 400e9, Trained: usual, Capabilities: []string{"tools"}}, machine, Held{}, want))
		}
	}
}
