package action

import (
	"context"
	"path/filepath"
	"slices"

	"interpreter/sandbox"
)

// Leave is what somebody who may say so lets one command do. It stands for what its action asks to have opened: paths are
// followed once, when they are judged.
type Leave struct {
	Outside bool           // nothing confines it
	Opened  sandbox.Opened // it stays confined, and may do this as well
	Dir     string         // it starts here, whatever folder was kept; "": where its action says
}

type leaveKey struct{}

// WithLeave marks a context with what its command may do. File actions take no notice of it.
func WithLeave(ctx context.Context, l Leave) context.Context {
	return context.WithValue(ctx, leaveKey{}, l)
}

// confined tells within what limits a command runs, where there are any.
func (l *liveRun) confined(w *Workspace, out *Ran) {
	if w.Box.Policy().Mode != sandbox.FullAccess {
		out.Outside, out.Opened = l.outside, l.opened
	}
}

// refused tells what the sandbox refused a command that has ended. What was opened for it cannot have been refused.
func (l *liveRun) refused(w *Workspace, out *Ran) {
	out.Notes = append(out.Notes, out.Exit.Notices...)
	if l.outside {
		return
	}
	p := w.Box.Policy()
	p.Network = p.Network || l.opened.Network
	for _, r := range sandbox.Refusals(out.Exit, l.proc.Output(), p) {
		open := func(root string) bool { return below(root, r.Path) }
		if r.Path != "" && slices.ContainsFunc(l.opened.Paths, open) {
			continue
		}
		out.Refused = append(out.Refused, r)
		out.Denied = append(out.Denied, r.Text)
	}
}

// opens makes real paths of those that an action asks to have opened: what is judged and shown is what is opened.
func (w *Workspace) opens(o sandbox.Opened) sandbox.Opened {
	if len(o.Paths) == 0 {
		return o
	}
	p := w.Box.Policy()
	real := make([]string, len(o.Paths))
	for i, path := range o.Paths {
		real[i] = filepath.Clean(w.Abs(path))
		if followed, _, err := p.Place(real[i]); err == nil {
			real[i] = followed
		}
	}
	o.Paths = real
	return o
}
