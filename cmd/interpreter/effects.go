package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// choosing are the flags that choose the configuration, and the folder whose project's counts.
const choosing = "config enable disable profile strict-config cd help"

// effects are the flags of a run that do something on commands that run no turn, beside choosing. Others are taken all
// the same, and left out of the help.
var effects = map[string]string{
	"doctor":       "model local-provider oss sandbox add-dir yolo dangerously-bypass-approvals-and-sandbox",
	"fit":          "",
	"models":       "local-provider oss",
	"models check": "model local-provider oss harness pull reload sandbox add-dir",
	"models list":  "local-provider oss",
	"models pull":  "local-provider oss",
	"models rm":    "local-provider oss",
	"sandbox":      "sandbox add-dir yolo dangerously-bypass-approvals-and-sandbox",
	"serve":        "model local-provider",
	"setup":        "harness reload sandbox add-dir",
}

// briefly shows in the help of a command only those of the inherited flags that do something there.
func briefly(root, c *cobra.Command) {
	_, name, _ := strings.Cut(c.CommandPath(), " ")
	if names, ok := effects[name]; ok {
		shown := pflag.NewFlagSet(name, pflag.ContinueOnError)
		keep := strings.Fields(choosing + " " + names)
		c.InheritedFlags().VisitAll(func(f *pflag.Flag) {
			if root.PersistentFlags().Lookup(f.Name) == nil || slices.Contains(keep, f.Name) {
				shown.AddFlag(f)
			}
		})
		text := "{{`" + strings.TrimRight(shown.FlagUsages(), " \n") + "`}}"
		c.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}", text, 1))
	}
	for _, below := range c.Commands() {
		briefly(root, below)
	}
}
