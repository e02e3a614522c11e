package messages

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/localtest"
	"interpreter/local/openai"
	"interpreter/local/practice"
)

func decode(r io.Reader) (deltas []chat.Delta, failure string) {
	for d, err := range Decode(r) {
		if err != nil {
			failure = err.Error()
			break
		}
		deltas = append(deltas, d)
	}
	return deltas, failure
}

// together is an answer as a reader of it has it.
func together(body string) (localtest.Answer, string) {
	var a localtest.Answer
	deltas, failure := decode(strings.NewReader(body))
	for _, d := range deltas {
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
	return a, failure
}

const recorded = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":9,"cache_creation_input_tokens":2,"cache_read_input_tokens":30,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Weigh both."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqRk"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"日本 \ud83d"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"\ude00"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"read_file","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"file_path\": \"ü"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":".txt\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_2","name":"list","input":{}}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":17}}

event: message_stop
data: {"type":"message_stop"}

`

func TestRecorded(t *testing.T) {
	got, failure := together(recorded)
	if failure != "" || got.Text != "日本 😀" || got.Thinking != "Weigh both." || got.Finish != chat.Stopped ||
		got.Usage != (chat.Usage{Input: 41, CachedInput: 30, CacheWrite: 2, Output: 17}) {
		t.Errorf("got %+v %s", got, failure)
	}
	if len(got.Calls) != 2 || got.Calls[0].ID != "toolu_1" || string(got.Calls[0].Args) != `{"file_path": "ü.txt"}` || string(got.Calls[1].Args) != "{}" {
		t.Errorf("calls %+v", got.Calls)
	}
	seal := ""
	deltas, _ := decode(strings.NewReader(recorded))
	for _, d := range deltas {
		seal += d.Seal
	}
	if seal != "EqRk" {
		t.Errorf("seal %q", seal)
	}
	splits := []int{}
	for at := -1; at < len(recorded); at++ {
		splits = append(splits, at)
	}
	localtest.SameInPieces(t, []byte(recorded), decode, splits...)
}

// Servers that are less exact than the wire is.
func TestSloppy(t *testing.T) {
	stop := event1("message_stop", "")
	piece := func(index, delta string) string { return event1("content_block_delta", index+`"delta":`+delta) }
	for name, test := range map[string]struct {
		body, text, thinking, calls, failure string
		finish                               chat.Finish
	}{
		"blocks out of order come out in the order of their numbers": {
			body: event1("content_block_start", `"index":0,"content_block":{"type":"text","text":"a"}`) + event1("content_block_start", `"index":1,"content_block":{"type":"text","text":""}`) +
				piece(`"index":1,`, `{"type":"text_delta","text":"c"}`) + piece(`"index":0,`, `{"type":"text_delta","text":"b"}`) +
				event1("content_block_stop", `"index":1`) + event1("content_block_stop", `"index":0`) + stop,
			text: "abc", finish: chat.Stopped,
		},
		"blocks that nobody closes": {
			body: event1("content_block_start", `"index":0,"content_block":{"type":"thinking","thinking":"t"}`) + event1("content_block_start", `"index":1,"content_block":{"type":"text","text":"x"}`) + stop,
			text: "x", thinking: "t", finish: chat.Stopped,
		},
		"every block has the same number": {
			body: event1("content_block_start", `"index":0,"content_block":{"type":"text","text":"x"}`) + event1("content_block_stop", `"index":0`) +
				event1("content_block_start", `"index":0,"content_block":{"type":"tool_use","id":"a","name":"f"}`) + piece(`"index":0,`, `{"type":"input_json_delta","partial_json":"{\"n\":1}"}`) + event1("content_block_stop", `"index":0`) +
				event1("content_block_start", `"index":0,"content_block":{"type":"tool_use","id":"a","name":"g","input":{"n":2}}`) + event1("content_block_stop", `"index":0`) + stop,
			text: "x", calls: `a f {"n":1};call_1 g {"n":2}`, finish: chat.Stopped,
		},
		"no numbers and no beginnings": {body: piece("", `{"type":"text_delta","text":"a"}`) + piece("", `{"type":"text_delta","text":"b"}`) + stop, text: "ab", finish: chat.Stopped},
		"an input that comes as a text": {
			body:  event1("content_block_start", `"index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":"{\"n\":1}"}`) + stop,
			calls: `a f {"n":1}`, finish: chat.Stopped,
		},
		"an input that is no object is kept as it is": {
			body: event1("content_block_start", `"index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}`) +
				piece(`"index":0,`, `{"type":"input_json_delta","partial_json":"{\"n\": oops"}`) + stop,
			calls: `a f {} raw {"n": oops`, finish: chat.Stopped,
		},
		"cut at the limit": {
			body: event1("content_block_start", `"index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}`) +
				piece(`"index":0,`, `{"type":"input_json_delta","partial_json":"{\"n\": \"x"}`) + end(chat.CutShort, 1, 1),
			calls: `a f {} raw {"n": "x`, finish: chat.CutShort,
		},
		"the window is full":         {body: event1("message_delta", `"delta":{"stop_reason":"model_context_window_exceeded"}`) + stop, finish: chat.CutShort},
		"events without their line":  {body: "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\ndata: {\"type\":\"message_stop\"}", text: "x", finish: chat.Stopped},
		"an event that nobody knows": {body: event1("new_thing", `"x":1`) + stop, finish: chat.Stopped},
		"no stream": {
			body: `{"id":"msg","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"x"},{"type":"tool_use","id":"a","name":"f","input":{"b": 1}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":2}}`,
			text: "x", thinking: "t", calls: `a f {"b": 1}`, finish: chat.Stopped,
		},
		"ends before its end":     {body: event1("content_block_start", `"index":0,"content_block":{"type":"text","text":"x"}`) + event1("content_block_stop", `"index":0`), text: "x", failure: "the connection broke off"},
		"ends with its reason":    {body: event1("content_block_start", `"index":0,"content_block":{"type":"text","text":"x"}`) + strings.TrimSuffix(end(chat.Stopped, 1, 1), stop), text: "x", finish: chat.Stopped},
		"ends in an event":        {body: `data: {"type":"content_bl`, failure: "middle of an event"},
		"nothing":                 {failure: "the connection broke off"},
		"too much to do":          {body: "event: error\ndata: " + failureOf("overloaded_error", "Overloaded") + "\n\n", failure: "the server is busy: Overloaded"},
		"too long":                {body: "event: error\ndata: " + failureOf("invalid_request_error", "prompt is too long: 20 tokens > 10 maximum") + "\n\n", failure: "the prompt has 20 tokens, the window holds 10"},
		"an error in place of it": {body: failureOf("api_error", "it broke"), failure: "the server failed: it broke"},
		"an error without a form": {body: "event: error\ndata: boom\n\n", failure: "boom"},
		"another program":         {body: "<html><title>Hi</title>", failure: "a web page, not the answer of a messages server"},
	} {
		t.Run(name, func(t *testing.T) {
			got, failure := together(test.body)
			var calls []string
			for _, c := range got.Calls {
				line := c.ID + " " + c.Name + " " + string(c.Args)
				if c.Raw != "" {
					line += " raw " + c.Raw
				}
				calls = append(calls, line)
			}
			if got.Text != test.text || got.Thinking != test.thinking || strings.Join(calls, ";") != test.calls || got.Finish != test.finish ||
				(failure == "") != (test.failure == "") || !strings.Contains(failure, test.failure) {
				t.Errorf("got %+v, %q", got, failure)
			}
		})
	}
}

