package local

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// choice is a model, the server that has it, and what that server holds in memory.
type choice struct {
	answering
	model     ModelInfo
	residents []Resident
	why       string
	remote    bool // it runs on another machine than the server's, as a person asked
}

// canonical is a model name as servers compare them: no case, and a missing tag is "latest".
func canonical(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if !strings.Contains(name[strings.LastIndex(name, "/")+1:], ":") {
		name += ":latest"
	}
	return name
}

// SameModel reports whether two names mean one model.
func SameModel(a, b string) bool { return canonical(a) == canonical(b) }

// stock is what one server has.
type stock struct {
	answering
	models []ModelInfo
}

// choose picks the model: the wish, else the configured one if installed, else the best installed tool-caller that
// fits this machine. With Pull, a named model that is missing is downloaded.
func (r *run) choose(ctx context.Context, servers []answering) (choice, error) {
	stocks, err := r.stocks(ctx, servers)
	if err != nil {
		return choice{}, err
	}
	named, why := r.Model, "named for this run"
	if named == "" {
		named, why = r.Configured, "chosen before"
	}
	if named != "" {
		c, err := r.named(ctx, stocks, named, why)
		if err == nil || r.Model != "" || !isMissing(err) {
			return c, err
		}
		if err := r.say(Stage{Name: "choose", Warning: fmt.Sprintf("the configured model %s is not installed; taking the best one that is", named)}); err != nil {
			return choice{}, err
		}
	}
	return r.best(ctx, stocks)
}

