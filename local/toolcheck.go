package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	"interpreter/local/chat"
)

// The tools of the check: the two to call, and a decoy for a check that stands alone. No name is part of another.
const (
	sumTool   = "probe_sum"
	writeTool = "probe_write"
	decoyTool = "lookup_city"
)

var (
	decoySpec = chat.Spec{
		Name: decoyTool, Description: "Looks up facts about a city.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"name of the city"}},"required":["name"]}`),
	}
	sumSpec = chat.Spec{
		Name: sumTool, Description: "Adds two integers and files the sum. Returns the receipt code of the filed sum.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer","description":"first number"},"b":{"type":"integer","description":"second number"}},"required":["a","b"]}`),
	}
	writeSpec = chat.Spec{
		Name: writeTool, Description: "Files a text under a path.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"where to file it"},"text":{"type":"string","description":"the text, every character of it"}},"required":["path","text"]}`),
	}
)

const (
	checkSystem = "You work with tools. Call a tool when the user asks for it, then answer in one short sentence."
	checkUser   = "Use the probe_sum tool to add 17 and 25. Then tell me the receipt code it returns."
	// writeText is what markup and escapes get wrong: quotes, a backslash, angle brackets, and what looks like the end
	// of an argument.
	writeText = "say \"hi\" to 'them'\nif a < b && c > d { path = \"C:\\temp\" }\n</parameter> is not the end"
	writePath = "probe.txt"
	writeUser = "Use the probe_write tool to file these three lines under probe.txt, character by character:\n" + writeText
	plainUser = "Which day of the week comes after Monday? Answer in one word, without any tool."
)

// checker asks a model to call a tool and to use what the tool returns, and if it is thorough also whether arguments
// arrive as they were written and whether it can leave tools alone. Each stage is asked behind the opening of the
// session to come, if there is one: what the server has read of that need not be read again.
type checker struct {
	model    chat.Model
	info     ModelInfo
	window   int
	prefix   Prefix
	receipt  string
	rescue   func(chat.Message) (chat.Message, error)
	waiting  func(chat.Wait)
	thorough bool
	fresh    bool    // the server has read nothing of the prompt before
	prefill  float64 // tokens a second, from an earlier check; 0: not known
	decode   float64
	least    time.Duration // that a stage is given however fast the model is; 0: 20 seconds
	now      func() time.Time

	report   Report
	requests int
	heard    bool // the model has begun an answer
	wrote    int
	writing  time.Duration
}

func newReceipt() string { return fmt.Sprintf("QX-%02dZ", rand.IntN(100)) }

// longestReply is the bytes after which an answer in the check is over, whatever the server was told to allow.
const longestReply = 256 << 10

// errSlow ends a stage that takes far longer than the model's own speed explains.
var errSlow = errors.New("slower than its speed explains")

// check runs the stages. The error is a *CheckError when it is the model's fault; the report is filled either way.
func (c *checker) check(ctx context.Context) (Verdict, error) {
	if c.now == nil {
		c.now = time.Now
	}
	began := c.now()
	c.report = Report{Verdict: NotKnown, When: began.UTC().Truncate(time.Second), Alone: len(c.prefix.Messages)+len(c.prefix.Tools) == 0}
	c.look()
	prove := c.prove
	if c.prefix.Spoken {
		prove = c.speak
	}
	verdict, err := prove(ctx)
	if err == nil && c.thorough && !c.prefix.Spoken {
		c.payload(ctx)
		c.leave(ctx)
	}
	c.report.Took = c.now().Sub(began)
	var wrong *CheckError
	if errors.As(err, &wrong) {
		c.report.Verdict = Failed
		wrong.Report = c.report
	}
	if err != nil {
		return "", err
	}
	c.report.Verdict = verdict
	return verdict, nil
}

