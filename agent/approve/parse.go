package approve

import (
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is looked at. Past them a script is opaque.
const (
	maxCommands = 64
	maxScript   = 64 << 10
)

// Plain splits a script into its commands if it is nothing but simple commands joined by ; newline && || and |,
// with every word fixed. The words are as the shell would pass them. Anything else is not plain.
// A command that is itself `sh -c SCRIPT` is replaced by the commands of that script.
func Plain(script string) (commands [][]string, plain bool) {
	return plainAt(script, 0)
}

func plainAt(script string, depth int) ([][]string, bool) {
	file, ok := parse(script)
	if !ok || depth > 2 || len(file.Stmts) == 0 || len(file.Last) > 0 {
		return nil, false
	}
	var out [][]string
	for _, s := range file.Stmts {
		if !collect(s, depth, &out) {
			return nil, false
		}
	}
	return out, len(out) > 0 && len(out) <= maxCommands
}

func parse(script string) (*syntax.File, bool) {
	if len(script) > maxScript {
		return nil, false
	}
	p := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
	file, err := p.Parse(strings.NewReader(script), "")
	return file, err == nil
}

func collect(s *syntax.Stmt, depth int, out *[][]string) bool {
	if s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 || len(s.Comments) > 0 {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		switch c.Op {
		case syntax.AndStmt, syntax.OrStmt, syntax.Pipe:
			return collect(c.X, depth, out) && collect(c.Y, depth, out)
		}
	case *syntax.CallExpr:
		if len(c.Assigns) > 0 || len(c.Args) == 0 {
			return false
		}
		argv := make([]string, len(c.Args))
		for i, w := range c.Args {
			text, fixed := word(w)
			if !fixed {
				return false
			}
			argv[i] = text
		}
		if argv[0] == "" {
			return false
		}
		if inner, ok := shellScript(argv); ok {
			more, plain := plainAt(inner, depth+1)
			*out = append(*out, more...)
			return plain
		}
		*out = append(*out, argv)
		return true
	}
	return false
}

// shellScript is the script of `sh -c SCRIPT` and its like, exactly three words.
func shellScript(argv []string) (string, bool) {
	if len(argv) != 3 || argv[1] != "-c" && argv[1] != "-lc" {
		return "", false
	}
	switch filepath.Base(argv[0]) {
	case "bash", "zsh", "sh":
		return argv[2], true
	}
	return "", false
}

// word decodes a word as the shell would. It is not fixed when anything in it expands to another text or to
// several: a glob counts only where it might become an option, for what it matches is not known here.
func word(w *syntax.Word) (text string, fixed bool) {
	var b strings.Builder
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if !literal(p.Value, i == 0, &b) {
				return "", false
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return "", false
			}
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", false
				}
				quoted(lit.Value, &b)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// literal decodes unquoted text.
func literal(raw string, first bool, b *strings.Builder) bool {
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '\\':
			if i++; i < len(raw) && raw[i] != '\n' {
				b.WriteByte(raw[i])
			}
		case '{', '}':
			// A lone pair is what find calls a file; with anything between it is a list or a range.
			if !strings.HasPrefix(raw[i:], "{}") && c == '{' {
				return false
			}
			b.WriteByte(c)
		case '*', '?', '[':
			if b.Len() == 0 || b.String()[0] == '-' {
				return false
			}
			b.WriteByte(c)
		case '~':
			if first && i == 0 && len(raw) > 1 && raw[1] != '/' {
				return false
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return true
}

// quoted decodes text inside double quotes.
func quoted(raw string, b *strings.Builder) {
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\\' && i+1 < len(raw) && strings.IndexByte("$`\"\\\n", raw[i+1]) >= 0 {
			if i++; raw[i] != '\n' {
				b.WriteByte(raw[i])
			}
			continue
		}
		b.WriteByte(raw[i])
	}
}
