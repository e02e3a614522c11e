package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"interpreter/harness"
	"interpreter/harness/catalog"
	"interpreter/local"
	"interpreter/local/chat"
)

// newHarness shows what can be presented to a model.
func newHarness(w world) *cobra.Command {
	c := &cobra.Command{Use: "harness", Short: "What is presented to a model: instructions, tools, wording"}
	var asJSON bool
	list := &cobra.Command{
		Use:   "list",
		Short: "List the harnesses",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return listHarnessesJSON(w)
			}
			t := table{heads: []string{"harness", ">tools", ">first request", "for"}}
			for _, h := range catalog.All() {
				d := describe(h)
				t.add(h.Name, toolCount(d), size(d.Request.Total), h.About)
			}
			return t.write(w.stdout)
		},
	}
	list.Flags().BoolVar(&asJSON, "json", false, "machine-readable")
	show := &cobra.Command{
		Use:   "show ID",
		Short: "What one harness offers, for whom, and what its prompt costs",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] == auto {
				return showAuto(w, asJSON)
			}
			h, err := namedHarness(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(w.stdout, describe(h))
			}
			return showHarness(w, h)
		},
	}
	show.Flags().BoolVar(&asJSON, "json", false, "machine-readable")
	c.AddCommand(list, show)
	return c
}

// described is a harness as others may want to read it: what exec's first request would be in a repository.
type described struct {
	ID       string        `json:"id"`
	About    string        `json:"about"`
	Models   []string      `json:"models"` // globs of names that choose it
	Wires    []string      `json:"wires"`
	Text     bool          `json:"text_protocol"` // no tools are sent
	Tools    []string      `json:"tools"`
	Asked    []string      `json:"requested"` // offered only when harness_tools names them
	Request  harness.Sizes `json:"first_request"`
	Page     string        `json:"page"` // Markdown
	Selected string        `json:"chosen"`
}

func describe(h harness.Harness) described {
	d := described{ID: h.Name, About: h.About, Models: h.Suits.Models, Wires: []string{"ollama", "chat", "responses"}, Text: h.Text, Tools: []string{}, Page: h.AboutPage(), Selected: chosenBy(h)}
	if h.Messages {
		d.Wires = append(d.Wires, "messages")
	}
	if d.Models == nil {
		d.Models = []string{}
	}
	if d.Asked = h.OnRequest(); d.Asked == nil {
		d.Asked = []string{}
	}
	env := sampleEnvironment()
	opening, tools, err := h.Begin(env)
	if err != nil {
		return d
	}
	for _, t := range tools {
		d.Tools = append(d.Tools, t.Name)
	}
	req := h.Request(env, opening, tools, []chat.Message{{Role: chat.User, Text: "Hello"}}, 0)
	d.Request = harness.Stats(req.Messages, req.Tools)
	return d
}

func listHarnessesJSON(w world) error {
	var rows []described
	for _, h := range catalog.All() {
		rows = append(rows, describe(h))
	}
	out := json.NewEncoder(w.stdout)
	out.SetEscapeHTML(false)
	return out.Encode(rows)
}

func showHarness(w world, h harness.Harness) error {
	d := describe(h)
	fmt.Fprintf(w.stdout, "%s\n  for      %s\n  chosen   %s\n  wires    %s\n", h.Name, h.About, d.Selected, strings.Join(d.Wires, ", "))
	if h.Text {
		fmt.Fprintf(w.stdout, "  tools    none: calls are written as text\n")
	} else {
		fmt.Fprintf(w.stdout, "  tools    %s\n", strings.Join(d.Tools, ", "))
	}
	if len(d.Asked) > 0 {
		fmt.Fprintf(w.stdout, "  request  %s: only when harness_tools names them\n", strings.Join(d.Asked, ", "))
	}
	fmt.Fprintf(w.stdout, "  prompt   about %d tokens: %d of instructions, %d of tools, %d of context\n\n%s\n",
		d.Request.Total.Tokens, d.Request.Instructions.Tokens, d.Request.Tools.Tokens, d.Request.Context.Tokens, d.Page)
	return nil
}

// onlyByName is how a harness is chosen that suits no model by itself.
const onlyByName = "only by name"

func chosenBy(h harness.Harness) string {
	if fallback, _ := catalog.For(catalog.Model{}); fallback.Name == h.Name {
		return "when nothing else matches"
	}
	var by []string
	if len(h.Suits.Models) > 0 {
		by = append(by, "for models like "+strings.Join(h.Suits.Models, ", "))
	}
	if h.Suits.Wire != "" {
		by = append(by, "on the "+h.Suits.Wire+" wire")
	}
	if slices.ContainsFunc(local.Catalogue(), func(e local.Entry) bool { return e.Harness == h.Name }) {
		by = append(by, "for models that our list of models names it for")
	}
	if len(by) == 0 {
		return onlyByName
	}
	return strings.Join(by, "; ")
}

// auto is what is chosen when nobody names a harness, for programs and for people.
const auto = "auto"

// showAuto says what the word stands for: it is no harness.
func showAuto(w world, asJSON bool) error {
	type choice struct {
		ID     string `json:"id"`
		Chosen string `json:"chosen"`
	}
	var all []choice
	width := 0
	fallback, _ := catalog.For(catalog.Model{})
	for _, h := range catalog.All() {
		if by := chosenBy(h); by != onlyByName && h.Name != fallback.Name {
			all = append(all, choice{h.Name, by})
			width = max(width, len(h.Name))
		}
	}
	if asJSON {
		return writeJSON(w.stdout, struct {
			ID      string   `json:"id"`
			Choices []choice `json:"choices"`
			Else    string   `json:"otherwise"`
		}{auto, all, fallback.Name})
	}
	fmt.Fprintf(w.stdout, "auto is no harness: it has one chosen by the model, as when none is named. The first that suits:\n")
	for _, one := range all {
		fmt.Fprintf(w.stdout, "  %-*s  %s\n", width, one.ID, one.Chosen)
	}
	_, err := fmt.Fprintf(w.stdout, "Any other model gets %s. The rest are chosen only by name. interpreter help harnesses says in which order the rules are tried.\n", fallback.Name)
	return err
}

// toolCount is how many tools a harness sends, for a table.
func toolCount(d described) string {
	if d.Text {
		return "text"
	}
	return fmt.Sprint(len(d.Tools))
}

func size(s harness.Size) string { return fmt.Sprintf("%.1f KB", float64(s.Bytes)/1000) }

// harnessTable is the Markdown table of all harnesses, for the help page.
func harnessTable() string {
	var b strings.Builder
	b.WriteString("| Harness | For | Tools | First request |\n|---|---|---|---|\n")
	for _, h := range catalog.All() {
		d := describe(h)
		tools := strings.Join(d.Tools, ", ")
		if d.Text {
			tools = "none: calls are written as text"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", h.Name, h.About, tools, size(d.Request.Total))
	}
	return b.String()
}
