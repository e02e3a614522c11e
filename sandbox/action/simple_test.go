package action

import (
	"fmt"
	"strings"
	"testing"
)

// spelled is a command in a line: words between bars, those that are not fixed with a ?, then documents and marks.
func spelled(all []Simple) string {
	var lines []string
	for _, s := range all {
		var b strings.Builder
		for _, w := range s.Words {
			if !w.Fixed {
				b.WriteByte('?')
			}
			b.WriteString(w.Text + "|")
		}
		for _, d := range s.Docs {
			fmt.Fprintf(&b, " doc %q", d)
		}
		if s.Fed {
			b.WriteString(" fed")
		}
		if s.Whole {
			b.WriteString(" whole")
		}
		lines = append(lines, b.String())
	}
	return strings.Join(lines, "\n")
}

func TestSimples(t *testing.T) {
	for script, want := range map[string]string{
		`ls`:                                    "ls| whole",
		`a 'b c' "d \"e\" \$f \n" g\ h`:         "a|b c|d \"e\" $f \\n|g h| whole",
		`a $'x\ty\'s' ''`:                       "a|x\ty's|| whole",
		"a 'one\ntwo\n' \"three\nfour\"":        "a|one\ntwo\n|three\nfour| whole",
		`a "$HOME/x" ` + "`ls`" + ` ${b} "c$d"`: "a|?$HOME/x|?`ls`|?${b}|?c$d| whole\nls|",
		"a \"$(cat <<'E'\nx $y \\z\n\nE\n)\"":   "a|x $y \\z| whole\ncat| doc \"x $y \\\\z\\n\\n\" fed",
		"a <<'E'\nx\\$\nE":                      "a| doc \"x\\\\$\\n\" fed whole",
		"a <<E\nx\\$ \\\\ $y\nE":                "a| doc \"x$ \\\\ $y\\n\" fed whole",
		"a <<-E\n\tx\n\t\ty\n\tE":               "a| doc \"x\\ny\\n\" fed whole",
		"a --x <<A --y <<B\n1\nA\n2\nB":         "a|--x|--y| doc \"1\\n\" doc \"2\\n\" fed whole",
		`cd x && vim a`:                         "cd|x|\nvim|a|",
		`x=1 a`:                                 "a|",
		`a > f`:                                 "a|",
		`a < f`:                                 "a| fed",
		`a 3< f`:                                "a|",
		`a | b | c`:                             "a|\nb| fed\nc| fed",
		`a | (b; c)`:                            "a|\nb| fed\nc| fed",
		`a | while b; do c; done`:               "a|\nb| fed\nc| fed",
		`{ a; } < f`:                            "a| fed",
		`if a; then b; fi`:                      "a|\nb|",
		"a\nb":                                  "a|\nb|",
		`! a`:                                   "a|",
		`a &`:                                   "a|",
		`x=1`:                                   "",
		`# nothing`:                             "",
	} {
		all, err := Simples(script)
		if got := spelled(all); err != nil || got != want {
			t.Errorf("%q is\n%s, %v, want\n%s", script, got, err, want)
		}
	}
	if _, err := Simples("echo 'x"); err == nil {
		t.Error("an open quote is understood")
	}
}

func FuzzSimples(f *testing.F) {
	for _, s := range []string{"a 'b' \"$(cat <<E\nx\nE\n)\"", "a <<-E\n\tx\nE", "a | (b <f)", `a $'\x41'`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		all, err := Simples(script)
		for _, s := range all {
			if err != nil || len(s.Words) == 0 {
				t.Errorf("%q: %+v, %v", script, s, err)
			}
		}
	})
}
