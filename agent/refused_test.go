package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"interpreter/agent/approve"
	"interpreter/agent/approve/rules"
	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
	"interpreter/sandbox/sandboxtest"
)

// fenced is the box that records, and tells commands in $MAY what they may do beyond its policy, so that they can behave
// as if something held them. One that says "undone" without that has had something undone.
type fenced struct{ *sandboxtest.Box }

func (f fenced) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	may := ""
	if c.Opened.Network || c.Outside {
		may += " net"
	}
	if len(c.Opened.Paths) > 0 || c.Outside {
		may += " path"
	}
	if c.Outside {
		may += " all"
	}
	c.Env = append(slices.Clone(c.Env), "MAY="+may)
	p, err := f.Box.Start(ctx, c)
	if err == nil && may == "" && strings.Contains(strings.Join(c.Argv, " "), "undone") {
		p = undoing{p, f.Policy().Dir + "/.git/config"}
	}
	return p, err
}

type undoing struct {
	sandbox.Process
	path string
}

func (u undoing) Exit() sandbox.Exit {
	e := u.Process.Exit()
	e.Undone = []sandbox.Refusal{{Text: "writing " + u.path + ": it is protected", Path: u.path, Undone: true}}
	return e
}

// refusedScript is a script that the sandbox refuses something, unless it may.
func refusedScript(kind, outside, home string) string {
	needs := func(what, complaint string) string {
		return fmt.Sprintf(`case "$MAY" in *"%s"*) echo fetched;; *) echo "%s"; exit 6;; esac`, what, complaint)
	}
	switch kind {
	case "network":
		return needs("net", "curl: (6) Could not resolve host: example.org")
	case "path":
		return needs("path", "sh: 1: cannot create "+outside+"/x: Read-only file system")
	case "both":
		return needs("net path", "sh: 1: cannot create "+outside+"/x: Read-only file system\ncurl: (6) Could not resolve host: example.org")
	case "call":
		return `case "$MAY" in *all*) echo fetched;; *) kill -SYS $$;; esac`
	case "undone":
		return `case "$MAY" in *path*) echo fetched;; *) echo it was undone;; esac`
	}
	return needs("never", "sh: 1: cannot create "+home+"/config.toml: Read-only file system")
}

func fence(home string) func(*Config) {
	return func(c *Config) {
		box := c.Workspace.Box.(*sandboxtest.Box)
		p := box.Policy()
		p.Home = home
		c.Workspace.Box = fenced{box}
		if home != "" {
			c.Workspace.Box = homed{fenced{box}, p}
		}
	}
}

// homed is a box whose agent has a home.
type homed struct {
	fenced
	policy sandbox.Policy
}

func (h homed) Policy() sandbox.Policy { return h.policy }

// What follows a refusal by the sandbox: over policies, people, kinds of refusals and answers.
func TestAfterARefusal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	policies := map[string]func(*Config){
		"untrusted":    func(c *Config) { c.Approval = approve.Untrusted },
		"switches on":  func(c *Config) { c.Approval, c.Unasked = approve.OnRequest, []approve.Kind{} },
		"switches off": func(c *Config) { c.Approval, c.Unasked = approve.OnRequest, []approve.Kind{approve.BySandbox} },
		"on-request":   func(c *Config) { c.Approval = approve.OnRequest },
		"never":        never,
	}
	wants := map[string]sandbox.Command{
		"network": {Opened: sandbox.Opened{Network: true}},
		"path":    {Opened: sandbox.Opened{Paths: []string{"OUTSIDE/x"}}},
		"both":    {Opened: sandbox.Opened{Network: true, Paths: []string{"OUTSIDE/x"}}},
		"undone":  {Opened: sandbox.Opened{Paths: []string{"DIR/.git/config"}}},
		"call":    {Outside: true},
		"home":    {}, // nobody is asked
	}
	for name, policy := range policies {
		for kind, want := range wants {
			for _, answer := range []approve.Decision{"", approve.Once, approve.ForSession, approve.No, approve.Stop} {
				t.Run(name+"/"+kind+"/"+string(answer), func(t *testing.T) {
					t.Parallel()
					outside, home := real(t), real(t)
					line := refusedScript(kind, outside, home)
					asks := (name == "untrusted" || name == "switches on") && answer != "" && kind != "home"
					w := start(t, script(run(line), read("a.txt"), run(line), "say ok"), policy, fence(home), func(c *Config) { c.Interactive = answer != "" })
					w.file("a.txt", "a")
					w.settling(answer)
					err := w.Prompt(context.Background(), chat.Message{Text: "go"})
					if stopped := asks && answer == approve.Stop; stopped != errors.Is(err, errStopped) {
						t.Fatalf("the turn ended with %v", err)
					}
					declined := name == "untrusted" && answer == ""
					w.checkRetries(asks, answer, declined, want, strings.NewReplacer("OUTSIDE", outside, "DIR", w.dir))
				})
			}
		}
	}
}

