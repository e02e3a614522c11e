package sandbox

import (
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// A process that nobody may look into starts commands all the same, several at once, and stays one. This shows most
// where an ordinary person runs the test.
func TestStartsUnseen(t *testing.T) {
	for _, mode := range []Mode{ReadOnly, WorkspaceWrite, FullAccess} {
		b := newScene(t).open(t, mode)
		was, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
			t.Skipf("this system keeps every process in sight: %v", err)
		}
		again := newScene(t).open(t, mode) // the trial of the set-up works too
		var group sync.WaitGroup
		for range 4 {
			for _, b := range []Box{b, again} {
				group.Go(func() {
					if r := run(t, b, Command{}, "echo it runs; cat /proc/self/status | grep -c Uid"); r.Code != 0 || !strings.HasPrefix(r.out, "it runs\n1") {
						t.Errorf("%s: %+v", mode, r)
					}
				})
			}
		}
		group.Wait()
		if now, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || now != 0 {
			t.Errorf("%s: afterwards it can be looked into: %d, %v", mode, now, err)
		}
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, uintptr(min(was, 1)), 0, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
}
