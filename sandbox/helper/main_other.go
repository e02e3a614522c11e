//go:build !linux

package helper

import (
	"fmt"
	"os"
)

// Main has nothing to confine with on this system.
func Main() int {
	fmt.Fprintln(os.Stderr, "the confining program works on Linux only")
	return 125
}
