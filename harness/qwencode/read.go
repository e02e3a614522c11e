package qwencode

import (
	"fmt"
	"strings"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type readParams struct {
	Path   string `json:"file_path"`
	Offset int    `json:"offset,omitempty" base:"0"`
	Limit  int    `json:"limit,omitempty"`
}

func read(p readParams) (harness.Step, error) {
	whole := p.Offset <= 0 && p.Limit <= 0
	a := action.Read{Path: p.Path, Offset: max(p.Offset, 0) + 1, Limit: max(p.Limit, 0), Repeat: whole, MaxBytes: maxChars}
	return harness.Do(a, saySeen), nil
}

func saySeen(s action.Seen) string {
	switch {
	case s.MIME != "":
		return fmt.Sprintf("Image %s (%s). It follows below if you can see images.", s.Path, s.MIME)
	case s.Unchanged:
		return fmt.Sprintf("[%s is unchanged since it was read above; use the text there.]", s.Path)
	case s.Total == 0:
		return "(empty file)"
	case s.Cut || s.First > 1:
		return fmt.Sprintf("Lines %d-%d of %d.\n\n---\n\n%s", s.First, s.Last, s.Total, strings.TrimSuffix(s.Text, "\n"))
	}
	return s.Text
}
