package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"interpreter/cmd/exec"
)

// table is rows of cells for people. A column whose heading begins with ">" is set flush right.
type table struct {
	heads []string
	rows  [][]string
}

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = strings.NewReplacer("\n", " ", "\t", " ").Replace(harmless(cells[i]))
	}
	t.rows = append(t.rows, cells)
}

// harmless takes out of a text, which may be a server's or a model's, what would act on a terminal, and spells out what
// would reorder or hide it. Lines stay.
func harmless(text string) string {
	return strings.ReplaceAll(exec.Harmless(text), string(unicode.ReplacementChar), "")
}

// write prints the rows below their headings, if there are any, two blanks between columns and none at the end of a
// line. Columns that are empty in every row are left out.
func (t *table) write(w io.Writer) error {
	widths := make([]int, len(t.heads))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	used := make([]bool, len(t.heads))
	heads, titled := make([]string, len(t.heads)), false
	for i, head := range t.heads {
		heads[i] = strings.TrimPrefix(head, ">")
		used[i] = widths[i] > 0
		titled = titled || heads[i] != ""
		widths[i] = max(widths[i], utf8.RuneCountInString(heads[i]))
	}
	rows := t.rows
	if titled {
		rows = append([][]string{heads}, rows...)
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			if !used[i] {
				continue
			}
			if line.Len() > 0 {
				line.WriteString("  ")
			}
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if strings.HasPrefix(t.heads[i], ">") {
				line.WriteString(gap + cell)
			} else {
				line.WriteString(cell + gap)
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// gb writes the size of a download or of a disk, in 10^9 bytes.
func gb(bytes int64) string {
	switch {
	case bytes <= 0:
		return ""
	case bytes < 10_000_000:
		return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	case bytes < 1_000_000_000:
		return fmt.Sprintf("%.0f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}

// kTokens writes a window: in thousands of 1024 where that says it exactly.
func kTokens(n int) string {
	switch {
	case n <= 0:
		return ""
	case n%1024 == 0:
		return fmt.Sprintf("%dk", n/1024)
	}
	return fmt.Sprint(n)
}
