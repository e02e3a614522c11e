package approve

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxDepth is how many wrappers and nested scripts are unwrapped before a command is called dangerous unseen.
const maxDepth = 8

const tooDeep = "it is nested too deeply to be judged"

// Dangerous says what may go badly wrong in a script, as one clause, or "". It looks at every call in it, however
// nested, as far as its words are fixed. It guards against accidents, not against someone who hides.
func Dangerous(script string) string {
	return judge{}.script(script, 0)
}

// judge looks for dangers. pass lets a call through that would be one; nil passes none. visit sees every call, those
// behind wrappers and in nested scripts too; nil sees none.
type judge struct {
	pass  func(argv []string) bool
	visit func(argv []string)
}

func (j judge) script(script string, depth int) string {
	if depth >= maxDepth {
		return tooDeep
	}
	file, ok := parse(script)
	if !ok {
		return j.text(script, depth)
	}
	seen := takeCensus(file)
	why := ""
	note := func(found string) {
		if why == "" {
			why = found
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if why != "" && j.visit == nil {
			return false
		}
		switch n := n.(type) {
		case *syntax.CallExpr:
			argv := words(n)
			note(j.argv(argv, depth))
			if len(argv) > 0 && (interpreter(filepath.Base(argv[0])) || argv[0] == "eval" || argv[0] == "source" || argv[0] == ".") && seen.fetches(n) {
				note("it feeds a download to a shell")
			}
		case *syntax.FuncDecl:
			if n.Name != nil && seen.calls(n.Name.Value, n.Body) > 1 {
				note("it defines a function that calls itself without end")
			}
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				if readsScript(n.Y) {
					if seen.fetches(n.X) {
						note("it feeds a download to a shell")
					}
					note(j.piped(n.X, depth))
				}
			}
		case *syntax.Stmt:
			for _, r := range n.Redirs {
				if readsScript(n) && (r.Word != nil && seen.fetches(r.Word) || r.Hdoc != nil && seen.fetches(r.Hdoc)) {
					note("it feeds a download to a shell")
				}
				note(j.redirect(n, r, depth))
			}
		}
		return true
	})
	return why
}

// piped looks at what echo or printf hand to a shell.
func (j judge) piped(s *syntax.Stmt, depth int) string {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return ""
	}
	argv := words(call)
	if len(argv) < 2 || argv[0] != "echo" && argv[0] != "printf" {
		return ""
	}
	return j.script(strings.NewReplacer(`\n`, "\n").Replace(strings.Join(argv[1:], " ")), depth+1)
}

func (j judge) redirect(s *syntax.Stmt, r *syntax.Redirect, depth int) string {
	body := r.Hdoc
	switch r.Op {
	case syntax.WordHdoc:
		body = r.Word
	case syntax.Hdoc, syntax.DashHdoc:
	default:
		if r.Word != nil && writes(r.Op) {
			if target, ok := fixed(r.Word); ok && blockDevice(target) {
				return "it writes to the device " + target
			}
		}
		return ""
	}
	if body == nil || !readsScript(s) {
		return ""
	}
	return j.script(loose(body), depth+1)
}

// text looks at a script that does not parse, piece by piece.
func (j judge) text(script string, depth int) string {
	for line := range strings.FieldsFuncSeq(script, func(r rune) bool { return strings.ContainsRune("\n;&|()`", r) }) {
		if why := j.argv(strings.Fields(line), depth); why != "" && j.visit == nil {
			return why
		}
	}
	return ""
}

// words are the words of a call; one that is not fixed stands as far as it is, and holds a zero byte for the rest.
func words(c *syntax.CallExpr) []string {
	var out []string
	for _, w := range c.Args {
		text, ok := fixed(w)
		if !ok {
			text = loose(w)
		}
		out = append(out, text)
	}
	return out
}

// fixed is the text of a word that does not expand.
func fixed(w *syntax.Word) (string, bool) {
	got, ok := decode(w)
	return got.text, ok
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
					quoted(in.Value, &b)
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
		return tooDeep
	}
	if j.visit != nil {
		j.visit(argv)
	}
	name, args := filepath.Base(argv[0]), argv[1:]
	inner, scripts := unwrap(name, args)
	why := ""
	for _, script := range scripts {
		if found := j.script(script, depth+1); why == "" {
			why = found
		}
	}
	var starts []string
	if name == "find" && j.visit == nil && len(inner) > 0 && len(inner) <= maxCommands {
		starts = filling(args)
	}
	for _, command := range inner {
		if at := slices.Index(command, "{}"); at >= 0 && starts != nil && filepath.Base(command[0]) == "rm" {
			command = slices.Concat(command[:at], starts, command[at+1:])
		}
		if found := j.argv(command, depth+1); why == "" {
			why = found
		}
	}
	if why != "" {
		return why
	}
	why = danger(name, args)
	if why != "" && j.pass != nil && j.pass(argv) {
		return ""
	}
	return why
}

