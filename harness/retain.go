package harness

import (
	"context"

	"interpreter/sandbox/action"
)

// Retained is Retain for the families whose Read takes file_path: the file as that tool shows it, behind a line that says
// which call it was. A part of a file is no good here; its step fails.
func Retained(read func(ReadParams) (Step, error)) func(path string) (Step, error) {
	return func(path string) (Step, error) {
		step, err := read(ReadParams{Path: path})
		if err != nil {
			return step, err
		}
		step = step.Unless(func(o action.Outcome) error {
			if s, ok := o.(action.Seen); !ok || !s.Whole() {
				return &RefusedError{Words: path + " is not shown whole."}
			}
			return nil
		}, func(err error) string { return err.Error() })
		return step.within(func(words string) string {
			return Reminded("Read was called with " + Compact(struct {
				Path string `json:"file_path"`
			}{path}) + " before the summary. It gives now:\n" + words)
		}), nil
	}
}

// within returns the step with its words inside others.
func (s Step) within(frame func(string) string) Step {
	run, say := s.Run, s.Say
	s.Run = func(ctx context.Context, w *action.Workspace) (action.Outcome, string, error) {
		facts, words, err := run(ctx, w)
		if err == nil {
			words = frame(words)
		}
		return facts, words, err
	}
	s.Say = func(o action.Outcome) (string, bool) {
		words, ok := say(o)
		if ok {
			words = frame(words)
		}
		return words, ok
	}
	return s
}