func real(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// settling lets every command run, and answers questions about a refusal as given.
func (w *world) settling(answer approve.Decision) {
	from := w.Events(context.Background(), 0)
	done := make(chan struct{})
	w.t.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		for e := range from {
			switch a, ok := e.Body.(event.Asked); {
			case ok && len(a.Blocked) > 0:
				w.Answer(a.ID, answer, "")
			case ok:
				w.Answer(a.ID, approve.Once, "")
			}
		}
	}()
	w.t.Cleanup(func() { w.log.Close() })
}

func (w *world) checkRetries(asks bool, answer approve.Decision, declined bool, want sandbox.Command, names *strings.Replacer) {
	t := w.t
	t.Helper()
	var questions []event.Asked
	for _, a := range bodies[event.Asked](w.log) {
		if len(a.Blocked) > 0 {
			questions = append(questions, a)
		}
	}
	words, tried := w.words(), bodies[event.Tried](w.log)
	for i := range want.Opened.Paths {
		want.Opened.Paths = slices.Clone(want.Opened.Paths)
		want.Opened.Paths[i] = names.Replace(want.Opened.Paths[i])
	}
	commands := w.box.Commands()
	grants := answer.Grants() && asks
	switch n := len(questions); {
	case !asks && n > 0, asks && answer != approve.Once && n != 1, asks && answer == approve.Once && n != 2:
		t.Errorf("%d questions: %+v", n, questions)
	}
	runs := map[bool]int{true: 3, false: 2}[grants] // for the session: the second call runs with the rights at once
	switch {
	case declined:
		runs = 0
	case grants && answer == approve.Once:
		runs = 4
	case answer == approve.Stop && asks:
		runs = 1
	}
	if len(commands) != runs {
		t.Errorf("%d runs, want %d", len(commands), runs)
	}
	for i, c := range commands {
		wider := grants && (i%2 == 1 || answer == approve.ForSession && i > 0)
		if wider && (c.Outside != want.Outside || c.Opened.Network != want.Opened.Network || !slices.Equal(c.Opened.Paths, want.Opened.Paths)) {
			t.Errorf("run %d again with %+v, outside %t, want %+v", i, c.Opened, c.Outside, want)
		}
		if !wider && (c.Outside || c.Opened.Network || len(c.Opened.Paths) > 0) {
			t.Errorf("run %d has rights: %+v", i, c.Opened)
		}
	}
	switch {
	case declined:
	case grants:
		if !strings.Contains(words[0], "fetched") || !strings.Contains(words[0], "the user let the same command run again") && !strings.Contains(words[0], "The user let the same command run again") {
			t.Errorf("the model is told %q", words[0])
		}
		if len(tried) == 0 || len(tried[0].Outcome.Refused) == 0 || strings.Contains(tried[0].Outcome.Output, "fetched") {
			t.Errorf("the first run is told as %+v", tried)
		}
		for _, q := range questions {
			if q.Would == "" || q.Need.Script == "" || q.Dir != w.dir || len(q.Choices) != 4 {
				t.Errorf("the question is %+v", q)
			}
		}
	default:
		if n := strings.Count(words[0], "[refused by the sandbox: "); n != 1 || len(tried) > 0 {
			t.Errorf("%d lines in %q", n, words[0])
		}
		said := strings.Contains(words[0], "said no")
		if said != (asks && !grants) {
			t.Errorf("the model is told %q", words[0])
		}
	}
}

