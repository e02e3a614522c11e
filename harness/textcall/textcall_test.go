package textcall

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"interpreter/local/chat"
)

func caseTools(t testing.TB) []chat.Spec {
	t.Helper()
	raw, err := os.ReadFile("testdata/cases/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var tools []chat.Spec
	if err := json.Unmarshal(raw, &tools); err != nil {
		t.Fatal(err)
	}
	return tools
}

// What each recorded answer must become.
func TestCases(t *testing.T) {
	tools := caseTools(t)
	files, _ := filepath.Glob("testdata/cases/tc-*.txt")
	if len(files) < 20 {
		t.Fatalf("%d cases found", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(strings.TrimSuffix(file, ".txt") + ".expected.json")
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				Text, Reasoning, Outcome string
				Calls                    []struct {
					Name      string
					Arguments map[string]any
				}
			}
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			calls, rest, ok := Decode(string(text), tools)
			if ok != (len(want.Calls) > 0) || len(calls) != len(want.Calls) {
				t.Fatalf("%d calls, want %d: %+v", len(calls), len(want.Calls), calls)
			}
			ids := map[string]bool{}
			for i, c := range calls {
				var args map[string]any
				if err := json.Unmarshal(c.Args, &args); err != nil {
					t.Fatal(err)
				}
				if c.Name != want.Calls[i].Name || !reflect.DeepEqual(args, want.Calls[i].Arguments) {
					t.Errorf("call %d is %s %s, want %+v", i, c.Name, c.Args, want.Calls[i])
				}
				if c.ID == "" || ids[c.ID] {
					t.Errorf("call %d has id %q", i, c.ID)
				}
				ids[c.ID] = true
			}
			if want.Reasoning == "" && strings.TrimSpace(rest) != want.Text {
				t.Errorf("rest is %q, want %q", rest, want.Text)
			}
			m, err := Message(chat.Message{Text: string(text)}, tools, reads)
			if (want.Outcome == "incomplete") != errors.Is(err, ErrCut) {
				t.Errorf("outcome %s, error %v", want.Outcome, err)
			}
			if strings.HasPrefix(string(text), "<think>") || strings.Contains(string(text), "</think>") {
				if m.Thinking != want.Reasoning || m.Text != want.Text {
					t.Errorf("thinking %q and text %q, want %q and %q", m.Thinking, m.Text, want.Reasoning, want.Text)
				}
			}
		})
	}
}

func reads(c chat.Call) bool { return c.Name != "write_file" && c.Name != "run_shell_command" }

var quoteTests = []struct {
	about, text string
	calls       int
}{
	{"in back ticks", "Write `<tool_call>{\"name\":\"read_file\",\"arguments\":{}}</tool_call>` to call.", 0},
	{"in a quotation", "> <tool_call>{\"name\":\"read_file\",\"arguments\":{}}</tool_call>", 0},
	{"in a fence that prose follows", "```\n<tool_call>{\"name\":\"read_file\",\"arguments\":{\"file_path\":\"a\"}}</tool_call>\n```\nThat is the form.", 0},
	{"announced as an example", "For example:\n```json\n{\"name\":\"read_file\",\"arguments\":{\"file_path\":\"a\"}}\n```", 0},
	{"a blank form", "{\"name\":\"read_file\",\"arguments\":{\"file_path\":\"path/to/file\"}}", 0},
	{"a manifest is no call", "{\"name\":\"left-pad\",\"version\":\"1.0.0\"}", 0},
	{"an unknown name in a fence", "Here:\n```json\n{\"name\":\"left-pad\",\"arguments\":{}}\n```", 0},
	{"an unfinished object", "<tool_call>{\"name\":\"read_file\",\"arguments\":{\"file_path\":\"a", 0},
	{"a draft and then thinking ends", "<tool_call>{\"name\":\"read_file\",\"arguments\":{}}</tool_call>\n</think>\nDone.", 0},
	{"the close tag missing", "<tool_call>\n{\"name\":\"read_file\",\"arguments\":{\"file_path\":\"a\"}}", 1},
	{"the same call twice", "<tool_call>{\"name\":\"read_file\",\"arguments\":{}}</tool_call><tool_call>{\"name\":\"read_file\",\"arguments\":{}}</tool_call>", 1},
	{"an invented result", "<tool_call>{\"name\":\"read_file\",\"arguments\":{}}</tool_call><tool_response>x</tool_response><tool_call>{\"name\":\"list_directory\",\"arguments\":{}}</tool_call>", 1},
	{"a function with JSON inside", "<function=read_file>{\"file_path\":\"a\"}</function>", 1},
	{"two functions in one tag", "<tool_call><function=read_file><parameter=file_path>a</parameter></function><function=list_directory><parameter=path>b</parameter></function></tool_call>", 2},
	{"a parameter left open", "<function=read_file>\n<parameter=file_path> a\n<parameter=limit>\n3\n</parameter>\n</function>", 1},
	{"a fence inside a value", "<function=write_file>\n<parameter=file_path>\na.md\n</parameter>\n<parameter=content>\n```\ncode\n```\n</parameter>\n</function>", 1},
	{"an object after prose", "I read it.\n{\"name\":\"read_file\",\"arguments\":{\"file_path\":\"a\"}}", 1},
}