// look reports the two levels that need no answer of the model.
func (c *checker) look() {
	can := strings.Join(c.info.Capabilities, ", ")
	if can == "" {
		can = "the server does not say"
	}
	c.report.put(StageReport{
		Name: "declared", Sent: "what the server says the model can do", Got: can, Ran: true,
		Passed: len(c.info.Capabilities) == 0 || c.info.Can("tools"),
	})
	seen := inspect(c.info)
	c.report.put(StageReport{
		Name: "inspected", Sent: "the chat template and its parser", Got: seen.String(), Ran: seen.class != unseen,
		Passed: seen.class != unseen && len(seen.risks) == 0,
	})
	c.report.Notes = append(c.report.Notes, seen.risks...)
}

// prove runs the two stages that decide. A model that answers one wrongly gets a second chance with another seed.
func (c *checker) prove(ctx context.Context) (Verdict, error) {
	verdict, answer, err := c.call(ctx, 7)
	var failure *chat.Error
	if errors.As(err, &failure) && failure.Kind == chat.Overflow && !c.report.Alone {
		c.prefix, c.report.Alone = Prefix{}, true
		c.report.Notes = append(c.report.Notes, "the session's opening alone is larger than the window")
		verdict, answer, err = c.call(ctx, 7)
	}
	if c.again(err) {
		verdict, answer, err = c.call(ctx, 8)
	}
	if err != nil {
		return "", err
	}
	err = c.use(ctx, answer, 7)
	if c.again(err) {
		err = c.use(ctx, answer, 8)
	}
	return verdict, err
}

// again reports whether a wrong answer gets another chance, and notes it.
func (c *checker) again(err error) bool {
	var wrong *CheckError
	if !errors.As(err, &wrong) || wrong.Err != nil {
		return false
	}
	c.report.Notes = append(c.report.Notes, "wrong at the first try: "+wrong.Got)
	return true
}

// request is a request of the check: the opening of the session, and its tools with those of the check behind them.
func (c *checker) request(user string, seed int, tools []chat.Spec, more ...chat.Message) chat.Request {
	opening, known := c.prefix.Messages, c.prefix.Tools
	if c.report.Alone && !c.prefix.Spoken {
		opening, known = []chat.Message{{Role: chat.System, Text: checkSystem}}, []chat.Spec{decoySpec}
	}
	req := chat.Request{Window: c.window, Output: 256, Options: map[string]any{"temperature": 0, "top_k": 1, "seed": seed}}
	req.Messages = append(req.Messages, opening...)
	if last := len(opening) - 1; c.prefix.Join && last >= 0 && opening[last].Role == chat.User {
		req.Messages[last].Text += "\n\n" + user // as the session's first prompt will be
	} else {
		req.Messages = append(req.Messages, chat.Message{Role: chat.User, Text: user})
	}
	req.Messages = append(req.Messages, more...)
	req.Tools = append(append(req.Tools, known...), tools...)
	if c.info.Can("thinking") {
		// Some models think whatever they are told, so there must be room for it.
		req.Effort, req.Output = c.effort(), 2048
	}
	return req
}

// effort is none, unless the template writes how hard to think before everything else: then it is the session's, since
// with any other the server would read the opening twice.
func (c *checker) effort() string {
	if !c.report.Alone && c.info.ThinksByLevel() {
		return c.prefix.Effort
	}
	return "none"
}

// asked words a request for the report.
func (c *checker) asked(user string, req chat.Request) string {
	if c.report.Alone {
		names := make([]string, 0, len(req.Tools))
		for _, t := range req.Tools {
			names = append(names, t.Name)
		}
		return fmt.Sprintf("%q with the tools %s", user, strings.Join(names, " and "))
	}
	return fmt.Sprintf("%q behind the opening of %s and its %d tools", user, c.prefix.Harness, len(c.prefix.Tools))
}

