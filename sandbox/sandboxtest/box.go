// Package sandboxtest has the box that records: the fake of sandbox.Box for tests. It really runs commands, without
// confining them, and keeps what it was asked to run. It is not for anything but tests.
package sandboxtest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"interpreter/sandbox"
)

// Box is a sandbox.Box that records. Its policy still binds file actions.
type Box struct {
	policy sandbox.Policy
	inner  sandbox.Box

	mu       sync.Mutex
	commands []sandbox.Command
}

// New gives a box with a policy. Commands run unconfined whatever it says.
func New(t testing.TB, policy sandbox.Policy) *Box {
	t.Helper()
	inner, err := sandbox.New(sandbox.Policy{Mode: sandbox.FullAccess, Dir: policy.Dir})
	if err != nil {
		t.Fatal(err)
	}
	return &Box{policy: policy, inner: inner}
}

// Writable is the policy of mode workspace-write with one root, the real path of dir.
func Writable(t testing.TB, dir string) sandbox.Policy {
	t.Helper()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return sandbox.Policy{Mode: sandbox.WorkspaceWrite, Dir: real, Roots: []string{real}}
}

// Policy is the one New was given.
func (b *Box) Policy() sandbox.Policy { return b.policy }

// Backend names the runner below.
func (b *Box) Backend() string { return b.inner.Backend() }

// Start records the command and runs it.
func (b *Box) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	b.mu.Lock()
	b.commands = append(b.commands, c)
	b.mu.Unlock()
	return b.inner.Start(ctx, c)
}

// Commands are those started so far, in order.
func (b *Box) Commands() []sandbox.Command {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.commands)
}

// Environ is an environment for commands of a test.
func Environ() []string { return sandbox.Environ(os.Environ(), sandbox.EnvPolicy{}) }
