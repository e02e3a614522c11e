package minimal

import (
	"fmt"
	"strings"

	"interpreter/sandbox/action"
)

// page is how many lines come at once.
const page = 2000

type readParams struct {
	Path   string  `json:"path"`
	Offset float64 `json:"offset,omitempty" default:"1"`
	Limit  float64 `json:"limit,omitempty" default:"2000"`
}

func read(p readParams) action.Read {
	a := action.Read{Path: p.Path, Offset: max(int(p.Offset), 1), Limit: max(int(p.Limit), 0), MaxBytes: budget}
	if a.Limit == page {
		a.Limit = 0 // the action's own limit, so that the words do not speak of one the model never gave
	}
	return a
}

func saySeen(s action.Seen) string {
	switch {
	case s.MIME != "":
		return fmt.Sprintf("Image %s (%s). It follows below if you can see images.", s.Path, s.MIME)
	case s.Total == 0:
		return "(empty file)"
	case s.Cut && s.ByLimit:
		return fmt.Sprintf("%s\n\n[%d more lines; continue with offset=%d.]", trimmed(s.Text), s.Total-s.Last, s.Last+1) + longLines(s)
	case s.Cut:
		return fmt.Sprintf("%s\n\n[Lines %d-%d of %d shown; continue with offset=%d.]", trimmed(s.Text), s.First, s.Last, s.Total, s.Last+1) + longLines(s)
	}
	return s.Text + longLines(s)
}

// longLines tells how to see the rest of a line that was cut.
func longLines(s action.Seen) string {
	for i, line := range strings.Split(s.Text, "\n") {
		if strings.HasSuffix(line, " more bytes)") && len(line) > 2000 {
			return fmt.Sprintf("\n\n[Long lines are cut; see more of one with: sed -n '%dp' %s | cut -c 2000-6000]", s.First+i, s.Path)
		}
	}
	return ""
}
