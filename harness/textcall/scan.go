package textcall

import (
	"strings"

	"interpreter/local/chat"
)

const (
	openTag      = "<tool_call>"
	closeTag     = "</tool_call>"
	openFunction = "<function"
)

// scanner walks a text once: prose, fences and marked calls, in order.
type scanner struct {
	text   string
	tools  []chat.Spec
	at     int
	from   int // start of the prose not yet kept
	found  []finding
	prose  []string
	cut    bool
	drafts bool // everything is inside thinking
	tries  int  // bare objects looked at
	misses int  // markers that began no call; bounded, so that hostile text costs linear time
}

func (s *scanner) run() {
	if strings.HasPrefix(s.text, "<think>") {
		end := strings.Index(s.text, "</think>")
		if end < 0 {
			s.drafts = true
			return
		}
		s.at = end + len("</think>")
	}
	for s.at < len(s.text) {
		switch lineStart := s.at == 0 || s.text[s.at-1] == '\n'; {
		case lineStart && s.fence():
		case lineStart && s.bare():
		case s.text[s.at] == '<' && s.marked():
		default:
			s.at++
		}
	}
	s.keep(len(s.text))
}

// keep takes the prose up to a place.
func (s *scanner) keep(to int) {
	if to > s.from {
		s.prose = append(s.prose, s.text[s.from:to])
	}
	s.from = to
}

// fence steps over a fenced block. One that closes the text may hold calls.
func (s *scanner) fence() bool {
	line, next := s.line(s.at)
	mark := strings.TrimLeft(line, " ")
	if !strings.HasPrefix(mark, "```") {
		return false
	}
	start := next
	for at := next; at < len(s.text); {
		line, next = s.line(at)
		if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
			if strings.TrimSpace(s.text[next:]) == "" && !s.exampleBefore(s.at) {
				s.inFence(s.text[start:at], s.at)
			}
			s.at = next
			return true
		}
		at = next
	}
	s.at = len(s.text)
	return true
}

// inFence reads the block that closes the text; its calls are weak evidence.
func (s *scanner) inFence(block string, fence int) {
	var calls []chat.Call
	objects, end, ok := objectsAt(block, 0)
	if ok && strings.TrimSpace(block[end:]) == "" {
		if calls, ok = callsOf(objects); !ok {
			return
		}
	} else {
		inner := scanner{text: strings.TrimSpace(block), tools: s.tools}
		if !strings.HasPrefix(inner.text, openTag) && !strings.HasPrefix(inner.text, openFunction) {
			return
		}
		inner.run()
		if joined(inner.prose) != "" {
			return
		}
		for _, f := range inner.found {
			calls = append(calls, f.call)
		}
	}
	if !s.allKnown(calls) || placeholders(calls) {
		return
	}
	s.keep(fence)
	s.found = append(s.found, findings(calls, true)...)
	s.from = len(s.text)
}

// bare reads an object that begins a line and runs to the end of the text.
func (s *scanner) bare() bool {
	if s.text[s.at] != '{' || s.tries >= 4 {
		return false
	}
	s.tries++
	objects, end, ok := objectsAt(s.text, s.at)
	if !ok || strings.TrimSpace(s.text[end:]) != "" || s.exampleBefore(s.at) {
		return false
	}
	calls, ok := callsOf(objects)
	if !ok || !s.allKnown(calls) || placeholders(calls) {
		return false
	}
	s.keep(s.at)
	s.found = append(s.found, findings(calls, true)...)
	s.at, s.from = len(s.text), len(s.text)
	return true
}

