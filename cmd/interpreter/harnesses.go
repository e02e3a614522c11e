package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"interpreter/harness"
	"interpreter/harness/catalog"
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
			for _, h := range catalog.All() {
				fmt.Fprintf(w.stdout, "%-12s %s\n", h.Name, h.About)
			}
			return nil
		},
	}
	list.Flags().BoolVar(&asJSON, "json", false, "machine-readable")
	show := &cobra.Command{
		Use:   "show ID",
		Short: "What one harness offers, for whom, and what its prompt costs",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			h, err := catalog.Named(args[0])
			if err != nil {
				return err
			}
			return showHarness(w, h)
		},
	}
	c.AddCommand(list, show)
	return c
}

func listHarnessesJSON(w world) error {
	type row struct {
		ID     string   `json:"id"`
		About  string   `json:"about"`
		Models []string `json:"models"`
		Tools  []string `json:"tools"`
	}
	var rows []row
	for _, h := range catalog.All() {
		rows = append(rows, row{h.Name, h.About, h.Models, toolNames(h)})
	}
	out := json.NewEncoder(w.stdout)
	out.SetEscapeHTML(false)
	return out.Encode(rows)
}

// toolNames are the tools of exec's first request.
func toolNames(h harness.Harness) []string {
	var names []string
	_, tools, _ := h.Begin(sampleEnvironment())
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}

func showHarness(w world, h harness.Harness) error {
	messages, tools, err := h.Begin(sampleEnvironment())
	if err != nil {
		return err
	}
	stats := harness.Stats(messages, tools)
	fmt.Fprintf(w.stdout, "%s\n  for      %s\n  chosen   %s\n", h.Name, h.About, chosenBy(h))
	fmt.Fprintf(w.stdout, "  tools    %s\n", strings.Join(toolNames(h), ", "))
	fmt.Fprintf(w.stdout, "  prompt   about %d tokens: %d of instructions, %d of tools, %d of context\n",
		stats.Total.Tokens, stats.Instructions.Tokens, stats.Tools.Tokens, stats.Context.Tokens)
	return nil
}

func chosenBy(h harness.Harness) string {
	if fallback, _ := catalog.For(catalog.Model{}); fallback.Name == h.Name {
		return "when nothing else matches"
	}
	if len(h.Models) == 0 {
		return "by name only"
	}
	return "for models like " + strings.Join(h.Models, ", ")
}
