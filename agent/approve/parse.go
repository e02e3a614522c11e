package approve

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of what is looked at. Past them a script is opaque.
const (
	maxCommands = 64
	maxScript   = 64 << 10
	maxShells   = 3   // scripts within scripts that are split
	maxBrackets = 100 // in a row
)

// Plain splits a script into its commands if it is nothing but simple commands joined by ; newline && || and |,
// with every word fixed. The words are as the shell would pass them, but for a leading ~ and for globs, which stand as
// they are written. Anything else is not plain. A command that is itself `sh -c SCRIPT` is replaced by the commands of
// that script.
func Plain(script string) (commands [][]string, plain bool) {
	tree, plain := plainTree(script)
	if !plain {
		return nil, false
	}
	for words := range tree.simple() {
		commands = append(commands, texts(words))
	}
	return commands, true
}

// word is one word as the shell passes it on.
type word struct {
	text  string
	globs []int // where in text characters stand that the shell expands by names of files
}

func texts(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return out
}

// bare are words without globs.
func bare(argv []string) []word {
	out := make([]word, len(argv))
	for i, a := range argv {
		out[i] = word{text: a}
	}
	return out
}

// join is how the parts of a plain script hang together.
type join int

const (
	single join = iota // one simple command
	after              // one after the other, in the same shell
	onlyIf             // the second only if the first succeeds
	orElse             // the second only if the first fails
	piped              // side by side, each in a shell of its own, as most shells do it
	nested             // in another shell
)

// tree is a plain script.
type tree struct {
	join  join
	words []word // of single
	kids  []tree // of the others
}

// simple yields every simple command in the order of the text.
func (t tree) simple() func(yield func([]word) bool) {
	return func(yield func([]word) bool) { t.each(yield) }
}

func (t tree) each(yield func([]word) bool) bool {
	if t.join == single {
		return yield(t.words)
	}
	for _, kid := range t.kids {
		if !kid.each(yield) {
			return false
		}
	}
	return true
}

func plainTree(script string) (tree, bool) {
	commands := 0
	return plainAt(script, 0, &commands)
}

func plainAt(script string, depth int, commands *int) (tree, bool) {
	if depth >= maxShells || odd(script) {
		return tree{}, false
	}
	file, ok := parse(script)
	if !ok || len(file.Stmts) == 0 || len(file.Last) > 0 {
		return tree{}, false
	}
	out := tree{join: after}
	for _, s := range file.Stmts {
		kid, ok := plainStmt(s, depth, commands)
		if !ok {
			return tree{}, false
		}
		out.kids = append(out.kids, kid)
	}
	return out, true
}

// odd reports characters on which a shell, a parser and a reader may disagree.
func odd(script string) bool {
	if !utf8.ValidString(script) {
		return true
	}
	return strings.IndexFunc(script, func(r rune) bool {
		switch {
		case r == '\n' || r == '\t':
			return false
		case r < ' ' || r == utf8.RuneError:
			return true
		}
		return r >= 0x7f && (unicode.Is(unicode.C, r) || unicode.IsSpace(r))
	}) >= 0
}

func parse(script string) (*syntax.File, bool) {
	if len(script) > maxScript || deep(script) {
		return nil, false
	}
	p := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
	file, err := p.Parse(strings.NewReader(script), "")
	return file, err == nil
}

// deep reports a run of brackets that takes a parser long to give up.
func deep(script string) bool { return strings.Contains(script, strings.Repeat("(", maxBrackets)) }

func plainStmt(s *syntax.Stmt, depth int, commands *int) (tree, bool) {
	if s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 || len(s.Comments) > 0 {
		return tree{}, false
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		joins := map[syntax.BinCmdOperator]join{syntax.AndStmt: onlyIf, syntax.OrStmt: orElse, syntax.Pipe: piped}
		how, ok := joins[c.Op]
		if !ok {
			return tree{}, false
		}
		out := tree{join: how}
		for _, side := range []*syntax.Stmt{c.X, c.Y} {
			kid, ok := plainStmt(side, depth, commands)
			if !ok {
				return tree{}, false
			}
			out.kids = append(out.kids, kid)
		}
		return out, true
	case *syntax.CallExpr:
		if *commands++; *commands > maxCommands || len(c.Assigns) > 0 {
			return tree{}, false
		}
		words, ok := plainWords(c)
		if !ok {
			return tree{}, false
		}
		if inner, ok := shellScript(words); ok {
			kid, plain := plainAt(inner, depth+1, commands)
			return tree{join: nested, words: words, kids: []tree{kid}}, plain
		}
		return tree{words: words}, true
	}
	return tree{}, false
}

