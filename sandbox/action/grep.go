package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	grepFile  = 1 << 20 // larger files are skipped
	grepLines = 1000    // matches without a limit
	grepMost  = 20_000  // matches whatever the limit
)

// The modes of a Grep.
const (
	GrepLines = ""      // the lines that match, with their neighbours
	GrepFiles = "files" // the files that have a match
	GrepCount = "count" // those files with the number of their matching lines
)

// Grep finds lines that match an RE2 pattern. ^ and $ are the ends of a line. Like ripgrep it leaves out what
// .gitignore names, binary files and, unless Hidden or Path or Glob ask for them, files and folders whose names begin
// with a dot; it follows no symbolic link. Unlike ripgrep it reads UTF-16 and Latin-1, and no file larger than 1 MiB.
type Grep struct {
	Pattern string
	Path    string   // a folder or a file; "" is the working folder
	Glob    string   // of the files, with **, {a,b}; several between blanks or commas, one with ! leaves out
	Fold    bool     // upper and lower case are the same
	Literal bool     // the pattern is a plain text
	Context int      // lines before and after each match
	Limit   int      // matches, or files of the modes that give files; 0 is 1000, less than 0 as many as can be held
	Rules   []string `json:",omitempty"` // names of ignore files besides .gitignore
	Mode    string   `json:",omitempty"` // GrepLines, GrepFiles or GrepCount
	Before  int      `json:",omitempty"` // lines before each match, when that is more than Context
	After   int      `json:",omitempty"` // lines after each match, when that is more than Context
	Span    bool     `json:",omitempty"` // a match may go over line ends, and . matches them
	Only    bool     `json:",omitempty"` // the matching text instead of its line; each match is a hit, and counts
	Kind    string   `json:",omitempty"` // of files, by the names ripgrep has for them: "go", "py", "js" …
	Skip    int      `json:",omitempty"` // hits to leave out at the beginning
	All     bool     `json:",omitempty"` // .gitignore does not apply
	Exclude []string `json:",omitempty"` // globs of files and folders to leave out; one with ! brings back
	Hidden  bool     `json:",omitempty"` // names that begin with a dot are searched as well
	Newest  bool     `json:",omitempty"` // files in the order of their last change, the newest first, instead of by path
}

// Title is the action in a line.
func (a Grep) Title() string { return one("grep %s in %s", a.Pattern, orHere(a.Path)) }

// Need asks for the folder.
func (a Grep) Need() Need { return Need{Effect: Reads, Paths: []string{orHere(a.Path)}} }

// Do reads every text file below the folder that the ignore files leave. Order is by path, then by line. Found.Total
// is what there is without Limit and Skip: matching lines, and files in mode GrepFiles.
func (a Grep) Do(ctx context.Context, w *Workspace) (Found, error) {
	g := grepping{Grep: a, w: w, limit: a.Limit}
	if err := g.compile(); err != nil {
		return Found{}, fmt.Errorf("grep: %w", err)
	}
	if g.limit == 0 {
		g.limit = grepLines
	}
	if g.limit < 0 || g.limit > grepMost {
		g.limit = grepMost
	}
	start := w.Dir
	if a.Path != "" {
		start = w.Abs(a.Path)
	}
	info, err := os.Stat(start)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Found{}, &MissingError{What: "grep", Path: a.Path, Similar: w.similar(start), Dir: w.Dir}
	case err != nil:
		return Found{}, fmt.Errorf("grep in %s: %w", orHere(a.Path), reason(err))
	}
	g.out = Found{What: "lines", Pattern: a.Pattern, Where: start, Glob: a.Glob, Mode: a.Mode}
	if a.Mode != GrepLines {
		g.out.What = "files"
	}
	files := []grepped{{path: start}}
	var k *walk
	if info.IsDir() {
		if files, k, err = g.files(ctx, start); err != nil {
			return Found{}, err
		}
	}
	for _, f := range files {
		if err := g.file(ctx, f.path); err != nil {
			return Found{}, fmt.Errorf("grep in %s: %w", orHere(a.Path), err)
		}
	}
	g.out.Total = g.matches
	g.out.More = max(0, g.entries-max(0, a.Skip)-g.shown)
	g.remarks(k)
	return g.out, nil
}

