package action

import "context"

// Stop ends a command that outlived the action that started it, or the terminal of Keys, with all it started.
type Stop struct{ Session int }

// Title is the action in a line.
func (a Stop) Title() string { return one("stop command %d", a.Session) }

// Need asks for nothing: the command was allowed to run.
func (a Stop) Need() Need { return Need{Effect: Thinks} }

// Do ends it, and gives what was printed since the last look. The error wraps ErrNoSession when there is no such
// command.
func (a Stop) Do(_ context.Context, w *Workspace) (Ran, error) {
	if w.isTerminal(a.Session) {
		if t := w.closeTerminal(); t != nil {
			out := t.report()
			out.Notes = nil
			return out, nil
		}
	}
	l, err := w.run(a.Session)
	if err != nil {
		return Ran{}, err
	}
	l.end()
	<-l.proc.Done()
	out := l.report(w, 0)
	w.dropRun(a.Session)
	return out, nil
}