// plainWords are the words of a call if all are fixed and none of what a glob finds could be an option that matters.
func plainWords(c *syntax.CallExpr) ([]word, bool) {
	if len(c.Args) == 0 {
		return nil, false
	}
	words := make([]word, len(c.Args))
	for i, w := range c.Args {
		got, fixed := decode(w)
		if !fixed || i == 0 && (got.text == "" || len(got.globs) > 0) {
			return nil, false
		}
		if len(got.globs) > 0 && (got.globs[0] == 0 || got.text[0] == '-') && (!slices.Contains(globbing, words[0].text) || got.text[0] == '-' && !valued(got)) {
			return nil, false
		}
		words[i] = got
	}
	return words, true
}

// valued reports whether globs stand only in the value of a long option, as in --include=*.go: whatever names they find,
// it stays that option.
func valued(w word) bool {
	name, _, has := strings.Cut(w.text, "=")
	return has && strings.HasPrefix(name, "--") && w.globs[0] > len(name) && !strings.Contains(w.text, "/")
}

// globbing are programs of which no option does harm: a name that begins with a dash may be among their arguments.
var globbing = []string{"cat", "cut", "echo", "expr", "false", "grep", "head", "id", "ls", "nl", "paste", "rev", "seq", "stat", "tac",
	"tail", "tr", "true", "wc"}

// shellScript is the script of `sh -c SCRIPT` and its like, exactly three words. A shell that is somewhere else than
// shells are may be anything.
func shellScript(words []word) (string, bool) {
	if len(words) != 3 || words[1].text != "-c" && words[1].text != "-lc" || len(words[2].globs) > 0 {
		return "", false
	}
	dir, name := filepath.Split(words[0].text)
	switch dir {
	case "", "/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/":
	default:
		return "", false
	}
	switch name {
	case "bash", "zsh", "sh":
		return words[2].text, true
	}
	return "", false
}

// decode reads a word as the shell would. It is not fixed when anything in it expands to another text, but for a leading
// ~ and for globs.
func decode(w *syntax.Word) (word, bool) {
	d := decoder{}
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if !d.literal(p.Value, i == 0, len(w.Parts) == 1) {
				return word{}, false
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return word{}, false
			}
			d.text.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return word{}, false
			}
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return word{}, false
				}
				quoted(lit.Value, &d.text)
			}
		default:
			return word{}, false
		}
	}
	if d.brace && d.list {
		return word{}, false
	}
	return word{text: d.text.String(), globs: d.globs}, true
}

type decoder struct {
	text   strings.Builder
	globs  []int
	brace  bool // an unquoted { stands in it
	list   bool // and behind that a comma or two dots: the shell makes several words of it
	assign bool // an unquoted = or : stands in it, behind which a ~ is expanded
}

// literal decodes unquoted text; only says that the word has no other part.
func (d *decoder) literal(raw string, first, only bool) bool {
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch c {
		case '\\':
			if i++; i == len(raw) {
				return false
			}
			if raw[i] != '\n' {
				d.text.WriteByte(raw[i])
			}
			continue
		case '{':
			d.brace = true
		case ',', '.':
			d.list = d.list || d.brace && (c == ',' || i+1 < len(raw) && raw[i+1] == '.' || !only)
		case '*', '?', '[':
			d.globs = append(d.globs, d.text.Len())
		case '~':
			if first && i == 0 && (len(raw) > 1 && raw[1] != '/' || !only && len(raw) == 1) || d.assign {
				return false
			}
		case '=':
			if d.assign = true; first && i == 0 { // zsh makes the path of a program of =NAME
				return false
			}
		case ':':
			d.assign = true
		}
		d.text.WriteByte(c)
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

// hereWords are the words of a script that is one simple command, without anything that expands, and what it reads from
// the script itself. They say which rules speak of it, and nothing else.
func hereWords(script string) ([]string, bool) {
	file, ok := parse(script)
	if !ok || odd(script) || len(file.Stmts) != 1 || len(file.Last) > 0 {
		return nil, false
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Comments) > 0 || len(call.Assigns) > 0 || len(s.Redirs) == 0 {
		return nil, false
	}
	for _, r := range s.Redirs {
		body := r.Hdoc
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
		case syntax.WordHdoc:
			body = r.Word
		default:
			return nil, false
		}
		if r.N != nil || !still(body) {
			return nil, false
		}
	}
	words, ok := plainWords(call)
	if !ok {
		return nil, false
	}
	return texts(words), true
}

// still reports whether nothing in a word runs or expands.
func still(w *syntax.Word) bool {
	ok := true
	if w == nil {
		return ok
	}
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.Word, *syntax.Lit:
		case *syntax.SglQuoted:
			ok = ok && !n.Dollar
		case *syntax.DblQuoted:
			ok = ok && !n.Dollar
		default:
			ok = false
		}
		return ok
	})
	return ok
}
