// Package localtest is the contract of local.Provider as tests: each provider passes TestProvider. It knows no wire;
// a Wire tells it how the provider's server says things.
package localtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
)

// A Wire is how one kind of server speaks.
type Wire struct {
	// New makes the provider of the server at base. first and idle are the silence it allows.
	New func(base string, first, idle time.Duration) local.Provider
	// Serve answers all that is asked about a server in this state; a chat call with messages goes to answer.
	Serve func(state State, answer http.Handler) http.Handler
	// The pieces of a streamed answer.
	Type     string
	Text     func(string) string
	Thinking func(string) string
	Calls    func(...chat.Call) string
	End      func(finish chat.Finish, input, output int) string
	Fault    func(text string) string // an error in the middle of a stream
	Refusal  func(text string) string // the body beside an error status
	Overflow func(prompt, window int) string
	Missing  func(model string) string
}

// State is what a server has.
type State struct {
	Version string
	Model   local.ModelInfo
	Window  int // of the loaded model; 0: none is loaded until a chat call asks for a window
}

// Sample is the state of most tests.
var sample = State{
	Version: "0.24.0",
	Model: local.ModelInfo{
		Name: "practice:latest", Digest: strings.Repeat("a1", 32), Size: 2 << 20, Architecture: "llama",
		Trained: 131072, Capabilities: []string{"completion", "tools", "thinking"},
	},
	Window: 65536,
}

const long = 10 * time.Second

// answer is a server that sends a body and ends well.
func answer(wire Wire, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", wire.Type)
		io.WriteString(w, body)
	})
}

// start runs a server and loads its model.
func start(t *testing.T, wire Wire, first, idle time.Duration, answer http.Handler) chat.Model {
	t.Helper()
	server := httptest.NewServer(wire.Serve(sample, answer))
	t.Cleanup(server.Close)
	p := wire.New(server.URL, first, idle)
	model, err := p.Load(t.Context(), sample.Model, local.Loading{Window: sample.Window})
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return model
}

// Answer is a stream put together.
type Answer struct {
	Text, Thinking string
	Calls          []chat.Call
	Usage          chat.Usage
	Finish         chat.Finish
	Waits          []chat.Wait
}

// Collect reads a stream to its end; a Wait voids what came before it.
func Collect(ctx context.Context, m chat.Model, req chat.Request) (Answer, error) {
	var a Answer
	for d, err := range m.Stream(ctx, req) {
		if err != nil {
			return a, err
		}
		if d.Wait != nil {
			a = Answer{Waits: append(a.Waits, *d.Wait)}
			continue
		}
		a.Text += d.Text
		a.Thinking += d.Thinking
		if d.Call != nil {
			a.Calls = append(a.Calls, *d.Call)
		}
		if d.Usage != nil {
			a.Usage = *d.Usage
		}
		if d.Finish != "" {
			a.Finish = d.Finish
		}
	}
	return a, nil
}

// Hello is a request of one short message.
func Hello() chat.Request {
	return chat.Request{Messages: []chat.Message{{Role: chat.User, Text: "hello"}}}
}

func kind(t *testing.T, err error, want chat.Kind) *chat.Error {
	t.Helper()
	var failure *chat.Error
	if !errors.As(err, &failure) {
		t.Fatalf("got %v, want a chat.Error of kind %s", err, want)
	}
	if failure.Kind != want {
		t.Fatalf("got kind %s (%v), want %s", failure.Kind, err, want)
	}
	return failure
}

// TestProvider is the whole contract.
func TestProvider(t *testing.T, wire Wire) {
	t.Run("version, models, show, loaded", func(t *testing.T) { testFacts(t, wire) })
	t.Run("an answer", func(t *testing.T) { testAnswer(t, wire) })
	t.Run("any split of a stream gives the same answer", func(t *testing.T) { testSplit(t, wire) })
	t.Run("a cut stream is broken", func(t *testing.T) { testCut(t, wire) })
	t.Run("an error after text", func(t *testing.T) { testFault(t, wire) })
	t.Run("refusals", func(t *testing.T) { testRefusals(t, wire) })
	t.Run("a huge line", func(t *testing.T) { testHuge(t, wire) })
	t.Run("leaving closes the connection", func(t *testing.T) { testLeave(t, wire) })
	t.Run("silence", func(t *testing.T) { testSilence(t, wire) })
	t.Run("nobody there", func(t *testing.T) { testNobody(t, wire) })
	t.Run("ids are never used twice", func(t *testing.T) { testIDs(t, wire) })
}

