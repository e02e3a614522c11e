package ollama

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"interpreter/local"
)

// The patience with a server that begins and one that ends.
const (
	startFor = 30 * time.Second
	knock    = 100 * time.Millisecond
	leaveFor = 10 * time.Second // until a server that was asked to end is made to
	killFor  = 2 * time.Second
)

// lastWords bounds what is kept of what a server prints, to say why it ended.
const lastWords = 4 << 10

// Install is the command that installs the server, "" where none is known.
func (p *Provider) Install(system string) string {
	switch system {
	case "linux":
		return "curl -fsSL https://ollama.com/install.sh | sh"
	case "darwin":
		return "brew install ollama"
	case "windows":
		return "winget install Ollama.Ollama"
	}
	return ""
}

// Start starts a server with settings and returns once it answers. Everything is said in its environment: one model,
// one slot, nothing in a cloud, keys and values as asked for. It ends with ctx or by Stop, unless it was detached. Of an
// address with port 0, a port is chosen, and another one when somebody is there first.
func (p *Provider) Start(ctx context.Context, s local.Serving) (local.Started, error) {
	for again := strings.HasSuffix(s.Address, ":0"); ; again = false {
		started, err := p.start(ctx, s)
		if !again || err == nil || !taken(err) {
			return started, err
		}
	}
}

// taken reports a server that ended because another one listens at its port, in the words of Unix and of Windows.
func taken(err error) bool {
	return strings.Contains(err.Error(), "address already in use") || strings.Contains(err.Error(), "Only one usage of each socket address")
}

func (p *Provider) start(ctx context.Context, s local.Serving) (local.Started, error) {
	address, err := p.listenAt(s.Address)
	if err != nil {
		return local.Started{}, err
	}
	program, err := exec.LookPath(cmp.Or(s.Program, "ollama"))
	if err != nil {
		return local.Started{}, &local.Refusal{
			Code: local.NoServer, Text: "start a server: ollama is not installed, or its program is not in PATH",
			Try: cmp.Or(p.Install(runtime.GOOS), "install ollama"),
		}
	}
	cmd := exec.Command(program, "serve")
	settings := environ(address, s)
	given := s.Environ
	if given == nil {
		given = cmd.Environ()
	}
	cmd.Env = overlay(given, settings)
	apart(cmd, s.Detach)
	words := &tail{}
	switch {
	case s.Log != "":
		file, err := os.OpenFile(s.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return local.Started{}, fmt.Errorf("start ollama: open its log: %w", err)
		}
		defer file.Close()
		if at, err := file.Seek(0, io.SeekEnd); err == nil {
			words.file, words.from = s.Log, at
		}
		cmd.Stdout, cmd.Stderr = file, file
	case !s.Detach:
		cmd.Stdout, cmd.Stderr = words, words
	}
	// A model's process may outlive the server by a moment and hold what it writes to.
	cmd.WaitDelay = killFor
	if err := cmd.Start(); err != nil {
		return local.Started{}, fmt.Errorf("start %s serve: %w", program, err)
	}
	run := &running{cmd: cmd, done: make(chan struct{}), leave: p.leave}
	go func() {
		run.err = cmd.Wait()
		close(run.done)
	}()
	base := "http://" + connectable(address)
	if err := p.answers(ctx, base, run); err != nil {
		_ = run.stop()
		return local.Started{}, fmt.Errorf("start ollama at %s: %w%s", address, err, words.said())
	}
	if !s.Detach {
		context.AfterFunc(ctx, func() { _ = run.stop() })
	}
	return local.Started{Address: base, PID: cmd.Process.Pid, Stop: run.stop, Wait: run.wait, Environ: settings}, nil
}

