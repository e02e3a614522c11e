package textcall

import (
	"strings"

	"interpreter/local/chat"
)

// level is how sure it is that a text is a call.
type level int

const (
	low    level = iota // an object after prose or in a fence, a name that was worked out
	medium              // damage that was tolerated, or an object that is the whole answer
	high                // the marks of a family, complete
)

// found is a call and how it was found.
type found struct {
	call   chat.Call
	level  level
	form   string
	raw    string // the text it was
	known  bool   // a tool answers to it
	mended bool   // something in its values was mended
	guess  bool   // the name was worked out from the arguments
	since  int    // where the group begins and ends it stands in
	until  int
}

// group is what a reader made of the text at a mark.
type group struct {
	calls   []found
	back    int // bytes before the mark that belong to it
	end     int
	cut     bool   // begun beyond doubt, and without its end
	said    string // prose inside the marks
	thought string
	plain   bool // read and no call: text
}

// scanner walks a text once: prose, fences and calls, in order. What a failed attempt looks at is paid for from a
// budget, so that no text costs more than linear time.
type scanner struct {
	text     string
	box      *toolbox
	shown    []string
	marks    map[string]family
	at       int
	from     int // start of the prose not yet kept
	found    []found
	prose    []string
	aloud    []string // thoughts
	fences   []fence
	cut      bool   // a call was begun beyond doubt and has no end
	lost     string // the tool that one is of; "" when that does not show
	torn     bool   // what may have been a call has no end
	tornAt   int
	bare     bool // something was taken out of the prose
	unclosed bool // thoughts have no end
	nested   bool // in a fence: there are none inside
	budget   int
	reach    int // how far the reader at work has looked
}

// most is how many calls one answer may hold.
const most = 200

func newScanner(text string, box *toolbox, shown []string) *scanner {
	s := &scanner{text: text, box: box, shown: shown, budget: 8*len(text) + 1<<16, marks: map[string]family{}}
	for _, f := range families() {
		for _, m := range f.marks {
			s.marks[m] = f
		}
	}
	for _, t := range box.tools {
		if _, taken := s.marks[t.name]; !taken {
			s.marks[t.name] = family{name: "tag per tool", read: readElement}
		}
	}
	return s
}

// inner is a scanner of a part that shares everything else.
func (s *scanner) inner(text string) *scanner {
	return &scanner{text: text, box: s.box, shown: s.shown, marks: s.marks, budget: s.budget, nested: true}
}

// special are the bytes at which something may begin, besides the beginning of a line.
var special = [256]bool{'<': true, '[': true, '{': true, '\n': true}

func (s *scanner) run() {
	begin := true
	for s.at < len(s.text) {
		if begin {
			begin = false
			if s.line() {
				begin = s.at > 0 && s.at < len(s.text) && s.text[s.at-1] == '\n'
				continue
			}
		}
		i := s.at
		for i < len(s.text) && !special[s.text[i]] {
			i++
		}
		if s.at = i; i >= len(s.text) {
			break
		}
		switch s.text[i] {
		case '\n':
			s.at++
			begin = true
		case '<':
			if s.marked() {
				begin = s.text[s.at-1] == '\n'
				continue
			}
			s.at++
		case '[':
			if !s.marked() && !s.object() {
				s.at++
			}
		case '{':
			if !s.object() {
				s.at++
			}
		}
	}
	s.at = len(s.text)
	s.lastFences()
	s.keep(len(s.text))
}

// keep takes the prose up to a place.
func (s *scanner) keep(to int) {
	if to > s.from {
		s.prose = append(s.prose, s.text[s.from:to])
	}
	s.from = max(s.from, to)
}

// spend pays for text that was looked at in vain.
func (s *scanner) spend(n int) { s.budget -= n }

// line looks at the beginning of a line.
func (s *scanner) line() bool {
	at := s.at
	for at < len(s.text) && s.text[at] == ' ' && at-s.at < 8 {
		at++
	}
	if at >= len(s.text) {
		return false
	}
	switch c := s.text[at]; {
	case c == '`' || c == '~':
		return s.fence(at)
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_':
		return s.budget > 0 && s.wordsAt(at)
	}
	return false
}

// marked reads what begins with the mark of a family, and takes other marks out of what is shown.
func (s *scanner) marked() bool {
	if strings.HasPrefix(s.text[s.at:], "<!--") {
		return s.comment()
	}
	l, is := lex(s.text, s.at)
	if is != yes {
		return is == maybe && s.budget > 0 && s.broken()
	}
	switch {
	case l.name == "/think" && !s.quoted():
		s.found, s.cut = nil, false // what came before were drafts
		s.at = l.end
		return true
	case invented(l.name) && len(s.found) > 0:
		s.keep(s.at)
		s.at, s.from = len(s.text), len(s.text) // the model made up the rest
		return true
	}
	f, is2 := s.marks[l.name]
	if is2 && s.budget > 0 && len(s.found) < most && !s.quoted() {
		s.reach = s.at
		g, ok := f.read(s, s.at, l)
		s.spend(max(0, s.reach-max(s.at, g.end)))
		if ok {
			return s.take(g, f.name)
		}
		if f.name != "tag per tool" {
			switch s.unfinished(s.at, l) {
			case yes:
				return s.take(group{cut: true}, f.name)
			case maybe:
				s.tear(s.at)
			}
		}
	}
	return s.orphan(l)
}

