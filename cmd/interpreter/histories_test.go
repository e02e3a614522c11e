package main

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"interpreter/harness"
	"interpreter/harness/native"
	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/localtest"
	"interpreter/local/messages"
	"interpreter/local/ollama"
	"interpreter/local/openai"
	"interpreter/local/practice"
	"interpreter/local/responses"
)

// sentOver sends what a harness makes of a conversation over each wire, and returns what the server understood.
func sentOver(t *testing.T, opening, transcript []chat.Message, check func(t *testing.T, got []chat.Message)) {
	t.Helper()
	for name, make := range map[string]func(base string) (local.Provider, error){
		"ollama":    func(base string) (local.Provider, error) { return orNil(ollama.New(base, ollama.Options{})) },
		"chat":      func(base string) (local.Provider, error) { return orNil(openai.New(base, openai.Options{})) },
		"responses": func(base string) (local.Provider, error) { return orNil(responses.New(base, openai.Options{})) },
		"messages":  func(base string) (local.Provider, error) { return orNil(messages.New(base, openai.Options{})) },
	} {
		t.Run(name, func(t *testing.T) {
			script, err := practice.Parse("follow requests\nreply\n  say ok\nreply\n  say ok\n")
			if err != nil {
				t.Fatal(err)
			}
			server := practice.NewServer(script)
			at := httptest.NewServer(server)
			defer at.Close()
			p, err := make(at.URL)
			if err != nil {
				t.Fatal(err)
			}
			list, err := p.Models(t.Context())
			if err != nil || len(list) == 0 {
				t.Fatalf("%v, %v", list, err)
			}
			m, err := p.Load(t.Context(), list[0], local.Loading{Window: 8192, Adopt: name != "ollama"})
			if err != nil {
				t.Fatal(err)
			}
			req := native.Harness.Request(harness.Environment{}, opening, nil, transcript, 8192)
			if _, err := localtest.Collect(t.Context(), local.Retry(m, local.Patience{Requests: -1}), req); err != nil {
				t.Fatal(err)
			}
			all := server.Requests()
			check(t, all[len(all)-1].Request.Messages)
		})
	}
}

// readHistory reads a conversation as the cases have it: the messages that open it, and the rest.
func readHistory(t *testing.T, file string) (opening, transcript []chat.Message) {
	t.Helper()
	var history []struct {
		Role, Content string
		CallID        string `json:"tool_call_id"`
		Calls         []struct {
			ID       string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	localtest.ReadJSON(t, file, &history)
	for _, h := range history {
		m := chat.Message{Role: chat.Role(h.Role), Text: h.Content}
		if h.Role == "developer" {
			m.Role = chat.System
		}
		for _, c := range h.Calls {
			m.Calls = append(m.Calls, chat.Call{ID: c.ID, Name: c.Function.Name, Args: json.RawMessage(c.Function.Arguments)})
		}
		if h.CallID != "" {
			m.Result, m.Text = &chat.Result{CallID: h.CallID, Text: m.Text}, ""
		}
		if m.Role == chat.System && len(transcript) == 0 {
			opening = append(opening, m)
			continue
		}
		transcript = append(transcript, m)
	}
	return opening, transcript
}

// An id that a server used twice: each result goes to its own call, on every wire.
func TestReusedIDs(t *testing.T) {
	opening, transcript := readHistory(t, "testdata/streams/st-28.history.json")
	transcript = append([]chat.Message{{Role: chat.User, Text: "go"}}, transcript...)
	sentOver(t, opening, transcript, func(t *testing.T, got []chat.Message) {
		text := map[string]string{}
		var ids []string
		for _, m := range got {
			for _, c := range m.Calls {
				ids = append(ids, c.ID)
			}
			if m.Result != nil {
				text[m.Result.CallID] += m.Result.Text
			}
		}
		if len(ids) != 2 || ids[0] == ids[1] || text[ids[0]] != "a" || text[ids[1]] != "b" {
			t.Errorf("ids %v, results %v", ids, text)
		}
	})
}

// What instructs a model is one system message, first, on every wire; what comes later is said by the user.
func TestOneSystemMessage(t *testing.T) {
	opening, transcript := readHistory(t, "testdata/streams/st-29.history.json")
	sentOver(t, opening, transcript, func(t *testing.T, got []chat.Message) {
		for i, m := range got {
			if (m.Role == chat.System) != (i == 0) || m.Role == "developer" {
				t.Errorf("message %d is of the %s", i, m.Role)
			}
		}
		at := strings.Index(got[0].Text, "S1")
		if at < 0 || strings.Index(got[0].Text, "S2") < at || strings.Contains(got[0].Text, "S3") {
			t.Errorf("it says %q", got[0].Text)
		}
		var rest []string
		for _, m := range got[1:] {
			rest = append(rest, m.Text)
		}
		if said := strings.Join(rest, ""); strings.Index(said, "hi") != 0 || !strings.Contains(said, "S3") {
			t.Errorf("the rest is %q", rest)
		}
	})
}
