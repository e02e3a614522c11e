package approve

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	moves    = regexp.MustCompile(`(^|[^\w./-])(cd|pushd|popd|chroot)\b[ \t]*([^\s;&|)]*)|\benv\b[^;&|\n]*\s(-\w*C|--chdir)`)
	brackets = regexp.MustCompile(`\[[^\]]*\]`)
)

// deleting is what is known of the folders in which a script deletes.
type deleting struct {
	root string   // the workspace
	from []string // where a command may run, the start first
	lost bool     // it may run elsewhere
	left *int     // paths that are still looked at, so that a long script takes no longer than a bound
}

// deletingIn reads from the text of a script where it goes: in order, as if every cd succeeded.
func deletingIn(script, root, dir string) deleting {
	d := deleting{root: folder(root), from: []string{folder(startOf(root, dir))}, left: new(int)}
	*d.left = maxMatches
	for _, m := range moves.FindAllStringSubmatch(script, maxFolders) {
		to := strings.Trim(m[3], `"'`)
		if m[2] != "cd" && m[2] != "pushd" || to == "" || to[0] == '-' || strings.ContainsAny(to, "$~`*?[{\\\"'") {
			d.lost = true
			continue
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(d.from[len(d.from)-1], to)
		}
		d.from = append(d.from, folder(to))
	}
	d.lost = d.lost || len(d.from) > maxFolders
	return d
}

// ruinous is what is left of Dangerous when a person has given up both asking and the sandbox: deleting below the
// working directory, rewriting a repository and ending processes are then theirs to allow, the rest is not.
func ruinous(script, root, dir string) judge {
	d := deletingIn(script, root, dir)
	return judge{pass: func(argv []string) bool {
		switch filepath.Base(argv[0]) {
		case "git", "pkill", "killall":
			return true
		case "rm":
			return d.below(operandsOf(argv[1:]))
		case "find":
			return d.below(startsOf(argv[1:]))
		}
		return false
	}}
}

// reckless is what is left of Dangerous when nobody can be asked but the sandbox holds: cleaning up inside the
// workspace is daily work, emptying the workspace itself is not.
func reckless(script, root, dir string, roots []string) judge {
	d := deletingIn(script, root, dir)
	return judge{pass: func(argv []string) bool {
		switch filepath.Base(argv[0]) {
		case "rm":
			return !d.empties(operandsOf(argv[1:]), roots)
		case "find":
			return !d.empties(startsOf(argv[1:]), roots)
		}
		return false
	}}
}

// startOf is the absolute folder a command starts in.
func startOf(root, dir string) string {
	switch {
	case dir == "":
		return root
	case filepath.IsAbs(dir):
		return dir
	}
	return filepath.Join(root, dir)
}

// operandsOf are the arguments of rm that are no options.
func operandsOf(args []string) []string {
	var out []string
	for i, a := range args {
		if a == "--" {
			return append(out, args[i+1:]...)
		}
		if !strings.HasPrefix(a, "-") {
			out = append(out, a)
		}
	}
	return out
}

// startsOf are the folders in which find looks.
func startsOf(args []string) []string {
	for len(args) > 0 && slices.Contains([]string{"-H", "-L", "-P"}, args[0]) {
		args = args[1:]
	}
	end := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") || a == "(" || a == "!" })
	if end < 0 {
		end = len(args)
	}
	if end == 0 {
		return []string{"."}
	}
	return args[:end]
}

// selects reports whether find picks files by more than their kind and depth.
func selects(args []string) (picks bool) {
	before, runs := "", false
	for i, a := range args {
		last := before
		before = a
		switch {
		case slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, a):
			runs = true
		case runs: // the words of a command
			runs = a != ";" && a != "+"
		case a == "-delete" && slices.Contains([]string{"-o", "-or", ","}, last): // whatever the rest picks
			return false
		case last == "!" || last == "-not": // all but those
		case !strings.HasPrefix(a, "-"):
		case slices.Contains([]string{"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-lname", "-ilname"}, a):
			picks = picks || i+1 < len(args) && strings.Trim(args[i+1], "./*?") != ""
		case !slices.Contains([]string{"-H", "-L", "-P", "-delete", "-depth", "-d", "-mindepth", "-maxdepth", "-type", "-xdev", "-mount", "-print", "-print0",
			"-ls", "-true", "-a", "-and", "-o", "-or", "-not", "-prune", "-follow", "-noleaf", "-warn", "-nowarn"}, a):
			picks = true
		}
	}
	return picks
}

