package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"interpreter/agent/project"
	"interpreter/harness"
	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/sandbox"
)

// newDebug collects the doors through which anyone can check what the program does.
func newDebug(w world, f *flags) *cobra.Command {
	c := &cobra.Command{Use: "debug", Short: "Look inside: the effective configuration, the exact first request"}
	c.AddCommand(newDebugConfig(w, f), newDebugPrompt(w, f))
	c.AddCommand(newDebugStream(w))
	c.AddCommand(newDebugDecode(w))
	c.AddCommand(newDebugEdit(w), newDebugPatch(w), newDebugApprove(w, f))
	return c
}

func newDebugConfig(w world, f *flags) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "config",
		Short: "Print the layers of configuration, and each effective value with its origin",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			s, err := w.settings(f, choices{})
			if err != nil {
				return err
			}
			for _, warning := range s.warnings {
				fmt.Fprintf(w.stderr, "warning: %s\n", warning)
			}
			s.markHarness()
			if asJSON {
				return s.ExplainJSON(w.stdout)
			}
			if err := s.Explain(w.stdout); err != nil {
				return err
			}
			return s.explainRules(w)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "machine-readable")
	return c
}

func newDebugPrompt(w world, f *flags) *cobra.Command {
	var stats bool
	c := &cobra.Command{
		Use:   "prompt-input [PROMPT]",
		Short: "Print the exact first request as JSON, without any server",
		Args:  usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := w.settings(f, choices{})
			if err != nil {
				return err
			}
			if f.approval == "" && !f.confinement.auto {
				s.approval = "never" // as exec, whose request this is
			}
			if err := s.checkHarness(); err != nil {
				return err
			}
			policy, err := s.policy(w, f)
			if err != nil {
				return err
			}
			known, err := s.project(cmd.Context(), w, policy)
			if err != nil {
				return err
			}
			if box, err := sandbox.New(policy); err == nil { // without one, git is not asked
				s.status = sync.OnceValue(func() harness.GitStatus { return project.Status(cmd.Context(), box, s.dir, s.childEnvironment(w)) })
			}
			with, err := s.setting(known, local.ModelInfo{Name: s.Model}, "", s.ModelContextWindow, earlier{})
			if err != nil {
				return err
			}
			for _, warning := range s.warnings {
				fmt.Fprintf(w.stderr, "warning: %s\n", harmless(warning))
			}
			h, env := with.harness, with.env
			opening, tools, err := h.Begin(env)
			if err != nil {
				return err
			}
			var said []chat.Message
			if len(args) == 1 {
				images, err := readImages(f.images)
				if err != nil {
					return err
				}
				said = append(said, chat.Message{Role: chat.User, Text: args[0], Images: images})
			}
			request := h.Request(env, opening, tools, said, s.ModelContextWindow)
			if stats {
				return json.NewEncoder(w.stdout).Encode(harness.Stats(request.Messages, request.Tools))
			}
			body, err := harness.WireJSON(request)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(w.stdout, "%s\n", body)
			return err
		},
	}
	c.Flags().BoolVar(&stats, "stats", false, "print its size by part instead")
	return c
}

// sampleEnvironment stands for a session when a harness is only described.
func sampleEnvironment() harness.Environment {
	return harness.Environment{
		Dir: "/path/to/project", OS: runtime.GOOS, Shell: "bash", Date: time.Now(), Zone: "UTC", Git: true, Branch: "main",
		Sandbox: "workspace-write", Roots: []string{"/path/to/project", "/tmp"}, Approval: "never", Guidance: true,
	}
}
