package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"interpreter/harness/catalog"
)

// newRoot builds the whole command tree for one run.
func newRoot(w world) *cobra.Command {
	f := &flags{}
	root := &cobra.Command{
		Use:   name(w) + " [PROMPT]",
		Short: "A coding agent for the terminal that runs on the models of your own machine",
		Long: "interpreter reads your repository, edits files, runs commands in a sandbox and checks its own work,\n" +
			"with a model that runs on this machine.",
		Args:          cobra.ArbitraryArgs,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return f.check()
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && !strings.Contains(args[0], " ") {
				if near := c.SuggestionsFor(args[0]); len(near) > 0 {
					return usageError{fmt.Errorf("%q is no command; did you mean %s?", args[0], strings.Join(near, " or "))}
				}
			}
			return try(fmt.Errorf("this build has no interactive screen"), `interpreter exec "your task", and interpreter exec resume --last "the next one"`)
		},
	}
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate("interpreter {{.Version}}\n")
	root.SetOut(w.stdout)
	root.SetErr(w.stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.CompletionOptions.DisableDefaultCmd = true
	root.Flags().BoolP("version", "V", false, "print name and version")
	root.PersistentFlags().BoolP("help", "h", false, "help for the command")
	f.addTo(root.PersistentFlags())
	root.AddCommand(
		newExec(w, f),
		newSandbox(w, f),
		newDebug(w, f),
		newPractice(w),
		newHarness(w),
		newCompletion(root, w),
	)
	root.SetHelpCommand(newHelp(root, w))
	complete(root)
	return root
}

// complete teaches the shell the values of flags that have a list, and keeps flags of a run out of the help of
// commands that run nothing.
func complete(root *cobra.Command) {
	var harnesses []string
	for _, h := range catalog.All() {
		harnesses = append(harnesses, h.Name)
	}
	for flag, values := range map[string][]string{
		"harness": harnesses, "local-provider": {"ollama"},
		"sandbox":          {"read-only", "workspace-write", "danger-full-access"},
		"ask-for-approval": {"untrusted", "on-request", "never"},
	} {
		_ = root.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	for _, c := range root.Commands() {
		switch c.Name() {
		case "practice", "harness", "completion", "help":
			for _, one := range append(c.Commands(), c) {
				one.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .HasAvailableInheritedFlags}}", "{{if false}}", 1))
			}
		}
	}
}

// name is what the person called us: interpreter, or i.
func name(w world) string {
	if filepath.Base(w.argv0) == "i" {
		return "i"
	}
	return "interpreter"
}

// newCompletion prints a completion script.
func newCompletion(root *cobra.Command, w world) *cobra.Command {
	return &cobra.Command{
		Use:       "completion [bash|zsh|fish|powershell]",
		Short:     "Print a completion script for a shell",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      usageArgs(cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs)),
		RunE: func(_ *cobra.Command, args []string) error {
			shell := "bash"
			if len(args) == 1 {
				shell = args[0]
			}
			for _, second := range []string{"interpreter", "i"} {
				root.Use = second
				var err error
				switch shell {
				case "bash":
					err = root.GenBashCompletionV2(w.stdout, true)
				case "zsh":
					err = root.GenZshCompletion(w.stdout)
				case "fish":
					err = root.GenFishCompletion(w.stdout, true)
				case "powershell":
					err = root.GenPowerShellCompletionWithDesc(w.stdout)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// usageArgs turns a complaint about positional arguments into a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}
