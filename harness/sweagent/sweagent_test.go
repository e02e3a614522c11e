package sweagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interpreter/harness"
	"interpreter/harness/harnesstest"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
	"interpreter/sandbox/sandboxtest"
)

func TestHarness(t *testing.T) { harnesstest.Run(t, Harness) }

func TestSize(t *testing.T) { harnesstest.Fits(t, Harness, 6000) }

func answer(text string) harness.Answer {
	return harness.Answer{Message: chat.Message{Role: chat.Assistant, Text: text}, Finish: chat.Stopped}
}

// The cases are the shared ones about this harness.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(strings.TrimSuffix(file, ".txt") + ".expected.json")
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Text    string
			Outcome string
			Error   string `json:"tool_error"`
			Calls   []struct {
				Name      string
				Arguments json.RawMessage
			}
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		read, failed := Harness.Read(answer(string(text)))
		if (failed != nil) != (want.Outcome == "error") || len(read.Message.Calls) != len(want.Calls) {
			t.Errorf("%s: %+v, %v", file, read.Message, failed)
			continue
		}
		if failed != nil {
			if words := Harness.Say("", failed); !strings.Contains(words, want.Error) {
				t.Errorf("%s says %q, want %q in it", file, words, want.Error)
			}
			continue
		}
		if read.Message.Text != want.Text || read.Message.Written != string(text) {
			t.Errorf("%s: the text is %q, written %q", file, read.Message.Text, read.Message.Written)
		}
		for i, c := range want.Calls {
			got := read.Message.Calls[i]
			var a, b any
			if json.Unmarshal(got.Args, &a) != nil || json.Unmarshal(c.Arguments, &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) || got.Name != c.Name {
				t.Errorf("%s: %s %s, want %s %s", file, got.Name, got.Args, c.Name, c.Arguments)
			}
		}
	}
}

func TestReplies(t *testing.T) {
	const f = "```"
	for text, want := range map[string]string{
		f + "\nls\n" + f: `bash {"command":"ls"}`,
		"x\n" + f + "bash\n$ ls -l\n" + f + "\ny": `bash {"command":"ls -l"}`,
		"  " + f + "sh\r\nls\r\n  " + f + "\r\n":  `bash {"command":"ls"}`,
		"say " + f + "ls" + f:                     "exactly one command block expected, got 0",
		f + "\n\n" + f:                            "exactly one command block expected, got 0",
		f + "\nls\n" + f + "\n" + f + "\npwd\n" + f + "\n" + f + "\nid\n" + f: "exactly one command block expected, got 3",
		f + "\nls\n" + f + "\n<execute_bash>pwd</execute_bash>":               "exactly one command block expected, got 2",
		f + "\nls\n" + f + "\n" + f + "\npwd":                                 "exactly one command block expected, its fence is not closed",
		f + "\ncat > a.md <<'E'\n" + f + "go\nx\n" + f + "\nE\n" + f:          `bash {"command":"cat > a.md <<'E'\n` + f + `go\nx\n` + f + `\nE"}`,
		f + "\ncat > a.md <<'E'\n" + f + "\nx\n" + f + "\nE\n" + f:            `bash {"command":"cat > a.md <<'E'\n` + f + `\nx\n` + f + `\nE"}`,
		f + "\ncat > a.md <<'E'\n" + f + "\n" + f + "\nls\n" + f:              "exactly one command block expected, got 2",
		f + "\necho 'it\n" + f + "\nand\n" + f + "\nsn't'\n" + f:              "exactly one command block expected, got 2",
		f + "\nsubmit\n" + f:    `submit {}`,
		f + "\nsubmit -f\n" + f: `submit {"force":true}`,
		f + "\nexit\n" + f:      `bash {"command":"exit"}`,
		f + "\nsubmit it\n" + f: `bash {"command":"submit it"}`,
		f + "\nstr_replace_editor view a --view_range 2 9\n" + f:             `str_replace_editor {"command":"view","path":"a","view_range":[2,9]}`,
		"<think>\n" + f + "\nrm x\n" + f + "\n</think>\n" + f + "\nls\n" + f: `bash {"command":"ls"}`,
		"<execute_bash>\nls\n</execute_bash>":                                `bash {"command":"ls"}`,
		"<function=finish>\n</function>":                                     `submit {}`,
		"<function=bash>\n<parameter=command>ls</parameter>\n</function>\n<function=bash>\n<parameter=command>id</parameter>\n</function>": "exactly one command block expected, got 2",
		"Look. <command>ls</command>":                                            `bash {"command":"ls"}`,
		`{"thought": "look", "command": "ls"}`:                                   `bash {"command":"ls"}`,
		`{"thought": "look", "command": {"name":"submit","arguments":{}}}`:       `submit {}`,
		f + "json\n{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}\n" + f: `bash {"command":"ls"}`,
		"":            "",
		"<tool_call>": "",
	} {
		read, err := Harness.Read(answer(text))
		got := ""
		for _, c := range read.Message.Calls {
			got += c.Name + " " + string(c.Args)
		}
		if err != nil {
			if got += err.Error(); len(read.Message.Calls) > 0 {
				t.Errorf("%q has calls and an error", text)
			}
		}
		if want == "" && err == nil && got == "" {
			continue
		}
		if want == "" && text != "" && err != nil {
			continue
		}
		if strings.TrimPrefix(got, "read a reply: ") != want {
			t.Errorf("%q is\n%s, want\n%s", text, got, want)
		}
	}
	native := answer("")
	native.Message.Calls = []chat.Call{{Name: "bash", Args: json.RawMessage(`{"command":"ls"}`)}}
	if read, err := Harness.Read(native); err != nil || len(read.Message.Calls) != 1 {
		t.Errorf("a native call: %+v, %v", read, err)
	}
	native.Message.Calls = append(native.Message.Calls, chat.Call{Name: "submit", Args: json.RawMessage(`{}`)})
	if read, err := Harness.Read(native); err != nil || len(read.Message.Calls) != 2 {
		t.Errorf("two native calls: %+v, %v", read, err)
	}
}

