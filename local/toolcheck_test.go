package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"interpreter/local/chat"
	"interpreter/local/practice"
)

func TestToolCheck(t *testing.T) {
	good := call("probe_sum", `{"b":25,"a":17}`)
	leak := `<tool_call>{"name":"probe_sum","arguments":{"a":17,"b":25}}</tool_call>`
	untyped := "<tool_call><function=probe_sum><parameter=a>17</parameter><parameter=b>25</parameter></function></tool_call>"
	rescue := func(m chat.Message) (chat.Message, error) {
		args, ok := map[string]string{leak: `{"a":17,"b":25}`, untyped: `{"a": "17", "b":"25"}`, leak + leak[11:]: `{"a":17,"b":25}`}[m.Text]
		if !ok {
			return m, nil
		}
		return chat.Message{Role: chat.Assistant, Text: strings.TrimPrefix(m.Text, leak), Calls: []chat.Call{{Name: "probe_sum", Args: json.RawMessage(args)}}}, nil
	}
	for _, test := range []struct {
		name    string
		replies []reply
		rescue  bool
		verdict Verdict
		says    string
		asked   int
	}{
		{"right", []reply{good, says("It is QX-07Z.")}, false, Native, "", 2},
		{"right at the second try", []reply{says("42"), good, says("QX-07Z")}, false, Native, "", 3},
		{"a broken stream in between", []reply{fails(chat.Broken, 0, "half"), good, says("QX-07Z")}, false, Native, "", 3},
		{"text only", []reply{says("42"), says("It is 42.")}, false, "", `no call, but the text "It is 42."`, 2},
		{"a leaked call", []reply{says(leak), says(leak)}, false, "", "a call written as text: \"<tool_call>", 2},
		{"a leaked call that can be read", []reply{says(leak), says("QX-07Z")}, true, Rescued, "", 2},
		{"a leaked call that the server repeats", []reply{says(leak + leak[11:]), says("QX-07Z")}, true, Rescued, "", 2},
		{"a leak in the thoughts", times(2, reply{deltas: []chat.Delta{{Thinking: `probe_sum(a=17, b=25)`}}}), false, "", "a call written as text", 2},
		{"naming the tool is no leak", times(2, says("I would use probe_sum for this.")), false, "", "no call, but", 2},
		{"the decoy", times(2, call("lookup_city", `{"name":"x"}`)), false, "", `a call of "lookup_city"`, 2},
		{"wrong numbers", times(2, call("probe_sum", `{"a":1,"b":41}`)), false, "", "wrong arguments", 2},
		{"numbers as text", times(2, call("probe_sum", `{"a":"17","b":"25"}`)), false, "", "wrong arguments", 2},
		{"two calls", times(2, reply{deltas: append(good.deltas, good.deltas...)}), false, "", "2 calls", 2},
		{"nothing", times(2, reply{}), false, "", "an empty answer and no call", 2},
		{"a leaked call without types", []reply{says(untyped), says("QX-07Z")}, true, Rescued, "", 2},
		{"a call instead of an answer", []reply{good, good, good}, false, "", "another call of probe_sum", 3},
		{"a call instead of an answer, as text", []reply{good, says(leak), says(leak)}, false, "", "another call, written as text", 3},
		{"the result ignored", []reply{good, says("The sum is 42."), says("It is 42.")}, false, "", `"It is 42."`, 3},
		{"the result named at the second try", []reply{good, says("The sum is 42."), says("QX-07Z")}, false, Native, "", 3},
		{"no answer to the result", []reply{good, {}, {}}, false, "", "an empty answer", 3},
		{"the server refuses tools", []reply{fails(chat.NoTools, 0, "")}, false, "", "a refusal by the server", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var waits []time.Duration
			model := &scripted{replies: test.replies}
			c := checker{model: Retry(model, unhurried(Patience{}, &waits)), info: able("a:1b", 1), receipt: "QX-07Z"}
			if test.rescue {
				c.rescue = rescue
			}
			verdict, err := c.check(t.Context())
			if len(model.asked) != test.asked {
				t.Errorf("%d requests, want %d", len(model.asked), test.asked)
			}
			if test.says == "" {
				if err != nil || verdict != test.verdict || c.report.Verdict != verdict {
					t.Fatalf("got %s, %v, report %+v", verdict, err, c.report)
				}
				last := model.asked[len(model.asked)-1]
				result := last.Messages[len(last.Messages)-1].Result
				calls := last.Messages[len(last.Messages)-2].Calls
				if result == nil || result.Text != "QX-07Z" || result.CallID != calls[0].ID || result.CallID == "" {
					t.Errorf("the result does not answer the call: %+v, %+v", result, calls)
				}
				return
			}
			var wrong *CheckError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), "asked: ") {
				t.Fatalf("got %v, want it to say %q", err, test.says)
			}
			if last := wrong.Report.Stages[len(wrong.Report.Stages)-1]; wrong.Report.Verdict != Failed || last.Passed || !last.Ran || last.Got != wrong.Got || last.Sent != wrong.Sent {
				t.Errorf("report %+v", wrong.Report)
			}
		})
	}
}

