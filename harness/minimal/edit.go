package minimal

import (
	"fmt"

	"interpreter/sandbox/action"
)

type editParams struct {
	Path string `json:"path"`
	Old  string `json:"old_text"`
	New  string `json:"new_text"`
	All  bool   `json:"replace_all,omitempty" default:"false"`
}

func edit(p editParams) action.Edit {
	return action.Edit{Path: p.Path, Old: p.Old, New: p.New, All: p.All}
}

func sayEdited(c action.Changed) string {
	path := c.Files[0].Path
	if c.Same {
		return path + " has this text already; nothing was changed." + notes(c)
	}
	blocks := "1 block"
	if c.Spots != 1 {
		blocks = fmt.Sprintf("%d blocks", c.Spots)
	}
	return fmt.Sprintf("Replaced %s in %s.", blocks, path) + notes(c)
}

func notes(c action.Changed) string {
	text := ""
	for _, n := range c.Notes {
		text += "\n[" + n + "]"
	}
	return text
}

type writeParams struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func write(p writeParams) action.Write { return action.Write{Path: p.Path, Content: p.Content} }

func sayWritten(c action.Changed) string {
	f := c.Files[0]
	if c.Same {
		return f.Path + " has this content already; nothing was written." + notes(c)
	}
	return fmt.Sprintf("Wrote %d bytes to %s.", len(f.After), f.Path) + notes(c)
}
