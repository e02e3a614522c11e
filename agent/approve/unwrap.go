package approve

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// unwrap finds what a wrapper starts: a command (argv), or a script in one word. Both are empty when name is no
// wrapper, or starts nothing.
func unwrap(name string, args []string) (argv []string, script string) {
	switch name {
	case "bash", "zsh", "sh", "dash", "ksh", "ash":
		for i, a := range args {
			if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c") && i+1 < len(args) {
				return nil, args[i+1]
			}
		}
		return nil, ""
	case "eval":
		return nil, strings.Join(args, " ")
	case "trap":
		if len(args) > 1 {
			return nil, args[0]
		}
		return nil, ""
	case "sudo", "doas":
		return skip(args, "ugpCrtTUDhR"), ""
	case "env":
		for i, a := range args {
			if a == "-S" && i+1 < len(args) {
				return nil, strings.Join(args[i+1:], " ")
			}
			if s, ok := strings.CutPrefix(a, "--split-string="); ok {
				return nil, s
			}
		}
		return skip(args, "uCS"), ""
	case "nice", "ionice", "stdbuf", "taskset", "chrt":
		return skip(args, "ncpPioe"), ""
	case "time", "nohup", "setsid", "command", "builtin", "exec", "busybox", "unbuffer":
		return skip(args, "ofa"), ""
	case "timeout":
		rest := skip(args, "ks")
		if len(rest) > 0 {
			rest = rest[1:]
		}
		return rest, ""
	case "watch":
		return nil, strings.Join(skip(args, "ndg"), " ")
	case "xargs":
		return skip(args, "IiLlnPsEeda"), ""
	case "parallel":
		return skip(args, "jNnI"), ""
	case "find":
		for i, a := range args {
			if slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, a) {
				return args[i+1:], ""
			}
		}
	}
	return nil, ""
}

// skip leaves out the options and assignments before the command of a wrapper. valued names short options whose
// value is the next word.
func skip(args []string, valued string) []string {
	for len(args) > 0 {
		a := args[0]
		switch {
		case a == "--":
			return args[1:]
		case len(a) == 2 && a[0] == '-' && strings.Contains(valued, a[1:]) && len(args) > 1:
			args = args[2:]
		case strings.HasPrefix(a, "-"), strings.Contains(a, "=") && !strings.ContainsAny(strings.SplitN(a, "=", 2)[0], "/."):
			args = args[1:]
		default:
			return args
		}
	}
	return nil
}

// calls reports whether a function's body calls it by name more than once or in the background.
func calls(body *syntax.Stmt, name string) bool {
	found := 0
	syntax.Walk(body, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			if c, ok := s.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == name {
				if found++; s.Background {
					found++
				}
			}
		}
		return true
	})
	return found > 1
}

func fetches(s *syntax.Stmt) bool {
	found := false
	syntax.Walk(s, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			found = found || slices.Contains([]string{"curl", "wget"}, filepath.Base(c.Args[0].Lit()))
		}
		return true
	})
	return found
}

func isShell(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return false
	}
	argv := words(c)
	for range maxDepth {
		if len(argv) == 0 {
			return false
		}
		name := filepath.Base(argv[0])
		if interpreter(name) {
			return true
		}
		argv, _ = unwrap(name, argv[1:])
	}
	return false
}

func writes(op syntax.RedirOperator) bool {
	switch op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		return true
	}
	return false
}

// blockDevice tells disks from the devices everyone writes to.
func blockDevice(path string) bool {
	rest, ok := strings.CutPrefix(filepath.Clean(path), "/dev/")
	return ok && slices.ContainsFunc([]string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "loop", "dm-", "md", "mapper/", "mem", "zd"},
		func(p string) bool { return strings.HasPrefix(rest, p) })
}

// everything tells the targets that hold everything a person has.
func everything(path string) bool {
	switch strings.TrimSuffix(path, "/") {
	case "", "~", "$HOME", "/home", "/root", "/usr", "/etc", "/Users", "/*":
		return true
	}
	return path == "/"
}
