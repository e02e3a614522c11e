package practice

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"interpreter/local/chat"
)

func parsed(t testing.TB, text string) *Script {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParseReadsEveryDirective(t *testing.T) {
	s := parsed(t, `exec something
-- model --
# a comment
model coder:1b
window 65_536
loaded 4096
capabilities completion tools thinking
check fail I cannot.
architecture qwen3moe
size 123456789
think Hm.
absent
follow requests

reply
	want ^ok (\d+)
	want-not FAIL
	say <<END
	  one
	two
	END
	say three
	call edit {"n":$1,"s":"a<b"}
	call bare
	miscall edit {"open
	tokens 10 20
	finish length
	stall 3s
	pause 200ms
	malformed {"x
reply
	status 503 loading
	retry-after 2
	times 3
reply
	raw <tool_call>
	raw {}
	cut
reply
	error out of memory
-- other.txt --
reply is not read here
`)
	if s.Name != "coder:1b" || s.Window != 65536 || s.Loaded != 4096 || strings.Join(s.Capabilities, ",") != "completion,tools,thinking" ||
		s.CheckFail != "I cannot." || s.Architecture != "qwen3moe" || s.Size != 123456789 || s.Think != "Hm." || !s.Absent || !s.ByRequest {
		t.Errorf("header: %+v", s)
	}
	if len(s.Replies) != 4 {
		t.Fatalf("%d replies, want 4", len(s.Replies))
	}
	r := s.Replies[0]
	if r.Line != 15 || len(r.Wants) != 2 || !r.Wants[1].Not || r.Stall != 3*time.Second || r.Finish != chat.CutShort || r.Input != 10 || r.Output != 20 {
		t.Errorf("first reply: %+v", r)
	}
	if got := r.Steps[0].Text; got != "  one\ntwo\nthree" {
		t.Errorf("say: %q", got)
	}
	if got := r.Steps[1].Call; got.Name != "edit" || string(got.Args) != `{"n":$1,"s":"a<b"}` {
		t.Errorf("call: %+v", got)
	}
	if got := r.Steps[2].Call; got.Name != "bare" || string(got.Args) != "{}" {
		t.Errorf("bare call: %+v", got)
	}
	if got := r.Steps[3].Call; got.Raw != `{"open` || string(got.Args) != "{}" {
		t.Errorf("miscall: %+v", got)
	}
	if r.Steps[4].For != 200*time.Millisecond || r.Steps[5].Kind != Malformed {
		t.Errorf("pause, malformed: %+v", r.Steps[4:])
	}
	if r := s.Replies[1]; r.Status != 503 || r.StatusText != "loading" || r.RetryAfter != 2*time.Second || r.Times != 3 {
		t.Errorf("status: %+v", r)
	}
	if r := s.Replies[2]; len(r.Steps) != 3 || r.Steps[0].Text != "<tool_call>" || r.Steps[2].Kind != Cut {
		t.Errorf("raw: %+v", r.Steps)
	}
	if n := len(s.attempts()); n != 2 {
		t.Errorf("%d positions, want 2: three failing replies share the last", n)
	}
}

func TestParseDefaults(t *testing.T) {
	s := parsed(t, "reply\n say hi\n")
	if s.Name != "practice" || s.Window != 131072 || strings.Join(s.Capabilities, ",") != "completion,tools" {
		t.Errorf("defaults: %+v", s)
	}
	if s := parsed(t, "reply\n think hm\n say hi\n"); !s.can("thinking") {
		t.Error("a script that thinks declares no thinking")
	}
}

func TestParseErrorsNameTheLine(t *testing.T) {
	for _, c := range []struct{ text, line, says string }{
		{"model a b\n", "line 1", "one name"},
		{"\nwindow many\n", "line 2", "whole number"},
		{"window 0\n", "line 1", "above 0"},
		{"say hi\n", "line 1", "means nothing in the header"},
		{"reply\n model x\n", "line 2", "means nothing in a reply"},
		{"reply now\n", "line 1", "nothing beside it"},
		{"reply\n call\n", "line 2", "tool name"},
		{"reply\n call edit [1]\n", "line 2", "JSON object"},
		{"reply\n call edit null\n", "line 2", "JSON object"},
		{"reply\n want (\n", "line 2", "want ("},
		{"reply\n stall soon\n", "line 2", "duration"},
		{"reply\n stall -1s\n", "line 2", "duration"},
		{"reply\n status 200\n", "line 2", "400 to 599"},
		{"reply\n cut\n say more\n", "line 3", "ends the reply"},
		{"reply\n say <<END\n text\n", "line 2", "no end"},
		{"reply\n status 500\n say hi\nreply\n", "line 1", "refused request"},
		{"reply\n retry-after 3\n", "line 1", "without a status"},
		{"reply\n times 3\n say hi\n", "line 1", "times without"},
		{"reply\n finish early\n", "line 2", "stop or length"},
		{"reply\n tokens 5\n", "line 2", "whole number"},
		{"check maybe\n", "line 1", "fail or spoken and a text"},
		{"follow me\n", "line 1", "conversation or requests"},
		{"echo\n-- model --\nreply\n frob\n", "line 4", "frob"},
	} {
		_, err := Parse(c.text)
		if err == nil || !strings.Contains(err.Error(), c.line+":") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: error %v, want %s and %q", c.text, err, c.line, c.says)
		}
	}
}

// The scripts of the demo are read here too, so that a slip in one is found before the demo runs.
func TestDemoScriptsParseAndFitAGGUF(t *testing.T) {
	files, err := filepath.Glob("../../harness/*/testdata/*.practice")
	variants, _ := filepath.Glob("../../harness/*/testdata/*/*.practice")
	if files = append(files, variants...); err != nil || len(files) < 4 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(string(text))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if err := WriteGGUF(s, t.TempDir(), GGUFOptions{}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

var numbered = regexp.MustCompile(`^practice script: (line \d+: |\d+ bytes)`)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "reply\n say hi", "-- model --\nreply\n call x {\"a\":$1}\n-- b --\n", "reply\n say <<A\n  b\n  A\n status 503", "reply\r\n want (a\r\n",
		"model x\nthink <<T\n T\nreply\n cut\nreply\n raw <tool_call>\n pause 1ms\n", "window 9_9\nreply\n\tmiscall e {\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if !numbered.MatchString(err.Error()) {
				t.Errorf("an error without a line: %v", err)
			}
			return
		}
		m := NewModel(s)
		m.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
		for _, err := range m.Stream(t.Context(), chat.Request{Messages: []chat.Message{{Role: chat.User, Text: text}}}) {
			_ = err
		}
	})
}
