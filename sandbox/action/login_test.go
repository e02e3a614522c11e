package action

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interpreter/sandbox"
)

// What a login shell adds reaches commands however they are run, and no program that they start.
func TestLogin(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	file := filepath.Join(t.TempDir(), "it's here.sh")
	if err := os.WriteFile(file, []byte("unset -v BASH_ENV\ngreet() { echo \"hello $1\"; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := workspace(t, nil)
	w.Shell = bash
	t.Cleanup(func() { _ = w.Close() })
	var asked []string
	w.Login = func(_ context.Context, script string) ([]string, string) {
		asked = append(asked, script)
		return append(w.Env[:len(w.Env):len(w.Env)], "ADDED=added"), file
	}
	const script = `greet $ADDED; echo "[${BASH_ENV-unset}]"; bash -c 'greet x' 2>/dev/null || echo alone`
	const want = "hello added\n[unset]\nalone\n"
	for _, keep := range []Keep{KeepNothing, KeepDir, KeepShell, KeepShell} {
		out, err := Run{Script: script, Keep: keep}.Do(context.Background(), w)
		if err != nil || out.Output != want || strings.Join(out.Argv, " ") != bash+" -c "+script {
			t.Errorf("keeping %q: %+v, %v", keep, out, err)
		}
	}
	if out, err := (Run{Script: "greet x 2>/dev/null || echo $ADDED", Shell: "/bin/sh"}).Do(context.Background(), w); err != nil || out.Output != "added\n" {
		t.Errorf("another shell: %+v, %v", out, err)
	}
	out, err := Keys{Strokes: []Stroke{{Text: "greet there; echo $ADDED\n", Wait: 500 * time.Millisecond}}}.Do(context.Background(), w)
	if err != nil || !strings.Contains(out.Screen+out.Output, "hello there") || !strings.Contains(out.Screen+out.Output, "\nadded") {
		t.Errorf("the terminal: %+v, %v", out, err)
	}
	if len(asked) != 6 || asked[0] != script || asked[5] != "" {
		t.Errorf("asked for %q", asked)
	}
}

func TestLoginOfZsh(t *testing.T) {
	w := workspace(t, nil)
	w.Login = func(context.Context, string) ([]string, string) { return []string{"A=1"}, "/x/it's.sh" }
	c := sandbox.Command{Argv: shellArgv("/bin/zsh", "echo\n")}
	w.login(context.Background(), &c, "echo\n")
	if got := strings.Join(c.Argv, "|"); got != `/bin/zsh|-c|. '/x/it'\''s.sh'; echo`+"\n" || len(c.Env) != 1 {
		t.Errorf("%s %q", got, c.Env)
	}
}
