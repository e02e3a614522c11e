package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/harness/catalog"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// The acceptance tests of the recovery rules, in their order. The prefix law is checked at the end of each: see
// world.consistent.

func TestAcceptance1FourIdenticalReads(t *testing.T) {
	again := read("a")
	w := start(t, script(again, again, again, again, again, again, "say I am stuck."))
	w.file("a", "text\n")
	ended := w.prompt("go")
	words := w.words()
	if len(words) != 6 || words[2] != wordsPointer || words[3] != wordsRefused || ended.Final != "I am stuck." || ended.Reason != event.Limited {
		t.Errorf("got %q, %+v", words, ended)
	}
	if ended.Recovered[event.Repetition] != 4 {
		t.Errorf("counted %v", ended.Recovered)
	}
}

func TestAcceptance2FailingTestRun(t *testing.T) {
	test := run("go-test-stand-in 2>/dev/null; echo '--- FAIL: TestX (0.01s)'; test -e fixed")
	w := start(t, script(test, test, test, edit("state", "red", "green"), test, "say ok"))
	w.file("state", "red")
	w.prompt("go")
	words := w.words()
	if !strings.HasSuffix(words[1], wordsFailing) || !strings.HasPrefix(words[2], "not run") || !strings.HasPrefix(words[4], "exit code 1") || len(w.box.Commands()) != 3 {
		t.Errorf("%d runs, %q", len(w.box.Commands()), words)
	}
}

func TestAcceptance3EmptyAnswersThenACall(t *testing.T) {
	w := start(t, script("tokens 5 9", "tokens 5 9", read("a"), "say done"))
	w.file("a", "text\n")
	ended := w.prompt("go")
	if ended.Final != "done" || len(bodies[event.Said](w.log)) != 2 || len(bodies[event.Injected](w.log)) != 0 {
		t.Errorf("got %+v, %+v", ended, bodies[event.Said](w.log))
	}
	if got := bodies[event.Recovered](w.log); len(got) != 1 || got[0] != (event.Recovered{What: event.EmptyAnswer, Detail: "asked again 2 times", Times: 2}) || ended.Recovered[event.EmptyAnswer] != 2 {
		t.Errorf("told %+v, counted %v", got, ended.Recovered)
	}
}

func TestAcceptance4EarlyStops(t *testing.T) {
	w := start(t, script("say Now I'll run the tests.", run("echo passed"), "say They pass."))
	ended := w.prompt("run the tests")
	in := bodies[event.Injected](w.log)
	if ended.Final != "They pass." || len(in) != 1 || in[0].Message.Role != chat.User || ended.Recovered[event.EarlyStop] != 1 {
		t.Errorf("got %+v, %+v", ended, in)
	}
	if said := bodies[event.Said](w.log); len(said) != 3 || said[0].Message.Text != "Now I'll run the tests." {
		t.Errorf("the flawed answer is not kept: %+v", said)
	}
	for _, text := range []string{"Shall I run the tests now?", "If you want I can run the tests.", "I'll run the tests. All of them passed."} {
		w := start(t, script(read("a"), "say "+text, "say never"))
		w.file("a", "text")
		if ended := w.prompt("fix it"); ended.Final != text || len(bodies[event.Injected](w.log)) > 0 {
			t.Errorf("%q: %+v", text, ended)
		}
	}
}

// Not more than one in a row, two a turn, one for large models, none while it plans.
func TestBoundsOfEarlyStops(t *testing.T) {
	stop := "say Let me look at the file:"
	w := start(t, script(stop, stop, "say never"))
	if w.prompt("fix it"); len(bodies[event.Injected](w.log)) != 1 || len(w.model.Requests()) != 2 {
		t.Errorf("%d in a row", len(bodies[event.Injected](w.log)))
	}
	for class, want := range map[Class]int{Small: 2, Medium: 2, "": 2, Large: 1} {
		w := start(t, script(stop, run("echo 1"), stop, run("echo 2"), stop, run("echo 3"), stop), func(c *Config) { c.Class = class })
		if w.prompt("fix it"); len(bodies[event.Injected](w.log)) != want {
			t.Errorf("%q: %d in a turn, want %d", class, len(bodies[event.Injected](w.log)), want)
		}
	}
}

