package textcall

import (
	"strings"
	"unicode/utf8"

	"interpreter/local/chat"
)

// Screen decides what of an answer may be shown while it is still coming: never the text of a call, and thoughts apart
// from what is said. However an answer is cut into pieces, the same is shown in the end: what Read makes of the text,
// but for thoughts that nothing opened, which are known only when they end.
type Screen struct {
	tools []chat.Spec
	scan  *scanner // marks and tools, and the place things are looked up from
	all   strings.Builder
	text  string // all of it, as far as it came
	final bool

	at          int  // looked at until here
	shown       int  // given out until here
	begin       bool // at is the beginning of a line
	started     bool // something other than blanks has come
	held        bool // from at on everything waits for the end
	fence       string
	since       int    // where the thoughts under way begin
	fresh       bool   // none of them was looked at
	closing     string // the tag that ends the thoughts under way
	tagged      bool   // thoughts had tags
	opened      bool   // a tag of thinking stands in the text as text
	broken      bool   // something was taken out here: a line break goes before what comes
	apart       bool   // what was shown last were thoughts, as it turned out
	uncommented bool   // no comment ends behind this place
	ink         int    // behind the last character that is no blank, of what was looked at
	inked       int
	retry       int // an object that has no end yet is looked at again when so much has come

	said, thought    []byte // what was given out of the text that counts
	out, outThinking []byte // to be given out now
}

// NewScreen makes the screen of one answer. tools are those the model was offered.
func NewScreen(tools []chat.Spec) *Screen {
	return &Screen{tools: tools, scan: newScanner("", newToolbox(Answer{Tools: tools}), nil), begin: true}
}

// Show takes the next piece of the answer's text and returns what of all that came may be shown now.
func (s *Screen) Show(piece string) (text, thinking string) {
	s.all.WriteString(piece)
	return s.advance()
}

// Rest returns, when the answer has ended, what was held back and turned out to be no call.
func (s *Screen) Rest() (text, thinking string) {
	s.final = true
	text, thinking = s.advance()
	if !s.held {
		return text, thinking
	}
	r, _ := Read(Answer{Message: chat.Message{Text: s.text}, Tools: s.tools, Sure: func(chat.Call) bool { return true }})
	if rest, ok := strings.CutPrefix(r.Message.Thinking, string(s.thought)); ok {
		thinking += rest
	}
	whole := strings.TrimSpace(r.Message.Text)
	rest, ok := strings.CutPrefix(whole, string(s.said))
	if !ok { // what was shown counts differently in the whole: only what was held is told
		r, _ = Read(Answer{Message: chat.Message{Text: s.text[s.at:]}, Tools: s.tools, Sure: func(chat.Call) bool { return true }})
		if rest = strings.TrimSpace(r.Message.Text); rest != "" {
			rest = "\n" + rest
		}
	}
	if s.apart && rest != "" {
		rest = "\n\n" + rest
	}
	return text + rest, thinking
}

func (s *Screen) advance() (text, thinking string) {
	s.text = s.all.String()
	s.scan.text = s.text
	s.out, s.outThinking = s.out[:0], s.outThinking[:0]
	for s.step() {
	}
	if s.closing == "" {
		s.emit(s.at)
	}
	return string(s.out), string(s.outThinking)
}

// step looks at the next thing; false when it must wait for more, or the end.
func (s *Screen) step() bool {
	switch {
	case s.held || s.at >= len(s.text):
		return false
	case s.closing != "":
		return s.think()
	case s.fence != "":
		return s.inFence()
	case !s.started:
		return s.start()
	case s.begin:
		return s.line()
	}
	i := s.at
	for i < len(s.text) && !special[s.text[i]] {
		i++
	}
	if s.at = i; i >= len(s.text) {
		return false
	}
	switch s.text[i] {
	case '\n':
		s.at++
		s.begin = true
		return true
	case '<':
		return s.mark()
	case '[':
		if lexed, is := lex(s.text, i); is == maybe && !s.final || is == yes && (s.scan.marks[lexed.name].read != nil || isThink(lexed.name)) {
			return s.mark()
		}
	}
	return s.object()
}

// start looks at how the answer begins: with thoughts, or with words that a template left over.
func (s *Screen) start() bool {
	if s.at == 0 && !s.final && strings.HasPrefix(mark, s.text) && s.text != mark {
		return false
	}
	if s.at == 0 && strings.HasPrefix(s.text, mark) {
		s.at = len(mark)
	}
	at := blanks(s.text, s.at)
	rest := s.text[at:]
	if rest == "" {
		s.at, s.shown = at, at
		return false
	}
	for _, tag := range thinkTags {
		if strings.HasPrefix(rest, tag[0]) {
			s.at, s.closing, s.tagged = at+len(tag[0]), tag[1], true
			s.shown, s.since, s.fresh = s.at, s.at, true
			return true
		}
		if !s.final && strings.HasPrefix(tag[0], rest) {
			return false
		}
	}
	for _, word := range []string{"analysis", "commentary"} {
		if !s.final && strings.HasPrefix(word, rest) {
			return false
		}
		if after, ok := strings.CutPrefix(rest, word); ok && !s.tagged && after != "" &&
			(strings.IndexByte(" \t\n", after[0]) < 0 || strings.HasPrefix(after, " to=") || strings.HasPrefix(" to=", after)) {
			if strings.HasPrefix(" to=", after) && len(after) < 4 && !s.final {
				return false
			}
			s.at, s.shown, s.held = at, at, true
			return false
		}
	}
	s.at, s.shown, s.started, s.begin = at, at, true, true
	return true
}