// marked reads a call between the markers of a family, and the tags of thinking and of invented results.
func (s *scanner) marked() bool {
	here := s.text[s.at:]
	switch {
	case strings.HasPrefix(here, "</think>") && !s.quoted():
		s.found, s.cut = nil, false // what came before was thinking
		s.at += len("</think>")
		return true
	case len(s.found) > 0 && strings.HasPrefix(here, "<tool_response>"):
		s.keep(s.at)
		s.at, s.from = len(s.text), len(s.text) // the model made up the rest
		return true
	case strings.HasPrefix(here, closeTag):
		if len(s.found) > 0 {
			s.keep(s.at)
			s.from = s.at + len(closeTag)
		}
		s.at += len(closeTag)
		return true
	case !strings.HasPrefix(here, openTag) && !strings.HasPrefix(here, openFunction), s.misses >= 32, s.quoted():
		return false
	}
	start, at := s.at, s.at
	wrapped := false
	for strings.HasPrefix(s.text[at:], openTag) {
		wrapped = true
		at = s.skip(at + len(openTag))
	}
	calls, end, state := s.group(at, wrapped)
	switch state {
	case none:
		s.misses++
		return false
	case broken:
		s.keep(start)
		s.cut, s.at, s.from = true, len(s.text), len(s.text)
		return true
	}
	s.keep(start)
	s.found = append(s.found, findings(calls, false)...)
	s.at, s.from = end, end
	return true
}

type state int

const (
	none   state = iota // not a call
	whole               // complete
	broken              // begun and not ended
)

// group reads what stands inside one tag: functions or objects, one or more.
func (s *scanner) group(at int, wrapped bool) (calls []chat.Call, end int, _ state) {
	if wrapped && at < len(s.text) && (s.text[at] == '{' || s.text[at] == '[') {
		objects, end, ok := objectsAt(s.text, at)
		if !ok {
			if _, closed := extent(s.text, at); !closed {
				return nil, at, broken
			}
			return nil, at, none
		}
		for _, raw := range objects {
			c, ok := callOf(raw, false)
			if !ok {
				return nil, at, none
			}
			calls = append(calls, c)
		}
		return calls, s.closed(end), whole
	}
	for strings.HasPrefix(s.text[at:], openFunction) {
		c, next, st := s.function(at)
		if st == broken && wrapped || st == broken && len(calls) > 0 {
			return nil, at, broken
		}
		if st != whole {
			if len(calls) > 0 {
				break
			}
			return nil, at, st
		}
		calls = append(calls, c)
		end = next
		at = s.skip(next)
	}
	if len(calls) == 0 {
		return nil, at, none
	}
	return calls, s.closed(end), whole
}

// closed steps over the closing tag when it is there.
func (s *scanner) closed(at int) int {
	if next := s.skip(at); strings.HasPrefix(s.text[next:], closeTag) {
		return next + len(closeTag)
	}
	return at
}

func (s *scanner) skip(at int) int {
	return at + len(s.text[at:]) - len(strings.TrimLeft(s.text[at:], " \t\r\n"))
}

func (s *scanner) line(at int) (line string, next int) {
	if n := strings.IndexByte(s.text[at:], '\n'); n >= 0 {
		return s.text[at : at+n], at + n + 1
	}
	return s.text[at:], len(s.text)
}

func (s *scanner) allKnown(calls []chat.Call) bool {
	for _, c := range calls {
		if _, ok := known(c.Name, s.tools); !ok {
			return false
		}
	}
	return len(calls) > 0
}

// quoted reports whether the marker here stands in quotes, in code within a line, in a quotation, a comment, a table
// or a diff. It looks at this line only, and at most 400 bytes back.
func (s *scanner) quoted() bool {
	head := s.text[max(s.from, s.at-400):s.at]
	if n := strings.LastIndexByte(head, '\n'); n >= 0 {
		head = head[n+1:]
	}
	bare := strings.TrimSpace(head)
	for _, start := range []string{">", "|", "+ ", "- ", "<!--", "//", "#"} {
		if strings.HasPrefix(bare+" ", start) {
			return true
		}
	}
	if strings.Count(head, "`")%2 == 1 {
		return true
	}
	for _, q := range []string{`"`, "'", "“", "‘", "«", "("} {
		if strings.HasSuffix(head, q) {
			return true
		}
	}
	return false
}

// exampleBefore reports whether the paragraph before a place announces an example.
func (s *scanner) exampleBefore(at int) bool {
	head := strings.TrimRight(s.text[max(s.from, at-300):at], " \n")
	if n := strings.LastIndexByte(head, '\n'); n >= 0 {
		head = head[n+1:]
	}
	head = strings.ToLower(head)
	for _, word := range []string{"example", "e.g.", "for instance", "format", "like this", "looks like", "look like", "would", "could", "you can", "previously", "output was"} {
		if strings.Contains(head, word) {
			return true
		}
	}
	return false
}
