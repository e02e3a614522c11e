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
	Path      string
	Offset    int  // 1-based first line; 0 is the start
	Limit     int  // lines; 0 is 2000
	Repeat    bool // answer Unchanged when the whole file was shown before and is the same
	MaxBytes  int  // of the text, in whole lines; 0 is 256 KiB, or what MaxTokens allows. Room for less of them lowers it, unless Columns is less than 0
	Columns   int  `json:",omitempty"` // characters of a line that are shown, without a mark (see Seen.Longer); 0 is 2000 bytes and a mark, less than 0 all
	Tail      int  `json:",omitempty"` // the last so many lines instead of Offset; with Limit, the first of those
	MaxTokens int  `json:",omitempty"` // more than these, by Tokens, are a *TooLargeError; 0 allows all
	Folders   bool `json:",omitempty"` // a folder is Seen as the names in it, a line each, with a slash behind folders; MIME is FolderType
}

// FolderType is the MIME type of a Seen folder.
const FolderType = "inode/directory"

// Title is the action in a line.
func (a Read) Title() string {
	if a.Tail > 0 {
		return one("read the end of %s", a.Path)
	}
	if a.Offset > 1 {
		return one("read %s from line %d", a.Path, a.Offset)
	}
	return one("read %s", a.Path)
}

// Need asks for the file.
func (a Read) Need() Need { return Need{Effect: Reads, Paths: []string{a.Path}} }

// Do reads. A folder is an *IsDirectoryError, a binary file a *BinaryError, an offset past the end an *OffsetError, and
// more text than MaxTokens a *TooLargeError. PNG, JPEG, GIF and WebP are shown as images, whatever the name says.
func (a Read) Do(ctx context.Context, w *Workspace) (Seen, error) {
	if strings.TrimSpace(a.Path) == "" {
		return Seen{}, errors.New("read: the path is empty")
	}
	if a.Offset < 0 || a.Limit < 0 || a.Tail < 0 {
		return Seen{}, fmt.Errorf("read %s: offset %d, limit %d and tail %d must not be negative", a.Path, a.Offset, a.Limit, a.Tail)
	}
	data, real, err := w.ReadFile(ctx, a.Path)
	var folder *IsDirectoryError
	if a.Folders && errors.As(err, &folder) {
		return a.folder(ctx, w)
	}
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
	if err := a.window(ctx, &out, unix(readable(decoded))); err != nil {
		return Seen{}, err
	}
	if n := Tokens(out.Text); a.MaxTokens > 0 && n > a.MaxTokens {
		return Seen{}, &TooLargeError{Path: a.Path, Tokens: n, Most: a.MaxTokens, First: out.First, Last: out.Last, Total: out.Total}
	}
	whole := out.First <= 1 && !out.Cut && len(out.Longer) == 0
	if w.saw(real, data, whole) && a.Repeat && a.Offset <= 1 && a.Limit == 0 && a.Tail == 0 {
		out.Unchanged, out.Text = true, ""
	}
	return out, nil
}

// Tokens estimates how many tokens a text is for a model: a third of its letters, where Chinese ones count twice,
// rounded up.
func Tokens(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r >= 0x4e00 && r <= 0x9fff {
			n++
		}
	}
	return (n + 2) / 3
}

// folder shows what is in a folder as text.
func (a Read) folder(ctx context.Context, w *Workspace) (Seen, error) {
	abs := w.Abs(a.Path)
	entries, err := os.ReadDir(abs)
	if err != nil {
		return Seen{}, fmt.Errorf("read %s: %w", a.Path, reason(err))
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if info, err := os.Stat(filepath.Join(abs, name)); err == nil && info.IsDir() {
			name += "/"
		}
		names = append(names, name+"\n")
	}
	out := Seen{Path: a.Path, Real: abs, MIME: FolderType}
	err = a.window(ctx, &out, strings.Join(names, ""))
	return out, err
}

// numberBytes is what a number before a line takes, where lines are shown with their numbers.
const numberBytes = 7

// window puts the asked lines of a text into out.
func (a Read) window(ctx context.Context, out *Seen, text string) error {
	lines := splitLines(text)
	out.Total = len(lines)
	if out.Total == 0 {
		return nil
	}
	first := max(1, a.Offset)
	if a.Tail > 0 {
		first = max(1, out.Total-a.Tail+1)
	}
	if first > out.Total {
		return &OffsetError{Path: a.Path, Offset: first, Total: out.Total}
	}
	limit, most := a.Limit, a.MaxBytes
	if limit == 0 {
		limit = readLines
	}
	if most <= 0 {
		most = readBytes
		if a.MaxTokens > 0 {
			most = len(text) + 1
		}
	}
	last := min(out.Total, first-1+limit)
	if a.Tail > 0 && a.Limit == 0 {
		first = max(first, out.Total-limit+1)
		last = out.Total
	}
	shown := make([]string, 0, last-first+1)
	size := 0
	for i := first; i <= last; i++ {
		line, longer := a.line(lines[i-1])
		if longer {
			out.Longer = append(out.Longer, i)
		}
		shown = append(shown, line)
		size += len(line) + 1
	}
	room := roomIn(ctx)
	if a.Columns < 0 {
		room = 0
	}
	for len(shown) > 1 && (size > most || room > 0 && size+numberBytes*len(shown) > room) { // whole lines go, from the end that was not asked for
		if a.Tail > 0 {
			size -= len(shown[0]) + 1
			shown = shown[1:]
			first++
		} else {
			size -= len(shown[len(shown)-1]) + 1
			shown = shown[:len(shown)-1]
			last--
		}
	}
	if room > 0 {
		most = min(most, room)
	}
	out.Longer = slices.DeleteFunc(out.Longer, func(n int) bool { return n < first || n > last })
	if len(shown) == 1 && len(shown[0]) > most {
		shown[0] = cutRunes(shown[0], most)
		if !slices.Contains(out.Longer, first) {
			out.Longer = append(out.Longer, first)
		}
	}
	out.Text = strings.Join(shown, "\n")
	if last < out.Total || strings.HasSuffix(text, "\n") {
		out.Text += "\n"
	}
	out.First, out.Last = first, last
	out.Cut = last < out.Total
	out.ByLimit = out.Cut && a.Limit > 0 && last == first-1+a.Limit
	return nil
}

// line cuts one line as asked, and tells whether it was longer.
func (a Read) line(text string) (string, bool) {
	switch {
	case a.Columns < 0:
		return text, false
	case a.Columns == 0:
		return shortLine(text, lineBytes), len(text) > lineBytes
	case len(text) <= a.Columns:
		return text, false
	}
	n := 0
	for i := range text {
		if n++; n > a.Columns {
			return text[:i], true
		}
	}
	return text, false
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
