package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"interpreter/agent/event"
	"interpreter/harness/catalog"
	"interpreter/sandbox/action"
)

// planner is a family with a mode in which nothing may be changed.
type planner struct {
	edit, shell, plan string // calls: an edit of greet.go, a command that makes a file, a plan proposed
	begun, approved   string // what is said when the mode begins, and when the plan is agreed to
	failing           bool   // a plan sent back is a failure
}

var (
	claudePlanner = planner{
		edit:  `Edit {"file_path":"$dir/greet.go","old_string":"helo","new_string":"hello"}`,
		shell: `Bash {"command":"touch made.txt"}`, plan: `ExitPlanMode {"plan":"1. Spell it right."}`,
		begun: "Plan mode", approved: "1. Spell it right.", failing: true,
	}
	planners = map[string]planner{
		"claude-code": claudePlanner,
		"zcode":       claudePlanner,
		"kimi-code": {
			edit:  `Edit {"path":"greet.go","old_string":"helo","new_string":"hello"}`,
			shell: `Bash {"command":"touch made.txt"}`, plan: `ExitPlanMode {}`,
			begun: "Plan mode is on", approved: "approved and plan mode over",
		},
		"kimi-cli": {
			edit:  `StrReplaceFile {"path":"greet.go","edit":{"old":"helo","new":"hello"}}`,
			shell: `Shell {"command":"touch made.txt"}`, plan: `ExitPlanMode {}`,
			begun: "<system>Plan mode is on", approved: "approved and plan mode over",
		},
	}
)

func called(text string) reply {
	name, args, _ := strings.Cut(text, " ")
	return reply{call: name, args: args}
}

// onStage begins a session under a harness with a person in front of it.
func onStage(t *testing.T, name string, large bool) *stage {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	for _, h := range catalog.All() {
		if h.Name == name {
			return newStage(t, h, variant{name: "full", full: true, large: large}, repository(t), "")
		}
	}
	t.Fatalf("there is no harness %s", name)
	return nil
}

// In plan mode nothing changes until a person agrees to the plan, and over a resume and a summary too.
func TestPlanModeOfEachFamily(t *testing.T) {
	for name, p := range planners {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onStage(t, name, false)
			answers := []string{"Yes, go on", "smaller steps please", "Yes, go on"}
			s.says = func(action.Question) string {
				next := answers[0]
				answers = answers[1:]
				return next
			}
			back := event.Completed
			if p.failing {
				back = event.Failing
			}
			s.check(s.turn("Plan it.", called("EnterPlanMode {}"), called(p.edit), called(p.shell), called(p.plan)), []one{
				{Tool: "enter", Want: p.begun}, {Tool: "edit", Want: "plan mode is on", Status: string(event.Declined)},
				{Tool: "command", Want: "ExitPlanMode", Status: string(event.Declined)}, {Tool: "sent back", Want: "smaller steps", Status: string(back)},
			})
			text, err := os.ReadFile(filepath.Join(s.dir, "greet.go"))
			if _, made := os.Stat(filepath.Join(s.dir, "made.txt")); err != nil || !strings.Contains(string(text), "helo") || made == nil {
				t.Errorf("changed in plan mode: %q, %v", text, err)
			}
			s.again("later")
			write(t, filepath.Join(s.dir, "greet.go"), "package greet // helo\n")
			s.check(s.turn("Go on.", called(p.edit)), []one{{Tool: "after a resume", Want: "plan mode is on", Status: string(event.Declined)}})
			if err := s.session.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.check(s.turn("And now?", called(p.shell), called(p.plan), called(p.edit)), []one{
				{Tool: "after a summary", Want: "plan mode is on", Status: string(event.Declined)}, {Tool: "approved", Want: p.approved}, {Tool: "edit", Want: "hello"},
			})
			told := fmt.Sprint(all[event.Compacted](s.log)[0].Messages)
			if !strings.Contains(told, "Plan mode is on") || !strings.Contains(told, "ExitPlanMode") {
				t.Errorf("the summary has forgotten the mode: %s", told)
			}
		})
	}
}

// A list of tasks is there again when a session goes on.
func TestPlanOverAResume(t *testing.T) {
	for _, c := range []struct {
		harness           string
		large             bool
		write, read, want string
		before            string // a call in front of the writing one
	}{
		{"zcode", false, `TodoWrite {"todos":[{"content":"Spell it","status":"completed","priority":"low"}]}`, `TodoRead {}`, `"priority":"low"`, ""},
		{"claude-code", true, `TaskUpdate {"taskId":"1","status":"completed"}`, `TaskList {}`, "#1 [completed] Spell it",
			`TaskCreate {"subject":"Spell it","description":"Right."}`},
		{"kimi-code", false, `TodoList {"todos":[{"title":"Spell it","status":"done"}]}`, `TodoList {}`, "- [done] Spell it", ""},
		{"kimi-cli", false, `SetTodoList {"todos":[{"title":"Spell it","status":"done"}]}`, `SetTodoList {}`, "- [done] Spell it", ""},
	} {
		t.Run(c.harness, func(t *testing.T) {
			t.Parallel()
			s := onStage(t, c.harness, c.large)
			replies := []reply{called(c.write)}
			if c.before != "" {
				replies = append([]reply{called(c.before)}, replies...)
			}
			s.turn("List it.", replies...)
			s.again("later")
			s.check(s.turn("What is on it?", called(c.read)), []one{{Tool: "read", Want: c.want}})
		})
	}
}

// The calls of a Kimi model go on counting where they were when a session goes on.
func TestNumberedCallsOverAResume(t *testing.T) {
	s := onStage(t, "kimi-code", false)
	s.turn("Look.", called(`Bash {"command":"echo 1"}`), called(`Read {"path":"greet.go"}`))
	s.again("later")
	s.turn("Look again.", called(`Bash {"command":"echo 2"}`))
	var ids []string
	last := s.model.asked[len(s.model.asked)-1]
	for _, m := range last.Messages {
		for _, c := range m.Calls {
			ids = append(ids, c.ID)
		}
		if m.Result != nil && m.Result.CallID != ids[len(ids)-1] {
			t.Errorf("a result of %s behind %v", m.Result.CallID, ids)
		}
	}
	if got := strings.Join(ids, " "); got != "functions.Bash:0 functions.Read:1 functions.Bash:2" {
		t.Errorf("got %s", got)
	}
}
