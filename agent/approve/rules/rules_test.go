package rules

import (
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// of is the set of one file of the person's own.
func of(t testing.TB, text string) *Set {
	t.Helper()
	l := &loading{}
	if err := l.text("x.rules", text, User); err != nil {
		t.Fatal(err)
	}
	if err := l.examples(); err != nil {
		t.Fatal(err)
	}
	return &l.set
}

func words(line string) []string { return strings.Fields(line) }

func TestMatch(t *testing.T) {
	const git = `
prefix_rule(pattern=["git", ["pull", "fetch"]], justification="reads")
prefix_rule(pattern=["git", "push"], decision="prompt", justification="writes elsewhere")
prefix_rule(pattern=["git", "push", ["--force", "-f"]], decision="forbidden", justification="loses work")
prefix_rule(pattern=[["npm", "pnpm"], "test"])
`
	for _, row := range []struct {
		argv     string
		decision Decision
		why      string
		prefixes []string
	}{
		{"git pull origin", Allow, "reads", []string{"git pull"}},
		{"git fetch", Allow, "reads", []string{"git fetch"}},
		{"git push", Prompt, "writes elsewhere", []string{"git push"}},
		{"git push --force x", Forbid, "loses work", []string{"git push", "git push --force"}},
		{"git push -f", Forbid, "loses work", []string{"git push", "git push -f"}},
		{"git push origin --force", Prompt, "writes elsewhere", []string{"git push"}},
		{"pnpm test", Allow, "", []string{"pnpm test"}},
		{"git -C x push", Prompt, "writes elsewhere", []string{"git push"}},
		{"git --no-pager -c a.b=c push -f", Forbid, "loses work", []string{"git push", "git push -f"}},
		{"/usr/bin/git -C x push", Prompt, "writes elsewhere", []string{"git push"}},
		{"git -C push pull", "", "", nil}, // what allows holds to the letter
		{"git -C", "", "", nil},
		{"npm -C x push", "", "", nil},
		{"git", "", "", nil},
		{"gitx pull", "", "", nil},
		{"git pullx", "", "", nil},
		{"GIT pull", "", "", nil},
		{"npm", "", "", nil},
	} {
		got := of(t, git).Match(words(row.argv), nil)
		var prefixes []string
		for _, m := range got.Matches {
			prefixes = append(prefixes, strings.Join(m.Prefix, " "))
		}
		if got.Decision != row.decision || got.Why != row.why || !slices.Equal(prefixes, row.prefixes) {
			t.Errorf("%s: %s %q %q, want %s %q %q", row.argv, got.Decision, got.Why, prefixes, row.decision, row.why, row.prefixes)
		}
	}
	var none *Set
	if got := none.Match([]string{"ls"}, nil); got.Decision != "" || none.Rules() != nil || none.Networks() != nil {
		t.Errorf("no set: %+v", got)
	}
	if got := of(t, git).Match(nil, nil); got.Decision != "" {
		t.Errorf("no command: %+v", got)
	}
}

// Where a rule stands and which of several is heard.
func TestRuling(t *testing.T) {
	got := of(t, "\nprefix_rule(pattern=[\"a\"], decision=\"forbidden\", justification=\"short\")\n"+
		"prefix_rule(pattern=[\"a\", \"b\"], decision=\"forbidden\")\n"+
		"prefix_rule(\n  pattern=[\"a\", \"b\"],\n  decision=\"forbidden\", justification=\"long\")\n"+
		"prefix_rule(pattern=[\"a\", \"b\", \"c\"], justification=\"mild\")\n").Match(words("a b c"), nil)
	if got.Decision != Forbid || got.Why != "long" {
		t.Errorf("%s %q, want that of the longest forbidden rule that gives one", got.Decision, got.Why)
	}
	var lines []int
	for _, m := range got.Matches {
		lines = append(lines, m.Line)
	}
	if !slices.Equal(lines, []int{2, 3, 4, 7}) || got.Matches[0].File != "x.rules" {
		t.Errorf("lines %v", lines)
	}
}

func TestMatchByBaseName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of this test begin with a slash")
	}
	const text = `
prefix_rule(pattern=["git", "status"])
prefix_rule(pattern=["rg"])
prefix_rule(pattern=["/opt/rg"], decision="forbidden")
host_executable(name="git", paths=["/usr/bin/git", "/usr/local/bin/git"])
`
	writable := func(path string) bool { return strings.HasPrefix(path, "/repo/") }
	for _, row := range []struct{ argv, decision, resolved string }{
		{"/usr/bin/git status", "allow", "/usr/bin/git"},
		{"/usr/local/bin/git status", "allow", "/usr/local/bin/git"},
		{"/usr/bin/../bin/git status", "allow", "/usr/bin/../bin/git"},
		{"/evil/git status", "", ""},
		{"/usr/bin/git", "", ""},
		{"/usr/bin/rg x", "allow", "/usr/bin/rg"},
		{"/repo/rg x", "", ""},
		{"/usr/../repo/rg x", "", ""},
		{"./rg x", "", ""},
		{"bin/rg x", "", ""},
		{"/opt/rg x", "forbidden", ""}, // it matches as it is: no base name is looked at
	} {
		got := of(t, text).Match(words(row.argv), writable)
		resolved := ""
		if len(got.Matches) > 0 {
			resolved = got.Matches[0].Resolved
		}
		if string(got.Decision) != row.decision || resolved != row.resolved {
			t.Errorf("%s: %s %q, want %s %q", row.argv, got.Decision, resolved, row.decision, row.resolved)
		}
	}
	if got := of(t, text).Match(words("/usr/bin/git status"), writable); !slices.Equal(got.Matches[0].Prefix, words("git status")) {
		t.Errorf("prefix %q, want it as the rule spells it", got.Matches[0].Prefix)
	}
}