// Under a policy that asks nobody the model learns with what a person could have allowed it, and the person does too.
func TestRefusalNamesItsRemedy(t *testing.T) {
	outside := real(t)
	spaced := filepath.Join(outside, "a b")
	for _, dir := range []string{spaced, filepath.Join(outside, "home", "a")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name    string
		mode    sandbox.Mode
		refused []sandbox.Refusal
		want    string
	}{
		{"network", sandbox.WorkspaceWrite, []sandbox.Refusal{{Network: true}}, "-c sandbox_workspace_write.network_access=true"},
		{"network, read-only", sandbox.ReadOnly, []sandbox.Refusal{{Network: true}}, "-s workspace-write -c sandbox_workspace_write.network_access=true"},
		{"a new file", sandbox.WorkspaceWrite, []sandbox.Refusal{{Path: outside + "/x"}}, "--add-dir " + outside},
		{"a folder with a blank", sandbox.WorkspaceWrite, []sandbox.Refusal{{Path: spaced}}, "--add-dir '" + spaced + "'"},
		{"two in one folder", sandbox.WorkspaceWrite, []sandbox.Refusal{{Path: outside + "/x"}, {Path: outside + "/y"}, {Network: true}},
			"--add-dir " + outside + " -c sandbox_workspace_write.network_access=true"},
		{"the workspace, read-only", sandbox.ReadOnly, []sandbox.Refusal{{Path: "DIR/x"}}, "-s workspace-write"},
		{"outside, read-only", sandbox.ReadOnly, []sandbox.Refusal{{Path: outside + "/x"}}, "-s workspace-write --add-dir " + outside},
		{"protected", sandbox.WorkspaceWrite, []sandbox.Refusal{{Path: "DIR/.git/hooks/x"}, {Network: true}}, ""},
		{"protected, read-only", sandbox.ReadOnly, []sandbox.Refusal{{Path: "DIR/.git/hooks/x"}}, ""},
		{"the home folder", sandbox.WorkspaceWrite, []sandbox.Refusal{{Path: outside + "/home/.bashrc"}}, ""},
		{"above the home folder", sandbox.WorkspaceWrite, []sandbox.Refusal{{Path: outside + "/x"}, {Path: outside + "/home"}}, ""},
		{"below the home folder", sandbox.WorkspaceWrite, []sandbox.Refusal{{Path: outside + "/home/a/x"}}, "--add-dir " + outside + "/home/a"},
		{"a system call", sandbox.ReadOnly, []sandbox.Refusal{{Text: "a system call"}}, ""},
	} {
		p := sandboxtest.Writable(t, t.TempDir())
		if p.Mode = c.mode; c.mode == sandbox.ReadOnly {
			p.Roots = nil
		}
		if strings.Contains(c.name, "home folder") {
			p.UserHome = filepath.Join(outside, "home")
		}
		for i := range c.refused {
			c.refused[i].Path = strings.Replace(c.refused[i].Path, "DIR", p.Dir, 1)
		}
		if got := remedyOf(c.refused, p); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	line := refusedScript("network", "", "")
	w := start(t, script(run(line), "say ok"), never, fence(""))
	w.prompt("go")
	did := bodies[event.Did](w.log)[0]
	if did.Remedy != "-c sandbox_workspace_write.network_access=true" || !strings.Contains(did.Words, "Could not resolve host") ||
		!strings.Contains(did.Words, "Only the user can allow it, by starting with "+did.Remedy) {
		t.Errorf("got %+v", did)
	}
}

// A family that can ask is told how, where somebody answers.
func TestRefusalNamesTheParameter(t *testing.T) {
	asks := func(c *Config) { c.Harness.Escalates = harness.Escalation{Set: "escalate true", Reason: "reason"} }
	line := refusedScript("network", "", "")
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   bool
	}{{"on-request", interactive, true}, {"nobody there", func(*Config) {}, false}, {"never", never, false},
		{"never, with somebody there", func(c *Config) { c.Approval, c.Interactive = approve.Never, true }, false}} {
		w := start(t, script(run(line), "say ok"), fence(""), asks, c.change)
		w.prompt("go")
		if got := strings.Contains(w.words()[0], "To ask the user for it, run it again with escalate true and a reason."); got != c.want {
			t.Errorf("%s: %q", c.name, w.words()[0])
		}
	}
}

