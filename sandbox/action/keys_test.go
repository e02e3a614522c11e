package action

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"interpreter/sandbox"
)

// keyed is a workspace whose terminal is a bash.
func keyed(t testing.TB) *Workspace {
	t.Helper()
	w := workspace(t, map[string]string{"sub/file": ""})
	w.Shell = needShell(t, "bash")
	return w
}

func typeIn(t testing.TB, w *Workspace, texts ...string) Ran {
	t.Helper()
	var a Keys
	for _, text := range texts {
		a.Strokes = append(a.Strokes, Stroke{Text: text})
	}
	out, err := a.Do(context.Background(), w)
	if err != nil {
		t.Fatalf("%q: %v", texts, err)
	}
	return out
}

// shows looks at the terminal until it shows something, and gives all that was printed since out.
func shows(t testing.TB, w *Workspace, out Ran, want string) (Ran, string) {
	t.Helper()
	all := out.Output
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(out.Screen, want); {
		if time.Now().After(deadline) {
			t.Fatalf("the screen lacks %q:\n%s", want, out.Screen)
		}
		out = typeIn(t, w, "")
		all += out.Output
	}
	return out, all
}

func TestKeysRun(t *testing.T) {
	w := keyed(t)
	out := typeIn(t, w)
	if out.Session == 0 || out.Screen != w.Dir+"#" && out.Screen != w.Dir+"$" || len(out.Notes) != 0 {
		t.Fatalf("it begins with %+v", out)
	}
	session, prompt := out.Session, out.Screen
	out = typeIn(t, w, "echo hi; cd sub; x=1\n")
	out, all := shows(t, w, out, "/sub")
	want := prompt + " echo hi; cd sub; x=1\nhi\n" + strings.Replace(prompt, w.Dir, w.Dir+"/sub", 1) + "\n"
	if all != want || out.Session != session || out.Screen != strings.TrimSuffix(want, "\n") {
		t.Errorf("printed %q, shows %q, want %q", all, out.Screen, want)
	}
	if out = typeIn(t, w, ""); out.Output != "" || out.Screen == "" {
		t.Errorf("nothing new is %q", out.Output)
	}
	out, _ = shows(t, w, typeIn(t, w, "echo $x $COLUMNS $LINES $(tty >/dev/null && echo tty); echo 'grüße 日本 😀'\n"), "😀\n")
	if !strings.Contains(out.Screen, "\n1 160 40 tty\ngrüße 日本 😀\n") {
		t.Errorf("it shows %q", out.Screen)
	}
	out, _ = shows(t, w, typeIn(t, w, "C-l", "clear\n", "echo cleared\n"), "\ncleared\n")
	if strings.Contains(out.Screen, "tty") {
		t.Errorf("not cleared: %q", out.Screen)
	}
}

func TestKeysProgramThatReads(t *testing.T) {
	w := keyed(t)
	shows(t, w, typeIn(t, w, "read -p 'name? ' n; echo \"[$n]\"\n"), "\nname?")
	out, _ := shows(t, w, typeIn(t, w, "Ada"), "name? Ada")
	if strings.Contains(out.Screen, "[Ada]") {
		t.Errorf("it did not wait: %q", out.Screen)
	}
	shows(t, w, typeIn(t, w, "BSpace", "x", "Enter"), "[Adx]")
	// An earlier line again, an interrupt, the end of input.
	shows(t, w, typeIn(t, w, "echo ag''ain\n"), "again")
	// What a program drew on the other screen is gone afterwards, and the text goes on.
	drawn := typeIn(t, w, "printf '\\033[?1049h\\033[Hdra''wn'; read x; printf '\\033[?1049l'\n")
	if drawn, _ = shows(t, w, drawn, "drawn"); strings.Contains(drawn.Screen, "again") {
		t.Errorf("it shows %q", drawn.Screen)
	}
	back, all := shows(t, w, typeIn(t, w, "\n", "echo ba''ck\n"), "\nback\n")
	if !strings.Contains(all, "\nback\n") || !strings.Contains(back.Screen, "\nagain\n") {
		t.Errorf("then it printed %q", all)
	}
	typeIn(t, w, "clear\n")
	shows(t, w, typeIn(t, w, "Up", "Up", "Up", "Up", "Enter"), "\nagain\n")
	typeIn(t, w, "sleep 300\n")
	shows(t, w, typeIn(t, w, "C-c", "echo sta''tus $?\n"), "status 130")
	shows(t, w, typeIn(t, w, "echo rea''dy; cat\n"), "\nready")
	shows(t, w, typeIn(t, w, "line\n", "C-d", "echo do''ne\n"), "line\nline\n")
	shows(t, w, typeIn(t, w, ""), "done")
}

