package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"interpreter/harness"
	"interpreter/harness/native"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// editVerdict is what the doors to edits and patches print: what came of it, on which level of the ladder an edit
// matched, and what a model would read.
type editVerdict struct {
	Result  string `json:"result"` // "edited", "applied", "refused"
	Level   string `json:"level,omitempty"`
	Message string `json:"message"`
}

func newDebugEdit(w world) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "edit FILE SEARCH_FILE REPLACEMENT_FILE",
		Short: "Edit a file in place as a model's edit would, and print the result as JSON",
		Args:  usageArgs(cobra.ExactArgs(3)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var texts [2]string
			for i, name := range args[1:] {
				data, err := os.ReadFile(name)
				if err != nil {
					return fmt.Errorf("read the text to %s: %w", []string{"look for", "put there"}[i], err)
				}
				texts[i] = string(data)
			}
			file, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			place, err := openPlace(filepath.Dir(file), sandbox.FullAccess)
			if err != nil {
				return err
			}
			changed, err := action.Edit{Path: filepath.Base(file), Old: texts[0], New: texts[1], All: all}.Do(cmd.Context(), place)
			if err != nil {
				if mismatch := (*action.MatchError)(nil); errors.As(err, &mismatch) {
					mismatch.Unread = false // here nothing ever was
				}
				return printVerdict(w.stdout, editVerdict{Result: "refused", Message: harness.Plain("edit", err)})
			}
			return printVerdict(w.stdout, editVerdict{Result: "edited", Level: changed.Level, Message: sayEdited(changed)})
		},
	}
	c.Flags().BoolVar(&all, "replace-all", false, "replace every place instead of the only one")
	return c
}

// sayEdited says what an edit did.
func sayEdited(c action.Changed) string {
	f := c.Files[0]
	var text string
	switch {
	case c.Same:
		text = fmt.Sprintf("%s: the change is already there, at line %d. Nothing was written.", f.Path, f.First)
	case c.Spots == 1:
		text = fmt.Sprintf("%s: changed in 1 place, lines %d-%d.", f.Path, f.First, f.Last)
	default:
		text = fmt.Sprintf("%s: changed in %d places, lines %d-%d.", f.Path, c.Spots, f.First, f.Last)
	}
	for _, note := range c.Notes {
		text += "\n[" + note + "]"
	}
	return text
}

func newDebugPatch(w world) *cobra.Command {
	var root string
	c := &cobra.Command{
		Use:   "patch --root DIR < PATCH",
		Short: "Apply a patch below a folder as a model's patch would be, and print the result as JSON",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := io.ReadAll(w.stdin)
			if err != nil {
				return fmt.Errorf("read the patch from standard input: %w", err)
			}
			place, err := openPlace(root, sandbox.WorkspaceWrite)
			if err != nil {
				return err
			}
			changed, err := action.Patch{Text: string(text)}.Do(cmd.Context(), place)
			if err != nil {
				return printVerdict(w.stdout, editVerdict{Result: "refused", Message: harness.Plain(patchProgram, err)})
			}
			return printVerdict(w.stdout, editVerdict{Result: "applied", Message: native.ChangedFiles(changed)})
		},
	}
	c.Flags().StringVar(&root, "root", ".", "folder that the paths of the patch start at, and beyond which nothing is written")
	return c
}

func printVerdict(out io.Writer, v editVerdict) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// openPlace is a workspace for one action, without a conversation around it.
func openPlace(dir string, mode sandbox.Mode) (*action.Workspace, error) {
	policy, _, err := sandbox.Resolve(sandbox.Settings{Mode: mode, Dir: dir})
	if err != nil {
		return nil, err
	}
	box, err := sandbox.New(policy)
	if err != nil {
		return nil, err
	}
	return &action.Workspace{Dir: policy.Dir, Box: box}, nil
}
