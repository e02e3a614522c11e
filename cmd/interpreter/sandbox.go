package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"interpreter/sandbox"
)

// newSandbox runs one command as the agent would.
func newSandbox(w world, f *flags) *cobra.Command {
	c := &cobra.Command{
		Use:   "sandbox [-s MODE] [-C DIR] -- COMMAND [ARG…]",
		Short: "Run a command inside the sandbox; its exit code is the command's",
		Args:  usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := w.settings(f, choices{})
			if err != nil {
				return err
			}
			policy, err := s.policy(w, f)
			if err != nil {
				return err
			}
			for _, warning := range s.warnings {
				fmt.Fprintf(w.stderr, "warning: %s\n", warning)
			}
			box, err := sandbox.New(policy)
			if err != nil {
				return err
			}
			// The person typed this command and owns this environment: no name is taken for a secret unless they said so.
			secrets := s.ShellEnvironmentPolicy.IgnoreDefaultExcludes || !s.IsSet("shell_environment_policy", "ignore_default_excludes")
			command := sandbox.Command{Argv: args, Env: s.environment(w, secrets)}
			code, err := sandbox.RunForeground(cmd.Context(), box, command, os.Stdin, os.Stdout, os.Stderr)
			if err != nil {
				return notStarted(w, err)
			}
			if code != 0 {
				return exited(code)
			}
			return nil
		},
	}
	c.Flags().SetInterspersed(false)
	return c
}

// notStarted ends like a shell does for a program that is not there, or that may not be run.
func notStarted(w world, err error) error {
	code := 0
	switch {
	case errors.Is(err, sandbox.ErrNoProgram), errors.Is(err, fs.ErrNotExist):
		code = 127
	case errors.Is(err, fs.ErrPermission):
		code = 126
	default:
		return err
	}
	report(w.stderr, err)
	return exited(code)
}
