//go:build unix && !darwin

package sandbox

import (
	"io"
	"os"
)

// endable is our side of a pseudo terminal whose reading ends when it is closed, as it does by itself here.
func endable(file *os.File) (io.ReadWriteCloser, error) { return file, nil }
