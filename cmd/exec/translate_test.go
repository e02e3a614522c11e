package exec

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"interpreter/agent/event"
	"interpreter/local/chat"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

var update = flag.Bool("update", false, "rewrite the goldens")

const (
	plan     = `"type":"todo_list"`
	shell    = `"id":"item_0","type":"command_execution","command":"/bin/bash -c 'go test'"`
	begun    = `{"type":"item.started","item":{` + shell + `,"aggregated_output":"","exit_code":null,"status":"in_progress"}}`
	edited   = `"id":"item_0","type":"file_change","changes":`
	editing  = `{"type":"item.started","item":{` + edited + `[{"path":"/repo/a.go","kind":"update"}],"status":"in_progress"}}`
	complete = `{"type":"turn.completed","usage":{"input_tokens":5,"cached_input_tokens":4,"cache_write_input_tokens":3,"output_tokens":2,"reasoning_output_tokens":1}}`
)

var (
	run   = event.Started{CallID: "c", Tool: "bash", Title: "run go test", Need: action.Need{Effect: action.Runs, Script: "go test", Argv: []string{"/bin/bash", "-c", "go test"}}}
	write = event.Started{CallID: "c", Tool: "edit", Title: "edit a.go", Need: action.Need{Effect: action.Writes, Paths: []string{"a.go"}}}
	use   = chat.Usage{Input: 5, CachedInput: 4, CacheWrite: 3, Output: 2, Reasoning: 1}
)

