package terminus2

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"interpreter/harness"
	"interpreter/harness/harnesstest"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
	"interpreter/sandbox/sandboxtest"
)

func TestHarness(t *testing.T) { harnesstest.Run(t, Harness) }

func TestSize(t *testing.T) { harnesstest.Fits(t, Harness, 6000) }

func answer(text string) harness.Answer {
	return harness.Answer{Message: chat.Message{Role: chat.Assistant, Text: text}, Finish: chat.Stopped}
}

// keys is what a reply types: each stroke with its seconds, then done, then how many warnings there are.
func keys(t *testing.T, text string) string {
	t.Helper()
	read, err := Harness.Read(answer(text))
	if err != nil {
		if len(read.Message.Calls) > 0 {
			t.Errorf("%q has calls and an error", text)
		}
		return strings.TrimPrefix(err.Error(), "read a reply: ")
	}
	if len(read.Message.Calls) != 1 {
		return "nothing"
	}
	var p params
	if err := json.Unmarshal(read.Message.Calls[0].Args, &p); err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, s := range p.Commands {
		out += fmt.Sprintf("%q %g ", s.Keys, s.Duration)
	}
	if p.Complete {
		out += "done "
	}
	if read.Message.Written != text {
		t.Errorf("%q is written as %q", text, read.Message.Written)
	}
	return out + fmt.Sprint(len(p.Warnings))
}

func TestReplies(t *testing.T) {
	object := func(commands, more string) string {
		return `{"analysis":"a {\"b\": \"}\"}","plan":"p","commands":` + commands + more + `}`
	}
	for text, want := range map[string]string{
		object(`[{"keystrokes":"ls\n","duration":0.1}]`, ``): `"ls\n" 0.1 0`,
		object(`[]`, ``): `0`,
		object(`[{"keystrokes":"","duration":10}]`, `,"task_complete":false`):                        `"" 10 0`,
		object(`[{"keystrokes":"a\n","duration":"2"},{"keystrokes":"b\n","duration":-1}]`, ``):       `"a\n" 2 "b\n" 1 1`,
		object(`[{"keystrokes":"C-c","duration":0},{"keystrokes":"q","duration":0}]`, ``):            `"C-c" 0 "q" 0 0`,
		object(`[{"keystrokes":":wq","duration":0},{"keystrokes":"Enter","duration":0}]`, ``):        `":wq" 0 "Enter" 0 0`,
		object(`[{"keystrokes":"printf 'a\\n'","duration":1}]`, ``):                                  `"printf 'a\\n'" 1 0`,
		object(`[{"keystrokes":"grep '</think>' a\n","duration":1}]`, ``):                            `"grep '</think>' a\n" 1 0`,
		object(`[{"keystrokes":"echo <tool_call> <response>\n","duration":1}]`, ``):                  `"echo <tool_call> <response>\n" 1 0`,
		object(`[{"keystrokes":7}]`, ``):                                                             "the keystrokes of command 1 are no string",
		object(`[{"keystrokes":null}]`, ``):                                                          "the keystrokes of command 1 are no string",
		object(`["ls\n"]`, ``):                                                                       "command 1 is no object",
		object(`null`, ``):                                                                           "commands is no list",
		object(`[]`, `,"task_complete":true`):                                                        "done 0",
		object(`[]`, `,"task_complete":"Yes"`):                                                       "done 0",
		object(`[]`, `,"task_complete":1`):                                                           "done 0",
		object(`[]`, `,"task_complete":"maybe"`):                                                     "1",
		object(`"x"`, `,"task_complete":true`):                                                       "done 1",
		`{"analysis":"a","plan":"p","task_complete":true}`:                                           "done 1",
		`{"analysis":"a","plan":"p"}`:                                                                "required fields are missing: commands",
		`{"commands":[],"task_complete":true}`:                                                       "required fields are missing: analysis, plan",
		`{"plan":"p","analysis":"a","commands":[]}`:                                                  "1",
		`{"analysis":["a"],"plan":"p","commands":[]}`:                                                "1",
		`{"task_complete":false,"analysis":"a","plan":"p","commands":[]}`:                            "0",
		"<think>{\"analysis\":1}</think>\n" + object(`[]`, ``):                                       "0",
		"```json\n" + object(`[{"keystrokes":"x\n","duration":1}]`, ``) + "\n```":                    `"x\n" 1 2`,
		object(`[{"keystrokes":"x\n","duration":1}]`, ``) + object(`[]`, ``):                         `"x\n" 1 1`,
		`{"analysis":"a","plan":"p","commands":[{"keystrokes":"x\n","duration":1}`:                   `"x\n" 1 1`,
		"{\"analysis\":\"a\",\"plan\":\"p\",\"commands\":[{\"keystrokes\":\"x\n\",\"duration\":1}]}": `"x\n" 1 1`,
		`[{"keystrokes":"x\n","duration":1}]`:                                                        "required fields are missing: analysis, plan, commands",
		`Done.`:                                                                                      "there is no JSON object in it",
		``:                                                                                           "nothing",
		`<response><analysis>a</analysis><plan>p</plan><commands><keystrokes duration="0.5">ls
</keystrokes><keystrokes duration='2'/></commands></response>`: `"ls\n" 0.5 "" 2 0`,
		`<response><analysis>a</analysis><plan>p</plan><commands><keystrokes>a</keystrokes><keystrokes duration="x">b</keystrokes></commands>`: `"a" 1 "b" 1 4`,
		`<response><analysis>a</analysis><plan>p</plan><commands/></response>`:                                                                 "1",
		`<response><analysis>a</analysis><plan>p</plan><commands></commands><task_complete>true</task_complete></response>`:                    "done 0",
		`<response><analysis>a</analysis><plan>p</plan><task_complete>true</task_complete></response>`:                                         "done 0",
		`<response><plan>p</plan><analysis>a</analysis><commands/></response><response></response> x`:                                          "3",
		`<response><commands><keystrokes duration="1">a`:                                                                                       "keystrokes 1 have no end",
		`<response><commands/><analysis>a</analysis></response>`:                                                                               "3",
	} {
		if got := keys(t, text); got != want {
			t.Errorf("%s\nis   %s\nwant %s", text, got, want)
		}
	}
}

