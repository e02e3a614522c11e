package main

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"interpreter/harness/catalog"
)

//go:embed help/*.md
var helpPages embed.FS

// newHelp answers `help TOPIC` from the embedded pages, and `help COMMAND` as usual.
func newHelp(root *cobra.Command, w world) *cobra.Command {
	return &cobra.Command{
		Use:   "help [TOPIC | COMMAND]",
		Short: "Read the manual, offline",
		Args:  cobra.ArbitraryArgs,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return topics(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				if err := root.Help(); err != nil {
					return err
				}
				fmt.Fprintf(w.stdout, "\nTopics (interpreter help TOPIC):\n")
				if err := listTopics(w); err != nil {
					return err
				}
				_, err := fmt.Fprintf(w.stdout, "Every harness has a page as well, such as: interpreter help qwen-code\n")
				return err
			}
			page, err := helpPages.ReadFile("help/" + strings.ToLower(args[0]) + ".md")
			if err == nil {
				_, err = fmt.Fprint(w.stdout, strings.Replace(string(page), "{{harnesses}}\n", harnessTable(), 1))
				return err
			}
			if h, err := catalog.Named(args[0]); err == nil && args[0] != "" {
				return showHarness(w, h)
			}
			if c, _, err := root.Find(args); err == nil && c != root {
				return c.Help()
			}
			return usageError{fmt.Errorf("no topic or command %q; topics: %s", args[0], strings.Join(topics(), ", "))}
		},
	}
}

func topics() []string {
	files, _ := fs.Glob(helpPages, "help/*.md")
	for i, f := range files {
		files[i] = strings.TrimSuffix(strings.TrimPrefix(f, "help/"), ".md")
	}
	return files
}

// listTopics prints each topic with the title of its page.
func listTopics(w world) error {
	for _, topic := range topics() {
		page, err := helpPages.ReadFile("help/" + topic + ".md")
		if err != nil {
			return err
		}
		title, _, _ := strings.Cut(string(page), "\n")
		fmt.Fprintf(w.stdout, "  %-12s %s\n", topic, strings.TrimPrefix(title, "# "))
	}
	return nil
}