// stocks lists what the servers have. One that cannot say is passed over as long as another can.
func (r *run) stocks(ctx context.Context, servers []answering) ([]stock, error) {
	var all []stock
	var failures []error
	for _, s := range servers {
		models, err := s.Models(ctx)
		if err != nil {
			failures = append(failures, fmt.Errorf("list the models of %s at %s: %w", s.Name(), s.Address(), err))
			continue
		}
		all = append(all, stock{s, models})
	}
	if len(all) == 0 {
		return nil, failures[0]
	}
	for _, err := range failures {
		if err := r.warn("choose", err.Error()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func isMissing(err error) bool {
	refusal, ok := err.(*Refusal)
	return ok && refusal.Code == NotInstalled
}

// named finds a model by name, or pulls it.
func (r *run) named(ctx context.Context, stocks []stock, name, why string) (choice, error) {
	for _, s := range stocks {
		for _, m := range s.models {
			if SameModel(m.Name, name) {
				return r.chosen(ctx, s.answering, m, why)
			}
		}
	}
	if err := r.refuseRemote(ModelInfo{Name: name}, stocks[0].Provider); err != nil {
		return choice{}, err
	}
	if !r.Pull {
		return choice{}, notInstalled(stocks, name)
	}
	from, err := r.pull(ctx, stocks, name)
	if err != nil {
		return choice{}, err
	}
	models, err := from.Models(ctx)
	if err != nil {
		return choice{}, fmt.Errorf("list the models of %s at %s: %w", from.Name(), from.Address(), err)
	}
	for _, m := range models {
		if SameModel(m.Name, name) {
			return r.chosen(ctx, from, m, why+", just pulled")
		}
	}
	return choice{}, notInstalled([]stock{{from, models}}, name)
}

// chosen completes what is known of a model and refuses one that cannot do the work.
func (r *run) chosen(ctx context.Context, s answering, m ModelInfo, why string) (choice, error) {
	if err := r.refuseRemote(m, s.Provider); err != nil {
		return choice{}, err
	}
	m, err := complete(ctx, s, m)
	if err != nil {
		return choice{}, err
	}
	if err := r.refuseRemote(m, s.Provider); err != nil {
		return choice{}, err
	}
	if OlderThan(s.version, m.Requires) {
		return choice{}, tooOld(m.Name, s, m.Requires, nil)
	}
	if len(m.Capabilities) > 0 && !m.Can("tools") && !r.SkipCheck && !r.Spoken {
		return choice{}, &Refusal{
			Code: NoTools, Model: m.Name, Text: fmt.Sprintf("choose %s: it cannot call tools (it can: %s)", m.Name, strings.Join(m.Capabilities, ", ")),
			Try: r.another(ctx, m.Name),
		}
	}
	if remoteReason(m) != "" {
		return choice{answering: s, model: m, why: why, remote: true}, nil
	}
	residents, err := s.Loaded(ctx)
	if err != nil {
		return choice{}, fmt.Errorf("list the loaded models of %s at %s: %w", s.Name(), s.Address(), err)
	}
	return choice{answering: s, model: m, residents: residents, why: why}, nil
}

// complete adds what Show knows to what the list told.
func complete(ctx context.Context, p Provider, listed ModelInfo) (ModelInfo, error) {
	shown, err := p.Show(ctx, listed.Name)
	if err != nil {
		return ModelInfo{}, fmt.Errorf("look at %s: %w", listed.Name, err)
	}
	shown.Name = listed.Name
	shown.Provider = cmp.Or(shown.Provider, listed.Provider)
	shown.Digest = cmp.Or(listed.Digest, shown.Digest)
	shown.Size = cmp.Or(listed.Size, shown.Size)
	shown.Family = cmp.Or(shown.Family, listed.Family)
	shown.Parameters = cmp.Or(shown.Parameters, listed.Parameters)
	shown.Quantization = cmp.Or(shown.Quantization, listed.Quantization)
	shown.Format = cmp.Or(shown.Format, listed.Format)
	shown.RemoteHost = cmp.Or(shown.RemoteHost, listed.RemoteHost)
	shown.Trained = cmp.Or(shown.Trained, listed.Trained)
	if len(shown.Capabilities) == 0 {
		shown.Capabilities = listed.Capabilities
	}
	return shown, nil
}

// leastTrained is the context that a model must have been trained for: what a person has named as the window may be less
// than an agent is given unasked.
func (r *run) leastTrained() int {
	if r.Window > 0 {
		return min(r.Window, NearFloor)
	}
	return NearFloor
}

// candidates are the models that could do the work, the largest first: of models that fit, more weights know more.
// left says why the others are not among them.
func candidates(ctx context.Context, stocks []stock, floor int) (found []choice, left []string) {
	var wait sync.WaitGroup
	var lock sync.Mutex
	slots := make(chan struct{}, 4)
	needed := floor
	if floor == NearFloor {
		needed = Floor
	}
	for _, s := range stocks {
		for _, m := range s.models {
			wait.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				why := ""
				full := m
				if remoteReason(m) != "" {
					why = "runs on another machine"
				} else if shown, err := complete(ctx, s, m); err != nil {
					why = err.Error()
				} else if full = shown; remoteReason(full) != "" {
					why = "runs on another machine"
				} else if OlderThan(s.version, full.Requires) {
					why = fmt.Sprintf("needs %s %s, this is %s", s.Name(), full.Requires, s.version)
				} else if len(full.Capabilities) > 0 && !full.Can("tools") {
					why = "cannot call tools"
				} else if full.Trained > 0 && full.Trained < floor {
					why = fmt.Sprintf("was trained for %d tokens, %d are needed", full.Trained, needed)
				}
				lock.Lock()
				defer lock.Unlock()
				if why != "" {
					left = append(left, m.Name+" "+why)
					return
				}
				found = append(found, choice{answering: s.answering, model: full})
			})
		}
	}
	wait.Wait()
	slices.Sort(left)
	slices.SortFunc(found, func(a, b choice) int {
		return cmp.Or(cmp.Compare(b.model.Size, a.model.Size), strings.Compare(a.model.Name, b.model.Name))
	})
	return found, left
}

// best takes the largest candidate that fits. One that is loaded with enough of a window needs no judgement.
func (r *run) best(ctx context.Context, stocks []stock) (choice, error) {
	installed := 0
	for _, s := range stocks {
		installed += len(s.models)
	}
	if installed == 0 {
		return choice{}, &Refusal{
			Code: NoModel, Text: fmt.Sprintf("choose a model: none is installed at %s", where(stocks[0])),
			Try: pullCommand(stocks[0].Provider, suggestion(r.measured(ctx))) + ", or name one with -m NAME --pull",
		}
	}
	found, left := candidates(ctx, stocks, r.leastTrained())
	if err := ctx.Err(); err != nil {
		return choice{}, err
	}
	var tooLarge error
	for _, c := range found {
		residents, err := c.Loaded(ctx)
		if err != nil {
			return choice{}, fmt.Errorf("list the loaded models of %s at %s: %w", c.Name(), c.Address(), err)
		}
		c.residents = residents
		c.why = fmt.Sprintf("the largest of %d installed models that can do the work here", installed)
		if len(found) == 1 {
			c.why = "the only installed model that can do the work here"
			return c, nil
		}
		if adopted(c, r.want()) > 0 || !r.here(c.Address()) {
			return c, nil
		}
		if _, err := r.fit(ctx, &c); err == nil {
			return c, nil
		} else {
			tooLarge = err
		}
	}
	if tooLarge != nil {
		return choice{}, tooLarge
	}
	return choice{}, &Refusal{
		Code: NoModel, Text: "choose a model: none of those installed can do the work: " + strings.Join(left, "; "),
		Try: pullCommand(stocks[0].Provider, suggestion(r.measured(ctx))) + ", or name one with -m NAME --pull",
	}
}

// notInstalled names the model, what is there, and how to get it.
func notInstalled(stocks []stock, name string) error {
	var names []string
	near := ""
	base, _, _ := strings.Cut(canonical(name), ":")
	for _, s := range stocks {
		for _, m := range s.models {
			names = append(names, m.Name)
			if own, _, _ := strings.Cut(canonical(m.Name), ":"); own == base && near == "" {
				near = m.Name
			}
		}
	}
	slices.Sort(names)
	have := "nothing is"
	if len(names) > 0 {
		have = strings.Join(names[:min(len(names), 8)], ", ")
		if len(names) > 8 {
			have += fmt.Sprintf(" and %d more", len(names)-8)
		}
		have += map[bool]string{true: " is", false: " are"}[len(names) == 1]
	}
	try := pullCommand(stocks[0].Provider, name) + ", or run again with --pull"
	if near != "" {
		try = "-m " + near + ", which is installed, or " + try
	}
	return &Refusal{
		Code: NotInstalled, Model: name, Try: try,
		Text: fmt.Sprintf("choose %s: not installed at %s (%s)", name, where(stocks[0]), have),
	}
}
