package rules

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// The language of a file is a part of Starlark: words, lists, functions, loops and conditions, so that no file can take
// long or much memory whatever it says. Left out is what makes much out of little: repetition, formatting, dictionaries,
// methods, slices, and all built-in functions but a few.

const (
	mostSteps = 1_000_000 // a rule takes about 10
	mostSize  = 16 << 20  // of all that is joined, compared and handed to rules, see size
	mostDepth = 1000      // of expressions and blocks in one another
)

// parse takes the rules out of the text of a file. They are of the layer User yet, and no example has been checked.
func parse(path, text string) (got *loading, err error) {
	defer func() {
		if broken := recover(); broken != nil { // of the language; a file may not end the program
			got, err = nil, &Error{File: path, Text: fmt.Sprintf("cannot be read as rules (%v)", broken)}
		}
	}()
	if err := legible(path, text); err != nil {
		return nil, err
	}
	options := &syntax.FileOptions{TopLevelControl: true}
	tree, err := options.Parse(path, text, 0)
	if err != nil {
		return nil, mistake(path, err)
	}
	if err := narrow(path, tree); err != nil {
		return nil, err
	}
	b := &builder{path: path, loading: &loading{}}
	names := b.names()
	program, err := starlark.FileProgram(tree, names.Has)
	if err != nil {
		return nil, mistake(path, err)
	}
	thread := &starlark.Thread{Name: "rules", Print: func(*starlark.Thread, string) {}}
	thread.SetMaxExecutionSteps(mostSteps)
	if _, err := program.Init(thread, names); err != nil {
		return nil, mistake(path, err)
	}
	return b.loading, nil
}

// mistake words what the language says of a file.
func mistake(path string, err error) error {
	var ours *Error
	var parsing syntax.Error
	var resolving resolve.ErrorList
	var running *starlark.EvalError
	e := &Error{File: path}
	switch {
	case errors.As(err, &parsing):
		e.Line, e.Text = int(parsing.Pos.Line), parsing.Msg
	case errors.As(err, &resolving) && len(resolving) > 0:
		e.Line, e.Text = int(resolving[0].Pos.Line), resolving[0].Msg
		if name, ok := strings.CutPrefix(e.Text, "undefined: "); ok {
			name, _, _ = strings.Cut(name, " ")
			e.Text = name + " is not known here"
			e.Try = "a file of rules calls prefix_rule, host_executable and network_rule"
		}
	case errors.As(err, &running):
		for i := range running.CallStack { // the innermost place in the file
			if pos := running.CallStack.At(i).Pos; pos.IsValid() && pos.Filename() == path && pos.Line > 0 {
				e.Line = int(pos.Line)
				break
			}
		}
		if errors.As(err, &ours) {
			e.Text, e.Try = ours.Text, ours.Try
		} else if e.Text = running.Msg; strings.Contains(e.Text, "too many steps") {
			e.Text = fmt.Sprintf("the file takes more than %d steps", mostSteps)
			e.Try = "write the rules down one by one"
		}
	default:
		e.Text = err.Error()
	}
	return e
}

// sized is the name under which size is called; nobody can write it.
const sized = "(size)"

// narrow refuses what is not part of our language, and has operands measured before anything is made of them.
func narrow(path string, tree *syntax.File) error {
	var wrong error
	fail := func(at syntax.Position, text, remedy string) bool {
		if wrong == nil {
			wrong = &Error{File: path, Line: int(at.Line), Text: text, Try: remedy}
		}
		return false
	}
	depth := 0
	syntax.Walk(tree, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return true
		}
		if wrong != nil {
			return false
		}
		start := func() syntax.Position { return place(n) }
		if depth >= mostDepth {
			return fail(start(), "is nested too deep", "")
		}
		switch n := n.(type) {
		case *syntax.LoadStmt:
			return fail(n.Load, "load: a file of rules reads no other file", "put both files into the folder of rules")
		case *syntax.AssignStmt:
			if n.Op != syntax.EQ {
				return fail(n.OpPos, n.Op.String()+" is not part of the language of rules", "x = x + y")
			}
		case *syntax.Literal:
			if n.Token == syntax.BYTES || n.Token == syntax.FLOAT || n.Token == syntax.INT && len(n.Raw) > 18 {
				return fail(n.TokenPos, "a rule is made of words in quotes", "")
			}
		case *syntax.DictExpr:
			return fail(n.Lbrace, "dictionaries are not part of the language of rules", "use lists")
		case *syntax.Comprehension:
			if n.Curly {
				return fail(n.Lbrack, "dictionaries are not part of the language of rules", "use lists")
			}
		case *syntax.SliceExpr:
			return fail(n.Lbrack, "parts of lists are not part of the language of rules", "write the list down")
		case *syntax.DotExpr:
			return fail(n.Dot, "methods are not part of the language of rules", "use lists and +")
		case *syntax.UnaryExpr:
			if n.Op == syntax.STARSTAR {
				return fail(n.OpPos, "** is not part of the language of rules", "name each argument")
			}
		case *syntax.CallExpr:
			for _, arg := range n.Args {
				if star, ok := arg.(*syntax.UnaryExpr); ok && star.Op == syntax.STAR {
					star.X = measured(star.X)
				}
			}
		case *syntax.BinaryExpr:
			switch n.Op {
			case syntax.AND, syntax.OR, syntax.EQ: // EQ: an argument, or a parameter, and its name
			case syntax.PLUS, syntax.MINUS, syntax.EQL, syntax.NEQ, syntax.LT, syntax.GT, syntax.LE, syntax.GE, syntax.IN, syntax.NOT_IN:
				n.X, n.Y = measured(n.X), measured(n.Y)
			default:
				return fail(n.OpPos, n.Op.String()+" is not part of the language of rules", "write the list down, or use +")
			}
		}
		depth++
		return true
	})
	return wrong
}

// place is where something begins. What it is made of may be very deep, so that is not looked through.
func place(n syntax.Node) syntax.Position {
	for range mostDepth {
		switch x := n.(type) {
		case *syntax.BinaryExpr:
			return x.OpPos
		case *syntax.CallExpr:
			return x.Lparen
		case *syntax.IndexExpr:
			return x.Lbrack
		case *syntax.CondExpr:
			return x.If
		case *syntax.IfStmt:
			return x.If
		case *syntax.ExprStmt:
			n = x.X
		default:
			start, _ := n.Span()
			return start
		}
	}
	return syntax.Position{}
}

// measured has the value of an expression go through size.
func measured(x syntax.Expr) syntax.Expr {
	if call, ok := x.(*syntax.CallExpr); ok {
		if name, ok := call.Fn.(*syntax.Ident); ok && name.Name == sized {
			return x
		}
	}
	at := place(x)
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: at, Name: sized}, Lparen: at, Args: []syntax.Expr{x}, Rparen: at}
}
