package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interpreter/agent/event"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

func window(tokens int) func(*Config) { return func(c *Config) { c.Window = tokens } }

func TestCompactionKeepsWordsAndGoesOn(t *testing.T) {
	w := start(t, script(read("big"), edit("state", "a", "b")+"\ntokens 7000 10", "say The summary.", "say done", "say more"), window(8192))
	w.file("big", strings.Repeat("some text of a file\n", 400))
	w.file("state", "a")
	ended := w.prompt("keep this word")
	if ended.Final != "done" {
		t.Fatalf("got %+v", ended)
	}
	r := w.model.Requests()
	ask := r[2].Messages
	if ask[len(ask)-1].Text != "Sum up the conversation." || len(r[2].Tools) != len(r[1].Tools) {
		t.Errorf("the summary is asked with %+v", ask[len(ask)-1])
	}
	checkPrefixes(t, r[:3])
	after := r[3].Messages
	if len(after) != 3 || after[1].Text != "keep this word" || !strings.Contains(after[2].Text, "The summary.") || !strings.Contains(after[2].Text, "Files changed so far: state") {
		t.Errorf("it goes on with %+v", after)
	}
	compacted := bodies[event.Compacted](w.log)
	if len(compacted) != 1 || compacted[0].After >= compacted[0].Before {
		t.Errorf("got %+v", compacted)
	}
	w.prompt("next")
	checkPrefixes(t, w.model.Requests()[3:])
	if got := bodies[event.Said](w.log); len(got) != 4 {
		t.Errorf("the summary is in the conversation: %d answers", len(got))
	}
}

// A conversation that nearly fills the window leaves no room for the instruction: the oldest is left out.
func TestSummaryRequestFitsTheWindow(t *testing.T) {
	const size8k = 8192
	w := start(t, script("say one\ntokens 8000 100", "say The summary.", "say two"), window(size8k))
	w.prompt(strings.Repeat("x ", 9000))
	if ended := w.prompt("next"); ended.Final != "two" {
		t.Fatalf("got %+v", ended)
	}
	for i, r := range w.model.Requests()[1:] {
		if size := estimate(r.Messages); size > size8k {
			t.Errorf("request %d has %d tokens", i+1, size)
		}
	}
}

// When one turn alone is too long for the request, what the person asked and the latest steps are still in it.
func TestSummaryRequestOfOneLongTurn(t *testing.T) {
	big := func(word string) string { return run("seq 1 3000; echo " + word) }
	w := start(t, script(big("first"), big("second"), big("third")+"\n"+big("fourth"), "tokens 5 1", "say The summary.", "say done"), window(8192))
	w.prompt("the task")
	r := w.model.Requests()[4] // the second try, with less
	text := fmt.Sprint(r.Messages[1].Text)
	for _, m := range r.Messages {
		if m.Result != nil {
			text += m.Result.Text
		}
	}
	if size := estimate(r.Messages) + estimateSpecs(r.Tools); size > 8192 || !strings.Contains(text, "the task") || !strings.Contains(text, "fourth") {
		t.Errorf("%d tokens: %.300q", size, text)
	}
}

func TestBigOutputLeavesRoom(t *testing.T) {
	w := start(t, script(run("head -c 120000 /dev/zero | tr '\\0' x"), "say ok"), window(8192))
	w.prompt("go")
	for i, r := range w.model.Requests() {
		if size := estimate(r.Messages) + estimateSpecs(r.Tools); size > 8192 {
			t.Errorf("request %d has %d tokens", i, size)
		}
	}
	if n := len(bodies[event.Compacted](w.log)); n > 1 {
		t.Errorf("%d compactions", n)
	}
	if len(w.words()[0]) < 1000 || !strings.Contains(w.words()[0], "left out") {
		t.Errorf("%d bytes: %.80q", len(w.words()[0]), w.words()[0])
	}
}

// refusing answers each request that has more than limit bytes of text with an overflow.
type refusing struct {
	chat.Model
	limit  int
	claims int // the window it names; 0: the limit
}

func (m refusing) Stream(ctx context.Context, r chat.Request) iter.Seq2[chat.Delta, error] {
	size := 0
	for _, msg := range r.Messages {
		size += len(msg.Text)
		if msg.Result != nil {
			size += len(msg.Result.Text)
		}
	}
	if size <= m.limit {
		return m.Model.Stream(ctx, r)
	}
	return func(yield func(chat.Delta, error) bool) {
		e := &chat.Error{Kind: chat.Overflow, Model: "m", Prompt: size, Window: m.limit}
		if m.claims > 0 {
			e.Prompt, e.Window = 0, m.claims
		}
		yield(chat.Delta{}, e)
	}
}