func TestCutReplies(t *testing.T) {
	a := answer(`<response><analysis>a</analysis><plan>p</plan><commands><keystrokes duration="1">ls</keystrokes></commands><task_`)
	a.Finish = chat.CutShort
	read, err := Harness.Read(a)
	if err != nil || !read.Whole || len(read.Message.Calls) != 1 || !strings.HasSuffix(read.Message.Written, "</commands>") {
		t.Errorf("%+v, %v", read, err)
	}
	for _, text := range []string{`<response><commands><keystrokes>ls`, `{"analysis":"a","plan":"p","commands":[]}`, "Well"} {
		a := answer(text)
		a.Finish = chat.CutShort
		if read, err := Harness.Read(a); !errors.Is(err, errLimit) || len(read.Message.Calls) > 0 {
			t.Errorf("%q: %+v, %v", text, read, err)
		}
	}
}

func TestTyping(t *testing.T) {
	strokes, late := typing([]stroke{{"a", 60}, {"b", 300}, {"c", 59}, {"d", 5}, {"e", 1}})
	var got []time.Duration
	for _, s := range strokes {
		got = append(got, s.Wait)
	}
	if want := fmt.Sprint([]time.Duration{time.Minute, time.Minute, 59 * time.Second, time.Second, 0}); fmt.Sprint(got) != want || late == nil || late.keys != "d" {
		t.Errorf("%v, %+v", got, late)
	}
}

// perform is a reply as the agent carries it out, and what the model reads of it.
func perform(t *testing.T, w *action.Workspace, n int, text string) (words string, ended bool) {
	t.Helper()
	read, err := Harness.Read(answer(text))
	if err != nil {
		return Harness.Say("", err), false
	}
	step, err := Harness.Step(read.Message.Calls[0])
	if err != nil {
		return Harness.Say("terminal", err), false
	}
	facts, words, err := step.Run(action.WithAnswer(context.Background(), n), w)
	if err != nil {
		return Harness.Say(step.Tool, err), false
	}
	if step.Ends != nil {
		_, ended = step.Ends(facts)
	}
	return words, ended
}

