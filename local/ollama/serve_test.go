package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"interpreter/local"
)

// The test program is its own `ollama serve` when its environment says so.
func TestMain(m *testing.M) {
	switch as := os.Getenv("PRETEND_TO_SERVE"); as {
	case "":
		os.Exit(m.Run())
	case "dying":
		fmt.Fprintln(os.Stderr, "reading the store\nthe store is locked")
		os.Exit(3)
	case "mute":
		select {}
	default:
		pretend(as)
	}
}

// pretend serves until it is asked to end, or does not hear that.
func pretend(as string) {
	leave := make(chan os.Signal, 1)
	signal.Notify(leave, syscall.SIGTERM)
	http.HandleFunc("/api/version", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"version":"0.99.0"}`) })
	http.HandleFunc("/environ", func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(append(os.Environ(), os.Args[1:]...))
	})
	if once := os.Getenv("PRETEND_TAKEN"); once != "" && os.Remove(once) == nil {
		fmt.Fprintln(os.Stderr, "listen tcp: bind: address already in use")
		os.Exit(1)
	}
	listener, err := net.Listen("tcp", os.Getenv("OLLAMA_HOST"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("listening")
	go http.Serve(listener, nil)
	for range leave {
		if as != "deaf" {
			os.Exit(0)
		}
	}
}

func serving(t *testing.T, as string) local.Serving {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return local.Serving{Address: "127.0.0.1:0", Program: self, Environ: append(os.Environ(), "PRETEND_TO_SERVE="+as, "OLLAMA_NUM_PARALLEL=7", "KEPT=yes")}
}

// A server of ours is told all that matters in its environment, beside what was there; it answers when Start returns,
// and is gone when Stop does.
func TestStart(t *testing.T) {
	p := newProvider(t, "http://127.0.0.1:1", Options{})
	s := serving(t, "well")
	s.Window, s.CacheType, s.HostCache = 65536, "q8_0", 2<<30
	started, err := p.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer started.Stop()
	res, err := http.Get(started.Address + "/environ")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var list []string
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	all := "\n" + strings.Join(list, "\n") + "\n"
	want := []string{
		"OLLAMA_HOST=" + strings.TrimPrefix(started.Address, "http://"), "OLLAMA_CONTEXT_LENGTH=65536", "OLLAMA_KV_CACHE_TYPE=q8_0", "OLLAMA_FLASH_ATTENTION=1",
		"OLLAMA_NUM_PARALLEL=1", "OLLAMA_MAX_LOADED_MODELS=1", "OLLAMA_NO_CLOUD=1", "LLAMA_ARG_CACHE_RAM=2048", "KEPT=yes", "serve",
	}
	for _, one := range want {
		if strings.Count(all, "\n"+one+"\n") != 1 {
			t.Errorf("%s is not there once:\n%s", one, all)
		}
	}
	if strings.Contains(all, "OLLAMA_NUM_PARALLEL=7") || len(started.Environ) != 8 || started.PID == 0 {
		t.Errorf("%+v\n%s", started, all)
	}
	if version, err := newProvider(t, started.Address, Options{}).Version(t.Context()); err != nil || version != "0.99.0" {
		t.Errorf("%s, %v", version, err)
	}
	if err := started.Stop(); err != nil {
		t.Error(err)
	}
	if err := started.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(started.Address); err == nil {
		t.Error("it serves on")
	}
	if plain := environ("a:1", local.Serving{}); len(plain) != 6 || plain["OLLAMA_KV_CACHE_TYPE"] != "f16" {
		t.Errorf("without wishes: %v", plain)
	}
}

// The end of ctx ends a server, but not a detached one, which Stop with its process id does.
func TestStartEnds(t *testing.T) {
	p := newProvider(t, "http://127.0.0.1:1", Options{})
	ctx, cancel := context.WithCancel(t.Context())
	started, err := p.Start(ctx, serving(t, "well"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := started.Wait(); err != nil {
		t.Error(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	s := serving(t, "well")
	s.Detach, s.Log = true, filepath.Join(t.TempDir(), "log")
	if started, err = p.Start(ctx, s); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := newProvider(t, started.Address, Options{}).Version(t.Context()); err != nil {
		t.Errorf("it went with us: %v", err)
	}
	if log, err := os.ReadFile(s.Log); err != nil || !strings.Contains(string(log), "listening") {
		t.Errorf("log %q, %v", log, err)
	}
	if err := Stop(started.PID); err != nil {
		t.Error(err)
	}
	if err := started.Wait(); err != nil {
		t.Error(err)
	}
	if err := Stop(started.PID); err != nil {
		t.Errorf("once more: %v", err)
	}
}

// Whoever is first at a port that was chosen has it; another one is chosen then. A port that was named is not.
func TestStartTaken(t *testing.T) {
	p := newProvider(t, "http://127.0.0.1:1", Options{})
	once := filepath.Join(t.TempDir(), "once")
	for _, named := range []bool{false, true} {
		if err := os.WriteFile(once, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s := serving(t, "well")
		s.Environ = append(s.Environ, "PRETEND_TAKEN="+once)
		if named {
			port, err := local.FreePort("127.0.0.1")
			if err != nil {
				t.Fatal(err)
			}
			s.Address = "127.0.0.1:" + port
		}
		started, err := p.Start(t.Context(), s)
		if (err != nil) != named {
			t.Errorf("named %v: %v", named, err)
		}
		if err == nil {
			_ = started.Stop()
		}
	}
}

// One that does not hear is made to end.
func TestStopDeaf(t *testing.T) {
	p := newProvider(t, "http://127.0.0.1:1", Options{})
	p.leave = 50 * time.Millisecond
	started, err := p.Start(t.Context(), serving(t, "deaf"))
	if err != nil {
		t.Fatal(err)
	}
	if err := started.Stop(); err != nil {
		t.Error(err)
	}
	if err := started.Wait(); err != nil {
		t.Error(err)
	}
}

// A server that ends says why in its last words; one that says nothing can be left; one that is not there is installed
// first; and a port that is taken is not fought over.
func TestStartFails(t *testing.T) {
	p := newProvider(t, "http://127.0.0.1:1", Options{})
	p.leave = 50 * time.Millisecond
	for _, log := range []string{"", filepath.Join(t.TempDir(), "log")} {
		if log != "" {
			if err := os.WriteFile(log, []byte("of an earlier run\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := serving(t, "dying")
		s.Log = log
		if _, err := p.Start(t.Context(), s); err == nil || !strings.Contains(err.Error(), "the store is locked") || !strings.Contains(err.Error(), "exit status 3") || strings.Contains(err.Error(), "earlier") {
			t.Errorf("log %q: %v", log, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := p.Start(ctx, serving(t, "mute")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("mute: %v", err)
	}
	var refusal *local.Refusal
	if _, err := p.Start(t.Context(), local.Serving{Program: filepath.Join(t.TempDir(), "ollama"), Address: "127.0.0.1:0"}); !errors.As(err, &refusal) || refusal.Try != p.Install(runtime.GOOS) {
		t.Errorf("not there: %v", err)
	}
	started, err := p.Start(t.Context(), serving(t, "well"))
	if err != nil {
		t.Fatal(err)
	}
	defer started.Stop()
	s := serving(t, "well")
	s.Address = strings.TrimPrefix(started.Address, "http://")
	if _, err := p.Start(t.Context(), s); !errors.As(err, &refusal) || !strings.Contains(err.Error(), s.Address) {
		t.Errorf("a taken port: %v", err)
	}
	for _, system := range []string{"linux", "darwin", "windows"} {
		if p.Install(system) == "" {
			t.Errorf("%s: no command", system)
		}
	}
	if p.Install("plan9") != "" {
		t.Error("a command for what nobody built")
	}
}

// A log that is shorter than it was has no last words of ours.
func TestLastWordsOfAnEmptiedLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte("anew\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := (&tail{file: log, from: 4096}).said(); said != "" {
		t.Error(said)
	}
}