func TestWith(t *testing.T) {
	base := of(t, `prefix_rule(pattern=["a"], decision="prompt")`)
	one := base.With(words("a b"))
	two := base.With(words("a c"))
	if one.Match(words("a b"), nil).Decision != Prompt || len(one.Match(words("a b"), nil).Matches) != 2 {
		t.Error("a rule of the session does not stand beside those of a file")
	}
	if len(two.Match(words("a b"), nil).Matches) != 1 || len(base.Rules()) != 1 {
		t.Error("With changed another set")
	}
	var none *Set
	if got := none.With(words("ls -l")).Match(words("ls -l x"), nil); got.Decision != Allow || got.Matches[0].File != "" {
		t.Errorf("%+v", got)
	}
	if base.With(nil) != base {
		t.Error("a rule without words")
	}
}

func TestSplit(t *testing.T) {
	for _, row := range []struct {
		line string
		want []string
		bad  bool
	}{
		{"git pull  origin", words("git pull origin"), false},
		{`git commit -m "a b" 'c d'`, []string{"git", "commit", "-m", "a b", "c d"}, false},
		{`a\ b "c\"d\x" 'e\f'`, []string{"a b", `c"d\x`, `e\f`}, false},
		{`x""y '' ""`, []string{"xy", "", ""}, false},
		{"a # b\nc", []string{"a", "c"}, false},
		{"a#b $HOME `x` *", []string{"a#b", "$HOME", "`x`", "*"}, false},
		{"a\\\nb", []string{"ab"}, false},
		{"  \t\n", nil, false},
		{`"open`, nil, true},
		{`'open`, nil, true},
		{`end\`, nil, true},
	} {
		got, err := split(row.line)
		if !slices.Equal(got, row.want) || (err != nil) != row.bad {
			t.Errorf("%q: %q, %v, want %q", row.line, got, err, row.want)
		}
	}
}

// A rule as a line is that rule.
func TestLines(t *testing.T) {
	text := `prefix_rule(pattern=["a b", ["c", "d\"e"], "\\\n\t", "f‮g"], decision="prompt", justification="q\"r")
network_rule(host="Example.org:443", protocol="https", decision="deny", justification="no")
`
	first := of(t, text)
	var lines []string
	for _, r := range first.Rules() {
		lines = append(lines, r.String())
	}
	for _, n := range first.Networks() {
		lines = append(lines, n.String())
	}
	second := of(t, strings.Join(lines, "\n"))
	if !reflect.DeepEqual(first.Rules(), second.Rules()) {
		t.Errorf("%+v\nis written as\n%+v", first.Rules(), second.Rules())
	}
	if want := `network_rule(host="example.org", protocol="https", decision="deny", justification="no")`; lines[1] != want {
		t.Errorf("%s, want %s", lines[1], want)
	}
	if strings.ContainsRune(lines[0], '‮') {
		t.Error("a character that reorders a line is not spelled out")
	}
	if got, want := (Rule{Pattern: [][]string{{"git"}, {"pull", "fetch"}, {"a b"}}}).Words(), "git {pull,fetch} 'a b'"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A project can make things stricter only, and says nothing about the programs of others.
func TestProject(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of this test begin with a slash")
	}
	l := &loading{}
	for _, err := range []error{
		l.text("user", `prefix_rule(pattern=["git", "push"], decision="forbidden")`, User),
		l.text("project", `
prefix_rule(pattern=["ls"], match=["ls -l"])
prefix_rule(pattern=["make"], decision="prompt")
host_executable(name="git", paths=["/x/git"])
host_executable(name="make", paths=["/x/make"])
network_rule(host="a.b", protocol="http", decision="allow")`, Project),
		l.examples(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for argv, want := range map[string]Decision{
		"ls -l": "", "make all": Prompt, "git push": Forbid,
		"/usr/bin/git push": Forbid, // the project does not decide what the person's rule calls git
		"/usr/bin/make":     "",     // its own rule it does
		"/x/make":           Prompt,
	} {
		if got := l.set.Match(words(argv), nil).Decision; got != want {
			t.Errorf("%s: %q, want %q", argv, got, want)
		}
	}
	if rules := l.set.Rules(); !rules[1].Void || rules[2].Void || rules[1].Layer != Project {
		t.Errorf("%+v", rules)
	}
	if !l.set.Networks()[0].Void {
		t.Error("a project allows a host")
	}
}

func TestLoad(t *testing.T) {
	root := t.TempDir()
	dir := func(name string, files map[string]string) string {
		for file, text := range files {
			write(t, filepath.Join(root, name, file), text)
		}
		return filepath.Join(root, name)
	}
	system := Source{Dir: dir("system", map[string]string{"s.rules": `prefix_rule(pattern=["rm"], decision="forbidden", justification="ours")`}), System: true}
	user := Source{Dir: dir("user", map[string]string{
		"b.rules": `prefix_rule(pattern=["b"])`, "a.rules": `prefix_rule(pattern=["a"])`, "no.txt": "(", ".#x.rules": "(", "sub.rules/x": "(",
	})}
	project := Source{Dir: dir("project", map[string]string{"p.rules": `prefix_rule(pattern=["p"], decision="prompt")`}), Project: true}
	away := Source{Dir: filepath.Join(root, "none")}

	set, err := Load([]Source{system, user, away, project})
	var loaded []string
	for _, r := range set.Rules() {
		loaded = append(loaded, r.Words())
	}
	if want := words("rm a b p"); err != nil || !slices.Equal(loaded, want) {
		t.Fatalf("%q, %v, want %q", loaded, err, want)
	}

	broken := Source{Dir: dir("broken", map[string]string{"x.rules": "\n# one\nprefix_rule(patern=[\"a\"])\n"}), Project: true}
	set, err = Load([]Source{system, user, broken})
	if want := filepath.Join(broken.Dir, "x.rules") + ":3: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want it to begin with %s", err, want)
	}
	if len(set.Rules()) != 1 || set.Match([]string{"rm"}, nil).Decision != Forbid {
		t.Errorf("%+v stays, want the system's rule", set.Rules())
	}
	set, err = Load([]Source{{Dir: broken.Dir, System: true}, user})
	if err == nil || set == nil || len(set.Rules()) != 0 {
		t.Errorf("%+v, %v: what the system forbids is lost, and others still allow", set.Rules(), err)
	}
	if _, err := Load([]Source{{Dir: filepath.Join(user.Dir, "a.rules")}}); err == nil {
		t.Error("a folder that is a file is no mistake")
	}
}

// A host_executable may stand in a later file than the example that needs it.
func TestExamplesAcrossFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of this test begin with a slash")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.rules"), `prefix_rule(pattern=["git"], match=["/usr/bin/git x", ["git"]], not_match=["/opt/git x", "./git"])`)
	write(t, filepath.Join(dir, "b.rules"), `host_executable(name="git", paths=["/usr/bin/git"])`)
	if _, err := Load([]Source{{Dir: dir}}); err != nil {
		t.Error(err)
	}
	if _, err := Check([]string{filepath.Join(dir, "a.rules")}, words("git x"), false); err == nil || !strings.Contains(err.Error(), "not_match") {
		t.Errorf("alone: %v", err)
	}
}

func TestCheck(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of this test begin with a slash")
	}
	file := filepath.Join(t.TempDir(), "any name")
	write(t, file, `prefix_rule(pattern=["git"], decision="prompt")`)
	for _, row := range []struct {
		argv    string
		resolve bool
		want    Decision
	}{{"git x", false, Prompt}, {"/usr/bin/git x", false, ""}, {"/usr/bin/git x", true, Prompt}, {"ls", true, ""}} {
		got, err := Check([]string{file}, words(row.argv), row.resolve)
		if err != nil || got.Decision != row.want {
			t.Errorf("%+v: %q, %v", row, got.Decision, err)
		}
	}
	if _, err := Check([]string{file + "x"}, words("git"), false); err == nil {
		t.Error("a file that is not there")
	}
}
