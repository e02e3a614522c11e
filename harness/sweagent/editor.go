package sweagent

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

const (
	editor  = "str_replace_editor"
	viewed  = 16_000 // bytes of what the editor shows
	around  = 4      // lines beside a change that are shown with it
	snippet = 120    // lines of a change that are shown at most
)

type editParams struct {
	Command string  `json:"command" enum:"view,create,str_replace,insert,undo_edit"`
	Path    string  `json:"path"`
	Text    *string `json:"file_text,omitempty"`
	Old     *string `json:"old_str,omitempty"`
	New     *string `json:"new_str,omitempty"`
	Line    *int    `json:"insert_line,omitempty"`
	Range   []int   `json:"view_range,omitempty"`
}

// edit makes an action of the editor's command. A path begins where the shell is.
func edit(p editParams) (harness.Step, error) {
	step, err := planned(p)
	if err != nil {
		return step, err
	}
	run := step.Run
	step.Run = func(ctx context.Context, w *action.Workspace) (action.Outcome, string, error) {
		there := p
		if there.Path = w.Here(p.Path, p.Command == "create"); there.Path != p.Path {
			if other, err := planned(there); err == nil {
				return other.Run(ctx, w)
			}
		}
		return run(ctx, w)
	}
	return step, nil
}

func planned(p editParams) (harness.Step, error) {
	switch p.Command {
	case "view":
		return view(p)
	case "create":
		if p.Text == nil {
			return harness.Step{}, misused(p.Command, "the text of the file is missing")
		}
		return harness.Do(action.Edit{Path: p.Path, New: *p.Text, Create: true}, sayCreated), nil
	case "str_replace":
		if p.Old == nil {
			return harness.Step{}, misused(p.Command, "the text to replace is missing")
		}
		return harness.Do(action.Edit{Path: p.Path, Old: *p.Old, New: text(p.New)}, sayEdited), nil
	case "insert":
		if p.Line == nil || p.New == nil && p.Text == nil {
			return harness.Step{}, misused(p.Command, "the line or the text to insert is missing")
		}
		if p.New == nil {
			p.New = p.Text
		}
		return harness.Do(action.Insert{Path: p.Path, After: *p.Line, Text: *p.New}, sayEdited), nil
	}
	return harness.Do(action.Undo{Path: p.Path}, sayUndone), nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// everything is more lines than a file has that can be shown.
const everything = 1 << 20

// view shows a file, or what is in a folder.
func view(p editParams) (harness.Step, error) {
	read := action.Read{Path: p.Path, Limit: everything, MaxBytes: 1 << 20, Columns: -1}
	if p.Range != nil {
		if len(p.Range) != 2 || p.Range[0] < 1 || p.Range[1] != -1 && p.Range[1] < p.Range[0] {
			return harness.Step{}, misused(p.Command, "the range %v is none: it is the first line and the last, or -1 for the end", p.Range)
		}
		if read.Offset = p.Range[0]; p.Range[1] != -1 {
			read.Limit = p.Range[1] - p.Range[0] + 1
		}
	}
	list := action.Find{Path: p.Path, Pattern: "{*,*/*}", Dirs: true, Exclude: []string{".*"}, Limit: 500}
	return harness.Do(read, func(s action.Seen) string { return saySeen(s, p.Range != nil) }).Otherwise(isFolder, harness.Do(list, sayFound)), nil
}

func isFolder(err error) bool {
	var folder *action.IsDirectoryError
	return errors.As(err, &folder)
}

func saySeen(s action.Seen, ranged bool) string {
	switch {
	case len(s.Image) > 0:
		return observation(fmt.Sprintf("%s is an image (%s, %d bytes).", s.Path, s.MIME, s.Bytes))
	case s.Total == 0:
		return observation(s.Path + " is empty.")
	}
	if len(s.Text) > viewed && !ranged && path.Ext(s.Path) == ".py" {
		if short, ok := outline(s.Text); ok {
			return observation(fmt.Sprintf("<NOTE>%s has %d lines, too many to show: the bodies of its longer functions are left out. View a part with --view_range FIRST LAST.</NOTE>\n", s.Path, s.Total) +
				shortened(short, "View a part of the file with --view_range FIRST LAST."))
		}
	}
	return observation(fmt.Sprintf("This is %s with line numbers:\n", s.Path) +
		shortened(numbered(s.Text, s.First), fmt.Sprintf("The file has %d lines: view a part of it with --view_range FIRST LAST, or find the lines that matter with grep -n.", s.Total)))
}

func numbered(text string, first int) string { return harness.Numbered(text, first, "%6d\t") }

// shortened is what the editor shows of a long text, with what can be done about it.
func shortened(text, advice string) string {
	if len(text) <= viewed {
		return text
	}
	text, _ = harness.Clip(text, viewed, 0, 1)
	return strings.TrimSuffix(text, "\n") + "\n<response clipped><NOTE>Only the beginning is shown. " + advice + "</NOTE>"
}

func sayFound(f action.Found) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Files and directories in %s, two levels deep, without hidden ones:\n", f.Where)
	for _, h := range f.Hits {
		b.WriteString(harness.Relative(f.Where, h.Path))
		if h.Dir {
			b.WriteByte('/')
		}
		b.WriteByte('\n')
	}
	switch {
	case len(f.Hits) == 0:
		b.WriteString("(none)\n")
	case f.More != 0:
		fmt.Fprintf(&b, "<response clipped><NOTE>%d more. View one of the directories.</NOTE>", f.More)
	}
	return observation(b.String())
}

func sayCreated(c action.Changed) string {
	f := c.Files[0]
	return observation(fmt.Sprintf("Created %s (%s).", f.Path, harness.Lines(f.After)) + harness.ChangeNotes(c))
}

func sayEdited(c action.Changed) string {
	f := c.Files[0]
	if c.Same {
		return observation(f.Path + " has this text already; nothing was changed." + harness.ChangeNotes(c))
	}
	text := "Edited " + f.Path + "."
	if c.Level > "E1" {
		text += " The old text was matched loosely: see that this is what you meant."
	}
	return observation(text + part(f) + harness.ChangeNotes(c) + "\nCheck the lines: indentation, nothing doubled, nothing lost. Edit again if something is wrong.")
}

func sayUndone(c action.Changed) string {
	f := c.Files[0]
	if f.Kind == action.Deleted {
		return observation("Took the last change of " + f.Path + " back: it had created the file, which is gone.")
	}
	return observation("Took the last change of " + f.Path + " back." + part(f) + harness.ChangeNotes(c))
}

// part shows the lines that a change made, with those around them.
func part(f action.FileChange) string {
	x := harness.ChangedLines(f, around, snippet)
	if x.To == 0 {
		return ""
	}
	return fmt.Sprintf(" Lines %d to %d of %d are now:\n", x.From, x.To, x.Total) + numbered(x.Text, x.From)
}