// reading is how a harness's tool for files is called by a model that takes it for another product's.
func TestAcceptance5ReadUnderAnotherName(t *testing.T) {
	for _, h := range catalog.All() {
		if h.Text {
			continue
		}
		t.Run(h.Name, func(t *testing.T) {
			w := start(t, script(call("Read_File", map[string]any{"file": "a.go"}), "say ok"), func(c *Config) { c.Harness = h })
			w.file("a.go", "package a // the text\n")
			w.prompt("go")
			did := bodies[event.Did](w.log)[0]
			_, seen := did.Outcome.(action.Seen)
			ran, shell := did.Outcome.(action.Ran) // where nothing else reads
			if !seen && !(shell && ran.Script == "cat -- a.go") || !strings.Contains(did.Words, "the text") || did.Status != event.Completed {
				t.Errorf("got %+v", did)
			}
		})
	}
}

func TestAcceptance6EditsThatAreNearlyRight(t *testing.T) {
	const text = "\uFEFFpackage a\r\n\r\nfunc f() {\r\n\tif x {\r\n\t\tprint(\"it’s\")\r\n\t}\r\n}\u00a0// end\r\n"
	for _, c := range []struct {
		old, new, level string
		want            string // the new text of the file; "" when it must stay
		words           string
	}{
		{"3\tfunc f() {\n4\t\tif x {", "3\tfunc f() {\n4\t\tif y {", "E2", strings.Replace(text, "if x", "if y", 1), ""},
		{"    if x {\n        print(\"it’s\")\n    }", "    if y {\n        print(\"it’s\")\n    }", "E6", strings.Replace(text, "if x", "if y", 1), ""},
		{"print(\"it's\")", "print(\"is\")", "E4", strings.Replace(text, "it’s", "is", 1), ""},
		{"if x {\\n\\t\\tprint", "if y {\\n\\t\\tprint", "E5", strings.Replace(text, "if x", "if y", 1), ""},
		{"func g() {\n\tif z {", "func f() {\n\tif x {", "", "", "already"},
		{"}", "};", "", "", "several"},
		{"func f() {\n\t// ... existing code ...\n}", "func f() {}", "", "", "leaves out"},
	} {
		w := start(t, script(edit("a.go", c.old, c.new), "say ok"))
		w.file("a.go", text)
		ended := w.prompt("go")
		got, err := os.ReadFile(filepath.Join(w.dir, "a.go"))
		if err != nil {
			t.Fatal(err)
		}
		want := c.want
		if want == "" {
			want = text
		}
		did := bodies[event.Did](w.log)[0]
		changed, _ := did.Outcome.(action.Changed)
		if string(got) != want || changed.Level != c.level && !changed.Same {
			t.Errorf("%q: level %q, words %q\nfile %q", c.old, changed.Level, did.Words, got)
		}
		if c.words != "" && !strings.Contains(did.Words+did.Error, c.words) && !changed.Same {
			t.Errorf("%q: says %q", c.old, did.Words)
		}
		if loose := ended.Recovered[event.LooseEdit]; (loose == 1) != (c.level > "E1") {
			t.Errorf("%q: counted %v", c.old, ended.Recovered)
		}
	}
}

func TestAcceptance7TwoMegabytes(t *testing.T) {
	w := start(t, script(run("head -c 1000000 /dev/zero | tr '\\0' x | fold -w 99; echo main.go:7:2: undefined: y; head -c 1000000 /dev/zero | tr '\\0' z | fold -w 99; echo the end"), "say ok", "say again"), window(32768))
	w.prompt("go")
	w.prompt("more")
	words := w.words()[0]
	if len(words) > 8000 || len(words) < leastResult {
		t.Errorf("%d bytes", len(words))
	}
	for _, want := range []string{"main.go:7:2: undefined: y", "left out", "the end", "xxx"} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in %.300q … %.300q", want, words, words[len(words)-300:])
		}
	}
	for _, r := range w.model.Requests()[1:] {
		if i := slices.IndexFunc(r.Messages, func(m chat.Message) bool { return m.Result != nil }); r.Messages[i].Result.Text != words {
			t.Error("the result is another one now")
		}
	}
}

// cutting is a server that reads no more than so many tokens of a prompt, and says nothing.
type cutting struct {
	chat.Model
	window int
}