// danger judges one command by itself.
func danger(name string, args []string) string {
	switch {
	case name == "rm" && option(args, []string{"force"}, "f"):
		return "it deletes without asking (rm with force)"
	case name == "git":
		return dangerousGit(args)
	case name == "find" && slices.Contains(args, "-delete") && (!selects(args) || slices.ContainsFunc(startsOf(args), everything)):
		return "it deletes all below a folder (find -delete)"
	case name == "dd" && slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "of=") && a != "of=/dev/null" }):
		return "dd writes over its target"
	case strings.HasPrefix(name, "mkfs") || slices.Contains([]string{"wipefs", "shred", "blkdiscard"}, name):
		return name + " destroys data"
	case slices.Contains([]string{"shutdown", "reboot", "halt", "poweroff", "kexec"}, name),
		(name == "init" || name == "telinit") && (slices.Contains(args, "0") || slices.Contains(args, "6")),
		name == "systemctl" && slices.ContainsFunc(args, func(a string) bool {
			return slices.Contains([]string{"poweroff", "reboot", "halt", "kexec"}, a)
		}):
		return name + " stops the machine"
	case slices.Contains([]string{"truncate", "tee", "cp", "mv", "install"}, name) && slices.ContainsFunc(args, blockDevice):
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

// gitCommand leaves out git's options before its command.
func gitCommand(args []string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix"}, args[0]) && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	return args
}

func dangerousGit(args []string) string {
	args = gitCommand(args)
	if len(args) == 0 {
		return ""
	}
	rest := args[1:]
	has := func(words ...string) bool {
		return slices.ContainsFunc(rest, func(a string) bool { return slices.Contains(words, a) })
	}
	whole := has(".", ":/", "*", "./", ":/*", "./*", "$PWD")
	switch sub := args[0]; {
	case sub == "reset" && option(rest, []string{"hard"}, ""):
		return "git reset --hard discards changes"
	case sub == "clean" && option(rest, []string{"force"}, "f"):
		return "git clean deletes files git does not know"
	case sub == "checkout" && (whole || option(rest, []string{"force"}, "f")):
		return "git checkout discards changes of the whole tree"
	case sub == "switch" && option(rest, []string{"force", "discard-changes"}, "f"):
		return "git switch discards changes"
	case sub == "restore" && whole && (!option(rest, []string{"staged"}, "S") || option(rest, []string{"worktree"}, "W")):
		return "git restore discards changes of the whole tree"
	case sub == "push" && (option(rest, []string{"force", "force-with-lease", "force-if-includes", "mirror", "delete", "prune"}, "fd") ||
		slices.ContainsFunc(rest, func(a string) bool {
			return strings.HasPrefix(a, "--force") || strings.HasPrefix(a, "+") || strings.HasPrefix(a, ":") && len(a) > 1
		})):
		return "git push would rewrite or delete what others may have"
	case sub == "branch" && (option(rest, nil, "D") || option(rest, []string{"delete"}, "d") && option(rest, []string{"force"}, "f")):
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
	force := slices.ContainsFunc(args, func(a string) bool {
		a = strings.ToLower(a)
		return len(a) > 2 && strings.HasPrefix("-force", a) || strings.HasPrefix(a, "-force:") && a != "-force:$false"
	})
	switch {
	case (name == "remove-item" || name == "ri") && force, (name == "del" || name == "rd" || name == "rmdir" || name == "erase") && force:
		return "it deletes without asking"
	case (name == "del" || name == "erase") && has("/f"):
		return "it deletes without asking"
	case (name == "rd" || name == "rmdir") && has("/s") && has("/q"):
		return "it deletes a tree without asking"
	case slices.Contains([]string{"start-process", "start", "saps", "invoke-item", "ii", "explorer", "mshta", "rundll32"}, name) &&
		slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "://") }):
		return "it opens a web address"
	}
	return ""
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
	if path = strings.TrimSuffix(path, "*"); path != "" {
		path = filepath.Clean(path)
	}
	switch path {
	case "", "/", "~", "$HOME", "/home", "/root", "/usr", "/etc", "/Users", "/var", "/opt", "/lib", "/bin":
		return true
	}
	parts := strings.Split(path, "/")
	return len(parts) == 3 && parts[0] == "" && (parts[1] == "home" || parts[1] == "Users")
}
