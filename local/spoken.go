package local

import (
	"context"
	"fmt"
	"strings"

	"interpreter/local/chat"
)

// A harness that speaks in text offers no tools, so the stages that decide are asked in its own form: a command to run,
// then what it printed.
const (
	spokenUser   = "Run exactly this one command, in the form you were told to use: echo 17+25=$((17+25))"
	spokenSign   = "echo 17+25="
	spokenResult = "17+25=42, filed under %s\n\nNow name the code it was filed under. Run nothing more."
)

// speak runs those two stages. A model that answers one wrongly gets a second chance with another seed.
func (c *checker) speak(ctx context.Context) (Verdict, error) {
	answer, err := c.command(ctx, 7)
	if c.again(err) {
		answer, err = c.command(ctx, 8)
	}
	if err != nil {
		return "", err
	}
	err = c.printed(ctx, answer, 7)
	if c.again(err) {
		err = c.printed(ctx, answer, 8)
	}
	return Spoken, err
}

// command is the stage "call" in text: an answer in which the harness finds exactly the command asked for.
func (c *checker) command(ctx context.Context, seed int) (chat.Message, error) {
	req := c.request(spokenUser, seed, nil)
	stage := StageReport{Name: "call", Sent: fmt.Sprintf("%q behind the opening of %s", spokenUser, c.prefix.Harness), Ran: true}
	answer, took, err := c.ask(ctx, req)
	stage.Took = took
	if err != nil {
		return answer, c.refused(stage, err)
	}
	read, err := c.prefix.Read(answer)
	switch {
	case err != nil:
		return answer, c.wrong(stage, fmt.Sprintf("an answer that %s cannot read (%s): %q", c.prefix.Harness, excerpt(err.Error()), excerpt(answer.Text)))
	case len(read.Calls) == 0:
		return answer, c.wrong(stage, fmt.Sprintf("no command, but the text %q", excerpt(answer.Text)))
	case !strings.Contains(string(read.Calls[0].Args), spokenSign):
		return answer, c.wrong(stage, fmt.Sprintf("another command: %s", excerpt(string(read.Calls[0].Args))))
	}
	stage.Passed, stage.Got = true, fmt.Sprintf("the command, as text: %s", excerpt(string(read.Calls[0].Args)))
	c.report.put(stage)
	return answer, nil
}

// printed is the stage "result" in text: the answer must hold what the command printed.
func (c *checker) printed(ctx context.Context, asked chat.Message, seed int) error {
	told := fmt.Sprintf(spokenResult, c.receipt)
	stage := StageReport{Name: "result", Sent: fmt.Sprintf("%q", told), Ran: true}
	answer, took, err := c.ask(ctx, c.request(spokenUser, seed, nil,
		chat.Message{Role: chat.Assistant, Text: asked.Text, Thinking: asked.Thinking}, chat.Message{Role: chat.User, Text: told}))
	stage.Took = took
	switch {
	case err != nil:
		return c.refused(stage, err)
	case strings.TrimSpace(answer.Text) == "":
		return c.wrong(stage, "an empty answer")
	case !strings.Contains(answer.Text, c.receipt):
		return c.wrong(stage, fmt.Sprintf("the text %q, which does not name the code", excerpt(answer.Text)))
	}
	stage.Passed, stage.Got = true, fmt.Sprintf("%q", excerpt(answer.Text))
	c.report.put(stage)
	return nil
}
