package local

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"interpreter/local/chat"
)

// What the wires of several providers have in common.

// AppendJSON appends a value without escaping <, > and &, which models read and write all the time. A map is written
// in the order of its keys.
func AppendJSON(b []byte, value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return append(b, "null"...) // a NaN among the options
	}
	return append(b, bytes.TrimRight(out.Bytes(), "\n")...)
}

// AppendTool appends a tool as all chat wires describe a function, its schema in the bytes it came in.
func AppendTool(b []byte, tool chat.Spec) []byte {
	b = append(b, `{"type":"function","function":{"name":`...)
	b = AppendJSON(b, tool.Name)
	b = append(b, `,"description":`...)
	b = AppendJSON(b, tool.Description)
	b = append(b, `,"parameters":`...)
	if IsObject(tool.Parameters) {
		b = append(b, tool.Parameters...)
	} else {
		b = append(b, `{"type":"object","properties":{}}`...)
	}
	return append(b, "}}"...)
}

// IsObject reports whether bytes are one JSON object.
func IsObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) && json.Valid(raw)
}

// Splice joins the pieces of a text that come as JSON strings. A server that cuts between the two escapes, or between
// the bytes, of one character leaves half of it at the end of a piece; that half waits for the next.
type Splice struct{ half []byte }

var halfEscape = regexp.MustCompile(`^(?i)\\ud[89ab][0-9a-f]{2}$`)

// Add is the text of a piece, "" for null and nothing.
func (s *Splice) Add(raw json.RawMessage) (text string, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if len(s.half) > 0 && raw[0] == '"' {
		raw = slices.Concat([]byte{'"'}, s.half, raw[1:])
		s.half = nil
	}
	if at := halfAt(raw); at > 0 {
		s.half = bytes.Clone(raw[at : len(raw)-1])
		raw = append(bytes.Clone(raw[:at]), '"')
	}
	err = json.Unmarshal(raw, &text)
	return text, err
}

// halfAt is where the half of a character begins that ends a JSON string, 0 when it ends well.
func halfAt(raw json.RawMessage) int {
	end := len(raw) - 1
	if at := end - 6; at > 0 && halfEscape.Match(raw[at:end]) {
		before := bytes.TrimRight(raw[:at], `\`)
		if (at-len(before))%2 == 0 { // otherwise the backslash itself is escaped
			return at
		}
	}
	for at := end - 1; at > 0 && at >= end-utf8.UTFMax+1; at-- {
		if utf8.RuneStart(raw[at]) {
			if !utf8.FullRune(raw[at:end]) {
				return at
			}
			break
		}
	}
	return 0
}

// IDs gives calls ids that no other call of the conversation has.
type IDs struct {
	used map[string]bool
	next int
}

// NewIDs knows the ids of a conversation.
func NewIDs(messages []chat.Message) *IDs {
	s := &IDs{used: map[string]bool{}, next: 1}
	for _, m := range messages {
		for _, call := range m.Calls {
			s.used[call.ID] = true
			s.next++
		}
		if m.Result != nil {
			s.used[m.Result.CallID] = true
		}
	}
	return s
}

// Name keeps the id that a server gave when nothing else has it, and makes one otherwise.
func (s *IDs) Name(id string) string {
	for id == "" || s.used[id] {
		id = "call_" + strconv.Itoa(s.next)
		s.next++
	}
	s.used[id] = true
	return id
}

// RetryAfter reads the header of that name: seconds, or a date by the clock of the server, which its Date tells.
func RetryAfter(h http.Header) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return max(until.Sub(now), 0)
}