func TestOverflowCompactsOnce(t *testing.T) {
	w := start(t, script("say one", "say Short.", "say two"), window(0), func(c *Config) { c.Model = refusing{Model: c.Model, limit: 3000} })
	w.prompt(strings.Repeat("a ", 1200))
	if err := w.Prompt(context.Background(), chat.Message{Text: strings.Repeat("b ", 500)}); err != nil {
		t.Fatalf("%v", err)
	}
	if ended := w.ended(); ended.Final != "two" || len(bodies[event.Compacted](w.log)) != 1 {
		t.Errorf("got %+v", ended)
	}

	w = start(t, script("say never"), window(0), func(c *Config) { c.Model = refusing{Model: c.Model, limit: 300} })
	err := w.Prompt(context.Background(), chat.Message{Text: strings.Repeat("a ", 1200)})
	var overflow *chat.Error
	if !errors.As(err, &overflow) || !strings.Contains(err.Error(), fmt.Sprint(overflow.Prompt)) || !strings.Contains(err.Error(), "300") {
		t.Errorf("got %v", err)
	}
}

func TestSummaryWithoutEndIsCut(t *testing.T) {
	w := start(t, script("say one\ntokens 7000 100", "say "+strings.Repeat("word ", 20000), "say two"), window(8192))
	w.prompt("go")
	if ended := w.prompt("next"); ended.Final != "two" {
		t.Fatalf("got %+v", ended)
	}
	if got := bodies[event.Compacted](w.log); len(got) != 1 || got[0].After > 8192/2 {
		t.Errorf("%d compactions, %d tokens after", len(got), got[0].After)
	}
}

// A server may refuse what by the window it names should have fitted, and more than once in a long turn.
func TestOverflowOfAnUntrueWindow(t *testing.T) {
	step := func(n int) string { return run(fmt.Sprintf("seq %d00 %d70", n, n)) }
	w := start(t, script(step(1), step(2), step(3), "say First.", step(4), step(5), step(6), "say Second.", "say done"), window(65536),
		func(c *Config) { c.Model = refusing{Model: c.Model, limit: 760, claims: 65536} })
	if ended := w.prompt("the task"); ended.Final != "done" {
		t.Fatalf("got %+v", ended)
	}
	if got := bodies[event.Compacted](w.log); len(got) < 1 || !strings.Contains(fmt.Sprint(got[0].Messages), "First.") {
		t.Errorf("got %+v", got)
	}
}

func TestCompactionThatGainsNothingStops(t *testing.T) {
	long := strings.TrimSpace(wordsOf(5700))
	w := start(t, script("say "+long+"\ntokens 7500 100", "say "+long, "say ok"), window(8192))
	w.prompt("go")
	err := w.Prompt(context.Background(), chat.Message{Text: "next"})
	if n := len(bodies[event.Compacted](w.log)); n > 2 {
		t.Errorf("%d compactions", n)
	}
	if err != nil && w.ended().Remedy == "" {
		t.Errorf("it ended with %v and no remedy", err)
	}
}

func TestCompactByHand(t *testing.T) {
	w := start(t, script("say one", "say The summary.", "say two"))
	if err := w.Compact(context.Background()); err == nil {
		t.Error("nothing was compacted")
	}
	w.prompt("go")
	if err := w.Compact(context.Background()); err != nil {
		t.Fatal(err)
	}
	if w.prompt("next"); len(w.model.Requests()[2].Messages) != 4 {
		t.Errorf("got %+v", w.model.Requests()[2].Messages)
	}
}

func TestRecentKeepsTheLatest(t *testing.T) {
	say := func(n int) chat.Message {
		return chat.Message{Role: chat.User, Text: strings.Repeat("x", int(float64(n)*charsPerToken))}
	}
	got := recent([]chat.Message{say(500), say(300), say(100)}, 250)
	if len(got) != 2 || len(got[1].Text) != 350 || !strings.HasSuffix(got[0].Text, "[cut]") {
		t.Errorf("got %d messages", len(got))
	}
	if got := recent([]chat.Message{say(500)}, 20); len(got) != 0 {
		t.Errorf("a crumb was kept: %v", got)
	}
}

