package responses

import (
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

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

// together is an answer as a reader of it has it, and the seal of its thoughts.
func together(body string) (a localtest.Answer, seal, failure string) {
	deltas, failure := decode(strings.NewReader(body))
	for _, d := range deltas {
		a.Text += d.Text
		a.Thinking += d.Thinking
		seal += d.Seal
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
	return a, seal, failure
}

const recorded = `event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","output":[],"error":null}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}

event: response.reasoning_summary_text.delta
data: {"type":"response.reasoning_summary_text.delta","sequence_number":2,"item_id":"rs_1","output_index":0,"summary_index":0,"delta":"Weigh both."}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":3,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Weigh both."}],"encrypted_content":"gAAA"}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":4,"output_index":1,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":5,"item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":6,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"日本 \ud83d"}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"\ude00"}

event: response.output_text.done
data: {"type":"response.output_text.done","sequence_number":8,"item_id":"msg_1","output_index":1,"content_index":0,"text":"日本 😀"}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":9,"output_index":1,"item":{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"日本 😀","annotations":[]}]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":10,"output_index":2,"item":{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"call_x","name":"read_file"}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":11,"item_id":"fc_1","output_index":2,"delta":"{\"file_path\": \"ü"}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":12,"item_id":"fc_1","output_index":2,"delta":".txt\"}"}

event: response.function_call_arguments.done
data: {"type":"response.function_call_arguments.done","sequence_number":13,"item_id":"fc_1","output_index":2,"arguments":"{\"file_path\": \"ü.txt\"}"}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":14,"output_index":2,"item":{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"file_path\": \"ü.txt\"}","call_id":"call_x","name":"read_file"}}

event: response.completed
data: {"type":"response.completed","sequence_number":15,"response":{"id":"resp_1","object":"response","status":"completed","error":null,"incomplete_details":null,"output":[{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Weigh both."}],"encrypted_content":"gAAA"},{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"日本 😀"}]},{"id":"fc_1","type":"function_call","arguments":"{\"file_path\": \"ü.txt\"}","call_id":"call_x","name":"read_file"}],"usage":{"input_tokens":41,"input_tokens_details":{"cached_tokens":30},"output_tokens":17,"output_tokens_details":{"reasoning_tokens":4},"total_tokens":58}}}

`

func TestRecorded(t *testing.T) {
	got, seal, failure := together(recorded)
	if failure != "" || got.Text != "日本 😀" || got.Thinking != "Weigh both." || got.Finish != chat.Stopped || seal != "gAAA" ||
		got.Usage != (chat.Usage{Input: 41, CachedInput: 30, Output: 17, Reasoning: 4}) {
		t.Errorf("got %+v %q %s", got, seal, failure)
	}
	if len(got.Calls) != 1 || got.Calls[0].ID != "call_x" || string(got.Calls[0].Args) != `{"file_path": "ü.txt"}` {
		t.Errorf("calls %+v", got.Calls)
	}
	splits := []int{}
	for at := -1; at < len(recorded); at++ {
		splits = append(splits, at)
	}
	localtest.SameInPieces(t, []byte(recorded), decode, splits...)
}

// Servers that are less exact than the wire is.
func TestSloppy(t *testing.T) {
	completed := func(members string) string {
		return event1("response.completed", `"response":{"status":"completed"`+members+`}`)
	}
	callOf := func(id, callID, name, args string) string {
		return `{"type":"function_call","id":"` + id + `","call_id":"` + callID + `","name":"` + name + `","arguments":` + quote(args) + `}`
	}
	done := func(index, item string) string { return event1("response.output_item.done", index+`"item":`+item) }
	for name, test := range map[string]struct {
		body, text, thinking, calls, failure string
		finish                               chat.Finish
	}{
		"all of it only at the end": {
			body: completed(`,"output":[{"type":"reasoning","content":[{"type":"reasoning_text","text":"t"}],"summary":[{"text":"s"}]},{"type":"message","content":[{"type":"output_text","text":"x"}]},` + callOf("f", "c", "g", `{"n":1}`) + `]`),
			text: "x", thinking: "t", calls: `c g {"n":1}`, finish: chat.Stopped,
		},
		"the summary beside the thoughts themselves": {
			body: delta("reasoning_text", "", "t") + delta("reasoning_summary_text", "", "s") + completed(""), thinking: "t", finish: chat.Stopped,
		},
		"the summary in parts": {
			body: event1("response.reasoning_summary_part.added", `"item_id":"r"`) + delta("reasoning_summary_text", `"item_id":"r",`, "a") + event1("response.reasoning_summary_part.added", `"item_id":"r"`) +
				delta("reasoning_summary_text", `"item_id":"r",`, "b") + done("", `{"type":"reasoning","id":"r","summary":[{"text":"a"},{"text":"b"}]}`) + completed(""),
			thinking: "a\n\nb", finish: chat.Stopped,
		},
		"items without numbers and ids": {
			body: done("", callOf("", "", "f", "{}")) + done("", callOf("", "", "g", "")) + completed(""), calls: "call_1 f {};call_2 g {}", finish: chat.Stopped,
		},
		"every item has the same number": {
			body:  done(`"output_index":0,`, callOf("a", "ca", "f", `{"n":1}`)) + done(`"output_index":0,`, callOf("b", "cb", "f", `{"n":1}`)) + completed(""),
			calls: `ca f {"n":1};cb f {"n":1}`, finish: chat.Stopped,
		},
		"an item once more": {
			body:  done(`"output_index":0,`, callOf("a", "ca", "f", `{"n":1}`)) + done(`"output_index":0,`, callOf("a", "ca", "f", `{"n":1}`)) + completed(`,"output":[`+callOf("a", "ca", "f", `{"n":1}`)+`]`),
			calls: `ca f {"n":1}`, finish: chat.Stopped,
		},
		"a call of which only pieces came": {
			body: event1("response.output_item.added", `"output_index":0,"item":`+callOf("a", "ca", "f", "")) + delta("function_call_arguments", `"item_id":"a",`, `{"n"`) +
				delta("function_call_arguments", `"item_id":"a",`, `:1}`) + completed(""),
			calls: `ca f {"n":1}`, finish: chat.Stopped,
		},
		"an object as arguments":  {body: done("", `{"type":"function_call","call_id":"c","name":"f","arguments":{"n": 1}}`) + completed(""), calls: `c f {"n": 1}`, finish: chat.Stopped},
		"a call without a name":   {body: done("", callOf("", "c", "", "{}")) + completed(""), calls: "c  {}", finish: chat.Stopped},
		"arguments that are none": {body: done("", callOf("", "c", "f", `{"n": oops`)) + completed(""), calls: `c f {} raw {"n": oops`, finish: chat.Stopped},
		"more at the end than in the pieces": {
			body: delta("output_text", `"output_index":0,`, "ab") + done(`"output_index":0,`, `{"type":"message","content":[{"type":"output_text","text":"abc"}]}`) + completed(""), text: "abc", finish: chat.Stopped,
		},
		"a refusal":             {body: done("", `{"type":"message","content":[{"type":"refusal","refusal":"no"}]}`) + completed(""), text: "no", finish: chat.Stopped},
		"items of another kind": {body: done("", `{"type":"web_search_call","content":[{"text":"x"}]}`) + completed(""), finish: chat.Stopped},
		"cut at the limit":      {body: delta("output_text", "", "x") + end(chat.CutShort, 1, 1), text: "x", finish: chat.CutShort},
		"a call that is cut":    {body: event1("response.output_item.added", `"item":`+callOf("a", "c", "f", "")) + delta("function_call_arguments", `"item_id":"a",`, `{"n"`) + end(chat.CutShort, 1, 1), calls: `c f {} raw {"n"`, finish: chat.CutShort},
		"filtered":              {body: event1("response.incomplete", `"response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}`), finish: chat.Stopped},
		"no stream":             {body: `{"object":"response","status":"completed","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":"x"}]}],"usage":{"input_tokens":1,"output_tokens":1}}`, text: "x", finish: chat.Stopped},
		"no stream, and cut":    {body: `{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`, finish: chat.CutShort},
		"ends before its end":   {body: delta("output_text", "", "x"), text: "x", failure: "the connection broke off"},
		"a mark is no end":      {body: delta("output_text", "", "x") + "data: [DONE]\n\n", text: "x", failure: "the connection broke off"},
		"nothing":               {failure: "the connection broke off"},
		"too long":              {body: event1("response.failed", `"response":{"error":{"code":"context_length_exceeded","message":"Your input exceeds the limit."}}`), failure: "the context window is too small"},
		"too much to do":        {body: event1("error", `"code":"server_is_overloaded","message":"later"`), failure: "the server is busy: later"},
		"too fast":              {body: event1("response.failed", `"response":{"error":{"code":"rate_limit_exceeded","message":"try again in 2s"}}`), failure: "the server is busy: try again in 2s"},
		"given up":              {body: event1("response.cancelled", ""), failure: "gave the answer up"},
		"an error in its place": {body: failureOf("server_error", "it broke"), failure: "the server failed: it broke"},
		"another program":       {body: "<html>", failure: "a web page, not the answer of a responses server"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, failure := together(test.body)
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

// Ollama calls an answer completed that it cut at the limit.
func TestLimit(t *testing.T) {
	body := delta("output_text", "", "x") + end(chat.Stopped, 5, 16)
	for limit, want := range map[int]chat.Finish{0: chat.Stopped, 16: chat.CutShort, 17: chat.Stopped} {
		m, _ := answering(t, says(body))
		req := localtest.Hello()
		req.Output = limit
		got, err := localtest.Collect(t.Context(), m, req)
		if err != nil || got.Finish != want {
			t.Errorf("limit %d: %s, %v", limit, got.Finish, err)
		}
	}
}

func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		recorded, recorded[:len(recorded)-300], "data: {}\n\n", "event: response.completed\ndata: {}", "{", "<p>", "\xef\xbb\xbfdata: {\"type\":\"response.completed\"}",
		`data: {"type":"response.output_item.done","output_index":-3,"item":{"type":"function_call","arguments":7}}` + "\n\n" + `data: {"type":"response.completed"}`,
		`data: {"type":"response.function_call_arguments.delta","delta":"\ud83d"}` + "\n" + `data: {"type":"response.incomplete"}`,
		`{"object":"response","status":"completed","output":[{"type":"message","content":[{}]},{}]}`, "event: error\ndata: x\n", "data: [DONE]\n\n",
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
	for _, kind := range []string{"responses", "ollama", "lmstudio"} {
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

// Errors are told apart by what can be done about them.
func TestRefused(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
		kind   chat.Kind
	}{
		"a model":        {404, failureOf("not_found_error", "model 'm' not found"), chat.Missing},
		"a path":         {404, "404 page not found", chat.Invalid},
		"a key":          {401, failureOf("invalid_request_error", "Incorrect API key provided"), chat.Denied},
		"too long":       {400, `{"error":{"code":"context_length_exceeded","message":"too long"}}`, chat.Overflow},
		"slow down":      {429, failureOf("rate_limit_error", "slow down"), chat.Busy},
		"something else": {400, failureOf("invalid_request_error", "no"), chat.Invalid},
	} {
		m, _ := answering(t, refuses(test.status, test.body))
		_, err := localtest.Collect(t.Context(), m, localtest.Hello())
		var failure *chat.Error
		if !errors.As(err, &failure) || failure.Kind != test.kind {
			t.Errorf("%s: got %v, want %s", name, err, test.kind)
		}
	}
}
