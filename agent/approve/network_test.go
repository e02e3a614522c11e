package approve

import (
	"strings"
	"testing"

	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

func TestOpenNetworkNeedsAPerson(t *testing.T) {
	dir := t.TempDir()
	box := sandbox.Policy{Mode: sandbox.WorkspaceWrite, Dir: dir, Roots: []string{dir}, NetworkOpen: true}
	on, closed, full := box, box, box
	on.Network, closed.NetworkOpen, full.Mode = true, false, sandbox.FullAccess
	for _, c := range []struct {
		name   string
		policy Policy
		box    sandbox.Policy
		script string
		what   What
	}{
		{"a build, asked for", OnRequest, box, "make test", Ask},
		{"a build, nobody to ask", Never, box, "make test", Refuse},
		{"it only reads", OnRequest, box, "cat go.mod", Go},
		{"it only reads, nobody to ask", Never, box, "cat go.mod", Go},
		{"the network is on", OnRequest, on, "make test", Go},
		{"the network is closed", OnRequest, closed, "make test", Go},
		{"nothing is confined", OnRequest, full, "make test", Go},
	} {
		v := Judge{Policy: c.policy, Box: c.box}.Decide(action.Need{Effect: action.Runs, Script: c.script})
		if v.What != c.what {
			t.Errorf("%s: %v (%s), want %v", c.name, v.What, v.Why, c.what)
		}
		if c.what == Ask && !strings.Contains(v.Why, "network") {
			t.Errorf("%s: the reason is %q", c.name, v.Why)
		}
	}
}
