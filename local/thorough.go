package local

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"interpreter/local/chat"
)

// payload is the stage "payload": a text that markup and escapes easily damage must arrive as it was given. It decides
// nothing: the model calls tools.
func (c *checker) payload(ctx context.Context) {
	req := c.request(writeUser, 7, []chat.Spec{sumSpec, writeSpec})
	stage := StageReport{Name: "payload", Sent: c.asked(writeUser, req)}
	if ctx.Err() != nil {
		stage.Got = "not asked: no time was left"
		c.report.put(stage)
		return
	}
	answer, took, err := c.ask(ctx, req)
	stage.Ran, stage.Took = true, took
	if err == nil && len(answer.Calls) == 0 && c.rescue != nil {
		if decoded, failed := c.rescue(answer); failed == nil {
			answer = decoded
		}
	}
	switch {
	case err != nil:
		stage.Got = "no answer: " + err.Error()
	case len(answer.Calls) != 1:
		stage.Got = fmt.Sprintf("%d calls and the text %q", len(answer.Calls), excerpt(answer.Text))
	default:
		stage.Got = wrongPayload(answer.Calls[0])
		if stage.Passed = stage.Got == ""; stage.Passed {
			stage.Got = "a call with every character of it"
		}
	}
	if !stage.Passed {
		c.report.Notes = append(c.report.Notes, "a text with quotes, a backslash and angle brackets does not arrive as it was given: edits of such files may go wrong")
	}
	c.report.put(stage)
}

// wrongPayload says how a call differs from the one asked for, "" when it does not. A line break at the end is free.
func wrongPayload(call chat.Call) string {
	var args struct{ Path, Text *string }
	decoder := json.NewDecoder(bytes.NewReader(call.Args))
	switch err := decoder.Decode(&args); {
	case call.Name != writeTool:
		return fmt.Sprintf("a call of %q instead of %s", call.Name, writeTool)
	case call.Raw != "" || err != nil || args.Text == nil:
		return fmt.Sprintf("a call with arguments that cannot be read: %q", excerpt(call.Raw+string(call.Args)))
	case args.Path == nil || *args.Path != writePath:
		return fmt.Sprintf("a call with another path: %s", excerpt(string(call.Args)))
	case strings.TrimSuffix(*args.Text, "\n") != writeText:
		return fmt.Sprintf("a call with another text: %q", excerpt(*args.Text))
	}
	return ""
}

// leave is the stage "no call": a plain question is answered without a tool. It decides nothing either.
func (c *checker) leave(ctx context.Context) {
	req := c.request(plainUser, 7, []chat.Spec{sumSpec})
	stage := StageReport{Name: "no call", Sent: c.asked(plainUser, req)}
	if ctx.Err() != nil {
		stage.Got = "not asked: no time was left"
		c.report.put(stage)
		return
	}
	answer, took, err := c.ask(ctx, req)
	stage.Ran, stage.Took = true, took
	switch {
	case err != nil:
		stage.Got = "no answer: " + err.Error()
	case len(answer.Calls) > 0:
		stage.Got = fmt.Sprintf("a call of %s, for which there was no need", answer.Calls[0].Name)
	case strings.TrimSpace(answer.Text) == "":
		stage.Got = "an empty answer"
	default:
		stage.Passed, stage.Got = true, fmt.Sprintf("%q", excerpt(answer.Text))
	}
	if !stage.Passed {
		c.report.Notes = append(c.report.Notes, "it does not simply answer a plain question: expect calls that nobody needs")
	}
	c.report.put(stage)
}
