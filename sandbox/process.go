package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Times of the end of a process.
const (
	grace = 50 * time.Millisecond // between the polite and the final signal of an interrupt
	drain = 2 * time.Second       // for output that is still on its way when everything has ended
)

// running is a started process as the system's part of this package sees it.
type running interface {
	wait() ending // until the command and all it started have ended; called once
	signal(syscall.Signal)
	kill()
}

// ending is how the command ended: a code, or 128+n and the name of signal n.
type ending struct {
	code   int
	signal string
}

// process is a Process of any back end.
type process struct {
	run  running
	tape tape
	in   io.WriteCloser
	// terminal is our side of the command's, nil when it has none.
	terminal *os.File
	done     chan struct{}
	exit     Exit
	began    time.Time
	after    func(*Exit) // looks at what was left, and undoes it, once everything has ended; may be nil

	mu     sync.Mutex
	closed bool
}

// begin gives a command its files, starts it and looks after it. What after returns was undone.
func begin(ctx context.Context, c Command, start func(files []*os.File) (running, error), after func() []string) (Process, error) {
	if after == nil {
		return beginWith(ctx, c, start, nil)
	}
	return beginWith(ctx, c, start, func(e *Exit) { e.Refused = after() })
}

// beginWith is begin for a back end that has more to tell of the end.
func beginWith(ctx context.Context, c Command, start func(files []*os.File) (running, error), after func(*Exit)) (Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := openStreams(c)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	p := &process{in: s.in, done: make(chan struct{}), began: time.Now(), after: after}
	if c.TTY && c.Stdio == nil {
		p.terminal, _ = s.in.(*os.File)
	}
	p.run, err = start(s.child)
	s.closeChild()
	if err != nil {
		s.closeOurs()
		return nil, err
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		if s.out != nil {
			p.copy(s.out, c.Watch)
		}
	}()
	go p.live(ctx, c.Timeout, s, read)
	return p, nil
}

func (p *process) copy(out io.Reader, watch func([]byte)) {
	buf := make([]byte, 8<<10)
	for {
		n, err := out.Read(buf)
		if n > 0 {
			_, _ = p.tape.Write(buf[:n])
			if watch != nil {
				watch(append([]byte(nil), buf[:n]...))
			}
		}
		if err != nil {
			return
		}
	}
}

// live is the life of the process after its start: it ends on its own, by the clock, or by ctx.
func (p *process) live(ctx context.Context, timeout time.Duration, s *streams, read <-chan struct{}) {
	ended := make(chan ending, 1)
	go func() { ended <- p.run.wait() }()
	var clock, final <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		clock = timer.C
	}
	cancelled, timedOut := ctx.Done(), false
	var end ending
	for alive := true; alive; {
		select {
		case end = <-ended:
			alive = false
		case <-clock:
			clock, timedOut = nil, true
			p.run.kill()
		case <-cancelled:
			cancelled, final = nil, time.After(grace)
			p.run.signal(syscall.SIGTERM)
		case <-final:
			p.run.kill()
		}
	}
	took := time.Since(p.began)
	wait := time.NewTimer(drain)
	defer wait.Stop()
	select {
	case <-read:
	case <-wait.C:
	}
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	s.closeOurs()
	<-read
	p.exit = Exit{Code: end.code, Signal: end.signal, TimedOut: timedOut, Took: took}
	if timedOut {
		p.exit.Code = 124
	}
	if p.after != nil {
		p.after(&p.exit)
	}
	close(p.done)
}

func (p *process) Done() <-chan struct{} { return p.done }
func (p *process) Output() Output        { return p.tape.output() }

// Terminate asks the whole group to end, with SIGTERM.
func (p *process) Terminate() { p.run.signal(syscall.SIGTERM) }

func (p *process) Interrupt() { p.run.signal(syscall.SIGINT) }
func (p *process) Kill()      { p.run.kill() }

func (p *process) Exit() Exit {
	<-p.done
	return p.exit
}

func (p *process) Write(b []byte) error {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return errors.New("write to the process: it has ended")
	}
	if p.in == nil {
		return errors.New("write to the process: it was started without standard input")
	}
	if _, err := p.in.Write(b); err != nil {
		return fmt.Errorf("write to the process: %w", plain(err))
	}
	return nil
}

// CloseInput tells the process that nothing more is coming. On a terminal, write the byte 4 instead.
func (p *process) CloseInput() error {
	if p.in == nil {
		return nil
	}
	return p.in.Close()
}

// Resize tells the programs on a terminal its new size. Without a terminal it is an error.
func (p *process) Resize(columns, rows int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errors.New("resize the terminal: the process has ended")
	}
	if p.terminal == nil {
		return errors.New("resize the terminal: the process was started without one")
	}
	if columns <= 0 || rows <= 0 || columns > math.MaxUint16 || rows > math.MaxUint16 {
		return fmt.Errorf("resize the terminal to %d columns and %d rows: no such size", columns, rows)
	}
	if err := resize(p.terminal, columns, rows); err != nil {
		return fmt.Errorf("resize the terminal: %w", err)
	}
	return nil
}

// streams are both sides of a command's files.
type streams struct {
	child []*os.File    // standard input, output and error of the child
	own   []*os.File    // those of child that are ours to close after the start
	out   io.ReadCloser // what the command prints; nil when it prints to somebody else's files
	in    io.WriteCloser
}

func openStreams(c Command) (*streams, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("no command given")
	}
	if c.Stdio != nil {
		if len(c.Stdio) != 3 {
			return nil, fmt.Errorf("%d standard files given, not 3", len(c.Stdio))
		}
		return &streams{child: c.Stdio}, nil
	}
	if c.TTY {
		return openTerminal(c)
	}
	s := &streams{}
	out, outChild, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.out, s.own = out, []*os.File{outChild}
	var inChild *os.File
	if c.Stdin {
		in, ours, e := os.Pipe()
		inChild, s.in, err = in, ours, e
	} else {
		inChild, err = os.Open(os.DevNull)
	}
	if err != nil {
		s.closeChild()
		out.Close()
		return nil, err
	}
	s.own = append(s.own, inChild)
	s.child = []*os.File{inChild, outChild, outChild}
	return s, nil
}

func (s *streams) closeChild() {
	for _, f := range s.own {
		f.Close()
	}
}

func (s *streams) closeOurs() {
	if s.out != nil {
		s.out.Close()
	}
	if s.in != nil {
		s.in.Close()
	}
}

// lookPath finds the program of a command on the PATH that the command will have. Empty and relative entries of PATH
// do not count: they would let a workspace name programs.
func lookPath(name string, env []string, dir string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	for _, entry := range filepath.SplitList(lookup(env, "PATH")) {
		if !filepath.IsAbs(entry) {
			continue
		}
		path := filepath.Join(entry, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("start %s: %w", name, ErrNoProgram)
}
