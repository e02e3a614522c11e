package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"interpreter/local/chat"
)

// How long a tool check may take, when nobody said.
const (
	checkOnCPU = 3 * time.Minute
	checkOnGPU = 90 * time.Second
)

// proven runs the tool check, or finds the verdict of an earlier one.
func (r *run) proven(ctx context.Context, c choice, p *Prepared) (Verdict, error) {
	prefill, decode := readVerdicts(r.Verdicts).rates(c.Name(), c.model)
	p.Prefill = prefill
	if r.SkipCheck {
		return Skipped, r.warn("check", "the tool check was skipped")
	}
	var prefix Prefix
	if r.Prefix != nil {
		var err error
		if prefix, err = r.Prefix(p.Info, p.Window); err != nil {
			return "", fmt.Errorf("check that %s can call tools: %w", c.model.Name, err)
		}
	}
	words := wordsFor(prefix)
	p.ledger = ledger{r.Verdicts, verdictKey(c, prefix, r.cacheOf(c), r.Rescue != nil)}
	if known, ok := p.ledger.known(r.Now()); ok && !r.Thorough {
		p.Report = known.Report
		p.Report.Verdict, p.Report.When = known.Verdict, known.When
		how := ""
		if known.Verdict == Rescued {
			how = ", as text that the harness reads"
		}
		return known.Verdict, r.tell("check", "%s %s on %s%s", c.model.Name, words.did, known.When.Format(time.DateOnly), how)
	}
	budget := r.budget(p.Resident)
	size := float64(prefix.tokens())
	if prefill > 0 && size/prefill > budget.Seconds()/2 && !prefix.Spoken {
		text := fmt.Sprintf("the session's opening has about %.0f tokens and %s reads %s a second; it is checked without them", size, c.model.Name, inASecond(prefill))
		if err := r.tell("check", "%s", text); err != nil {
			return "", err
		}
		prefix.Messages, prefix.Tools, prefix.Join = nil, nil, false
	}
	about := ""
	if seconds := float64(prefix.tokens()) / prefill; prefill > 0 && seconds >= 10 {
		about = fmt.Sprintf(", up to %s for %d tokens", time.Duration(seconds)*time.Second, prefix.tokens())
	}
	if err := r.begin("check", "asking %s to %s%s", c.model.Name, words.ask, about); err != nil {
		return "", err
	}
	var stopped error
	checking, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	before, loaded := resident(c.residents, c.model)
	check := checker{
		model: p.Model, info: c.model, window: p.Window, prefix: prefix, receipt: newReceipt(), rescue: r.Rescue, thorough: r.Thorough,
		fresh: !loaded || before.Window != p.Resident.Window, prefill: prefill, decode: decode, now: time.Now,
	}
	check.waiting = func(w chat.Wait) {
		if stopped == nil {
			if stopped = r.tell("check", "%s; again in %s", w.Why, w.For.Round(100*time.Millisecond)); stopped != nil {
				cancel()
			}
		}
	}
	verdict, err := check.check(checking)
	if stopped != nil {
		return "", stopped
	}
	p.Report, p.Prefill = check.report, cmp.Or(check.report.Prefill, prefill)
	p.Warm = err == nil && !check.report.Alone
	var wrong *CheckError
	switch {
	case errors.As(err, &wrong):
		if err := p.ledger.drop(); err != nil {
			if err := r.warn("check", err.Error()); err != nil {
				return "", err
			}
		}
		return "", &Refusal{Code: Unproven, Model: c.model.Name, Err: wrong,
			Text: fmt.Sprintf("check that %s can %s", c.model.Name, words.can), Try: r.nearest(ctx, c) + "; -c tool_check=false uses it all the same"}
	case err != nil && ctx.Err() == nil && (checking.Err() != nil || errors.Is(err, errSlow)):
		return NotKnown, r.tooSlow(p, c, &check, budget)
	case err != nil:
		return "", fmt.Errorf("check that %s can %s: %w", c.model.Name, words.can, err)
	}
	return verdict, r.passed(p, c, words)
}

// checkWords say what a tool check asks of a model: "asking X to …", "check that X can …", "X … on that day".
type checkWords struct{ ask, can, did string }

// wordsFor are those of a session's beginning: under a harness that speaks in text there is no tool to call.
func wordsFor(prefix Prefix) checkWords {
	if !prefix.Spoken {
		return checkWords{"call a tool", "call tools", "called tools"}
	}
	write := "write a command as " + prefix.Harness + " wants it"
	return checkWords{write, write, "wrote a command as " + prefix.Harness + " wants it"}
}

