package approve

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxDepth is how many wrappers and nested scripts are unwrapped before a command is called dangerous unseen.
const maxDepth = 8

// Dangerous says what may go badly wrong in a script, as one clause, or "". It looks at every call in it, however
// nested, as far as its words are fixed. It guards against accidents, not against someone who hides.
func Dangerous(script string) string {
	return judge{}.script(script, 0)
}

// judge looks for dangers. pass lets a call through that would be one; nil passes none.
type judge struct{ pass func(argv []string) bool }

func (j judge) script(script string, depth int) string {
	if depth >= maxDepth {
		return "it is nested too deeply to be judged"
	}
	file, ok := parse(script)
	if !ok {
		return j.text(script)
	}
	why := ""
	syntax.Walk(file, func(n syntax.Node) bool {
		if why != "" {
			return false
		}
		switch n := n.(type) {
		case *syntax.CallExpr:
			why = j.argv(words(n), depth)
		case *syntax.FuncDecl:
			if n.Name != nil && calls(n.Body, n.Name.Value) {
				why = "it defines a function that calls itself without end"
			}
		case *syntax.BinaryCmd:
			if (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && fetches(n.X) && isShell(n.Y) {
				why = "it feeds a download to a shell"
			}
		case *syntax.Redirect:
			if n.Word != nil && writes(n.Op) {
				if target, ok := word(n.Word); ok && blockDevice(target) {
					why = "it writes to the device " + target
				}
			}
		}
		return true
	})
	return why
}

// dangerousText looks at a script that does not parse, piece by piece.
func (j judge) text(script string) string {
	for line := range strings.FieldsFuncSeq(script, func(r rune) bool { return strings.ContainsRune("\n;&|()`", r) }) {
		if why := j.argv(strings.Fields(line), 0); why != "" {
			return why
		}
	}
	return ""
}

// words are the words of a call; one that is not fixed becomes a blank that matches nothing.
func words(c *syntax.CallExpr) []string {
	var out []string
	for _, w := range c.Args {
		text, fixed := word(w)
		if !fixed {
			text = loose(w)
		}
		out = append(out, text)
	}
	return out
}

// loose is the text of a word that expands, with what expands left as it is written.
func loose(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				switch in := inner.(type) {
				case *syntax.Lit:
					b.WriteString(in.Value)
				case *syntax.ParamExp:
					b.WriteString("$" + in.Param.Value)
				default:
					b.WriteString("\x00")
				}
			}
		case *syntax.ParamExp:
			if p.Param != nil {
				b.WriteString("$" + p.Param.Value)
			}
		default:
			b.WriteString("\x00")
		}
	}
	return b.String()
}

func (j judge) argv(argv []string, depth int) string {
	if len(argv) == 0 {
		return ""
	}
	if depth >= maxDepth {
		return "it is nested too deeply to be judged"
	}
	name, args := filepath.Base(argv[0]), argv[1:]
	if inner, script := unwrap(name, args); inner != nil || script != "" {
		if script != "" {
			if why := j.script(script, depth+1); why != "" {
				return why
			}
		}
		return j.argv(inner, depth+1)
	}
	why := danger(name, args)
	if why != "" && j.pass != nil && j.pass(argv) {
		return ""
	}
	return why
}

// danger judges one command that wraps no other.
func danger(name string, args []string) string {
	switch {
	case name == "rm" && option(args, []string{"force"}, "f"):
		return "it deletes without asking (rm with force)"
	case name == "git":
		return dangerousGit(args)
	case name == "dd" && slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "of=") }):
		return "dd writes over its target"
	case strings.HasPrefix(name, "mkfs") || slices.Contains([]string{"wipefs", "shred", "blkdiscard"}, name):
		return name + " destroys data"
	case slices.Contains([]string{"shutdown", "reboot", "halt", "poweroff", "kexec"}, name):
		return name + " stops the machine"
	case (name == "truncate" || name == "tee" || name == "cp") && slices.ContainsFunc(args, blockDevice):
		return "it writes to a device"
	case (name == "chmod" || name == "chown" || name == "chgrp") && option(args, []string{"recursive"}, "R") && slices.ContainsFunc(args, everything):
		return name + " would change everything below / or the home folder"
	case name == "kill" && len(args) > 0 && (args[len(args)-1] == "-1"):
		return "it signals every process"
	case name == "pkill" || name == "killall":
		return name + " ends processes by name, whoever started them"
	case name == "crontab" && option(args, nil, "r"):
		return "it deletes the crontab"
	}
	return dangerousWindows(strings.ToLower(strings.TrimSuffix(name, ".exe")), args)
}

func dangerousGit(args []string) string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"}, args[0]) && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	rest := args[1:]
	has := func(words ...string) bool {
		return slices.ContainsFunc(rest, func(a string) bool { return slices.Contains(words, a) })
	}
	whole := has(".", ":/", "*", "./")
	switch sub := args[0]; {
	case sub == "reset" && has("--hard"):
		return "git reset --hard discards changes"
	case sub == "clean" && option(rest, []string{"force"}, "f"):
		return "git clean deletes files git does not know"
	case sub == "checkout" && (whole || has("--force", "-f")):
		return "git checkout discards changes of the whole tree"
	case sub == "restore" && whole && !(has("--staged", "-S") && !has("--worktree", "-W")):
		return "git restore discards changes of the whole tree"
	case sub == "push" && (option(rest, nil, "fd") || slices.ContainsFunc(rest, func(a string) bool {
		return strings.HasPrefix(a, "--force") || a == "--mirror" || a == "--delete" || strings.HasPrefix(a, "+")
	})):
		return "git push would rewrite or delete what others may have"
	case sub == "branch" && (option(rest, nil, "D") || has("--delete") && has("--force", "-f")):
		return "git branch -D deletes commits that are nowhere else"
	case sub == "filter-branch" || sub == "filter-repo":
		return "git " + sub + " rewrites history"
	case sub == "reflog" && len(rest) > 0 && (rest[0] == "expire" || rest[0] == "delete"):
		return "git reflog expire gives up lost commits"
	}
	return ""
}

func dangerousWindows(name string, args []string) string {
	has := func(words ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(words, strings.ToLower(a)) })
	}
	switch {
	case (name == "remove-item" || name == "ri") && has("-force"):
		return "it deletes without asking"
	case (name == "del" || name == "erase") && has("/f"):
		return "it deletes without asking"
	case (name == "rd" || name == "rmdir") && has("/s") && has("/q"):
		return "it deletes a tree without asking"
	case slices.Contains([]string{"start-process", "invoke-item", "explorer", "mshta", "rundll32"}, name) &&
		slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "://") }):
		return "it opens a web address"
	}
	return ""
}