func TestQuotedIsNotCalled(t *testing.T) {
	tools := caseTools(t)
	for _, tt := range quoteTests {
		if calls, _, _ := Decode(tt.text, tools); len(calls) != tt.calls {
			t.Errorf("%s: %d calls, want %d: %v", tt.about, len(calls), tt.calls, calls)
		}
	}
}

func TestNoToolsNoCalls(t *testing.T) {
	if calls, rest, ok := Decode(`{"name":"read_file","arguments":{}}`, nil); ok || calls != nil || rest == "" {
		t.Errorf("calls %v, rest %q", calls, rest)
	}
}

// Weak evidence is enough to read, not to write.
func TestWeakEvidence(t *testing.T) {
	tools := caseTools(t)
	m := chat.Message{Text: "I save it.\n```json\n{\"name\":\"write_file\",\"arguments\":{\"file_path\":\"a\",\"content\":\"b\"}}\n```"}
	if got, err := Message(m, tools, reads); !errors.Is(err, ErrText) || len(got.Calls) != 0 {
		t.Errorf("calls %v, error %v", got.Calls, err)
	}
}

func TestOwnCallsWin(t *testing.T) {
	tools := caseTools(t)
	m := chat.Message{Text: `{"name":"list_directory","arguments":{}}`, Calls: []chat.Call{{ID: "1", Name: "write_file", Args: json.RawMessage("{}"), Raw: "{\"content\":\"a\nb\"}"}}}
	got, err := Message(m, tools, reads)
	if err != nil || len(got.Calls) != 1 || string(got.Calls[0].Args) != `{"content":"a\nb"}` || got.Calls[0].Raw != "" {
		t.Errorf("calls %+v, error %v", got.Calls, err)
	}
	if m.Calls[0].Raw == "" {
		t.Error("the message given was changed")
	}
}

// Hostile text of a megabyte must not take more than a moment.
func TestLinear(t *testing.T) {
	tools := caseTools(t)
	for _, piece := range []string{"<tool_call>", "<tool_call>{\"a\":", "<tool_call>{x}", "{\"a\":\n", "<function=read_file><parameter=file_path>", "```\n", "<function=read_file>{x}", "</parameter> ", "<function=write_file>\n<parameter=content>\n<parameter=file_path>"} {
		text := strings.Repeat(piece, 1<<20/len(piece))
		start := time.Now()
		Decode(text, tools)
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%q repeated took %v", piece, took)
		}
	}
}

func FuzzDecode(f *testing.F) {
	files, _ := filepath.Glob("testdata/cases/tc-*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, tt := range quoteTests {
		f.Add(tt.text)
	}
	tools := caseTools(f)
	f.Fuzz(func(t *testing.T, text string) {
		calls, rest, ok := Decode(text, tools)
		if ok != (len(calls) > 0) {
			t.Fatalf("ok is %v with %d calls", ok, len(calls))
		}
		if !ok && len(rest) > len(text) {
			t.Fatal("text grew")
		}
		for _, c := range calls {
			if !json.Valid(c.Args) || bytes.TrimSpace(c.Args)[0] != '{' {
				t.Fatalf("arguments %q", c.Args)
			}
			if c.Name == "" || c.ID == "" {
				t.Fatalf("call %+v", c)
			}
		}
	})
}
