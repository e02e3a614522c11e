package textcall

import (
	"errors"
	"strings"
	"testing"

	"interpreter/local/chat"
)

const aCall = `<tool_call>{"name":"read_file","arguments":{"file_path":"a"}}</tool_call>`

// Texts that talk about calls. None of it may run, and all of it is shown.
var talk = []struct{ about, text string }{
	{"in back ticks", "Write `" + aCall + "` to call."},
	{"in a quotation", "> " + aCall},
	{"in quotes", "The model sent \"" + aCall + "\" and stopped."},
	{"in typographic quotes", "The model sent “" + aCall + "” and stopped."},
	{"in brackets", "The server (" + aCall + ") drops it."},
	{"in the middle of a sentence", "The template wraps it as " + aCall + " and goes on."},
	{"before a full stop", "A call is written " + aCall + "."},
	{"after words that announce it", "A call looks like this:\n" + aCall + "\nThe server answers."},
	{"in a fence that prose follows", "```\n" + aCall + "\n```\nThat is the form."},
	{"in a fence after an announcement", "For example:\n```json\n{\"name\":\"read_file\",\"arguments\":{\"file_path\":\"a\"}}\n```"},
	{"in a fence that you could write", "You could send\n```json\n{\"name\":\"read_file\",\"arguments\":{\"file_path\":\"a\"}}\n```"},
	{"in a fence of another language", "```go\nx := `" + aCall + "`\n```"},
	{"in a comment", "<!-- " + aCall + " -->"},
	{"in a comment of several lines", "<!--\n" + aCall + "\n-->\nThat is all."},
	{"in a diff", "+" + aCall},
	{"in a diff, with a blank", "- " + aCall},
	{"in a table", "| form | example |\n|---|---|\n| Hermes | " + aCall + " |"},
	{"in a log", "12:04:11 INFO reply " + aCall},
	{"in a log with a date", "2026-01-02T12:04:11Z model: " + aCall},
	{"in a comment of code", "// " + aCall},
	{"in a heading", "# " + aCall},
	{"a tag by name", "The <tool_call> tag opens a call and </tool_call> ends it, as in Qwen."},
	{"a function tag by name", "Use <function=name> with <parameter=key> inside."},
	{"a token by name", "Kimi writes `<|tool_call_begin|>` first."},
	{"a list in brackets", "[read_file] is the tool, [TOOL_CALLS] the token."},
	{"a blank form", "{\"name\":\"read_file\",\"arguments\":{\"file_path\":\"path/to/file\"}}"},
	{"a blank form in tags", `<tool_call>{"name":"read_file","arguments":{"file_path":"<path>"}}</tool_call>`},
	{"braces of a template", `<tool_call>{"name":"read_file","arguments":{"file_path":"{{file}}"}}</tool_call>`},
	{"dots", `<tool_call>{"name":"run_shell_command","arguments":{"command":"..."}}</tool_call>`},
	{"a manifest", "{\"name\":\"left-pad\",\"version\":\"1.0.0\"}"},
	{"a manifest in a fence", "```json\n{\"name\":\"left-pad\",\"version\":\"1.0.0\"}\n```"},
	{"an unknown name in a fence", "Here:\n```json\n{\"name\":\"left-pad\",\"arguments\":{}}\n```"},
	{"an unknown name behind prose", "The package is\n{\"name\":\"left-pad\",\"arguments\":{}}"},
	{"a configuration", "Put this into settings.json:\n```json\n{\"editor\": {\"tabSize\": 4}, \"files\": [\"*.go\"]}\n```"},
	{"an object, and then prose", "{\"name\":\"read_file\",\"arguments\":{\"file_path\":\"a\"}}\nis what it sent."},
	{"a script", "Run\n```bash\nread_file a\n```"},
	{"code of a function", "```python\nread_file(file_path=\"a\")\n```"},
	{"a call of a function in prose", "Then read_file(file_path=\"a\") returns the text."},
	{"a line of code that prose follows", "read_file(file_path=\"a\")\nreturns the text."},
	{"an action that is none", "Action: read_file is what I would take."},
	{"HTML", "<edit><b>x</b></edit> and <path>y</path>"},
	{"a claim", "I have written the file.\n```bash\necho hello > greet.txt\n```\nIt is there."},
	{"a plan", "1. read_file\n2. edit {the place}\n3. run_shell_command (tests)"},
	{"a link", "[read_file](https://example.com) and [edit](b)"},
	{"a list of strings", "[\"read_file\", \"edit\"]"},
	{"Go", "type T struct {\n\tname string\n}\nvar x = map[string]any{\"name\": \"read_file\", \"arguments\": nil}\nfmt.Println(x)"},
}

func TestTalkIsNoCall(t *testing.T) {
	tools := caseTools(t)
	for _, tt := range talk {
		r, err := Read(Answer{Message: chat.Message{Text: tt.text}, Finish: chat.Stopped, Tools: tools, Sure: func(chat.Call) bool { return true }})
		if len(r.Message.Calls) != 0 || err != nil || r.Message.Text != tt.text {
			t.Errorf("%s: calls %v, error %v, text %q", tt.about, r.Message.Calls, err, r.Message.Text)
		}
		agrees(t, tt.about, tt.text, tools)
	}
}