func TestTranslate(t *testing.T) {
	dir := event.Begun{ID: "t", Dir: "/repo"}
	first := `{"type":"thread.started","thread_id":"t"}`
	ranAs := func(status event.Status, out action.Outcome, problem string) event.Did {
		return event.Did{CallID: "c", Tool: "bash", Status: status, Outcome: out, Error: problem}
	}
	command := func(output, exit, status string) string {
		return `{"type":"item.completed","item":{` + shell + `,"aggregated_output":"` + output + `","exit_code":` + exit + `,"status":"` + status + `"}}`
	}
	file := func(changes, status string) string {
		return `{"type":"item.completed","item":{` + edited + changes + `,"status":"` + status + `"}}`
	}
	rows := []struct {
		name string
		in   []event.Body
		want []string
	}{
		{"begun", []event.Body{dir}, []string{first}},
		{"turn started", []event.Body{event.TurnStarted{Dir: "/repo"}}, []string{`{"type":"turn.started"}`}},
		{"what the model reads", []event.Body{event.Opened{}, event.Prompted{Message: chat.Message{Text: "hi"}}, event.Injected{Message: chat.Message{Text: "x"}}}, nil},
		{"pieces", []event.Body{event.Heard{Text: "a"}, event.Printed{CallID: "c", Text: "x"}}, nil},
		{"questions", []event.Body{event.Asked{ID: "a"}, event.Answered{ID: "a"}, event.Tried{CallID: "c"}}, nil},
		{"upkeep", []event.Body{event.Compacted{}, event.Foreign{Type: "x"}}, nil},
		{"mended", []event.Body{event.Recovered{What: "early stop", Detail: "reminded"}, event.Recovered{What: "cut answer"}}, []string{
			`{"type":"item.completed","item":{"id":"item_0","type":"error","message":"mended: early stop: reminded"}}`,
			`{"type":"item.completed","item":{"id":"item_1","type":"error","message":"mended: cut answer"}}`}},
		{"said", []event.Body{event.Said{Message: chat.Message{Thinking: "hm <b> & so", Text: "done"}}, event.TurnEnded{Reason: event.Finished, Usage: use, Final: "done"}}, []string{
			`{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"hm <b> & so"}}`,
			`{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"done"}}`, complete}},
		{"said before a call", []event.Body{event.Said{Message: chat.Message{Text: "look", Calls: []chat.Call{{ID: "c"}}}}}, []string{
			`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"look"}}`}},
		{"said, and something follows", []event.Body{event.Said{Message: chat.Message{Text: "one"}}, event.Compacted{}, event.Said{Message: chat.Message{Text: "two"}},
			event.TurnEnded{Reason: event.Interrupted}}, []string{
			`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"one"}}`,
			`{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"two"}}`,
			`{"type":"turn.failed","error":{"message":"interrupted"}}`}},
		{"said in a fence that the final message lacks", []event.Body{event.Said{Message: chat.Message{Text: "```json\n{}\n```"}},
			event.TurnEnded{Reason: event.Finished, Usage: use, Final: "{}"}}, []string{
			`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"{}"}}`, complete}},
		{"the last word of a step", []event.Body{event.Said{Message: chat.Message{Text: "so", Calls: []chat.Call{{ID: "c"}}}},
			event.TurnEnded{Reason: event.Finished, Usage: use, Final: "all done"}}, []string{
			`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"so"}}`,
			`{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"all done"}}`, complete}},
		{"the last word of a step was said before", []event.Body{event.Said{Message: chat.Message{Text: "all done\n", Calls: []chat.Call{{ID: "c"}}}},
			event.TurnEnded{Reason: event.Finished, Usage: use, Final: "all done"}}, []string{
			`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"all done\n"}}`, complete}},
		{"recovered", []event.Body{event.TurnEnded{Reason: event.Finished, Usage: use, Recovered: map[string]int{"early stop": 1, "call written as text": 2}}}, []string{
			strings.TrimSuffix(complete, "}") + `,"recovered":{"call written as text":2,"early stop":1}}`}},
		{"recovered in vain", []event.Body{event.TurnEnded{Reason: event.Broke, Error: "gone", Recovered: map[string]int{"early stop": 1}}}, []string{
			`{"type":"error","message":"gone"}`, `{"type":"turn.failed","error":{"message":"gone"},"recovered":{"early stop":1}}`}},
		{"said nothing", []event.Body{event.Said{Message: chat.Message{Thinking: " \n", Text: "\n", Calls: []chat.Call{{ID: "c"}}}}}, nil},
		{"waited", []event.Body{event.Waited{Wait: chat.Wait{Attempt: 2, Limit: 5, For: 400 * time.Millisecond, Why: "server busy"}}},
			[]string{`{"type":"error","message":"asking the model again, 2/5 in 400 ms: server busy"}`}},
		{"waited without a count", []event.Body{event.Waited{Wait: chat.Wait{Why: "it thought too long"}}},
			[]string{`{"type":"error","message":"asking the model again: it thought too long"}`}},
		{"waited without a limit", []event.Body{event.Waited{Wait: chat.Wait{Attempt: 2, Why: "down"}}},
			[]string{`{"type":"error","message":"asking the model again, 2: down"}`}},
		{"warned", []event.Body{event.Warned{Text: "odd"}, event.Warned{Text: "odd", Remedy: "do x"}}, []string{
			`{"type":"item.completed","item":{"id":"item_0","type":"error","message":"odd"}}`,
			`{"type":"item.completed","item":{"id":"item_1","type":"error","message":"odd (do x)"}}`}},
		{"command", []event.Body{run, event.Printed{CallID: "c", Text: "part"}, ranAs(event.Completed, action.Ran{Output: "ok\n"}, "")},
			[]string{begun, command(`ok\n`, "0", "completed")}},
		{"command that failed", []event.Body{run, ranAs(event.Completed, action.Ran{Output: "no", Exit: sandbox.Exit{Code: 1}}, "")},
			[]string{begun, command("no", "1", "failed")}},
		{"command that timed out", []event.Body{run, ranAs(event.Failing, action.Ran{Exit: sandbox.Exit{Code: 124, TimedOut: true}}, "")},
			[]string{begun, command("", "124", "failed")}},
		{"command still running", []event.Body{run, ranAs(event.Completed, action.Ran{Session: 3, Output: "up"}, "")},
			[]string{begun, command("up", "null", "completed")}},
		{"command declined", []event.Body{run, ranAs(event.Declined, nil, "not allowed")}, []string{begun, command("not allowed", "null", "declined")}},
		{"command aborted", []event.Body{run, event.Printed{CallID: "c", Text: "half"}, ranAs(event.Aborted, nil, "aborted")},
			[]string{begun, command("half", "null", "failed")}},
		{"command without a beginning", []event.Body{ranAs(event.Completed, action.Ran{Argv: []string{"/bin/bash", "-c", "go test"}}, "")},
			[]string{begun, command("", "0", "completed")}},
		{"command with a secret", []event.Body{event.Started{CallID: "c", Need: action.Need{Effect: action.Runs, Argv: []string{"env", "API_KEY=abc", "it's"}}}},
			[]string{`{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"env API_KEY=***** 'it'\"'\"'s'","aggregated_output":"","exit_code":null,"status":"in_progress"}}`}},
		{"edit", []event.Body{dir, write, ranAs(event.Completed, action.Changed{Files: []action.FileChange{
			{Path: "a.go", Real: "/repo/a.go", Kind: action.Added}, {Path: "b", Kind: action.Deleted}, {Path: "c", Real: "/repo/c", Kind: action.Moved, To: "d"}}}, "")},
			[]string{first, editing, file(`[{"path":"/repo/a.go","kind":"add"},{"path":"/repo/b","kind":"delete"},{"path":"/repo/c","kind":"update","move_path":"/repo/d"}]`, "completed")}},
		{"edit that failed", []event.Body{dir, write, ranAs(event.Failing, nil, "no match")}, []string{first, editing, file(`[{"path":"/repo/a.go","kind":"update"}]`, "failed")}},
		{"edit declined", []event.Body{dir, write, ranAs(event.Declined, nil, "no")}, []string{first, editing, file(`[{"path":"/repo/a.go","kind":"update"}]`, "failed"),
			`{"type":"item.completed","item":{"id":"item_1","type":"error","message":"call of bash was not run: no"}}`}},
		{"command refused something", []event.Body{run, event.Did{CallID: "c", Status: event.Failing, Remedy: "--add-dir /x",
			Outcome: action.Ran{Output: "no", Exit: sandbox.Exit{Code: 1, Notices: []string{"a repository appeared in /repo/b/.git"}}, Denied: []string{"writing /x/y: it is outside", "the network is off"}}}},
			[]string{begun, command("no", "1", "failed"),
				`{"type":"item.completed","item":{"id":"item_1","type":"error","message":"the sandbox refused: writing /x/y: it is outside; the network is off (interpreter exec --add-dir /x, to allow it)"}}`,
				`{"type":"item.completed","item":{"id":"item_2","type":"error","message":"a repository appeared in /repo/b/.git"}}`}},
		{"edit that was there", []event.Body{dir, write, ranAs(event.Completed, action.Changed{Same: true}, "")}, []string{first, editing, file(`[]`, "completed")}},
		{"edit without a beginning", []event.Body{ranAs(event.Completed, action.Changed{Files: []action.FileChange{{Real: "/x", Kind: action.Modified}}}, "")},
			[]string{`{"type":"item.started","item":{` + edited + `[{"path":"/x","kind":"update"}],"status":"in_progress"}}`, file(`[{"path":"/x","kind":"update"}]`, "completed")}},
		{"reading has no item", []event.Body{event.Started{CallID: "c", Need: action.Need{Effect: action.Reads}}, ranAs(event.Completed, action.Seen{}, ""),
			ranAs(event.Completed, action.Found{}, ""), ranAs(event.Completed, action.Told{}, "")}, nil},
		{"calls that came to nothing", []event.Body{ranAs(event.Failing, nil, "unknown tool bash"), ranAs(event.Declined, nil, "not run"), ranAs(event.Declined, nil, "limit of calls reached"),
			event.Started{CallID: "c", Need: action.Need{Effect: action.Reads}}, ranAs(event.Failing, nil, "read x: no such file"), ranAs(event.Aborted, nil, "aborted")}, []string{
			`{"type":"item.completed","item":{"id":"item_0","type":"error","message":"call of bash failed: unknown tool bash"}}`,
			`{"type":"item.completed","item":{"id":"item_1","type":"error","message":"call of bash was not run"}}`,
			`{"type":"item.completed","item":{"id":"item_2","type":"error","message":"call of bash was not run: limit of calls reached"}}`,
			`{"type":"item.completed","item":{"id":"item_3","type":"error","message":"call of bash failed: read x: no such file"}}`}},
		{"keys", []event.Body{event.Started{CallID: "c", Title: `type "cat
"`, Need: action.Need{Effect: action.Runs, Script: "cat\n\n", TTY: true, Typed: "cat\nC-d"}},
			ranAs(event.Completed, action.Ran{Argv: []string{"/bin/bash", "-i"}, Session: 2, Screen: "$ cat\n$ \n"}, "")}, []string{
			`{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"cat\nC-d","aggregated_output":"","exit_code":null,"status":"in_progress"}}`,
			`{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"cat\nC-d","aggregated_output":"$ cat\n$\n","exit_code":null,"status":"completed"}}`}},
		{"a key that asks for nothing", []event.Body{event.Started{CallID: "c", Need: action.Need{Effect: action.Thinks, TTY: true, Typed: "C-c"}},
			ranAs(event.Completed, action.Ran{Argv: []string{"/bin/bash", "-i"}, Session: 2, Output: "^C\n", Screen: "$ ^C"}, "")}, []string{
			`{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"C-c","aggregated_output":"","exit_code":null,"status":"in_progress"}}`,
			`{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"C-c","aggregated_output":"^C\n","exit_code":null,"status":"completed"}}`}},
		{"the work reported as done", []event.Body{event.Started{CallID: "c", Title: "report the work as done", Need: action.Need{Effect: action.Thinks}},
			ranAs(event.Completed, action.Ran{Argv: []string{"/bin/bash", "-i"}, Session: 2, Claims: 1}, "")}, []string{
			`{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"report the work as done","aggregated_output":"","exit_code":null,"status":"in_progress"}}`,
			`{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"report the work as done","aggregated_output":"","exit_code":null,"status":"completed"}}`}},
		{"page", []event.Body{ranAs(event.Completed, action.Fetched{URL: "http://x"}, "")}, []string{
			`{"type":"item.started","item":{"id":"item_0","type":"web_search","query":"http://x","action":{"type":"open_page","url":"http://x"}}}`,
			`{"type":"item.completed","item":{"id":"item_0","type":"web_search","query":"http://x","action":{"type":"open_page","url":"http://x"}}}`}},
		{"plan and the end", []event.Body{
			ranAs(event.Completed, action.Planned{Items: []action.PlanItem{{Text: "a", Status: "in_progress"}}}, ""),
			ranAs(event.Completed, action.Planned{Items: []action.PlanItem{{Text: "a", Status: "completed"}}}, ""),
			event.TurnEnded{Reason: event.Finished, Usage: use}}, []string{
			`{"type":"item.started","item":{"id":"item_0",` + plan + `,"items":[{"text":"a","completed":false}]}}`,
			`{"type":"item.updated","item":{"id":"item_0",` + plan + `,"items":[{"text":"a","completed":true}]}}`,
			`{"type":"item.completed","item":{"id":"item_0",` + plan + `,"items":[{"text":"a","completed":true}]}}`, complete}},
		{"interrupted with things open", []event.Body{run,
			ranAs2("p", action.Planned{Items: []action.PlanItem{{Text: "a"}}}),
			event.Printed{CallID: "c", Text: "so far"},
			event.TurnEnded{Reason: event.Interrupted, Error: "interrupted"}}, []string{begun,
			`{"type":"item.started","item":{"id":"item_1",` + plan + `,"items":[{"text":"a","completed":false}]}}`,
			`{"type":"item.completed","item":{"id":"item_1",` + plan + `,"items":[{"text":"a","completed":false}]}}`,
			command("so far", "null", "in_progress"),
			`{"type":"turn.failed","error":{"message":"interrupted"}}`}},
		{"failed", []event.Body{event.TurnEnded{Reason: event.Broke, Error: "server: 500", Remedy: "restart it"}}, []string{
			`{"type":"error","message":"server: 500 (restart it)"}`, `{"type":"turn.failed","error":{"message":"server: 500 (restart it)"}}`}},
		{"limit", []event.Body{event.TurnEnded{Reason: event.Limited}}, []string{
			`{"type":"error","message":"the turn ended: limit"}`, `{"type":"turn.failed","error":{"message":"the turn ended: limit"}}`}},
	}
	for _, row := range rows {
		var tr Translator
		var got []string
		for i, body := range row.in {
			for _, line := range tr.Lines(event.Event{Seq: i, Body: body}) {
				text, err := encode(line)
				if err != nil {
					t.Fatal(err)
				}
				if !json.Valid(text) || bytes.Count(text, []byte("\n")) != 1 {
					t.Errorf("%s: not one line of JSON: %q", row.name, text)
				}
				got = append(got, strings.TrimSuffix(string(text), "\n"))
			}
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s:\n%s\nwant\n%s", row.name, strings.Join(got, "\n"), strings.Join(row.want, "\n"))
		}
	}
}

