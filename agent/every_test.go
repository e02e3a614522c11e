package agent_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"interpreter/agent"
	"interpreter/agent/approve"
	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/harness/catalog"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// variant is an environment in which a harness is tried. In one that is not plain everything conditional is offered.
type variant struct {
	name  string
	full  bool
	large bool
}

// TestEveryTool plays a whole session under every harness: each tool that is offered is called and does its work, calls
// make no sense, a person declines and approves, interrupts, the conversation is summed up, and twice the session goes on
// a day later from its file, in a repository that has changed. Each request must be the one before it plus a tail, as the
// model gets it and as each wire writes it.
func TestEveryTool(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	template := repository(t)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<html><body><h1>A page</h1><p>It says <b>hello</b>.</p></body></html>")
	}))
	t.Cleanup(page.Close)
	for _, h := range catalog.All() {
		for _, v := range variants(h) {
			t.Run(h.Name+"/"+v.name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, h, v, template, page.URL)
				s.play()
				opening := s.checkRequests(*s.opened())
				bodies := 0
				if v.full && !v.large { // what a wire makes of a request does not depend on where it comes from
					bodies = checkBodies(t, h, opening, s.opened().Tools, s.model.asked)
				}
				t.Logf("%d tools offered, %d calls, %d requests, %d bodies", len(s.opened().Tools), len(all[event.Did](s.log)), len(s.model.asked), bodies)
			})
		}
	}
}

// variants are the environments that make a difference to a harness.
func variants(h harness.Harness) []variant {
	out := []variant{{name: "plain"}, {name: "full", full: true}}
	if slices.ContainsFunc(h.Tools, func(tool harness.Tool) bool {
		return tool.When != nil && tool.When(harness.Environment{}) != tool.When(harness.Environment{Large: true})
	}) {
		out = append(out, variant{name: "large", full: true, large: true})
	}
	return out
}

// repository is a folder for sessions to work in a copy of.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var dot bytes.Buffer
	if err := png.Encode(&dot, image.NewRGBA(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"greet.go":  "package greet // helo\n\nfunc Hello() string { return x }\n",
		"AGENTS.md": "Say <less> & nothing else.\n",
		"dot.png":   dot.String(),
	} {
		write(t, filepath.Join(dir, name), text)
	}
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-q", "-m", "Say hello")
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.org"}, args...)...)
	c.Dir, c.Env = dir, gitEnv()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func gitEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "HOME=" + os.DevNull}
}