func (m cutting) Stream(ctx context.Context, r chat.Request) iter.Seq2[chat.Delta, error] {
	return func(yield func(chat.Delta, error) bool) {
		for d, err := range m.Model.Stream(ctx, r) {
			if d.Usage != nil {
				u := *d.Usage
				u.Input = min(u.Input, m.window)
				d.Usage = &u
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

func TestAcceptance8SilentCut(t *testing.T) {
	for _, most := range []int{4096, 3900} {
		w := start(t, script("say one", "say two"), window(65536), func(c *Config) { c.Model = cutting{c.Model, most} })
		w.prompt(wordsOf(3000))
		err := w.Prompt(context.Background(), chat.Message{Text: wordsOf(3000)})
		ended := w.ended()
		if err == nil || !strings.Contains(ended.Error, "cuts the prompt") || !strings.Contains(ended.Error, fmt.Sprint(most)) || !strings.Contains(ended.Error, "m") || ended.Remedy == "" {
			t.Errorf("%d: got %+v", most, ended)
		}
	}
	// with room to work in, the session goes on below what is read
	w := start(t, script("say one", "say two", "say The summary.", "say three"), window(65536), func(c *Config) { c.Model = cutting{c.Model, 14000} })
	w.prompt(wordsOf(12000))
	w.prompt(wordsOf(12000))
	warned := bodies[event.Warned](w.log)
	if len(warned) != 1 || !strings.Contains(warned[0].Text, "it read 14000") {
		t.Errorf("got %+v", warned)
	}
	if w.prompt("next"); len(bodies[event.Compacted](w.log)) != 1 {
		t.Error("the conversation was not kept below that")
	}
}

// A server that counts otherwise than we do is no reason to warn.
func TestOtherCountsAreNoCut(t *testing.T) {
	for name, count := range map[string]func(sent int) int{
		"fewer": func(n int) int { return n * 75 / 100 }, "more": func(n int) int { return n * 14 / 10 }, "none": func(int) int { return 0 },
	} {
		var g gauge
		for sent := 2000; sent < 30000; sent += 700 {
			if g.cut(sent, count(sent), 32768) {
				t.Errorf("%s: a cut at %d", name, sent)
			}
		}
	}
	var round gauge // a conversation that passes through 2048 and 4096 tokens
	for _, c := range [][2]int{{1990, 1632}, {2497, 2046}, {3100, 2540}, {4990, 4096}} {
		if round.cut(c[0], c[1], 32768) {
			t.Errorf("%d of %d is taken for cut", c[1], c[0])
		}
	}
	if !round.cut(6200, 4096, 32768) {
		t.Error("a real cut at 4096 goes unseen")
	}
	var g gauge // only what is not cached is counted
	for i, c := range [][2]int{{5000, 4400}, {5500, 470}, {6100, 560}, {6500, 380}, {9000, 2400}} {
		if g.cut(c[0], c[1], 32768) {
			t.Errorf("request %d is taken for cut", i)
		}
	}
}

func TestAcceptance8OverflowIsOvercome(t *testing.T) {
	w := start(t, script("say one", "say Short.", "say two"), window(65536), func(c *Config) { c.Model = refusing{Model: c.Model, limit: 3000} })
	w.prompt(wordsOf(600))
	ended := w.prompt(wordsOf(400))
	if ended.Final != "two" || len(bodies[event.Compacted](w.log)) != 1 || ended.Recovered[event.FullWindow] != 1 {
		t.Errorf("got %+v", ended)
	}
}

// stubborn is a server that refuses some requests of the conversation, by their numbers, whatever their size.
type stubborn struct {
	chat.Model
	refused []int
	n       *int
}

func (m stubborn) Stream(ctx context.Context, r chat.Request) iter.Seq2[chat.Delta, error] {
	if r.Messages[len(r.Messages)-1].Text == "Sum up the conversation." {
		return m.Model.Stream(ctx, r)
	}
	if *m.n++; !slices.Contains(m.refused, *m.n) {
		return m.Model.Stream(ctx, r)
	}
	return func(yield func(chat.Delta, error) bool) {
		yield(chat.Delta{}, &chat.Error{Kind: chat.Overflow, Model: "m"})
	}
}

// Where one compaction is not enough, less and less is kept, and no model is needed for that.
func TestOverflowShrinks(t *testing.T) {
	for _, c := range []struct {
		refused     []int
		compactions int
		final       string
	}{{[]int{3}, 1, "two"}, {[]int{3, 4}, 2, "two"}, {[]int{3, 4, 5}, 3, "two"}, {[]int{3, 4, 5, 6}, 3, ""}} {
		w := start(t, script(run("echo no such thing; exit 4"), "say one", "say The summary "+wordsOf(300), "say two"), window(65536), func(cfg *Config) {
			cfg.Model = stubborn{cfg.Model, c.refused, new(int)}
		})
		w.prompt(wordsOf(3000))
		err := w.Prompt(context.Background(), chat.Message{Text: "the second " + wordsOf(500)})
		compacted := bodies[event.Compacted](w.log)
		if (err == nil) != (c.final != "") || w.ended().Final != c.final || len(compacted) != c.compactions {
			t.Errorf("refused %v: %v, %q, %d compactions", c.refused, err, w.ended().Final, len(compacted))
		}
		for i := 1; i < len(compacted); i++ {
			last := compacted[i].Messages[len(compacted[i].Messages)-1].Text
			if compacted[i].After >= compacted[i-1].After || !strings.Contains(last, "no such thing") {
				t.Errorf("compaction %d: %d tokens were %d: %.200q", i, compacted[i].After, compacted[i-1].After, last)
			}
		}
	}
}

// strict is a server that never recovers from arguments in the history that are no JSON.
type strict struct{ chat.Model }

func (m strict) Stream(ctx context.Context, r chat.Request) iter.Seq2[chat.Delta, error] {
	for _, msg := range r.Messages {
		for _, c := range msg.Calls {
			var object map[string]any
			if json.Unmarshal(c.Args, &object) != nil || object == nil {
				return func(yield func(chat.Delta, error) bool) {
					yield(chat.Delta{}, &chat.Error{Kind: chat.Server, Status: 500, Detail: "failed to parse arguments"})
				}
			}
		}
	}
	return m.Model.Stream(ctx, r)
}

func TestAcceptance9InvalidArgumentsNeverReachTheServer(t *testing.T) {
	w := start(t, script("miscall read {\"path\": \"a", "miscall read [1]", "miscall read", "miscall run {'command': oops", read("a"), "say ok"), func(c *Config) { c.Model = strict{c.Model} })
	w.file("a", "text")
	if ended := w.prompt("go"); ended.Final != "ok" {
		t.Errorf("got %+v", ended)
	}
}

// breaking is a server whose stream ends after a call has come whole and before the answer has.
type breaking struct{ chat.Model }

func (m breaking) Stream(context.Context, chat.Request) iter.Seq2[chat.Delta, error] {
	return func(yield func(chat.Delta, error) bool) {
		args := json.RawMessage(`{"path":"f","content":"half"}`)
		_ = yield(chat.Delta{Call: &chat.Call{Name: "write", Args: args}}, nil) &&
			yield(chat.Delta{}, &chat.Error{Kind: chat.Broken, Detail: "the connection ended before the answer did"})
	}
}

func TestAcceptance10CutInsideAWrite(t *testing.T) {
	nothing := func(w *world) {
		t.Helper()
		if _, err := os.Stat(filepath.Join(w.dir, "f")); !errors.Is(err, os.ErrNotExist) {
			t.Error("it was written")
		}
	}
	w := start(t, script("say never"), func(c *Config) { c.Model = breaking{c.Model} })
	if err := w.Prompt(context.Background(), chat.Message{Text: "go"}); err == nil {
		t.Error("the turn did not fail")
	}
	nothing(w)
	write := call("write", map[string]any{"path": "f", "content": "half"})
	w = start(t, script(write+"\nfinish length", "say ok"))
	w.prompt("go")
	nothing(w)
	if words := w.words(); len(words) != 1 || !strings.Contains(words[0], "cut off") {
		t.Errorf("got %q", words)
	}
	w = start(t, script("raw <tool_call>\nfinish length", "say ok"))
	leak := "<tool_call>{\"name\": \"write\", \"arguments\": {\"path\": \"f\", \"content\": \"half\nfinish length"
	w = start(t, script("raw "+leak, "say ok"))
	w.prompt("go")
	nothing(w)
}

func TestEndlessAnswers(t *testing.T) {
	chant := "say " + strings.Repeat("I will look at the file again. ", 200)
	w := start(t, script(chant, "think "+strings.Repeat("But wait. Maybe not. Let me think again about it. ", 100)+"\nsay never heard", read("a"), "say done"), func(c *Config) {
		c.Options = map[string]any{"temperature": 0.6, "seed": 7}
	})
	w.file("a", "text")
	ended := w.prompt("go")
	r := w.model.Requests()
	if ended.Final != "done" || len(r) != 4 || len(bodies[event.Said](w.log)) != 2 || ended.Recovered[event.EndlessAnswer] != 2 {
		t.Fatalf("got %+v after %d requests", ended, len(r))
	}
	for i, want := range []map[string]any{{"temperature": 0.6, "seed": 7}, {"temperature": 0.8, "seed": 8}, {"temperature": 1.0, "seed": 9}, {"temperature": 0.6, "seed": 7}} {
		if got := r[i].Options; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("request %d has %v", i, got)
		}
	}
	if len(r[2].Messages) != len(r[0].Messages) {
		t.Error("something of it was stored")
	}
	w = start(t, script(chant, chant, chant, "say never"))
	if err := w.Prompt(context.Background(), chat.Message{Text: "go"}); err == nil || !strings.Contains(err.Error(), "repeats itself") || len(w.model.Requests()) != 3 || w.ended().Remedy == "" {
		t.Errorf("got %v after %d requests", err, len(w.model.Requests()))
	}
}

func TestEndless(t *testing.T) {
	var lines, table, code strings.Builder
	for i := range 60 {
		fmt.Fprintf(&lines, "%d. The step number %d is done and the next one follows.\n", i, i)
		fmt.Fprintf(&table, "| file%d.go | %d lines | ok | no remarks at all here |\n", i, i*7)
		code.WriteString("    0, 0, 0, 0,\n")
	}
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"a phrase":           {strings.Repeat("and then ", 100), true},
		"a letter":           {strings.Repeat("!", 600), true},
		"a paragraph":        {strings.Repeat("First I look at the parser, which reads the tokens one by one.\nThen I look at the printer.\n\n", 15), true},
		"a line":             {strings.Repeat("Done.\n", 25), true},
		"after much else":    {lines.String() + strings.Repeat("No. Yes. ", 100), true},
		"other letters":      {strings.Repeat("再检查一遍这个文件。", 60), true},
		"a list":             {lines.String(), false},
		"a table":            {table.String(), false},
		"a rule":             {"# Title\n" + strings.Repeat("=", 120) + "\ntext\n", false},
		"lines in a fence":   {"```\n" + strings.Repeat("ok\n", 30) + "```\n", false},
		"braces":             {strings.Repeat("}\n", 30), false},
		"nine times":         {strings.Repeat("First I look at the parser, which reads the tokens.\n", 9) + "Done.", false},
		"the same, far away": {strings.Repeat(lines.String()[:700]+table.String()[:800], 5), false},
	} {
		for _, size := range []int{1, 7, 64, 1 << 20} {
			var e endless
			got := false
			for text := c.text; text != "" && !got; {
				n := min(size, len(text))
				got = e.add(text[:n])
				text = text[n:]
			}
			if size == 1<<20 && !got && c.want {
				got = circles([]byte(c.text)) // one piece is looked at once, at its end
			}
			if got != c.want {
				t.Errorf("%s in pieces of %d: %v", name, size, got)
			}
		}
	}
}

func TestLongThoughts(t *testing.T) {
	long := strings.ReplaceAll(strings.TrimSpace(wordsOf(3000)), "\n", " ")
	w := start(t, script("think "+long+"\nsay never heard", read("a"), "say done"), func(c *Config) { c.Class = Medium })
	w.file("a", "text")
	ended := w.prompt("go")
	in := bodies[event.Injected](w.log)
	if ended.Final != "done" || len(in) != 1 || in[0].Message.Text != wordsHurry || ended.Recovered[event.LongThoughts] != 1 || len(bodies[event.Said](w.log)) != 2 {
		t.Errorf("got %+v, %+v", ended, in)
	}
	for name, change := range map[string]func(*Config){
		"large":     func(c *Config) { c.Class = Large },
		"unknown":   func(*Config) {},
		"effort":    func(c *Config) { c.Class, c.Effort = Medium, "high" },
		"asked for": func(c *Config) { c.Class, c.Thoughts = Small, -1 },
	} {
		w := start(t, script("think "+long+"\nsay done"), change)
		if ended := w.prompt("go"); ended.Final != "done" {
			t.Errorf("%s: %+v", name, ended)
		}
	}
}

// Thoughts that the length limit cut off are thoughts without end.
func TestLengthInsideThoughts(t *testing.T) {
	w := start(t, script("think hm\nfinish length", "say done"))
	ended := w.prompt("go")
	if in := bodies[event.Injected](w.log); ended.Final != "done" || len(in) != 1 || in[0].Message.Text != wordsHurry {
		t.Errorf("got %+v, %+v", ended, in)
	}
}

func TestSameThoughtsAreRemarked(t *testing.T) {
	think := "think I should look at the file once more.\n"
	w := start(t, script(think+read("a"), think+read("b"), think+read("c"), "say done"))
	w.file("a", "1")
	w.file("b", "2")
	w.file("c", "3")
	w.prompt("go")
	for i, words := range w.words() {
		if strings.HasSuffix(words, wordsThoughts) != (i == 2) {
			t.Errorf("result %d: %q", i, words)
		}
	}
}

func TestThinkingOnly(t *testing.T) {
	w := start(t, script("think a", "think b", "think c", "say done"))
	ended := w.prompt("go")
	r := w.model.Requests()
	if ended.Final != "done" || len(r) != 4 || r[2].Effort != "" || r[3].Effort != "none" {
		t.Fatalf("got %+v after %d requests", ended, len(r))
	}
	if in := bodies[event.Injected](w.log); len(in) != 1 || in[0].Message.Text != wordsEmpty {
		t.Errorf("got %+v", in)
	}
}

func TestSilentServer(t *testing.T) {
	w := start(t, script("tokens 50 1", "tokens 50 1", "tokens 50 1", "tokens 50 1", "say never"))
	err := w.Prompt(context.Background(), chat.Message{Text: "go"})
	warned := bodies[event.Warned](w.log)
	if err == nil || len(warned) != 1 || !strings.Contains(warned[0].Text, "first token") || !strings.Contains(warned[0].Remedy, "template") || !strings.Contains(w.ended().Remedy, "stop words") {
		t.Errorf("got %v, %+v, %q", err, warned, w.ended().Remedy)
	}
	for _, text := range []string{"<|im_end|>", "</s>", "<|endoftext|><|im_end|>", "  <end_of_turn>", "<｜end▁of▁sentence｜>"} {
		w = start(t, script("raw "+text, "say done"))
		if ended := w.prompt("go"); ended.Final != "done" {
			t.Errorf("%q is an answer: %+v", text, ended)
		}
	}
	if blank("a <|im_end|>") || blank("</s>x") || !blank("") {
		t.Error("text was taken for nothing, or nothing for text")
	}
}

func TestGarbage(t *testing.T) {
	w := start(t, script("raw "+strings.Repeat("\uFFFDa", 40), "say done"))
	if ended := w.prompt("go"); ended.Final != "done" || len(bodies[event.Said](w.log)) != 1 {
		t.Errorf("got %+v", ended)
	}
	if r := w.model.Requests(); len(r) != 2 || r[1].Options["temperature"].(float64) > 0.55 {
		t.Errorf("asked again with %v", r[len(r)-1].Options)
	}
}

// A server whose parser stumbles is asked with another seed, then for less.
func TestServerCannotReadTheCall(t *testing.T) {
	bad := "error failed to parse tool call arguments: unexpected end of input"
	w := start(t, script(bad, bad, bad, "say ok"))
	ended := w.prompt("go")
	in := bodies[event.Injected](w.log)
	if ended.Final != "ok" || len(in) != 1 || in[0].Message.Text != wordsShorter || ended.Recovered[event.UnreadableCall] != 3 {
		t.Errorf("got %+v, %+v", ended, in)
	}
	if r := w.model.Requests(); r[1].Options["seed"] != 1 || r[2].Options["seed"] != 2 {
		t.Errorf("seeds %v, %v", r[1].Options, r[2].Options)
	}
	w = start(t, script(bad, bad, bad, bad, "say never"))
	if err := w.Prompt(context.Background(), chat.Message{Text: "go"}); err == nil || len(w.model.Requests()) != 4 {
		t.Errorf("%v after %d requests", err, len(w.model.Requests()))
	}
}

func TestFinishIsNoTool(t *testing.T) {
	w := start(t, script("say Nearly.\n"+run("echo 1")+"\n"+call("attempt_completion", map[string]any{"result": "All done."})+"\n"+run("echo 2"), "say never"))
	ended := w.prompt("go")
	dids := bodies[event.Did](w.log)
	if ended.Final != "All done." || ended.Reason != event.Finished || len(w.box.Commands()) != 1 || len(dids) != 3 || dids[2].Words != wordsOver {
		t.Errorf("got %+v, %+v", ended, dids)
	}
	if ended.Recovered[event.FinishCalled] != 1 {
		t.Errorf("counted %v", ended.Recovered)
	}
	w = start(t, script(call("finish", map[string]any{"message": `{"n":4}`}), "say never"), func(c *Config) { c.Schema = json.RawMessage(`{"type":"object","required":["n"]}`) })
	if ended := w.prompt("go"); ended.Final != `{"n":4}` {
		t.Errorf("got %+v", ended)
	}
	w = start(t, script("say It is done.\n"+call("done", map[string]any{}), "say never"))
	if ended := w.prompt("go"); ended.Final != "It is done." {
		t.Errorf("got %+v", ended)
	}
}

// ending adds a tool to the plain harness whose step ends the turn.
func ending(c *Config) {
	c.Harness.Prose.(fstest.MapFS)["submit.md"] = &fstest.MapFile{Data: []byte("Submits.")}
	c.Harness.Tools = append(slices.Clone(c.Harness.Tools), harness.Choice("submit", func(p runParams) (harness.Step, error) {
		step := harness.Do(action.Run{Script: p.Command}, func(r action.Ran) string { return r.Output })
		return step.Ending(func(o action.Outcome) (string, bool) {
			ran, ok := o.(action.Ran)
			return strings.TrimSpace(ran.Output), ok && ran.Exit.Code == 0
		}), nil
	}))
}

func TestAStepEndsTheTurn(t *testing.T) {
	submit := func(command string) string { return call("submit", map[string]any{"command": command}) }
	w := start(t, script(submit("exit 3"), "say Now.\n"+submit("echo the diff")+"\n"+run("echo 2"), "say never"), ending)
	ended := w.prompt("go")
	dids := bodies[event.Did](w.log)
	if ended.Final != "the diff" || ended.Reason != event.Finished || len(w.box.Commands()) != 2 || dids[2].Words != wordsOver || dids[2].Status != event.Declined {
		t.Errorf("got %+v, %+v", ended, dids)
	}
	w = start(t, script(submit("true"), "say The next turn."), ending) // no last word: the answer's own
	w.prompt("go")
	if ended := w.prompt("more"); ended.Final != "The next turn." {
		t.Errorf("got %+v", ended)
	}
	w = start(t, script(submit("echo no JSON"), submit("echo '{\"n\":1}'"), "say never"), ending, func(c *Config) { c.Schema = json.RawMessage(`{"type":"object"}`) })
	if ended := w.prompt("go"); ended.Final != `{"n":1}` || ended.Recovered[event.OtherShape] != 1 {
		t.Errorf("got %+v", ended)
	}
}

// A harness whose calls are text: all of it travels as text, and calls that are cut or cannot be read are sent back.
func spokenHarness(c *Config) {
	h := plain()
	h.Name, h.Text, h.Tries = "spoken", true, 3
	h.Decode = func(a harness.Answer) (harness.Reading, error) {
		m := a.Message
		command, ok := strings.CutPrefix(m.Text, "RUN ")
		if !ok {
			return harness.Reading{Message: m}, &harness.RefusedError{Words: "Write RUN and a command."}
		}
		args, err := json.Marshal(runParams{Command: command})
		m.Written, m.Text, m.Calls = m.Text, "", []chat.Call{{Name: "run", Args: args}}
		return harness.Reading{Message: m}, err
	}
	h.Nudge = func(harness.Pause) string { return "" }
	c.Harness = h
}

func TestTextHarness(t *testing.T) {
	w := start(t, script("raw RUN echo one", "raw hello", "raw RUN echo two\nfinish length", "raw RUN echo three", "raw no", "raw no", "raw no", "raw no", "say never"), spokenHarness)
	err := w.Prompt(context.Background(), chat.Message{Text: "go"})
	if err == nil || !strings.Contains(err.Error(), "m does not keep to the form of the harness spoken") || w.ended().Remedy == "" || len(w.model.Requests()) != 8 {
		t.Fatalf("got %v after %d requests", err, len(w.model.Requests()))
	}
	if got := w.box.Commands(); len(got) != 2 {
		t.Errorf("%d commands ran", len(got))
	}
	last := w.model.Requests()[7]
	roles := ""
	for _, m := range last.Messages {
		roles += string(m.Role[0])
		if len(m.Calls) > 0 || m.Result != nil {
			t.Errorf("a call travels as one: %+v", m)
		}
	}
	if roles != "suauauauauauauau"[:len(roles)] || !strings.Contains(last.Messages[3].Text, "one") || last.Messages[2].Text != "RUN echo one" {
		t.Errorf("got %s, %+v", roles, last.Messages)
	}
	if in := bodies[event.Injected](w.log); in[0].Message.Text != "Write RUN and a command." {
		t.Errorf("got %+v", in)
	}
	if recovered := bodies[event.Recovered](w.log); slices.ContainsFunc(recovered, func(r event.Recovered) bool { return r.What == event.CallAsText }) {
		t.Errorf("a call as text is no slip here: %+v", recovered)
	}
}

func TestCallsAsTextOverAndOver(t *testing.T) {
	leak := func(path string) string {
		return "raw <<END\n<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"" + path + "\"}}\n</tool_call>\nEND"
	}
	w := start(t, script(leak("a"), leak("b"), leak("c"), leak("d"), "say done"))
	for _, name := range []string{"a", "b", "c", "d"} {
		w.file(name, name)
	}
	from := w.Events(context.Background(), 0)
	ended := w.prompt("go")
	if ended.Final != "done" || ended.Recovered[event.CallAsText] != 4 || len(w.forms) != 4 {
		t.Errorf("got %+v, forms %v", ended, w.forms)
	}
	if warned := bodies[event.Warned](w.log); len(warned) != 1 || !strings.Contains(warned[0].Text, "does not read the tool calls of m") {
		t.Errorf("got %+v", warned)
	}
	w.Close()
	for e := range from {
		if h, ok := e.Body.(event.Heard); ok && strings.Contains(h.Text, "tool_call") {
			t.Errorf("people were shown %q", h.Text)
		}
	}
}

// A call in whose values something had to be mended is shown to a person who is there, if it changes anything.
func TestMendedCallsAreAskedFor(t *testing.T) {
	mending := func(c *Config) {
		c.Harness.Decode = func(a harness.Answer) (harness.Reading, error) {
			m := a.Message
			name, path, ok := strings.Cut(m.Text, " ")
			if !ok || name != "write" && name != "read" {
				return harness.Reading{Message: m}, nil
			}
			args, err := json.Marshal(writeParams{path, "x"})
			m.Text, m.Calls = "", []chat.Call{{ID: "one", Name: name, Args: args}}
			return harness.Reading{Message: m, Mended: []string{"one"}}, err
		}
	}
	w := start(t, script("raw write f", "raw write g", "raw read f", "say done"), mending, func(c *Config) { c.Interactive, c.Env.Interactive = true, true })
	w.answering("once", "no")
	w.prompt("go")
	if asked := bodies[event.Asked](w.log); len(asked) != 2 || !strings.Contains(asked[0].Why, "damaged") {
		t.Errorf("asked %+v", asked)
	}
	if dids := bodies[event.Did](w.log); dids[0].Status != event.Completed || dids[1].Status != event.Declined || dids[2].Status != event.Completed {
		t.Errorf("got %+v", dids)
	}
	w = start(t, script("raw write f", "say done"), mending)
	if w.prompt("go"); len(bodies[event.Asked](w.log)) > 0 || bodies[event.Did](w.log)[0].Status != event.Completed {
		t.Errorf("with nobody there the usual rules hold: %+v", bodies[event.Did](w.log))
	}
}
