package setup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"interpreter/local"
)

// Choice is a model that a person may take.
type Choice struct {
	Name      string // as its server is asked for it
	Installed bool
	Judged    local.Judgement
	Why       string // one plain sentence, "" for a model that a person named
}

// shown is how many models are put before a person at first.
const shown = 3

// want is what is asked of a model on the server in use, with room for pictures, as a session leaves it.
func want(s State) local.Want {
	w := local.Want{Window: s.Window, CacheType: s.Cache, Images: true}
	if one := s.server(); one.Provider != nil {
		w.Provider, w.Version = one.Name(), one.Version
	}
	return w
}

// judged is what this machine makes of a model that a server has.
func judged(s State, one Server, m local.ModelInfo) local.Judgement {
	return local.Judge(m, s.Machine, local.HeldBy(one.Loaded), want(s).OnServer(one.Server, m, one.Loaded, local.Lessons{}))
}

// choices are the models to put before a person, at most three, installed ones first; and the other installed ones, those
// that can do the work first.
func choices(s State) (best, others []Choice) {
	one := s.server()
	var mine []Choice
	for _, m := range one.Models {
		c := Choice{Name: m.Name, Installed: true, Judged: local.Judgement{Model: m}}
		if one.Here {
			c.Judged = judged(s, one, m)
		}
		mine = append(mine, c)
	}
	slices.SortStableFunc(mine, func(a, b Choice) int { // of what runs well here, more weights know more
		return cmp.Or(cmp.Compare(rank(a), rank(b)), -cmp.Compare(a.Judged.Model.Size, b.Judged.Model.Size))
	})
	advised := advise(s)
	for i, c := range advised {
		for k, have := range mine {
			if same(c.Judged.Model.Name, have.Name) || have.Name == c.Name {
				advised[i].Name, advised[i].Installed, advised[i].Judged = have.Name, true, have.Judged
				mine = slices.Delete(mine, k, k+1)
				break
			}
		}
	}
	advised = slices.DeleteFunc(advised, func(c Choice) bool {
		if !c.Installed || rank(c) < unfit {
			return false
		}
		c.Why = "" // of the catalogue's; what the server tells of its own counts
		mine = append(mine, c)
		return true
	})
	// What is here already comes before what has to be downloaded, and what the catalogue advises before the rest; one
	// line is left for a download, since it may be much better.
	var downloads []Choice
	for _, c := range advised {
		if c.Installed {
			best = append(best, c)
		} else {
			downloads = append(downloads, c)
		}
	}
	take := func(most, room int) {
		for len(mine) > 0 && rank(mine[0]) <= most && len(best) < room {
			c := mine[0]
			c.Why = already(c)
			best, mine = append(best, c), mine[1:]
		}
	}
	take(well, shown-min(len(downloads), 1))
	if best = append(best, downloads...); len(best) > shown {
		best = best[:shown]
	}
	take(slowly, shown)
	return best, mine
}

// The ranks of models: how well they run here.
const (
	well = iota
	slowly
	unfit
)

// rank groups models by how well they run here.
func rank(c Choice) int {
	switch {
	case c.Judged.Refusal != nil:
		return unfit
	case c.Judged.Verdict == "": // its server is elsewhere, and says what the model can do
		if m := c.Judged.Model; len(m.Capabilities) > 0 && !m.Can("tools") || m.Trained > 0 && m.Trained < local.NearFloor {
			return unfit
		}
		return well
	case c.Judged.Fit.Speed.Class == "slow":
		return slowly
	}
	return well
}

// advise are the models of the catalogue that fit this machine best, under the names that the server in use has them.
// Where none runs well it is the fastest, and the person decides whether to bear it.
func advise(s State) []Choice {
	one := s.server()
	if !one.Here || one.Name() != "ollama" && one.Name() != "lmstudio" {
		return nil // what fits there is not known, or nothing can be downloaded
	}
	const enough = 12
	var out []Choice
	for _, r := range local.Recommend(s.Machine, local.HeldBy(one.Loaded), want(s), enough) {
		if name := nameAt(one.Name(), r.Model.Name); name != "" && len(out) < shown {
			out = append(out, Choice{Name: name, Judged: r.Judgement, Why: r.Why})
		}
	}
	if _, quick := nearest(s); len(out) == 0 && quick.Model.Name != "" {
		if name := nameAt(one.Name(), quick.Model.Name); name != "" {
			why := fmt.Sprintf("It has room here, and would write only about %s a second.", counted(words(quick), "word"))
			out = append(out, Choice{Name: name, Judged: quick, Why: why})
		}
	}
	return out
}

