package textcall

import (
	"encoding/json"
	"testing"

	"interpreter/local/chat"
)

func TestThoughtsInTheText(t *testing.T) {
	tests := []struct{ about, text, thinking, answer, notice string }{
		{"a block", "<think>\nplan\n</think>\n\nDone.", "plan", "Done.", ""},
		{"an empty block", "<think>\n\n</think>\n\nDone.", "", "Done.", ""},
		{"no end", "<think>so", "so", "", UnclosedThink},
		{"opened twice", "<think>\n<think>\nplan\n</think>\nDone.", "plan", "Done.", ""},
		{"no beginning", "plan\n</think>\nDone.", "plan", "Done.", ""},
		{"no beginning, in one line", "plan</think>Done.", "plan", "Done.", ""},
		{"two ends", "<think>a</think>\nb\n</think>\nDone.", "a\nb", "Done.", ""},
		{"a second block", "<think>a</think>\nOne.\n<think>b</think>\nTwo.", "a\nb", "One.\nTwo.", ""},
		{"the tag named in a thought", "<think>I write `</think>` there</think>Done.", "I write `</think>` there", "Done.", ""},
		{"other tags", "[THINK]plan[/THINK]Done.", "plan", "Done.", ""},
		{"gemma", "<|channel>thought\nplan\n<channel|>Done.", "plan", "Done.", ""},
		{"gemma, no end", "<|channel>thought\nplan", "plan", "", UnclosedThink},
		{"xtml", "<|open|>think<|sep|>plan<|close|>think<|sep|><|open|>response<|sep|>Done.<|close|>response<|sep|>", "plan", "Done.", ""},
		{"harmony", "<|channel|>analysis<|message|>plan<|end|><|start|>assistant<|channel|>final<|message|>Done.<|return|>", "plan", "Done.", ""},
		{"harmony, no end", "<|channel|>analysis<|message|>plan", "plan", "", UnclosedThink},
		{"named in back ticks", "Write `</think>`\nthere.", "", "Write `</think>`\nthere.", ""},
		{"in a fence", "```\na</think>\n```\nThat ends it.", "", "```\na</think>\n```\nThat ends it.", ""},
		{"in the middle of a line", "The tag </think> ends it.", "", "The tag </think> ends it.", ""},
		{"opened and closed later on", "Use\n<think>\nx\n</think>\nfor it.", "", "Use\n<think>\nx\n</think>\nfor it.", ""},
		{"words that a thought could begin with", "analysis of the code follows.", "", "analysis of the code follows.", ""},
	}
	for _, tt := range tests {
		r, err := Read(Answer{Message: chat.Message{Text: tt.text}})
		if m := r.Message; err != nil || m.Thinking != tt.thinking || m.Text != tt.answer || r.Notice != tt.notice {
			t.Errorf("%s: thinking %q, text %q, notice %q, %v", tt.about, m.Thinking, m.Text, r.Notice, err)
		} else if m.Text != tt.text && m.Written != tt.text {
			t.Errorf("%s: written %q", tt.about, m.Written)
		}
		agrees(t, tt.about, tt.text, nil)
	}
	r, err := Read(Answer{Message: chat.Message{Thinking: "one", Text: "<think>two</think>three"}})
	if m := r.Message; err != nil || m.Thinking != "one\ntwo" || m.Text != "three" {
		t.Errorf("got %+v, %v", m, err)
	}
}

// A call is taken out of thoughts only when it is whole and the last thing in them, and nothing else came.
func TestCallsInThoughts(t *testing.T) {
	kimi := `<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>{"file_path":"a"}<|tool_call_end|><|tool_calls_section_end|>`
	own := []chat.Call{{ID: "1", Name: "list_directory", Args: json.RawMessage(`{}`)}}
	for _, tt := range []struct {
		about          string
		thinking, text string
		calls          []chat.Call
		finish         chat.Finish
		want           int
		rest           string
	}{
		{"at the end", "I look. " + kimi, "", nil, chat.Stopped, 1, "I look."},
		{"in tags that were not closed", "", "<think>I look.\n" + aCall, nil, chat.Stopped, 1, "I look."},
		{"with an answer", "I look. " + kimi, "Done.", nil, chat.Stopped, 0, "I look. " + kimi},
		{"with a call", kimi, "", own, chat.Stopped, 1, kimi},
		{"cut", kimi, "", nil, chat.CutShort, 0, kimi},
		{"not the last thing", kimi + " or not", "", nil, chat.Stopped, 0, kimi + " or not"},
		{"a required argument missing", `<tool_call>{"name":"read_file","arguments":{}}</tool_call>`, "", nil, chat.Stopped, 0, `<tool_call>{"name":"read_file","arguments":{}}</tool_call>`},
		{"an unknown tool", `<tool_call>{"name":"fly","arguments":{}}</tool_call>`, "", nil, chat.Stopped, 0, `<tool_call>{"name":"fly","arguments":{}}</tool_call>`},
		{"no marks", `{"name":"read_file","arguments":{"file_path":"a"}}`, "", nil, chat.Stopped, 0, `{"name":"read_file","arguments":{"file_path":"a"}}`},
		{"two groups, a draft between", aCall + " no, rather\n" + kimi, "", nil, chat.Stopped, 1, aCall + " no, rather"},
		{"a draft and then an answer", "", aCall + "\n</think>\nDone.", nil, chat.Stopped, 0, aCall},
	} {
		r, err := Read(Answer{Message: chat.Message{Text: tt.text, Thinking: tt.thinking, Calls: tt.calls}, Finish: tt.finish, Tools: caseTools(t)})
		if err != nil || len(r.Message.Calls) != tt.want || r.Message.Thinking != tt.rest {
			t.Errorf("%s: %v, calls %v, thinking %q", tt.about, err, r.Message.Calls, r.Message.Thinking)
		}
		if tt.want > 0 && r.Notice != "" {
			t.Errorf("%s: notice %q", tt.about, r.Notice)
		}
	}
}