func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		recorded, recorded[:len(recorded)-120], "data: {}\n\n", "event: message_stop\ndata: {}", "{", "<p>", "\xef\xbb\xbfdata: {\"type\":\"message_stop\"}",
		`data: {"type":"content_block_start","index":-5,"content_block":{"type":"tool_use","input":7}}` + "\n\n" + `data: {"type":"message_stop"}`,
		`data: {"type":"content_block_delta","delta":{"partial_json":"\ud83d"}}` + "\n" + `data: {"type":"message_stop"}`,
		`{"type":"message","content":[{"type":"text","text":"x"},{}]}`, "event: error\ndata: x\n", "data: [DONE]\n\n",
	} {
		f.Add([]byte(seed), 7)
	}
	localtest.FuzzSplit(f, decode)
}

// The practice model says the same here as on other wires.
func TestPractice(t *testing.T) {
	script, err := practice.Parse("reply\n  think hm\n  say I look.\n  call read_file {\"file_path\": \"a.go\"}\nreply\n  want ^package a\n  say It is a.\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"messages", "ollama", "lmstudio"} {
		server, err := practice.NewWire(script, kind)
		if err != nil {
			t.Fatal(err)
		}
		at := httptest.NewServer(server)
		defer at.Close()
		p := newProvider(t, at.URL, openai.Options{})
		list, err := p.Models(t.Context())
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %v, %v", kind, list, err)
		}
		m := p.Chat(list[0], list[0].Name, 32768)
		req := chat.Request{Messages: []chat.Message{{Role: chat.User, Text: "what is it?"}}, Tools: []chat.Spec{{Name: "read_file"}}}
		got, err := localtest.Collect(t.Context(), m, req)
		if err != nil || got.Text != "I look." || got.Thinking != "hm" || len(got.Calls) != 1 || got.Usage.Input == 0 {
			t.Fatalf("%s: %+v, %v", kind, got, err)
		}
		req.Messages = append(req.Messages, chat.Message{Role: chat.Assistant, Text: got.Text, Thinking: got.Thinking, Calls: got.Calls},
			chat.Message{Role: chat.Tool, Result: &chat.Result{CallID: got.Calls[0].ID, Name: "read_file", Text: "package a"}})
		if got, err = localtest.Collect(t.Context(), m, req); err != nil || got.Text != "It is a." || got.Finish != chat.Stopped {
			t.Fatalf("%s: %+v, %v", kind, got, err)
		}
		if failures := server.Failures(); len(failures) > 0 {
			t.Errorf("%s: %v", kind, failures)
		}
	}
}

