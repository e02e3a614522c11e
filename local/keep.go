package local

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// lockFor bounds the wait for another run that rewrites the same file, which takes it milliseconds.
const lockFor = 5 * time.Second

// Rewriting calls f while no other run of this program is in its own Rewriting of the same file: a file that is read,
// changed and written back loses nothing then. The lock is on a file beside it and ends with the process that has it. A
// file system without locks does without.
func Rewriting(path string, f func() error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	beside := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock")
	file, err := os.OpenFile(beside, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer file.Close() // which unlocks
	for until := time.Now().Add(lockFor); ; {
		held, err := lock(file)
		if err != nil || !held {
			break
		}
		if time.Now().After(until) {
			return fmt.Errorf("change %s: another run has held it for %s", path, lockFor)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return f()
}

// ReplaceFile writes a file that is wholly the old one or wholly the new one at any time, readable by its owner alone.
func ReplaceFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // created with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if err == nil {
		err = temp.Sync()
	}
	if closing := temp.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	return err
}
