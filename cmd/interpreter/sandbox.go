package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"interpreter/sandbox"
)

// newSandbox runs one command as the agent would.
func newSandbox(w world, f *flags) *cobra.Command {
	var clean, all, remove bool
	c := &cobra.Command{
		Use:   "sandbox [-s MODE] [-C DIR] -- COMMAND [ARG…]",
		Short: "Run a command inside the sandbox; its exit code is the command's",
		Args: usageArgs(func(cmd *cobra.Command, args []string) error {
			switch {
			case (clean || remove) && len(args) > 0:
				return fmt.Errorf("--clean-cache and --remove-access run nothing, so leave out %s", args[0])
			case clean, remove:
				return nil
			case all:
				return errors.New("--all belongs to --clean-cache")
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if remove {
				return removeAccess(w, f)
			}
			if clean {
				return cleanCaches(w, f, all)
			}
			s, err := w.settings(f, choices{})
			if err != nil {
				return err
			}
			policy, err := s.policy(w, f)
			if err != nil {
				return err
			}
			for _, warning := range s.warnings {
				fmt.Fprintf(w.stderr, "warning: %s\n", harmless(warning))
			}
			box, err := sandbox.New(policy)
			if err != nil {
				return err
			}
			// The person typed this command and owns this environment: no name is taken for a secret unless they said so.
			secrets := s.ShellEnvironmentPolicy.IgnoreDefaultExcludes || !s.IsSet("shell_environment_policy", "ignore_default_excludes")
			command := sandbox.Command{Argv: args, Env: s.environment(w, secrets)}
			exit, err := sandbox.RunForeground(cmd.Context(), box, command, os.Stdin, os.Stdout, os.Stderr)
			if err != nil {
				if errors.Is(err, sandbox.ErrNoProgram) && !hasPath(command.Env) {
					err = try(err, `shell_environment_policy leaves out PATH; keep it with set = { PATH = "…" }`)
				}
				return notStarted(w, err)
			}
			for _, line := range slices.Concat(exit.Refused, exit.Notices) {
				fmt.Fprintf(w.stderr, "sandbox: %s\n", harmless(line))
			}
			if exit.Code != 0 {
				return exited(exit.Code)
			}
			return nil
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().BoolVar(&clean, "clean-cache", false, "free what commands wrote to build caches of this workspace, and run nothing")
	c.Flags().BoolVar(&all, "all", false, "with --clean-cache: of every workspace")
	c.Flags().BoolVar(&remove, "remove-access", false, "on Windows: take back every right that commands were given to folders, and run nothing")
	return c
}

// cleanCaches frees the layers that commands wrote over the person's build caches, which stay as they are.
func cleanCaches(w world, f *flags, all bool) error {
	at, err := w.folders(f.cd)
	if err != nil {
		return err
	}
	dir, whose := at.dir, at.dir
	if all {
		dir, whose = "", "any workspace"
	}
	done, err := sandbox.CleanCaches(at.home, dir)
	if err != nil {
		return err
	}
	for _, layer := range done.Busy {
		fmt.Fprintf(w.stderr, "kept %s: a command uses it now\n", layer)
	}
	if done.Layers == 0 {
		if len(done.Busy) > 0 {
			return nil
		}
		_, err = fmt.Fprintf(w.stdout, "freed nothing: there are no build caches of %s\n", whose)
		return err
	}
	_, err = fmt.Fprintf(w.stdout, "freed %.1f MiB in build caches of %s\n", float64(done.Freed)/(1<<20), whose)
	return err
}

// hasPath reports whether commands are told where programs are.
func hasPath(environ []string) bool {
	return slices.ContainsFunc(environ, func(e string) bool {
		name, value, _ := strings.Cut(e, "=")
		return strings.EqualFold(name, "PATH") && value != ""
	})
}

// notStarted ends like a shell does for a program that is not there, or that may not be run.
func notStarted(w world, err error) error {
	code := 0
	switch {
	case errors.Is(err, sandbox.ErrNoProgram), errors.Is(err, fs.ErrNotExist):
		code = 127
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC):
		code = 126
	default:
		return err
	}
	report(w.stderr, err)
	return exited(code)
}
