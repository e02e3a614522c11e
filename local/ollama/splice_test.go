package ollama

import (
	"strings"
	"testing"

	"interpreter/local/chat"
)

func TestHalvesOfACharacterJoin(t *testing.T) {
	tests := []struct{ about, body, text, thinking string }{
		{"in two pieces", `{"message":{"content":"ok \ud83d"}}` + "\n" + `{"message":{"content":"\uDE00 end"},"done":true}`, "ok 😀 end", ""},
		{"in thinking, with text between", `{"message":{"thinking":"\ud83d"}}` + "\n" + `{"message":{"content":"a"}}` + "\n" + `{"message":{"thinking":"\ude00"},"done":true}`, "a", "😀"},
		{"an escaped backslash is none", `{"message":{"content":"\\ud83d"}}` + "\n" + `{"message":{"content":"\\ude00"},"done":true}`, `\ud83d\ude00`, ""},
		{"a half alone is a mark", `{"message":{"content":"a\ud83d"}}` + "\n" + `{"message":{"content":"b"},"done":true}`, "a\uFFFDb", ""},
		{"nothing", `{"message":{"content":null}}` + "\n" + `{"message":{"content":"","thinking":null},"done":true}`, "", ""},
	}
	for _, tt := range tests {
		var text, thinking strings.Builder
		err := newDecoder("m", nil).read(strings.NewReader(tt.body), func(d chat.Delta) bool {
			text.WriteString(d.Text)
			thinking.WriteString(d.Thinking)
			return true
		})
		if err != nil || text.String() != tt.text || thinking.String() != tt.thinking {
			t.Errorf("%s: %q, %q, %v", tt.about, text.String(), thinking.String(), err)
		}
	}
}

func TestCountsBelowNothingAreNothing(t *testing.T) {
	err := newDecoder("m", nil).read(strings.NewReader(`{"done":true,"prompt_eval_count":-3,"eval_count":-1}`), func(d chat.Delta) bool {
		if d.Usage.Input != 0 || d.Usage.Output != 0 {
			t.Errorf("got %+v", d.Usage)
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
}