// Errors are told apart by what can be done about them, and headers are the wire's own and the person's.
func TestRefused(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
		kind   chat.Kind
	}{
		"overloaded":     {529, failureOf("overloaded_error", "Overloaded"), chat.Busy},
		"a key":          {401, failureOf("authentication_error", "invalid x-api-key"), chat.Denied},
		"a model":        {404, failureOf("not_found_error", "model: m"), chat.Missing},
		"a path":         {404, "404 page not found", chat.Invalid},
		"both too long":  {400, failureOf("invalid_request_error", "input length and `max_tokens` exceed context limit: 190 + 20 > 200, decrease input length or `max_tokens` and try again"), chat.Overflow},
		"slow down":      {429, failureOf("rate_limit_error", "slow down"), chat.Busy},
		"no permission":  {403, failureOf("permission_error", "not yours"), chat.Denied},
		"something else": {400, failureOf("invalid_request_error", "messages: at least one message is needed"), chat.Invalid},
	} {
		m, got := answering(t, openai.Options{Header: map[string][]string{"X-Api-Key": {"k"}}}, 0, refuses(test.status, test.body))
		_, err := localtest.Collect(t.Context(), m, localtest.Hello())
		var failure *chat.Error
		if !errors.As(err, &failure) || failure.Kind != test.kind {
			t.Errorf("%s: got %v, want %s", name, err, test.kind)
			continue
		}
		if test.kind == chat.Overflow && (failure.Prompt != 210 || failure.Window != 200) {
			t.Errorf("%s: %+v", name, failure)
		}
		first := (*got)[0]
		if first.path != "/v1/messages" || first.header.Get("Anthropic-Version") != version || first.header.Get("X-Api-Key") != "k" ||
			first.header.Get("Authorization") != "" || first.header.Get("Anthropic-Beta") != "" {
			t.Errorf("%s: %s %v", name, first.path, first.header)
		}
	}
}

// local.Retry repeats what can pass on this wire as on others.
func TestRetry(t *testing.T) {
	m, got := answering(t, openai.Options{}, 0, refuses(529, failureOf("overloaded_error", "Overloaded")), says(recorded[:len(recorded)-60]), says(recorded))
	waits := 0
	m = local.Retry(m, local.Patience{Sleep: func(context.Context, time.Duration) error { waits++; return nil }, Jitter: func() float64 { return 0.5 }})
	answer, err := localtest.Collect(t.Context(), m, localtest.Hello())
	if err != nil || len(*got) != 3 || waits != 2 || answer.Text != "日本 😀" || len(answer.Calls) != 2 {
		t.Errorf("%d requests, %d waits, %+v, %v", len(*got), waits, answer, err)
	}
}
