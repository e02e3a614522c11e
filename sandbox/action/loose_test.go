package action

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestLooseLevels(t *testing.T) {
	tests := []struct {
		name, path, before, old, new, want, level string
	}{
		{"two spaces for four, a line more", "a.py", "class A:\n    def f(self):\n        if x:\n            return 1\n",
			"def f(self):\n  if x:\n    return 1", "def f(self):\n  if x:\n    y = 2\n    return y",
			"class A:\n    def f(self):\n        if x:\n            y = 2\n            return y\n", "E7"},
		{"a deeper line than any before", "a.py", "def f():\n    a()\n    b()\n", "def f():\n  a()\n  b()", "def f():\n  a()\n  if c:\n    b()",
			"def f():\n    a()\n    if c:\n        b()\n", "E7"},
		{"tabs in the file, uneven spaces sent", "a.go", "func f() {\n\tif a {\n\t\tb()\n\t}\n}\n", "func f() {\n  if a {\n   b()\n }\n}", "func f() {\n  if a {\n   c()\n }\n}",
			"func f() {\n\tif a {\n\t\tc()\n\t}\n}\n", "E7"},
		{"all indentation lost", "a.js", "function f() {\n  if (a) {\n    b();\n  }\n}\n", "function f() {\nif (a) {\nb();\n}\n}", "function f() {\nif (a) {\nb(1);\n}\n}",
			"function f() {\n  if (a) {\n    b(1);\n  }\n}\n", "E7"},
		{"a line between unlike ones", "a.go", "func f() {\n\tif a {\n\t\tb()\n\t}\n}\n", "func f() {\nif a {\nb()\n}\n}", "func f() {\nif a {\nb()\nc()\n}\n}",
			"func f() {\n\tif a {\n\t\tb()\n\t\tc()\n\t}\n}\n", "E7"},
		{"runs of blanks in the file", "a.go", "type T struct {\n\tName   string // it\n\tLength int\n}\n", "\tName string // it\n\tLength int", "\tName string // it\n\tLength int64",
			"type T struct {\n\tName   string // it\n\tLength int64\n}\n", "E8"},
		{"runs of blanks sent", "x.txt", "one two three four\n", "one   two three four", "one two five", "one two five\n", "E8"},
		{"runs and indentation", "a.go", "func f() {\n\ta  =  1\n\tbb = 2\n}\n", "    a = 1\n    bb = 2", "    a = 1\n    bb = 3", "func f() {\n\ta  =  1\n\tbb = 3\n}\n", "E8"},
		{"a blank line less", "a.py", "import a\n\nimport b\nc()\n", "import a\nimport b", "import a\nimport d", "import a\n\nimport d\nc()\n", "E9"},
		{"a blank line more", "a.py", "import a\nimport b\nc()\n", "import a\n\nimport b\n", "import a\n\nimport d\n", "import a\nimport d\nc()\n", "E9"},
		{"a new blank line is kept", "a.py", "import a\n\nimport b\nc()\n", "import a\nimport b", "import a\nimport b\n\nimport d", "import a\n\nimport b\n\nimport d\nc()\n", "E9"},
		{"blank lines around", "a.py", "alpha()\n\n\nbeta()\ngamma()\n", "\n\nalpha()\nbeta()\n\n", "\n\nalpha()\ndelta()\n\n", "alpha()\n\n\ndelta()\ngamma()\n", "E9"},
		{"deleting on a loose level", "a.go", "{\n\tabc()\n\n\tdef()\n\tghi()\n}\n", "abc()\ndef()\n", "", "{\n\tghi()\n}\n", "E9"},
		{"CRLF stays", "a.go", "if a {\r\n\tb()\r\n\r\n\tcc()\r\n}\r\n", "if a {\n  b()\n cc()\n}", "if a {\n  b()\n dd()\n}", "if a {\r\n\tb()\r\n\r\n\tdd()\r\n}\r\n", "E9"},
		{"indentation that new changes on purpose", "a.py", "if a:\n    if b:\n        c()\n", "if a:\n  if b:\n    c()", "if a:\n  c()", "if a:\n    c()\n", "E7"},
		{"numbers and lost indentation", "a.py", "def f():\n    g()\n", "1: def f():\n2:   g()", "def f():\n  h()", "def f():\n    h()\n", "E7"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			r, err := replaceOne([]byte(c.before), Edit{Path: c.path, Old: c.old, New: c.new})
			if err != nil || string(r.after) != c.want || r.level != c.level {
				t.Errorf("%q on %s, %v\nwant %q on %s", r.after, r.level, err, c.want, c.level)
			}
		})
	}
}

