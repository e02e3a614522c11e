//go:build unix

package approve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"interpreter/sandbox"
)

// A stage is where lines that are let pass are really run: once by a shell whose programs only write down how they were
// started, once with the real programs around files that hold canaries.
type stage struct {
	bash, root, ws, out, log string
	standIns, real           string // folders for PATH
	timeout                  string // the program that bounds others in time, "" when there is none
	judge                    Judge
}

const canary = "CANARY-8f3a"

// recorder is every program of the first run.
const recorder = `#!/bin/sh
{ pwd -P; printf '%s\0' "${0##*/}" "$@"; } > "$STAGE_LOG/$$"
`

func newStage(t testing.TB) *stage {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to compare with")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{bash: bash, root: root, ws: filepath.Join(root, "ws"), out: filepath.Join(root, "out"), log: filepath.Join(root, "log"),
		standIns: filepath.Join(root, "stand-ins"), real: filepath.Join(root, "real")}
	for path, text := range map[string]string{
		"ws/a.txt": "a\nb\n", "ws/b.go": "package b\n", "ws/list": "../out/secret.txt\x00", "ws/sub/c.txt": "c\n", "ws/sub/d.go": "package d\n",
		"ws/sp ace.txt": "x\n", "ws/-n": "n\n", "ws/--files0-from=list": "x\n", "ws/-f": "x\n", "ws/.env": canary + "\n", "ws/sub/.env.local": canary + "\n",
		"ws/key.pem": canary + "\n", "ws/*": "star\n", "ws/[x]": "x\n", "ws/~": "t\n", "ws/ls": "#!/bin/sh\n: > " + filepath.Join(s.out, "ran") + "\n", "out/secret.txt": canary + "\n",
		"out/" + canary: "x\n", "out/sub/" + canary: canary + "\n", "stand-ins/x": "", "real/x": "", "log/x": "",
	} {
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"ws/leads": "../out", "ws/sub/leads": "../../out/secret.txt", "ws/inside": "sub", "ws/gone": "../out/nothing"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	script := filepath.Join(root, "recorder")
	if err := os.WriteFile(script, []byte(recorder), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields("cat cut expr grep head id ls nl paste rev seq stat tac tail tr uname uniq wc which whoami numfmt base64 find rg sed git rm touch") {
		if err := os.Link(script, filepath.Join(s.standIns, name)); err != nil {
			t.Fatal(err)
		}
		if path, err := exec.LookPath(name); err == nil && name != "rm" && name != "touch" {
			if err := os.Symlink(path, filepath.Join(s.real, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"bash", "sh", "zsh"} {
		for _, dir := range []string{s.standIns, s.real} {
			if err := os.Symlink(bash, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.timeout, _ = exec.LookPath("timeout")
	s.judge = Judge{Policy: Untrusted, Box: sandbox.Policy{Mode: sandbox.ReadOnly, Dir: s.ws}, Git: func(string) bool { return true },
		Env: []string{"PATH=" + s.standIns, "HOME=" + s.out}}
	return s
}

// shell runs a line, bounded in time, processor time and output, and gives what it printed.
func (s *stage) shell(t testing.TB, path, line string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second) // one that follows a file would go on for ever
	defer cancel()
	output, err := os.Create(filepath.Join(s.root, "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	// A worker of the fuzzer may be ended at any time: what it leaves behind holds none of its pipes, and ends by itself.
	cmd := exec.CommandContext(ctx, s.bash, "--norc", "--noprofile", "-c", `exec 3>&- 4>&- 5>&-; ulimit -t 2 -f 4096 2>/dev/null
limit=; [ -z "$2" ] || limit="$2 -s KILL 0.5"; exec $limit "$0" --norc --noprofile -c "$1"`, s.bash, line, s.timeout)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.ws, output, output
	cmd.Env = []string{"PATH=" + path, "HOME=" + s.out, "LC_ALL=C.UTF-8", "STAGE_LOG=" + s.log, "KEPT=" + canary}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) && ctx.Err() == nil {
			t.Fatalf("run %q: %v", line, err)
		}
	}
	text, err := os.ReadFile(output.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// files is everything in the workspace and around it, but for logs.
func (s *stage) files(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	for _, top := range []string{s.ws, s.out} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil {
				fmt.Fprintln(&b, path, info.Size(), info.Mode(), info.ModTime().UnixNano())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// started are the programs of the first run: folder, name, arguments.
func (s *stage) started(t testing.TB) [][]string {
	t.Helper()
	entries, err := os.ReadDir(s.log)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for _, e := range entries {
		path := filepath.Join(s.log, e.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if dir, rest, ok := strings.Cut(string(text), "\n"); ok {
			all = append(all, append([]string{dir}, strings.Split(strings.TrimSuffix(rest, "\x00"), "\x00")...))
		}
	}
	return all
}

// check runs a line that is let pass and says what was wrong with that.
func (s *stage) check(t testing.TB, line string) bool {
	t.Helper()
	line = strings.ReplaceAll(line, "OUT", s.out)
	if v := s.judge.Decide(run(line)); v.What != Go {
		return false
	}
	tree, plain := plainTree(line)
	if !plain {
		t.Errorf("%q passes and is not plain", line)
		return true
	}
	before := s.files(t)
	s.started(t)
	s.shell(t, s.standIns, line)
	for _, argv := range s.started(t) {
		if !within(argv[0], s.ws) {
			t.Errorf("%q: %q runs in %s", line, argv[1:], argv[0])
		}
		known := strings.Contains(line, "-lc") && argv[1] == "id" // the start-up files of a login shell
		for words := range tree.simple() {
			known = known || filepath.Base(argv[1]) == filepath.Base(words[0].text) && s.same(words[1:], argv[2:])
		}
		if !known {
			t.Errorf("%q: the shell started %q, which was not foreseen", line, argv[1:])
		}
	}
	printed := s.shell(t, s.real, line)
	if strings.Contains(strings.ReplaceAll(printed, line, ""), canary) && !strings.Contains(line, "CANARY") || strings.Contains(printed, "root:x:0:0:") {
		t.Errorf("%q reads what it should not: %.300q", line, printed)
	}
	if after := s.files(t); after != before {
		t.Errorf("%q changes files:\n%s\n%s", line, before, after)
	}
	return true
}

// same compares words with what a program was handed: a glob may stand for any number of names.
func (s *stage) same(words []word, argv []string) bool {
	if len(words) == 0 {
		return len(argv) == 0
	}
	if len(argv) == 0 {
		return false
	}
	w := words[0]
	if len(w.globs) == 0 {
		text := w.text
		if text == "~" || strings.HasPrefix(text, "~/") {
			text = s.out + text[1:]
		}
		return (argv[0] == w.text || argv[0] == text) && s.same(words[1:], argv[1:])
	}
	for n := 1; n <= len(argv); n++ {
		if s.same(words[1:], argv[n:]) {
			return true
		}
	}
	return false
}

// vocabulary is what lines are made of for FuzzAutoWords.
var vocabulary = []string{" ", " ", " ", " ", " ", ";", "&&", "||", "|", "\n", "&", "!", ">", "<", "(", ")", "{", "}", ",", "..", "'", "\"", "\\", "$", "`", "*", "?", "[", "]", "~", "=", ":", "#", "-", "--",
	"cat ", "cd ", "cut ", "echo ", "expr ", "grep ", "head ", "ls ", "nl ", "paste ", "rev ", "stat ", "tac ", "tail ", "tr ", "uniq ", "wc ", "which ", "base64 ", "find ", "sed -n ", "rg ", "git ",
	"bash -c '", "sh -c '", "bash -lc \"", "status", "diff ", "log ", "branch ", "1p", "1,2p", "-f", "-n", "-r", "-R", "-rn ", "-e", "-L", "-d", "-o", "-c", "-name ", "-newer ", "-exec ", "-print", "-delete",
	"--file=", "--files0-from=", "--output=", "--include=", "--regexp=", "--exclude-from", "--out", "--no-index", "a.txt", "b.go", "sub", "sub/", "leads", "leads/", "inside", "inside/", "../", "..", "./", "/", "OUT", "OUT/secret.txt",
	"list", ".env", "key.pem", "/proc/self/environ", "/etc/passwd", "/dev/null", "x", "secret.txt", "true", "false", "touch x", "rm a.txt", "\t", "{a,b}", "$HOME", "$(ls)", "@", "+", "%", "é", "\u00a0", "\r"}

func lineOf(picks []byte) string {
	var b strings.Builder
	for _, p := range picks {
		b.WriteString(vocabulary[int(p)%len(vocabulary)])
	}
	return b.String()
}

var lines = []string{"ls -la sub", "cd sub && ls", "cd sub && cat ../a.txt", "cd sub; cat ../a.txt", "cd inside && cat ../a.txt", "cd inside/.. && ls", "cd leads && ls", "cat leads/secret.txt", "cat *", "cat *.txt",
	"wc *", "grep -r x .", "grep -R CANARY .", "grep -rn package sub", "find . -name '*.go'", "find -L . -name x", "find leads", "cat ~/secret.txt", "cat '~'", "ls OUT", "echo OUT/*", "echo *", "cat sub/l*",
	"head -n1 ./--files0-from=list", "wc --files0=list", "uniq a.txt b", "uniq -- a.txt", "bash -lc 'ls -la'", "sh -c 'cat a.txt | head -1'", "cd sub | ls", "cat 'sp ace.txt'", "cat sp\\ ace.txt", "cat \"a\".txt",
	"cat {a,b}.txt", "cat a.{txt,go}", "echo a=~", "echo a:~/x", "echo ~root", "cat -- -n", "cat -n", "grep -f OUT/secret.txt a.txt", "grep -fOUT/secret.txt a.txt", "grep x -- ../out/secret.txt", "tail -n +1 a.txt",
	"cut -d / -f 1 a.txt", "paste -d/ a.txt b.go", "stat -c '%n /' a.txt", "nl -s / a.txt", "base64 a.txt", "base64 -o x a.txt", "sed -n '1,2p' a.txt", "sed -n 1p leads/secret.txt", "git status", "git diff a.txt ../out/secret.txt",
	"which ls", "ls;ls", "ls\nls", "\\ls", "l''s", "ls \\\n-l", "cat /proc/self/environ", "cat /dev/null", "cd sub || cd OUT; ls", "cd nowhere; ls ..", "false && cd sub; cat ../out/secret.txt", "false && cd sub; ls ..", "ls x || cd sub; ls ..", "cd sub && cat ../a.txt; ls", "cd sub/.. && ls", "cd sub && cd .. && ls", "ls inside/..", "cat inside/../a.txt"}

// FuzzAuto: what passes unasked does what was foreseen and nothing else.
func FuzzAuto(f *testing.F) {
	for _, line := range lines {
		f.Add(line)
	}
	s := newStage(f)
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) < 2000 {
			s.check(t, line)
		}
	})
}

// FuzzAutoWords is FuzzAuto over lines that are made of likely words.
func FuzzAutoWords(f *testing.F) {
	f.Add([]byte{35, 91, 5, 41, 92})
	s := newStage(f)
	f.Fuzz(func(t *testing.T, picks []byte) {
		if len(picks) < 40 {
			s.check(t, lineOf(picks))
		}
	})
}

// The same over lines at random, a few of them each time.
func TestWhatPassesOnlyReads(t *testing.T) {
	s := newStage(t)
	passed := 0
	for _, line := range lines {
		if s.check(t, line) {
			passed++
		}
	}
	if passed < 30 {
		t.Errorf("only %d of %d lines pass: the stage is broken", passed, len(lines))
	}
	random := rand.New(rand.NewPCG(5, 8))
	verbs := slices.IndexFunc(vocabulary, func(w string) bool { return w == "cat " })
	for i, tried := 0, 0; i < 60 && tried < 20000; tried++ {
		picks := []byte{byte(verbs + random.IntN(18))}
		for range 1 + random.IntN(6) {
			picks = append(picks, byte(random.IntN(len(vocabulary))))
		}
		if s.check(t, lineOf(picks)) {
			i++
		}
	}
	if text := s.shell(t, s.real, "cat leads/secret.txt"); !strings.Contains(text, canary) {
		t.Errorf("the canary is not seen: %q", text)
	}
	s.shell(t, s.standIns, "cat 'a b' c")
	if got := s.started(t); len(got) != 1 || !bytes.Equal([]byte(strings.Join(got[0][1:], "|")), []byte("cat|a b|c")) {
		t.Errorf("programs are not seen: %q", got)
	}
}