func ranAs2(call string, out action.Outcome) event.Did {
	return event.Did{CallID: call, Status: event.Completed, Outcome: out}
}

func TestBroken(t *testing.T) {
	tr := &Translator{}
	tr.Lines(event.Event{Body: run})
	lines := tr.Broken(errors.New("disk full"))
	if len(lines) != 3 {
		t.Fatalf("%+v", lines)
	}
	if text, _ := encode(lines[2]); string(text) != `{"type":"turn.failed","error":{"message":"disk full"}}`+"\n" {
		t.Errorf("%s", text)
	}
	if lines := tr.Broken(errors.New("again")); lines != nil {
		t.Errorf("a turn ends once: %+v", lines)
	}
}

// Every kind of event and of outcome is decided by name in both translators, so that a new one cannot be forgotten.
func TestEveryBodyIsDecided(t *testing.T) {
	bodies := receivers(t, "../../agent/event", "Kind")
	outcomes := receivers(t, "../../sandbox/action", "outcome")
	if len(bodies) < 18 || len(outcomes) != 7 {
		t.Fatalf("bodies %v, outcomes %v", bodies, outcomes)
	}
	for _, file := range []string{"translate.go", "human.go"} {
		cases := decided(t, file)
		for _, body := range bodies {
			if !cases["event."+body] {
				t.Errorf("%s decides nothing for event.%s", file, body)
			}
		}
	}
	for _, name := range outcomes {
		if kinds := outcomeLines[name]; kinds == nil {
			t.Errorf("no row says what becomes of action.%s", name)
		} else if out := kinds.out; len((&Translator{}).Lines(event.Event{Body: event.Did{Status: event.Completed, Outcome: out}})) != kinds.lines {
			t.Errorf("action.%s does not make %d lines", name, kinds.lines)
		}
	}
}