func TestLooseRefuses(t *testing.T) {
	tests := []struct {
		name, path, before, old, new string
		want                         error
	}{
		{"Python with unlike indentation", "a.py", "if a:\n    b()\nc()\n", "if a:\nb()\nc()", "if a:\nb()\nd()", ErrAbsent},
		{"YAML with unlike indentation", "a.yml", "a:\n  b: 1\nc: 2\n", "a:\nb: 1\nc: 2", "a:\nb: 1\nc: 3", ErrAbsent},
		{"a Makefile", "Makefile", "all: x\n\tcc x\nx:\n", "all: x\ncc x\nx:", "all: x\ncc y\nx:", ErrAbsent},
		{"a file nobody knows", "", "if a:\n    b()\nc()\n", "if a:\nb()\nc()", "if a:\nb()\nd()", ErrAbsent},
		{"a new line that falls between", "a.py", "if a:\n    b()\n", "if a:\n  b()", "if a:\n b()\n  c()", ErrAbsent},
		{"two places", "a.go", "if a {\n\t\t\tb()\n}\nif a {\n\t\tb()\n}\n", "if a {\n b()\n}", "x", ErrAmbiguous},
		{"a short line", "a.go", "\ta = b\n", " a =  b", "c", ErrAbsent},
		{"all of a loose level", "a.go", "func f() {\n\t\ta()\n}\nfunc f() {\n\t\ta()\n}\n", "func f() {\n a()\n}", "x", ErrAbsent},
		{"lines inside that differ", "a.go", "func f() {\n\ta()\n\tb()\n}\n", "func f() {\n  a()\n  x()\n}", "y", ErrAbsent},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			r, err := replaceOne([]byte(c.before), Edit{Path: c.path, Old: c.old, New: c.new, All: strings.HasPrefix(c.name, "all of")})
			if !errors.Is(err, c.want) || string(r.after) != c.before {
				t.Errorf("got %q on %s, %v, want %v", r.after, r.level, err, c.want)
			}
		})
	}
}

// code is made-up source in which every line is another one: braces or colons, and one of the usual indentations.
func code(r *rand.Rand, braces bool, unit string) []string {
	var out []string
	depth := 0
	for i := range 30 + r.IntN(20) {
		in := strings.Repeat(unit, depth)
		switch n := r.IntN(10); {
		case n < 3 && depth < 4:
			end := ":"
			if braces {
				end = " {"
			}
			out = append(out, fmt.Sprintf("%sif value_%d > %d%s", in, i, i*7, end))
			depth++
			out = append(out, fmt.Sprintf("%scall_%d(first, second)", strings.Repeat(unit, depth), i))
		case n < 5 && depth > 0:
			depth--
			if braces {
				out = append(out, fmt.Sprintf("%s} // %d", strings.Repeat(unit, depth), i))
			} else {
				out = append(out, fmt.Sprintf("%sback_%d()", strings.Repeat(unit, depth), i))
			}
		case n == 5:
			out = append(out, "")
		default:
			out = append(out, fmt.Sprintf("%sname_%d = other_%d + %d", in, i, i, r.IntN(100)))
		}
	}
	return out
}

// damage is what models do to the blanks of what they quote. It does the same to both texts.
type damage struct {
	name string
	line func(r *rand.Rand, line string, unit string) string
	text func(r *rand.Rand, text string) string
}

func reunit(to string) func(*rand.Rand, string, string) string {
	return func(_ *rand.Rand, line, unit string) string {
		bare := strings.TrimLeft(line, " \t")
		return strings.Repeat(to, len(indentOf(line))/len(unit)) + bare
	}
}

var damages = []damage{
	{name: "two spaces", line: reunit("  ")},
	{name: "four spaces", line: reunit("    ")},
	{name: "tabs", line: reunit("\t")},
	{name: "no indentation", line: reunit("")},
	{name: "blanks at ends", line: func(r *rand.Rand, line, _ string) string { return line + strings.Repeat(" ", r.IntN(3)) }},
	{name: "moved in", line: func(_ *rand.Rand, line, _ string) string {
		if line == "" {
			return ""
		}
		return "    " + line
	}},
	{name: "spaces in a row", line: func(_ *rand.Rand, line, _ string) string {
		in := indentOf(line)
		return in + strings.ReplaceAll(line[len(in):], " ", "  ")
	}},
	{name: "carriage returns", text: func(_ *rand.Rand, text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }},
	{name: "blank lines lost", text: func(_ *rand.Rand, text string) string {
		for strings.Contains(text, "\n\n") {
			text = strings.ReplaceAll(text, "\n\n", "\n")
		}
		return text
	}},
}

