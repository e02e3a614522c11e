//go:build unix

package sandbox

import (
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// The size that programs are told of a terminal that nobody looks at.
const (
	terminalColumns = 120
	terminalRows    = 40
)

func openTerminal(c Command) (*streams, error) {
	size := pty.Winsize{Rows: terminalRows, Cols: terminalColumns}
	if c.Rows > 0 && c.Columns > 0 {
		size.Rows, size.Cols = uint16(c.Rows), uint16(c.Columns)
	}
	ours, child, err := pty.Open()
	if err != nil {
		return nil, err
	}
	if err := pty.Setsize(ours, &size); err != nil {
		ours.Close()
		child.Close()
		return nil, err
	}
	both, err := endable(ours)
	if err != nil {
		ours.Close()
		child.Close()
		return nil, err
	}
	return &streams{child: []*os.File{child, child, child}, own: []*os.File{child}, out: both, in: both}, nil
}

func resize(terminal *os.File, columns, rows int) error {
	return pty.Setsize(terminal, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)})
}

func signalName(n unix.Signal) string {
	if name := unix.SignalName(n); name != "" {
		return name
	}
	return n.String()
}