// listenAt is where a server is to listen: the address asked for, else the provider's own, with a port that is free.
func (p *Provider) listenAt(asked string) (string, error) {
	address := asked
	if address == "" {
		u, err := url.Parse(p.base)
		if err != nil {
			return "", fmt.Errorf("start ollama: %w", err)
		}
		address = u.Host
		if u.Port() == "" {
			address = net.JoinHostPort(u.Hostname(), "11434")
		}
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("start ollama at %q: it is no host:port: %w", address, err)
	}
	host = cmp.Or(host, "127.0.0.1")
	if port == "0" {
		if port, err = local.FreePort(host); err != nil {
			return "", fmt.Errorf("start ollama: %w", err)
		}
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return "", &local.Refusal{
			Code: local.NoServer, Text: "start ollama at " + address, Err: err,
			Try: "use the server that runs there, or another port",
		}
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// connectable is an address to dial for one to listen at.
func connectable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.To4() == nil {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port)
}

// environ is what a server of ours is told.
func environ(address string, s local.Serving) map[string]string {
	settings := map[string]string{
		"OLLAMA_HOST":              address,
		"OLLAMA_FLASH_ATTENTION":   "1",
		"OLLAMA_KV_CACHE_TYPE":     string(cmp.Or(s.CacheType, "f16")),
		"OLLAMA_NUM_PARALLEL":      "1",
		"OLLAMA_MAX_LOADED_MODELS": "1",
		"OLLAMA_NO_CLOUD":          "1",
	}
	if s.Window > 0 {
		settings["OLLAMA_CONTEXT_LENGTH"] = strconv.Itoa(s.Window)
	}
	if s.HostCache > 0 {
		settings["LLAMA_ARG_CACHE_RAM"] = strconv.FormatInt(max(s.HostCache>>20, 1), 10) // in MiB
	}
	return settings
}

// overlay puts settings in the place of variables of the same name, and after the others.
func overlay(given []string, settings map[string]string) []string {
	var out []string
	for _, variable := range given {
		name, _, _ := strings.Cut(variable, "=")
		if _, ours := settings[name]; !ours {
			out = append(out, variable)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		out = append(out, name+"="+settings[name])
	}
	return out
}

// answers waits until the server says its version, has ended, or has had its time.
func (p *Provider) answers(ctx context.Context, base string, run *running) error {
	started, err := New(base, p.options)
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, startFor)
	defer cancel()
	ticker := time.NewTicker(knock)
	defer ticker.Stop()
	for {
		if _, err := started.Version(waiting); err == nil {
			return nil
		}
		select {
		case <-run.done:
			return run.ended()
		case <-waiting.Done():
			if err := context.Cause(ctx); err != nil {
				return err
			}
			return fmt.Errorf("no answer within %s", startFor)
		case <-ticker.C:
		}
	}
}

// running is a server that we started.
type running struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // of Wait, once done is closed
	once sync.Once

	leave time.Duration // until it is made to end
}

func (r *running) ended() error {
	if r.err == nil {
		return errors.New("it ended at once")
	}
	return fmt.Errorf("it ended: %w", r.err)
}

// wait returns when the server has ended; an end that was asked for is no error.
func (r *running) wait() error {
	<-r.done
	var status *exec.ExitError
	if errors.Is(r.err, exec.ErrWaitDelay) || errors.As(r.err, &status) && !status.Exited() {
		return nil // by a signal, or with a child that still held its output
	}
	return r.err
}

// stop asks the server to end, makes it after a while, and waits.
func (r *running) stop() error {
	r.once.Do(func() { end(r.cmd.Process, r.done, r.leave) })
	<-r.done
	return nil
}

// end ends a process and those it started: with a word first, by force when that is not heard.
func end(process *os.Process, done <-chan struct{}, leave time.Duration) {
	if ask(process) == nil {
		select {
		case <-done:
		case <-time.After(leave):
		}
	}
	kill(process) // whatever it left behind
}

// Stop ends a server that an earlier run of this program started and detached. It returns when the process is gone.
func Stop(pid int) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return fmt.Errorf("stop the server with process id %d: %w", pid, err)
	}
	if err := ask(process); err != nil {
		if errors.Is(err, os.ErrProcessDone) {
			return nil
		}
		return fmt.Errorf("stop the server with process id %d: %w", pid, err)
	}
	for until := time.Now().Add(leaveFor); time.Now().Before(until); time.Sleep(knock) {
		if !alive(process) {
			return nil
		}
	}
	kill(process)
	return nil
}

// tail keeps the last of what a server prints, or knows the file that has it.
type tail struct {
	lock sync.Mutex
	kept []byte
	file string
	from int64
}

func (t *tail) Write(b []byte) (int, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.kept = append(t.kept, b...)
	if extra := len(t.kept) - lastWords; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	return len(b), nil
}

// said is the last lines that a server printed, as the end of a sentence.
func (t *tail) said() string {
	t.lock.Lock()
	defer t.lock.Unlock()
	text := t.kept
	if t.file != "" {
		file, err := os.Open(t.file)
		if err != nil {
			return ""
		}
		defer file.Close()
		size, err := file.Seek(0, io.SeekEnd)
		if err != nil {
			return ""
		}
		text = make([]byte, max(min(size-t.from, lastWords), 0)) // somebody may have emptied it
		n, _ := file.ReadAt(text, size-int64(len(text)))
		text = text[:n]
	}
	lines := strings.Split(string(bytes.TrimSpace(text)), "\n")
	lines = lines[max(len(lines)-5, 0):]
	if last := strings.TrimSpace(strings.Join(lines, "\n")); last != "" {
		return "; its last words:\n" + last
	}
	return ""
}
