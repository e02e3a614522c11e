package action

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestReplaceText(t *testing.T) {
	tests := []struct {
		name, before, old, new string
		all                    bool
		want, level            string
		first, last            int
	}{
		{"one line becomes two in a CRLF file", "a\r\nb\r\n", "b", "b\nc", false, "a\r\nb\r\nc\r\n", "E0", 3, 3},
		{"old starts with a break of a CRLF file", "a\r\nb\r\nc", "\nb", "", false, "a\r\nc", "E1", 2, 2},
		{"carriage returns in old are meant", "a\r\nb\n", "a\r\nb", "a\nb", false, "a\nb\n", "E0", 1, 1},
		{"carriage returns in new are not", "a\nb\n", "b", "x\r\ny", false, "a\nx\ny\n", "E0", 2, 3},
		{"Latin-1 letters", "caf\xe9\n", "café", "cafés à", false, "caf\xe9s \xe0\n", "E1", 1, 1},
		{"new letters in a Latin-1 file", "\xe9\nx\n", "x", "ü", false, "\xe9\n\xfc\n", "E0", 2, 2},
		{"UTF-16 big endian with CRLF", "\xfe\xff\x00a\x00\r\x00\n\x00b", "a\nb", "c\nb", false, "\xfe\xff\x00c\x00\r\x00\n\x00b", "E1", 1, 1},
		{"mark in what was copied", "\xef\xbb\xbfx\n", "\xef\xbb\xbfx", "y", false, "\xef\xbb\xbfy\n", "E0", 1, 1},
		{"numbers with bars", "if a {\n\tb()\n}\n", "7 | if a {\n8 | \tb()", "7 | if a {\n8 | \tc()", false, "if a {\n\tc()\n}\n", "E2", 2, 2},
		{"numbers with arrows", "if a {\n\tb()\n}\n", "     1→if a {\n     2→\tb()", "     1→if a {\n     2→\tc()", false, "if a {\n\tc()\n}\n", "E2", 2, 2},
		{"numbers that do not follow stay", "1: a\n3: b\n", "1: a\n3: b", "x", false, "x\n", "E0", 1, 1},
		{"diff marks", "one\ntwo\n", "-one\n-two", "+1\n+2", false, "1\n2\n", "E2", 1, 2},
		{"numbers and blanks", "f {  \n\tg\n}\n", "1\tf {\n2\t\tg", "f {\n\th", false, "f {\n\th\n}\n", "E3", 1, 2},
		{"blank line before", "a b c\nd\n", "\na b c\nd", "\nx\nd", false, "x\nd\n", "E3", 1, 1},
		{"last line without a break", "p\nq  ", "p\nq\n", "p\nr\n", false, "p\nr", "E3", 2, 2},
		{"blanks of an inner line only", "a  \nb  \n", "a\nb", "c\nd", false, "c\nd  \n", "E3", 1, 2},
		{"ellipsis and a hard space", "say\u00a0hello… now\n", "say hello... now", "bye", false, "bye\n", "E4", 1, 1},
		{"composed and decomposed", "cafe\u0301 = 1\n", "café = 1", "x = 1", false, "x = 1\n", "E4", 1, 1},
		{"all of a looser level", "a \u2013 b\na \u2013 b\n", "a - b", "c", true, "c\nc\n", "E4", 1, 2},
		{"escapes written out", "if x {\n\treturn\n}\n", `if x {\n\treturn`, `if y {\n\treturn`, false, "if y {\n\treturn\n}\n", "E5", 1, 1},
		{"escapes of old alone", "print(1)\nprint(2)\n", `print(1)\nprint(2)`, "print(1)\nprint(\"a\\n\")", false, "print(1)\nprint(\"a\\n\")\n", "E5", 2, 2},
		{"escaped carriage returns", "one line\r\nanother\r\n", `one line\r\nanother`, `two lines\r\nanother`, false, "two lines\r\nanother\r\n", "E5", 1, 1},
		{"moved out", "if a:\n    b()\nc()\n", "        if a:\n            b()", "        if a:\n            d()", false, "if a:\n    d()\nc()\n", "E6", 2, 2},
		{"spaces for tabs", "func f() {\n\tif a {\n\t\tb()\n\t}\n}\n", "    if a {\n        b()\n    }", "    if a {\n        c()\n    }", false, "func f() {\n\tif a {\n\t\tc()\n\t}\n}\n", "E6", 3, 3},
		{"overlapping places with all", "aaa", "aa", "b", true, "ba", "E0", 1, 1},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			after, spots, level, first, last, err := ReplaceText([]byte(c.before), c.old, c.new, c.all)
			if err != nil {
				t.Fatal(err)
			}
			if string(after) != c.want || level != c.level || spots == 0 {
				t.Errorf("%q on %s in %d places, want %q on %s", after, level, spots, c.want, c.level)
			}
			if first != c.first || last != c.last {
				t.Errorf("lines %d-%d, want %d-%d", first, last, c.first, c.last)
			}
		})
	}
}

