package action

import "context"

// Fresh lets the next command that keeps something begin anew: in the workspace's folder, with nothing that an earlier
// one left. It starts and ends nothing.
type Fresh struct{}

// Title is the action in a line.
func (Fresh) Title() string { return "start a new shell" }

// Need asks for nothing.
func (Fresh) Need() Need { return Need{Effect: Thinks} }

// Do forgets. Dir of the facts is the folder the next command starts in.
func (Fresh) Do(_ context.Context, w *Workspace) (Ran, error) {
	w.mu.Lock()
	w.kept = kept{}
	w.mu.Unlock()
	return Ran{Dir: w.Dir}, nil
}
