package setup

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// discard drops what was typed and not read yet.
func discard(in io.Reader) {
	if file, ok := in.(*os.File); ok {
		_ = unix.IoctlSetInt(int(file.Fd()), unix.TCFLSH, unix.TCIFLUSH)
	}
}
