package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"interpreter/agent/approve"
	"interpreter/agent/approve/rules"
	"interpreter/agent/event"
	"interpreter/agent/store"
	"interpreter/sandbox/action"
)

// placeOfRules is a home, a system's folder and a repository, and a world that looks at them.
type placeOfRules struct {
	home, system, repo string
	world              world
	out                *bytes.Buffer
}

func placeWith(t *testing.T, files map[string]string) placeOfRules {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := placeOfRules{home: filepath.Join(root, "home"), system: filepath.Join(root, "etc"), repo: filepath.Join(root, "repo"), out: &bytes.Buffer{}}
	for _, dir := range []string{p.home, p.system, filepath.Join(p.repo, ".git")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "REPO", p.repo)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"INTERPRETER_HOME": p.home, "HOME": root}
	p.world = world{
		stdout: p.out, stderr: p.out, argv0: "interpreter", lmstudio: nobody, systemConfig: filepath.Join(p.system, "config.toml"),
		env: func(name string) string { return env[name] },
	}
	return p
}

func (p placeOfRules) settings(t *testing.T, overrides ...string) settings {
	t.Helper()
	s, err := p.world.settings(&flags{cd: p.repo, overrides: overrides}, choices{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const trusting = "[projects.'REPO']\ntrust_level = \"trusted\"\n"

func TestLoadRules(t *testing.T) {
	p := placeWith(t, map[string]string{
		"etc/rules/a.rules":                   `prefix_rule(pattern=["shutdown"], decision="forbidden", justification="ours")`,
		"home/rules/default.rules":            `prefix_rule(pattern=["git", "pull"])`,
		"home/config.toml":                    trusting,
		"repo/.openinterpreter/rules/p.rules": `prefix_rule(pattern=["make"], decision="prompt")`,
	})
	s := p.settings(t)
	if err := s.loadRules(p.world, false); err != nil {
		t.Fatal(err)
	}
	for argv, want := range map[string]rules.Decision{"shutdown": rules.Forbid, "git pull": rules.Allow, "make": rules.Prompt} {
		if got := s.rules.Match(strings.Fields(argv), nil).Decision; got != want {
			t.Errorf("%s: %q, want %q", argv, got, want)
		}
	}
	if len(s.warnings) > 0 {
		t.Errorf("warnings %q", s.warnings)
	}
	if err := s.loadRules(p.world, true); err != nil || len(s.rules.Rules()) != 1 || s.rules.Rules()[0].Layer != rules.System {
		t.Errorf("--ignore-rules leaves %+v, %v, want the system's", s.rules.Rules(), err)
	}
}

// A mistake is an error whoever made it, but for --ignore-rules, which cannot leave out the system's.
func TestBrokenRules(t *testing.T) {
	for _, row := range []struct {
		file    string
		ignored bool
	}{{"etc/rules/a.rules", false}, {"home/rules/x.rules", true}, {"repo/.openinterpreter/rules/p.rules", true}} {
		p := placeWith(t, map[string]string{row.file: "#\nprefix_rule(", "home/config.toml": trusting})
		s := p.settings(t)
		err := s.loadRules(p.world, false)
		if err == nil || !strings.Contains(err.Error(), filepath.FromSlash(row.file)+":") || remedyOf(err) == "" {
			t.Errorf("%s: %v (try %s)", row.file, err, remedyOf(err))
		}
		if err := s.loadRules(p.world, true); (err == nil) != row.ignored {
			t.Errorf("%s, ignored: %v", row.file, err)
		}
	}
}

// Whoever leaves the network open hears that a rule about hosts does nothing.
func TestNetworkRules(t *testing.T) {
	p := placeWith(t, map[string]string{"home/rules/n.rules": `network_rule(host="a.b", protocol="https", decision="deny")`})
	for _, row := range []struct {
		override string
		warned   bool
	}{{`sandbox_mode="read-only"`, false}, {`sandbox_mode="danger-full-access"`, true}, {"sandbox_workspace_write.network_access=true", true}} {
		s := p.settings(t, row.override)
		if err := s.loadRules(p.world, false); err != nil || (len(s.warnings) > 0) != row.warned {
			t.Errorf("%s: %q, %v", row.override, s.warnings, err)
		}
	}
}

func TestRemember(t *testing.T) {
	p := placeWith(t, nil)
	s := p.settings(t)
	if err := s.remember([]string{"git", "pull"}); err != nil {
		t.Fatal(err)
	}
	if err := s.loadRules(p.world, false); err != nil || s.rules.Match([]string{"git", "pull"}, nil).Decision != rules.Allow {
		t.Errorf("%+v, %v", s.rules.Rules(), err)
	}
	if err := os.WriteFile(s.keptRules(), []byte("prefix_rule("), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.remember([]string{"ls"}); err == nil || !strings.Contains(err.Error(), "default.rules:1") {
		t.Errorf("a file with a mistake: %v", err)
	}
}

func TestSwitchedOff(t *testing.T) {
	p := placeWith(t, nil)
	for override, want := range map[string][]approve.Kind{
		`approval_policy="on-request"`: nil,
		"approval_policy={granular={sandbox_approval=true,rules=true,mcp_elicitations=true}}":                                                {approve.BySkill, approve.ByRequest},
		"approval_policy={granular={sandbox_approval=false,rules=false,mcp_elicitations=true,skill_approval=true,request_permissions=true}}": {approve.BySandbox, approve.ByRule},
		"approval_policy={granular={sandbox_approval=true,rules=true,mcp_elicitations=false,skill_approval=true,request_permissions=true}}":  {approve.ByMCP},
	} {
		s := p.settings(t, override)
		if got := s.switchedOff(); !slices.Equal(got, want) || s.approval != "on-request" {
			t.Errorf("%s: %q under %s, want %q", override, got, s.approval, want)
		}
	}
}

// The list of a session is made of its log: answers that held longer than a call, with what they were about.
func TestSessionGrants(t *testing.T) {
	p := placeWith(t, nil)
	const id = "01890000-0000-7000-8000-000000000001"
	log, file, err := store.Create(p.home, event.Begun{ID: id, Dir: p.repo, Source: "exec"})
	if err != nil {
		t.Fatal(err)
	}
	runs := action.Need{Effect: action.Runs, Script: "npm test", Prefix: []string{"npm", "run"}}
	choice := []event.Choice{{Decision: "once"}, {Decision: "session"}, {Decision: "prefix", Prefix: []string{"npm", "test"}}}
	for _, b := range []event.Body{
		event.TurnStarted{ID: "t", Dir: p.repo},
		event.Asked{ID: "1", Need: runs, Dir: "/x", Choices: choice}, event.Answered{ID: "1", Decision: "session"},
		event.Asked{ID: "2", Need: runs, Dir: "/x", Choices: choice}, event.Answered{ID: "2", Decision: "prefix"},
		event.Asked{ID: "3", Need: runs, Dir: "/x", Choices: choice}, event.Answered{ID: "3", Decision: "once"},
		event.Asked{ID: "4", Need: runs, Dir: "/x", Choices: choice}, event.Answered{ID: "4", Decision: "no"},
		event.Asked{ID: "5", Need: action.Need{Effect: action.Writes, Paths: []string{"/y/\x1b[31mz"}}}, event.Answered{ID: "5", Decision: "session"},
		event.Answered{ID: "6", Decision: "session"},
		event.Asked{ID: "7", Questions: []action.Question{{Text: "why"}}}, event.Answered{ID: "7", Decision: "session"},
		event.TurnEnded{ID: "t", Reason: event.Finished},
	} {
		if err := log.Append(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	s := p.settings(t)
	for _, q := range []store.Query{{Text: id}, {Last: true, Dir: p.repo}} {
		p.out.Reset()
		if err := s.listSession(p.world, q, false); err != nil {
			t.Fatal(err)
		}
		got := p.out.String()
		for _, want := range []string{id, "npm test ", "every command that begins with: npm test ", "write /y/", "until that run ended"} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not in:\n%s", want, got)
			}
		}
		if strings.Count(got, "\n") != 6 || strings.Contains(got, "\x1b") {
			t.Errorf("want three grants, and nothing that acts on a terminal:\n%q", got)
		}
	}
	p.out.Reset()
	if err := s.listSession(p.world, store.Query{Last: true}, true); err != nil || strings.Count(p.out.String(), `"decision"`) != 3 || !strings.Contains(p.out.String(), `"prefix": [`) {
		t.Errorf("%v: %s", err, p.out)
	}
	if got := grantedIn([]event.Event{{Time: time.Now(), Body: event.Begun{ID: id}}}); len(got) != 0 || got == nil {
		t.Errorf("%v, want an empty list", got)
	}
}

// A folder is found however it is spelled; what several entries are called is asked back for.
func TestChoose(t *testing.T) {
	home := t.TempDir()
	work := filepath.Join(home, "work")
	if err := os.MkdirAll(filepath.Join(work, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	rule := func(n int, own bool, words ...string) grant {
		g := grant{Number: n, Kind: "rule", Words: strings.Join(words, " "), own: own}
		for _, w := range words {
			g.Pattern = append(g.Pattern, []string{w})
		}
		return g
	}
	all := []grant{
		rule(1, true, "git", "pull"), rule(2, true, "a b"), rule(3, false, "git", "pull"), rule(4, true, "ls"), rule(5, true, "ls"),
		{Number: 6, Kind: "folder", Words: "~/work", own: true}, {Number: 7, Kind: "host", Words: "example.org", own: true}, rule(8, false, "make"),
	}
	for _, row := range []struct {
		args []string
		want []int
	}{
		{[]string{"git", "pull"}, []int{1}}, {[]string{"git pull"}, []int{1}}, {[]string{"3"}, []int{3}}, {[]string{"5", "4", "5"}, []int{5, 4}},
		{[]string{"~/work"}, []int{6}}, {[]string{work}, []int{6}}, {[]string{filepath.Join(work, "sub", "..")}, []int{6}},
		{[]string{"Example.org"}, []int{7}}, {[]string{"make"}, []int{8}},
		{[]string{"ls"}, nil}, {[]string{"git"}, nil}, {[]string{"0"}, nil}, {[]string{"9"}, nil}, {[]string{"git", "pull", "x"}, nil},
	} {
		got, err := choose(all, row.args, home)
		var numbers []int
		for _, g := range got {
			numbers = append(numbers, g.Number)
		}
		if !slices.Equal(numbers, row.want) || (err == nil) != (row.want != nil) {
			t.Errorf("%q: %v, %v, want %v", row.args, numbers, err, row.want)
		}
	}
}
