package ollama

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// apart keeps a key pressed at our console from a server. A detached one has no console.
func apart(cmd *exec.Cmd, detach bool) {
	flags := uint32(windows.CREATE_NEW_PROCESS_GROUP)
	if detach {
		flags |= windows.DETACHED_PROCESS
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: flags, HideWindow: detach}
}

// ask ends it at once: there is no word that a program without a window would hear.
func ask(process *os.Process) error { return process.Kill() }

func kill(process *os.Process) { _ = process.Kill() }

func alive(process *os.Process) bool {
	handle, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(process.Pid))
	if err != nil {
		return !errors.Is(err, windows.ERROR_INVALID_PARAMETER)
	}
	defer windows.CloseHandle(handle)
	state, err := windows.WaitForSingleObject(handle, uint32(time.Millisecond.Milliseconds()))
	return err == nil && state == uint32(windows.WAIT_TIMEOUT)
}
