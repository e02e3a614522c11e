package action

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"interpreter/sandbox"
	"interpreter/sandbox/sandboxtest"
)

// What is opened for a command reaches the box, by the real path that was judged; what somebody let it do stands for what
// the action asks for.
func TestOpenedReachesTheBox(t *testing.T) {
	policy := sandboxtest.Writable(t, t.TempDir())
	box := sandboxtest.New(t, policy)
	w := &Workspace{Dir: policy.Dir, Box: box, Env: sandboxtest.Environ(), Shell: "/bin/sh"}
	target, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(policy.Dir, "link")); err != nil {
		t.Skip(err)
	}
	run := Run{Script: "true", Opens: sandbox.Opened{Network: true, Paths: []string{"link/x"}}}
	if need := w.NeedOf(run); !slices.Equal(need.Opens.Paths, []string{target + "/x"}) || !need.Opens.Network {
		t.Errorf("it needs %+v", need.Opens)
	}
	for _, c := range []struct {
		ctx     context.Context
		want    sandbox.Opened
		outside bool
	}{
		{context.Background(), sandbox.Opened{Network: true, Paths: []string{target + "/x"}}, false},
		{WithLeave(context.Background(), Leave{}), sandbox.Opened{}, false},
		{WithLeave(context.Background(), Leave{Opened: sandbox.Opened{Paths: []string{"/y"}}}), sandbox.Opened{Paths: []string{"/y"}}, false},
		{WithLeave(context.Background(), Leave{Outside: true}), sandbox.Opened{}, true},
	} {
		before := len(box.Commands())
		out, err := run.Do(c.ctx, w)
		if err != nil {
			t.Fatal(err)
		}
		got := box.Commands()[before]
		if got.Opened.Network != c.want.Network || !slices.Equal(got.Opened.Paths, c.want.Paths) || got.Outside != c.outside {
			t.Errorf("the box got %+v, outside %t, want %+v", got.Opened, got.Outside, c.want)
		}
		if out.Outside != c.outside || out.Opened.Network != c.want.Network {
			t.Errorf("told as %+v, outside %t", out.Opened, out.Outside)
		}
	}
}

// What was opened for a command was not refused it.
func TestOpenedIsNoRefusal(t *testing.T) {
	policy := sandboxtest.Writable(t, t.TempDir())
	w := &Workspace{Dir: policy.Dir, Box: sandboxtest.New(t, policy), Env: sandboxtest.Environ(), Shell: "/bin/sh"}
	other, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run := Run{Script: "echo 'curl: (6) Could not resolve host: x'; echo \"sh: cannot create " + other + "/f: Read-only file system\"; exit 6"}
	for _, c := range []struct {
		opened sandbox.Opened
		want   int
	}{{sandbox.Opened{}, 2}, {sandbox.Opened{Network: true}, 1}, {sandbox.Opened{Network: true, Paths: []string{other}}, 0}} {
		out, err := run.Do(WithLeave(context.Background(), Leave{Opened: c.opened}), w)
		if err != nil || len(out.Refused) != c.want || len(out.Denied) != c.want {
			t.Errorf("opened %+v: %v, refused %+v", c.opened, err, out.Refused)
		}
	}
}
