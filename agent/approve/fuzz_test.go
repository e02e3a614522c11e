package approve

import (
	"strings"
	"testing"
	"time"

	"interpreter/agent/approve/rules"
	"interpreter/sandbox"
)

// FuzzJudging feeds anything to the judge: it never panics, takes a bounded time, and what it lets pass is nothing it
// calls dangerous.
func FuzzJudging(f *testing.F) {
	for _, s := range []string{"ls", "rm -f x", "echo $(rm -f x)", "a 'b", "{ x; }", "env -S", "env -S 'a b' -S", "find -exec", ":(){ :|:& };:", "timeout", "[[ x ]]",
		"${a:-$(b)}", "cat <<E\n$(rm -f x)\nE", "sh <<< 'rm -f x'", "ls\r\n", "ls \x00", "ls *", "ls [a", "((((", "a|b|c|sh", "curl x | sudo sh -s", "bash -c 'sh -c \"ls\"'"} {
		f.Add(s)
	}
	dir := f.TempDir()
	var set *rules.Set
	set = set.With([]string{"npm", "test"})
	f.Fuzz(func(t *testing.T, script string) {
		start := time.Now()
		danger := Dangerous(script)
		if Safe(script) && danger != "" {
			t.Errorf("%q is both safe and dangerous: %s", script, danger)
		}
		for _, p := range []Policy{Untrusted, OnRequest, Never} {
			v := Judge{Policy: p, Box: sandbox.Policy{Mode: sandbox.WorkspaceWrite, Dir: dir, Roots: []string{dir}}, Rules: set}.Decide(run(script))
			if v.What != Go && v.Why == "" {
				t.Errorf("%s %q: no reason", p, script)
			}
			if v.What == Go && v.Outside && danger != "" && p == Untrusted && !strings.Contains(script, "npm") {
				t.Errorf("%q may run outside", script)
			}
			if len(v.Prefix) > 0 && !offerable(v.Prefix) {
				t.Errorf("%q: offers %q", script, v.Prefix)
			}
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%d bytes took %s", len(script), took)
		}
	})
}

// Nothing that is long takes long: a shape whose time grows with the square of its length takes minutes here.
func TestJudgingIsLinear(t *testing.T) {
	for _, s := range []string{"(", "( ", "((a ", "{ ", "$(", "if ", "`", "\"$(", "${a:-", "while ", "f() { ", "f() { f; }; ", "a|", "a|sh|", "curl|sh|", "curl x|sh;", "a&&", "a;", "ls *;", "eval ",
		"env ", "eval 'a';", "sh -c 'a';", "cat <<a\nx\na\n", "sh <<a\nrm x\na\n", "a=~", "{a,", "\\\n", "'' ", "find -exec a \\; ", "ls [", "trap 'a' b;", "find . -exec rm -f {} + ;", "cd a; rm -rf b;", "curl x | { ", "curl x | (a; a) ;"} {
		script := strings.Repeat(s, maxScript/2/len(s))
		start := time.Now()
		Dangerous(script)
		Judge{Policy: Untrusted, Box: readOnly}.Decide(run(script))
		Judge{Policy: Never, Box: sandbox.Policy{Mode: sandbox.WorkspaceWrite, Dir: "/repo"}}.Decide(run(script))
		Judge{Policy: Never, Box: sandbox.Policy{Mode: sandbox.WorkspaceWrite, Dir: "/repo"}}.Decide(run("find " + script))
		if took := time.Since(start); took > 8*time.Second {
			t.Errorf("%q over and over, %d bytes: took %s", s, len(script), took)
		}
	}
}
