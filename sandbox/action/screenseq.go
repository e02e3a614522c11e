package action

import (
	"fmt"

	"github.com/charmbracelet/x/ansi"
)

// What control sequences of terminals do to a screen, as xterm documents them.

func (s *screen) escape(cmd ansi.Cmd) {
	if i := cmd.Intermediate(); i == '(' || i == ')' {
		s.graphics[i-'('] = cmd.Final() == '0'
		return
	} else if i != 0 {
		return
	}
	switch cmd.Final() {
	case '7':
		s.save()
	case '8':
		s.restore()
	case 'D':
		s.feed()
	case 'E':
		s.x = 0
		s.feed()
	case 'M':
		s.wrap = false
		if s.y == s.top {
			s.down(s.top, 1)
		} else {
			s.y = max(0, s.y-1)
		}
	case 'H':
		s.tabs[s.x] = true
	case 'c':
		s.reset()
	}
}

func (s *screen) which() int {
	if s.main != nil {
		return 1
	}
	return 0
}

func (s *screen) save() {
	s.saved[s.which()] = place{s.x, s.y, s.graphics, s.shift, s.origin}
}

func (s *screen) restore() {
	p := s.saved[s.which()]
	s.x, s.y, s.graphics, s.shift, s.origin, s.wrap = p.x, p.y, p.graphics, p.shift, p.origin, false
}

// sequence carries out a control sequence. Those that are not known show nothing and change nothing.
func (s *screen) sequence(cmd ansi.Cmd, params ansi.Params) {
	param := func(i, def int) int {
		n, _, ok := params.Param(i, def)
		if !ok || n == 0 && def > 0 {
			return def
		}
		return min(n, 1<<15)
	}
	switch {
	case cmd.Prefix() == '?' && cmd.Intermediate() == 0:
		s.private(cmd.Final(), params)
		return
	case cmd.Prefix() != 0:
		return
	case cmd.Intermediate() == '!' && cmd.Final() == 'p':
		s.insert, s.noWrap, s.origin, s.application, s.top, s.bottom = false, false, false, false, 0, s.rows
		return
	case cmd.Intermediate() != 0:
		return
	}
	n := param(0, 1)
	switch cmd.Final() {
	case 'A':
		s.vertical(-n)
	case 'B', 'e':
		s.vertical(n)
	case 'C', 'a':
		s.move(s.x+n, s.y)
	case 'D':
		s.move(s.x-n, s.y)
	case 'E':
		s.vertical(n)
		s.x = 0
	case 'F':
		s.vertical(-n)
		s.x = 0
	case 'G', '`':
		s.move(n-1, s.y)
	case 'H', 'f':
		s.jump(param(1, 1)-1, n-1)
	case 'd':
		s.jump(s.x, n-1)
	case 'I':
		s.tab(n)
	case 'Z':
		s.tab(-n)
	case 'J':
		s.erase(param(0, 0))
	case 'K':
		s.eraseLine(param(0, 0))
	case 'L', 'M':
		if s.y >= s.top && s.y < s.bottom {
			if cmd.Final() == 'L' {
				s.down(s.y, n)
			} else {
				s.cut(s.y, n)
			}
			s.x, s.wrap = 0, false
		}
	case '@':
		line := s.lines[s.y]
		n = min(n, s.columns-s.x)
		copy(line[s.x+n:], line[s.x:])
		clear(line[s.x : s.x+n])
	case 'P':
		line := s.lines[s.y]
		n = min(n, s.columns-s.x)
		copy(line[s.x:], line[s.x+n:])
		clear(line[s.columns-n:])
	case 'X':
		clear(s.lines[s.y][s.x:min(s.columns, s.x+n)])
	case 'S':
		s.up(s.top, n)
	case 'T':
		s.down(s.top, n)
	case 'b':
		for range min(n, s.columns*s.rows) {
			if s.last != 0 {
				s.print(s.last)
			}
		}
	default:
		s.setting(cmd.Final(), params, param)
	}
}

