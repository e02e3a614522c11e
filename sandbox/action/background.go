package action

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// InBackground tells whether a script is a single command that it puts into the background, and gives that command
// without its &; some is true as well when a script does so with a part of what it runs and does not wait for it.
func InBackground(script string) (command string, whole, some bool) {
	f, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return "", false, false
	}
	waits := false
	for _, s := range f.Stmts {
		some = some || s.Background
		if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 && call.Args[0].Lit() == "wait" {
			waits = true
		}
	}
	if len(f.Stmts) == 1 && some {
		if at := int(f.Stmts[0].Semicolon.Offset()); at > 0 && at < len(script) && script[at] == '&' {
			return strings.TrimSpace(script[:at]), true, true
		}
	}
	return "", false, some && !waits
}
