package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"interpreter/local/ollama"
)

// server is an engine that this program started, with models and settings of its own.
type server struct {
	address string
	cmd     *exec.Cmd
	log     string // path of what it prints
	*ollama.Provider
}

var listening = regexp.MustCompile(`Listening on (127\.0\.0\.1:\d+)`)

// start runs an engine on a free port with its files below dir; settings are further variables of its environment.
func start(engine, dir, name string, settings ...string) (*server, error) {
	s := &server{log: filepath.Join(dir, name+".log")}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.cmd = exec.Command(engine, "serve")
	s.cmd.Env = append([]string{
		"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "OLLAMA_HOST=127.0.0.1:0", "OLLAMA_MODELS=" + filepath.Join(dir, "models"),
		"OLLAMA_NO_CLOUD=1", "OLLAMA_NOPRUNE=1", "OLLAMA_NUM_PARALLEL=1", "OLLAMA_MAX_LOADED_MODELS=1",
	}, settings...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", engine, err)
	}
	for range 300 {
		text, err := os.ReadFile(s.log)
		if err != nil {
			return nil, errors.Join(err, s.stop())
		}
		if found := listening.FindSubmatch(text); found != nil {
			s.address = "http://" + string(found[1])
			s.Provider, err = ollama.New(s.address, ollama.Options{})
			if err != nil {
				return nil, errors.Join(err, s.stop())
			}
			return s, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil, errors.Join(fmt.Errorf("start %s: it did not listen within 30 s; its log is %s", engine, s.log), s.stop())
}

// stop ends the engine and waits; its runners end with it.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	done := time.AfterFunc(20*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer done.Stop()
	var exit *exec.ExitError
	if err := s.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return err
	}
	return nil
}

// create registers the GGUF file that a Modelfile names, by the engine's own command.
func (s *server) create(ctx context.Context, name, modelfile string) error {
	cmd := exec.CommandContext(ctx, s.cmd.Path, "create", name, "-f", modelfile)
	cmd.Env = append(slices.Clone(s.cmd.Env), "OLLAMA_HOST="+s.address) // the last one counts
	if out, err := cmd.CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("create %s: %s", name, lines[len(lines)-1])
	}
	return nil
}

// unload gives a model's memory back, and returns when its runner is gone.
func (s *server) unload(ctx context.Context, name string) error {
	if err := s.post(ctx, "/api/generate", map[string]any{"model": name, "keep_alive": 0, "stream": false}); err != nil {
		return fmt.Errorf("unload %s: %w", name, err)
	}
	for range 300 {
		if _, err := s.runner(); errors.Is(err, errNoRunner) {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("unload %s: its runner is still there after 15 s", name)
}

func (s *server) post(ctx context.Context, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	return answered(http.DefaultClient.Do(req))
}

func answered(res *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s: %s", res.Status, bytes.TrimSpace(text))
	}
	return err
}

// runner is the process that holds the loaded model: a child of the server.
func (s *server) runner() (pid int, err error) {
	parent := strconv.Itoa(s.cmd.Process.Pid)
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("find the runner: %w", err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it has ended since
		}
		// pid (name) state parent …; a name may hold blanks and brackets
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == parent && fields[0] != "Z" {
			return pid, nil
		}
	}
	return 0, errNoRunner
}

var errNoRunner = errors.New("find the runner: the server has no child")

// ownRunner tells the engine's own runner from llama.cpp's, by how it was started.
func ownRunner(pid int) (bool, error) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return bytes.Contains(line, []byte("--ollama-engine")), err
}

// written is the bytes of memory that a process has written: its anonymous pages. What is reserved and untouched, and
// files that are mapped, do not count.
func written(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			n, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("read the memory of process %d: no RssAnon", pid)
}

// reserved is the compute buffer that the engine has logged since a position in its log, 0 when it logged none.
func (s *server) reserved(since int64) int64 {
	text, err := os.ReadFile(s.log)
	if err != nil || int64(len(text)) < since {
		return 0
	}
	var bytes float64
	for line := range strings.Lines(string(text[since:])) {
		if found := graphSize.FindStringSubmatch(line); found != nil {
			bytes, _ = strconv.ParseFloat(found[1], 64)
			bytes *= map[string]float64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[found[2]]
		}
	}
	return int64(bytes)
}

var graphSize = regexp.MustCompile(`msg="compute graph" .*size="([0-9.]+) ([KMG]?i?B)"`)
