package action

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Simple is a command as it stands in a script.
type Simple struct {
	Words []Word
	Docs  []string // its here-documents, in order
	Fed   bool     // its standard input is a pipe, a file or a here-document
	Whole bool     // there is nothing else in the script, and what it prints goes nowhere else
}

// Word is a word of a Simple without its quotes. What a shell would put in for variables and the like is not known here:
// it stands as it was written, and then the word is not Fixed. A here-document that cat prints into a word is known.
type Word struct {
	Text  string
	Fixed bool
}

// Simples are the commands of a script for a bash, in the order they are written, those inside others included. The
// error is a *SyntaxError.
func Simples(script string) ([]Simple, error) {
	if err := Syntax(script); err != nil {
		return nil, err
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, nil // another shell's
	}
	u := unquoter{script}
	fed := map[*syntax.Stmt]bool{}
	var all []Simple
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				fed[n.Y] = true
			}
		case *syntax.Stmt:
			call, ok := n.Cmd.(*syntax.CallExpr)
			if !ok {
				markFed(n, fed)
				return true
			}
			if len(call.Args) > 0 {
				one := u.simple(n, call)
				one.Fed = one.Fed || fed[n]
				one.Whole = len(file.Stmts) == 1 && file.Stmts[0] == n && one.Whole
				all = append(all, one)
			}
		}
		return true
	})
	return all, nil
}

// markFed passes an input on to what stands in a compound command.
func markFed(n *syntax.Stmt, fed map[*syntax.Stmt]bool) {
	if !fed[n] && !feeds(n.Redirs) {
		return
	}
	mark := func(list []*syntax.Stmt) {
		for _, s := range list {
			fed[s] = true
		}
	}
	switch c := n.Cmd.(type) {
	case *syntax.Subshell:
		mark(c.Stmts)
	case *syntax.Block:
		mark(c.Stmts)
	case *syntax.WhileClause:
		mark(c.Cond)
		mark(c.Do)
	case *syntax.ForClause:
		mark(c.Do)
	case *syntax.IfClause:
		mark(c.Cond)
		mark(c.Then)
	case *syntax.BinaryCmd:
		mark([]*syntax.Stmt{c.X, c.Y})
	}
}

// feeds reports whether redirections give a standard input.
func feeds(list []*syntax.Redirect) bool {
	for _, r := range list {
		switch r.Op {
		case syntax.RdrIn, syntax.RdrInOut, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn:
			if r.N == nil || r.N.Value == "0" {
				return true
			}
		}
	}
	return false
}

// unquoter takes the quotes off words of a script.
type unquoter struct{ script string }

func (u unquoter) simple(n *syntax.Stmt, call *syntax.CallExpr) Simple {
	one := Simple{Fed: feeds(n.Redirs), Whole: !n.Background && !n.Negated && !n.Coprocess && len(call.Assigns) == 0}
	for _, w := range call.Args {
		one.Words = append(one.Words, u.word(w))
	}
	for _, r := range n.Redirs {
		if r.Hdoc == nil {
			one.Whole = false
			continue
		}
		one.Docs = append(one.Docs, u.document(r))
	}
	return one
}

func (u unquoter) word(w *syntax.Word) Word {
	var b strings.Builder
	fixed := true
	for _, p := range w.Parts {
		fixed = u.part(&b, p, false) && fixed
	}
	return Word{b.String(), fixed}
}

// part writes what a part of a word stands for, and reports whether that is known.
func (u unquoter) part(b *strings.Builder, p syntax.WordPart, quoted bool) bool {
	switch p := p.(type) {
	case *syntax.Lit:
		if quoted {
			b.WriteString(bare(p.Value, "\"\\$`\n"))
		} else {
			b.WriteString(bare(p.Value, ""))
		}
		return true
	case *syntax.SglQuoted:
		if !p.Dollar {
			b.WriteString(p.Value)
			return true
		}
		text, err := expand.Literal(nil, &syntax.Word{Parts: []syntax.WordPart{p}})
		b.WriteString(text)
		return err == nil
	case *syntax.DblQuoted:
		known := true
		for _, in := range p.Parts {
			known = u.part(b, in, true) && known
		}
		return known
	case *syntax.CmdSubst:
		if text, ok := u.printed(p); ok {
			b.WriteString(text)
			return true
		}
	}
	b.WriteString(u.source(p))
	return false
}

// printed is what $(cat <<EOF …) puts in: the document without the line ends behind it.
func (u unquoter) printed(p *syntax.CmdSubst) (string, bool) {
	if len(p.Stmts) != 1 {
		return "", false
	}
	call, ok := p.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok {
		return "", false
	}
	one := u.simple(p.Stmts[0], call)
	if len(one.Words) != 1 || one.Words[0].Text != "cat" || len(one.Docs) != 1 || len(p.Stmts[0].Redirs) != 1 {
		return "", false
	}
	return strings.TrimRight(one.Docs[0], "\n"), true
}

// document is the text of a here-document. Variables in it stand as they are.
func (u unquoter) document(r *syntax.Redirect) string {
	verbatim := strings.ContainsAny(u.source(r.Word), `'"\`)
	var b strings.Builder
	for _, p := range r.Hdoc.Parts {
		switch lit, ok := p.(*syntax.Lit); {
		case ok && verbatim:
			b.WriteString(lit.Value)
		case ok:
			b.WriteString(bare(lit.Value, "\\$`\n"))
		default:
			b.WriteString(u.source(p))
		}
	}
	if r.Op != syntax.DashHdoc {
		return b.String()
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(strings.TrimLeft(line, "\t"))
	}
	return out.String()
}

func (u unquoter) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(u.script) {
		return ""
	}
	return u.script[from:to]
}

// bare takes away the backslashes before some bytes, or before any when none are named. A line end goes with its
// backslash.
func bare(text, before string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (before == "" || strings.IndexByte(before, text[i+1]) >= 0) {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