func (s *screen) setting(final byte, params ansi.Params, param func(i, def int) int) {
	switch final {
	case 'r':
		top, bottom := param(0, 1)-1, min(param(1, s.rows), s.rows)
		if top < bottom-1 {
			s.top, s.bottom = top, bottom
			s.jump(0, 0)
		}
	case 's':
		s.save()
	case 'u':
		s.restore()
	case 'h', 'l':
		params.ForEach(0, func(_, mode int, _ bool) {
			if mode == 4 {
				s.insert = final == 'h'
			}
		})
	case 'g':
		if param(0, 0) == 3 {
			clear(s.tabs)
		} else {
			s.tabs[s.x] = false
		}
	case 'n':
		switch param(0, 0) {
		case 5:
			s.answer("\x1b[0n")
		case 6:
			s.answer(fmt.Sprintf("\x1b[%d;%dR", s.y+1, s.x+1))
		}
	case 'c':
		s.answer("\x1b[?6c")
	}
}

// private sets the modes that DEC and xterm added.
func (s *screen) private(final byte, params ansi.Params) {
	if final != 'h' && final != 'l' {
		return
	}
	on := final == 'h'
	params.ForEach(0, func(_, mode int, _ bool) {
		switch mode {
		case 1:
			s.application = on
		case 6:
			s.origin = on
			s.jump(0, 0)
		case 7:
			s.noWrap = !on
		case 1048:
			if on {
				s.save()
			} else {
				s.restore()
			}
		case 47, 1047, 1049:
			s.alternate(on, mode == 1049)
		}
	})
}

// alternate shows the second screen, which has no history, or the first again.
func (s *screen) alternate(on, cursor bool) {
	switch {
	case on && s.main == nil:
		if cursor {
			s.save()
		}
		s.main, s.lines = s.lines, blankLines(s.columns, s.rows)
	case !on && s.main != nil:
		s.lines, s.main = s.main, nil
		if cursor {
			s.restore()
		}
	}
	s.top, s.bottom, s.wrap = 0, s.rows, false
}

func (s *screen) move(x, y int) {
	s.x, s.y, s.wrap = min(max(x, 0), s.columns-1), min(max(y, 0), s.rows-1), false
}

// jump moves to a place that counts from the top of what scrolls, if a program wanted that.
func (s *screen) jump(x, y int) {
	if s.origin {
		s.move(x, min(y+s.top, s.bottom-1))
		return
	}
	s.move(x, y)
}

// vertical moves within what scrolls, when the cursor is there.
func (s *screen) vertical(n int) {
	low, high := 0, s.rows-1
	if s.y >= s.top {
		low = s.top
	}
	if s.y < s.bottom {
		high = s.bottom - 1
	}
	s.move(s.x, min(max(s.y+n, low), high))
}

// cut takes lines away, which is no scrolling: they are not history.
func (s *screen) cut(from, n int) {
	for range min(n, s.bottom-from) {
		first := s.lines[from]
		copy(s.lines[from:s.bottom], s.lines[from+1:s.bottom])
		clear(first)
		s.lines[s.bottom-1] = first
	}
}

func (s *screen) erase(what int) {
	switch what {
	case 0:
		s.eraseLine(0)
		for _, line := range s.lines[s.y+1:] {
			clear(line)
		}
	case 1:
		s.eraseLine(1)
		for _, line := range s.lines[:s.y] {
			clear(line)
		}
	case 2:
		for _, line := range s.lines {
			clear(line)
		}
	case 3:
		s.gone += len(s.history)
		s.history = nil
	}
}

func (s *screen) eraseLine(what int) {
	line := s.lines[s.y]
	s.wrap = false
	switch what {
	case 0:
		clear(line[s.x:])
	case 1:
		clear(line[:s.x+1])
	case 2:
		clear(line)
	}
}
