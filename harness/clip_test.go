package harness

import (
	"strings"
	"testing"
)

func TestClip(t *testing.T) {
	tests := []struct {
		about, text  string
		bytes, lines int
		head         float64
		want         string // | stands where the middle went
	}{
		{"whole", "a\nb\n", 10, 5, 0.5, "a\nb\n"},
		{"lines, a break at the end", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", 100, 5, 0.2, "1\n|7\n8\n9\n10\n"},
		{"lines, none at the end", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10", 100, 5, 0.2, "1\n|7\n8\n9\n10"},
		{"as many lines as may be", "1\n2\n3", 100, 3, 0.2, "1\n2\n3"},
		{"only the head", "1\n2\n3\n4\n", 100, 2, 1, "1\n2\n|"},
		{"bytes", "aaaa\nbbbb\ncccc\ndddd\n", 10, 0, 0.5, "aaaa\n|dddd\n"},
		{"bytes and lines", "1\n2\n3\n4\n" + strings.Repeat("long ", 20) + "\n5\n6\n", 40, 4, 0.5, "1\n2\n|5\n6\n"},
		{"never inside a letter", "ääää", 5, 0, 0.5, "ä|ä"},
	}
	for _, c := range tests {
		got, cut := Clip(c.text, c.bytes, c.lines, c.head)
		if cut.Bytes > 0 {
			if len(got)+cut.Bytes != len(c.text) {
				t.Errorf("%s: %d bytes are left and %d gone of %d", c.about, len(got), cut.Bytes, len(c.text))
			}
			got = got[:cut.At] + "|" + got[cut.At:]
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.about, got, c.want)
		}
	}
}