// ask collects one answer.
func (c *checker) ask(ctx context.Context, req chat.Request) (answer chat.Message, took time.Duration, err error) {
	began := c.now()
	defer func() { took = c.now().Sub(began) }()
	if limit := c.limit(req); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errSlow)
		defer cancel()
	}
	c.requests++
	answer.Role = chat.Assistant
	var text, thinking strings.Builder
	defer func() { answer.Text, answer.Thinking = text.String(), thinking.String() }()
	for delta, err := range c.model.Stream(ctx, req) {
		if err != nil {
			if cause := context.Cause(ctx); errors.Is(cause, errSlow) {
				err = cause
			}
			return answer, 0, err
		}
		if delta.Wait != nil {
			answer = chat.Message{Role: chat.Assistant}
			text.Reset()
			thinking.Reset()
			if c.waiting != nil {
				c.waiting(*delta.Wait)
			}
			continue
		}
		if delta.Notice != "" {
			c.report.Notes = append(c.report.Notes, delta.Notice)
		}
		text.WriteString(delta.Text)
		thinking.WriteString(delta.Thinking)
		c.heard = c.heard || delta.Text != "" || delta.Thinking != "" || delta.Call != nil
		if text.Len()+thinking.Len() > longestReply {
			return answer, 0, nil // far more than was allowed: it would go on for ever
		}
		if delta.Call != nil {
			answer.Calls = append(answer.Calls, *delta.Call)
		}
		if delta.Usage != nil {
			c.measure(*delta.Usage)
		}
	}
	return answer, 0, nil
}

// call is the stage "call": exactly one call of the right tool with the right numbers, and no markup beside it.
func (c *checker) call(ctx context.Context, seed int) (Verdict, chat.Message, error) {
	req := c.request(checkUser, seed, []chat.Spec{sumSpec})
	stage := StageReport{Name: "call", Sent: c.asked(checkUser, req), Ran: true}
	answer, took, err := c.ask(ctx, req)
	stage.Took = took
	if err != nil {
		return "", answer, c.refused(stage, err)
	}
	fault := wrongCall(answer)
	verdict := Native
	if fault != "" {
		if decoded, ok := c.rescued(answer); ok {
			fault, verdict, answer = "", Rescued, decoded
			c.report.Notes = append(c.report.Notes, "calls arrive as text; the harness reads them")
		}
	}
	if fault != "" {
		return "", answer, c.wrong(stage, fault)
	}
	stage.Passed, stage.Got = true, fmt.Sprintf("a call of %s with %s", sumTool, excerpt(string(answer.Calls[0].Args)))
	if verdict == Rescued {
		stage.Got += ", written as text"
	}
	c.report.put(stage)
	return verdict, answer, nil
}

// rescued reads a call that came as text, as the harness to come does.
func (c *checker) rescued(answer chat.Message) (chat.Message, bool) {
	if c.rescue == nil {
		return answer, false
	}
	decoded, err := c.rescue(answer)
	if err != nil {
		return answer, false
	}
	for i := range decoded.Calls {
		call := &decoded.Calls[i]
		if call.ID == "" {
			call.ID = fmt.Sprintf("call_%d", i+1)
		}
		// A format without types leaves all as text; a harness knows the types of its own tools, and these are ours.
		call.Args = quotedInteger.ReplaceAll(call.Args, []byte("$1$2"))
	}
	// Servers that look for calls and miss one may pass its text on twice: one was read, the rest is no harm.
	decoded.Text = ""
	return decoded, wrongCall(decoded) == ""
}

var quotedInteger = regexp.MustCompile(`("[ab]"\s*:\s*)"(\d+)"`)

