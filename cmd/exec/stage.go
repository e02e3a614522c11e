package exec

import (
	"fmt"
	"io"

	"interpreter/local"
)

// Stage shows how a model is made ready: on a terminal in one line that is written over, elsewhere the steps that may
// take minutes, a line each, and a download by tenths. How it ended stays either way.
func (h *Human) Stage(s local.Stage) {
	if s.Warning != "" {
		h.Warn(s.Warning, "")
	}
	if h.Quiet {
		return
	}
	if p := s.Progress; p != nil && p.Total > 0 {
		part := min(max(p.Done, 0), p.Total) * 10 / p.Total
		text := h.entry(dim, s.Name, fmt.Sprintf("%s %d %% of %s", strict(p.Stage), min(max(p.Done, 0), p.Total)*100/p.Total, size(p.Total)))
		switch {
		case h.Terminal:
			h.rewrite(text)
		case part > h.pulled || p.Done == 0 && h.pulled > 0:
			h.pulled = part
			h.print(text)
		}
		return
	}
	if s.Text == "" {
		return
	}
	text := h.entry(dim, s.Name, strict(s.Text))
	switch {
	case s.Ready != nil:
		h.print(text)
	case h.Terminal:
		h.rewrite(h.entry(dim, s.Name, clip(strict(s.Text), 70)))
	case s.Long:
		h.print(text)
	}
}

// rewrite puts text over the last line.
func (h *Human) rewrite(text string) {
	_, _ = io.WriteString(h.Out, "\r"+text+"\x1b[K")
	h.rewrote = true
}

// clip keeps a line that is written over on one row of the screen.
func clip(text string, columns int) string {
	runes := []rune(text)
	if len(runes) <= columns {
		return text
	}
	return string(runes[:columns-1]) + "…"
}

func size(bytes int64) string {
	switch {
	case bytes >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
	case bytes >= 1e6:
		return fmt.Sprintf("%.0f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%d B", bytes)
}