// A command that asks to leave the sandbox must say why, where its family can; where nothing confines it asks for nothing.
func TestEscalationNeedsAReason(t *testing.T) {
	silent := func(c *Config) {
		c.Interactive = true
		c.Harness.Escalates = harness.Escalation{Set: "escalate true", Reason: "reason"}
		for i, tool := range c.Harness.Tools {
			if tool.Spec.Name == "run" {
				c.Harness.Tools[i] = harness.Row("run", func(p runParams) action.Run { return action.Run{Script: p.Command, Escalate: p.Escalate} },
					func(r action.Ran) string { return r.Output })
			}
		}
	}
	w := start(t, script(outside("echo 1"), "say ok"), silent)
	w.prompt("go")
	did := bodies[event.Did](w.log)[0]
	if did.Status != event.Failing || len(bodies[event.Asked](w.log)) > 0 || len(w.box.Commands()) > 0 || !strings.Contains(did.Words, "escalate true needs a reason") {
		t.Errorf("got %+v", did)
	}
	w = start(t, script(outside("echo 1"), "say ok"), silent, func(c *Config) {
		p := c.Workspace.Box.Policy()
		p.Mode, p.Roots = sandbox.FullAccess, nil
		c.Workspace.Box = sandboxtest.New(t, p)
	})
	w.prompt("go")
	if did := bodies[event.Did](w.log)[0]; did.Status != event.Completed || len(bodies[event.Asked](w.log)) > 0 {
		t.Errorf("without a sandbox: %+v", did)
	}
}

// A shell that keeps what commands leave is another one the second time: it is only told of the refusal.
func TestKeptShellIsNotRunAgain(t *testing.T) {
	for keep, retried := range map[action.Keep]bool{action.KeepShell: false, action.KeepDir: true} {
		w := start(t, script(run("mkdir -p sub; cd sub; "+refusedScript("network", "", "")), "say ok"), interactive, fence(""), func(c *Config) {
			c.Approval, c.Unasked, c.Workspace.Shell = approve.OnRequest, []approve.Kind{}, "/bin/sh"
			for i, tool := range c.Harness.Tools {
				if tool.Spec.Name == "run" {
					c.Harness.Tools[i] = harness.Row("run", func(p runParams) action.Run { return action.Run{Script: p.Command, Keep: keep} },
						func(r action.Ran) string { return r.Output })
				}
			}
		})
		w.settling(approve.Once)
		w.prompt("go")
		commands := w.box.Commands()
		if got := len(commands) == 2; got != retried {
			t.Errorf("keeping %s: %d runs, %q", keep, len(commands), w.words())
		}
		for _, c := range commands {
			if c.Dir != w.dir {
				t.Errorf("keeping %s: ran in %s, not in %s again", keep, c.Dir, w.dir)
			}
		}
		if retried == strings.Contains(w.words()[0], "[refused by the sandbox: ") {
			t.Errorf("keeping %s: %q", keep, w.words())
		}
	}
}

// A no lasts for that command and those rights, and for nothing else.
func TestNoIsNotAskedTwice(t *testing.T) {
	other := strings.Replace(refusedScript("network", "", ""), "echo fetched", "echo got it", 1)
	net := refusedScript("network", "", "")
	w := start(t, script(run(net), run(other), run(net), "say ok"), interactive, fence(""), func(c *Config) { c.Approval, c.Unasked = approve.OnRequest, []approve.Kind{} })
	w.settling(approve.No)
	w.prompt("go")
	if asked := bodies[event.Asked](w.log); len(asked) != 2 || asked[0].Need.Script == asked[1].Need.Script {
		t.Errorf("asked %+v", asked)
	}
}

