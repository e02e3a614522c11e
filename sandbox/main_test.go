package sandbox

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// The test binary plays the confining program where that is not built in, and a launcher for case files:
// sandbox.test launch MODE -- COMMAND.
func TestMain(m *testing.M) {
	AsHelper()
	if len(os.Args) > 3 && os.Args[1] == "launch" {
		os.Exit(launchCase(os.Args[2], os.Args[4:]))
	}
	os.Exit(m.Run())
}

func launchCase(words string, argv []string) int {
	mode, rest, _ := strings.Cut(words, ",")
	has := func(w string) bool { return slices.Contains(strings.Split(rest, ","), w) }
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s := Settings{Mode: Mode(mode), Dir: dir, Network: has("net"), ExcludeTmp: has("no-slash-tmp"), ExcludeTMPDIR: has("no-tmpdir"),
		TMPDIR: os.Getenv("TMPDIR"), Home: os.Getenv("INTERPRETER_HOME"), UserHome: os.Getenv("HOME"), Environ: os.Environ(), Backend: os.Getenv("SBL_BACKEND")}
	if has("root") {
		s.Writable = []string{os.Getenv("SB_EXTRA")}
	}
	policy, warnings, err := Resolve(s)
	for _, w := range warnings {
		fmt.Fprintln(os.Stderr, "warning:", w)
	}
	if err == nil {
		var b Box
		if b, err = New(policy); err == nil {
			c := Command{Argv: argv, Env: Environ(os.Environ(), EnvPolicy{Secrets: true})}
			var exit Exit
			if exit, err = RunForeground(context.Background(), b, c, os.Stdin, os.Stdout, os.Stderr); err == nil {
				return exit.Code
			}
		}
	}
	fmt.Fprintln(os.Stderr, "launch:", err)
	return 125
}
