package openai

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"interpreter/harness/textcall"
	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/localtest"
)

// Answers are compared as the harnesses read them: tags of thinking in a text are a family's dialect, which package
// textcall knows.
func TestStreams(t *testing.T) {
	localtest.TestStreams(t, localtest.Streams{
		Bare: ".sse", Least: 20,
		Model: func(base string) chat.Model {
			p := newProvider(t, base, Options{First: localtest.Scaled(firstByte), Idle: localtest.Scaled(betweenTwo)})
			return p.Chat(local.ModelInfo{Name: "m"}, "m", 65536)
		},
		Read: func(m chat.Message) (chat.Message, error) {
			read, err := textcall.Read(textcall.Answer{Message: m, Finish: chat.Stopped})
			return read.Message, err
		},
	})
}

// sent is a message as it is on the wire.
type sent struct {
	Role    string
	Content json.RawMessage
	CallID  string `json:"tool_call_id"`
	Calls   []struct {
		ID       string
		Type     string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

func (s sent) text() string {
	var text string
	json.Unmarshal(s.Content, &text)
	return text
}

func readHistory(t *testing.T, file string) (messages []chat.Message) {
	t.Helper()
	var history []sent
	localtest.ReadJSON(t, file, &history)
	for _, h := range history {
		m := chat.Message{Role: chat.Role(h.Role), Text: h.text()}
		for _, c := range h.Calls {
			m.Calls = append(m.Calls, chat.Call{ID: c.ID, Name: c.Function.Name, Args: json.RawMessage(c.Function.Arguments)})
		}
		if h.CallID != "" {
			m.Result, m.Text = &chat.Result{CallID: h.CallID, Text: m.Text}, ""
		}
		messages = append(messages, m)
	}
	return messages
}

func encoded(t *testing.T, messages []chat.Message, f form) []sent {
	t.Helper()
	m := &model{provider: newProvider(t, "http://127.0.0.1:1", Options{}), id: "m"}
	var body struct{ Messages []sent }
	if err := json.Unmarshal(m.encode(chat.Request{Messages: messages}, f), &body); err != nil {
		t.Fatal(err)
	}
	return body.Messages
}

// TestHistories sends the histories of testdata/streams.
func TestHistories(t *testing.T) {
	t.Run("st-28", func(t *testing.T) {
		got := encoded(t, readHistory(t, "testdata/streams/st-28.history.json"), form{})
		if len(got) != 4 {
			t.Fatalf("%d messages", len(got))
		}
		first, second := got[0].Calls[0].ID, got[2].Calls[0].ID
		if first == second || got[1].CallID != first || got[3].CallID != second || got[1].text() != "a" || got[3].text() != "b" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("st-29", func(t *testing.T) {
		got := encoded(t, readHistory(t, "testdata/streams/st-29.history.json"), form{})
		var roles []string
		for _, m := range got {
			roles = append(roles, m.Role)
		}
		if !reflect.DeepEqual(roles, []string{"system", "user", "user"}) {
			t.Fatalf("roles %v", roles)
		}
		opening := got[0].text()
		if at := strings.Index(opening, "S1"); at < 0 || strings.Index(opening, "S2") < at || strings.Contains(opening, "S3") {
			t.Errorf("opening %q", opening)
		}
		if got[1].text() != "hi" || got[2].text() != "S3" {
			t.Errorf("got %+v", got)
		}
	})
}