// nameAt is what a kind of server calls a model of the catalogue, "" when that is not known.
func nameAt(provider, name string) string {
	if provider != "lmstudio" {
		return name
	}
	entry, _ := local.Lookup(name)
	return entry.Key
}

// words is how many words a second a model is expected to write: one is a token and a third.
func words(j local.Judgement) int { return int(max(j.Fit.Speed.Deep*3/4+0.5, 1)) }

// same reports whether an installed model is the one of the catalogue, however its server names it.
func same(catalogue, installed string) bool {
	if local.SameModel(catalogue, installed) {
		return true
	}
	entry, ok := local.Lookup(catalogue)
	key, _, _ := strings.Cut(installed, "@")
	return ok && entry.Key != "" && entry.Key == key
}

// already is why to take a model that is there.
func already(c Choice) string {
	if c.Judged.Verdict == "" {
		return "It is there already."
	}
	return "It is here already: nothing has to be downloaded."
}

// facts are what there is to say of a model in one line.
func (c Choice) facts() string {
	state := "to download"
	if c.Installed {
		state = "installed"
	}
	if size := c.Judged.Model.Size; size > 0 {
		state = joined(" ", gb(size), state)
	}
	window, speed := "", ""
	if r := c.Judged.Refusal; c.Judged.Fit.Window > 0 && (r == nil || r.Code == local.TooSlow) {
		window = tokens(c.Judged.Fit.Window) + " window"
		speed = pace(c.Judged.Fit.Speed)
	}
	return joined(" · ", state, window, speed)
}

// pace is how fast a model is expected to write.
func pace(s local.Speed) string {
	if s.Deep <= 0 {
		return ""
	}
	if s.Deep < 10 {
		return fmt.Sprintf("%.1f tokens/s, %s", s.Deep, s.Class)
	}
	return fmt.Sprintf("%.0f tokens/s, %s", s.Deep, s.Class)
}

// answer is the model as one to choose.
func (c Choice) answer(width int) Answer {
	a := Answer{Key: "take:" + c.Name, Text: c.Name}
	if facts := c.facts(); len([]rune(c.Name))+len([]rune(facts))+3 <= width {
		a.Text += " · " + facts
	} else {
		a.More = append(a.More, facts)
	}
	if c.Why != "" {
		a.More = append(a.More, c.Why)
	}
	if c.Judged.Refusal != nil && c.Why == "" {
		a.More = append(a.More, reason(c.Judged.Refusal))
	}
	return a
}

// reason is a refusal without what was being done, which is plain where it is shown.
func reason(r *local.Refusal) string {
	if _, why, ok := strings.Cut(r.Text, ": "); ok {
		return sentence(why)
	}
	return sentence(r.Text)
}

// honest is what to say when the choice is poor: nothing fits, or what fits is slow.
func honest(s State, best []Choice) string {
	one := s.server()
	if !one.Here {
		return ""
	}
	passing := func(most int) bool { return slices.ContainsFunc(best, func(c Choice) bool { return rank(c) <= most }) }
	switch {
	case passing(well):
		return ""
	case passing(slowly):
		return "To be honest, this machine is slow for such work: the first answer of a session may take minutes, and the rest comes word by word."
	}
	text := "To be honest, no model that can do such work runs well on this machine as it is."
	small, quick := nearest(s)
	switch {
	case quick.Model.Name != "":
		text += fmt.Sprintf(" %s comes nearest: it would write about %s a second, and take minutes before it begins.",
			quick.Model.Name, counted(words(quick), "word"))
	case small.Model.Name != "":
		text += fmt.Sprintf(" Even the smallest, %s, needs %s with the window of %s tokens that the work takes, and %s can be used.",
			small.Model.Name, local.Bytes(small.Fit.Need), tokens(small.Fit.Window), local.Bytes(small.Fit.Room))
	}
	return text + " What helps: ending programs that use much memory, or a model server on a larger machine of your network."
}

// nearest are the models of the catalogue that come nearest: the one that needs least memory of those that have too little,
// and the fastest of those that are too slow.
func nearest(s State) (small, quick local.Judgement) {
	for _, j := range local.Rank(s.Machine, local.HeldBy(s.server().Loaded), want(s)) {
		switch {
		case j.Refusal == nil || j.Fit.Need == 0 || j.Fit.Room == 0:
		case j.Refusal.Code == local.TooSlow && j.Fit.Speed.Deep > quick.Fit.Speed.Deep:
			quick = j
		case j.Refusal.Code == local.TooBig && (small.Fit.Need == 0 || j.Fit.Need < small.Fit.Need):
			small = j
		}
	}
	return small, quick
}