func TestKeysLongOutput(t *testing.T) {
	w := keyed(t)
	typeIn(t, w)
	out, all := shows(t, w, typeIn(t, w, "seq 30000; echo e''nd\n"), "\nend\n")
	if out.Gap == nil && len(all) < 30_000 || !strings.HasSuffix(out.Screen, "30000\nend\n"+out.Screen[strings.LastIndex(out.Screen, "\n")+1:]) {
		t.Errorf("%d bytes printed, gap %+v, the screen is %q", len(all), out.Gap, out.Screen)
	}
	if n := strings.Count(out.Screen, "\n"); n != terminalRows-1 {
		t.Errorf("%d lines are shown", n+1)
	}
	text := strings.Repeat("x", 3000)
	shows(t, w, typeIn(t, w, "t='"+text+"'; echo ${#t} ch''ars\n"), "3000 chars")
}

func TestKeysShellThatEnds(t *testing.T) {
	w := keyed(t)
	typeIn(t, w, "x=1\n")
	out, err := Keys{Strokes: []Stroke{{Text: "exit 3\n", Wait: 20 * time.Second}, {Text: "echo no\n"}}}.Do(context.Background(), w)
	if err != nil || out.Session != 0 || out.Exit.Code != 3 || len(out.Notes) != 2 || out.Took > 15*time.Second || strings.Contains(out.Screen, "echo no") {
		t.Fatalf("%+v, %v", out, err)
	}
	out = typeIn(t, w, "echo [$x]\n")
	if len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "exit code 3") {
		t.Errorf("notes %q", out.Notes)
	}
	shows(t, w, out, "\n[]\n")
	gone, err := Stop{Session: out.Session}.Do(context.Background(), w)
	if err != nil || gone.Session != 0 {
		t.Errorf("stopped: %+v, %v", gone, err)
	}
	if out = typeIn(t, w); len(out.Notes) != 0 || out.Session == 0 {
		t.Errorf("after it was stopped: %+v", out)
	}
}

func TestKeysInterrupted(t *testing.T) {
	w := keyed(t)
	typeIn(t, w)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	out, err := Keys{Strokes: []Stroke{{Text: "echo he''re\n", Wait: time.Minute}}}.Do(ctx, w)
	if err == nil || out.Took > 20*time.Second {
		t.Errorf("%+v, %v", out, err)
	}
	if out, _ := shows(t, w, typeIn(t, w, ""), "here"); out.Session == 0 {
		t.Error("the terminal ended")
	}
}

// The shell is confined like any command, approved for the outside or not.
func TestKeysConfined(t *testing.T) {
	w := keyed(t)
	w.Box = confinedBox(t, w.Dir, sandbox.WorkspaceWrite, "")
	outside := filepath.Join(t.TempDir(), "outside")
	if strings.HasPrefix(outside, "/tmp") {
		w.Box = confinedBox(t, w.Dir, sandbox.ReadOnly, "")
	}
	a := Keys{Strokes: []Stroke{{Text: "echo x >" + outside + " || echo re''fused\n"}}}
	out, err := a.Do(WithLeave(context.Background(), Leave{Outside: true}), w)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(outside, "/tmp") { // there is scratch space over it
		shows(t, w, typeIn(t, w, "echo do''ne\n"), "done")
	} else {
		shows(t, w, out, "refused")
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("it was written")
	}
}

