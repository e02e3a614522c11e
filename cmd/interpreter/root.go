package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
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
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if f.profile != "" && !runs(c) {
				return usageError{fmt.Errorf("--profile has no effect on %s", c.CommandPath())}
			}
			return f.check()
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && !strings.Contains(args[0], " ") {
				if near := c.SuggestionsFor(args[0]); len(near) > 0 {
					return usageError{fmt.Errorf("%q is no command; did you mean %s?", args[0], strings.Join(near, " or "))}
				}
			}
			if len(args) == 0 {
				if first, err := w.firstRun(f); err != nil || first {
					if err == nil {
						err = w.setup(c.Context(), f, setupFlags{})
					}
					return err
				}
			}
			return try(fmt.Errorf("this build has no interactive screen"), `interpreter exec "your task", and interpreter exec resume --last "the next one"`)
		},
	}
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate("interpreter {{.Version}}\n")
	root.SetOut(w.stdout)
	root.SetErr(w.stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usageError{try(err, c.CommandPath()+" --help")} })
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().BoolP("help", "h", false, "help for the command")
	f.addTo(root.PersistentFlags())
	root.AddCommand(
		newExec(w, f),
		newSandbox(w, f),
		newDebug(w, f),
		newModels(w, f),
		newFit(w, f),
		newProbe(w),
		newServe(w, f),
		newDoctor(w, f),
		newSetup(w, f),
		newPractice(w),
		newHarness(w),
		newApprovals(w, f),
		newExecpolicy(w),
		newCompletion(root, w),
	)
	root.SetHelpCommand(newHelp(root, w))
	strictly(root)
	versioned(root)
	complete(root, w, f)
	return root
}

// complete teaches the shell the values of flags that have a list, and keeps flags of a run out of the help of
// commands where they do nothing.
func complete(root *cobra.Command, w world, f *flags) {
	for flag, values := range map[string][]string{
		"harness":          harnessNames(),
		"sandbox":          {"read-only", "workspace-write", "danger-full-access"},
		"ask-for-approval": {"untrusted", "on-request", "never"},
	} {
		_ = root.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	_ = root.RegisterFlagCompletionFunc("local-provider", asked(w, f, (*settings).ids))
	_ = root.RegisterFlagCompletionFunc("model", asked(w, f, func(s *settings) []string { return s.installed(w, f) }))
	briefly(root, root)
	for _, c := range root.Commands() {
		if runs(c) {
			continue
		}
		for _, one := range append(c.Commands(), c) {
			one.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .HasAvailableInheritedFlags}}", "{{if false}}", 1))
		}
	}
}

// asked completes a word with what the settings know.
func asked(w world, f *flags, names func(*settings) []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		s, err := w.settings(f, choices{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(&s), cobra.ShellCompDirectiveNoFileComp
	}
}

// runs reports whether a command reads the settings of a run.
func runs(c *cobra.Command) bool {
	for c.HasParent() && c.Parent().HasParent() {
		c = c.Parent()
	}
	switch c.Name() {
	case "practice", "harness", "completion", "help", "probe", "execpolicy":
		return false
	}
	return true
}

// strictly has a command that only collects others refuse a word that is none of them, and has every complaint about a
// command line name the help of the command that it was about.
func strictly(c *cobra.Command) {
	if c.HasSubCommands() && c.Run == nil && c.RunE == nil {
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			err := fmt.Errorf("%q is no command of %s", args[0], c.CommandPath())
			if near := c.SuggestionsFor(args[0]); len(near) > 0 {
				err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
			}
			return usageError{err}
		}
	}
	if run := c.RunE; run != nil && c.HasParent() {
		c.RunE = func(c *cobra.Command, args []string) error {
			err := run(c, args)
			var usage usageError
			if errors.As(err, &usage) && remedyOf(err) == "" {
				return usageError{try(err, c.CommandPath()+" --help")}
			}
			return err
		}
	}
	for _, below := range c.Commands() {
		if below.SuggestionsMinimumDistance == 0 {
			below.SuggestionsMinimumDistance = 2
		}
		strictly(below)
	}
}

// versioned gives every command the flag that prints name and version.
func versioned(c *cobra.Command) {
	c.Version = version
	c.Flags().BoolP("version", "V", false, "print name and version")
	for _, below := range c.Commands() {
		versioned(below)
	}
}

// name is what the person called us: interpreter, or i.
func name(w world) string {
	if filepath.Base(w.argv0) == "i" {
		return "i"
	}
	return "interpreter"
}

// usageArgs turns a complaint about positional arguments into a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			if strings.Contains(err.Error(), "arg(s)") {
				err = fmt.Errorf("want %s, got %d arguments", strings.TrimSuffix(c.UseLine(), " [flags]"), len(args))
			}
			return usageError{try(err, c.CommandPath()+" --help")}
		}
		return nil
	}
}
