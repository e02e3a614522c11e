package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"interpreter/cmd/quiet"
	"interpreter/local/practice"
	"interpreter/probes"
	"interpreter/sandbox"
)

// The test binary is the program when it is called interpreter or i, and the one that confines a command when the
// sandbox starts it for that.
func TestMain(m *testing.M) {
	quiet.Restore()
	sandbox.AsHelper()
	program := func() {
		harden()
		ctx, stop := interruptible()
		code := run(ctx, practiceWorld(), os.Args[1:])
		stop()
		os.Exit(code)
	}
	patch := func() { os.Exit(runPatch(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
	testscript.Main(m, map[string]func(){"interpreter": program, "i": program, patchProgram: patch})
}

// practiceWorld is this world without the machine's own settings and with a clock that need not be waited for:
// everything is asked again at once, and told with the wait that a person would see.
func practiceWorld() world {
	w := thisWorld()
	w.systemConfig = ""
	if w.lmstudio = w.env("LMSTUDIO"); w.lmstudio == "" {
		w.lmstudio = nobody
	}
	if file := w.env("MACHINE"); file != "" { // as if the program ran on a machine that was recorded
		w.probe = func(context.Context, probes.Ask) (m probes.Machine) {
			text, err := os.ReadFile(file)
			if err = errors.Join(err, json.Unmarshal(text, &m)); err != nil {
				panic(err)
			}
			return m
		}
	}
	w.patience.Sleep = func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }
	w.patience.Jitter = func() float64 { return 0.5 }
	return w
}

// Each script is a terminal session in a fresh git repository, with a home of its own and with the models of its
// sections `-- model --` (Ollama), `-- lmstudio --`, and `-- chat --`, `-- messages --` and `-- responses --` (servers that speak that
// wire alone, at $CHAT, $MESSAGES and $RESPONSES), as far as it has them. A demand of a model that was not met fails the script.
func TestScripts(t *testing.T) {
	root, err := os.MkdirTemp("/var/tmp", "interpreter-scripts-") // /tmp is one place that commands may write to
	if err != nil {
		root = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		WorkdirRoot:         root,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     cmdExits,
			"exited":    cmdExited,
			"json":      cmdJSON,
			"session":   cmdSession,
			"asked":     cmdAsked,
			"sent":      cmdSent,
			"prefix":    cmdPrefix,
			"await":     cmdAwait,
			"within":    cmdWithin,
			"alive":     cmdAlive,
			"elsewhere": cmdElsewhere,
		},
	})
}

// stage is what the commands of one script share.
type stage struct {
	servers []*practice.Server
	home    string
	mark    time.Time   // of the latest await
	started []*exec.Cmd // in the background then
}

// on is the stage of a running script.
func on(ts *testscript.TestScript) *stage { return ts.Value(stageKey{}).(*stage) }

type stageKey struct{}

// nobody is an address where no server is and none will be: the port is reserved and privileged.
const nobody = "http://127.0.0.1:1"

func setUp(env *testscript.Env) error {
	outside := env.WorkDir + "-outside" // of the repository
	s := &stage{home: filepath.Join(outside, "home")}
	env.Values[stageKey{}] = s
	if err := os.MkdirAll(s.home, 0o700); err != nil {
		return err
	}
	env.Defer(func() { os.RemoveAll(outside) })
	program, err := exec.LookPath("interpreter")
	if err != nil {
		return err
	}
	env.Setenv("INTERPRETER_HOME", s.home)
	env.Setenv("BIN", filepath.Dir(program))
	env.Setenv("OUTSIDE", outside)
	env.Setenv("OLLAMA_HOST", nobody)
	env.Setenv("LMSTUDIO", nobody)
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	if env.Getenv("GORACE") == "" {
		env.Setenv("GORACE", "atexit_sleep_ms=10") // a second at the end of each program otherwise, under -race
	}
	for _, part := range [...]struct{ file, wire, variable string }{
		{"model", "all", "OLLAMA_HOST"}, {"lmstudio", "lmstudio", "LMSTUDIO"}, {"chat", "chat", "CHAT"},
		{"messages", "messages", "MESSAGES"}, {"responses", "responses", "RESPONSES"},
	} {
		if err := s.rehearse(env, part.file, part.wire, part.variable); err != nil {
			return err
		}
	}
	git := exec.Command("git", "-c", "init.defaultBranch=main", "init", "-q", "--template=")
	git.Dir, git.Env = env.WorkDir, env.Vars
	if out, err := git.CombinedOutput(); err != nil {
		return fmt.Errorf("git init: %w: %s", err, out)
	}
	return nil
}

// rehearse serves the model of a script on a wire and tells where in a variable.
func (s *stage) rehearse(env *testscript.Env, file, wire, variable string) error {
	path := filepath.Join(env.WorkDir, file)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	script, err := practice.Parse(string(text))
	if err != nil {
		return err
	}
	server, err := practice.NewWire(script, wire)
	if err != nil {
		return err
	}
	server.Sleep = forgo
	s.servers = append(s.servers, server)
	listening := httptest.NewServer(server)
	env.Setenv(variable, listening.URL)
	env.Defer(func() {
		listening.CloseClientConnections()
		listening.Close()
		if failures := server.Failures(); len(failures) > 0 {
			for _, f := range failures {
				env.T().Log(f)
			}
			env.T().FailNow()
		}
	})
	return os.Remove(path)
}

// forgo passes over the waits of a script, but for one of an hour or more: it lasts until the client has gone.
func forgo(ctx context.Context, d time.Duration) error {
	if d < time.Hour {
		return ctx.Err()
	}
	<-ctx.Done()
	return ctx.Err()
}
