package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"interpreter/sandbox"
	"interpreter/sandbox/helper"
)

// confineCommand is how the sandbox calls this program when the small helper is not embedded.
const confineCommand = "__sandbox"

func confineMain() int { return helper.Main() }

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
			code, err := sandbox.RunForeground(cmd.Context(), box, sandbox.Command{Argv: args, Env: s.childEnvironment(w)}, os.Stdin, os.Stdout, os.Stderr)
			if err != nil {
				return err
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
