package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"interpreter/local/practice"
)

// newPractice serves the practice model: scripted replies, for tests and demonstrations without a model.
func newPractice(w world) *cobra.Command {
	c := &cobra.Command{
		Use:   "practice",
		Short: "A model that only repeats a script: to try hooks, skills and CI without a real one",
	}
	var listen, wire string
	var verbose bool
	serve := &cobra.Command{
		Use:   "serve SCRIPT",
		Short: "Serve a script on loopback over the wires of Ollama, LM Studio, OpenAI and Anthropic",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			script, err := readScript(args[0])
			if err != nil {
				return err
			}
			if !slices.Contains(practice.Wires(), wire) {
				return usageError{fmt.Errorf("--wire %s: want one of %s", wire, strings.Join(practice.Wires(), ", "))}
			}
			listener, err := net.Listen("tcp", listen)
			if err != nil {
				return err
			}
			if !listener.Addr().(*net.TCPAddr).IP.IsLoopback() {
				fmt.Fprintf(w.stderr, "practice: %s is reachable from other machines\n", listener.Addr())
			}
			fmt.Fprintf(w.stdout, "listening on http://%s\n", listener.Addr())
			fmt.Fprintf(w.stderr, "practice model: scripted replies from %s, no intelligence\n", args[0])
			var log io.Writer
			if verbose {
				log = w.stderr
			}
			return practice.Serve(cmd.Context(), listener, script, wire, log)
		},
	}
	serve.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "`address` to listen on; port 0 picks a free one")
	serve.Flags().StringVar(&wire, "wire", "all", "answer one `wire` only: all, ollama, chat, responses, messages, lmstudio")
	serve.Flags().BoolVarP(&verbose, "verbose", "v", false, "print each request to standard error")

	var o practice.GGUFOptions
	gguf := &cobra.Command{
		Use:   "gguf SCRIPT OUT_DIR",
		Short: "Write a tiny GGUF and a Modelfile whose weights spell a script, for a real Ollama server",
		Args:  usageArgs(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error {
			script, err := readScript(args[0])
			if err != nil {
				return err
			}
			if o.Dialect != "" && !slices.Contains(practice.Dialects(), o.Dialect) {
				return usageError{fmt.Errorf("--dialect %s: want one of %s", o.Dialect, strings.Join(practice.Dialects(), ", "))}
			}
			if err := practice.WriteGGUF(script, args[1], o); err != nil {
				return err
			}
			fmt.Fprintf(w.stdout, "wrote %s/practice.gguf and Modelfile; next: ollama create NAME -f %s/Modelfile\n", args[1], args[1])
			return nil
		},
	}
	gguf.Flags().StringVar(&o.Dialect, "dialect", "hermes", "the `form` in which calls are written: "+strings.Join(practice.Dialects(), ", "))
	gguf.Flags().BoolVar(&o.Echo, "echo", false, "the template repeats the conversation, to measure prefix reuse")
	gguf.Flags().BoolVar(&o.Leak, "leak", false, "the template hides tool calls from the server, so that they leak as text")
	gguf.Flags().BoolVar(&o.Together, "together", false, "prose and call share a chunk, which older servers lose")
	c.AddCommand(serve, gguf)
	return c
}

func readScript(path string) (*practice.Script, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	script, err := practice.Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return script, nil
}