type outcomeRow struct {
	out   action.Outcome
	lines int
}

var outcomeLines = map[string]*outcomeRow{
	"Ran": {action.Ran{}, 2}, "Changed": {action.Changed{}, 2}, "Planned": {action.Planned{}, 1}, "Fetched": {action.Fetched{}, 2},
	"Seen": {action.Seen{}, 0}, "Found": {action.Found{}, 0}, "Told": {action.Told{}, 0},
}

// receivers lists the exported types of a package that have a method.
func receivers(t *testing.T, dir, method string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != method {
				continue
			}
			if name, ok := f.Recv.List[0].Type.(*ast.Ident); ok && name.IsExported() {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// decided lists the types that the cases of a file name, one level deep.
func decided(t *testing.T, path string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		clause, ok := n.(*ast.CaseClause)
		if !ok {
			return true
		}
		for _, e := range clause.List {
			if s, ok := e.(*ast.SelectorExpr); ok {
				if p, ok := s.X.(*ast.Ident); ok {
					names[p.Name+"."+s.Sel.Name] = true
				}
			}
		}
		return true
	})
	return names
}

func TestQuoteAll(t *testing.T) {
	rows := []struct {
		argv []string
		want string
	}{
		{[]string{"/bin/bash", "-lc", "pytest -q"}, "/bin/bash -lc 'pytest -q'"},
		{[]string{"echo", "", "it's", "a=b,c:d@e%f+g"}, `echo '' 'it'"'"'s' a=b,c:d@e%f+g`},
		{[]string{"ü", "$HOME", "*"}, `'ü' '$HOME' '*'`},
		{nil, ""},
	}
	for _, row := range rows {
		if got := quoteAll(row.argv); got != row.want {
			t.Errorf("%q = %s, want %s", row.argv, got, row.want)
		}
	}
}

