// Command engine compares what this program predicts and promises with a real model server, on GGUF files that are
// made on the spot: how much memory a model takes (geometry), what reading a session's beginning ahead saves (warm), and
// what becomes of calls in each family's form (dialects).
// It starts the engine it is given on a free port, with models and settings of its own, and touches no other server.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	parts := map[string]func(ctx context.Context, engine, dir string) error{"geometry": geometry, "warm": warm, "dialects": dialects}
	if len(args) != 2 || parts[args[0]] == nil {
		return fmt.Errorf("want geometry, warm or dialects, and the path of an ollama binary")
	}
	dir, err := os.MkdirTemp("", "interpreter-engine-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return parts[args[0]](ctx, args[1], dir)
}
