package native

import (
	"fmt"
	"strings"

	"interpreter/harness"
	"interpreter/local/chat"
)

// open gives the project's instructions and the environment, each in a message of its own that its tag marks as not
// the user's speech.
func open(env harness.Environment) []chat.Message {
	var all []chat.Message
	if len(env.Docs) > 0 {
		var texts []string
		for _, d := range env.Docs {
			texts = append(texts, strings.TrimSpace(d.Text))
		}
		all = append(all, user(fmt.Sprintf("# AGENTS.md instructions for %s\n\n<INSTRUCTIONS>\n%s\n</INSTRUCTIONS>", env.Dir, strings.Join(texts, "\n\n--- project-doc ---\n\n"))))
	}
	var b strings.Builder
	b.WriteString("<environment_context>\n")
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  <%s>%s</%s>\n", name, escaped(value), name)
		}
	}
	field("cwd", env.Dir)
	field("shell", env.Shell)
	field("current_date", env.Date.Format("2006-01-02"))
	field("timezone", env.Zone)
	b.WriteString("</environment_context>")
	return append(all, user(b.String()))
}

func user(text string) chat.Message { return chat.Message{Role: chat.User, Text: text} }

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func escaped(text string) string { return escape.Replace(text) }
