package local

import (
	"cmp"
	"slices"
	"strings"

	"interpreter/probes"
)

// tiers are the models to prefer, by the memory of the GPUs in GiB from which a tier begins; the last is that of a
// machine whose GPU, if any, holds nothing of use.
var tiers = [...]struct {
	from   float64
	models []string
}{
	{88, []string{"qwen3.5:122b", "gpt-oss:120b", "qwen3-coder-next:q4_K_M"}},
	{44, []string{"qwen3-coder-next:q4_K_M", "qwen3.6:35b", "qwen3.6:27b", "gpt-oss:120b"}},
	{26, []string{"qwen3.6:35b", "qwen3.6:27b", "devstral-small-2:24b", "glm-4.7-flash:q4_K_M", "nemotron-3-nano:30b"}},
	{20, []string{"qwen3.6:27b", "gemma4:26b", "glm-4.7-flash:q4_K_M", "gpt-oss:20b", "qwen3-coder:30b"}},
	{14, []string{"gpt-oss:20b", "gemma4:12b", "qwen3.5:9b"}},
	{10, []string{"qwen3.5:9b", "gemma4:12b"}},
	{6, []string{"qwen3.5:4b", "qwen3.6:35b"}},
	{0, []string{"qwen3.6:35b", "qwen3-coder:30b", "gpt-oss:20b", "qwen3.5:4b"}},
}

// liking is where a model stands in the tiers of a machine: how many tiers away, and its place there.
type liking struct{ away, place int }

// preference ranks the models of the tiers for a machine: its own tier first, then those below, then those above, the
// nearest first.
func preference(machine probes.Machine) map[string]liking {
	memory := float64(gpuMemory(machine)) / gib
	own := 0
	for own < len(tiers)-1 && memory < tiers[own].from {
		own++
	}
	liked := map[string]liking{}
	add := func(away int, models []string) {
		for place, name := range models {
			if _, there := liked[name]; !there {
				liked[name] = liking{away, place}
			}
		}
	}
	for i := own; i < len(tiers); i++ {
		add(i-own, tiers[i].models)
	}
	for i := own - 1; i >= 0; i-- {
		add(len(tiers)+own-i, tiers[i].models)
	}
	return liked
}

// gpuMemory is what the GPUs of the best place have, in bytes: all of a card's, and of memory that is shared what a GPU
// may use.
func gpuMemory(machine probes.Machine) int64 {
	var most int64
	for _, p := range pools(machine, Held{}) {
		if p.place == OnCPU {
			continue
		}
		memory := int64(0)
		for _, g := range p.gpus {
			memory += g.Total
		}
		if p.shared {
			memory = max(p.bytes, machine.Unified)
		}
		most = max(most, memory)
	}
	return most
}

// Rank judges the whole catalogue on a machine, best first, and what is refused last. What is fast enough to work with
// comes first: the tiers in their order, in each what writes at a good speed before what is usable; then what no tier
// names. The slow follow.
func Rank(machine probes.Machine, h Held, want Want) []Judgement {
	entries := catalogue()
	all := make([]Judgement, len(entries))
	status := map[string]string{}
	for i, e := range entries {
		all[i] = judge(e.Info, machine, h, want)
		status[e.Name] = e.Status
	}
	liked := preference(machine)
	key := func(j Judgement) []int {
		at, preferred := liked[j.Model.Name]
		group := 1
		switch speed := pace(j); {
		case speed == refused:
			group = 3
		case speed == slowly:
			group = 2
		case preferred:
			group = 0
		}
		if preferred {
			return []int{group, at.away, pace(j), at.place}
		}
		return []int{group, len(tiers) * 3, map[string]int{Recommended: 0, Refused: 2}[status[j.Model.Name]], pace(j)}
	}
	slices.SortStableFunc(all, func(a, b Judgement) int {
		return cmp.Or(slices.Compare(key(a), key(b)), -cmp.Compare(a.Model.Size, b.Model.Size), strings.Compare(a.Model.Name, b.Model.Name))
	})
	for i := range all {
		if !all[i].Passes() {
			all[i].replace(all)
		}
	}
	return all
}

// The paces of a judgement.
const (
	well = iota
	bearably
	slowly
	refused
)

func pace(j Judgement) int {
	switch {
	case !j.Passes():
		return refused
	case j.Fit.Speed.Class == fast || j.Fit.Speed.Class == good:
		return well
	case j.Fit.Speed.Class == usable:
		return bearably
	}
	return slowly
}

// Recommendation is a model to take on a machine, and why, in one sentence for somebody new to this.
type Recommendation struct {
	Judgement
	Why string
}

// Recommend names the n best models for a machine, in the order of Rank. Models of different families come first, since
// what one family cannot do another may.
func Recommend(machine probes.Machine, h Held, want Want, n int) []Recommendation {
	var passing, chosen []Judgement
	for _, j := range Rank(machine, h, want) {
		if j.Passes() {
			passing = append(passing, j)
		}
	}
	liked := preference(machine)
	taken, families := map[string]bool{}, map[string]bool{}
	take := func(fits func(Judgement) bool) {
		for _, j := range passing {
			if len(chosen) < n && !taken[j.Model.Name] && fits(j) {
				chosen = append(chosen, j)
				taken[j.Model.Name], families[family(j)] = true, true
			}
		}
	}
	preferred := func(j Judgement) bool { _, ok := liked[j.Model.Name]; return ok }
	take(func(j Judgement) bool { return preferred(j) && pace(j) < slowly && !families[family(j)] })
	take(func(j Judgement) bool { return preferred(j) && pace(j) < slowly })
	take(preferred)
	take(func(Judgement) bool { return true })
	var out []Recommendation
	for i, j := range chosen {
		out = append(out, Recommendation{j, because(i, chosen)})
	}
	return out
}

// family is whose model it is, as far as a name tells: what precedes digits and dots.
func family(j Judgement) string {
	name := strings.ToLower(j.Model.Name)
	if i := strings.IndexAny(name, "0123456789:"); i > 0 {
		name = name[:i]
	}
	return strings.Trim(name, "-")
}
