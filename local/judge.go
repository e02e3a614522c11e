package local

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"interpreter/probes"
)

// The verdicts.
const (
	FullGPU        = "full-gpu"
	MultiGPU       = "multi-gpu"
	ExpertOffload  = "expert-offload"
	PartialOffload = "partial-offload"
	CPUOnly        = "cpu"
	RefuseVerdict  = "refuse"
)

// Judgement is what a machine can make of a model. Of one that is refused, Fit holds the numbers of the attempt.
type Judgement struct {
	Model        ModelInfo
	Fit          Fit
	Verdict      string // "full-gpu", "multi-gpu", "expert-offload", "partial-offload", "cpu", "refuse"
	Refusal      *Refusal
	Reasons      []string
	Alternatives []string // names of models that pass here
	Confidence   string   // "high", "medium", "low"

	pool pool
}

// Passes reports a model that can do the work here.
func (j Judgement) Passes() bool { return j.Verdict != RefuseVerdict }

// Judge decides whether and how a machine runs a model as an agent: by its trained context, its tools, its memory and
// its speed, in this order. A window that was asked for and does not fit is answered by the largest that does. With
// Want.Own, keys and values may be kept in q8_0. Each refusal names up to three models that pass on this machine.
func Judge(m ModelInfo, machine probes.Machine, h Held, want Want) Judgement {
	j := judge(m, machine, h, want)
	if !j.Passes() {
		blame(j.Refusal, machine, h)
		j.replace(Rank(machine, h, alternativeWant(want)))
	}
	return j
}

// alternativeWant is what is asked of a model to take instead: the same server, without numbers of this model.
func alternativeWant(want Want) Want {
	want.Window, want.Measured, want.Ratio = 0, Rates{}, 0
	return want
}

// judge is Judge without alternatives.
func judge(m ModelInfo, machine probes.Machine, h Held, want Want) Judgement {
	m = completed(m)
	want = want.at(m)
	want.Slow = false
	j := Judgement{Model: m, Verdict: RefuseVerdict, Confidence: "high"}
	entry, _, listed := lookup(m.Name)
	if j.Refusal = unable(m, entry, listed, want); j.Refusal != nil {
		return j
	}
	d, err := decide(m, machine, h, want)
	if err != nil && want.Window > 0 {
		lower := want
		lower.Window, lower.Most = 0, stated(m, want).Window
		if again, failed := decide(m, machine, h, lower); failed == nil && lower.Most > Floor {
			j.Reasons = append(j.Reasons, lowered(m, machine, h, want, again))
			d, err = again, nil
		}
	}
	if err != nil {
		if !errors.As(err, &j.Refusal) {
			j.Refusal = &Refusal{Code: TooBig, Model: m.Name, Text: err.Error(), Try: "name another model with -m"}
		}
		want.Images = false // what was refused was refused without room for pictures, too
		j.attempt(machine, h, want)
		j.confide(entry, listed)
		return j
	}
	j.Fit, j.Verdict, j.pool = d.fit, d.verdict, d.pool
	if j.Verdict == "" {
		j.Refusal = &Refusal{
			Code: TooBig, Model: m.Name, Text: fmt.Sprintf("fit %s: the size of its files or the memory of the machine is not known", m.Name),
			Try: "install it, or name the path of its .gguf file",
		}
		j.Verdict, j.Confidence = RefuseVerdict, "low"
		return j
	}
	j.reason(d, machine, h, want)
	j.confide(entry, listed)
	return j
}

// lowered says why the window that was asked for is not the one that was chosen.
func lowered(m ModelInfo, machine probes.Machine, h Held, want Want, chosen decision) string {
	n := stated(m, want).Window
	s := sum(m, n, want.serving(chosen.fit.Cache, chosen.pool))
	t := chosen.pool.take(s, want)
	kind := cmp.Or(string(chosen.fit.Cache), "f16")
	return fmt.Sprintf("%d tokens were asked for: with them it needs %s in %s, of %s usable; %d are the most that fit",
		n, amount(t.need, !m.Geometry.Known(), ""), kind, Bytes(t.room), chosen.fit.Window)
}