// grepped is a file to be searched.
type grepped struct {
	path string
	when time.Time
}

// files are those below a folder that the filters leave, in order.
func (g *grepping) files(ctx context.Context, start string) ([]grepped, *walk, error) {
	want, err := g.filter(start)
	if err != nil {
		return nil, nil, fmt.Errorf("grep: %w", err)
	}
	k := newWalk(start, g.All, g.Rules)
	k.exclude = want.exclude
	if !g.Hidden && !want.dotted {
		k.hide = true
	}
	var files []grepped
	err = k.run(ctx, func(e walked) error {
		if e.dir || e.link || !want.takes(e.rel) {
			return nil
		}
		f := grepped{path: e.abs}
		if info, err := e.info(); err == nil {
			if !info.Mode().IsRegular() {
				return nil
			}
			if info.Size() > grepFile {
				g.large++
				return nil
			}
			f.when = info.ModTime()
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("grep in %s: %w", orHere(g.Path), reason(err))
	}
	slices.SortFunc(files, func(x, y grepped) int {
		if g.Newest {
			if order := y.when.Compare(x.when); order != 0 {
				return order
			}
		}
		return strings.Compare(x.path, y.path)
	})
	return files, k, nil
}

// compile makes the pattern. One that names a line end, or Span, goes over a whole text at once.
func (g *grepping) compile() error {
	if g.Pattern == "" {
		return &PatternError{Why: "it is empty"}
	}
	switch g.Mode {
	case GrepLines, GrepFiles, GrepCount:
	default:
		return fmt.Errorf("the mode %q is unknown", g.Mode)
	}
	text := unix(g.Pattern)
	if g.Literal {
		text = regexp.QuoteMeta(text)
	}
	g.whole = g.Span || strings.Contains(text, "\n") || strings.Contains(notLineEnds.ReplaceAllString(text, ""), `\n`)
	if g.Fold {
		text = "(?i)" + text
	}
	var err error
	if !g.whole {
		if g.re, err = regexp.Compile(text); err != nil {
			return patternError(g.Pattern, err)
		}
		if !strings.Contains(text, `\A`) && !strings.Contains(text, `\z`) {
			g.quick, _ = regexp.Compile("(?m:" + text + ")")
		}
		return nil
	}
	flags := "(?m)"
	if g.Span {
		flags = "(?ms)"
	}
	if g.re, err = regexp.Compile(flags + text); err != nil {
		return patternError(g.Pattern, err)
	}
	return nil
}

// notLineEnds are classes that name a line end only to leave it out.
var notLineEnds = regexp.MustCompile(`\[\^(?:\\.|[^\]\\])*\]`)

type grepping struct {
	Grep
	w             *Workspace
	re            *regexp.Regexp
	quick         *regexp.Regexp // finds nothing in a whole text when re finds nothing in its lines; nil: unknown
	whole         bool           // re goes over a whole text, not over each line
	out           Found
	limit         int
	matches       int // lines that match; files of GrepFiles
	entries       int // that the limit counts, seen so far
	shown         int // of them in the hits
	large, binary int
	closed        int
}

// match is a place in a file: lines from first to last, 0-based.
type match struct {
	first, last int
	text        string // of Only
}

// file adds the matches of one file. Beyond the limit they are only counted.
func (g *grepping) file(ctx context.Context, abs string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, _, err := g.w.ReadFile(ctx, abs)
	if err != nil {
		g.closed++
		return nil
	}
	decoded, _, err := decode(data)
	if err != nil {
		g.binary++
		return nil
	}
	if g.quick != nil && utf8.ValidString(decoded) && strings.IndexByte(decoded, '\r') < 0 && !g.quick.MatchString(decoded) {
		return nil // most files, without cutting them into lines
	}
	text := unix(readable(decoded))
	lines := splitLines(text)
	found := g.find(text, lines)
	if len(found) == 0 {
		return nil
	}
	switch g.Mode {
	case GrepFiles:
		g.matches++
		if g.take() {
			g.out.Hits = append(g.out.Hits, Hit{Path: abs})
		}
	case GrepCount:
		n := g.count(found)
		g.matches += n
		if g.take() {
			g.out.Hits = append(g.out.Hits, Hit{Path: abs, Count: n})
		}
	default:
		g.matches += g.count(found)
		g.show(abs, lines, found)
	}
	return nil
}

// take counts one entry and tells whether it is shown.
func (g *grepping) take() bool {
	g.entries++
	if g.entries <= g.Skip || g.shown >= g.limit {
		return false
	}
	g.shown++
	return true
}

// count is the number of matching lines; of Only, of matches.
func (g *grepping) count(found []match) int {
	if g.Only {
		return len(found)
	}
	n, last := 0, -1
	for _, m := range found {
		if from := max(m.first, last+1); m.last >= from {
			n += m.last - from + 1
		}
		last = max(last, m.last)
	}
	return n
}

func (g *grepping) find(text string, lines []string) []match {
	if g.whole {
		return g.findWhole(text, len(lines))
	}
	var out []match
	for i, line := range lines {
		if !g.Only || g.Mode == GrepFiles {
			if g.re.MatchString(line) {
				out = append(out, match{first: i, last: i})
				if g.Mode == GrepFiles {
					return out
				}
			}
			continue
		}
		for _, m := range g.re.FindAllStringIndex(line, -1) {
			if m[0] < m[1] {
				out = append(out, match{i, i, line[m[0]:m[1]]})
			}
		}
	}
	return out
}

func (g *grepping) findWhole(text string, total int) []match {
	most := -1
	if g.Mode == GrepFiles {
		most = 1
	}
	var out []match
	line, at := 0, 0
	for _, m := range g.re.FindAllStringIndex(text, most) {
		line += strings.Count(text[at:m[0]], "\n")
		at = m[0]
		body := strings.TrimSuffix(text[m[0]:m[1]], "\n")
		if line >= total || g.Only && m[0] == m[1] {
			continue // nothing is behind the last line end
		}
		found := match{first: line, last: min(line+strings.Count(body, "\n"), total-1)}
		if g.Only {
			found.text = body
		}
		out = append(out, found)
	}
	return out
}

// show puts matches into the hits, each with its neighbours, every line once.
func (g *grepping) show(abs string, lines []string, found []match) {
	if g.Only {
		for _, m := range found {
			if g.take() {
				g.out.Hits = append(g.out.Hits, Hit{Path: abs, Line: m.first + 1, Text: shortLine(m.text, lineBytes)})
			}
		}
		return
	}
	before, after := max(g.Context, g.Before, 0), max(g.Context, g.After, 0)
	start := len(g.out.Hits)
	next := 0 // the first line that is not in the hits yet
	for _, m := range found {
		if !g.take() {
			continue
		}
		for i := max(next, m.first-before); i <= min(m.last+after, len(lines)-1); i++ {
			g.out.Hits = append(g.out.Hits, Hit{Path: abs, Line: i + 1, Text: shortLine(lines[i], lineBytes), Context: true})
			next = i + 1
		}
		for h := len(g.out.Hits) - 1; h >= start && g.out.Hits[h].Line > m.first; h-- {
			if g.out.Hits[h].Line <= m.last+1 {
				g.out.Hits[h].Context = false
			}
		}
	}
}

func (g *grepping) remarks(k *walk) {
	count := func(n int, what string) {
		if n > 0 {
			g.out.Skipped = append(g.out.Skipped, fmt.Sprintf("%d %s", n, what))
		}
	}
	if k != nil {
		g.out.Skipped = k.skipped()
		g.out.Excluded = k.stats.excluded
		if g.entries == 0 {
			count(k.stats.hidden, "files and folders whose names begin with a dot")
		}
	}
	count(g.binary, "binary files")
	count(g.large, "files larger than 1 MiB")
	count(g.closed, "files that could not be read")
}
