package action

import "context"

// Commands lists the commands that outlived the action that started them.
type Commands struct {
	Active bool // only those that still run
	Limit  int  // most of them, the newest; 0 is all
}

// Title is the action in a line.
func (a Commands) Title() string { return "list commands in the background" }

// Need asks for nothing: they were allowed to run.
func (a Commands) Need() Need { return Need{Effect: Thinks} }

// Do lists them in the order they were started. Of a Hit, Line is the number, Text the script, Path the folder.
func (a Commands) Do(_ context.Context, w *Workspace) (Found, error) {
	out := Found{What: "commands", Where: w.Dir}
	for _, r := range w.Running() {
		if !a.Active || !r.Ended {
			out.Hits = append(out.Hits, r.hit())
		}
	}
	if a.Limit > 0 && len(out.Hits) > a.Limit {
		out.More = len(out.Hits) - a.Limit
		out.Hits = out.Hits[out.More:]
	}
	return out, nil
}

func (r Running) hit() Hit {
	return Hit{Path: r.Dir, Line: r.ID, Text: r.Script, Ended: r.Ended}
}

// StopAll ends every command that outlived its action, with all they started, and forgets them.
type StopAll struct{}

// Title is the action in a line.
func (StopAll) Title() string { return "stop all commands in the background" }

// Need asks for nothing: they were allowed to run.
func (StopAll) Need() Need { return Need{Effect: Thinks} }

// Do ends them. The facts are those that were there, as Commands has them.
func (StopAll) Do(ctx context.Context, w *Workspace) (Found, error) {
	out, err := Commands{}.Do(ctx, w)
	if err != nil {
		return out, err
	}
	for _, h := range out.Hits {
		if err := w.Stop(h.Line); err != nil {
			return out, err
		}
	}
	return out, nil
}
