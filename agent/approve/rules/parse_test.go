package rules

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Each text is refused at a line, with these words.
func TestMistakes(t *testing.T) {
	for _, row := range []struct {
		text string
		line int
		says string
	}{
		{"prefix_rule()", 1, "lacks pattern"},
		{"\nprefix_rule(pattern=[])", 2, "pattern is empty"},
		{"prefix_rule(pattern=\"git pull\")", 1, "want a list of words"},
		{"prefix_rule(pattern=[[]])", 1, "no words"},
		{"prefix_rule(pattern=[\"\"])", 1, "empty word"},
		{"prefix_rule(pattern=[[\"a\", \"\"]])", 1, "empty word"},
		{"prefix_rule(pattern=[1])", 1, "a number"},
		{"prefix_rule(pattern=[[\"a\", [\"b\"]]])", 1, "a list in a list"},
		{"prefix_rule(pattern=[\"a\"], decision=\"deny\")", 1, "none of allow, prompt, forbidden"},
		{"prefix_rule(pattern=[\"a\"], decision=\"Allow\")", 1, "none of allow"},
		{"prefix_rule(pattern=[\"a\"], decision=\"\")", 1, "none of allow"},
		{"prefix_rule(pattern=[\"a\"], decision=1)", 1, "want text"},
		{"prefix_rule(pattern=[\"a\"], justification=\"\")", 1, "justification is empty"},
		{"prefix_rule(pattern=[\"a\"], justification=\" \\n\")", 1, "justification is empty"},
		{"prefix_rule(pattern=[\"a\"], match=\"a b\")", 1, "want a list of commands"},
		{"prefix_rule(pattern=[\"a\"], match=[\"'a\"])", 1, "not closed"},
		{"prefix_rule(pattern=[\"a\"], match=[\"\"])", 1, "without words"},
		{"prefix_rule(pattern=[\"a\"], match=[[]])", 1, "without words"},
		{"prefix_rule(pattern=[\"a\"], match=[1])", 1, "match holds a number"},
		{"#\nprefix_rule(\n  pattern=[\"a\"],\n  match=[\"b\"])", 2, "does not match its example \"b\""},
		{"prefix_rule(pattern=[\"a\"], not_match=[[\"a\", \"b c\"]])", 1, "matches \"a 'b c'\""},
		{"prefix_rule(pattern=[\"a\"], patern=[])", 1, "takes no patern"},
		{"prefix_rule([\"a\"], pattern=[\"b\"])", 1, "given twice"},
		{"prefix_rule([\"a\"], \"allow\")", 1, "only the first argument"},
		{"host_executable(name=\"git\")", 1, "lacks paths"},
		{"host_executable(name=\"/bin/git\", paths=[])", 1, "bare name"},
		{"host_executable(name=\"\", paths=[])", 1, "bare name"},
		{"host_executable(name=\"git\", paths=[\"git\"])", 1, "not an absolute path"},
		{"host_executable(name=\"git\", paths=[\"/usr/bin/gitx\"])", 1, "does not end in"},
		{"host_executable(name=\"git\", paths=\"/usr/bin/git\")", 1, "paths holds text"},
		{"network_rule(host=\"a.b\", protocol=\"https\")", 1, "lacks decision"},
		{"network_rule(host=\"a.b\", protocol=\"ftp\", decision=\"deny\")", 1, "none of http"},
		{"network_rule(host=\"a.b\", protocol=\"http\", decision=\"forbidden\")", 1, "none of allow, prompt, deny"},
		{"network_rule(host=\"https://a.b\", protocol=\"https\", decision=\"deny\")", 1, "has a scheme"},
		{"network_rule(host=\"a.b/c\", protocol=\"https\", decision=\"deny\")", 1, "has a path"},
		{"network_rule(host=\"*.b\", protocol=\"https\", decision=\"deny\")", 1, "has a wildcard"},
		{"network_rule(host=\"a b\", protocol=\"https\", decision=\"deny\")", 1, "has a blank"},
		{"network_rule(host=\"\", protocol=\"https\", decision=\"deny\")", 1, "is empty"},
		{"network_rule(host=\"a.b:x\", protocol=\"https\", decision=\"deny\")", 1, "has a port"},
		{"network_rule(host=\"a..b\", protocol=\"https\", decision=\"deny\")", 1, "no name of a host"},
		{"network_rule(host=\"me@a.b\", protocol=\"https\", decision=\"deny\")", 1, "no name of a host"},
		{"network_rule(host=\"[a]\", protocol=\"https\", decision=\"deny\")", 1, "no address"},
		{"network_rule(host=\"[::1]x\", protocol=\"https\", decision=\"deny\")", 1, "brackets"},
		{"network_rule(host=\"a.b\", protocol=\"https\", decision=\"deny\", justification=\"\")", 1, "justification is empty"},
		{"\n\nprefix_rule(pattern=[\"a\"]", 3, "want"},
		{"allow(\"ls\")", 1, "allow is not known here"},
		{"x = 1\nx = 2", 2, "reassign"},
		{"load(\"x.star\", \"y\")", 1, "reads no other file"},
		{"while True:\n  pass", 1, "while"},
		{"def f():\n  f()\nf()", 2, "recursively"},
		{"x = list([1])", 1, "list is not part"},
		{"x = {\"a\": 1}", 1, "dictionaries"},
		{"x = \"a b\".split()", 1, "methods"},
		{"x = [1][0:1]", 1, "parts of lists"},
		{"x = \"%s\" % 1", 1, "% is not part"},
		{"x = [0]*1000000000", 1, "* is not part"},
		{"x = [1]\ndef f(y):\n  y += [1]\nf(x)", 3, "+= is not part"},
		{"x = 99999999999999999999", 1, "words in quotes"},
		{"x = b\"a\"", 1, "words in quotes"},
		{"def f():\n  fail(\"not here\")\n\nf()", 2, "gives up: not here"},
		{"def f(p):\n  prefix_rule(pattern=p)\n\n\nf(1)", 2, "a number"},
		{"prefix_rule(pattern=[\"a\"])\n\x00prefix_rule(pattern=[\"b\"], decision=\"forbidden\")", 2, "0x00"},
		{"#\n# \xff", 2, "0xff"},
		{"\xff\xfep", 0, "UTF-16"},
		{strings.Repeat("# a comment\n", 90_000), 0, "longer than"},
	} {
		err := oneFile(row.text)
		var mistake *Error
		if !errors.As(err, &mistake) {
			t.Errorf("%.80q: %v, want a mistake", row.text, err)
			continue
		}
		if mistake.Line != row.line || !strings.Contains(err.Error(), row.says) || mistake.File != "f.rules" {
			t.Errorf("%.80q: %v, want line %d and %q", row.text, err, row.line, row.says)
		}
	}
}