// Interactive programs are refused, and nothing else.
func TestWaits(t *testing.T) {
	for command, blocked := range map[string]bool{
		"vim a.go": true, "/usr/bin/vi": true, "cd x; emacs -nw a": true, "nano": true, "less a": true, "cat a | less": true,
		"gdb ./a": true, "tail -f log": true, "tail -n 5 -f log": true, "tail -fn5 log": true, "sudo vim x": true, "if true; then python3; fi": true,
		"python": true, "python3": true, "ipython": true, "bash": true, "sh": true, "/bin/bash": true, "su": true, "r2 a.out": true, "radare2": true, "x=1 python": true,
		"make": false, "make less": false, "nohup ./x &": false, "python -m venv .venv": false, "python a.py": false, "echo 'print(1)' | python3": false,
		"python3 - <<'E'\nprint(1)\nE": false, "bash -c ls": false, "bash x.sh": false, "sh < x": false, "r2 -q -c aa a.out": false,
		"gdb -batch -ex run ./a": false, "emacs --batch -l x": false, "tail -n 20 log": false, "tail --lines=4 off": false, "view a": false, "virtualenv x": false,
		"git diff | cat": false, "grep vim a": false, "echo 'vim a'": false, "vimdiff": false, "lessc a.less": false, "suite": false, "which python": false,
	} {
		_, err := Harness.Step(chat.Call{Name: "bash", Args: harness.JSON(bashParams{command})})
		if (err != nil) != blocked {
			t.Errorf("%q: blocked %v, want %v (%v)", command, err != nil, blocked, err)
		}
		var refused *harness.RefusedError
		if blocked && (!errors.As(err, &refused) || !strings.Contains(refused.Words, "not supported")) {
			t.Errorf("%q: %v", command, err)
		}
	}
}