// A whole run, as a program and as a person see it.
func TestRecordedRun(t *testing.T) {
	events := recorded()
	var lines bytes.Buffer
	var tr Translator
	for _, e := range events {
		for _, line := range tr.Lines(e) {
			text, err := encode(line)
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(text)
		}
	}
	golden(t, "run.jsonl", lines.Bytes())
	for _, look := range []struct {
		file   string
		colour bool
	}{{"run.txt", false}, {"run-colour.txt", true}} {
		var text bytes.Buffer
		h := &Human{Out: &text, Colour: look.colour, ShowFinal: true}
		for _, e := range events {
			h.Event(e)
		}
		golden(t, look.file, text.Bytes())
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
	}
}

// recorded is the log of a run that meets a bit of everything.
func recorded() []event.Event {
	usage := chat.Usage{Input: 18123, CachedInput: 6400, Output: 622, Reasoning: 96}
	script := "go test ./...\necho \x1b]0;title\x07done"
	diff := "--- habits.go\n+++ habits.go\n@@ -1,2 +1,2 @@\n package habits\n-var n = 1\n+var n = 2\n"
	bodies := []event.Body{
		event.Begun{ID: "0199c0de-7a11-7abc-8def-001122334455", Dir: "/repo", Version: "1.2.3"},
		event.Warned{Text: "/home/config.toml: line 1: modle: unknown key", Remedy: "write model"},
		event.TurnStarted{Dir: "/repo", Model: "qwen3-coder:30b", Provider: "ollama", Harness: "qwen-code", Why: "the model's name", Sandbox: "workspace-write", Backend: "namespace", Approval: "never"},
		event.Opened{},
		event.Prompted{Message: chat.Message{Role: chat.User, Text: "fix the failing test"}},
		event.Heard{Thinking: "Look"},
		event.Waited{Wait: chat.Wait{Attempt: 1, Limit: 4, For: 400 * time.Millisecond, Why: "server busy"}},
		event.Said{Message: chat.Message{Thinking: "Look at the failing test first.", Text: "I run the tests.", Calls: []chat.Call{{ID: "1"}, {ID: "2"}}}},
		event.Started{CallID: "1", Tool: "run_shell_command", Title: "run go test ./...", Need: action.Need{Effect: action.Runs, Script: script, Argv: []string{"/bin/bash", "-c", script}}},
		event.Printed{CallID: "1", Text: "FAIL\n"},
		event.Did{CallID: "1", Tool: "run_shell_command", Status: event.Completed, Took: 812 * time.Millisecond,
			Outcome: action.Ran{Script: script, Argv: []string{"/bin/bash", "-c", script}, Exit: sandbox.Exit{Code: 1}, Output: "10%\r100%\nFAIL\n", Took: 812 * time.Millisecond, Denied: []string{"writing /mnt/x: it is outside the writable folders"}}, Remedy: "--add-dir /mnt"},
		event.Started{CallID: "2", Tool: "read_file", Title: "read habits.go", Need: action.Need{Effect: action.Reads, Paths: []string{"habits.go"}}},
		event.Did{CallID: "2", Tool: "read_file", Status: event.Completed, Outcome: action.Seen{First: 1, Last: 40, Total: 40}},
		event.Recovered{What: "arguments", Detail: "mended quotes"},
		event.Said{Message: chat.Message{Calls: []chat.Call{{ID: "3"}, {ID: "4"}, {ID: "5"}, {ID: "6"}}}},
		event.Did{CallID: "3", Tool: "update_plan", Status: event.Completed, Outcome: action.Planned{Items: []action.PlanItem{{Text: "see", Status: "completed"}, {Text: "fix", Status: "in_progress"}, {Text: "test", Status: "pending"}}}},
		event.Started{CallID: "4", Tool: "edit", Title: "edit habits.go", Need: action.Need{Effect: action.Writes, Paths: []string{"habits.go"}}},
		event.Did{CallID: "4", Tool: "edit", Status: event.Completed, Outcome: action.Changed{Files: []action.FileChange{{Path: "habits.go", Real: "/repo/habits.go", Kind: action.Modified, Diff: diff, Added: 1, Removed: 1}}}},
		event.Started{CallID: "5", Tool: "edit", Title: "edit no\u202ecod.exe", Need: action.Need{Effect: action.Writes, Paths: []string{"x"}}},
		event.Did{CallID: "5", Tool: "edit", Status: event.Failing, Error: "edit x: the text is not in the file"},
		event.Started{CallID: "6", Tool: "run_shell_command", Title: "run rm -rf /", Need: action.Need{Effect: action.Runs, Script: "rm -rf /", Argv: []string{"/bin/bash", "-c", "rm -rf /"}, Dir: "/repo/sub"}},
		event.Asked{ID: "a", CallID: "6", Title: "run rm -rf /", Why: "it can destroy files", Dir: "/repo/sub", Would: "it runs in the sandbox",
			Need: action.Need{Effect: action.Runs, Script: "rm -rf /"}, Choices: []event.Choice{{Decision: "once", Text: "yes, this time"}, {Decision: "no", Text: "no"}}},
		event.Answered{ID: "a", Decision: "no", Note: "nobody is there to ask"},
		event.Did{CallID: "6", Tool: "run_shell_command", Status: event.Declined, Error: "nobody is there to ask", By: event.ByPerson},
		event.Compacted{Before: 60000, After: 9000},
		event.Said{Message: chat.Message{Text: "Almost."}},
		event.Injected{Message: chat.Message{Text: "go on"}, Why: "nudge"},
		event.Said{Message: chat.Message{Text: "Fixed; three tests pass.\n"}, Finish: chat.Stopped},
		event.TurnEnded{Reason: event.Finished, Final: "Fixed; three tests pass.\n", Usage: usage, Recovered: map[string]int{event.CallAsText: 2, event.EarlyStop: 1}},
	}
	events := make([]event.Event, len(bodies))
	for i, b := range bodies {
		events[i] = event.Event{Seq: i, Body: b}
	}
	return events
}
