package zcode

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

type bashParams struct {
	harness.BashParams
	Outside bool `json:"dangerouslyDisableSandbox,omitempty"`
}

const (
	// inlineMost is how long an output may be that is given as it is, in bytes; where the window of the model has room for
	// less, less. A longer one is kept in a file and only its ends are shown.
	inlineMost = 64 << 10
	// previewMost is how much is shown of its beginning, of its end and of what tells something between, in bytes of whole lines each.
	previewMost = 2000
)

func bash(p bashParams) action.Run {
	run := p.Action(inlineMost)
	run.Escalate = p.Outside
	return run
}

// sayRan gives the output, or where it is kept. Without a file the output comes with its middle left out.
func sayRan(r action.Ran) string {
	if r.Gap == nil || r.Full == "" || r.Session != 0 {
		return harness.BashWords(r)
	}
	return harness.BashSaid(r, persisted(r))
}

func persisted(r action.Ran) string {
	head, rest := r.Output[:min(r.Gap.At, len(r.Output))], r.Output[min(r.Gap.At+r.Gap.Mark, len(r.Output)):]
	text := fmt.Sprintf("<persisted-output>\nOutput too large (%.1fKB). Full output saved to: %s\n\nPreview (first 2KB):\n%s\n...\n</persisted-output>",
		float64(r.Bytes)/1024, r.Full, preview(head))
	telling, tail := between(rest, *r.Gap)
	if telling != "" {
		text += "\nFrom between, by line:\n" + preview(telling)
	}
	if tail = ending(tail); tail != "" {
		text += "\nIts end:\n" + tail
	}
	return text
}

// between splits what follows a gap into the numbered lines from within the gap that tell what went wrong, and the tail.
func between(text string, g action.Gap) (telling, tail string) {
	at := 0
	for line := range strings.Lines(text) {
		number, _, numbered := strings.Cut(line, ": ")
		n, err := strconv.Atoi(number)
		if !numbered || err != nil || n < g.First || n > g.Last {
			break
		}
		at += len(line)
	}
	return text[:at], text[at:]
}

// preview is the beginning of a text in whole lines.
func preview(text string) string {
	if len(text) > previewMost {
		text = text[:previewMost]
		if at := strings.LastIndexByte(text, '\n'); at > 0 {
			text = text[:at]
		}
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
	}
	return strings.Trim(text, "\n")
}

// ending is the end of a text in whole lines: builds and tests say there how it went.
func ending(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	if len(text) > previewMost {
		text = text[len(text)-previewMost:]
		if at := strings.IndexByte(text, '\n'); at >= 0 {
			text = text[at+1:]
		}
		text = strings.ToValidUTF8(text, "")
	}
	return text
}

// fault words failures. Only what an Edit says of a file that was never read stands in the tag of the client's errors;
// all else is plain.
func fault(tool string, err error) string {
	var match *action.MatchError
	var missing *action.MissingError
	switch {
	case errors.As(err, &match) && (match.Unread || match.Stale) && errors.Is(err, action.ErrAbsent):
		return "<tool_use_error>" + harness.FileFault(tool, err, "") + "</tool_use_error>"
	case errors.As(err, &match):
		return "No edit: " + harness.FileFault(tool, err, "")
	case errors.As(err, &missing) && missing.What == "grep":
		text := "File not found: " + missing.Path
		if len(missing.Similar) > 0 {
			text += "\nThe nearest names: " + strings.Join(missing.Similar, ", ")
		}
		return text
	}
	return harness.FileFault(tool, err, "")
}