// opening is a session to come.
func opening() Prefix {
	return Prefix{
		Harness:  "plain",
		Messages: []chat.Message{{Role: chat.System, Text: "You are an agent."}, {Role: chat.User, Text: "The folder is empty."}},
		Tools:    []chat.Spec{{Name: "read_file", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "run", Parameters: json.RawMessage(`{"type":"object"}`)}},
		Effort:   "high",
	}
}

// All that the session begins with stands before the check's own, tools included, so that nothing is read twice.
func TestCheckBehindTheOpening(t *testing.T) {
	prefix := opening()
	play, err := practice.Parse("reply\n say x\n")
	if err != nil {
		t.Fatal(err)
	}
	model := practice.NewModel(play)
	c := checker{model: model, info: able("a:1b", 1), window: 65536, prefix: prefix, receipt: "QX-07Z", thorough: true}
	if verdict, err := c.check(t.Context()); err != nil || verdict != Native {
		t.Fatalf("got %s, %v", verdict, err)
	}
	asked := model.Requests()
	if len(asked) != 4 {
		t.Fatalf("%d requests", len(asked))
	}
	for i, req := range asked {
		names := ""
		for _, spec := range req.Tools[2:] {
			names += spec.Name + " "
		}
		if !reflect.DeepEqual(req.Messages[:2], prefix.Messages) || !reflect.DeepEqual(req.Tools[:2], prefix.Tools) || req.Window != 65536 || req.Output != 256 {
			t.Errorf("request %d does not begin as the session: %+v", i, req)
		}
		if want := [...]string{"probe_sum ", "probe_sum ", "probe_sum probe_write ", "probe_sum "}[i]; names != want {
			t.Errorf("request %d adds %s", i, names)
		}
	}
	if !reflect.DeepEqual(asked[1].Messages[:3], asked[0].Messages) {
		t.Error("the second request does not begin with the first")
	}
	var names []string
	for _, s := range c.report.Stages {
		names = append(names, fmt.Sprintf("%s %v %v", s.Name, s.Ran, s.Passed))
		if s.Got == "" || s.Sent == "" {
			t.Errorf("stage %+v says too little", s)
		}
	}
	// The templates of this model are not known.
	if got := strings.Join(names, ", "); got != "declared true true, inspected false false, call true true, result true true, payload true true, no call true true" {
		t.Errorf("stages: %s", got)
	}
	if c.report.Alone || len(c.report.Notes) > 0 || c.report.When.IsZero() {
		t.Errorf("report %+v", c.report)
	}
}