func TestReplaceTextRefuses(t *testing.T) {
	tests := []struct {
		name, before, old, new string
		want                   error
	}{
		{"overlap is two places", "aaa", "aa", "b", ErrAmbiguous},
		{"two places on a looser level", "a  \nb\na  \nb\n", "a\nb", "c", ErrAmbiguous},
		{"half a pair in UTF-16", "\xff\xfe\x00\xd8a\x00", "a", "b", ErrBinary},
		{"code left out", "f()\ng()\n", "f()", "// ... existing code ...\nh()", ErrPlaceholder},
		{"one short line is not shifted", "  a\n", "\ta", "b", ErrAbsent},
		{"indentation not uniform", "if a:\n  b()\n      c()\n", "if a:\n    b()\n    c()", "x", ErrAbsent},
		{"a shift that the new text cannot follow", "if aaaaaaaa:\n    bbbbbbbb()\n", "    if aaaaaaaa:\n        bbbbbbbb()", "x\n        y", ErrAbsent},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			after, _, level, _, _, err := ReplaceText([]byte(c.before), c.old, c.new, false)
			if !errors.Is(err, c.want) {
				t.Errorf("got %q on %s, %v, want %v", after, level, err, c.want)
			}
			if string(after) != c.before {
				t.Errorf("and the text became %q", after)
			}
		})
	}
}

func TestReplaceTextAlreadyThere(t *testing.T) {
	before := "func a() {\n\treturn compute(1)\n}\n\nfunc b() {\n\treturn other(2)\n}\n"
	after, spots, _, first, last, err := ReplaceText([]byte(before), "\treturn compute(0)", "\treturn compute(1)", false)
	if err != nil || spots != 0 || string(after) != before || first != 2 || last != 2 {
		t.Errorf("spots %d, lines %d-%d, %v", spots, first, last, err)
	}
	// It is there with other blanks, after an edit that was found loosely.
	_, spots, _, first, last, err = ReplaceText([]byte(before), "func a() {\n    return compute(0)", "func a() {\n    return compute(1)", false)
	if err != nil || spots != 0 || first != 1 || last != 2 {
		t.Errorf("spots %d, lines %d-%d, %v", spots, first, last, err)
	}
	// The same new text far from where the old one nearly is proves nothing.
	_, _, _, _, _, err = ReplaceText([]byte(before), "\treturn other(3)", "\treturn compute(1)", false)
	if !errors.Is(err, ErrAbsent) {
		t.Errorf("got %v", err)
	}
}

func TestPythonDotsAreNoPlaceholder(t *testing.T) {
	after, _, _, _, _, err := ReplaceText([]byte("class P:\n    pass\n"), "    pass", "    def f(self):\n        ...", false)
	if err != nil || !strings.Contains(string(after), "...") {
		t.Errorf("%q, %v", after, err)
	}
}

func TestSameTextsShowTheLines(t *testing.T) {
	_, _, _, _, _, err := ReplaceText([]byte("a\nb\nc\nd\n"), "b\nc", "b\nc", false)
	var me *MatchError
	if !errors.As(err, &me) || !errors.Is(err, ErrSame) || me.Near != "b\nc" || me.NearAt != 2 {
		t.Errorf("%+v", err)
	}
}

