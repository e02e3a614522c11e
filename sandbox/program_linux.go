package sandbox

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"interpreter/sandbox/helper"
)

// selfWord makes the main program play the confining one.
const selfWord = "__sandbox"

// selfReady is set by AsHelper at the start of a program that can play the part.
var selfReady bool

// AsHelper must be the first call of main, and of TestMain in packages whose tests start commands. If the process was
// started to confine a command it does that and does not return. Otherwise it notes that this program can be started
// for that.
func AsHelper() {
	if len(os.Args) == 2 && os.Args[1] == selfWord {
		os.Exit(helper.Main())
	}
	selfReady = true
}

// program is the confining program: in memory, sealed, or this program itself.
type program struct {
	path string
	argv []string
	file *os.File // handed down as descriptor 5 when path refers to it
}

const (
	programFD   = 5
	programPath = "/proc/self/fd/5"
)

// sealed is the embedded program in memory, once per process and never closed.
var sealed = sync.OnceValues(func() (*os.File, error) {
	data := embedded()
	if data == nil {
		return nil, errors.New("the confining program is not built in")
	}
	fd, err := unix.MemfdCreate("interpreter-sandbox", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // kernels before 6.3 do not know MFD_EXEC and need none
		fd, err = unix.MemfdCreate("interpreter-sandbox", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), "interpreter-sandbox")
	if _, err := f.Write(data); err != nil {
		f.Close()
		return nil, err
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		f.Close()
		return nil, fmt.Errorf("seal the confining program: %w", err)
	}
	return f, nil
})

// programs are the ways to start the confining program, best first.
func programs() ([]program, error) {
	var found []program
	f, err := sealed()
	if err == nil {
		found = append(found, program{programPath, []string{"interpreter-sandbox"}, f})
	}
	if selfReady {
		self, e := os.Executable()
		if e != nil {
			return found, fmt.Errorf("find this program's own file: %w", e)
		}
		found = append(found, program{self, []string{"interpreter", selfWord}, nil})
	}
	if len(found) == 0 {
		return nil, err
	}
	return found, nil
}