func TestCaseEx03(t *testing.T) {
	var c struct {
		Given struct {
			Schema  json.RawMessage
			Answers []string `json:"model_answers"`
		}
		Expected struct {
			Final json.RawMessage
			Min   int `json:"requests_min"`
		}
	}
	raw, err := os.ReadFile(filepath.Join("testdata", "ex-03.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	w := start(t, script("say "+c.Given.Answers[0], "say "+c.Given.Answers[1]), func(cfg *Config) { cfg.Schema = c.Given.Schema })
	ended := w.prompt("x")
	var got, want any
	if json.Unmarshal([]byte(ended.Final), &got) != nil || json.Unmarshal(c.Expected.Final, &want) != nil {
		t.Fatalf("final %q", ended.Final)
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	r := w.model.Requests()
	if string(a) != string(b) || len(r) < c.Expected.Min {
		t.Errorf("final %s after %d requests", a, len(r))
	}
	if r[0].Format != nil || r[1].Format == nil {
		t.Error("the format goes with the repair alone")
	}
}

func TestSchema(t *testing.T) {
	schema := func(c *Config) { c.Schema = json.RawMessage(`{"type":"object","required":["n"]}`) }
	w := start(t, script(run("echo 4"), "say <<END\n```json\n{\"n\": 4}\n```\nEND"), schema)
	if ended := w.prompt("x"); ended.Final != `{"n": 4}` {
		t.Errorf("a fence: %+v", ended)
	}
	w = start(t, script("say {}", "say []", "say never"), schema)
	err := w.Prompt(context.Background(), chat.Message{Text: "x"})
	if ended := w.ended(); err == nil || ended.Reason != event.Broke || !strings.Contains(ended.Error, "schema") || len(w.model.Requests()) != 2 {
		t.Errorf("twice wrong: %v, %+v", err, ended)
	}
	if _, err := New(Config{Model: w.model, Log: w.log, Workspace: w.cfg.Workspace, Schema: json.RawMessage(`{"type":7}`)}); err == nil {
		t.Error("a schema that is none passed")
	}
}

// What a compaction took out of the model's sight is shown again when it is asked for.
func TestFilesAreShownAgainAfterACompaction(t *testing.T) {
	w := start(t, script(read("a"), read("a"), "say one", "say the notes", read("a"), "say two"), repeating, func(c *Config) {
		c.Harness.Digest = func(text string) string { return strings.TrimPrefix(text, "the ") }
	})
	w.file("a", "text\n")
	w.prompt("go")
	if err := w.Compact(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.prompt("again")
	if words := w.words(); len(words) != 3 || !strings.HasPrefix(words[1], "(unchanged)") || words[2] != "text\n" {
		t.Errorf("got %q", words)
	}
	if got := fmt.Sprint(bodies[event.Compacted](w.log)[0].Messages); !strings.Contains(got, wordsSummary+"notes") {
		t.Errorf("the summary is %s", got)
	}
}

// A file of which only a part was passed on, for want of room, has not been shown.
func TestCutReadingIsShownAgain(t *testing.T) {
	w := start(t, script(read("a"), read("a"), "say one"), repeating, func(c *Config) { c.Window = 8192 })
	w.file("a", strings.Repeat("words and words\n", 1000))
	w.prompt("go")
	for i, d := range bodies[event.Did](w.log) {
		if seen, ok := d.Outcome.(action.Seen); !ok || !seen.Cut || seen.Last < 50 || seen.Text == "" || strings.Contains(d.Words, "left out here") {
			t.Errorf("reading %d: %.80q", i+1, d.Words)
		}
	}
}

func TestNewDateIsTold(t *testing.T) {
	now := time.Date(2026, 3, 2, 23, 50, 0, 0, time.UTC)
	w := start(t, script("say one", "say two", "say three"), func(c *Config) { c.Now = func() time.Time { return now } })
	w.prompt("first")
	now = now.Add(5 * time.Minute)
	w.prompt("second")
	now = now.Add(time.Hour)
	w.prompt("third")
	told := bodies[event.Injected](w.log)
	if len(told) != 1 || !strings.Contains(told[0].Message.Text, "the date is now 2026-03-03") {
		t.Errorf("got %+v", told)
	}
}
