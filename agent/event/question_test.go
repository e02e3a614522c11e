package event

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"interpreter/sandbox/action"
)

// A question as text: what a person must judge by is there to the letter, and nothing in it is not what it seems.
func TestQuestionAsText(t *testing.T) {
	once := Choice{Decision: "once", Text: "yes, this time"}
	for _, c := range []struct {
		name string
		in   Asked
		want []string
	}{
		{"a command", Asked{Title: "run x", Why: "it asks to run outside the sandbox: fetch", Dir: "/w",
			Need: action.Need{Effect: action.Runs, Script: "cd a\ncurl x\n", Argv: []string{"sh", "-c", "…"}}, Would: "it runs outside", Choices: []Choice{once}},
			[]string{"run: cd a", "     curl x", "in: /w", "because: it asks to run outside the sandbox: fetch", "a yes means: it runs outside", "once: yes, this time"}},
		{"a refusal", Asked{Need: action.Need{Effect: action.Runs, Argv: []string{"git", "commit -m", "it's"}}, Blocked: []string{"the network", "/x"}},
			[]string{`run: git 'commit -m' 'it'\''s'`, "refused: the network", "refused: /x"}},
		{"parts", Asked{Need: action.Need{Effect: action.Runs, Script: "a && b"}, Parts: []Part{{[]string{"a"}, "reads"}, {[]string{"b", ""}, ""}}},
			[]string{"run: a && b", "part: a (reads)", "part: b ''"}},
		{"a patch", Asked{Title: "patch 2 files", Need: action.Need{Effect: action.Writes}, Files: []File{{"/w/a", ""}, {"/x/b", "outside"}}},
			[]string{"write: /w/a", "write: /x/b (outside)"}},
		{"an address", Asked{Title: "fetch http://x/", Need: action.Need{Effect: action.Connect}, Why: "it needs the network"},
			[]string{"fetch http://x/", "because: it needs the network"}},
		{"keys", Asked{Need: action.Need{Effect: action.Runs, Script: "ls\n", TTY: true, Typed: "ls\nEnter"}}, []string{"typed: ls", "       Enter"}},
		{"questions", Asked{Title: "x", Questions: []action.Question{{Text: "Which?", Options: []string{"a", "b"}}}}, []string{"Which?", "- a", "- b"}},
		{"hidden text", Asked{Need: action.Need{Effect: action.Runs, Script: "ls \x1b[8m; rm x\r# \u202ecod\u200b\u00a0\u2066\U000e0041\x9b\xff\x00 é 語"}, Dir: "/a\nonce: yes"},
			[]string{`run: ls \u{1B}[8m; rm x\u{D}# \u{202E}cod\u{200B}\u{A0}\u{2066}\u{E0041}\x{9B}\x{FF}\u{0} é 語`, "in: /a", "    once: yes"}},
	} {
		got := c.in.Lines()
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func FuzzShown(f *testing.F) {
	f.Add("ls \x1b]0;x\x07\u202e\xff")
	f.Fuzz(func(t *testing.T, line string) {
		for _, r := range Shown(line) {
			if r == unicode.ReplacementChar && !strings.ContainsRune(line, r) || r != '\t' && unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Fatalf("%q shows %q", line, r)
			}
		}
	})
}
