package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"interpreter/sandbox"
	"interpreter/sandbox/sandboxtest"
)

// The test binary plays the confining program where that is not built in.
func TestMain(m *testing.M) {
	sandbox.AsHelper()
	os.Exit(m.Run())
}

func needShell(t testing.TB, name string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("nothing is kept there")
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s here", name)
	}
	return path
}

// confinedBox is a real box, or the test is skipped.
func confinedBox(t testing.TB, dir string, mode sandbox.Mode, backend string) sandbox.Box {
	t.Helper()
	policy, _, err := sandbox.Resolve(sandbox.Settings{Mode: mode, Dir: dir, Backend: backend, UserHome: t.TempDir(), Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(policy)
	var refused *sandbox.RefusedError
	if errors.As(err, &refused) {
		t.Skipf("not possible here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// do runs a script and fails the test when it cannot be started.
func do(t testing.TB, w *Workspace, run Run) Ran {
	t.Helper()
	out, err := run.Do(context.Background(), w)
	if err != nil {
		t.Fatalf("%+v: %v", run, err)
	}
	return out
}

type keepStep struct {
	script string
	want   string // output
	exit   int
}

// Each case is a row of commands in one workspace with folders sub and "with space".
var keepCases = []struct {
	name    string
	keep    Keep
	bash    bool // only bash can
	steps   []keepStep
	ends    string // folder below the workspace's that the next command starts in
	mention string // of a note of the last command
}{
	{"cd", KeepDir, false, []keepStep{{"cd sub", "", 0}, {"basename $PWD", "sub\n", 0}, {"cd ..; cd 'with space'", "", 0}, {"pwd -P | sed 's,.*/,,'", "with space\n", 0}}, "with space", ""},
	{"variables do not stay with the folder", KeepDir, false, []keepStep{{"x=1; export y=2; f() { echo f; }; cd sub", "", 0}, {"echo [$x$y]; f 2>/dev/null", "[]\n", 127}}, "sub", ""},
	{"exit", KeepDir, false, []keepStep{{"cd sub; exit 3", "", 3}, {"basename $PWD", "sub\n", 0}}, "sub", ""},
	{"errexit", KeepShell, false, []keepStep{{"set -eu; x=1; cd sub; false; echo no", "", 1}, {"echo $x; false; echo no", "1\n", 1}, {"set +e; false; echo yes", "yes\n", 0}}, "sub", ""},
	{"unset variable", KeepShell, false, []keepStep{{"set -u; cd sub; (echo $nothing) 2>/dev/null || echo bad", "bad\n", 0}, {"basename $PWD", "sub\n", 0}}, "sub", ""},
	{"variables", KeepShell, false, []keepStep{
		{"a='it'\"'\"'s $HOME `x` \\ \"q\"'; export b=two; c='one\ntwo'; d=; e='a=b'", "", 0},
		{"echo \"$a|$b|$c|$d|$e|${d-unset}\"; sh -c 'echo [$a$b]'", "it's $HOME `x` \\ \"q\"|two|one\ntwo||a=b|\n[two]\n", 0},
		{"unset b; a=now", "", 0}, {"echo [$a$b]", "[now]\n", 0}}, "", ""},
	{"variable of the environment", KeepShell, false, []keepStep{{"echo $KEPT_TEST; unset KEPT_TEST", "from outside\n", 0}, {"echo [$KEPT_TEST]", "[]\n", 0}, {"KEPT_TEST=x", "", 0}, {"echo $KEPT_TEST", "x\n", 0}}, "", ""},
	{"alias", KeepShell, false, []keepStep{{"alias hi='echo it is'", "", 0}, {"hi me", "it is me\n", 0}, {"unalias hi", "", 0}, {"hi 2>/dev/null", "", 127}}, "", ""},
	{"umask", KeepShell, false, []keepStep{{"umask 027", "", 0}, {"umask", "0027\n", 0}}, "", ""},
	{"old folder", KeepShell, false, []keepStep{{"cd sub", "", 0}, {"cd - >/dev/null; ls -d sub", "sub\n", 0}}, "", ""},
	{"functions", KeepShell, true, []keepStep{
		{"f() { echo \"f $1\"; }; g() { cat <<E\n$1 'x'\nE\n}; export -f g", "", 0}, {"f 1; g 2; bash -c 'g 3'", "f 1\n2 'x'\n3 'x'\n", 0},
		{"unset -f f", "", 0}, {"f 2>/dev/null", "", 127}}, "", ""},
	{"arrays and attributes", KeepShell, true, []keepStep{{"a=(1 '2 3'); declare -A m=([k]=v ['x y']=$'\\n'); declare -i n=5; declare -r r=1; declare -n ref=n", "", 0},
		{"n+=2; echo ${#a[@]} \"${a[1]}\" ${m[k]} ${#m[@]} $n $ref; r=2", "2 2 3 v 2 7 7\nbash: line 1: r: readonly variable\n", 1}}, "", ""},
	{"options", KeepShell, true, []keepStep{{"shopt -s extglob nullglob\nset -o pipefail; f() { case $1 in @(a|b)) echo ab;; esac; }", "", 0},
		{"f a; shopt -q nullglob && echo on; false | true; echo $?", "ab\non\n1\n", 0}, {"shopt -u nullglob", "", 0}, {"echo *.none", "*.none\n", 0}}, "", ""},
	{"tracing is not kept and does not show", KeepShell, true, []keepStep{{"set -xv; x=1", "+ x=1\n", 0}, {"echo $x", "1\n", 0}, {"set -x; exit 4", "+ exit 4\n", 4}}, "", ""},
	{"tracing with the folder", KeepDir, false, []keepStep{{"set -x; cd sub", "+ cd sub\n", 0}}, "sub", ""},
	{"comment at the end", KeepShell, false, []keepStep{{"cd sub # go there", "", 0}, {"x=1\n# done", "", 0}, {"echo $x", "1\n", 0}}, "sub", ""},
	{"here-document", KeepShell, false, []keepStep{{"cd sub; cat <<EOF\n$((1+1))\nEOF", "2\n", 0}, {"basename $PWD", "sub\n", 0}}, "sub", ""},
	{"line numbers", KeepShell, true, []keepStep{{"\necho $LINENO\nnonesuch", "2\nbash: line 3: nonesuch: command not found\n", 127}}, "", ""},
	{"arguments", KeepShell, false, []keepStep{{"echo $# [$1]; set -- a b; echo $#", "0 []\n2\n", 0}}, "", ""},
	{"brackets and jobs", KeepShell, false, []keepStep{{"(cd sub; x=1; exit 2); x=$x.; sleep 0 & wait", "", 0}, {"echo $x", ".\n", 0}}, "", ""},
	{"in a function", KeepShell, false, []keepStep{{"f() { cd sub; y=1; exit 5; }; f", "", 5}, {"echo $y", "1\n", 0}}, "sub", ""},
	{"descriptors", KeepShell, false, []keepStep{{"exec 3>&1 4>&1; echo a >&3; cd sub; exec 3>&- 4>&- 5>&-; x=1", "a\n", 0}, {"echo $x", "1\n", 0}}, "sub", ""},
	{"outside", KeepShell, false, []keepStep{{"x=1; cd /", "", 0}}, "", "was reset to"},
	{"folder that goes", KeepDir, false, []keepStep{{"mkdir -p new; cd new", "", 0}, {"rmdir ../new; echo $?", "0\n", 0}, {"ls -d sub", "sub\n", 0}}, "", "the working folder "},
	{"nothing said without need", KeepDir, false, []keepStep{{"exec echo there", "there\n", 0}}, "", "-"},
	{"trap of its own", KeepDir, false, []keepStep{{"cd sub; trap 'echo bye' EXIT", "bye\n", 0}}, "", "did not tell where"},
	{"exec", KeepShell, false, []keepStep{{"x=1", "", 0}, {"x=2; cd sub; exec echo there", "there\n", 0}, {"echo $x", "1\n", 0}}, "", ""},
	{"killed", KeepShell, false, []keepStep{{"x=1; cd sub; kill -9 $$", "", 137}}, "", "killed by SIGKILL"},
}

func keepFolders(t testing.TB) map[string]string {
	t.Helper()
	return map[string]string{"sub/file": "", "with space/file": ""}
}

func TestKeep(t *testing.T) {
	for _, shell := range []string{"bash", "dash", "sh"} {
		path := needShell(t, shell)
		for _, c := range keepCases {
			if c.bash && shell != "bash" {
				continue
			}
			t.Run(shell+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				w := workspace(t, keepFolders(t))
				w.Shell = path
				w.Env = append(w.Env, "KEPT_TEST=from outside")
				notes := strings.Join(keepRow(t, w, c.keep, c.steps), "\n")
				if c.mention == "-" && notes != "" || c.mention != "-" && !strings.Contains(notes, c.mention) {
					t.Errorf("noted %q, want %q", notes, c.mention)
				}
				last := do(t, w, Run{Script: "pwd -P", Keep: KeepDir})
				if want := filepath.Join(w.Dir, c.ends) + "\n"; last.Output != want && c.name != "folder that goes" {
					t.Errorf("the next command starts in %q, want %q", last.Output, want)
				}
			})
		}
	}
}

// keepRow runs commands one after the other and gives all notes.
func keepRow(t *testing.T, w *Workspace, keep Keep, steps []keepStep) (notes []string) {
	t.Helper()
	for _, s := range steps {
		out := do(t, w, Run{Script: s.script, Keep: keep, Timeout: 20 * time.Second})
		if said := strings.ReplaceAll(out.Output, w.Shell+": ", "bash: "); said != s.want || out.Exit.Code != s.exit {
			t.Errorf("%s: printed %.200q and ended with %d, want %.200q and %d (notes %q)", s.script, said, out.Exit.Code, s.want, s.exit, out.Notes)
		}
		if got := out.Argv; len(got) != 3 || got[2] != s.script {
			t.Errorf("the log is told of %q", got)
		}
		notes = append(notes, out.Notes...)
	}
	return notes
}

func TestKeepSaysWhereItEnded(t *testing.T) {
	w := workspace(t, keepFolders(t))
	w.Shell = needShell(t, "bash")
	out := do(t, w, Run{Script: "cd sub", Keep: KeepDir})
	if out.Left != filepath.Join(w.Dir, "sub") || len(out.Notes) != 0 || out.Dir != w.Dir {
		t.Errorf("%+v", out)
	}
	out = do(t, w, Run{Script: "true", Keep: KeepDir})
	if out.Left != "" || out.Dir != filepath.Join(w.Dir, "sub") {
		t.Errorf("%+v", out)
	}
	out = do(t, w, Run{Script: "true", Dir: "with space", Keep: KeepDir})
	if out.Left != "" || out.Dir != filepath.Join(w.Dir, "with space") {
		t.Errorf("%+v", out)
	}
	if out = do(t, w, Run{Script: "pwd -P", Keep: KeepDir}); out.Output != filepath.Join(w.Dir, "sub")+"\n" {
		t.Errorf("Dir was kept: %q", out.Output)
	}
	if need := w.NeedOf(Run{Script: "ls", Keep: KeepDir}); need.Dir != filepath.Join(w.Dir, "sub") || need.Script != "ls" || need.Kept {
		t.Errorf("%+v", need)
	}
	outside, err := filepath.EvalSymlinks("/tmp")
	if err != nil {
		t.Fatal(err)
	}
	out = do(t, w, Run{Script: "cd /tmp", Keep: KeepDir})
	if out.Left != outside || len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "reset to "+w.Dir) {
		t.Errorf("left %q, notes %q", out.Left, out.Notes)
	}
	if out = do(t, w, Run{Script: "pwd -P", Keep: KeepDir}); out.Output != w.Dir+"\n" {
		t.Errorf("then it is in %q", out.Output)
	}
	do(t, w, Run{Script: "ln -s /tmp link; cd link", Keep: KeepDir})
	if out = do(t, w, Run{Script: "pwd -P", Keep: KeepDir}); out.Output != w.Dir+"\n" {
		t.Errorf("through a link it is in %q", out.Output)
	}
	do(t, w, Run{Script: "export x=1", Keep: KeepShell})
	if need := w.NeedOf(Run{Script: "ls", Keep: KeepShell}); !need.Kept {
		t.Error("nobody is told that the shell remembers things")
	}
	if out = do(t, w, Run{Script: "echo [$x]"}); out.Output != "[]\n" {
		t.Errorf("a command that keeps nothing printed %q", out.Output)
	}
}

// What is kept works the same whatever confines commands, and leaves no trace that a command could see.
func TestKeepConfined(t *testing.T) {
	bash := needShell(t, "bash")
	for _, c := range []struct {
		mode    sandbox.Mode
		backend string
	}{
		{sandbox.ReadOnly, ""}, {sandbox.WorkspaceWrite, ""}, {sandbox.FullAccess, ""},
		{sandbox.WorkspaceWrite, "bubblewrap"}, {sandbox.ReadOnly, "landlock"},
	} {
		t.Run(string(c.mode)+c.backend, func(t *testing.T) {
			w := workspace(t, keepFolders(t))
			w.Box, w.Shell = confinedBox(t, w.Dir, c.mode, c.backend), bash
			keepRow(t, w, KeepShell, []keepStep{
				{"cd sub; export A=1; f() { echo f; }; alias l='echo l'; exit 3", "", 3},
				{"basename $PWD; echo $A; f\nl", "sub\n1\nf\nl\n", 0},
				{"ls -A . ..; env | grep -c BASH_ENV", ".:\nfile\n\n..:\nsub\nwith space\n0\n", 1},
				{"ls -l /proc/self/fd | grep -cE ' [34] -> .*memfd'", "0\n", 1},
			})
			w.Shell = needShell(t, "sh")
			keepRow(t, w, KeepShell, []keepStep{{"export A=2; B='it is'; cd ..; exit 5", "", 5}, {"echo $A$B; basename $PWD", "2it is\n" + filepath.Base(w.Dir) + "\n", 0}, {"cd sub", "", 0}})
			if w.Shell = bash; c.mode == sandbox.FullAccess {
				return
			}
			do(t, w, Run{Script: "A=1", Keep: KeepShell})
			// What a confined command defined must not run where nothing confines.
			do(t, w, Run{Script: "ls() { echo bad; }; export -f ls; export PATH=/nowhere:$PATH", Keep: KeepShell})
			out, err := Run{Script: "ls; echo $A$PATH; B=2; cd ../sub", Keep: KeepShell}.Do(WithLeave(context.Background(), Leave{Outside: true}), w)
			if err != nil || strings.Contains(out.Output, "bad") || strings.Contains(out.Output, "/nowhere") || !strings.HasPrefix(out.Output, "file\n") {
				t.Errorf("outside it printed %q, %v", out.Output, err)
			}
			if out := do(t, w, Run{Script: "ls; echo $B", Keep: KeepShell}); out.Output != "bad\n\n" {
				t.Errorf("and inside %q", out.Output)
			}
			if c.mode == sandbox.WorkspaceWrite {
				do(t, w, Run{Script: "mkdir -p /tmp/kept-$$ && cd /tmp/kept-$$ && rmdir ../kept-$$", Keep: KeepShell})
				if out := do(t, w, Run{Script: "pwd -P", Keep: KeepShell}); !strings.HasPrefix(out.Output, w.Dir) {
					t.Errorf("it stayed in %q", out.Output)
				}
			}
		})
	}
}

func TestKeepOfACommandThatIsStopped(t *testing.T) {
	w := workspace(t, keepFolders(t))
	w.Shell = needShell(t, "bash")
	do(t, w, Run{Script: "x=1; cd sub", Keep: KeepShell})
	out := do(t, w, Run{Script: "x=2; cd ..; sleep 300", Keep: KeepShell, Timeout: 100 * time.Millisecond})
	if !out.Exit.TimedOut || out.Left != "" {
		t.Errorf("%+v", out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.Printed = func(string, string) { cancel() }
	if _, err := (Run{Script: "x=3; cd ..; echo; sleep 300", Keep: KeepShell}).Do(ctx, w); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	w.Printed = nil
	// One in the background finds what was kept, and leaves nothing.
	out = do(t, w, Run{Script: "echo $x; x=4; cd ..", Keep: KeepShell, Background: true})
	if text := printed(t, w, out, "\n"); text != "1\n" {
		t.Errorf("in the background it printed %q", text)
	}
	if out := do(t, w, Run{Script: "echo $x; basename $PWD", Keep: KeepShell}); out.Output != "1\nsub\n" {
		t.Errorf("got %q", out.Output)
	}
}

func TestKeepAfterASyntaxError(t *testing.T) {
	for _, shell := range []string{"bash", "sh"} {
		w := workspace(t, keepFolders(t))
		w.Shell = needShell(t, shell)
		do(t, w, Run{Script: "x=1; cd sub", Keep: KeepShell})
		for _, bad := range []string{"if then", "echo 'open", "x=2; (", "cat <<EOF\nno end", "echo )", "done"} {
			plain, kept := do(t, w, Run{Script: bad}), do(t, w, Run{Script: bad, Keep: KeepShell})
			if plain.Exit.Code != kept.Exit.Code || (plain.Output == "") != (kept.Output == "") {
				t.Errorf("%s %q: ended with %d %q, plain with %d %q", shell, bad, kept.Exit.Code, kept.Output, plain.Exit.Code, plain.Output)
			}
			if shell == "bash" && plain.Output != kept.Output {
				t.Errorf("%q: printed %q, plain %q", bad, kept.Output, plain.Output)
			}
		}
		if out := do(t, w, Run{Script: "echo $x; basename $PWD", Keep: KeepShell}); out.Output != "1\nsub\n" {
			t.Errorf("%s: then %q", shell, out.Output)
		}
	}
}

func TestKeepAtTheSameTime(t *testing.T) {
	w := workspace(t, keepFolders(t))
	w.Shell = needShell(t, "bash")
	type result struct {
		out Ran
		err error
	}
	results := make(chan result)
	const many = 12
	for i := range many {
		go func() {
			out, err := Run{Script: fmt.Sprintf("x=%d; cd sub; echo $x", i), Dir: ".", Keep: KeepShell}.Do(context.Background(), w)
			results <- result{out, err}
		}()
	}
	for range many {
		if r := <-results; r.err != nil || r.out.Exit.Code != 0 || r.out.Left != filepath.Join(w.Dir, "sub") {
			t.Errorf("%+v", r)
		}
	}
	if out := do(t, w, Run{Script: "[ $x -lt 12 ] && basename $PWD", Keep: KeepShell}); out.Output != "sub\n" {
		t.Errorf("%q", out.Output)
	}
}

func TestKeepIsBounded(t *testing.T) {
	for _, shell := range []string{"bash", "sh"} {
		w := workspace(t, keepFolders(t))
		w.Shell = needShell(t, shell)
		for i := range 60 { // an environment of 600 KiB is no reason to fail
			w.Env = append(w.Env, fmt.Sprintf("BIG_%d=%s", i, strings.Repeat("x y'", 2500)))
		}
		keepRow(t, w, KeepShell, []keepStep{{"a=1; BIG_7=small; cd sub", "", 0}, {"echo $a $BIG_7; echo ${#BIG_8}", "1 small\n10000\n", 0}})
		out := do(t, w, Run{Script: "a=2; b=$BIG_1$BIG_2$BIG_3; c=$b$b$b$b; d=$c$c$c; cd ..", Keep: KeepShell})
		if len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "not kept") || out.Left != w.Dir || out.Exit.Code != 0 {
			t.Errorf("%s: %+v", shell, out)
		}
		keepRow(t, w, KeepShell, []keepStep{{"echo $a $BIG_7", "1 small\n", 0}})
		out = do(t, w, Run{Script: "i=0; while [ $i -lt 8 ]; do d=$d$BIG_1$BIG_2$BIG_3$BIG_4; d=$d$d; i=$((i+1)); done; cd sub", Keep: KeepShell})
		if len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "not kept") || out.Exit.Code != 0 || out.Left == "" {
			t.Errorf("%s: %+v", shell, out.Notes)
		}
	}
}

// A variable that the environment policy took away does not come back through what a shell remembers.
func TestKeepNoSecrets(t *testing.T) {
	w := workspace(t, nil)
	w.Shell = needShell(t, "bash")
	w.Env = sandbox.Environ(append(os.Environ(), "MY_API_KEY=hush"), sandbox.EnvPolicy{})
	do(t, w, Run{Script: "x=1", Keep: KeepShell})
	if out := do(t, w, Run{Script: "echo [$MY_API_KEY]", Keep: KeepShell}); out.Output != "[]\n" {
		t.Errorf("got %q", out.Output)
	}
	if strings.Contains(w.kept.text, "hush") || strings.Contains(w.kept.text, "INTERPRETER_SANDBOX") || len(w.kept.text) > 200 {
		t.Errorf("kept: %s", w.kept.text)
	}
}

func TestKeepOfOtherShells(t *testing.T) {
	w := workspace(t, nil)
	box := w.Box.(*sandboxtest.Box)
	do(t, w, Run{Script: "true", Shell: needShell(t, "sh")})
	if _, err := (Run{Script: "true", Shell: "/bin/nonesuch", Keep: KeepShell}).Do(context.Background(), w); err == nil {
		t.Error("a shell that is not there was started")
	}
	for _, c := range box.Commands() {
		if len(c.Extra) != 0 || len(c.Argv) != 3 {
			t.Errorf("asked for %+v", c)
		}
	}
}

func BenchmarkKeep(b *testing.B) {
	for _, keep := range []Keep{KeepNothing, KeepDir, KeepShell} {
		b.Run("keep="+string(keep), func(b *testing.B) {
			w := workspace(b, nil)
			w.Shell = needShell(b, "bash")
			for b.Loop() {
				do(b, w, Run{Script: "x=1", Keep: keep})
			}
		})
	}
}
