package sandbox

import (
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// terminal is our side of a pseudo terminal whose reading ends when it is closed. By itself a read of one goes on
// there for as long as anybody, a process that got away say, has the other side open.
type terminal struct {
	file *os.File
	fd   int
	stop *os.File // closed to end a read
	quit *os.File // its other end

	once    sync.Once
	reading sync.Mutex
}

func endable(file *os.File) (io.ReadWriteCloser, error) {
	fd := int(file.Fd())
	quit, stop, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if fd >= unix.FD_SETSIZE || int(quit.Fd()) >= unix.FD_SETSIZE {
		quit.Close()
		stop.Close()
		return nil, errors.New("open a terminal: too many files are open")
	}
	return &terminal{file: file, fd: fd, stop: stop, quit: quit}, nil
}

func (t *terminal) Write(p []byte) (int, error) { return t.file.Write(p) }

func (t *terminal) Read(p []byte) (int, error) {
	t.reading.Lock()
	defer t.reading.Unlock()
	quit := int(t.quit.Fd())
	for {
		if quit < 0 || t.fd < 0 {
			return 0, os.ErrClosed
		}
		var ready unix.FdSet
		ready.Set(t.fd)
		ready.Set(quit)
		_, err := unix.Select(max(t.fd, quit)+1, &ready, nil, nil, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case ready.IsSet(t.fd):
			return t.file.Read(p)
		default:
			return 0, os.ErrClosed
		}
	}
}

// Close ends a read that waits, and then closes the terminal.
func (t *terminal) Close() error {
	var err error
	t.once.Do(func() {
		t.stop.Close()
		t.reading.Lock()
		defer t.reading.Unlock()
		t.quit.Close()
		t.fd = -1
		err = t.file.Close()
	})
	return err
}
