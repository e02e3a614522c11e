package action

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

var cleanTests = []struct{ name, raw, want string }{
	{"plain", "a\tb\n", "a\tb\n"},
	{"windows line ends", "a\r\nb\r\r\nc", "a\nb\nc"},
	{"bar with erase", "10%\r\x1b[K20%\r\x1b[K", "20%"},
	{"bar that ends with a return", "10%\r100%\r\nok\n", "100%\nok\n"},
	{"backspaces", "ab\b\bxy\n\bz", "xy\nz"},
	{"bold of a manual page", "N\bNA\bA", "NA"},
	{"title ended by ST", "\x1b]0;t\x1b\\x", "x"},
	{"title that never ends", "\x1b]0;t\nnext\n", "\nnext\n"},
	{"charset choice", "\x1b(Bx", "x"},
	{"broken sequence", "\x1b[12\nx", "\nx"},
	{"lone escape", "a\x1b", "a"},
	{"8-bit controls", "a\u009b\u0085b", "ab"},
	{"not UTF-8", "a\xffb", "a\ufffdb"},
	{"UTF-8 with mark", "\xef\xbb\xbfé", "é"},
	{"UTF-16 big endian", "\xfe\xff\x00a\xd8\x3d\xde\x00", "a😀"},
	{"a mark and nothing", "\xff", "\ufffd"},
}

func TestClean(t *testing.T) {
	for _, c := range cleanTests {
		if got := Clean([]byte(c.raw)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		// However a stream is cut, the same comes out.
		for i := range len(c.raw) + 1 {
			if got := cleanCut(c.raw, i); got != c.want {
				t.Errorf("%s cut at %d: got %q, want %q", c.name, i, got, c.want)
			}
		}
	}
}

func cleanCut(raw string, i int) string {
	var c cleaner
	return c.feed([]byte(raw[:i])) + c.feed([]byte(raw[i:])) + c.last()
}

func FuzzClean(f *testing.F) {
	for _, c := range cleanTests {
		f.Add([]byte(c.raw), 1)
	}
	f.Fuzz(func(t *testing.T, raw []byte, cut int) {
		got := Clean(raw)
		if !utf8.ValidString(got) {
			t.Fatalf("not UTF-8: %q", got)
		}
		for _, r := range got {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f {
				t.Fatalf("control character %U in %q", r, got)
			}
		}
		if again := Clean([]byte(got)); again != got && !strings.HasPrefix(got, "\ufeff") {
			t.Fatalf("cleaning twice gives %q, then %q", got, again)
		}
		if len(raw) < partialMost && cut >= 0 && cut <= len(raw) {
			if parts := cleanCut(string(raw), cut); parts != got {
				t.Fatalf("cut at %d: %q, whole: %q", cut, parts, got)
			}
		}
	})
}

func TestRecordBounds(t *testing.T) {
	r := newRecord(t.TempDir())
	var all strings.Builder
	for i := range 5000 {
		line := fmt.Sprintf("line %d of many\n", i+1)
		if i == 2499 {
			line = "x.go:12: error: here it is\n"
		}
		all.WriteString(line)
		r.watch([]byte(line))
	}
	text, p, full, _ := r.turn(4000, 0, true)
	if len(text) > 4400 || p.bytes != int64(all.Len()) || p.lines != 5000 {
		t.Errorf("%d bytes shown of %d, %d lines", len(text), p.bytes, p.lines)
	}
	for _, want := range []string{"line 1 of many\n", "line 5000 of many\n", "2500: x.go:12: error: here it is\n", fmt.Sprintf("of %d bytes left out here", all.Len()), full} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if got := string(load(t, full)); got != all.String() {
		t.Errorf("the file has %d bytes, want %d", len(got), all.Len())
	}
	if info, err := os.Stat(full); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode of the file: %v %v", info.Mode(), err)
	}
}

func TestRecordPages(t *testing.T) {
	r := newRecord(t.TempDir())
	r.watch([]byte("a\nb"))
	if text, _, full, _ := r.turn(100, 0, false); text != "a\nb" || full != "" {
		t.Errorf("first page %q, file %q", text, full)
	}
	r.watch([]byte("c\n\x1b[3"))
	r.watch([]byte("1mred"))
	if text, p, _, _ := r.turn(100, 0, true); text != "c\nred" || p.first != 1 {
		t.Errorf("second page %q from line %d", text, p.first)
	}
}

// A record stays small and keeps everything in its file, whatever comes.
func TestRecordOfMuch(t *testing.T) {
	r := newRecord(t.TempDir())
	chunk := []byte(strings.Repeat("0123456789\n", 700))
	total := 0
	for total < 3<<20 {
		r.watch(chunk)
		total += len(chunk)
	}
	if held := len(r.page.head) + len(r.page.tail) + r.unheard.Len(); held > 4*recordHalf {
		t.Errorf("%d bytes are held", held)
	}
	text, p, full, _ := r.turn(30_000, 0, true)
	if p.bytes != int64(total) || len(text) > 31_000 {
		t.Errorf("%d bytes counted of %d, %d shown", p.bytes, total, len(text))
	}
	if info, err := os.Stat(full); err != nil || info.Size() != int64(total) {
		t.Errorf("the file: %v, %v, want %d bytes", info, err, total)
	}
}

func TestProgressBarWithoutEnd(t *testing.T) {
	r := newRecord("")
	for i := range 8000 {
		r.watch(fmt.Appendf(nil, "\rstep %d of many and more", i+1))
	}
	text, _, _, _ := r.turn(1000, 0, true)
	if text != "step 8000 of many and more" {
		t.Errorf("got %q", text)
	}
}
