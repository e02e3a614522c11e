package exec

import (
	"fmt"
	"io"

	"interpreter/local"
)

// Stage shows how a model is made ready: on a terminal in one line that is written over, elsewhere the steps that may
// take minutes, a line each, and a download by tenths. How it ended stays either way.
func (h *Human) Stage(s local.Stage) {
	h.live.await("")
	if s.Warning != "" {
		h.Warn(s.Warning, "")
	}
	if h.Quiet {
		return
	}
	if s.Progress != nil {
		h.download.Out, h.download.Terminal = h.Out, h.Terminal
		h.rewrote = h.Terminal
		h.download.Show(*s.Progress)
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
	if s.Long {
		h.live.await(clip(strict(s.Text), 60))
		h.live.word = s.Name
	}
}

// rewrite puts text over the last line.
func (h *Human) rewrite(text string) {
	_, _ = io.WriteString(h.Out, "\r"+text+"\x1b[K")
	h.rewrote = true
}

// Wipe takes off a line that would have been written over, before somebody else writes.
func (h *Human) Wipe() {
	if h.rewrote {
		_, _ = io.WriteString(h.Out, "\r\x1b[K")
		h.rewrote = false
	}
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