// The same words around a call that is meant.
func TestMeantIsCalled(t *testing.T) {
	tools := caseTools(t)
	for _, text := range []string{
		aCall,
		"I look at it first.\n" + aCall,
		"I look at it first. " + aCall,
		"I could guess, but I would rather look:\n" + aCall,
		"**Reading:**\n\n" + aCall + "\n\nNow I wait.",
		"It says `x` and `y`.\n" + aCall,
		"> quoted\n\n" + aCall,
		"```go\nx\n```\n" + aCall,
		"* one\n* two\n\n" + aCall + "<|im_end|>",
		"<!-- note -->\n" + aCall,
		"{not json}\n" + aCall,
	} {
		r, err := Read(Answer{Message: chat.Message{Text: text}, Finish: chat.Stopped, Tools: tools})
		if len(r.Message.Calls) != 1 || err != nil || strings.Contains(r.Message.Text, "tool_call") {
			t.Errorf("%q: calls %v, error %v, text %q", text, r.Message.Calls, err, r.Message.Text)
		}
	}
}

// What a model was shown, it quotes.
func TestShownIsQuoted(t *testing.T) {
	shown := "The file says:\n" + aCall + "\nand more."
	for text, calls := range map[string]int{aCall: 0, "It has\n" + aCall: 0, strings.Replace(aCall, `"a"`, `"b"`, 1): 1} {
		r, err := Read(Answer{Message: chat.Message{Text: text}, Tools: caseTools(t), Shown: []string{"x", shown}})
		if len(r.Message.Calls) != calls || err != nil {
			t.Errorf("%q: %d calls, %v", text, len(r.Message.Calls), err)
		}
	}
}

func TestNoToolsNoCalls(t *testing.T) {
	for _, text := range []string{aCall, `{"name":"read_file","arguments":{}}`, "<function=a><parameter=b>c"} {
		r, err := Read(Answer{Message: chat.Message{Text: text}})
		if err != nil || len(r.Message.Calls) > 0 || r.Message.Text != text {
			t.Errorf("%q: %+v, %v", text, r.Message, err)
		}
	}
}

func TestTruncatedRunsNothing(t *testing.T) {
	tools := caseTools(t)
	for about, text := range map[string]string{
		"whole, but more was to come": aCall,
		"in a value":                  "<function=write_file>\n<parameter=file_path>\na\n</parameter>\n<parameter=content>\nx",
		"an object":                   `{"name":"write_file","arguments":{"file_path":"a","content":"x`,
		"an object in a fence":        "```json\n" + `{"name":"write_file","arguments":{"file_path":"a","content":"x`,
		"one whole, one not":          aCall + "\n<tool_call>{\"name\":\"write_file\",\"arguments\":{\"content\":\"x",
	} {
		r, err := Read(Answer{Message: chat.Message{Text: text}, Finish: chat.CutShort, Tools: tools, Sure: func(chat.Call) bool { return true }})
		if !errors.Is(err, ErrCut) || r.Notice != Truncated || len(r.Message.Calls) > 0 {
			t.Errorf("%s: %v, notice %q, calls %v", about, err, r.Notice, r.Message.Calls)
		}
	}
	r, err := Read(Answer{Message: chat.Message{Text: "A long story"}, Finish: chat.CutShort, Tools: tools})
	if err != nil || r.Notice != "" || r.Message.Text != "A long story" {
		t.Errorf("prose: %+v, %v", r, err)
	}
	// One call is whole and the one behind it is not: the first runs, the person is told.
	r, err = Read(Answer{Message: chat.Message{Text: aCall + "\n<tool_call>{\"name\":\"write_file\",\"arguments\":{\"content\":\"x"}, Finish: chat.Stopped, Tools: tools})
	if err != nil || r.Notice != Truncated || len(r.Message.Calls) != 1 {
		t.Errorf("the second cut: %+v, %v", r, err)
	}
}

// Weak evidence is enough to read, not to write; a form that came three times is no longer weak.
func TestWeakEvidence(t *testing.T) {
	text := "I save it.\n```json\n{\"name\":\"write_file\",\"arguments\":{\"file_path\":\"a\",\"content\":\"b\"}}\n```"
	a := Answer{Message: chat.Message{Text: text}, Tools: caseTools(t), Sure: reads}
	r, err := Read(a)
	if !errors.Is(err, ErrText) || len(r.Message.Calls) != 0 || r.Form != "fence" || r.Message.Text != text {
		t.Errorf("got %+v, %v", r, err)
	}
	a.Forms = []string{"fence", "tagged", "fence", "fence"}
	if r, err = Read(a); err != nil || len(r.Message.Calls) != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
	a.Sure, a.Forms = nil, nil
	if _, err = Read(a); !errors.Is(err, ErrText) {
		t.Errorf("without Sure: %v", err)
	}
	a.Message.Text = `{"file_path":"a","content":"b"}` // nobody said that it is a call
	if r, err = Read(a); err != nil || len(r.Message.Calls) != 0 || r.Message.Text != a.Message.Text {
		t.Errorf("got %+v, %v", r, err)
	}
}
