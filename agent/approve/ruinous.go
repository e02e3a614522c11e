package approve

import (
	"path/filepath"
	"regexp"
	"strings"
)

var moves = regexp.MustCompile(`(^|[^\w./-])(cd|pushd|chroot)\b`)

// ruinous is what is left of Dangerous when a person has given up both asking and the sandbox: deleting below the
// working directory, rewriting a repository and ending processes are then theirs to allow, the rest is not.
func ruinous(script, root, dir string) judge {
	dir = startOf(root, dir)
	moved := moves.MatchString(script)
	return judge{pass: func(argv []string) bool {
		switch filepath.Base(argv[0]) {
		case "git", "pkill", "killall":
			return true
		case "rm":
			return deletesBelow(argv[1:], root, dir, moved)
		}
		return false
	}}
}

// reckless is what is left of Dangerous when nobody can be asked but the sandbox holds: cleaning up inside the
// workspace is daily work, emptying the workspace itself is not.
func reckless(script, root, dir string) judge {
	dir = startOf(root, dir)
	moved := moves.MatchString(script)
	return judge{pass: func(argv []string) bool {
		return filepath.Base(argv[0]) == "rm" && !empties(argv[1:], root, dir, moved)
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

// empties reports whether an operand of rm is, or may turn out to be, all of a folder one does not name: the workspace
// or what lies around it.
func empties(args []string, root, dir string, moved bool) bool {
	options := true
	for _, a := range args {
		if options && strings.HasPrefix(a, "-") {
			options = a != "--"
			continue
		}
		if a == "" || strings.ContainsAny(a, "$\x00~`{") || strings.Trim(a, "./*?") == "" {
			return true
		}
		if filepath.IsAbs(a) || !moved {
			if !filepath.IsAbs(a) {
				a = filepath.Join(dir, a)
			}
			if _, inside := strings.CutPrefix(root+string(filepath.Separator), filepath.Clean(a)+string(filepath.Separator)); inside {
				return true
			}
		}
	}
	return false
}

// deletesBelow reports whether every operand of rm is known to lie below root, or below a folder for scratch files.
func deletesBelow(args []string, root, dir string, moved bool) bool {
	options := true
	for _, a := range args {
		if options && strings.HasPrefix(a, "-") {
			options = a != "--"
			continue
		}
		if a == "" || strings.ContainsAny(a, "$\x00~`{") || moved && !filepath.IsAbs(a) {
			return false
		}
		if !filepath.IsAbs(a) {
			a = filepath.Join(dir, a)
		}
		a = filepath.Clean(a)
		if strings.ContainsAny(filepath.Base(a), "*?[") { // a glob deletes what is beside it: its folder counts
			a = filepath.Dir(a) + string(filepath.Separator) + "x"
		}
		if !below(a, root) && !below(a, "/tmp") && !below(a, "/var/tmp") {
			return false
		}
	}
	return true
}

func below(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}
