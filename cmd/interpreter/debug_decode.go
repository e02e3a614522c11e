package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"interpreter/harness"
	"interpreter/harness/textcall"
	"interpreter/local/chat"
)

// decoded is what an answer's text became, in the words of the cases.
type decoded struct {
	Text      string        `json:"text"`
	Reasoning string        `json:"reasoning"`
	Calls     []decodedCall `json:"calls"`
	Outcome   string        `json:"outcome"` // "ok", "incomplete", "no-answer", "error"
	Notice    string        `json:"notice,omitempty"`
	ToolError string        `json:"tool_error,omitempty"` // what the model would be told
	Error     string        `json:"error,omitempty"`      // why it cannot run as it stands
}

type decodedCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// newDebugDecode shows what the program makes of the text of an answer.
func newDebugDecode(w world) *cobra.Command {
	var tools, id, finish string
	c := &cobra.Command{
		Use:   "decode --tools FILE",
		Short: "Read the text of a model's answer from standard input, and print the calls in it as JSON",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if tools == "" && id == "" {
				return usageError{errors.New("--tools or --harness must say which tools were offered")}
			}
			ending, err := finished(finish)
			if err != nil {
				return err
			}
			h, err := decoding(id, tools)
			if err != nil {
				return err
			}
			text, err := io.ReadAll(w.stdin)
			if err != nil {
				return fmt.Errorf("read the answer: %w", err)
			}
			a := harness.Answer{Finish: ending}
			a.Message = chat.Message{Role: chat.Assistant, Text: strings.ToValidUTF8(string(text), "\uFFFD")}
			out := json.NewEncoder(w.stdout)
			out.SetEscapeHTML(false)
			return out.Encode(decode(h, a))
		},
	}
	c.Flags().StringVar(&tools, "tools", "", "`file` with the tools that were offered: a list of objects with name and parameters")
	c.Flags().StringVar(&id, "harness", "", "`harness` that reads the answer; one that reads text in its own way does so among its own tools")
	c.Flags().StringVar(&finish, "finish", "stop", "why the model stopped, as its server says it: stop, length, tool_calls and the like")
	return c
}

// decoding is the harness that reads: the one of an id, whose tools those of a file replace unless it reads text in its
// own way.
func decoding(id, file string) (harness.Harness, error) {
	h, err := namedHarness(id)
	if err != nil || file == "" || h.Decode != nil {
		return h, err
	}
	specs, err := readTools(file)
	if err != nil {
		return h, err
	}
	if id != "" {
		return h.Offering(specs), nil
	}
	return harness.Described(specs), nil
}

// The reasons that servers give for the end of an answer: it was whole, or something cut it off.
var (
	wholeReasons = []string{"stop", "tool_calls", "function_call", "end_turn", "tool_use", "stop_sequence", "completed"}
	shortReasons = []string{"length", "max_tokens", "max_output_tokens", "incomplete", "error"}
)

// finished is a finish reason as a server writes it.
func finished(reason string) (chat.Finish, error) {
	switch {
	case slices.Contains(wholeReasons, reason):
		return chat.Stopped, nil
	case slices.Contains(shortReasons, reason):
		return chat.CutShort, nil
	}
	return "", usageError{fmt.Errorf("--finish %q: want one of %s", reason, strings.Join(append(slices.Clip(wholeReasons), shortReasons...), ", "))}
}

// decode reads an answer as the agent does, and says what would come of its calls.
func decode(h harness.Harness, a harness.Answer) decoded {
	read, err := h.Read(a)
	m := read.Message
	out := decoded{Text: m.Text, Reasoning: m.Thinking, Calls: []decodedCall{}, Outcome: "ok", Notice: read.Notice}
	switch {
	case errors.Is(err, textcall.ErrCut):
		out.Outcome, out.Error = "incomplete", err.Error()
		return out
	case err != nil:
		out.Text, out.Outcome, out.Error, out.ToolError = "", "error", err.Error(), h.Say("", err)
		return out
	}
	for _, c := range m.Calls {
		step, err := h.Step(c)
		if last, ok := harness.Finishing(c.Name, c.Args); ok && errors.As(err, new(*harness.UnknownToolError)) {
			if last != "" { // its last word is the answer
				out.Text = last
			}
			continue
		}
		if err != nil && out.ToolError == "" {
			out.ToolError = h.Say(c.Name, err)
		}
		if name, args, ok := harness.AsDescribed(step); ok {
			c.Name, c.Args = name, args
		}
		out.Calls = append(out.Calls, decodedCall{c.Name, c.Args})
	}
	if len(m.Calls) == 0 && strings.TrimSpace(out.Text) == "" {
		out.Outcome = "no-answer"
	}
	return out
}
