package openai

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"interpreter/local"
	"interpreter/local/chat"
)

// Members are the optional members of a request: those that a server said it does not know are left out for the rest
// of the session. It is safe for concurrent use.
type Members struct {
	lock    sync.Mutex
	without map[string]bool
}

// Member is one of them beside those that carry the conversation.
type Member struct {
	Name  string
	Value json.RawMessage
}

// List puts together the members of one request, in the order they are added in.
type List struct {
	All     []Member
	without map[string]bool
}

// List begins the members of a request.
func (m *Members) List() *List {
	m.lock.Lock()
	defer m.lock.Unlock()
	return &List{without: m.without}
}

// Takes reports whether a member may be sent.
func (l *List) Takes(name string) bool { return !l.without[name] }

// Add adds a member unless the server does not take it, or it is there already.
func (l *List) Add(name string, value any) {
	for _, have := range l.All {
		if have.Name == name {
			return
		}
	}
	if l.without[name] {
		return
	}
	raw, ok := value.(json.RawMessage)
	if !ok {
		raw = local.AppendJSON(nil, value)
	}
	l.All = append(l.All, Member{name, raw})
}

// Append writes all of them, each behind a comma.
func (l *List) Append(b []byte) []byte {
	for _, member := range l.All {
		b = append(b, ',')
		b = local.AppendJSON(b, member.Name)
		b = append(b, ':')
		b = append(b, member.Value...)
	}
	return b
}

// inside tells what is within the messages of a request from a member of that name.
const inside = "messages."

// Holds reports whether the messages may have parts of a name.
func (l *List) Holds(part string) bool { return !l.without[inside+part] }

// Learn reads what a server says and reports whether there is now something to leave out: a member of the request, or
// one of the parts that its messages can do without.
func (m *Members) Learn(failure *chat.Error, sent *List, parts ...string) bool {
	text := strings.ToLower(failure.Detail)
	if failure.Kind != chat.Invalid && failure.Kind != chat.NoThinking || failure.Status != 400 && failure.Status != 422 || !objection.MatchString(text) {
		return false
	}
	name := ""
	for _, member := range sent.All {
		thinks := failure.Kind == chat.NoThinking && (member.Name == "thinking" || member.Name == "reasoning")
		if name == "" && (thinks || mentions(text, member.Name)) && !slices.Contains(needed, member.Name) {
			name = member.Name
		}
	}
	for _, part := range parts {
		if name == "" && mentions(text, part) && sent.Holds(part) {
			name = inside + part
		}
	}
	if name == "" {
		return false
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	m.without = with(m.without, name)
	return true
}

// with is a set and one more. The old one may be in use by a request that is being written.
func with(set map[string]bool, name string) map[string]bool {
	more := map[string]bool{name: true}
	maps.Copy(more, set)
	return more
}
