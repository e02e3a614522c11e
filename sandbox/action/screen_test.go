package action

import (
	"fmt"
	"strings"
	"testing"
)

// Each case is what a program prints to a screen of 10 by 4, and what is seen then.
var screenCases = []struct {
	name, printed, want string
}{
	{"lines", "one\r\ntwo", "one\ntwo"},
	{"line feeds alone", "a\nb", "a\n b"},
	{"scrolls", "1\r\n2\r\n3\r\n4\r\n5\r\n6", "3\n4\n5\n6"},
	{"wraps", "0123456789ab", "0123456789\nab"},
	{"the last column waits", "0123456789\rX", "X123456789"},
	{"no wrapping", "\x1b[?7l0123456789ab", "012345678b"},
	{"colours", "\x1b[31;1mred\x1b[0m", "red"},
	{"titles", "\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"},
	{"tabs", "a\tb", "a       b"},
	{"backspace", "abc\b\bX", "aXc"},
	{"progress", "10%\r50%\r100%", "100%"},
	{"cursor", "\x1b[2;3Hx\x1b[1;1Hy\x1b[B\x1b[Cz", "y\n  z"},
	{"relative", "abc\x1b[2D_\x1b[A^\x1b[4G!", "a_^!"},
	{"clear", "one\r\ntwo\x1b[H\x1b[2Jthree", "three"},
	{"erase to the end", "one\r\ntwo\x1b[1;2H\x1b[J", "o"},
	{"erase to the start", "one\r\ntwo\x1b[2;2H\x1b[1J", "\n  o"},
	{"erase in a line", "abcdef\x1b[3D\x1b[K\x1b[2D\x1b[1K", "  c"},
	{"erase letters", "abcdef\x1b[4D\x1b[2X", "ab  ef"},
	{"insert letters", "abc\x1b[2D\x1b[2@", "a  bc"},
	{"insert mode", "abc\x1b[2D\x1b[4hXY\x1b[4lZ", "aXYZc"},
	{"delete letters", "abcdef\x1b[4D\x1b[2P", "abef"},
	{"insert lines", "1\r\n2\r\n3\x1b[2;1H\x1b[L", "1\n\n2\n3"},
	{"delete lines", "1\r\n2\r\n3\x1b[1;1H\x1b[M", "2\n3"},
	{"region", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1H\nX", "1\n3\nX\n4"},
	{"backwards", "1\r\n2\x1b[1;1H\x1bM0", "0\n1\n2"},
	{"origin", "\x1b[2;4r\x1b[?6h\x1b[1;1Hx", "\nx"},
	{"saved", "ab\x1b7\x1b[3;3Hx\x1b8c", "abc\n\n  x"},
	{"alternate", "first\x1b[?1049h\x1b[Hfull\x1b[?1049l!", "first!"},
	{"inside the alternate", "first\x1b[?1049h\x1b[Hfull", "full"},
	{"line drawing", "\x1b(0lqk\x1b(Bq", "┌─┐q"},
	{"shifted", "\x1b)0q\x0eq\x0fq", "q─q"},
	{"wide", "日本x", "日本x"},
	{"wide at the edge", "12345678本", "12345678本"},
	{"wide past the edge", "123456789本", "123456789\n本"},
	{"half of a wide one", "日本\x1b[1;2Hx", " x本"},
	{"marks", "e\u0301a\u0308", "e\u0301a\u0308"},
	{"emoji", "a😀b", "a😀b"},
	{"repeat", "a\x1b[3b", "aaaa"},
	{"reset", "abc\x1bcd", "d"},
	{"nonsense", "a\x1b[999999999999;5z\x1b[?99999hb\x1b[>1;2c\x00", "ab"},
	{"far away", "\x1b[9999;9999Hx\x1b[9999A\x1b[9999Dy", "y\n\n\n         x"},
	{"many", "\x1b[99999Lx\x1b[99999@y\x1b[99999S\x1b[99999T", ""},
	{"not UTF-8", "a\xffb\xe6\x97", "ab"},
}

func TestScreen(t *testing.T) {
	for _, c := range screenCases {
		t.Run(c.name, func(t *testing.T) {
			s := newScreen(10, 4, func(string) {})
			s.write([]byte(c.printed))
			if got := strings.Join(s.visible(), "\n"); got != c.want {
				t.Errorf("shows %q, want %q", got, c.want)
			}
			s = newScreen(10, 4, func(string) {})
			for i := range len(c.printed) {
				s.write([]byte{c.printed[i]})
			}
			if got := strings.Join(s.visible(), "\n"); got != c.want {
				t.Errorf("byte by byte it shows %q, want %q", got, c.want)
			}
		})
	}
}

func TestScreenAnswers(t *testing.T) {
	var said []string
	s := newScreen(10, 4, func(text string) { said = append(said, text) })
	s.write([]byte("ab\r\nc\x1b[6n\x1b[5n\x1b[c"))
	if got := fmt.Sprintf("%q", said); got != `["\x1b[2;2R" "\x1b[0n" "\x1b[?6c"]` {
		t.Error(got)
	}
}

func TestScreenSince(t *testing.T) {
	s := newScreen(10, 4, func(string) {})
	see := func(printed, want string, whole bool) {
		t.Helper()
		before := s.look()
		s.write([]byte(printed))
		lines, ok := s.since(before)
		if got := strings.Join(lines, "\n"); got != want || ok != whole {
			t.Errorf("after %q there is %q, %v; want %q, %v", printed, got, ok, want, whole)
		}
	}
	see("$ ", "$", true)
	see("ls\r\na\r\n$ ", "$ ls\na\n$", true)
	see("", "", true)
	see("x\r\n1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n$ ", "$ x\n1\n2\n3\n4\n5\n6\n$", true)
	see("\x1b[H\x1b[2J$ ", "", false)
	see("y", "$ y", true)
	see("\r\nz\x1b[?1049h\x1b[Hfull", "", false)
	see("screen", "", false)
	see("\x1b[?1049l\r\n$ ", "", false)
	see("e\r\n1\r\n2\r\n3\r\n4\r\n\x1b[3J", "", false)
	before := s.look()
	for i := range historyMost * 2 {
		s.write(fmt.Appendf(nil, "\r\nline %d", i))
	}
	if _, whole := s.since(before); whole || len(s.history) > historyMost*11/10 {
		t.Errorf("%d lines are kept, whole: %v", len(s.history), whole)
	}
	if got := s.visible(); got[3] != fmt.Sprintf("line %d", historyMost*2-1) {
		t.Errorf("it shows %q", got)
	}
}

func FuzzScreen(f *testing.F) {
	for _, c := range screenCases {
		f.Add([]byte(c.printed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newScreen(10, 4, func(string) {})
		before := s.look()
		s.write(data)
		s.since(before)
		if len(s.visible()) > 4 || s.x < 0 || s.x >= 10 || s.y < 0 || s.y >= 4 {
			t.Errorf("the cursor is at %d, %d of %q", s.x, s.y, s.visible())
		}
	})
}

func BenchmarkScreen(b *testing.B) {
	data := []byte(strings.Repeat("some line of output that is typical for a build \x1b[31mred\x1b[0m\r\n", 1000))
	s := newScreen(terminalColumns, terminalRows, func(string) {})
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		s.write(data)
	}
}
