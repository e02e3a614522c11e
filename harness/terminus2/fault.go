package terminus2

import (
	"errors"
	"fmt"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

// The shapes of a reply, for one that had another.
const (
	shapeJSON = `{"analysis": "…", "plan": "…", "commands": [{"keystrokes": "ls\n", "duration": 0.1}], "task_complete": false}`
	shapeXML  = "<response>\n<analysis>…</analysis>\n<plan>…</plan>\n<commands>\n<keystrokes duration=\"0.1\">ls\n</keystrokes>\n</commands>\n<task_complete>false</task_complete>\n</response>"
)

// fault words a reply that was sent back, and keys that were not typed.
func fault(tool string, err error) string {
	var (
		parse    *ParseError
		unknown  *harness.UnknownToolError
		bad      *harness.ArgumentsError
		denied   *action.DeniedError
		declined *harness.DeclinedError
		aborted  *harness.AbortedError
	)
	switch {
	case errors.As(err, &parse):
		return misread(parse)
	case errors.Is(err, errLimit):
		return "ERROR: your reply exceeded the output limit and was cut off. Nothing of it was typed.\n\nReply again with less: a short analysis and plan, and fewer keystrokes. Write a long file in parts, each in a reply of its own, the first with cat > FILE and the others with cat >> FILE."
	case errors.As(err, &unknown):
		return misread(&ParseError{What: "there is no command " + unknown.Name + " here; keys are typed into a terminal"})
	case errors.As(err, &bad):
		return misread(&ParseError{What: bad.Error()})
	case errors.As(err, &denied):
		return fmt.Sprintf("Nothing was typed: the sandbox does not allow it (%s). Find another way, or report what is needed in analysis.", denied.Why)
	case errors.As(err, &declined):
		return "Nothing was typed. " + harness.PlainDeclined(declined)
	case errors.As(err, &aborted):
		return fmt.Sprintf("The user interrupted the wait after %.1f seconds. What was typed until then may still run in the terminal.", aborted.After.Seconds())
	}
	return "ERROR: " + harness.Plain(tool, err)
}

// misread says what is wrong with a reply, and asks for another.
func misread(e *ParseError) string {
	var b strings.Builder
	b.WriteString("Your last reply could not be read, and nothing of it was typed.\n\nERROR: " + e.What)
	if len(e.Warnings) > 0 {
		b.WriteString("\nWARNINGS:\n" + listed(e.Warnings))
	}
	if e.XML {
		return b.String() + "\n\nReply again, in this form and with nothing around it:\n\n" + shapeXML
	}
	return b.String() + "\n\nReply again with one valid JSON object and nothing around it:\n\n" + shapeJSON
}
