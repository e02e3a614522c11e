package approve

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// census is where in a script the calls stand that what lies around them is judged by. It is taken once, so that judging
// takes time in step with the length of a script.
type census struct {
	downloads []uint            // offsets of calls that fetch something, in order
	named     map[string][]uint // offsets of calls by name, in order
	behind    map[uint]bool     // of those, the ones that run in the background
}

func takeCensus(file *syntax.File) census {
	c := census{named: map[string][]uint{}, behind: map[uint]bool{}}
	background := map[*syntax.CallExpr]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			if call, ok := n.Cmd.(*syntax.CallExpr); ok && n.Background {
				background[call] = true
			}
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				break
			}
			at := n.Args[0].Pos().Offset()
			name, _ := fixed(n.Args[0])
			if slices.Contains([]string{"curl", "wget"}, started(words(n))) {
				c.downloads = append(c.downloads, at)
			}
			if name != "" {
				c.named[name] = append(c.named[name], at)
				c.behind[at] = background[n]
			}
		}
		return true
	})
	slices.Sort(c.downloads) // a here-document stands behind what follows it on its line
	for _, at := range c.named {
		slices.Sort(at)
	}
	return c
}

// started is the name of the program that a command starts in the end, behind its wrappers.
func started(argv []string) string {
	name := ""
	for range maxDepth {
		if len(argv) == 0 {
			return ""
		}
		name = filepath.Base(argv[0])
		inner, _ := unwrap(name, argv[1:])
		if len(inner) == 0 {
			return name
		}
		argv = inner[0]
	}
	return name
}

func inside(offsets []uint, n syntax.Node) []uint {
	from, _ := slices.BinarySearch(offsets, n.Pos().Offset())
	to, _ := slices.BinarySearch(offsets, n.End().Offset())
	if to < from {
		return nil
	}
	return offsets[from:to]
}

// fetches reports a download within a part of the script.
func (c census) fetches(n syntax.Node) bool { return len(inside(c.downloads, n)) > 0 }

// calls counts calls by name within a part of the script; one in the background counts twice.
func (c census) calls(name string, n syntax.Node) int {
	found := inside(c.named[name], n)
	for _, at := range found {
		if c.behind[at] {
			return len(found) + 1
		}
	}
	return len(found)
}

// readsScript reports whether a command is a shell or an interpreter that takes its script from standard input.
func readsScript(s *syntax.Stmt) bool { return readsBelow(s, 0) }

// readsBelow looks into brackets and the like as well: what stands in them has the same input.
func readsBelow(s *syntax.Stmt, depth int) bool {
	within := func(lists ...[]*syntax.Stmt) bool {
		return depth < maxDepth && slices.ContainsFunc(slices.Concat(lists...), func(s *syntax.Stmt) bool { return readsBelow(s, depth+1) })
	}
	var c *syntax.CallExpr
	switch n := s.Cmd.(type) {
	case *syntax.CallExpr:
		c = n
	case *syntax.Subshell:
		return within(n.Stmts)
	case *syntax.Block:
		return within(n.Stmts)
	case *syntax.WhileClause:
		return within(n.Cond, n.Do)
	case *syntax.ForClause:
		return within(n.Do)
	case *syntax.IfClause:
		for ; n != nil; n = n.Else {
			if within(n.Cond, n.Then) {
				return true
			}
		}
		return false
	case *syntax.BinaryCmd:
		if depth == 0 || n.Op == syntax.Pipe || n.Op == syntax.PipeAll { // a pipe is looked at by itself
			return false
		}
		return within([]*syntax.Stmt{n.X, n.Y})
	case *syntax.TimeClause:
		return n.Stmt != nil && within([]*syntax.Stmt{n.Stmt})
	default:
		return false
	}
	commands := [][]string{words(c)}
	for range maxDepth {
		if len(commands) == 0 || len(commands[0]) == 0 {
			return false
		}
		argv := commands[0]
		name := filepath.Base(argv[0])
		if interpreter(name) && name != "awk" {
			return scriptless(name, argv[1:])
		}
		commands, _ = unwrap(name, argv[1:])
	}
	return false
}

// scriptless reports whether the arguments of an interpreter name no script: neither a file nor a text.
func scriptless(name string, args []string) bool {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-" || a == "--" || a == "/dev/stdin":
			return true
		case !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+"):
			return false
		case isShell(name):
			if !strings.HasPrefix(a, "--") && strings.Contains(a, "s") {
				return true
			}
			if !strings.HasPrefix(a, "--") && strings.Contains(a, "c") {
				return false
			}
			if a == "-o" || a == "-O" || a == "--rcfile" || a == "--init-file" {
				i++
			}
		case slices.ContainsFunc([]string{"-c", "-m", "-e", "-E", "-p", "-n", "-r", "--eval", "--print"}, func(o string) bool { return strings.HasPrefix(a, o) }):
			return false
		}
	}
	return true
}

func isShell(name string) bool {
	return slices.Contains([]string{"bash", "zsh", "sh", "dash", "ksh", "ash", "fish", "rbash", "mksh"}, name)
}
