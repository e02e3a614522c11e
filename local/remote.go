package local

import (
	"fmt"
	"strings"
)

// LooksRemote reports a name that by custom runs on the vendor's machines: the tag, or what a further colon sets behind
// it, is "cloud" or ends in "-cloud".
func LooksRemote(name string) bool {
	slash := strings.LastIndex(name, "/")
	colon := strings.LastIndex(name[slash+1:], ":")
	tag := strings.ToLower(strings.TrimSpace(name[slash+1:][colon+1:]))
	return colon >= 0 && (tag == "cloud" || strings.HasSuffix(tag, "-cloud"))
}

// stubSize is what the file of a model of any use passes by far, and the stub of a remote one never reaches.
const stubSize = 64 << 10

// remoteReason says by what a model is known to run on another machine than the server's, "" for all others.
func remoteReason(m ModelInfo) string {
	switch {
	case m.RemoteHost != "":
		return "it runs on " + m.RemoteHost
	case LooksRemote(m.Name):
		return "its name says that it runs on the vendor's machines"
	case m.Size > 0 && m.Size < stubSize:
		return fmt.Sprintf("its file of %d bytes is only a pointer to a model on another machine", m.Size)
	}
	return ""
}

// mayLeave reports the one model that may run elsewhere: the one that a person named for this run, knowing that.
func (r *run) mayLeave(name string) bool {
	return r.Remote && r.Model != "" && SameModel(name, r.Model)
}

// refuseRemote refuses a model that would run on another machine than the server's, unless it was asked for.
func (r *run) refuseRemote(m ModelInfo, p Provider) error {
	if reason := remoteReason(m); reason != "" && !r.mayLeave(m.Name) {
		return elsewhere(m, p, reason)
	}
	return nil
}

func elsewhere(m ModelInfo, p Provider, why string) error {
	base, _, _ := strings.Cut(m.Name, ":")
	return &Refusal{
		Code: Elsewhere, Model: m.Name, Text: fmt.Sprintf("choose %s: %s, and only local models are used", m.Name, why),
		Try: "use a local tag of the same family, for example: " + pullCommand(p, base),
	}
}

// why says the choice of a window in one line.
func (l Loading) why(fit Fit) string {
	if l.Remote {
		return fmt.Sprintf("a window of %d tokens on another machine", l.Window)
	}
	if fit.Loaded && fit.Window < l.Window {
		return fmt.Sprintf("loaded already with a window of %d tokens, %d of them used", l.Window, fit.Window)
	}
	return fit.Why()
}

// remoteWindow is the window of a model that runs elsewhere: what it was trained for, or what a person says. Nothing
// is fitted to a machine.
func (r *run) remoteWindow(c choice) (Fit, Loading, error) {
	where := c.model.RemoteHost
	if where == "" {
		where = "its vendor's machines"
	}
	window := r.Window
	if window == 0 {
		if window = c.model.Trained; window == 0 {
			window = Floor
		}
		if r.MaxWindow > 0 {
			window = min(window, r.MaxWindow)
		}
	}
	warning := fmt.Sprintf("%s leaves this machine: it runs on %s, and all that is said goes there, files that it reads included", c.model.Name, where)
	if err := r.warn("window", warning); err != nil {
		return Fit{}, Loading{}, err
	}
	l := Loading{Window: window, Remote: true}
	return Fit{Window: window}, l, r.tell("window", "%s", l.why(Fit{Window: window}))
}
