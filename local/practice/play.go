package practice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"interpreter/local/chat"
)

// player decides what a request is answered with. It serves Model and Server alike and holds no wire.
type player struct {
	script    *Script
	positions [][]*Reply

	mu       sync.Mutex
	asked    map[int]int // attempts so far, by position
	total    int
	failures []string
}

func newPlayer(s *Script) *player {
	return &player{script: s, positions: s.attempts(), asked: map[int]int{}}
}

// answer is a reply made concrete: what it was told is in it, what it may only do once is left out the second time.
type answer struct {
	position int
	stall    time.Duration
	status   int
	detail   string
	retry    time.Duration
	steps    []Step
	finish   chat.Finish
	usage    chat.Usage
}

// warmedUp is all the practice model says to a request for one token, which takes no place in the script.
const warmedUp = "."

// answer picks the reply for a request.
func (p *player) answer(req chat.Request) answer {
	if reply, ok := p.spoken(req); ok {
		return p.finished(reply, req, -1)
	}
	if probed(req) {
		return p.finished(p.check(req), req, -1)
	}
	if req.Output == 1 { // a client that has the prompt read beforehand; it drops the answer
		return p.finished(Reply{Steps: []Step{{Kind: Say, Text: warmedUp}}, Finish: chat.CutShort}, req, -1)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	position := position(p.script, p.positions, req.Messages)
	if p.script.ByRequest {
		position = p.ordered()
	}
	p.total++
	if position >= len(p.positions) {
		return p.finished(Reply{Steps: []Step{{Kind: Say, Text: Lost}}}, req, position)
	}
	tries := p.positions[position]
	attempt := p.asked[position]
	p.asked[position]++
	r := *tries[min(attempt, len(tries)-1)]
	told := told(req.Messages)
	groups, complaint := meets(r.Wants, told)
	if complaint != "" {
		p.failures = append(p.failures, complaint)
		return p.finished(Reply{Status: http.StatusBadRequest, StatusText: complaint}, req, position) // the run must not pass for a good one
	}
	r.Steps = resolve(r.Steps, groups, attempt >= len(tries))
	if p.script.Think != "" && !thinksItself(r.Steps) && r.Status == 0 {
		r.Steps = append([]Step{{Kind: Think, Text: p.script.Think}}, r.Steps...)
	}
	return p.finished(r, req, position)
}

// ordered is the position of the n-th request when replies follow requests: each attempt is a request.
func (p *player) ordered() int {
	n := p.total
	for i, tries := range p.positions {
		if n < len(tries) {
			return i
		}
		n -= len(tries)
	}
	return len(p.positions)
}

func (p *player) failed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.failures...)
}

func thinksItself(steps []Step) bool {
	for _, s := range steps {
		if s.Kind == Think {
			return true
		}
	}
	return false
}

// resolve fills captured groups into texts and drops what is sent the first time only.
func resolve(steps []Step, groups []string, again bool) []Step {
	out := make([]Step, 0, len(steps)+1)
	for _, s := range steps {
		switch s.Kind {
		case Malformed:
			if again {
				continue
			}
		case Say, Think:
			s.Text = fill(s.Text, groups, func(v string) string { return v })
		case Call:
			s.Call.Raw = fill(s.Call.Raw, groups, func(v string) string { return v })
			s.Call.Args = json.RawMessage(fill(string(s.Call.Args), groups, inJSON))
		}
		out = append(out, s)
	}
	return out
}

var group = regexp.MustCompile(`\$[1-9]`)

// fill replaces $1 to $9 by what the latest want captured. A number without a group stays as it is: scripts are
// full of shell.
func fill(text string, groups []string, quote func(string) string) string {
	if len(groups) < 2 {
		return text
	}
	return group.ReplaceAllStringFunc(text, func(ref string) string {
		if n := int(ref[1] - '0'); n < len(groups) {
			return quote(groups[n])
		}
		return ref
	})
}

func inJSON(v string) string {
	quoted := encode(v)
	return string(quoted[1 : len(quoted)-1])
}

// meets checks what the model was told and returns the groups of the latest want, or a complaint.
func meets(wants []Want, told string) (groups []string, complaint string) {
	for _, w := range wants {
		pattern := strings.TrimPrefix(w.Pattern.String(), "(?m)")
		found := w.Pattern.FindStringSubmatch(told)
		switch {
		case w.Not && found != nil:
			return nil, fmt.Sprintf("%s not %s (line %d of the script), got %s", wanted, pattern, w.Line, brief(told))
		case w.Not:
		case found == nil:
			return nil, fmt.Sprintf("%s %s (line %d of the script), got %s", wanted, pattern, w.Line, brief(told))
		default:
			groups = found
		}
	}
	return groups, ""
}

