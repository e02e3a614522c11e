package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interpreter/harness"
	"interpreter/harness/native"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// patchProgram is the name under which commands of the agent find us on their PATH: models tuned to it pipe patches
// into it in the middle of longer scripts. It runs inside the sandbox of the command and can do no more than that.
const patchProgram = "apply_patch"

// shims makes the folder that holds it, and returns "" when it cannot be made; scripts then do without.
func shims(home string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	folder := filepath.Join(home, "shims")
	link := filepath.Join(folder, patchProgram)
	if to, err := os.Readlink(link); err == nil && to == self {
		return folder
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return ""
	}
	fresh := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Symlink(self, fresh); err != nil {
		return ""
	}
	if err := os.Rename(fresh, link); err != nil {
		_ = os.Remove(fresh)
		return ""
	}
	return folder
}

// withShims puts the folder first on the PATH of an environment.
func withShims(env []string, folder string) []string {
	if folder == "" {
		return env
	}
	env = slices.Clone(env)
	for i, entry := range env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			env[i] = "PATH=" + folder + string(filepath.ListSeparator) + path
		}
	}
	return env
}

// runPatch is the program itself: the patch is its one argument, or its standard input.
func runPatch(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	var text string
	switch len(args) {
	case 0:
		read, err := io.ReadAll(in)
		if err != nil {
			fmt.Fprintf(errs, "%s: read standard input: %v\n", patchProgram, err)
			return exitFailed
		}
		text = string(read)
	case 1:
		text = args[0]
	default:
		fmt.Fprintf(errs, "%s: give the patch as one argument, or on standard input\n", patchProgram)
		return exitUsage
	}
	changed, err := patchHere(ctx, text)
	if err != nil {
		fmt.Fprintln(errs, harness.Plain(patchProgram, err))
		return exitFailed
	}
	fmt.Fprint(out, native.ChangedFiles(changed))
	return exitFine
}

func patchHere(ctx context.Context, text string) (action.Changed, error) {
	dir, err := os.Getwd()
	if err != nil {
		return action.Changed{}, err
	}
	policy, _, err := sandbox.Resolve(sandbox.Settings{Mode: sandbox.FullAccess, Dir: dir})
	if err != nil {
		return action.Changed{}, err
	}
	box, err := sandbox.New(policy)
	if err != nil {
		return action.Changed{}, err
	}
	return action.Patch{Text: text}.Do(ctx, &action.Workspace{Dir: policy.Dir, Box: box})
}
