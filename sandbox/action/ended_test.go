package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"interpreter/sandbox"
)

func TestRunReadsStdin(t *testing.T) {
	w := workspace(t, nil)
	w.Shell = needShell(t, "sh")
	long := strings.Repeat("0123456789\n", 100_000)
	for _, c := range []struct {
		name, script, stdin, want string
		exit                      int
	}{
		{"all of it", "cat", "one\ntwo", "one\ntwo", 0},
		{"more than a pipe holds", "wc -c | tr -d ' '", long, fmt.Sprintf("%d\n", len(long)), 0},
		{"a part", "head -n 1", long, "0123456789\n", 0},
		{"nothing of it", "exit 3", long, "", 3},
		{"closed by the command", "exec <&-; echo on", long, "on\n", 0},
		{"none", "cat; echo end", "", "end\n", 0},
		{"with what is kept", "x=$(cat); echo $x", "kept", "kept\n", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := do(t, w, Run{Script: c.script, Stdin: c.stdin, Keep: KeepDir, Timeout: 20 * time.Second})
			if out.Output != c.want || out.Exit.Code != c.exit {
				t.Errorf("printed %.100q and ended with %d", out.Output, out.Exit.Code)
			}
		})
	}
	out := do(t, w, Run{Script: "cat >/dev/null; echo end", Stdin: "typed", TTY: true, Timeout: 20 * time.Second})
	if !strings.HasSuffix(out.Output, "end\n") || out.Exit.Code != 0 {
		t.Errorf("on a terminal: %+v", out)
	}
	out = do(t, w, Run{Script: "sleep 300", Stdin: long, Timeout: 50 * time.Millisecond})
	if !out.Exit.TimedOut {
		t.Errorf("one that does not read: %+v", out)
	}
}

// waitEnded waits until a command in the background has ended.
func waitEnded(t *testing.T, w *Workspace, id int) {
	t.Helper()
	l, err := w.run(id)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-l.proc.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
}

func TestEndedTellsHow(t *testing.T) {
	w := workspace(t, nil)
	w.Shell = needShell(t, "sh")
	first := do(t, w, Run{Script: "seq 2000; printf last; exit 3", Background: true})
	second := do(t, w, Run{Script: "sleep 300", Background: true})
	third := do(t, w, Run{Script: "true", Background: true})
	waitEnded(t, w, third.Session)
	waitEnded(t, w, first.Session)
	got := w.Ended()
	if len(got) != 2 || got[0].Session != first.Session || got[1].Session != third.Session {
		t.Fatalf("ended: %+v", got)
	}
	one := got[0]
	if one.Exit.Code != 3 || !strings.HasSuffix(one.Output, "2000\nlast") || len(one.Output) > endedTail || one.Full != first.Full || one.Took <= 0 || one.Script == "" {
		t.Errorf("%+v", one)
	}
	if got[1].Output != "" || got[1].Exit.Code != 0 {
		t.Errorf("%+v", got[1])
	}
	if again := w.Ended(); len(again) != 0 {
		t.Errorf("told twice: %+v", again)
	}
	out, err := Poll{Session: first.Session}.Do(context.Background(), w)
	if err != nil || out.Session != 0 || out.Exit.Code != 3 || !strings.HasPrefix(out.Output, "1\n2\n") || !strings.HasSuffix(out.Output, "2000\nlast") {
		t.Errorf("then it is polled: %v, %.60q…", err, out.Output)
	}
	if err := w.Stop(second.Session); err != nil {
		t.Error(err)
	}
	if again := w.Ended(); len(again) != 0 {
		t.Errorf("one that was stopped is told: %+v", again)
	}
}

func TestStop(t *testing.T) {
	w := workspace(t, nil)
	w.Shell = needShell(t, "sh")
	ctx := context.Background()
	idle := do(t, w, Run{Script: "echo begun; (sleep 300 & sleep 301 & wait) & wait", Background: true})
	printedText := printed(t, w, idle, "begun")
	out, err := Stop{Session: idle.Session}.Do(ctx, w)
	if err != nil || out.Session != 0 || out.Exit.Signal == "" || printedText+out.Output != "begun\n" {
		t.Errorf("idle: %+v, %v", out, err)
	}
	if _, err := os.Stat("/proc"); err == nil && processes(t, w.Dir) != 0 {
		t.Errorf("%d processes are left", processes(t, w.Dir))
	}
	over := do(t, w, Run{Script: "echo x; exit 4", Background: true})
	waitEnded(t, w, over.Session)
	out, err = Stop{Session: over.Session}.Do(ctx, w)
	if err != nil || out.Exit.Code != 4 || out.Output != "x\n" || out.Exit.Signal != "" {
		t.Errorf("ended already: %+v, %v", out, err)
	}
	stubborn := do(t, w, Run{Script: "trap '' TERM INT HUP; echo on; while :; do sleep 0.1; done", Background: true})
	printed(t, w, stubborn, "on")
	if out, err = (Stop{Session: stubborn.Session}).Do(ctx, w); err != nil || out.Exit.Signal != "SIGKILL" {
		t.Errorf("stubborn: %+v, %v", out, err)
	}
	for _, id := range []int{idle.Session, 99, 0} {
		if _, err := (Stop{Session: id}).Do(ctx, w); !errors.Is(err, ErrNoSession) {
			t.Errorf("%d: %v", id, err)
		}
	}
}

func TestSyntax(t *testing.T) {
	for script, want := range map[string]string{
		"echo hi":                              "",
		"for i in 1 2; do echo $i; done":       "",
		"cat <<'EOF'\nit's $(\nEOF\n":          "",
		"a=(1 2); [[ $x =~ ^(a|b)$ ]] && echo": "",
		"":                                     "",
		"# only words":                         "",
		"if true; then\n  echo 'open\nfi":      "line 2, column 8: ",
		"echo )":                               "line 1, column 6: ",
		"for i in; echo":                       "line 1, column 1: ",
		"echo \"a\nb":                          "line 1, column 6: ",
		"done":                                 "line 1, column 1: ",
		"x = (":                                "line 1, column 5: ",
		"echo $((1+":                           "line 1, column 10: ",
		"case x in\n a) echo":                  "line 1, column 1: ",
		"echo ok && && echo":                   "line 1, column 9: ",
		"diff <(ls a) <(ls b); echo ${x//a/b} $'": "line 1, column 38: ",
	} {
		err := Syntax(script)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", script, err, want)
		}
		var bad *SyntaxError
		if err != nil && (!errors.As(err, &bad) || bad.Line < 1 || bad.Column < 1 || bad.Text == "") {
			t.Errorf("%q: %#v", script, err)
		}
		if path := needShell(t, "bash"); err == nil != (do(t, workspaceOf(t, path), Run{Script: "bash -n", Stdin: script}).Exit.Code == 0) {
			t.Errorf("%q: bash thinks otherwise than %v", script, err)
		}
	}
}

func workspaceOf(t *testing.T, shell string) *Workspace {
	w := workspace(t, nil)
	w.Shell = shell
	return w
}

// Programs that would show pages or bars are told not to.
func TestQuietEnvironment(t *testing.T) {
	env := strings.Join(sandbox.Environ(nil, sandbox.EnvPolicy{}), "\n")
	for _, v := range []string{"PAGER=cat", "MANPAGER=cat", "GIT_PAGER=cat", "PIP_PROGRESS_BAR=off", "TQDM_DISABLE=1"} {
		if !strings.Contains("\n"+env+"\n", "\n"+v+"\n") {
			t.Errorf("%s is missing", v)
		}
	}
}
