package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// stamp is how times are written in a session file.
const stamp = "2006-01-02T15:04:05.000Z07:00"

// envelope is one line of a session file. The order of its fields is the order on disk.
type envelope struct {
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
	Ordinal   *int            `json:"ordinal,omitempty"`
}

// Kept reports whether a body belongs in a session file. Pieces of answers and of output do not.
func Kept(b Body) bool {
	switch b.(type) {
	case Heard, Printed:
		return false
	}
	return true
}

// Encode writes an event as one line of a session file, without the line break.
func Encode(e Event) ([]byte, error) {
	payload, err := marshal(stored(e.Body))
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.Body.Kind(), err)
	}
	seq := e.Seq
	line, err := marshal(envelope{e.Time.UTC().Format(stamp), e.Body.Kind(), payload, &seq})
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", e.Body.Kind(), err)
	}
	return line, nil
}

// Decode reads one line of a session file: ours, or a Codex rollout's. A type that is not known becomes a Foreign;
// a line that is not an envelope is an error. Seq is the caller's to set.
func Decode(line []byte) (Event, error) {
	var in envelope
	if err := json.Unmarshal(line, &in); err != nil {
		return Event{}, fmt.Errorf("decode event: %w", err)
	}
	if in.Type == "" {
		return Event{}, fmt.Errorf("decode event: the record has no type")
	}
	at, err := time.Parse(time.RFC3339Nano, in.Timestamp)
	if err != nil {
		at = time.Time{} // a bad time is no reason to lose what was said
	}
	body := decodeBody(in.Type, in.Payload)
	return Event{Time: at, Body: body}, nil
}

func decodeBody(kind string, payload json.RawMessage) Body {
	foreign := Foreign{Type: kind, Payload: payload}
	read, known := readers[kind]
	if !known {
		return foreign
	}
	body, err := read(payload)
	if err != nil || body == nil {
		return foreign
	}
	return body
}

// readers knows every body that is kept, and the Codex records that say the same.
var readers = map[string]func(json.RawMessage) (Body, error){
	"session_meta":  readBegun,
	"opened":        readOpened,
	"turn_context":  read[TurnStarted],
	"prompted":      readPrompted,
	"injected":      readInjected,
	"said":          readSaid,
	"waited":        read[Waited],
	"started":       read[Started],
	"did":           readDid,
	"tried":         read[Tried],
	"asked":         read[Asked],
	"answered":      read[Answered],
	"warned":        read[Warned],
	"recovered":     read[Recovered],
	"compacted":     readCompacted,
	"turn_ended":    read[TurnEnded],
	"response_item": readItem,
}

func read[B Body](payload json.RawMessage) (Body, error) {
	var b B
	err := json.Unmarshal(payload, &b)
	return b, err
}

// The stored forms. A call's arguments are written as a string, because encoding/json re-spaces raw JSON and a
// resumed session must send the very bytes the model wrote.
type (
	storedCall struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Args string `json:"arguments"`
		Raw  string `json:"raw,omitempty"`
	}
	storedMessage struct {
		Role     chat.Role    `json:"role"`
		Text     string       `json:"text,omitempty"`
		Thinking string       `json:"thinking,omitempty"`
		Images   []chat.Image `json:"images,omitempty"`
		Calls    []storedCall `json:"calls,omitempty"`
		Result   *chat.Result `json:"result,omitempty"`
		Written  string       `json:"written,omitempty"`
		Seal     string       `json:"seal,omitempty"`
	}
	storedSpec struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Parameters  string `json:"parameters"`
	}
	storedOpened struct {
		Opened
		Messages []storedMessage `json:"messages"`
		Tools    []storedSpec    `json:"tools"`
	}
	storedPrompted struct {
		Prompted
		Message storedMessage `json:"message"`
	}
	storedInjected struct {
		Injected
		Message storedMessage `json:"message"`
	}
	storedSaid struct {
		Said
		Message storedMessage `json:"message"`
	}
	storedCompacted struct {
		Compacted
		Messages []storedMessage `json:"replacement_history"`
	}
	storedDid struct {
		Did
		Outcome *storedOutcome `json:"outcome,omitempty"`
	}
	storedOutcome struct {
		Kind  string          `json:"kind"`
		Facts json.RawMessage `json:"facts"`
	}
)

