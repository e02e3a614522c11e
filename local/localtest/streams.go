package localtest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
)

// Streams is how a provider plays testdata/streams.
type Streams struct {
	Bare  string // the ending of a file that is one answer's body
	Least int    // cases there are
	// Model is one at a server whose time runs at Scale.
	Model func(base string) chat.Model
	// Read is how a harness reads an answer that was not cut; nil: as it is.
	Read func(chat.Message) (chat.Message, error)
}

// Scale is how fast time runs in TestStreams: six minutes of silence become a tenth of a second.
const Scale = 1.0 / 3600

// Scaled is a time at Scale.
func Scaled(d time.Duration) time.Duration { return time.Duration(float64(d) * Scale) }

// expected is what a case wants.
type expected struct {
	Text      string
	Reasoning string
	Calls     []struct {
		Name      string
		Arguments json.RawMessage
	}
	CallIDs          []string `json:"call_ids"`
	Outcome          string   // "ok", "incomplete", "error"
	Requests         int
	MinWait          int      `json:"min_wait_ms"`
	SecondWaitLonger bool     `json:"second_wait_longer"`
	MustMention      []string `json:"error_must_mention"`
	Kind             string   `json:"error_kind"`
	Retry            string
	Usage            *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	}
}

// ReadJSON reads a file of test data.
func ReadJSON(t testing.TB, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// TestStreams plays testdata/streams. A script goes through local.Retry with a clock that does not wait; a bare body
// is one answer without repetition. Cases with a history to send are somebody else's.
func TestStreams(t *testing.T, s Streams) {
	files, _ := filepath.Glob("testdata/streams/*.expected.json")
	if len(files) < s.Least {
		t.Fatalf("only %d cases", len(files))
	}
	for _, file := range files {
		base := strings.TrimSuffix(file, ".expected.json")
		if _, err := os.Stat(base + ".history.json"); err == nil {
			continue
		}
		t.Run(filepath.Base(base), func(t *testing.T) {
			var want expected
			ReadJSON(t, file, &want)
			player := &Player{Scale: Scale}
			scripted := false
			if _, err := os.Stat(base + ".script.json"); err == nil {
				player.Script, scripted = ReadScript(t, base+".script.json"), true
			} else {
				body, err := os.ReadFile(base + s.Bare)
				if err != nil {
					t.Fatal(err)
				}
				player.Script.Exchanges = []Exchange{{Status: 200, Steps: []Step{{Text: string(body)}}}}
			}
			server := httptest.NewServer(player)
			defer server.Close()
			m := s.Model(server.URL)
			var waits []time.Duration
			if scripted {
				m = local.Retry(m, local.Patience{Jitter: func() float64 { return 0.5 }, Sleep: func(_ context.Context, d time.Duration) error {
					waits = append(waits, d)
					return nil
				}})
			}
			got, err := Collect(t.Context(), m, Hello())
			want.check(t, s.read(t, got), got, err)
			if want.Requests > 0 && player.Requests() != want.Requests {
				t.Errorf("%d requests, want %d", player.Requests(), want.Requests)
			}
			if want.MinWait > 0 && (len(waits) == 0 || waits[0] < time.Duration(want.MinWait)*time.Millisecond) {
				t.Errorf("waits %v, want at least %d ms", waits, want.MinWait)
			}
			if want.SecondWaitLonger && (len(waits) != 2 || waits[1] <= waits[0]) {
				t.Errorf("waits %v, want the second longer", waits)
			}
		})
	}
}

func (s Streams) read(t *testing.T, got Answer) chat.Message {
	t.Helper()
	m := chat.Message{Role: chat.Assistant, Text: got.Text, Thinking: got.Thinking, Calls: got.Calls}
	if s.Read == nil || got.Finish == chat.CutShort {
		return m
	}
	read, err := s.Read(m)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// check compares an answer. A call that was cut is there to be answered, with its text in Raw and nothing to run.
func (want expected) check(t *testing.T, m chat.Message, got Answer, err error) {
	t.Helper()
	if (want.Outcome == "error") != (err != nil) {
		t.Fatalf("error %v, want outcome %s", err, want.Outcome)
	}
	cut := got.Finish == chat.CutShort
	if (want.Outcome == "incomplete") != cut {
		t.Errorf("finish %s, want outcome %s", got.Finish, want.Outcome)
	}
	if m.Text != want.Text || m.Thinking != want.Reasoning {
		t.Errorf("text %q, thinking %q", m.Text, m.Thinking)
	}
	if cut {
		for _, c := range m.Calls {
			if c.Raw == "" || string(c.Args) != "{}" {
				t.Errorf("a call that was cut can run: %+v", c)
			}
		}
		m.Calls = nil
	}
	want.checkCalls(t, m.Calls)
	if want.Usage != nil && (got.Usage.Input != want.Usage.Prompt || got.Usage.Output != want.Usage.Completion) {
		t.Errorf("usage %+v, want %+v", got.Usage, *want.Usage)
	}
	for _, words := range want.MustMention {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v does not mention %q", err, words)
		}
	}
	var failure *chat.Error
	if errors.As(err, &failure); want.Kind != "" && (failure == nil || string(failure.Kind) != want.Kind) {
		t.Errorf("error %v, want kind %s", err, want.Kind)
	}
	if strings.HasPrefix(want.Retry, "allowed") && (failure == nil || !failure.Retryable()) {
		t.Errorf("error %v must be retryable", err)
	}
}

func (want expected) checkCalls(t *testing.T, calls []chat.Call) {
	t.Helper()
	if len(calls) != len(want.Calls) {
		t.Fatalf("calls %+v", calls)
	}
	ids := map[string]bool{}
	for i, c := range calls {
		var a, b any
		_, _ = json.Unmarshal(c.Args, &a), json.Unmarshal(want.Calls[i].Arguments, &b)
		if c.Name != want.Calls[i].Name || !reflect.DeepEqual(a, b) || c.ID == "" || ids[c.ID] || c.Raw != "" {
			t.Errorf("call %+v, want %s %s", c, want.Calls[i].Name, want.Calls[i].Arguments)
		}
		if want.CallIDs != nil && c.ID != want.CallIDs[i] {
			t.Errorf("id %q, want %q", c.ID, want.CallIDs[i])
		}
		ids[c.ID] = true
	}
}