// unable refuses what no machine can change. A window that a person names is honoured whatever the model was trained
// for, and what a server says of a model's tools counts more than the catalogue.
func unable(m ModelInfo, entry Entry, listed bool, want Want) *Refusal {
	if m.RemoteHost != "" || LooksRemote(m.Name) {
		base, _, _ := strings.Cut(m.Name, ":")
		return &Refusal{Code: Elsewhere, Model: m.Name, Text: "fit " + m.Name + ": it runs on the vendor's machines, not on this one",
			Try: "use a local tag of the same family: " + base}
	}
	if _, err := bound(m, want); err != nil {
		refusal := err.(*Refusal)
		refusal.Try = fmt.Sprintf("accept the small window with -c model_context_window=%d", m.Trained/granule*granule)
		return refusal
	}
	capabilities := m.Capabilities
	if len(capabilities) == 0 && listed {
		capabilities = entry.Info.Capabilities
	}
	if len(capabilities) > 0 && !(ModelInfo{Capabilities: capabilities}).Can("tools") {
		return &Refusal{Code: NoTools, Model: m.Name, Text: fmt.Sprintf("choose %s: it cannot call tools (it can: %s)", m.Name, strings.Join(capabilities, ", "))}
	}
	return nil
}

// attempt keeps the numbers of a model that is refused for its memory or its speed: the roomiest place.
func (j *Judgement) attempt(machine probes.Machine, h Held, want Want) {
	b, err := bound(j.Model, want)
	if err != nil {
		return
	}
	if want.Window == 0 {
		want.Window = b.floor
	}
	window := stated(j.Model, want).Window
	want.Slow = true
	if d, err := decide(j.Model, machine, h, want); err == nil { // it fits, but crawls
		j.Fit, j.pool = d.fit, d.pool
		j.Fit.Warnings = nil
		return
	}
	all := pools(machine, h)
	if len(all) == 0 {
		return
	}
	p, kind := roomiest(j.Model, all, want)
	gpu, main := sides(all)
	both := gpu.bytes > 0 && main.bytes > 0
	if both {
		p = gpu
		kinds := p.kinds(j.Model, want)
		kind = kinds[len(kinds)-1]
	}
	var d decision
	d.settle(p, j.Model, window, kind, want)
	j.Fit, j.pool = d.fit, p
	j.Fit.Warnings, j.Fit.Speed = nil, Speed{}
	if both {
		j.Fit.Place = OnBoth
		j.Fit.Room += max(main.bytes-d.fit.Main, 0)
	}
}

// reason says what decided.
func (j *Judgement) reason(d decision, machine probes.Machine, h Held, want Want) {
	add := func(format string, args ...any) { j.Reasons = append(j.Reasons, fmt.Sprintf(format, args...)) }
	f := j.Fit
	if f.Bound {
		add("its layers are not known: its memory is a bound made from the size of its files, and no prediction")
	}
	switch j.Verdict {
	case FullGPU, MultiGPU:
		add("it fits %s with a window of %d tokens: %s of %s", d.pool.name(), f.Window, amount(f.Need, f.Bound, ""), Bytes(f.Room))
	case ExpertOffload:
		add("a token takes only %d of %d experts, so those in main memory cost little", j.Model.Geometry.ExpertsUsed, j.Model.Geometry.Experts)
	case PartialOffload:
		add("%.0f%% of its layers stay in main memory; only the smallest window is given", 100*d.on.rest)
	case CPUOnly:
		add("it fits main memory with a window of %d tokens: %s of %s", f.Window, amount(f.Need, f.Bound, ""), Bytes(f.Room))
		if rest, experts := j.Model.reads(); rest+experts > 2.5e9 {
			add("it reads %.1f GB for each token; on a processor, one that reads less is faster", (rest+experts)/1e9)
		}
		if f.Speed.First >= 180 {
			add("the first token of a session takes about %.0f minutes; a small harness shortens that", f.Speed.First/60)
		}
	}
	if f.Cache == "q8_0" && want.CacheType == "" {
		add("keys and values in q8_0, since f16 would not reach %d tokens", min(usual, max(j.Model.Trained, Floor)))
	} else if !want.Own && want.CacheType == "" && f.Window < usual {
		other := want
		other.Own = true
		if better, err := decide(j.Model, machine, h, other); err == nil && better.verdict == d.verdict && better.fit.Window > f.Window {
			add("a server that keeps keys and values in q8_0 would hold %d tokens", better.fit.Window)
		}
	}
	if g := d.pool.gpus0(); d.pool.shared && g.Vendor == "amd" {
		add("Ollama uses this graphics part only where it is started with OLLAMA_IGPU_ENABLE=1; otherwise the processor does it, about as fast")
	}
	if d.pool.noFlash {
		add("this card has no flash attention, which takes more memory for a long window")
	}
}

