//go:build unix

package main

import (
	"os"
	"syscall"
)

// borne are signals that must not end the program: a reader that leaves, or a file that may grow no further, is an
// error of the write, and there are children to stop and a session to close.
var borne = []os.Signal{syscall.SIGPIPE, syscall.SIGXFSZ}