// use is the stage "result": the answer must hold what the tool returned, and call nothing more.
func (c *checker) use(ctx context.Context, asked chat.Message, seed int) error {
	call := asked.Calls[0]
	stage := StageReport{Name: "result", Sent: fmt.Sprintf("the result %q of its call of %s", c.receipt, sumTool), Ran: true}
	answer, took, err := c.ask(ctx, c.request(checkUser, seed, []chat.Spec{sumSpec}, asked, chat.Message{
		Role: chat.Tool, Result: &chat.Result{CallID: call.ID, Name: call.Name, Text: c.receipt},
	}))
	stage.Took = took
	if err != nil {
		return c.refused(stage, err)
	}
	switch {
	case len(answer.Calls) > 0:
		return c.wrong(stage, fmt.Sprintf("another call of %s instead of an answer", answer.Calls[0].Name))
	case strings.TrimSpace(answer.Text) == "":
		return c.wrong(stage, "an empty answer")
	case leaked(answer.Text):
		return c.wrong(stage, fmt.Sprintf("another call, written as text: %q", excerpt(answer.Text)))
	case !strings.Contains(answer.Text, c.receipt):
		return c.wrong(stage, fmt.Sprintf("the text %q, which does not name the receipt", excerpt(answer.Text)))
	}
	stage.Passed, stage.Got = true, fmt.Sprintf("%q", excerpt(answer.Text))
	c.report.put(stage)
	return nil
}

// wrong ends a stage by the model's fault.
func (c *checker) wrong(stage StageReport, got string) error {
	stage.Got = got
	c.report.put(stage)
	return &CheckError{Model: c.info.Name, Sent: stage.Sent, Got: got}
}

// refused passes on a failure of the server, which says nothing of the model, but for one: no tools at all.
func (c *checker) refused(stage StageReport, err error) error {
	stage.Got = "no answer: " + err.Error()
	var failure *chat.Error
	if errors.As(err, &failure) && failure.Kind == chat.NoTools && !c.prefix.Spoken {
		stage.Got = "a refusal by the server"
		c.report.put(stage)
		return &CheckError{Model: c.info.Name, Sent: stage.Sent, Got: stage.Got, Err: err}
	}
	c.report.put(stage)
	return err
}

// wrongCall says what is wrong with the answer to the first stage, "" when nothing is.
func wrongCall(answer chat.Message) string {
	switch len(answer.Calls) {
	case 1:
	case 0:
		for _, text := range []string{answer.Text, answer.Thinking} {
			if leaked(text) {
				return fmt.Sprintf("a call written as text: %q", excerpt(text))
			}
		}
		if strings.TrimSpace(answer.Text) == "" {
			return "an empty answer and no call"
		}
		return fmt.Sprintf("no call, but the text %q", excerpt(answer.Text))
	default:
		return fmt.Sprintf("%d calls instead of one", len(answer.Calls))
	}
	call := answer.Calls[0]
	if call.Name != sumTool {
		return fmt.Sprintf("a call of %q instead of %s", call.Name, sumTool)
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(call.Args, &args); err != nil || call.Raw != "" {
		return fmt.Sprintf("a call with arguments that are no JSON object: %q", excerpt(call.Raw+string(call.Args)))
	}
	var a, b int
	errA, errB := json.Unmarshal(args["a"], &a), json.Unmarshal(args["b"], &b)
	if errA != nil || errB != nil || a+b != 42 || a != 17 && b != 17 {
		return fmt.Sprintf("a call with the wrong arguments: %s", excerpt(string(call.Args)))
	}
	if leaked(answer.Text) {
		return fmt.Sprintf("a call, and call markup in the text beside it: %q", excerpt(answer.Text))
	}
	return ""
}

// leaked recognises a call written as text by the name of the tool next to the signs that such calls are made of. A
// sentence that merely names the tool is none.
func leaked(text string) bool {
	return strings.Contains(text, sumTool) && callSigns.MatchString(text)
}

var callSigns = regexp.MustCompile(`(?s)<tool_call|<function=|<\|?tool|\[TOOL_|<invoke|"arguments"|"parameters"|to=functions|` + sumTool + `\s*[\[({<]`)

// excerpt shortens what a model wrote for a message.
func excerpt(text string) string {
	runes := []rune(strings.TrimSpace(text))
	if len(runes) > 200 {
		return string(runes[:200]) + "…"
	}
	return string(runes)
}