func TestEditorLines(t *testing.T) {
	for line, want := range map[string]string{
		`view a.py`:                                                 `{"command":"view","path":"a.py"}`,
		`view --path a.py --view_range [3, -1]`:                     `{"command":"view","path":"a.py","view_range":[3,-1]}`,
		`view a.py --view_range=[3,4]`:                              `{"command":"view","path":"a.py","view_range":[3,4]}`,
		`view a.py 3 4`:                                             `{"command":"view","path":"a.py","view_range":[3,4]}`,
		`view "a b.py" --view_range "1 2"`:                          `{"command":"view","path":"a b.py","view_range":[1,2]}`,
		`create a --file_text 'x'\''y'`:                             `{"command":"create","path":"a","file_text":"x'y"}`,
		`create a --file_text "a \$b $c"`:                           `{"command":"create","path":"a","file_text":"a $b $c"}`,
		`create a --file_text $'x\ty'`:                              `{"command":"create","path":"a","file_text":"x\ty"}`,
		`create a --file_text=`:                                     `{"command":"create","path":"a","file_text":""}`,
		"create a <<'E'\nx\nE":                                      `{"command":"create","path":"a","file_text":"x\n"}`,
		"create a --file_text <<E\n$x\nE":                           `{"command":"create","path":"a","file_text":"$x\n"}`,
		`str_replace a 'x' 'y'`:                                     `{"command":"str_replace","path":"a","old_str":"x","new_str":"y"}`,
		`str_replace a --old_str '--x' --new_str '-- y'`:            `{"command":"str_replace","path":"a","old_str":"--x","new_str":"-- y"}`,
		`str_replace a --old-str x`:                                 `{"command":"str_replace","path":"a","old_str":"x"}`,
		"str_replace a --new_str <<'N' --old_str <<'O'\n1\nN\n2\nO": `{"command":"str_replace","path":"a","old_str":"2","new_str":"1"}`,
		"str_replace a <<'O' <<'N'\n1\nO\n2\nN":                     `{"command":"str_replace","path":"a","old_str":"1","new_str":"2"}`,
		`insert a --insert_line 0 --new_str "x"`:                    `{"command":"insert","path":"a","new_str":"x","insert_line":0}`,
		`insert a 3 x`:                                              `{"command":"insert","path":"a","new_str":"x","insert_line":3}`,
		`undo_edit a`:                                               `{"command":"undo_edit","path":"a"}`,
		`insert a --insert_line three --new_str x`:                  "no number",
		`view`:   "the path is missing",
		`open a`: "no command",
		`str_replace a --old_str x --new_str y z`: "one word too many",
		`view a --view_range 1`:                   "two numbers",
		`create a --file_text 'x`:                 "cannot read it",
		`view a; ls`:                              "alone",
		`view a > b`:                              "alone",
		`view a | head`:                           "alone",
	} {
		call := callOf(editor + " " + line)
		got := string(call.Args)
		if call.Name != editor {
			_, err := Harness.Step(call)
			if err == nil {
				t.Errorf("%q runs as %s %s", line, call.Name, call.Args)
				continue
			}
			if got = Harness.Say(call.Name, err); !strings.Contains(got, want) {
				t.Errorf("%q is refused with %q, want %q", line, got, want)
			}
			continue
		}
		if got != want {
			t.Errorf("%q is\n%s, want\n%s", line, got, want)
		}
	}
}

// perform is a reply as the agent carries it out, and what the model reads of it.
func perform(t *testing.T, w *action.Workspace, n int, text string) (words string, ended bool) {
	t.Helper()
	read, err := Harness.Read(answer(text))
	if err != nil {
		return Harness.Say("", err), false
	}
	for _, c := range read.Message.Calls {
		step, err := Harness.Step(c)
		if err != nil {
			return Harness.Say(c.Name, err), false
		}
		facts, said, err := step.Run(action.WithAnswer(context.Background(), n), w)
		if err != nil {
			return Harness.Say(step.Tool, err), false
		}
		words = said
		if step.Ends != nil {
			_, ended = step.Ends(facts)
		}
	}
	return words, ended
}

