package harness

import (
	"context"

	"interpreter/sandbox/action"
)

// Otherwise returns the step as one that does another thing when it fails in a way that when knows: a tool that reads a
// file and lists a folder of the same name. Both must need the same of the sandbox: approval sees the first alone.
func (s Step) Otherwise(when func(error) bool, other Step) Step {
	run, say := s.Run, s.Say
	s.Run = func(ctx context.Context, w *action.Workspace) (action.Outcome, string, error) {
		facts, words, err := run(ctx, w)
		if err != nil && when(err) {
			return other.Run(ctx, w)
		}
		return facts, words, err
	}
	s.Say = func(o action.Outcome) (string, bool) {
		if words, ok := say(o); ok {
			return words, true
		}
		return other.Say(o)
	}
	return s
}
