//go:build unix

package sandbox

import (
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// terminalSize is what programs are told of a terminal that nobody looks at.
var terminalSize = pty.Winsize{Rows: 40, Cols: 120}

func openTerminal() (*streams, error) {
	ours, child, err := pty.Open()
	if err != nil {
		return nil, err
	}
	if err := pty.Setsize(ours, &terminalSize); err != nil {
		ours.Close()
		child.Close()
		return nil, err
	}
	return &streams{child: []*os.File{child, child, child}, own: []*os.File{child}, out: ours, in: ours}, nil
}

func signalName(n unix.Signal) string {
	if name := unix.SignalName(n); name != "" {
		return name
	}
	return n.String()
}