func TestKeysNeed(t *testing.T) {
	for _, c := range []struct {
		strokes []string
		want    string
		effect  Effect
	}{
		{nil, "", Thinks},
		{[]string{"", "C-c"}, "", Thinks},
		{[]string{"ls\n"}, "ls\n", Runs},
		{[]string{"ls", " -l", "Enter"}, "ls -l\n", Runs},
		{[]string{"Enter"}, "\n", Runs},
		{[]string{"\n"}, "\n", Runs},
		{[]string{"ls\rrm x\r"}, "ls\nrm x\n", Runs},
		{[]string{"ls ", "Up", "Enter"}, "ls \nUp\n\n", Runs},
		{[]string{"ls \x10\n"}, "ls \nC-P\n\n", Runs},
		{[]string{"ls \x1b[A\n"}, "ls \nC-[\n[A\n", Runs},
		{[]string{"a", "C-c", "b\n"}, "a\nb\n", Runs},
	} {
		var a Keys
		for _, s := range c.strokes {
			a.Strokes = append(a.Strokes, Stroke{Text: s})
		}
		if need := a.Need(); need.Script != c.want || need.Effect != c.effect || !need.TTY {
			t.Errorf("%q needs %+v, want %q", c.strokes, need, c.want)
		}
	}
	w := keyed(t)
	a := Keys{Strokes: []Stroke{{Text: "ls\n"}}}
	if w.NeedOf(a).Kept {
		t.Error("a new shell remembers nothing")
	}
	typeIn(t, w, "ls() { echo; }\n")
	if !w.NeedOf(a).Kept {
		t.Error("nobody is told that ls may be another one")
	}
}

func TestKeyNames(t *testing.T) {
	for name, want := range map[string]string{"C-c": "\x03", "C-C": "\x03", "C-[": "\x1b", "C-Space": "\x00", "M-x": "\x1bx", "M-Up": "\x1b\x1b[A",
		"F1": "\x1bOP", "F5": "\x1b[15~", "F8": "\x1b[19~", "F12": "\x1b[24~", "C-?": "\x7f"} {
		if got, ok := keyBytes(name, false); !ok || got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, text := range []string{"", "C-", "C-cc", "C-c\n", "enter", "echo", "M-", "F13"} {
		if got, ok := keyBytes(text, false); ok {
			t.Errorf("%q is taken for the key %q", text, got)
		}
	}
	if got, _ := keyBytes("Up", true); got != "\x1bOA" {
		t.Errorf("Up is %q in application mode", got)
	}
}

// Nothing is left of terminals and commands when the workspace is closed.
func TestCloseLeavesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are counted by /proc")
	}
	w := keyed(t)
	w.Box = confinedBox(t, w.Dir, sandbox.FullAccess, "")
	before := runtime.NumGoroutine()
	typeIn(t, w, "sleep 300 &\n", "sleep 301 | cat\n", "typed ahead\n")
	do(t, w, Run{Script: "sleep 302", Background: true})
	do(t, w, Run{Script: "sleep 303", Yield: time.Millisecond, Stdin: strings.Repeat("x", 1<<20)})
	do(t, w, Run{Script: "x=1; sleep 0", Keep: KeepShell})
	if processes(t, w.Dir) < 5 {
		t.Fatalf("only %d processes to end", processes(t, w.Dir))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if n := processes(t, w.Dir); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}

// People are shown what is typed as a model wrote it, keys by their names.
func TestTyped(t *testing.T) {
	for want, strokes := range map[string][]string{
		"cat > a\nhello\nC-d": {"cat > a\n", "hello\n", "C-d"},
		"C-c":                 {"C-c"},
		"Enter":               {"\n"},
		"a\nEnter":            {"a", "", "\r"},
		"":                    {""},
	} {
		var a Keys
		for _, s := range strokes {
			a.Strokes = append(a.Strokes, Stroke{Text: s})
		}
		if got := a.Need().Typed; got != want {
			t.Errorf("%q is shown as %q, want %q", strokes, got, want)
		}
	}
}
