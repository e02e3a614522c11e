package action

import (
	"context"
	"strings"

	"interpreter/sandbox"
)

// login gives a command what the person's login shell adds. The file with its functions is read by the shell that runs
// the script, and by none that this starts.
func (w *Workspace) login(ctx context.Context, c *sandbox.Command, script string) {
	if w.Login == nil {
		return
	}
	env, file := w.Login(ctx, script)
	c.Env = env
	if file == "" {
		return
	}
	switch familyOf(c.Argv[0]) {
	case bashShell:
		c.Env = append(withoutName(env, "BASH_ENV"), "BASH_ENV="+file)
	case zshShell:
		last := len(c.Argv) - 1
		c.Argv = append(c.Argv[:last:last], ". "+quoteWord(file)+"; "+c.Argv[last])
	}
}

func withoutName(env []string, name string) []string {
	out := make([]string, 0, len(env)+1)
	for _, entry := range env {
		if !strings.HasPrefix(entry, name+"=") {
			out = append(out, entry)
		}
	}
	return out
}
