//go:build !linux

package action

import (
	"io"
	"os"
)

// keepFiles are the file a shell begins with and the one for what it leaves. Neither has a name any more.
func keepFiles(begin []byte) (start, leave *os.File, err error) {
	if start, err = nameless(); err != nil {
		return nil, nil, err
	}
	if _, err = start.Write(begin); err == nil {
		_, err = start.Seek(0, io.SeekStart)
	}
	if err == nil {
		leave, err = nameless()
	}
	if err != nil {
		start.Close()
		return nil, nil, err
	}
	return start, leave, nil
}

func nameless() (*os.File, error) {
	f, err := os.CreateTemp("", "shell-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
