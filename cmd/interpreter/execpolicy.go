package main

import (
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"interpreter/agent/approve/rules"
)

// newExecpolicy looks at rules files by themselves, for who writes them.
func newExecpolicy(w world) *cobra.Command {
	c := &cobra.Command{Use: "execpolicy", Short: "Try files of rules", Hidden: true}
	var files []string
	var pretty, resolve bool
	check := &cobra.Command{
		Use:   "check --rules FILE [--rules FILE]… COMMAND [ARG…]",
		Short: "Print which rules of some files match a command, as JSON",
		Args:  usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(files) == 0 {
				return usageError{errors.New("name a file with --rules, before the command")}
			}
			got, err := rules.Check(files, args, resolve)
			if err != nil {
				return err
			}
			out := json.NewEncoder(w.stdout)
			out.SetEscapeHTML(false)
			if pretty {
				out.SetIndent("", "  ")
			}
			return out.Encode(matched(got))
		},
	}
	check.Flags().SetInterspersed(false) // what follows the command is the command's
	check.Flags().StringArrayVarP(&files, "rules", "r", nil, "a `file` of rules (repeatable)")
	check.Flags().BoolVar(&pretty, "pretty", false, "over several lines")
	check.Flags().BoolVar(&resolve, "resolve-host-executables", false, "rules match an absolute path by its base name, where host_executable does not say otherwise")
	c.AddCommand(check)
	return c
}

// policyMatch and policyMatches are what programs read of a ruling; the order of their fields is part of it.
type policyMatch struct {
	Prefix   []string       `json:"matchedPrefix"`
	Decision rules.Decision `json:"decision"`
	Resolved string         `json:"resolvedProgram,omitempty"`
	Why      string         `json:"justification,omitempty"`
}

type policyMatches struct {
	Rules    []map[string]policyMatch `json:"matchedRules"`
	Decision rules.Decision           `json:"decision,omitempty"`
}

func matched(r rules.Ruling) policyMatches {
	out := policyMatches{Rules: []map[string]policyMatch{}, Decision: r.Decision}
	for _, m := range r.Matches {
		out.Rules = append(out.Rules, map[string]policyMatch{"prefixRuleMatch": {m.Prefix, m.Decision, m.Resolved, m.Why}})
	}
	return out
}