// filling gives what find hands to a command in the place of {}: something below where it starts, or that itself.
func filling(args []string) []string {
	starts := slices.Clone(startsOf(args))
	if selects(args) {
		for i := range starts {
			starts[i] += "/x"
		}
	}
	return starts
}

// unclear reports an operand that the shell makes something else of.
func unclear(a string) bool { return a == "" || strings.ContainsAny(a, "$\x00~`{") }

// targets are the paths that an operand may mean. A glob that finds all of a folder means the folder.
func (d deleting) targets(a string) (paths []string, whole bool) {
	dir, base := filepath.Split(a)
	if strings.HasSuffix(base, "*") {
		base = brackets.ReplaceAllString(base, "")
	}
	if strings.ContainsAny(base, "*?[") && strings.Trim(base, ".*?") == "" {
		if a, whole = dir, true; a == "" {
			a = "."
		}
	}
	resolve := located
	if whole {
		resolve = folder
	}
	if filepath.IsAbs(a) {
		return []string{resolve(filepath.Clean(a))}, whole
	}
	for _, from := range d.from {
		paths = append(paths, resolve(filepath.Join(from, a)))
	}
	return paths, whole
}

// folder is a folder with all links resolved, as far as it exists.
func folder(path string) string { return filepath.Dir(located(filepath.Join(path, "x"))) }

// located is a path with the links in its folder resolved, as far as that exists. The last name may be a link, which is
// what is deleted then.
func located(path string) string {
	rest := filepath.Base(path)
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if to, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(to, rest)
		}
		if dir == filepath.Dir(dir) {
			return path
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// empties reports whether an operand of rm is, or may turn out to be, all of a folder one does not name, the workspace or
// what lies around it, what git knows, or what is outside of the folders that may be written.
func (d deleting) empties(operands, roots []string) bool {
	if *d.left -= len(operands) * len(d.from); *d.left < 0 {
		return true
	}
	for _, a := range operands {
		paths, _ := d.targets(a)
		if unclear(a) || strings.Trim(a, "./*?") == "" || d.lost && !filepath.IsAbs(a) {
			return true
		}
		if slices.Contains(strings.Split(filepath.ToSlash(a), "/"), ".git") || slices.ContainsFunc(paths, func(p string) bool { return within(d.root, p) }) {
			return true
		}
		if !slices.ContainsFunc(paths, func(p string) bool {
			return below(p, d.root) || slices.ContainsFunc(roots, func(root string) bool { return below(p, folder(root)) })
		}) {
			return true
		}
	}
	return false
}

// below reports whether every operand is known to lie below the workspace, or below a folder for scratch files that the
// workspace is not in.
func (d deleting) below(operands []string) bool {
	if *d.left -= len(operands) * len(d.from); *d.left < 0 {
		return false
	}
	for _, a := range operands {
		if unclear(a) || d.lost && !filepath.IsAbs(a) {
			return false
		}
		paths, whole := d.targets(a)
		for _, p := range paths {
			switch {
			case p == d.root && whole && len(d.from) == 1: // what a folder holds, not what is around it
			case below(p, d.root):
			case !within(d.root, p) && (below(p, "/tmp") || below(p, "/var/tmp")):
			default:
				return false
			}
		}
	}
	return true
}

func below(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}
