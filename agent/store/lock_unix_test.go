//go:build unix

package store

import (
	"syscall"
	"testing"

	"interpreter/agent/event"
)

// A command that is being started holds copies of all descriptors for a moment. A session that is closed then can be opened
// again all the same.
func TestClosedSessionIsFreeAtOnce(t *testing.T) {
	log, file, err := Create(t.TempDir(), event.Begun{ID: newID(t), Dir: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, log, event.TurnStarted{ID: "1"})
	held, err := syscall.Dup(int(file.out.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(held)
	if _, _, err := Open(file.Path()); err == nil {
		t.Fatal("it was opened twice")
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	_, again, err := Open(file.Path())
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