// The practice model answers by rule and its GGUF from fixed texts: both must know what the check asks.
func TestPracticeKnowsTheCheck(t *testing.T) {
	play, err := practice.Parse("reply\n say x\n")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := practice.WriteGGUF(play, dir, practice.GGUFOptions{}); err != nil {
		t.Fatal(err)
	}
	weights, err := os.ReadFile(filepath.Join(dir, "practice.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	template, err := os.ReadFile(filepath.Join(dir, "Modelfile"))
	if err != nil {
		t.Fatal(err)
	}
	if text := AppendJSON(nil, writeText); !bytes.Contains(weights, text) {
		t.Errorf("the weights do not know the text %s", text)
	}
	for _, question := range []string{writeUser, plainUser} {
		if !bytes.Contains(template, []byte(`"`+question[:9])) {
			t.Errorf("the template does not know %q", question)
		}
	}
}

// What decides nothing is still seen and said.
func TestThoroughCheck(t *testing.T) {
	good := call("probe_sum", `{"a":17,"b":25}`)
	payload := func(path, text string) reply {
		args, err := json.Marshal(map[string]string{"path": path, "text": text})
		if err != nil {
			t.Fatal(err)
		}
		return call("probe_write", string(args))
	}
	for _, test := range []struct {
		name           string
		payload, leave reply
		says           string // of the stage that is wrong; "": none
	}{
		{"right", payload("probe.txt", writeText), says("Tuesday"), ""},
		{"a line break at the end", payload("probe.txt", writeText+"\n"), says("Tuesday"), ""},
		{"a backslash lost", payload("probe.txt", strings.ReplaceAll(writeText, `\`, "")), says("Tuesday"), "another text"},
		{"cut at the look-alike", payload("probe.txt", writeText[:strings.Index(writeText, "</")]), says("Tuesday"), "another text"},
		{"two line breaks", payload("probe.txt", writeText+"\n\n"), says("Tuesday"), "another text"},
		{"another path", payload("x.txt", writeText), says("Tuesday"), "another path"},
		{"another tool", good, says("Tuesday"), `a call of "probe_sum"`},
		{"no call", says("done"), says("Tuesday"), "0 calls"},
		{"a call for nothing", payload("probe.txt", writeText), good, "no need"},
		{"nothing", payload("probe.txt", writeText), reply{}, "an empty answer"},
		{"the server fails", payload("probe.txt", writeText), fails(chat.Invalid, 0, ""), "no answer: no usable answer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := checker{model: &scripted{replies: []reply{good, says("QX-07Z"), test.payload, test.leave}}, info: able("a:1b", 1), receipt: "QX-07Z", thorough: true}
			verdict, err := c.check(t.Context())
			if err != nil || verdict != Native {
				t.Fatalf("got %s, %v", verdict, err)
			}
			wrong := ""
			for _, s := range c.report.Stages[2:] {
				if !s.Ran {
					t.Errorf("stage %s did not run", s.Name)
				}
				if !s.Passed {
					wrong += s.Got
				}
			}
			if (wrong == "") != (test.says == "") || !strings.Contains(wrong, test.says) || (wrong == "") != (len(c.report.Notes) == 0) {
				t.Errorf("got %q, notes %q", wrong, c.report.Notes)
			}
		})
	}
}

// An answer without an end is cut off: it is no call. What was heard of the model tells that it has read its opening.
func TestCheckOfEndlessAnswer(t *testing.T) {
	model := &endless{}
	c := checker{model: model, info: able("a:1b", 1), receipt: "QX-07Z"}
	_, err := c.check(t.Context())
	var wrong *CheckError
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "no call, but the text") || !c.heard {
		t.Errorf("got %v", err)
	}
	if most := 2 * (longestReply/3 + 2); model.sent > most {
		t.Errorf("%d parts were taken, want at most %d", model.sent, most)
	}
}

// endless writes for ever.
type endless struct{ sent int }

func (e *endless) Stream(context.Context, chat.Request) iter.Seq2[chat.Delta, error] {
	return func(yield func(chat.Delta, error) bool) {
		for yield(chat.Delta{Text: "la "}, nil) {
			e.sent++
		}
	}
}

// An opening that is too large for the window is left out.
func TestCheckInSmallWindow(t *testing.T) {
	model := &scripted{}
	obey := obedient()
	model.by = func(req chat.Request) reply {
		if req.Messages[0].Text != checkSystem {
			return fails(chat.Overflow, 0, "")
		}
		return obey.by(req)
	}
	c := checker{model: model, info: able("a:1b", 1), prefix: opening(), receipt: "QX-07Z"}
	if verdict, err := c.check(t.Context()); err != nil || verdict != Native || !c.report.Alone || len(c.report.Notes) != 1 {
		t.Errorf("got %s, %v, %+v", verdict, err, c.report)
	}
}

// Thinking is off where it can be, but for templates that write the effort first: those keep the session's.
func TestCheckEffort(t *testing.T) {
	for _, test := range []struct {
		template string
		thinks   bool
		alone    bool
		effort   string
		output   int
	}{
		{"", false, false, "", 256},
		{"{{ .Think }}", true, false, "none", 2048},
		{"Reasoning: {{ .ThinkLevel }}", true, false, "high", 2048},
		{"{% set x = reasoning_effort %}", true, false, "high", 2048},
		{"Reasoning: {{ .ThinkLevel }}", true, true, "none", 2048},
	} {
		model := obedient()
		c := checker{model: model, info: able("a:1b", 1), prefix: opening(), receipt: "QX-07Z"}
		c.info.Template = test.template
		if test.thinks {
			c.info.Capabilities = append(c.info.Capabilities, "thinking")
		}
		if test.alone {
			c.prefix = Prefix{}
		}
		c.check(t.Context())
		if got := model.asked[0]; got.Effort != test.effort || got.Output != test.output {
			t.Errorf("%+v: effort %q, output %d", test, got.Effort, got.Output)
		}
	}
}

// Speeds are what the server counted: of all that was written, and of the first prompt if nothing of it was known.
func TestCheckMeasures(t *testing.T) {
	usage := func(input, cached, output int, prefill, decode time.Duration) *chat.Usage {
		return &chat.Usage{Input: input, CachedInput: cached, Output: output, Prefill: prefill, Decode: decode}
	}
	first, second := usage(6000, 0, 30, 3*time.Second, time.Second), usage(6100, 0, 10, 200*time.Millisecond, time.Second)
	for _, test := range []struct {
		name            string
		fresh           bool
		first, second   *chat.Usage
		prefill, decode float64
	}{
		{"a fresh model", true, first, second, 2000, 20},
		{"one that may know the prompt", false, first, second, 0, 20},
		{"one that says what it knew", false, usage(6000, 5000, 30, time.Second, time.Second), second, 1000, 20},
		{"too little to tell", true, usage(60, 0, 3, time.Second, time.Second), usage(60, 0, 3, time.Second, time.Second), 0, 0},
		{"a server that does not count", true, nil, nil, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			good, named := call("probe_sum", `{"a":17,"b":25}`), says("QX-07Z")
			good.deltas = append(good.deltas, chat.Delta{Usage: test.first})
			named.deltas = append(named.deltas, chat.Delta{Usage: test.second})
			c := checker{model: &scripted{replies: []reply{good, named}}, info: able("a:1b", 1), receipt: "QX-07Z", fresh: test.fresh}
			if _, err := c.check(t.Context()); err != nil || c.report.Prefill != test.prefill || c.report.Decode != test.decode {
				t.Errorf("got %v and %v, %v", c.report.Prefill, c.report.Decode, err)
			}
		})
	}
}

func TestStageLimit(t *testing.T) {
	long := Prefix{Messages: []chat.Message{{Text: strings.Repeat("x", 36_000)}}}
	for _, test := range []struct {
		name            string
		prefill, decode float64
		requests        int
		want            time.Duration
	}{
		{"speed unknown", 0, 10, 0, 0},
		{"a fast model", 5000, 100, 0, 20 * time.Second},
		{"the opening is read", 100, 25.6, 0, 330 * time.Second}, // 3 · (10,000 / 100 + 256 / 25.6)
		{"it was read before", 100, 25.6, 1, 45 * time.Second},   // 3 · (500 / 100 + 10)
	} {
		c := checker{prefill: test.prefill, decode: test.decode, requests: test.requests}
		if got := c.limit(chat.Request{Messages: long.Messages, Output: 256}); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// A stage that takes far longer than the model's speed explains is given up; one that decides nothing fails no check.
func TestSlowStage(t *testing.T) {
	c := checker{model: &hanging{}, info: able("a:1b", 1), prefill: 1e9, decode: 1e9, least: time.Millisecond}
	if _, err := c.check(t.Context()); !errors.Is(err, errSlow) || c.report.Verdict != NotKnown || c.report.stage("call").Passed {
		t.Errorf("got %v, %+v", err, c.report)
	}
	c = checker{
		model: &sluggish{obedient()}, info: able("a:1b", 1), receipt: "QX-07Z", prefill: 1e9, decode: 1e9, least: 200 * time.Millisecond, thorough: true,
	}
	verdict, err := c.check(t.Context())
	if last := c.report.stage("no call"); err != nil || verdict != Native || last == nil || !last.Ran || last.Passed || !strings.Contains(last.Got, "slower") {
		t.Errorf("got %s, %v, %+v", verdict, err, c.report)
	}
}

// sluggish never comes to an end with a plain question.
type sluggish struct{ chat.Model }

func (s *sluggish) Stream(ctx context.Context, req chat.Request) iter.Seq2[chat.Delta, error] {
	if req.Messages[len(req.Messages)-1].Text == plainUser {
		return (&hanging{}).Stream(ctx, req)
	}
	return s.Model.Stream(ctx, req)
}

func TestBudget(t *testing.T) {
	for _, test := range []struct {
		said time.Duration
		have Resident
		want time.Duration
	}{
		{0, Resident{}, 3 * time.Minute},
		{0, Resident{Size: 5, VRAM: 4}, 3 * time.Minute},
		{0, Resident{Size: 5, VRAM: 5}, 90 * time.Second},
		{time.Minute, Resident{Size: 5, VRAM: 5}, time.Minute},
	} {
		r := run{Options: Options{CheckFor: test.said}}
		if got := r.budget(test.have); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// A failed check names what was asked, what came back, and an installed model to try. It is made again each time.
func TestFailedCheck(t *testing.T) {
	f := server(able("a:1b", 2e9), able("b:1b", 1e9))
	f.answer = &scripted{by: func(chat.Request) reply { return says("I cannot call tools.") }}
	path := filepath.Join(t.TempDir(), "verdicts.json")
	for range 2 {
		_, _, err := finish(t, Options{Providers: []Provider{f}, Model: "a:1b", Verdicts: path})
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Code != Unproven || !strings.Contains(err.Error(), "I cannot call tools.") ||
			!strings.Contains(err.Error(), "probe_sum") || !strings.Contains(refusal.Remedy(), "-m b:1b") {
			t.Errorf("got %v / %v", err, refusal)
		}
	}
	if len(f.answer.asked) != 4 {
		t.Errorf("%d requests", len(f.answer.asked))
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a failed verdict was kept")
	}
}
