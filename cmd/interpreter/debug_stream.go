package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"interpreter/harness"
	"interpreter/harness/textcall"
	"interpreter/local/chat"
	"interpreter/local/messages"
	"interpreter/local/ollama"
	"interpreter/local/openai"
	"interpreter/local/responses"
)

// wires read the body of one answer, each as the provider that speaks it does. tools are those that were offered.
var wires = []struct {
	name   string
	decode func(body io.Reader, tools []chat.Spec) iter.Seq2[chat.Delta, error]
}{
	{"ollama", func(body io.Reader, _ []chat.Spec) iter.Seq2[chat.Delta, error] { return ollama.Decode(body) }},
	{"chat", openai.Decode},
	{"responses", func(body io.Reader, _ []chat.Spec) iter.Seq2[chat.Delta, error] { return responses.Decode(body) }},
	{"messages", func(body io.Reader, _ []chat.Spec) iter.Seq2[chat.Delta, error] { return messages.Decode(body) }},
}

// streamed is what a body became, in the words of the cases.
type streamed struct {
	Text      string         `json:"text"`
	Reasoning string         `json:"reasoning"`
	Calls     []streamedCall `json:"calls"`
	Outcome   string         `json:"outcome"` // "ok", "incomplete", "no-answer", "error"
	Usage     *streamedUsage `json:"usage,omitempty"`
	Notice    string         `json:"notice,omitempty"`
	ToolError string         `json:"tool_error,omitempty"` // what the model would be told
	Error     string         `json:"error,omitempty"`      // what the person would be told
}

type streamedCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type streamedUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
}

// newDebugStream shows what the program makes of the body of an answer.
func newDebugStream(w world) *cobra.Command {
	var wire, tools, id string
	c := &cobra.Command{
		Use:   "stream --wire WIRE",
		Short: "Read the body of a model server's answer from standard input, and print what it says as JSON",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			h, err := decoding(id, tools)
			if err != nil {
				return err
			}
			var offered []chat.Spec
			if id != "" || tools != "" {
				offered = harness.Specs(h.Tools)
			}
			var names []string
			for _, known := range wires {
				if known.name == wire {
					out := json.NewEncoder(w.stdout)
					out.SetEscapeHTML(false)
					return out.Encode(hear(known.decode(w.stdin, offered), h, offered != nil))
				}
				names = append(names, known.name)
			}
			return usageError{fmt.Errorf("--wire %q: there are %s", wire, strings.Join(names, ", "))}
		},
	}
	c.Flags().StringVar(&wire, "wire", "chat", "what the server speaks: ollama, chat, responses or messages")
	c.Flags().StringVar(&tools, "tools", "", "file with the tools that were offered, as a list in the form of the chat wire")
	c.Flags().StringVar(&id, "harness", "", "harness that reads the answer")
	return c
}

// readTools reads tools in the form of the chat wire, or bare ones.
func readTools(name string) ([]chat.Spec, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the tools: %w", err)
	}
	var list []struct {
		chat.Spec
		Function *chat.Spec `json:"function"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		what := "it is no JSON: " + err.Error()
		if json.Valid(data) {
			what = "it has another form"
		}
		return nil, fmt.Errorf("read the tools of %s: %s; want a list of tools, [{\"name\":\"…\",\"parameters\":{…}}, …] or [{\"type\":\"function\",\"function\":{…}}, …]", name, what)
	}
	var specs []chat.Spec
	for _, t := range list {
		if t.Function != nil {
			t.Spec = *t.Function
		}
		if t.Spec.Name == "" {
			return nil, fmt.Errorf("read the tools of %s: tool %d has no name; want [{\"name\":\"…\",\"parameters\":{…}}, …]", name, len(specs)+1)
		}
		specs = append(specs, t.Spec)
	}
	return specs, nil
}

// hear puts an answer together and reads it as the agent does. offered says that the tools of the harness are those that
// the model was offered.
func hear(deltas iter.Seq2[chat.Delta, error], h harness.Harness, offered bool) streamed {
	out := streamed{Calls: []streamedCall{}, Outcome: "ok"}
	a := harness.Answer{Message: chat.Message{Role: chat.Assistant}}
	var text, thinking strings.Builder
	for d, err := range deltas {
		if err != nil {
			out.Outcome, out.Error = "error", err.Error()
			break
		}
		text.WriteString(d.Text)
		thinking.WriteString(d.Thinking)
		if d.Call != nil {
			a.Message.Calls = append(a.Message.Calls, *d.Call)
		}
		if d.Usage != nil {
			out.Usage = &streamedUsage{d.Usage.Input, d.Usage.Output}
		}
		if d.Finish != "" {
			a.Finish = d.Finish
		}
	}
	numbers := numbering(a.Message.Calls)
	a.Message.Text, a.Message.Thinking = strings.ToValidUTF8(text.String(), "\uFFFD"), strings.ToValidUTF8(thinking.String(), "\uFFFD")
	if out.Error != "" { // of an answer that broke off no call is made
		a.Message.Calls = nil
	}
	read, err := h.Read(a)
	out.Text, out.Reasoning, out.Notice = read.Message.Text, read.Message.Thinking, read.Notice
	switch {
	case out.Error != "":
		return out
	case errors.Is(err, textcall.ErrCut), a.Finish == chat.CutShort:
		out.Outcome = "incomplete"
		if err != nil || len(read.Message.Calls) > 0 {
			out.Notice = "tool_call_truncated"
		}
		return out
	case err != nil:
		out.Outcome, out.ToolError = "error", h.Say("", err)
		return out
	}
	numbers.fill(read.Message.Calls)
	return out.settle(read.Message, h, offered)
}

// idNumbers gives the calls that a server did not name ids that are the same each time.
type idNumbers map[string]bool

func numbering(calls []chat.Call) idNumbers {
	given := idNumbers{}
	for _, c := range calls {
		given[c.ID] = true
	}
	return given
}

// fill names each call whose id came from no server by its number, or the next one that is free.
func (given idNumbers) fill(calls []chat.Call) {
	for i := range calls {
		if given[calls[i].ID] && calls[i].ID != "" {
			continue
		}
		n := i + 1
		for ; given[fmt.Sprintf("call_%d", n)]; n++ {
		}
		calls[i].ID = fmt.Sprintf("call_%d", n)
		given[calls[i].ID] = true
	}
}

// settle says what comes of the calls of an answer that ended by itself. One whose arguments are no object cannot run.
func (out streamed) settle(m chat.Message, h harness.Harness, offered bool) streamed {
	for _, c := range m.Calls {
		var err error
		if offered {
			_, err = h.Step(c)
		} else if c.Raw != "" {
			err = &harness.ArgumentsError{Tool: c.Name, Raw: c.Raw, Problems: []harness.Problem{{What: "not a JSON object"}}}
		}
		if err != nil && out.ToolError == "" {
			out.ToolError = h.Say(c.Name, err)
		}
		if c.Raw == "" {
			out.Calls = append(out.Calls, streamedCall{c.ID, c.Name, c.Args})
		}
	}
	switch {
	case len(m.Calls) > 0 && len(out.Calls) == 0:
		out.Outcome = "error"
	case len(m.Calls) == 0 && strings.TrimSpace(out.Text) == "":
		out.Outcome = "no-answer"
	}
	return out
}