func TestMatchErrorHelps(t *testing.T) {
	before := "package a\n\nfunc f() {\n\tx := 1\n\treturn x\n}\n"
	_, _, _, _, _, err := ReplaceText([]byte(before), "func f() {\n        x :=  1\n\treturn y", "z", false)
	var me *MatchError
	if !errors.As(err, &me) {
		t.Fatal(err)
	}
	if me.NearAt != 3 || me.Near != "func f() {\n\tx := 1\n\treturn x" {
		t.Errorf("near line %d: %q", me.NearAt, me.Near)
	}
	if me.DiffersAt != 4 || me.Differs != "→x·:=·1" || me.Sent != "········x·:=··1" {
		t.Errorf("line %d differs: %s, sent %s", me.DiffersAt, me.Differs, me.Sent)
	}
}

// FuzzEdit holds every edit to this: no panic, a refusal changes nothing, marks and encodings stay, what is found to the
// letter is replaced to the letter, and on every level only the lines that were quoted are touched.
func FuzzEdit(f *testing.F) {
	f.Add([]byte("a\r\nb\r\n"), "a\nb", "c", uint8(0), false)
	f.Add([]byte("\xef\xbb\xbf\tif x {\n\t\ty\n"), "    if x {\n        y", "z\n", uint8(1), false)
	f.Add([]byte("caf\xe9 \xe2\x80\x93 x"), "- x", "1\n2", uint8(2), true)
	f.Add([]byte("\xff\xfea\x00\n\x00"), "a", "bb", uint8(3), true)
	f.Add([]byte("def f():\n    a()\n\n    b()\n"), "def f():\n  a()\n  b()\n", "def f():\n  c()\n\n\n  b()\n", uint8(1), false)
	f.Add([]byte("func f() {\n\tif a {\n\t\tb(c)\n\n\t}\n}\n"), "func f() {\n if a {\nb(c)\n}\n}", "func f() {\n if a {\nd()\n}\n}", uint8(0), false)
	f.Add([]byte("one  two\r\nthree four\r\n"), "one two\n\n\nthree four", "5", uint8(3), false)
	f.Fuzz(func(t *testing.T, before []byte, old, new string, kind uint8, all bool) {
		keep := bytes.Clone(before)
		path := []string{"a.go", "a.py", "Makefile", "file"}[kind%4]
		r, err := replaceOne(before, Edit{Path: path, Old: old, New: new, All: all})
		if !bytes.Equal(before, keep) {
			t.Fatal("the input was changed")
		}
		if err != nil || r.spots == 0 {
			if !bytes.Equal(r.after, before) {
				t.Fatalf("a refusal (%v) changed the text", err)
			}
			return
		}
		if r.level == "" || r.first < 0 || r.last < r.first {
			t.Fatalf("level %q, lines %d-%d", r.level, r.first, r.last)
		}
		for _, mark := range []string{bomUTF8, bomLE, bomBE} {
			if bytes.HasPrefix(before, []byte(mark)) && !bytes.HasPrefix(r.after, []byte(mark)) {
				t.Fatalf("the mark %q is gone", mark)
			}
		}
		if r.spots == 1 && r.level == levelExact && !strings.Contains(old+new, "\r") && !bytes.Contains(before, []byte("\r")) && !bytes.HasPrefix(before, []byte(bomUTF8)) && !strings.HasPrefix(old, bomUTF8) && !strings.HasPrefix(new, bomUTF8) {
			if _, c, _ := decode(before); !c.latin && string(r.after) != strings.Replace(string(before), old, new, 1) {
				t.Fatalf("%q, want a plain replacement", r.after)
			}
		}
		if r.spots == 1 && r.level > levelLetters {
			onlyQuotedLinesGo(t, before, r.after, old, new)
		}
	})
}

// onlyQuotedLinesGo checks that every line of a file that is not quoted, however loosely, is still there.
func onlyQuotedLinesGo(t *testing.T, before, after []byte, old, new string) {
	t.Helper()
	if _, _, err := decode(after); err != nil {
		return // the new text made it no text
	}
	bare := func(s string) string { return strings.Join(strings.Fields(plainText(s)), "") }
	quoted := bare(unescaped.Replace(old)) + "\n" + bare(old)
	have := map[string]int{}
	for line := range strings.SplitSeq(shown(after), "\n") {
		have[bare(line)]++
	}
	for line := range strings.SplitSeq(shown(before), "\n") {
		key := bare(line)
		if have[key]--; have[key] < 0 && key != "" && !strings.Contains(quoted, key) {
			t.Fatalf("the line %q was not quoted and is gone: %q by %q in %q gives %q", line, old, new, before, after)
		}
	}
}
