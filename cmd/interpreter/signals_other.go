//go:build !unix

package main

import (
	"os"
	"syscall"
)

// borne are signals that must not end the program: a reader that leaves is an error of the write.
var borne = []os.Signal{syscall.SIGPIPE}
