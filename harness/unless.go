package harness

import (
	"context"

	"interpreter/sandbox/action"
)

// Unless returns the step as one some of whose facts are failures for this family. refuse gives the error that stands
// for such facts, nil for all others, and say words it where facts alone are worded. The step's own words may be asked of
// such facts as well; they are dropped.
func (s Step) Unless(refuse func(action.Outcome) error, say func(error) string) Step {
	run, words := s.Run, s.Say
	s.Run = func(ctx context.Context, w *action.Workspace) (action.Outcome, string, error) {
		facts, text, err := run(ctx, w)
		if err == nil {
			if err = refuse(facts); err != nil {
				text = ""
				if seen, ok := facts.(action.Seen); ok {
					w.Forget(seen.Real) // it is not shown, so it must not count as shown
				}
			}
		}
		return facts, text, err
	}
	s.Say = func(o action.Outcome) (string, bool) {
		if err := refuse(o); err != nil {
			return say(err), true
		}
		return words(o)
	}
	return s
}