func stored(b Body) any {
	switch b := b.(type) {
	case Opened:
		return storedOpened{b, storeMessages(b.Messages), storeSpecs(b.Tools)}
	case Prompted:
		return storedPrompted{b, storeMessage(b.Message)}
	case Injected:
		return storedInjected{b, storeMessage(b.Message)}
	case Said:
		return storedSaid{b, storeMessage(b.Message)}
	case Compacted:
		return storedCompacted{b, storeMessages(b.Messages)}
	case Did:
		return storedDid{b, storeOutcome(b.Outcome)}
	case Foreign:
		if len(b.Payload) == 0 {
			return json.RawMessage("null")
		}
		return b.Payload
	}
	return b
}

func storeMessages(ms []chat.Message) []storedMessage {
	out := make([]storedMessage, len(ms))
	for i, m := range ms {
		out[i] = storeMessage(m)
	}
	return out
}

func storeMessage(m chat.Message) storedMessage {
	s := storedMessage{Role: m.Role, Text: m.Text, Thinking: m.Thinking, Images: m.Images, Result: m.Result, Written: m.Written, Seal: m.Seal}
	for _, c := range m.Calls {
		s.Calls = append(s.Calls, storedCall{c.ID, c.Name, string(c.Args), c.Raw})
	}
	return s
}

func (s storedMessage) message() chat.Message {
	m := chat.Message{Role: s.Role, Text: s.Text, Thinking: s.Thinking, Images: s.Images, Result: s.Result, Written: s.Written, Seal: s.Seal}
	for _, c := range s.Calls {
		m.Calls = append(m.Calls, chat.Call{ID: c.ID, Name: c.Name, Args: json.RawMessage(c.Args), Raw: c.Raw})
	}
	return m
}

func restoreMessages(in []storedMessage) []chat.Message {
	out := make([]chat.Message, len(in))
	for i, m := range in {
		out[i] = m.message()
	}
	return out
}

func storeSpecs(specs []chat.Spec) []storedSpec {
	out := make([]storedSpec, len(specs))
	for i, s := range specs {
		out[i] = storedSpec{s.Name, s.Description, string(s.Parameters)}
	}
	return out
}

func storeOutcome(o action.Outcome) *storedOutcome {
	kind := ""
	switch o.(type) {
	case action.Ran:
		kind = "ran"
	case action.Seen:
		kind = "seen"
	case action.Changed:
		kind = "changed"
	case action.Found:
		kind = "found"
	case action.Fetched:
		kind = "fetched"
	case action.Told:
		kind = "told"
	case action.Planned:
		kind = "planned"
	default:
		return nil
	}
	facts, err := marshal(o)
	if err != nil {
		return nil
	}
	return &storedOutcome{kind, facts}
}

func (s *storedOutcome) outcome() action.Outcome {
	if s == nil {
		return nil
	}
	switch s.Kind {
	case "ran":
		return facts[action.Ran](s.Facts)
	case "seen":
		return facts[action.Seen](s.Facts)
	case "changed":
		return facts[action.Changed](s.Facts)
	case "found":
		return facts[action.Found](s.Facts)
	case "fetched":
		return facts[action.Fetched](s.Facts)
	case "told":
		return facts[action.Told](s.Facts)
	case "planned":
		return facts[action.Planned](s.Facts)
	}
	return nil
}

func facts[O action.Outcome](raw json.RawMessage) action.Outcome {
	var o O
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

func readOpened(raw json.RawMessage) (Body, error) {
	var s storedOpened
	err := json.Unmarshal(raw, &s)
	b := s.Opened
	b.Messages = restoreMessages(s.Messages)
	b.Tools = make([]chat.Spec, len(s.Tools))
	for i, t := range s.Tools {
		b.Tools[i] = chat.Spec{Name: t.Name, Description: t.Description, Parameters: json.RawMessage(t.Parameters)}
	}
	return b, err
}

func readPrompted(raw json.RawMessage) (Body, error) {
	var s storedPrompted
	err := json.Unmarshal(raw, &s)
	s.Prompted.Message = s.Message.message()
	return s.Prompted, err
}

func readInjected(raw json.RawMessage) (Body, error) {
	var s storedInjected
	err := json.Unmarshal(raw, &s)
	s.Injected.Message = s.Message.message()
	return s.Injected, err
}

func readSaid(raw json.RawMessage) (Body, error) {
	var s storedSaid
	err := json.Unmarshal(raw, &s)
	s.Said.Message = s.Message.message()
	return s.Said, err
}

func readDid(raw json.RawMessage) (Body, error) {
	var s storedDid
	err := json.Unmarshal(raw, &s)
	s.Did.Outcome = s.Outcome.outcome()
	return s.Did, err
}

// marshal is json.Marshal without escaping of < > &.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