// The shell remembers, the editor follows it, and the work is handed in twice.
func TestSession(t *testing.T) {
	dir := t.TempDir()
	policy := sandboxtest.Writable(t, dir)
	w := &action.Workspace{Dir: policy.Dir, Box: sandboxtest.New(t, policy), Env: sandboxtest.Environ(), Shell: "/bin/sh", Spill: t.TempDir()}
	t.Cleanup(func() { _ = w.Close() })
	block := func(command string) string { return "DISCUSSION\nNext.\n\n```\n" + command + "\n```" }
	for i, s := range []struct {
		reply, want string
		ended       bool
	}{
		{block("git init -q . && mkdir sub && cd sub && X=5"), "ran and printed nothing", false},
		{block("echo $X; pwd"), "OBSERVATION:\n5\n" + w.Dir + "/sub", false},
		{block("str_replace_editor create a.go --file_text 'package a\n\nfunc f() {\n\treturn // nothing\n}\n'"), "Created sub/a.go (5 lines).", false},
		{block("cat a.go | head -1; false"), "package a\n[exit code 1]", false},
		{block("str_replace_editor str_replace a.go --old_str '    return // nothing' --new_str '    return // x'"), "\treturn // x", false},
		{block("str_replace_editor undo_edit a.go"), "     4\t\treturn // nothing\n", false},
		{block("str_replace_editor view ."), "hidden ones:\na.go", false},
		{block("str_replace_editor view /nowhere"), "/nowhere does not exist", false},
		{block("str_replace_editor insert a.go --insert_line 9 --new_str x"), "has lines 1 to 5", false},
		{block("vim a.go"), "not supported", false},
		{block("submit"), "+func f() {", false},
		{block("go version | sed 's/.*/go/'; true"), "go", false},
		{block("submit"), "go over it", false},
		{block("submit") + "\n```\nls\n```", "expected, got 2", false},
		{block("submit"), "go over it", false},
		{block("submit"), "Handed in, with these changes:\ndiff --git a/sub/a.go", true},
		{block("submit"), "No file was changed", true},
		{block("echo >> a.go"), "nothing", false},
		{block("submit -f"), "Handed in, with", true},
	} {
		words, ended := perform(t, w, i+1, s.reply)
		if !strings.Contains(words, s.want) || ended != s.ended {
			t.Errorf("%s\nsays %q, ended %v, want …%q…", s.reply, words, ended, s.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range []string{"```\nls\n```", "<think>a</think>\n```bash\nls\n```", "```\ncat <<E\n```\nE\n```", "```\nstr_replace_editor create a --file_text '\n```\n'\n```", "<command>x</command>"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read, err := Harness.Read(answer(text))
		if n := len(read.Message.Calls); n > 1 || err != nil && n > 0 {
			t.Errorf("%q: %d calls, %v", text, n, err)
		}
		for _, c := range read.Message.Calls {
			if !json.Valid(c.Args) || read.Message.Written != text {
				t.Errorf("%q: %s %s, written %q", text, c.Name, c.Args, read.Message.Written)
			}
			_, _ = Harness.Step(c)
		}
	})
}

// BenchmarkDecode is linear: a text twice as long takes twice as long.
func BenchmarkDecode(b *testing.B) {
	for _, unit := range []string{"```js\n", "```\ncat <<E\n```\n", "<command>"} {
		for _, n := range []int{1 << 12, 1 << 15} {
			text := strings.Repeat(unit, n)
			b.Run(fmt.Sprintf("%q/%d", unit, len(text)), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					_, _ = Harness.Read(answer(text))
				}
			})
		}
	}
}

// The last word of a submission is the discussion; the changes are when there is none.
func TestParting(t *testing.T) {
	diff := action.Ran{Dir: "/r", Output: "+x\n", Claims: 2}
	for _, c := range []struct {
		out        action.Ran
		said, want string
	}{
		{diff, "DISCUSSION\nAll is well.\n", "All is well.\n\nSubmitted."},
		{diff, "All is well.", "All is well.\n\nSubmitted."},
		{diff, "DISCUSSION\n", "+x"},
		{diff, "", "+x"},
		{action.Ran{Dir: "/r", Claims: 1}, "Nothing to do.", "Nothing to do.\n\nSubmitted; no file was changed."},
		{action.Ran{Dir: "/r", Claims: 1}, " ", "Submitted."},
	} {
		if got := parting(c.out, c.said); got != c.want {
			t.Errorf("%q: %q, want %q", c.said, got, c.want)
		}
	}
	step, err := Harness.Step(chat.Call{Name: "submit"})
	if err != nil || step.Parting == nil {
		t.Errorf("a submission has no last word of its own: %v", err)
	}
}
