//go:build unix

package ollama

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// apart puts a server into a process group of its own, so that a key pressed at our terminal is not for it and its
// children can be ended with it. A detached one gets a session of its own, too.
func apart(cmd *exec.Cmd, detach bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: detach, Setpgid: !detach}
}

func ask(process *os.Process) error { return process.Signal(syscall.SIGTERM) }

// kill ends the group, which has the process id of the server that it was made for.
func kill(process *os.Process) {
	if process.Pid > 1 {
		_ = syscall.Kill(-process.Pid, syscall.SIGKILL)
	}
}

func alive(process *os.Process) bool {
	if process.Signal(syscall.Signal(0)) != nil {
		return false
	}
	// One that has ended is a process until its parent has taken note, which some never do. Only Linux tells here.
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process.Pid))
	return err != nil || !bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z"))
}
