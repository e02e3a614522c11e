package action

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

const (
	grepFile  = 1 << 20 // larger files are skipped
	grepLines = 1000    // matches without a limit
)

// Grep finds lines that match an RE2 pattern.
type Grep struct {
	Pattern string
	Path    string   // a folder or a file; "" is the working folder
	Glob    string   // of the files, with **, {a,b}
	Fold    bool     // upper and lower case are the same
	Literal bool     // the pattern is a plain text
	Context int      // lines before and after each match
	Limit   int      // matches; 0 is 1000
	Rules   []string `json:",omitempty"` // names of ignore files besides .gitignore
}

// Title is the action in a line.
func (a Grep) Title() string { return one("grep %s in %s", a.Pattern, orHere(a.Path)) }

// Need asks for the folder.
func (a Grep) Need() Need { return Need{Effect: Reads, Paths: []string{orHere(a.Path)}} }

// Do reads every text file below the folder that the ignore files leave. Order is by path, then by line.
func (a Grep) Do(ctx context.Context, w *Workspace) (Found, error) {
	re, err := a.compile()
	if err != nil {
		return Found{}, fmt.Errorf("grep: %w", err)
	}
	start := w.Dir
	if a.Path != "" {
		start = w.Abs(a.Path)
	}
	info, err := os.Stat(start)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Found{}, &MissingError{What: "grep", Path: a.Path, Similar: similar(start)}
	case err != nil:
		return Found{}, fmt.Errorf("grep in %s: %w", orHere(a.Path), reason(err))
	}
	g := grepping{Grep: a, w: w, re: re, limit: a.Limit}
	if !strings.Contains(re.String(), `\A`) && !strings.Contains(re.String(), `\z`) {
		g.quick, _ = regexp.Compile("(?m:" + re.String() + ")")
	}
	if g.limit <= 0 {
		g.limit = grepLines
	}
	g.out = Found{What: "lines", Pattern: a.Pattern, Where: start, Glob: a.Glob}
	if !info.IsDir() {
		if err := g.file(ctx, start); err != nil {
			return Found{}, err
		}
		g.remarks(nil)
		return g.out, nil
	}
	matches := func(string) bool { return true }
	if a.Glob != "" {
		if err := checkGlob(a.Glob); err != nil {
			return Found{}, fmt.Errorf("grep: %w", err)
		}
		matches = globMatcher(start, a.Glob)
	}
	k := newWalk(start, false, a.Rules)
	err = k.run(ctx, func(e walked) error {
		if e.dir || e.link || !matches(e.rel) {
			return nil
		}
		if info, err := e.info(); err == nil && (!info.Mode().IsRegular() || info.Size() > grepFile) {
			if info.Mode().IsRegular() {
				g.large++
			}
			return nil
		}
		return g.file(ctx, e.abs)
	})
	if err != nil {
		return Found{}, fmt.Errorf("grep in %s: %w", orHere(a.Path), reason(err))
	}
	g.remarks(k)
	return g.out, nil
}

func (a Grep) compile() (*regexp.Regexp, error) {
	if a.Pattern == "" {
		return nil, &PatternError{Why: "it is empty"}
	}
	text := a.Pattern
	if a.Literal {
		text = regexp.QuoteMeta(text)
	}
	if a.Fold {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	if err == nil {
		return re, nil
	}
	e := &PatternError{Pattern: a.Pattern, Why: err.Error()}
	var se *syntax.Error
	if errors.As(err, &se) {
		e.At, e.Why = se.Expr, se.Code.String()
		if strings.HasPrefix(se.Expr, "(?") && (se.Code == syntax.ErrInvalidPerlOp) {
			e.Why = "look-around is not supported"
		}
	}
	return nil, e
}

type grepping struct {
	Grep
	w             *Workspace
	re            *regexp.Regexp
	quick         *regexp.Regexp // finds nothing in a whole text when re finds nothing in its lines; nil: unknown
	out           Found
	limit         int
	matches       int
	large, binary int
	closed        int
}

// file adds the matches of one file. Beyond the limit they are only counted, as far as the file goes.
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
	lines := splitLines(unix(readable(decoded)))
	shown := 0 // lines up to this one are in the hits
	for i, line := range lines {
		if !g.re.MatchString(line) {
			continue
		}
		g.matches++
		if g.matches > g.limit {
			g.out.More++
			continue
		}
		for j := max(shown, i-g.Context); j < i; j++ {
			g.add(abs, lines, j, true)
		}
		// A neighbour that matches too was added as context of the line above.
		if i < shown {
			for h := len(g.out.Hits) - 1; h >= 0; h-- {
				if g.out.Hits[h].Line == i+1 {
					g.out.Hits[h].Context = false
					break
				}
			}
		} else {
			g.add(abs, lines, i, false)
			shown = i + 1
		}
		for j := max(shown, i+1); j <= min(i+g.Context, len(lines)-1); j++ {
			g.add(abs, lines, j, true)
			shown = j + 1
		}
	}
	return nil
}

func (g *grepping) add(abs string, lines []string, i int, context bool) {
	g.out.Hits = append(g.out.Hits, Hit{Path: abs, Line: i + 1, Text: shortLine(lines[i], lineBytes), Context: context})
}

func (g *grepping) remarks(k *walk) {
	if k != nil {
		g.out.Skipped = k.skipped()
	}
	count := func(n int, what string) {
		if n > 0 {
			g.out.Skipped = append(g.out.Skipped, fmt.Sprintf("%d %s", n, what))
		}
	}
	count(g.binary, "binary files")
	count(g.large, "files larger than 1 MiB")
	count(g.closed, "files that could not be read")
}