// wanted begins every complaint about an unmet demand.
const wanted = "practice: wanted"

// told is the text of all messages after the last one of the assistant.
func told(messages []chat.Message) string {
	var parts []string
	for i := len(messages) - 1; i >= 0 && messages[i].Role != chat.Assistant; i-- {
		if r := messages[i].Result; r != nil {
			parts = append(parts, r.Text)
		}
		if messages[i].Text != "" {
			parts = append(parts, messages[i].Text)
		}
	}
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, "\n")
}

// position counts the replies a conversation already holds. Neighbouring assistant messages are one reply that a
// wire took apart. What a harness put into the assistant's mouth before the first reply does not count.
func position(s *Script, positions [][]*Reply, messages []chat.Message) int {
	n, begun, counted := 0, false, false
	for _, m := range messages {
		if m.Role != chat.Assistant {
			counted = false
			continue
		}
		if !counted && (begun || begins(s, positions, m)) {
			n, begun, counted = n+1, true, true
		}
	}
	return n
}

// calledAsText begins what a harness that speaks in text makes of a call that came as one.
const calledAsText = "[called "

// begins reports whether a message can be what the first position of the script said.
func begins(s *Script, positions [][]*Reply, m chat.Message) bool {
	text := strings.TrimSpace(m.Text)
	if len(positions) == 0 || s.ByRequest {
		return true
	}
	for _, r := range positions[0] {
		if len(m.Calls) > 0 && r.calls() > 0 {
			return true
		}
		said := r.text()
		if len(m.Calls) > 0 && said != "" {
			return true // calls that leaked as text and were put right
		}
		if r.calls() > 0 && strings.Contains(text, calledAsText) {
			return true // a call, under a harness whose conversation is text
		}
		for _, s := range r.Steps {
			if s.Kind == Call && s.Call.Raw != "" {
				said += leaked(s.Call) // where the wire carries no such call, it came as text
			}
		}
		if text == "" {
			if strings.TrimSpace(said) == "" && r.calls() == 0 && len(m.Calls) == 0 {
				return true
			}
			continue
		}
		if strings.Contains(said, text) {
			return true
		}
		if at := group.FindStringIndex(said); at != nil && strings.HasPrefix(text, strings.TrimSpace(said[:at[0]])) {
			return true
		}
	}
	return false
}

// finished completes an answer: thinking only when it was not switched off, counts estimated where none are given.
func (p *player) finished(r Reply, req chat.Request, position int) answer {
	a := answer{
		position: position, stall: r.Stall, status: r.Status, detail: r.StatusText, retry: r.RetryAfter,
		finish: r.Finish, usage: chat.Usage{Input: r.Input, Output: r.Output},
	}
	if a.finish == "" {
		a.finish = chat.Stopped
	}
	written, thought, calls := 0, 0, 0
	for _, s := range r.Steps {
		switch s.Kind {
		case Think:
			if req.Effort == "none" {
				continue
			}
			thought += len(s.Text)
		case Call:
			calls++
			s.Call.ID = fmt.Sprintf("call_%d_%d", position+1, calls)
			if position < 0 {
				s.Call.ID = fmt.Sprintf("call_check_%d", calls)
			}
			written += len(s.Call.Name) + len(s.Call.Args) + len(s.Call.Raw)
		default:
			written += len(s.Text)
		}
		a.steps = append(a.steps, s)
	}
	if a.usage.Input == 0 {
		a.usage.Input = Estimate(req)
	}
	if a.usage.Output == 0 {
		a.usage.Output = tokens(written + thought)
	}
	a.usage.Reasoning = min(tokens(thought), a.usage.Output)
	return a
}

// Estimate is the size of a request in tokens as the practice model counts them: a quarter of its bytes.
func Estimate(req chat.Request) int {
	bytes := 0
	for _, m := range req.Messages {
		bytes += len(m.Text) + len(m.Thinking)
		for _, c := range m.Calls {
			bytes += len(c.Name) + len(c.Args)
		}
		if m.Result != nil {
			bytes += len(m.Result.Text)
		}
	}
	for _, t := range req.Tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return tokens(bytes)
}

func tokens(bytes int) int { return (bytes + 3) / 4 }

// encode writes JSON as it goes to a model: <, > and & stay themselves.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only values of this package come here
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
