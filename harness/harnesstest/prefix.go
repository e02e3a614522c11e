package harnesstest

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"interpreter/harness"
	"interpreter/local/chat"
)

// prefixLaw plays a session made of every golden, so with failures, edits, denials and interruptions, and checks at
// every step that the request is the last one plus a tail: also a day later, and after the session was read back.
func prefixLaw(t *testing.T, h harness.Harness, cases []*testCase) {
	env := Full()
	opening, tools, err := h.Begin(env)
	if err != nil {
		t.Fatal(err)
	}
	var transcript []chat.Message
	say := func(m ...chat.Message) { transcript = append(transcript, m...) }
	var last, lastTools []byte
	steps := 0
	check := func(what string) {
		t.Helper()
		steps++
		req := h.Request(env, opening, tools, transcript, 65536)
		now, nowTools := messageBytes(t, req), toolBytes(t, req)
		if !bytes.HasPrefix(now, last) {
			t.Fatalf("%s: the request rewrites what was sent", what)
		}
		if lastTools != nil && !bytes.Equal(nowTools, lastTools) {
			t.Fatalf("%s: the tools changed", what)
		}
		last, lastTools = now, nowTools
	}
	turns := 0
	prompt := func(text string) {
		if turns++; h.Wrap != nil {
			text = h.Wrap(env, harness.Turn{Number: turns, Now: env.Date, Paths: []string{"habits.go"}}, text)
		}
		say(chat.Message{Role: chat.User, Text: text})
	}
	prompt("Fix the <failing> test & say why.")
	check("the prompt")
	for i, c := range cases {
		call := c.call
		if call.Name == "" { // a golden of words alone
			say(chat.Message{Role: chat.Assistant, Text: "Hm. " + c.answer}, chat.Message{Role: chat.User, Text: c.said})
			check(c.name)
			continue
		}
		if i%3 == 0 {
			call.ID = "call_0" // servers that number calls anew each time
		}
		say(chat.Message{Role: chat.Assistant, Text: "Next.", Thinking: "hm", Written: c.answer, Calls: []chat.Call{call}})
		if i%5 == 4 {
			say(chat.Message{Role: chat.User, Text: "a word in passing"})
		}
		say(chat.Message{Role: chat.Tool, Result: &chat.Result{CallID: call.ID, Name: call.Name, Text: c.said, Failed: c.failed}})
		check(c.name)
		if i == len(cases)/2 {
			env.Date = env.Date.Add(25 * time.Hour)
			env.Git, env.Listing = false, nil
			transcript, opening, tools = again(t, transcript), again(t, opening), again(t, tools)
			check("a resume on the next day")
		}
	}
	say(chat.Message{Role: chat.Assistant, Calls: []chat.Call{{ID: "cut", Name: "x", Args: json.RawMessage(`{"a":1}`)}, {ID: "cut", Name: "x", Args: json.RawMessage(`{`)}}})
	say(chat.Message{Role: chat.User, Text: "go on"})
	check("calls that a crash left without results")
	say(chat.Message{Role: chat.Assistant, Text: "Done."})
	prompt("Thanks.")
	check("the next prompt")
	begin := h.Request(env, opening, tools, nil, 65536)
	if h.Join { // its last message goes on with the prompt
		begin.Messages = begin.Messages[:max(0, len(begin.Messages)-1)]
	}
	last = bytes.TrimSuffix(messageBytes(t, begin), []byte("]"))
	transcript = nil // a compaction replaces what was said and keeps what stands before it
	say(chat.Message{Role: chat.User, Text: "Thanks."}, chat.Message{Role: chat.User, Text: "Summary of the conversation so far: the test passes."})
	check("a compaction")
	say(chat.Message{Role: chat.Assistant, Text: "What next?"})
	prompt("Nothing.")
	check("a prompt after the compaction")
	if steps < 12 {
		t.Errorf("only %d steps", steps)
	}
}

// again is a value as a session file gives it back: arguments and schemas are kept as strings there, because
// encoding/json re-spaces raw JSON.
func again[T any](t *testing.T, v T) T {
	t.Helper()
	raw, err := json.Marshal(kept(t, v))
	if err != nil {
		t.Fatal(err)
	}
	var out T
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	restored(t, any(out))
	return out
}

// kept replaces raw JSON by strings of it.
func kept(t *testing.T, v any) any {
	t.Helper()
	quote := func(raw json.RawMessage) json.RawMessage {
		q, err := json.Marshal(string(raw))
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	switch v := v.(type) {
	case []chat.Message:
		out := append([]chat.Message(nil), v...)
		for i, m := range out {
			out[i].Calls = append([]chat.Call(nil), m.Calls...)
			for j, c := range m.Calls {
				out[i].Calls[j].Args = quote(c.Args)
			}
		}
		return out
	case []chat.Spec:
		out := append([]chat.Spec(nil), v...)
		for i, s := range out {
			out[i].Parameters = quote(s.Parameters)
		}
		return out
	}
	t.Fatalf("nothing is known of how %T is kept", v)
	return nil
}

func restored(t *testing.T, v any) {
	t.Helper()
	open := func(raw json.RawMessage) json.RawMessage {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		return json.RawMessage(s)
	}
	switch v := v.(type) {
	case []chat.Message:
		for i := range v {
			for j := range v[i].Calls {
				v[i].Calls[j].Args = open(v[i].Calls[j].Args)
			}
		}
	case []chat.Spec:
		for i := range v {
			v[i].Parameters = open(v[i].Parameters)
		}
	}
}

// messageBytes is the wire form of the messages without what closes it.
func messageBytes(t *testing.T, req chat.Request) []byte {
	t.Helper()
	raw, err := harness.WireJSON(chat.Request{Messages: req.Messages})
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(raw, []byte("]}"))
}

func toolBytes(t *testing.T, req chat.Request) []byte {
	t.Helper()
	raw, err := harness.WireJSON(chat.Request{Tools: req.Tools})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
