// Command interpreter is a coding agent for the terminal that runs on the models of this machine. This package
// hands the world (flags, environment, folders, terminals) to the parts below it as values; it decides nothing
// about models, tools or screens itself.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"interpreter/cmd/quiet"
	"interpreter/sandbox"
)

// version is set at link time from git.
var version = "dev"

func main() {
	quiet.Restore()
	sandbox.AsHelper()
	loaders := harden()
	ctx, stop := interruptible()
	if filepath.Base(os.Args[0]) == patchProgram {
		os.Exit(runPatch(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	w := thisWorld()
	w.loaders = loaders
	programsElsewhere(here()...)
	code := run(ctx, w, os.Args[1:])
	stop()
	os.Exit(code)
}

// interruptible returns a context that the first SIGINT or SIGTERM ends; a second one ends the process at once.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	signal.Ignore(borne...)
	go func() {
		if _, ok := <-signals; !ok {
			return
		}
		cancel()
		if _, ok := <-signals; ok {
			os.Exit(exitFailed)
		}
	}()
	return ctx, func() { signal.Stop(signals); close(signals); cancel() }
}

// run executes one command line in a world and returns the exit code.
func run(ctx context.Context, w world, args []string) int {
	root := newRoot(w)
	root.SetArgs(args)
	return report(w.stderr, root.ExecuteContext(ctx))
}