// A real terminal: a program that asks, an editor of the screen, the end said twice in a row.
func TestSession(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no terminals")
	}
	policy := sandboxtest.Writable(t, t.TempDir())
	w := &action.Workspace{Dir: policy.Dir, Box: sandboxtest.New(t, policy), Env: sandboxtest.Environ(), Shell: "/bin/sh", Spill: t.TempDir()}
	t.Cleanup(func() { _ = w.Close() })
	n := 0
	say := func(commands string, complete bool) (string, bool) {
		n++
		return perform(t, w, n, fmt.Sprintf(`{"analysis":"a","plan":"p","commands":[%s],"task_complete":%v}`, commands, complete))
	}
	wait := func(want string) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; {
			words, _ := say(`{"keystrokes":"","duration":0.1}`, false)
			if strings.Contains(words, want) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%q does not come:\n%s", want, words)
			}
		}
	}
	if words, _ := say(`{"keystrokes":"printf 'name? '; read n; echo \"hello $n\"\n","duration":0.1}`, false); !strings.HasPrefix(words, "New Terminal Output:\n\n") {
		t.Errorf("the first look is %q", words)
	}
	wait("name?")
	say(`{"keystrokes":"Ada","duration":0.1},{"keystrokes":"Enter","duration":0.1}`, false)
	wait("hello Ada")
	say(`{"keystrokes":"clear\n","duration":0.1}`, false)
	if words, _ := say(``, false); !strings.HasPrefix(words, "Current Terminal Screen:\n\n") {
		t.Errorf("nothing new is %q", words)
	}
	if words, ended := say(`{"keystrokes":"echo a''b\n","duration":0.1}`, true); ended || !strings.Contains(words, "Is it?") {
		t.Errorf("the first claim: %v, %q", ended, words)
	}
	wait("ab") // which takes it back
	if _, ended := say(``, true); ended {
		t.Error("a claim after other work ends the turn")
	}
	if words, ended := perform(t, w, n+1, "hm"); ended || !strings.Contains(words, "no JSON object") {
		t.Errorf("prose: %v, %q", ended, words)
	}
	n++
	if _, ended := say(``, true); ended {
		t.Error("a claim after a reply that could not be read ends the turn")
	}
	if words, ended := say(`{"keystrokes":"echo la''st\n","duration":0.1}`, true); !ended || !strings.Contains(words, "twice") {
		t.Errorf("the second claim: %v, %q", ended, words)
	}
}

// The first message holds everything, and a person's own instructions; there is no system message.
func TestFirstMessage(t *testing.T) {
	env := harnesstest.Full()
	opening, tools, err := Harness.Begin(env)
	if err != nil {
		t.Fatal(err)
	}
	req := Harness.Request(env, opening, tools, []chat.Message{{Role: chat.User, Text: Harness.Wrap(env, harness.Turn{Number: 1}, "Do it.")}}, 0)
	if len(req.Messages) != 1 || req.Messages[0].Role != chat.User || len(req.Tools) != 0 || opening[0].Role != chat.System {
		t.Fatalf("%+v", req)
	}
	at := 0
	for _, part := range []string{"by typing into a terminal", "Answer in English.", `"analysis"`, "task_complete to true", "Run `go test", "## Task\n\nDo it."} {
		next := strings.Index(req.Messages[0].Text[at:], part)
		if next < 0 {
			t.Fatalf("%q is not behind the others in\n%s", part, req.Messages[0].Text)
		}
		at += next
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range []string{`{"analysis":"a","plan":"p","commands":[{"keystrokes":"ls\n","duration":1}]}`, `x {"a":{}} {"plan": [`, `<response><commands><keystrokes duration="1">a</keystrokes></commands>`} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, short bool) {
		a := answer(text)
		if short {
			a.Finish = chat.CutShort
		}
		read, err := Harness.Read(a)
		if n := len(read.Message.Calls); n > 1 || err != nil && n > 0 {
			t.Errorf("%q: %d calls, %v", text, n, err)
		}
		for _, c := range read.Message.Calls {
			if _, err := Harness.Step(c); err != nil || !strings.HasPrefix(text, read.Message.Written) {
				t.Errorf("%q: %s, %v, written %q", text, c.Args, err, read.Message.Written)
			}
		}
	})
}

// BenchmarkDecode is linear: a text twice as long takes twice as long.
func BenchmarkDecode(b *testing.B) {
	for _, unit := range []string{`{"a":`, `{"plan":"x"} `, `<keystrokes>a`, `<commands>`} {
		for _, n := range []int{1 << 12, 1 << 15} {
			text := strings.Repeat(unit, n)
			b.Run(fmt.Sprintf("%q/%d", unit, len(text)), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					_, _ = Harness.Read(answer(text))
				}
			})
		}
	}
}
