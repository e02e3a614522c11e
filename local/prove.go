package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"interpreter/local/chat"
)

// proven runs the tool check, or finds the verdict of an earlier one.
func (r *run) proven(ctx context.Context, c choice, p *Prepared) (Verdict, error) {
	if r.SkipCheck {
		return Skipped, r.warn("check", "the tool check was skipped")
	}
	key := verdictKey(c, r.Rescue != nil)
	if known, ok := knownVerdict(r.Verdicts, key, r.Now()); ok {
		return known.Verdict, r.tell("check", "%s called tools on %s", c.model.Name, known.When.Format(time.DateOnly))
	}
	if err := r.begin("check", "asking %s to call a tool", c.model.Name); err != nil {
		return "", err
	}
	var stopped error
	checking, cancel := context.WithTimeout(ctx, r.CheckFor)
	defer cancel()
	check := checker{model: p.Model, info: c.model, window: p.Window, receipt: newReceipt(), rescue: r.Rescue}
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
	var wrong *CheckError
	switch {
	case errors.As(err, &wrong):
		return "", &Refusal{Code: Unproven, Model: c.model.Name, Text: wrong.Error(), Try: r.another(ctx, c.model.Name) + "; -c tool_check=false uses it all the same"}
	case err != nil && ctx.Err() == nil && checking.Err() != nil:
		return NotKnown, r.warn("check", fmt.Sprintf("%s took longer than %s for the tool check; it goes on unproven", c.model.Name, r.CheckFor))
	case err != nil:
		return "", fmt.Errorf("check that %s can call tools: %w", c.model.Name, err)
	}
	kept := keptVerdict{Model: c.model.Name, Verdict: verdict, When: r.Now().UTC().Truncate(time.Second)}
	if err := keepVerdict(r.Verdicts, key, kept); err != nil {
		if err := r.warn("check", err.Error()); err != nil {
			return "", err
		}
	}
	return verdict, r.tell("check", "%s called the tool and used its result", c.model.Name)
}