// think shows thoughts until the tag that ends them.
func (s *Screen) think() bool {
	rest := s.text[s.at:]
	if opening := openingOf(s.closing); s.fresh { // the prompt had opened it
		bare := strings.TrimLeft(rest, " \t\r\n")
		if strings.HasPrefix(bare, opening) {
			s.at = len(s.text) - len(bare) + len(opening)
			s.shown, s.since = s.at, s.at
			return true
		}
		if bare == "" || !s.final && strings.HasPrefix(opening, bare) {
			return false
		}
		s.fresh = false
	}
	n := strings.Index(rest, s.closing)
	if n < 0 {
		end := len(s.text)
		if !s.final {
			end -= overlap(rest, s.closing)
		}
		s.emitThought(end)
		s.at = max(s.at, end)
		return false
	}
	tag := s.at + n
	switch named(s.text[s.since:], tag-s.since, tag+len(s.closing)-s.since, s.final) {
	case yes:
		s.at = tag + len(s.closing)
		s.emitThought(s.at)
		return true
	case maybe:
		s.emitThought(tag)
		s.at = tag
		return false
	}
	s.emitThought(tag)
	s.at = tag + len(s.closing)
	s.shown, s.closing, s.started, s.scan.from, s.broken = s.at, "", false, s.at, true
	return true
}

func openingOf(closing string) string {
	for _, tag := range thinkTags {
		if tag[1] == closing {
			return tag[0]
		}
	}
	return ""
}

// overlap is how many bytes at the end of a text may begin a tag.
func overlap(text, tag string) int {
	for n := min(len(tag)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}

// hold keeps everything from a place until the end.
func (s *Screen) hold(at int) { s.at, s.held = at, true }

// drop takes a mark out of what is shown.
func (s *Screen) drop(end int) {
	s.emit(s.at)
	s.at, s.shown, s.broken, s.scan.from = end, end, true, end
}

// isThink reports whether a tag ends thoughts, or begins them.
func isThink(name string) bool {
	return name == "/think" || name == "think" || name == "[THINK" || name == "[/THINK"
}

// thinkMark looks at a tag of thinking in the middle of a text.
func (s *Screen) thinkMark(l lexeme) bool {
	tag := thinkTags[0]
	if l.name[0] == '[' {
		tag = thinkTags[1]
	}
	if l.name == "think" || l.name == "[THINK" {
		if s.tagged && startsLine(s.text, s.at) {
			s.emit(s.at)
			s.at, s.shown, s.since, s.closing, s.fresh = l.end, l.end, l.end, tag[1], true
			return true
		}
		s.opened = true
		s.at = l.end
		return true
	}
	after := s.text[l.end:]
	if !s.final && strings.TrimLeft(after, " \t") == "" {
		return false
	}
	line := s.text[max(s.scan.from, s.at-400):s.at]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	if s.opened || !endsThought(line+tag[1]+after[:min(len(after), 400)], len(line), tag) {
		s.at = l.end
		return true
	}
	s.emit(s.at)
	s.said, s.tagged, s.broken = s.said[:0], true, false
	s.apart = s.apart || len(s.out) > 0 || s.shown > 0
	s.at, s.shown, s.started, s.scan.from = l.end, l.end, false, l.end
	return true
}

// emit gives out the text until a place, but for blanks at its end.
func (s *Screen) emit(to int) {
	for i := to; i > s.inked; i-- {
		if c := s.text[i-1]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			s.ink = i
			break
		}
	}
	s.inked = max(s.inked, to)
	piece := whole(s.text[s.shown:max(s.shown, min(to, s.ink))], s.final)
	if piece == "" {
		return
	}
	end := s.shown + len(piece)
	if len(s.said) == 0 || s.broken {
		piece = strings.TrimLeft(piece, " \t\r\n")
	}
	if s.broken && len(s.said) > 0 {
		piece = "\n" + piece
	}
	if s.apart {
		s.out = append(s.out, "\n\n"...)
	}
	s.broken, s.apart, s.shown = false, false, end
	s.said = append(s.said, piece...)
	s.out = append(s.out, piece...)
}

func (s *Screen) emitThought(to int) {
	piece := strings.TrimRight(whole(s.text[s.shown:to], s.final), " \t\r\n")
	end := s.shown + len(piece)
	if s.shown == s.since {
		piece = strings.TrimLeft(piece, " \t\r\n")
		if piece != "" && len(s.thought) > 0 {
			piece = "\n" + piece
		}
	}
	if piece == "" {
		return
	}
	s.shown = end
	s.thought = append(s.thought, piece...)
	s.outThinking = append(s.outThinking, piece...)
}

// whole leaves out the beginning of a character whose end has not come.
func whole(text string, final bool) string {
	if final {
		return text
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if c := text[len(text)-n]; utf8.RuneStart(c) {
			if c >= 0x80 && !utf8.FullRuneInString(text[len(text)-n:]) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}
