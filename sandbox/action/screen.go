package action

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// historyMost bounds the lines that a terminal keeps above its screen.
const historyMost = 50_000

// screen is what a terminal shows, as text: a small emulator of xterm without colours. (The one of
// github.com/charmbracelet/x/vt moves 1.4 MB a second and needs 300 MB for this history; programs that print a lot
// would wait for it.) Control sequences are read by x/ansi.
type screen struct {
	columns, rows int
	lines         [][]cell
	main          [][]cell // the first screen's lines, while the alternate one is shown
	x, y          int
	wrap          bool // the last column is written: the next letter goes to the next line
	top, bottom   int  // rows that scroll, the second not included
	saved         [2]place
	tabs          []bool
	insert        bool
	noWrap        bool
	origin        bool // rows count from top
	application   bool // cursor keys are sent in their other form
	graphics      [2]bool
	shift         int // which of graphics counts
	last          rune

	history []string
	gone    int // lines that were above history's first

	parser *ansi.Parser
	answer func(string) // what the terminal says to the program; must not block
}

// cell is a place for a letter: zero is blank, -1 the second half of a wide one.
type cell struct {
	letter rune
	more   string // marks that go with it
}

type place struct {
	x, y     int
	graphics [2]bool
	shift    int
	origin   bool
}

func newScreen(columns, rows int, answer func(string)) *screen {
	s := &screen{columns: columns, rows: rows, answer: answer, parser: ansi.NewParser()}
	s.reset()
	s.parser.SetHandler(ansi.Handler{Print: s.print, Execute: s.control, HandleCsi: s.sequence, HandleEsc: s.escape})
	return s
}

func (s *screen) reset() {
	s.lines, s.main = blankLines(s.columns, s.rows), nil
	s.x, s.y, s.wrap, s.top, s.bottom = 0, 0, false, 0, s.rows
	s.insert, s.noWrap, s.origin, s.application = false, false, false, false
	s.graphics, s.shift, s.saved = [2]bool{}, 0, [2]place{}
	s.tabs = make([]bool, s.columns)
	for i := 8; i < s.columns; i += 8 {
		s.tabs[i] = true
	}
}

func blankLines(columns, rows int) [][]cell {
	lines := make([][]cell, rows)
	for i := range lines {
		lines[i] = make([]cell, columns)
	}
	return lines
}

func (s *screen) write(chunk []byte) { s.parser.Parse(chunk) }

// print puts a letter where the cursor is.
func (s *screen) print(r rune) {
	if s.graphics[s.shift] && r >= '`' && r <= '~' {
		r = []rune("◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")[r-'`']
	}
	width := 1
	if r >= 0x300 {
		width = ansi.StringWidth(string(r))
	}
	if width == 0 {
		s.mark(r)
		return
	}
	s.last = r
	if s.wrap || s.x+width > s.columns {
		s.wrap = false
		if !s.noWrap {
			s.x = 0
			s.feed()
		} else {
			s.x = s.columns - width
		}
	}
	line := s.lines[s.y]
	if s.insert {
		copy(line[s.x+width:], line[s.x:])
	}
	s.part(s.x)
	s.part(s.x + width)
	line[s.x] = cell{letter: r}
	if width == 2 {
		line[s.x+1] = cell{letter: -1}
	}
	if s.x += width; s.x >= s.columns {
		s.x, s.wrap = s.columns-1, true
	}
}

// part blanks a wide letter of which one half is about to go.
func (s *screen) part(x int) {
	if line := s.lines[s.y]; x > 0 && x < s.columns && line[x].letter == -1 {
		line[x-1], line[x] = cell{}, cell{}
	}
}

// mark adds a mark to the letter before the cursor.
func (s *screen) mark(r rune) {
	x := s.x - 1
	if s.wrap {
		x = s.x
	}
	for x > 0 && s.lines[s.y][x].letter == -1 {
		x--
	}
	if x >= 0 && s.lines[s.y][x].letter > 0 && len(s.lines[s.y][x].more) < 32 {
		s.lines[s.y][x].more += string(r)
	}
}