// budget is the time for the tool check.
func (r *run) budget(have Resident) time.Duration {
	switch {
	case r.CheckFor > 0:
		return r.CheckFor
	case have.Size > 0 && have.VRAM >= have.Size:
		return checkOnGPU
	}
	return checkOnCPU
}

// passed keeps the verdict and tells it.
func (r *run) passed(p *Prepared, c choice, words checkWords) error {
	if err := r.note(p, c); err != nil {
		return err
	}
	if p.Report.Verdict == Rescued {
		if err := r.warn("check", fmt.Sprintf("calls of %s arrive as text; the harness reads them", c.model.Name)); err != nil {
			return err
		}
	}
	text := c.model.Name + " called the tool and used its result"
	if p.Report.Verdict == Spoken {
		text = c.model.Name + " " + words.did + ", and used its result"
	}
	if rates := p.Report.Rates(); rates != "" {
		text += "; " + rates
	}
	if err := r.tell("check", "%s", text); err != nil {
		return err
	}
	for _, s := range p.Report.Stages {
		if (s.Name == "payload" || s.Name == "no call") && !s.Passed {
			if err := r.warn("check", fmt.Sprintf("stage %q of the tool check: %s", s.Name, s.Got)); err != nil {
				return err
			}
		}
	}
	return nil
}

// tooSlow hands a model over unproven. When not even the opening was read in the time there was, that is a bound of
// the model's speed, and the next check will do without it.
func (r *run) tooSlow(p *Prepared, c choice, check *checker, budget time.Duration) error {
	if p.Report.Prefill == 0 && check.requests == 1 && !check.heard && !p.Report.Alone && p.Report.Took > 0 {
		p.Report.Prefill = float64(check.prefix.tokens()) / p.Report.Took.Seconds()
		p.Prefill = p.Report.Prefill
	}
	if err := r.note(p, c); err != nil {
		return err
	}
	took := min(budget, max(p.Report.Took.Round(time.Second), time.Second))
	return r.warn("check", fmt.Sprintf("%s took longer than %s for the tool check; it goes on unproven", c.model.Name, took))
}

// note keeps what the check found.
func (r *run) note(p *Prepared, c choice) error {
	kept := keptVerdict{
		Model: c.model.Name, Provider: c.Name(), Digest: identity(c.model), Verdict: p.Report.Verdict,
		When: r.Now().UTC().Truncate(time.Second), Report: p.Report,
	}
	if err := p.ledger.keep(kept); err != nil {
		return r.warn("check", err.Error())
	}
	return nil
}

// nearest names the model to try after one that failed: an installed one that has passed before and fits, else an
// installed one that declares tools and fits, else one of the catalogue.
func (r *run) nearest(ctx context.Context, failed choice) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	found, _ := candidates(ctx, r.installed(ctx), r.leastTrained())
	kept := readVerdicts(r.Verdicts)
	best, rank := "", 4
	for _, other := range found {
		if SameModel(other.model.Name, failed.model.Name) || !r.fits(ctx, &other) {
			continue
		}
		this, text := 2, "-m "+other.model.Name+", which is installed and says that it can call tools"
		if proof, ok := kept.proofOf(other.Name(), other.model, r.Now()); ok {
			this, text = 0, fmt.Sprintf("-m %s, which called tools on %s", other.model.Name, proof.When.Format(time.DateOnly))
		}
		if r.here(other.Address()) && !judge(other.model, r.measured(ctx), held(other.residents), r.corrected(other)).Passes() {
			this++ // it fits, and is slow
		}
		if this < rank {
			best, rank = text, this
		}
	}
	if best != "" {
		return best
	}
	name := suggestion(r.measured(ctx))
	for _, other := range Recommend(r.measured(ctx), Held{}, Want{}, 3) {
		if SameModel(name, failed.model.Name) {
			name = other.Model.Name
		}
	}
	return pullCommand(failed.Provider, name) + ", since no other installed model can do the work"
}

// fits reports whether a model could be loaded with enough of a window.
func (r *run) fits(ctx context.Context, c *choice) bool {
	residents, err := c.Loaded(ctx)
	if err != nil {
		return false
	}
	c.residents = residents
	if _, _, ok := r.adopt(*c); ok || !r.here(c.Address()) {
		return true
	}
	_, err = r.fit(ctx, c)
	return err == nil
}