// name is a pool for people.
func (p pool) name() string {
	switch {
	case len(p.gpus) == 1 && !p.shared:
		return p.gpus[0].Name
	case len(p.gpus) > 1:
		return fmt.Sprintf("%d GPUs together", len(p.gpus))
	}
	return string(p.place)
}

// confide says how sure the numbers are: high when the model itself told its dimensions and the machine its speed.
func (j *Judgement) confide(entry Entry, listed bool) {
	_, told := j.pool.bandwidth()
	_, ram := j.pool.memory()
	measured := j.Model.Digest != "" || j.Model.Provider != ""
	switch {
	case !j.Model.Geometry.Known() || !told || !ram && (j.Fit.Place == OnBoth || j.Fit.Place == OnCPU):
		j.Confidence = "low"
	case measured:
		j.Confidence = "high"
	case listed && !entry.Sure:
		j.Confidence = "low"
	case listed:
		j.Confidence = "medium"
	}
}

// replace names the models to take instead: those that the catalogue names for it and that pass, then those that are
// nearest to it in size, a smaller one first.
func (j *Judgement) replace(ranked []Judgement) {
	passing := map[string]Judgement{}
	for _, other := range ranked {
		if short := other.Model.Trained > 0 && other.Model.Trained < NearFloor; short { // it passes only with the window that was asked for
			continue
		}
		if other.Passes() && !SameModel(other.Model.Name, j.Model.Name) {
			passing[strings.ToLower(other.Model.Name)] = other
		}
	}
	take := func(name string) {
		other, ok := passing[strings.ToLower(name)]
		if ok && len(j.Alternatives) < 3 {
			j.Alternatives = append(j.Alternatives, other.Model.Name)
			delete(passing, strings.ToLower(name))
		}
	}
	entry, listed := Lookup(localName(j.Model.Name))
	if listed {
		if entry.Info.Size > 0 {
			take(entry.row) // the same at fewer bits, or on this machine
		}
		if def, ok := Lookup(entry.Info.Family); ok && def.Info.Size > 0 && def.Info.Size < j.Model.Size {
			take(def.row) // its smaller sibling
		}
		for _, name := range entry.Alternatives {
			take(name)
		}
	}
	for _, rule := range []func(name string, size int64) bool{
		func(name string, size int64) bool {
			return recommended(name) && (!j.Refusal.memory() || size <= j.Model.Size)
		},
		func(_ string, size int64) bool { return !j.Refusal.memory() || size <= j.Model.Size },
		func(string, int64) bool { return len(j.Alternatives) == 0 },
	} {
		for len(j.Alternatives) < 3 {
			name, nearest := "", int64(0)
			for _, other := range ranked {
				key := strings.ToLower(other.Model.Name)
				if _, there := passing[key]; !there || !rule(other.Model.Name, other.Model.Size) {
					continue
				}
				if off := max(other.Model.Size-j.Model.Size, j.Model.Size-other.Model.Size); name == "" || off < nearest {
					name, nearest = other.Model.Name, off
				}
			}
			if name == "" {
				break
			}
			take(name)
		}
	}
	j.remedy()
}

func recommended(name string) bool {
	e, ok := Lookup(name)
	return ok && e.Status == Recommended
}

// memory reports a refusal that a smaller model would not meet with.
func (r *Refusal) memory() bool { return r.Code == TooBig || r.Code == TooSlow }

// localName drops what marks a name as one of the vendor's machines.
func localName(name string) string {
	if !LooksRemote(name) {
		return name
	}
	i := strings.LastIndex(strings.ToLower(name), "cloud")
	return strings.TrimRight(name[:i], "-:")
}

// remedy is what a person can type.
func (j *Judgement) remedy() {
	var ways []string
	if len(j.Alternatives) > 0 {
		ways = append(ways, "interpreter models pull "+strings.Join(j.Alternatives, ", or interpreter models pull "))
	}
	own := strings.TrimPrefix(strings.TrimPrefix(j.Refusal.Try, "name a smaller model with -m"), ", or ")
	if own != "" {
		ways = append(ways, strings.TrimPrefix(own, "free memory, or "))
	}
	if j.Refusal.memory() {
		if len(ways) == 0 {
			ways = append(ways, "no model of the catalogue fits this machine as it is: free memory")
		}
	}
	j.Refusal.Try = strings.Join(ways, ", or ")
}
