package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"interpreter/agent/approve"
	"interpreter/agent/approve/rules"
	"interpreter/agent/project"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// judgement is what the door to the judging of commands prints; the order of the fields is part of it.
type judgement struct {
	Decision string         `json:"decision"` // "auto", "ask", "forbid"
	Reason   string         `json:"reason"`
	Outside  bool           `json:"outside,omitempty"` // of auto: rules let it run outside the sandbox
	Prefix   []string       `json:"prefix,omitempty"`  // of ask: words that would be offered for a rule
	Parts    []judgementOne `json:"parts"`
}

type judgementOne struct {
	Argv     []string `json:"argv"`
	Decision string   `json:"decision"`
	Reason   string   `json:"reason"`
}

func newDebugApprove(w world, f *flags) *cobra.Command {
	var policy string
	var prefixes, files []string
	c := &cobra.Command{
		Use:   "approve [--policy POLICY] [-s MODE] [-C DIR] [--prefix WORDS]… [--rules FILE]… -- 'SHELL LINE'",
		Short: "Print whether a command of the model's would run, be asked about or be refused, as JSON; nothing runs",
		Args:  usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			judge, err := w.judge(cmd.Context(), f, policy, files)
			if err != nil {
				return err
			}
			for _, p := range prefixes {
				commands, plain := approve.Plain(p)
				if !plain || len(commands) != 1 {
					return usageError{fmt.Errorf("--prefix %q: want the first words of one simple command", p)}
				}
				judge.Rules = judge.Rules.With(commands[0])
			}
			need := action.Need{Effect: action.Runs, Script: args[0]}
			if len(args) > 1 {
				need = action.Need{Effect: action.Runs, Argv: args}
			}
			out := json.NewEncoder(w.stdout)
			out.SetEscapeHTML(false)
			return out.Encode(judgementOf(judge.Decide(need)))
		},
	}
	c.Flags().StringVar(&policy, "policy", "untrusted", "when to ask: untrusted, on-request, never")
	c.Flags().StringArrayVar(&prefixes, "prefix", nil, "first `words` of commands that a person allowed for good (repeatable)")
	c.Flags().StringArrayVar(&files, "rules", nil, "a `file` of rules (repeatable)")
	return c
}

// judge is the one of a session with these flags, and with no configuration.
func (w world) judge(ctx context.Context, f *flags, policy string, files []string) (approve.Judge, error) {
	at, err := w.folders(f.cd)
	if err != nil {
		return approve.Judge{}, err
	}
	if f.approval != "" {
		policy = f.approval
	}
	when, err := approve.ParsePolicy(policy)
	if err != nil {
		return approve.Judge{}, usageError{err}
	}
	mode := sandbox.ReadOnly
	switch {
	case f.confinement.yolo:
		return approve.Judge{}, usageError{errors.New("--yolo is two choices here: --policy never -s danger-full-access")}
	case f.confinement.mode != "":
		mode = sandbox.Mode(f.confinement.mode)
	}
	box, _, err := sandbox.Resolve(sandbox.Settings{
		Mode: mode, Dir: at.dir, Writable: f.addDirs, TMPDIR: w.env("TMPDIR"), Home: at.home, UserHome: at.user, Environ: w.environ,
	})
	if err != nil {
		return approve.Judge{}, err
	}
	known, err := rules.Read(files)
	if err != nil {
		return approve.Judge{}, ruleError(err, true)
	}
	env := sandbox.Environ(w.passed(), sandbox.EnvPolicy{})
	return approve.Judge{Policy: when, Box: box, Rules: known, Env: env, Git: func(dir string) bool {
		confined, err := sandbox.New(box)
		return err == nil && project.QuietGit(ctx, confined, dir, env)
	}}, nil
}

func judgementOf(v approve.Verdict) judgement {
	out := judgement{Decision: decisionWord(v.What), Reason: v.Why, Outside: v.Outside, Prefix: v.Prefix, Parts: []judgementOne{}}
	var whys []string
	for _, p := range v.Parts {
		out.Parts = append(out.Parts, judgementOne{Argv: p.Argv, Decision: decisionWord(p.What), Reason: p.Why})
		whys = append(whys, p.Why)
	}
	if out.Reason == "" && len(whys) > 0 {
		out.Reason = whys[0]
		for _, why := range whys {
			if why != whys[0] {
				out.Reason = strings.Join(whys, "; ")
				break
			}
		}
	}
	return out
}

func decisionWord(w approve.What) string {
	switch w {
	case approve.Go:
		return "auto"
	case approve.Ask:
		return "ask"
	}
	return "forbid"
}