func testFacts(t *testing.T, wire Wire) {
	server := httptest.NewServer(wire.Serve(sample, answer(wire, "")))
	defer server.Close()
	p := wire.New(server.URL, long, long)
	if p.Address() != server.URL {
		t.Errorf("address %q, want %q", p.Address(), server.URL)
	}
	if v, err := p.Version(t.Context()); err != nil || v == "" {
		t.Errorf("version %q, %v", v, err)
	}
	list, err := p.Models(t.Context())
	if err != nil || len(list) != 1 || list[0].Name != sample.Model.Name || list[0].Provider != p.Name() {
		t.Fatalf("models %+v, %v", list, err)
	}
	shown, err := p.Show(t.Context(), sample.Model.Name)
	if err != nil || shown.Trained != sample.Model.Trained || !shown.Can("tools") {
		t.Errorf("show %+v, %v", shown, err)
	}
	_, err = p.Show(t.Context(), "absent:1b")
	kind(t, err, chat.Missing)
	loaded, err := p.Loaded(t.Context())
	if err != nil || len(loaded) != 1 || loaded[0].Window != sample.Window {
		t.Errorf("loaded %+v, %v", loaded, err)
	}
}

// everything is an answer with all there can be in one, and what it must become.
func everything(wire Wire) (body string, want Answer) {
	calls := []chat.Call{
		{ID: "k1", Name: "write_file", Args: []byte(`{"file_path":"ü.txt","content":"日本 🎉 <b> & \"q\"\n"}`)},
		{ID: "k2", Name: "read_file", Args: []byte(`{"z":1,"a":[1.0,2e3,12345678901234567890],"n":null}`)},
	}
	body = wire.Thinking("let me ") + wire.Thinking("see…") + wire.Text("Grüße, ") + wire.Text("日本 🎉") +
		wire.Calls(calls...) + wire.End(chat.Stopped, 11, 5)
	return body, Answer{
		Text: "Grüße, 日本 🎉", Thinking: "let me see…", Calls: calls,
		Usage: chat.Usage{Input: 11, Output: 5}, Finish: chat.Stopped,
	}
}

func same(t *testing.T, got, want Answer) {
	t.Helper()
	got.Usage.Load, got.Usage.Prefill, got.Usage.Decode = 0, 0, 0
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %s\nwant %s", say(got), say(want))
	}
}

func say(a Answer) string {
	text := fmt.Sprintf("text %q, thinking %q, finish %s, usage %+v", a.Text, a.Thinking, a.Finish, a.Usage)
	for _, c := range a.Calls {
		text += fmt.Sprintf("\n     call %s %s %s %q", c.ID, c.Name, c.Args, c.Raw)
	}
	return text
}

func testAnswer(t *testing.T, wire Wire) {
	body, want := everything(wire)
	got, err := Collect(t.Context(), start(t, wire, long, long, answer(wire, body)), Hello())
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, want)
	cut := wire.Text("half an ans") + wire.End(chat.CutShort, 3, 4)
	got, err = Collect(t.Context(), start(t, wire, long, long, answer(wire, cut)), Hello())
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, Answer{Text: "half an ans", Usage: chat.Usage{Input: 3, Output: 4}, Finish: chat.CutShort})
}

func testSplit(t *testing.T, wire Wire) {
	body, want := everything(wire)
	at := 0
	model := start(t, wire, long, long, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", wire.Type)
		io.WriteString(w, body[:at])
		w.(http.Flusher).Flush()
		io.WriteString(w, body[at:])
	}))
	for at = 1; at < len(body); at++ {
		got, err := Collect(t.Context(), model, Hello())
		if err != nil {
			t.Fatalf("split at %d: %v", at, err)
		}
		if same(t, got, want); t.Failed() {
			t.Fatalf("split at %d", at)
		}
	}
}

func testCut(t *testing.T, wire Wire) {
	body, _ := everything(wire)
	end := strings.Index(body, "write_file") + 40
	for _, cut := range []struct {
		name string
		end  func(w http.ResponseWriter)
	}{
		{"the connection breaks", reset},
		{"the body ends", func(http.ResponseWriter) {}},
	} {
		t.Run(cut.name, func(t *testing.T) {
			model := start(t, wire, long, long, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", wire.Type)
				io.WriteString(w, body[:end])
				w.(http.Flusher).Flush()
				cut.end(w)
			}))
			got, err := Collect(t.Context(), model, Hello())
			if failure := kind(t, err, chat.Broken); !failure.Retryable() {
				t.Error("a broken stream must be retryable")
			}
			if len(got.Calls) > 0 {
				t.Errorf("a call that did not arrive whole came out: %+v", got.Calls)
			}
		})
	}
}

func testFault(t *testing.T, wire Wire) {
	body := wire.Text("par") + wire.Fault("an unknown error was encountered while running the model")
	got, err := Collect(t.Context(), start(t, wire, long, long, answer(wire, body)), Hello())
	failure := kind(t, err, chat.Server)
	if got.Text != "par" || !strings.Contains(failure.Error(), "unknown error") {
		t.Errorf("got text %q, error %v", got.Text, err)
	}
}

