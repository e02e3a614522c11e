package action

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	readLines = 2000      // of a reading without a limit
	readBytes = 256 << 10 // of a reading without a limit
	lineBytes = 2000      // of a line; longer ones are cut with a mark
	imageMost = 20 << 20  // bytes of an image
)

// Read shows a file or a part of one.
type Read struct {
	Path     string
	Offset   int  // 1-based first line; 0 is the start
	Limit    int  // lines; 0 is 2000
	Repeat   bool // answer Unchanged when the whole file was shown before and is the same
	MaxBytes int  // of the text, in whole lines; 0 is 256 KiB
}

// Title is the action in a line.
func (a Read) Title() string {
	if a.Offset > 1 {
		return one("read %s from line %d", a.Path, a.Offset)
	}
	return one("read %s", a.Path)
}

// Need asks for the file.
func (a Read) Need() Need { return Need{Effect: Reads, Paths: []string{a.Path}} }

// Do reads. A binary file is a *BinaryError, an offset past the end an *OffsetError.
func (a Read) Do(ctx context.Context, w *Workspace) (Seen, error) {
	if strings.TrimSpace(a.Path) == "" {
		return Seen{}, errors.New("read: the path is empty")
	}
	if a.Offset < 0 || a.Limit < 0 {
		return Seen{}, fmt.Errorf("read %s: offset %d and limit %d must not be negative", a.Path, a.Offset, a.Limit)
	}
	data, real, err := w.ReadFile(ctx, a.Path)
	if err != nil {
		return Seen{}, err
	}
	out := Seen{Path: a.Path, Real: real, Bytes: len(data)}
	kind := http.DetectContentType(data)
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		if len(data) > imageMost {
			return Seen{}, fmt.Errorf("read %s: the image has %d bytes, more than the %d that can be shown", a.Path, len(data), imageMost)
		}
		out.Image, out.MIME = data, kind
		w.saw(real, data, true)
		return out, nil
	}
	decoded, _, err := decode(data)
	if err != nil {
		return Seen{}, &BinaryError{Path: a.Path, Kind: kind, Size: len(data)}
	}
	if err := a.window(&out, unix(readable(decoded))); err != nil {
		return Seen{}, err
	}
	whole := out.First <= 1 && !out.Cut && !strings.Contains(out.Text, lineCut)
	if w.saw(real, data, whole) && a.Repeat && a.Offset <= 1 && a.Limit == 0 {
		out.Unchanged, out.Text = true, ""
	}
	return out, nil
}

// window puts the asked lines of a text into out.
func (a Read) window(out *Seen, text string) error {
	lines := splitLines(text)
	out.Total = len(lines)
	if out.Total == 0 {
		return nil
	}
	first := max(1, a.Offset)
	if first > out.Total {
		return &OffsetError{Path: a.Path, Offset: first, Total: out.Total}
	}
	limit, most := a.Limit, a.MaxBytes
	if limit == 0 {
		limit = readLines
	}
	if most <= 0 {
		most = readBytes
	}
	var b strings.Builder
	last := first - 1
	for _, line := range lines[first-1 : first-1+min(limit, out.Total-first+1)] {
		line = shortLine(line, lineBytes)
		if b.Len() > 0 && b.Len()+len(line)+1 > most {
			break
		}
		b.WriteString(cutRunes(line, most))
		b.WriteByte('\n')
		last++
	}
	out.Text = b.String()
	if last == out.Total && !strings.HasSuffix(text, "\n") {
		out.Text = strings.TrimSuffix(out.Text, "\n")
	}
	out.First, out.Last = first, last
	out.Cut = last < out.Total
	out.ByLimit = out.Cut && a.Limit > 0 && last == first-1+a.Limit
	return nil
}

// lineCut marks a line that goes on in the file.
const lineCut = " …(line cut, "

// shortLine cuts a line that is too long and says how much is missing.
func shortLine(line string, most int) string {
	if len(line) <= most {
		return line
	}
	short := cutRunes(line, most)
	return fmt.Sprintf("%s%s%d more bytes)", short, lineCut, len(line)-len(short))
}

// similar are at most three existing names that a missing one may have meant: the same name with other case or
// extension, or few letters away, in its folder.
func similar(abs string) []string {
	dir, name := filepath.Dir(abs), filepath.Base(abs)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	type candidate struct {
		path  string
		score float64
	}
	var found []candidate
	wanted := bigrams(strings.ToLower(name))
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	for _, e := range entries[:min(len(entries), 5000)] {
		other := e.Name()
		score := alike(wanted, bigrams(strings.ToLower(other)))
		if stem != "" && strings.EqualFold(stem, strings.TrimSuffix(other, filepath.Ext(other))) {
			score = max(score, 0.9)
		}
		if strings.EqualFold(name, other) {
			score = 1
		}
		if score >= 0.5 {
			found = append(found, candidate{filepath.Join(dir, other), score})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return strings.Compare(a.path, b.path)
	})
	var out []string
	for _, c := range found[:min(len(found), 3)] {
		out = append(out, c.path)
	}
	return out
}