// all are the bodies of one kind in a log.
func all[B event.Body](l *event.Log) []B {
	var out []B
	for _, e := range l.Events() {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

// play is the whole session.
func (s *stage) play() {
	t, name := s.t, s.h.Name
	wanted := s.wanted()
	rows := rowsOf(s.form, s.h.Text, wanted, s.v.full)
	replies, want := []reply{}, []one{}
	for _, r := range rows {
		next := reply{call: r.Tool, args: r.Args}
		if s.h.Text {
			next = reply{text: r.Args}
		}
		replies, want = append(replies, next), append(want, r)
	}
	replies = append(replies, s.nonsense(), runs(t, name, "echo no; (exit 3)"))
	want = append(want, one{Tool: "teleport", Want: "teleport", Status: string(event.Failing)}, one{Tool: "the shell, wrongly", Status: string(event.Failing)}, one{Tool: "a failing command", Want: "3", Status: string(event.Failing)})
	if bad := s.form.Bad; bad != "" {
		replies = append(replies[:2:2], append([]reply{{text: bad}}, replies[2:]...)...)
	}
	s.session.Steer("And say why.")
	dids := s.turn("Fix the <spelling> & go on.", replies...)
	s.check(dids, want)
	for _, spec := range s.opened().Tools {
		if !slices.ContainsFunc(dids, func(d event.Did) bool { return d.Tool == spec.Name && d.Status == event.Completed }) {
			t.Errorf("%s is offered and was not carried out", spec.Name)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.dir, "greet.go")); err != nil || !strings.Contains(string(text), "// hello") {
		t.Errorf("greet.go is not mended: %q, %v", text, err)
	}

	s.switched(approve.Untrusted)
	dids = s.turn("Make two files.", runs(t, name, "touch declined.txt"), runs(t, name, "touch approved.txt"))
	allowed := event.Declined
	if s.v.full {
		allowed = event.Completed
	}
	s.check(dids, []one{{Tool: "declined", Status: string(event.Declined)}, {Tool: "approved", Status: string(allowed)}})
	for file, there := range map[string]bool{"declined.txt": false, "approved.txt": s.v.full, "early.txt": false} {
		if _, err := os.Stat(filepath.Join(s.dir, file)); (err == nil) != there {
			t.Errorf("%s: there must be one: %t, %v", file, there, err)
		}
	}

	s.refusals()

	s.switched(approve.Never)
	s.interrupted("Wait.", runs(t, name, "echo begun; sleep 300"))
	if dids = all[event.Did](s.log); dids[len(dids)-1].Status != event.Aborted {
		t.Errorf("what was interrupted is told as %+v", dids[len(dids)-1])
	}
	s.interrupted("Explain.", reply{text: "First of all, and then", hangs: true})

	s.again("another")
	s.check(s.turn("Look again.", runs(t, name, "cat greet.go")), []one{{Tool: "after a day", Want: "on another"}})
	if err := s.session.Compact(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.check(s.turn("Once more.", runs(t, name, "cat greet.go AGENTS.md")), []one{{Tool: "after the summary", Want: "On another"}})
	s.again("third")
	s.check(s.turn("The last time.", runs(t, name, "cat greet.go")), []one{{Tool: "after another day", Want: "on third"}})
}

// refusals is a turn in which the sandbox refuses a command something. Where a person is asked it runs again, unless a
// shell keeps its state; where not, the model is told what was refused and what can be done.
func (s *stage) refusals() {
	t := s.t
	t.Helper()
	policy := approve.OnRequest
	if s.v.full {
		policy = approve.Untrusted
	}
	s.switched(policy)
	s.fence.up = true
	defer func() { s.fence.up = false }()
	const fetches = `if test -n "$MAY"; then echo fetched; else echo "curl: (6) Could not resolve host: example.org"; (exit 6); fi`
	before := len(s.log.Events())
	dids := s.turn("Fetch it.", runs(t, s.h.Name, fetches))
	if len(dids) != 1 {
		t.Fatalf("%d results", len(dids))
	}
	var need action.Need
	asked, tried := 0, 0
	for _, e := range s.log.Events()[before:] {
		switch b := e.Body.(type) {
		case event.Started:
			if b.CallID == dids[0].CallID {
				need = b.Need
			}
		case event.Asked:
			if len(b.Blocked) > 0 {
				asked++
			}
		case event.Tried:
			tried++
		}
	}
	words := dids[0].Words
	ran, ok := dids[0].Outcome.(action.Ran)
	terminal := need.TTY && len(need.Argv) == 0 // what happens in one is not told apart
	switch {
	case !ok:
		t.Errorf("it did not run: %s", words)
	case terminal:
	case s.v.full && need.Keep != action.KeepShell:
		if asked != 1 || tried != 1 || !ran.Opened.Network || ran.Outside || !strings.Contains(words, "fetched") || !strings.Contains(words, "a first run was refused by the sandbox: the network is off") {
			t.Errorf("%d questions, %d runs before, opened %+v, says\n%s", asked, tried, ran.Opened, words)
		}
	default:
		how := "-c sandbox_workspace_write.network_access=true"
		if s.v.full && s.h.Escalates.Set != "" {
			how = s.h.Escalates.Set
		}
		if asked+tried > 0 || strings.Count(words, "the network is off for commands. ") != 1 || !strings.Contains(words, how) || !strings.Contains(words, "Could not resolve host") {
			t.Errorf("%d questions, %d runs before, want …%s…, says\n%s", asked, tried, how, words)
		}
	}
}

// wanted are the tools that are offered in this environment, and the ones that are understood without being offered. Each
// must have a call.
func (s *stage) wanted() map[string]bool {
	_, tools, err := s.h.Begin(s.env)
	if err != nil {
		s.t.Fatal(err)
	}
	wanted := map[string]bool{}
	for _, spec := range tools {
		wanted[spec.Name] = true
	}
	for _, tool := range s.h.Tools {
		if tool.Hidden && !s.h.Text {
			wanted[tool.Spec.Name] = true
		}
	}
	have := map[string]bool{}
	for _, r := range rowsOf(s.form, s.h.Text, wanted, s.v.full) {
		have[r.Tool] = true
	}
	for name := range wanted {
		if !have[name] {
			s.t.Errorf("%s has no call in the play.json of %s", name, s.h.Name)
		}
	}
	return wanted
}

// nonsense is an answer with a tool that there is not, and the shell without its command.
func (s *stage) nonsense() reply {
	shell := cmp.Or(s.form.Run.Tool, s.h.Tools[0].Spec.Name)
	return reply{text: "Now nonsense.", more: []chat.Call{{Name: "teleport", Args: json.RawMessage(`{"to": "x"}`)}, {Name: shell, Args: json.RawMessage("{}"), Raw: `{"comm`}}}
}

func (s *stage) switched(p approve.Policy) {
	if err := s.session.Switch(agent.Change{Approval: p}); err != nil {
		s.t.Fatal(err)
	}
}

// check holds results to what they must be.
func (s *stage) check(dids []event.Did, want []one) {
	s.t.Helper()
	if len(dids) != len(want) {
		s.t.Fatalf("%d results, want %d", len(dids), len(want))
	}
	for i, w := range want {
		d := dids[i]
		if d.Status != cmp.Or(event.Status(w.Status), event.Completed) || !strings.Contains(d.Words, w.Want) || d.Words == "" {
			s.t.Errorf("%s %s: %s (%s), says\n%s\nwant %s and …%s…", w.Tool, w.Args, d.Status, d.Error, d.Words, cmp.Or(event.Status(w.Status), event.Completed), w.Want)
		}
	}
}