func testRefusals(t *testing.T, wire Wire) {
	refuse := func(status int, header, body string) (*chat.Error, error) {
		model := start(t, wire, long, long, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if header != "" {
				w.Header().Set("Retry-After", header)
			}
			w.WriteHeader(status)
			io.WriteString(w, body)
		}))
		_, err := Collect(t.Context(), model, Hello())
		var failure *chat.Error
		if !errors.As(err, &failure) {
			t.Fatalf("status %d: got %v, want a chat.Error", status, err)
		}
		return failure, err
	}
	if e, _ := refuse(429, "2", wire.Refusal("slow down")); e.Kind != chat.Busy || e.RetryAfter != 2*time.Second || e.Status != 429 {
		t.Errorf("429: got %+v", e)
	}
	if e, _ := refuse(503, "", "loading model"); e.Kind != chat.Busy || !e.Retryable() {
		t.Errorf("503: got %+v", e)
	}
	if e, _ := refuse(404, "", wire.Missing(sample.Model.Name)); e.Kind != chat.Missing || e.Retryable() || !strings.Contains(e.Remedy, sample.Model.Name) {
		t.Errorf("404: got %+v", e)
	}
	if e, err := refuse(400, "", wire.Overflow(15028, 7424)); e.Kind != chat.Overflow || e.Retryable() || e.Prompt != 15028 || e.Window != 7424 ||
		!strings.Contains(err.Error(), "15028") || !strings.Contains(err.Error(), "7424") {
		t.Errorf("overflow: got %+v", e)
	}
	if e, _ := refuse(500, "", wire.Refusal("something broke")); e.Kind != chat.Server || !strings.Contains(e.Error(), "something broke") {
		t.Errorf("500: got %+v", e)
	}
	if e, _ := refuse(400, "", wire.Refusal("what is this")); e.Kind != chat.Invalid || e.Retryable() {
		t.Errorf("400: got %+v", e)
	}
}

func testHuge(t *testing.T, wire Wire) {
	content := strings.Repeat("line of a large file\\n", 300_000) // 6 MB
	call := chat.Call{ID: "k1", Name: "write_file", Args: []byte(`{"content":"` + content + `"}`)}
	model := start(t, wire, long, long, answer(wire, wire.Calls(call)+wire.End(chat.Stopped, 1, 1)))
	got, err := Collect(t.Context(), model, Hello())
	if err != nil || len(got.Calls) != 1 || string(got.Calls[0].Args) != string(call.Args) {
		t.Fatalf("got %d calls, %v", len(got.Calls), err)
	}
}

func testLeave(t *testing.T, wire Wire) {
	closed := make(chan struct{}, 2)
	hang := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", wire.Type)
		io.WriteString(w, wire.Text("first"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		closed <- struct{}{}
	})
	gone := func(how string) {
		select {
		case <-closed:
		case <-time.After(long):
			t.Fatalf("%s did not close the connection", how)
		}
	}
	model := start(t, wire, long, long, hang)
	for d, err := range model.Stream(t.Context(), Hello()) {
		if err != nil || d.Text != "first" {
			t.Fatalf("got %+v, %v", d, err)
		}
		break
	}
	gone("breaking out")
	ctx, cancel := context.WithCancel(t.Context())
	for d, err := range model.Stream(ctx, Hello()) {
		if d.Text == "first" {
			cancel()
			continue
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	}
	cancel()
	gone("cancelling")
}

// testSilence holds the first byte back for longer than the idle limit, and then falls silent.
func testSilence(t *testing.T, wire Wire) {
	const idle = 50 * time.Millisecond
	model := start(t, wire, long, idle, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", wire.Type)
		select {
		case <-time.After(3 * idle):
		case <-r.Context().Done():
		}
		io.WriteString(w, wire.Text("late"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	got, err := Collect(t.Context(), model, Hello())
	kind(t, err, chat.Idle)
	if got.Text != "late" {
		t.Errorf("the wait for the first byte was cut: %q", got.Text)
	}
}

func testNobody(t *testing.T, wire Wire) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := wire.New(server.URL, long, long).Version(t.Context())
	if failure := kind(t, err, chat.Unreachable); failure.Remedy == "" || !strings.Contains(failure.Error(), server.URL) {
		t.Errorf("got %v with remedy %q", failure, failure.Remedy)
	}
}

func testIDs(t *testing.T, wire Wire) {
	body := wire.Calls(chat.Call{Name: "a", Args: []byte(`{}`)}, chat.Call{ID: "call_1", Name: "b", Args: []byte(`{}`)}) + wire.End(chat.Stopped, 1, 1)
	req := Hello()
	seen := map[string]bool{}
	model := start(t, wire, long, long, answer(wire, body))
	for range 3 {
		got, err := Collect(t.Context(), model, req)
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, chat.Message{Role: chat.Assistant, Calls: got.Calls})
		for _, c := range got.Calls {
			if c.ID == "" || seen[c.ID] {
				t.Errorf("id %q is empty or used twice", c.ID)
			}
			seen[c.ID] = true
			req.Messages = append(req.Messages, chat.Message{Role: chat.Tool, Result: &chat.Result{CallID: c.ID, Name: c.Name, Text: "done"}})
		}
	}
}