// take adds a group to what was found, unless it stands there as text.
func (s *scanner) take(g group, form string) bool {
	start := s.at - g.back
	for i := range g.calls {
		c := &g.calls[i]
		c.since, c.until = start, g.end
		if c.raw == "" {
			c.raw = s.text[start:g.end]
		}
		if c.form == "" {
			c.form = form
		}
	}
	switch {
	case g.cut && len(s.box.tools) == 0:
		s.at++
		return true
	case g.cut:
		s.keep(start)
		s.lost = s.box.firstIn(s.text[start:min(len(s.text), start+300)])
		s.cut, s.at, s.from = true, len(s.text), len(s.text)
		return true
	case g.plain || len(g.calls) > 0 && (s.mentioned(start, g.end) || !s.callable(g.calls)):
		s.at = g.end
		return true
	}
	s.keep(start)
	s.bare = true
	if g.thought != "" {
		s.aloud = append(s.aloud, g.thought)
	}
	if g.said != "" {
		s.prose = append(s.prose, g.said)
	}
	s.found = append(s.found, g.calls...)
	s.at, s.from = g.end, g.end
	return true
}

// callable reports whether calls may be calls at all: something was offered, no blanks of a form are among the
// values, and the text was not shown to the model before.
func (s *scanner) callable(calls []found) bool {
	if len(s.box.tools) == 0 {
		return false
	}
	for i := range calls {
		c := &calls[i]
		if blank(c.call) || c.level == low && !c.known || c.guess && !c.known || len(s.found) < most && s.repeats(c.raw) {
			return false
		}
	}
	return true
}

// repeats reports whether a text is a quotation of what the model was shown.
func (s *scanner) repeats(raw string) bool {
	if raw = strings.TrimSpace(raw); len(raw) < 40 {
		return false
	}
	for _, shown := range s.shown {
		if strings.Contains(shown, raw) {
			return true
		}
	}
	return false
}

// comment steps over an HTML comment.
func (s *scanner) comment() bool {
	if s.budget <= 0 {
		return false
	}
	end := strings.Index(s.text[s.at:], "-->")
	if end < 0 {
		s.spend(len(s.text) - s.at)
		return false
	}
	s.at += end + len("-->")
	return true
}

// orphan takes a mark that belongs to no call out of what is shown: tokens of templates anywhere, closing tags where
// they stand alone.
func (s *scanner) orphan(l lexeme) bool {
	switch {
	case tokens[l.name]:
	case closers[l.name] && (len(s.found) > 0 || s.alone(l.end)):
	default:
		return false
	}
	if s.quoted() {
		return false
	}
	s.keep(s.at)
	s.bare = true
	s.at, s.from = l.end, l.end
	if l.name == "|im_start|" || l.name == "|start|" {
		s.at += len(s.text[s.at:]) - len(strings.TrimPrefix(s.text[s.at:], "assistant"))
		s.from = s.at
	}
	return true
}

// alone reports whether a line holds nothing but the mark from here to end, or the text ends with it.
func (s *scanner) alone(end int) bool {
	rest := s.text[end:min(len(s.text), end+400)]
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	head := s.text[max(s.from, s.at-400):s.at]
	return strings.TrimSpace(rest) == "" && (strings.TrimSpace(head[strings.LastIndexByte(head, '\n')+1:]) == "" || blanks(s.text, end) == len(s.text))
}

// rest is what of the text is prose.
func (s *scanner) rest() string {
	var parts []string
	for _, p := range s.prose {
		if p = strings.TrimSpace(p); p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "\n")
}

// silent reports whether nothing was said and called before a place.
func (s *scanner) silent(at int) bool {
	if len(s.found) > 0 || strings.TrimSpace(s.text[s.from:at]) != "" {
		return false
	}
	for _, p := range s.prose {
		if strings.TrimSpace(p) != "" {
			return false
		}
	}
	return true
}

// tail steps over blanks and tokens of templates; it gives len(text) when nothing else follows.
func (s *scanner) tail(at int) int {
	for {
		at = blanks(s.text, at)
		if at >= len(s.text) || s.text[at] != '<' {
			return at
		}
		l, is := lex(s.text, at)
		if is != yes || !tokens[l.name] && !closers[l.name] {
			return at
		}
		at = l.end
	}
}

// at is the lexeme at a place, if there is one.
func (s *scanner) lexAt(at int) (lexeme, bool) {
	s.reach = max(s.reach, at)
	if at >= len(s.text) || s.text[at] != '<' && s.text[at] != '[' {
		return lexeme{}, false
	}
	l, is := lex(s.text, at)
	return l, is == yes
}