// Whatever is done to the blanks of a quotation, the edit is refused or it is the edit that was meant, and the file
// keeps its own style: lines that stay, and all bytes outside, are as they were.
func TestDamagedQuotations(t *testing.T) {
	made, refused := map[string]int{}, map[string]int{}
	for seed := range uint64(2500) {
		r := rand.New(rand.NewPCG(seed, 1))
		braces := r.IntN(2) == 0
		unit := []string{"\t", "    ", "  "}[r.IntN(3)]
		path := map[bool]string{true: "a.go", false: "a.py"}[braces]
		lines := code(r, braces, unit)
		from := r.IntN(len(lines) - 8)
		size := 2 + r.IntN(6)
		for from > 0 && strings.TrimSpace(lines[from]) == "" || size < 2 {
			from--
		}
		old := append([]string{}, lines[from:from+size]...)
		for len(old) > 0 && strings.TrimSpace(old[len(old)-1]) == "" {
			old = old[:len(old)-1]
		}
		if len(old) == 0 || strings.TrimSpace(old[0]) == "" {
			continue
		}
		// One line changes, or one is added below it.
		at := r.IntN(len(old))
		if strings.TrimSpace(old[at]) == "" {
			at = 0
		}
		changed := indentOf(old[at]) + "changed(now)"
		fresh := append([]string{}, old[:at]...)
		switch r.IntN(3) {
		case 0:
			if opens(old[at]) {
				changed = unit + changed
			}
			fresh = append(append(fresh, old[at], changed), old[at+1:]...)
		default:
			fresh = append(append(fresh, changed), old[at+1:]...)
		}
		want := strings.Join(append(append(append([]string{}, lines[:from]...), fresh...), lines[from+len(old):]...), "\n") + "\n"
		before := strings.Join(lines, "\n") + "\n"
		d := damages[r.IntN(len(damages))]
		if d.name == "no indentation" && len(fresh) > len(old) && opens(old[at]) {
			continue // how deep that line goes, nobody can tell
		}
		spoil := func(lines []string) string {
			out := append([]string{}, lines...)
			if d.line != nil {
				for i, line := range out {
					out[i] = d.line(rand.New(rand.NewPCG(seed, uint64(len(line)))), line, unit)
				}
			}
			text := strings.Join(out, "\n")
			if d.text != nil {
				text = d.text(r, text)
			}
			return text
		}
		crlf := r.IntN(3) == 0
		if crlf {
			before, want = strings.ReplaceAll(before, "\n", "\r\n"), strings.ReplaceAll(want, "\n", "\r\n")
		}
		e := Edit{Path: path, Old: spoil(old), New: spoil(fresh)}
		got, err := replaceOne([]byte(before), e)
		if err != nil || got.spots == 0 {
			refused[d.name]++
			if string(got.after) != before {
				t.Fatalf("seed %d: a refusal changed the file", seed)
			}
			continue
		}
		made[d.name]++
		if got.level < levelIndent && indented(e.New) != indented(strings.Join(fresh, "\n")) {
			continue // what is found to the letter is taken to the letter
		}
		is, should := tidy(string(got.after)), tidy(want)
		if got.level == levelGaps && len(is) == len(should) { // which side of a blank line a new line is on cannot be told
			is, should = withoutGaps(is), withoutGaps(should)
		}
		if is != should {
			t.Fatalf("seed %d, %s, on %s of %s\nfile    %q\nold     %q\nnew     %q\nbecame  %q\nwant    %q", seed, d.name, got.level, path, before, e.Old, e.New, got.after, want)
		}
		head, tail := strings.Join(lines[:from], "\n"), strings.Join(lines[from+len(old):], "\n")
		if crlf {
			head, tail = strings.ReplaceAll(head, "\n", "\r\n"), strings.ReplaceAll(tail, "\n", "\r\n")
		}
		if !strings.HasPrefix(string(got.after), head) || !strings.HasSuffix(strings.TrimRight(string(got.after), "\r\n"), strings.TrimRight(tail, "\r\n")) {
			t.Fatalf("seed %d: bytes outside the place changed", seed)
		}
	}
	for _, d := range damages {
		if made[d.name] < refused[d.name] {
			t.Errorf("%s: %d edits made, %d refused", d.name, made[d.name], refused[d.name])
		}
		t.Logf("%s: %d made, %d refused", d.name, made[d.name], refused[d.name])
	}
}

// tidy takes out what may differ: new lines keep the blanks that the model wrote inside and behind them.
func tidy(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		in := ""
		if strings.TrimSpace(line) != "" {
			in = indentOf(line)
		}
		lines[i] = in + strings.Join(strings.Fields(line), " ")
		if strings.HasSuffix(line, "\r") {
			lines[i] += "\r"
		}
	}
	return strings.Join(lines, "\n")
}

func withoutGaps(text string) string {
	for strings.Contains(text, "\n\n") || strings.Contains(text, "\r\n\r\n") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n\r\n", "\r\n"), "\n\n", "\n")
	}
	return text
}

// indented is how the lines of a text are indented.
func indented(text string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != "" {
			out = append(out, indentOf(line))
		}
	}
	return strings.Join(out, "|")
}
