package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"interpreter/local/chat"
)

// The two tools of the check: the one to call and a decoy. Neither name is part of the other.
const (
	sumTool   = "probe_sum"
	decoyTool = "lookup_city"
)

var checkTools = [...]chat.Spec{
	{
		Name: sumTool, Description: "Adds two integers and files the sum. Returns the receipt code of the filed sum.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer","description":"first number"},"b":{"type":"integer","description":"second number"}},"required":["a","b"]}`),
	},
	{
		Name: decoyTool, Description: "Looks up facts about a city.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"name of the city"}},"required":["name"]}`),
	},
}

const (
	checkSystem = "You work with tools. Call a tool when the user asks for it, then answer in one short sentence."
	checkUser   = "Use the probe_sum tool to add 17 and 25. Then tell me the receipt code it returns."
)

// A CheckError says what a model was asked in the tool check and what came back instead.
type CheckError struct {
	Model string
	Sent  string
	Got   string
	Err   error // when the server refused
}

func (e *CheckError) Error() string {
	text := fmt.Sprintf("check that %s can call tools: asked: %s; came back: %s", e.Model, e.Sent, e.Got)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *CheckError) Unwrap() error { return e.Err }

// checker asks a model to call a tool and to use what the tool returns.
type checker struct {
	model   chat.Model
	info    ModelInfo
	window  int
	receipt string
	rescue  func(chat.Message) (chat.Message, error)
	waiting func(chat.Wait)
}

func newReceipt() string { return fmt.Sprintf("QX-%02dZ", rand.IntN(100)) }

// check runs both stages. A model that answers the first one wrongly gets a second chance with another seed.
func (c *checker) check(ctx context.Context) (Verdict, error) {
	verdict, answer, err := c.call(ctx, 7)
	var wrong *CheckError
	if errors.As(err, &wrong) && wrong.Err == nil {
		verdict, answer, err = c.call(ctx, 8)
	}
	if err != nil {
		return "", err
	}
	return verdict, c.use(ctx, answer)
}

func (c *checker) request(seed int, more ...chat.Message) chat.Request {
	req := chat.Request{
		Messages: append([]chat.Message{{Role: chat.System, Text: checkSystem}, {Role: chat.User, Text: checkUser}}, more...),
		Tools:    checkTools[:],
		Window:   c.window,
		Output:   256,
		Options:  map[string]any{"temperature": 0, "top_k": 1, "seed": seed},
	}
	if c.info.Can("thinking") {
		// Some models think whatever they are told, so there must be room for it.
		req.Effort, req.Output = "none", 2048
	}
	return req
}

// ask collects one answer.
func (c *checker) ask(ctx context.Context, req chat.Request) (chat.Message, error) {
	answer := chat.Message{Role: chat.Assistant}
	for delta, err := range c.model.Stream(ctx, req) {
		if err != nil {
			return answer, err
		}
		if delta.Wait != nil {
			answer = chat.Message{Role: chat.Assistant}
			if c.waiting != nil {
				c.waiting(*delta.Wait)
			}
			continue
		}
		answer.Text += delta.Text
		answer.Thinking += delta.Thinking
		if delta.Call != nil {
			answer.Calls = append(answer.Calls, *delta.Call)
		}
	}
	return answer, nil
}

// call is the first stage: exactly one call of the right tool with the right numbers, and no markup beside it.
func (c *checker) call(ctx context.Context, seed int) (Verdict, chat.Message, error) {
	sent := fmt.Sprintf("%q with the tools %s and %s", checkUser, sumTool, decoyTool)
	answer, err := c.ask(ctx, c.request(seed))
	if err != nil {
		return "", answer, c.refused(sent, err)
	}
	fault := wrongCall(answer)
	if fault == "" {
		return Native, answer, nil
	}
	if c.rescue != nil && len(answer.Calls) == 0 {
		if decoded, err := c.rescue(answer); err == nil && wrongCall(decoded) == "" {
			for i := range decoded.Calls {
				if decoded.Calls[i].ID == "" {
					decoded.Calls[i].ID = "call_1"
				}
			}
			return Rescued, decoded, nil
		}
	}
	return "", answer, &CheckError{Model: c.info.Name, Sent: sent, Got: fault}
}

// use is the second stage: the answer must hold what the tool returned, and call nothing more.
func (c *checker) use(ctx context.Context, asked chat.Message) error {
	call := asked.Calls[0]
	sent := fmt.Sprintf("the result %q of its call of %s", c.receipt, sumTool)
	answer, err := c.ask(ctx, c.request(7, asked, chat.Message{
		Role: chat.Tool, Result: &chat.Result{CallID: call.ID, Name: call.Name, Text: c.receipt},
	}))
	if err != nil {
		return c.refused(sent, err)
	}
	wrong := func(got string) error { return &CheckError{Model: c.info.Name, Sent: sent, Got: got} }
	switch {
	case len(answer.Calls) > 0:
		return wrong(fmt.Sprintf("another call of %s instead of an answer", answer.Calls[0].Name))
	case strings.TrimSpace(answer.Text) == "":
		return wrong("an empty answer")
	case !strings.Contains(answer.Text, c.receipt):
		return wrong(fmt.Sprintf("the text %q, which does not name the receipt", excerpt(answer.Text)))
	}
	return nil
}

// refused passes on a failure of the server, which says nothing of the model, but for one: no tools at all.
func (c *checker) refused(sent string, err error) error {
	var failure *chat.Error
	if errors.As(err, &failure) && failure.Kind == chat.NoTools {
		return &CheckError{Model: c.info.Name, Sent: sent, Got: "a refusal by the server", Err: err}
	}
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
	signs := `(?s)<tool_call|<function=|<\|?tool|\[TOOL_|<invoke|"arguments"|"parameters"|to=functions|` + sumTool + `\s*[\[({<]`
	return strings.Contains(text, sumTool) && regexp.MustCompile(signs).MatchString(text)
}

// excerpt shortens what a model wrote for a message.
func excerpt(text string) string {
	runes := []rune(strings.TrimSpace(text))
	if len(runes) > 200 {
		return string(runes[:200]) + "…"
	}
	return string(runes)
}