func oneFile(text string) error {
	l := &loading{}
	if err := l.text("f.rules", text, User); err != nil {
		return err
	}
	return l.examples()
}

// What a person may write to say it once.
func TestLanguage(t *testing.T) {
	text := "# everything\n" + `
TOOLS = ["npm", "pnpm"] + ["yarn"]
def allow(*words):
    prefix_rule(pattern=words)
def each(names):
    for n in names:
        if n != "b" and n not in ["c"]:
            allow("x", n)
prefix_rule(["first"], decision=None, justification=None)
prefix_rule(pattern=[TOOLS, ("test", "t")])
[prefix_rule(pattern=["go", verb]) for verb in ("vet", "list")]
each(["a", "b", "c", "d"])
allow(*["y"] + ["z"])
for i in range(2):
    print("anything", i)
prefix_rule(pattern=["deep" if len(TOOLS) == 3 else "flat", TOOLS[2]], match=[])
`
	var got []string
	for _, r := range of(t, text).Rules() {
		got = append(got, r.Words())
	}
	want := []string{"first", "{npm,pnpm,yarn} {test,t}", "go vet", "go list", "x a", "x d", "y z", "deep yarn"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A file that is nothing but saved answers may be as long as any file.
func TestManyRules(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < mostBytes-200; i++ {
		b.WriteString(allow([]string{"a", fmt.Sprint(i)}).String() + "\n")
	}
	set := of(t, b.String())
	if n := len(set.Rules()); n < 15_000 {
		t.Errorf("%d rules", n)
	}
	if set.Match([]string{"a", "9999", "x"}, nil).Decision != Allow {
		t.Error("a rule is lost")
	}
}

func TestHosts(t *testing.T) {
	for host, want := range map[string]string{
		"Example.ORG": "example.org", "example.org:8443": "example.org", "example.org.": "example.org", "[::1]:443": "::1",
		"[2001:DB8::1]": "2001:db8::1", "::1": "::1", "10.0.0.1:80": "10.0.0.1", "10.0.0.1": "10.0.0.1", "localhost": "localhost", "a_b.c-d": "a_b.c-d",
	} {
		if got, err := bareHost(host); got != want {
			t.Errorf("%s: %q, %v, want %q", host, got, err, want)
		}
	}
}

// Files that try to take long, or much memory.
var bombs = map[string]string{
	"repetition":      "x = [0]*1000000000",
	"doubled lists":   doubled("[x, x]", 60),
	"doubled words":   "x0 = \"aaaaaaaaaaaaaaaa\"\n" + doubled("x + x", 60) + "\nprefix_rule(pattern=[x60])",
	"compared":        doubled("[x, x]", 60) + "\n" + strings.ReplaceAll(doubled("[x, x]", 60), "x", "y") + "\nz = x60 == y60",
	"printed":         doubled("[x, x]", 60) + "\nprint(x60)",
	"nested loops":    "x = [a for a in range(100000) for b in range(100000) for c in range(100000)]",
	"long loop":       "for i in range(1000000000000):\n  pass",
	"many rules":      "for i in range(100000000):\n  prefix_rule(pattern=[\"a\"])",
	"one list, often": "L = [\"a\" for i in range(100000)]\nfor i in range(10000):\n  prefix_rule(pattern=[L], match=[\"a\"])",
	"many examples":   "L = [\"a\" for i in range(100000)]\nprefix_rule(pattern=[L], match=L)",
	"many arguments":  "L = [\"a\" for i in range(100000)]\ndef f(*a):\n  pass\nfor i in range(100000):\n  f(*L)",
	"brackets":        strings.Repeat("[", 500_000),
	"closed brackets": "x = " + strings.Repeat("[", 900) + strings.Repeat("]", 900),
	"minus":           "x = " + strings.Repeat("-", 900_000) + "1",
	"sum":             "x = 1" + strings.Repeat("+1", 400_000),
	"or":              "x = 1" + strings.Repeat(" or 1", 200_000),
	"calls":           "f" + strings.Repeat("()", 400_000),
	"elif":            "if 1:\n  pass\n" + strings.Repeat("elif 1:\n  pass\n", 60_000),
	"lambda":          "x = " + strings.Repeat("lambda:", 140_000) + "1",
	"self":            "x = [0]\nx[0] = x\ny = x + x\nprefix_rule(pattern=x)",
	"large numbers":   "def f():\n  x = 1\n  for i in range(100000):\n    x = x + x\nf()",
	"hashed":          "x = {1: 2}",
}

func doubled(to string, times int) string {
	var b strings.Builder
	if !strings.Contains(to, "+") {
		b.WriteString("x0 = \"a\"\n")
	}
	for i := range times {
		fmt.Fprintf(&b, "x%d = %s\n", i+1, strings.ReplaceAll(to, "x", fmt.Sprintf("x%d", i)))
	}
	return b.String()
}

func TestBombs(t *testing.T) {
	for name, text := range bombs {
		begun := time.Now()
		err := oneFile(text)
		took := time.Since(begun)
		harmless := name == "doubled lists" || name == "printed"
		if (err == nil) != harmless {
			t.Errorf("%s: %v", name, err)
		}
		if took > 10*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		t.Logf("%-16s %8v %.100v", name, took.Round(time.Millisecond), err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(`prefix_rule(pattern=["git", ["pull", "fetch"]], decision="allow", match=["git pull"], not_match=["git push"])`)
	f.Add("host_executable(name=\"git\", paths=[\"/usr/bin/git\"])\nnetwork_rule(host=\"a.b\", protocol=\"http\", decision=\"deny\")")
	f.Add("def f(*a):\n  for x in a:\n    prefix_rule(pattern=[x] + [\"b\"])\nf(\"c\", *[\"d\"])\n")
	f.Add("x = [y for y in range(3) if y != 2][0:1]\nprint(\"%s\" % x, **{})")
	for _, text := range bombs {
		if len(text) < 4096 && !strings.Contains(text, "range(") {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		l := &loading{}
		if l.text("f.rules", text, User) != nil {
			return
		}
		_ = l.examples()
		for _, r := range l.set.prefixes { // what was read can be written
			again, err := parse("g.rules", r.String())
			if err != nil || len(again.set.prefixes) != 1 || !sameWords(again.set.prefixes[0], r) || again.set.prefixes[0].Why != r.Why {
				t.Fatalf("%+v is written as %s, which reads %v", r, r.String(), err)
			}
			argv := make([]string, len(r.Pattern))
			for i := range argv {
				argv[i] = r.Pattern[i][0]
			}
			if l.set.Match(argv, nil).Decision == "" {
				t.Fatalf("%s does not match its own words", r.String())
			}
		}
	})
}
