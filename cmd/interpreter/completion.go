package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newCompletion prints a completion script.
func newCompletion(root *cobra.Command, w world) *cobra.Command {
	return &cobra.Command{
		Use:       "completion [bash|zsh|fish|elvish|powershell]",
		Short:     "Print a completion script for a shell",
		ValidArgs: []string{"bash", "zsh", "fish", "elvish", "powershell"},
		Args:      usageArgs(cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs)),
		RunE: func(_ *cobra.Command, args []string) error {
			shell := "bash"
			if len(args) == 1 {
				shell = args[0]
			}
			for _, second := range []string{"interpreter", "i"} {
				root.Use = second
				var err error
				switch shell {
				case "bash":
					err = root.GenBashCompletionV2(w.stdout, true)
				case "zsh":
					err = root.GenZshCompletion(w.stdout)
				case "fish":
					err = root.GenFishCompletion(w.stdout, true)
				case "elvish":
					_, err = fmt.Fprintf(w.stdout, elvish, second)
				case "powershell":
					err = root.GenPowerShellCompletionWithDesc(w.stdout)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// elvish is the script for the one shell that the library knows nothing of. It asks the program as the others do: each
// line is a word with its meaning behind a tab, and the last one, with a colon, is for other shells.
const elvish = `use str
set edit:completion:arg-completer[%[1]s] = {|@words|
  var lines = []
  try { set lines = [(e:%[1]s __complete (all $words[1..]) 2>/dev/null)] } catch { }
  for line $lines {
    if (not (str:has-prefix $line :)) {
      var parts = [(str:split "\t" $line)]
      edit:complex-candidate $parts[0] &display=(str:join "  " $parts)
    }
  }
}
`