// What a person allows by the first words of a command holds at once, and in later sessions if it can be kept.
func TestPrefixBecomesARule(t *testing.T) {
	for _, failing := range []bool{false, true} {
		var kept [][]string
		w := start(t, script(outside("mytool build"), outside("mytool build"), "say ok"), interactive, func(c *Config) {
			c.Rules = new(rules.Set)
			c.Remember = func(prefix []string) error {
				if failing {
					return errors.New("write default.rules: no room")
				}
				kept = append(kept, prefix)
				return nil
			}
			for i, tool := range c.Harness.Tools {
				if tool.Spec.Name == "run" {
					c.Harness.Tools[i] = harness.Row("run", func(p runParams) action.Run {
						return action.Run{Script: p.Command, Escalate: p.Escalate, Reason: "it must", Prefix: []string{"mytool", "build"}}
					}, func(r action.Ran) string { return r.Output })
				}
			}
		})
		w.answering(approve.ByPrefix, approve.Stop, approve.Stop)
		if err := w.Prompt(context.Background(), chat.Message{Text: "go"}); err != nil {
			t.Fatalf("%v: %+v", err, bodies[event.Asked](w.log))
		}
		asked := bodies[event.Asked](w.log)
		if len(asked) != 1 || !slices.ContainsFunc(asked[0].Choices, func(c event.Choice) bool { return slices.Equal(c.Prefix, []string{"mytool", "build"}) }) {
			t.Fatalf("asked %+v", asked)
		}
		if warned := bodies[event.Warned](w.log); failing != (len(warned) == 1 && strings.Contains(warned[0].Text, "no room")) || failing == (len(kept) == 1) {
			t.Errorf("kept %v, warned %+v", kept, warned)
		}
		dids := bodies[event.Did](w.log)
		if dids[0].By != event.ByPerson || dids[1].By != event.ByRule || !dids[1].Outcome.(action.Ran).Outside {
			t.Errorf("got %+v", dids)
		}
		if reply := approve.ByPrefix; asked[0].Choices[0].Decision == string(reply) {
			t.Error("the widest yes comes first")
		}
	}
}

// An answer that was not offered is no more than what it can mean.
func TestAnswersThatWereNotOffered(t *testing.T) {
	for answer, want := range map[approve.Decision]string{approve.ByPrefix: "once", "what?": "no"} {
		w := start(t, script(outside("echo 1 > x"), outside("echo 1 > x"), "say ok"), interactive)
		w.answering(answer, answer)
		w.prompt("go")
		for _, a := range bodies[event.Answered](w.log) {
			if a.Decision != want {
				t.Errorf("%s is taken for %s", answer, a.Decision)
			}
		}
	}
}

// A yes to writing a file is one to that file: not to another that its name leads to later, and the agent's own are never
// asked about.
func TestWritesAreGrantedByFile(t *testing.T) {
	one, two, home := real(t), real(t), real(t)
	write := func(path string) string {
		return call("write", map[string]any{"path": path, "content": "hi"})
	}
	w := start(t, script(write("link/x"), run("ln -sfn "+two+" link"), write("link/x"), write(home+"/config.toml"), "say ok"), interactive, fence(home))
	if err := os.Symlink(one, filepath.Join(w.dir, "link")); err != nil {
		t.Fatal(err)
	}
	w.answering(approve.ForSession, approve.No)
	w.prompt("go")
	asked := bodies[event.Asked](w.log)
	if len(asked) != 2 || asked[0].Files[0].Path != one+"/x" || asked[1].Files[0].Path != two+"/x" || asked[0].Files[0].Why == "" {
		t.Fatalf("asked %+v", asked)
	}
	for path, there := range map[string]bool{one + "/x": true, two + "/x": false, home + "/config.toml": false} {
		if _, err := os.Stat(path); (err == nil) != there {
			t.Errorf("%s: %v", path, err)
		}
	}
	if dids := bodies[event.Did](w.log); dids[3].Status != event.Declined || dids[3].By != event.ByPolicy {
		t.Errorf("got %+v", dids[3])
	}
}
