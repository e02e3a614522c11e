package agent

import (
	"os"
	"path/filepath"
	"testing"

	"interpreter/agent/approve"
	"interpreter/agent/event"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// The test binary plays the confining program where that is not built in.
func TestMain(m *testing.M) {
	sandbox.AsHelper()
	os.Exit(m.Run())
}

// A real sandbox refuses a file outside; a yes opens that file for that command, and nothing beside it.
func TestRefusedAndRunAgainForReal(t *testing.T) {
	// The temporary folder is writable in this mode, so what is outside must be elsewhere.
	outside, err := os.MkdirTemp("/var/tmp", "interpreter-outside-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(outside) })
	write := func(name string) string { return "echo hi > " + filepath.Join(outside, name) }
	w := start(t, script(run(write("a")), run(write("b")), run("cp /dev/null "+outside+"/c; "+write("a")), "say ok"), interactive, func(c *Config) {
		policy, _, err := sandbox.Resolve(sandbox.Settings{Mode: sandbox.WorkspaceWrite, Dir: c.Workspace.Dir, Home: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		box, err := sandbox.New(policy)
		if err != nil {
			t.Skip(err)
		}
		c.Workspace.Box, c.Approval, c.Unasked = box, approve.OnRequest, []approve.Kind{}
	})
	answers := []approve.Decision{approve.Once, approve.No, approve.No}
	w.answering(answers...)
	w.prompt("go")
	for name, there := range map[string]bool{"a": true, "b": false, "c": false} {
		if _, err := os.Stat(filepath.Join(outside, name)); (err == nil) != there {
			t.Errorf("%s: %v\n%q", name, err, w.words())
		}
	}
	asked, dids := bodies[event.Asked](w.log), bodies[event.Did](w.log)
	if len(asked) != 3 || len(asked[0].Need.Opens.Paths) != 1 || asked[0].Need.Opens.Paths[0] != filepath.Join(outside, "a") || len(asked[2].Need.Opens.Paths) != 2 {
		t.Errorf("asked %+v", asked)
	}
	if ran, ok := dids[0].Outcome.(action.Ran); !ok || ran.Exit.Code != 0 || ran.Outside || len(ran.Opened.Paths) != 1 {
		t.Errorf("the first came to %+v", dids[0])
	}
}