func (s *screen) control(b byte) {
	switch b {
	case '\b':
		s.x, s.wrap = max(0, s.x-1), false
	case '\t':
		s.tab(1)
	case '\n', '\v', '\f':
		s.feed()
	case '\r':
		s.x, s.wrap = 0, false
	case 0x0e, 0x0f:
		s.shift = int(0x0f - b)
	}
}

func (s *screen) tab(n int) {
	for s.wrap = false; n > 0 && s.x < s.columns-1; n-- {
		for s.x++; s.x < s.columns-1 && !s.tabs[s.x]; s.x++ {
		}
	}
	for ; n < 0 && s.x > 0; n++ {
		for s.x--; s.x > 0 && !s.tabs[s.x]; s.x-- {
		}
	}
}

// feed moves the cursor down a line, and what scrolls up when it is at the end of that.
func (s *screen) feed() {
	s.wrap = false
	switch {
	case s.y == s.bottom-1:
		s.up(s.top, 1)
	case s.y < s.rows-1:
		s.y++
	}
}

// up moves the lines from a row to the end of what scrolls; those that leave the top of the screen become history.
func (s *screen) up(from, n int) {
	for range min(n, s.bottom-from) {
		first := s.lines[from]
		if from == 0 && s.main == nil {
			s.remember(lineText(first))
		}
		copy(s.lines[from:s.bottom], s.lines[from+1:s.bottom])
		clear(first)
		s.lines[s.bottom-1] = first
	}
}

func (s *screen) down(from, n int) {
	for range min(n, s.bottom-from) {
		last := s.lines[s.bottom-1]
		copy(s.lines[from+1:s.bottom], s.lines[from:s.bottom-1])
		clear(last)
		s.lines[from] = last
	}
}

func (s *screen) remember(line string) {
	s.history = append(s.history, line)
	if extra := len(s.history) - historyMost; extra > historyMost/10 {
		s.history = slices.Clone(s.history[extra:])
		s.gone += extra
	}
}

func lineText(line []cell) string {
	end := len(line)
	for end > 0 && (line[end-1].letter == 0 || line[end-1].letter == ' ' && line[end-1].more == "") {
		end--
	}
	var b strings.Builder
	for _, c := range line[:end] {
		switch c.letter {
		case -1:
		case 0:
			b.WriteByte(' ')
		default:
			b.WriteRune(c.letter)
			b.WriteString(c.more)
		}
	}
	return b.String()
}

// visible is the text of the screen, without blank lines at its end and white space at the end of lines.
func (s *screen) visible() []string {
	lines := make([]string, s.rows)
	end := 0
	for i, line := range s.lines {
		if lines[i] = lineText(line); lines[i] != "" {
			end = i + 1
		}
	}
	return lines[:end]
}

// look is what was on the screen at some time.
type look struct {
	first int // number of its first line, counted from the terminal's beginning
	lines []string
	lost  bool // it was no page of a lasting text
}

func (s *screen) look() look {
	return look{s.gone + len(s.history), s.visible(), s.main != nil}
}

// since gives the lines that followed an earlier look, from the last one it saw on, if that has changed or is not the
// last any more. It is not whole when what was seen then is not there any more: the screen was cleared, or drawn over.
func (s *screen) since(before look) (lines []string, whole bool) {
	if before.lost || s.main != nil || before.first < s.gone {
		return nil, false
	}
	top := s.gone + len(s.history)
	now := s.visible()
	at := func(n int) string {
		switch {
		case n < top:
			return s.history[n-s.gone]
		case n-top < len(now):
			return now[n-top]
		}
		return ""
	}
	last := len(before.lines) - 1
	for i, text := range before.lines {
		line := at(before.first + i)
		if i < last && line != text || i == last && !strings.HasPrefix(line, text) {
			return nil, false
		}
	}
	from := before.first + max(0, last)
	for n := from; n < top+len(now); n++ {
		lines = append(lines, at(n))
	}
	if last >= 0 && len(lines) == 1 && lines[0] == before.lines[last] {
		return nil, true
	}
	return lines, true
}
