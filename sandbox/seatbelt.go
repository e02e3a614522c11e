package sandbox

import (
	_ "embed"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// The parts of a policy of macOS that hold whatever the paths are. Their language is that of sandbox-exec: the last
// rule that matches decides.
var (
	//go:embed seatbelt.sbpl
	seatbeltBase string
	//go:embed seatbelt-network.sbpl
	seatbeltNetwork string
)

// seatbeltProgram is the only program that confines on macOS. PATH has no say in it.
const seatbeltProgram = "/usr/bin/sandbox-exec"

// seatbelt is a policy for sandbox-exec: a text in which no path stands, and the values of its parameters.
type seatbelt struct {
	text   string
	params []seatbeltParam
}

type seatbeltParam struct{ name, value string }

// argv is the whole command line that runs a command within the policy.
func (s seatbelt) argv(command []string) []string {
	argv := []string{seatbeltProgram, "-p", s.text}
	for _, p := range s.params {
		argv = append(argv, "-D"+p.name+"="+p.value)
	}
	return append(append(argv, "--"), command...)
}

// fence is what of a policy depends on paths, each real and spelled as the disk spells it.
type fence struct {
	network  bool
	roots    []string // writable with what is below
	guards   []string // not writable with what is below, unless a root lies within
	missing  []string // those of guards that do not exist, and must not in any spelling
	pins     []string // neither removed, renamed nor replaced
	single   []string // writable by themselves
	home     string   // the agent's own, never writable; "" when it has none
	own      []string // our scratch and caches, writable although home is not
	hidden   []string // neither read nor written
	terminal string   // the command's own, "" when it has none
}

// fenceOf takes from a policy, as one command sees it, and from what must stay as it is, what the rules are made of.
func fenceOf(p Policy, g *guards, single, own []string) fence {
	f := fence{network: p.Network, home: p.Home, own: own, hidden: p.Hidden, single: single}
	if p.Mode == WorkspaceWrite {
		f.roots = p.Roots
	}
	f.missing = slices.Clone(g.missing)
	f.guards = slices.Concat(g.readOnly, g.missing, slices.Collect(maps.Keys(g.links)))
	slices.Sort(f.guards)
	f.guards = slices.Compact(f.guards)
	// A folder that is renamed takes what is below it out of every rule, so none on the way to something may be.
	f.pins = slices.Concat(f.roots, g.pins)
	for _, root := range f.roots {
		for _, inner := range slices.Concat(f.roots, f.guards, f.single, f.own) {
			f.pins = append(f.pins, between(root, inner)...)
		}
	}
	slices.Sort(f.pins)
	f.pins = slices.Compact(f.pins)
	return f
}

// spelled is the fence with every path as a function spells it.
func (f fence) spelled(as func(string) string) fence {
	each := func(paths []string) []string {
		var out []string
		for _, path := range paths {
			out = append(out, as(path))
		}
		return out
	}
	f.roots, f.guards, f.missing, f.pins = each(f.roots), each(f.guards), each(f.missing), each(f.pins)
	f.single, f.own, f.hidden = each(f.single), each(f.own), each(f.hidden)
	if f.home != "" {
		f.home = as(f.home)
	}
	return f
}

// compile writes the policy.
func (f fence) compile() seatbelt {
	w := &seatbeltWriter{known: map[string]string{}}
	w.text.WriteString(seatbeltBase)
	if f.network {
		w.text.WriteString(seatbeltNetwork)
	}
	if f.terminal != "" {
		w.line("\n; The terminal of the command.\n(allow file-read* file-write* file-ioctl (literal \"/dev/tty\") %s)", w.each("literal", "TERMINAL", f.terminal))
	}
	f.writable(w)
	f.closed(w)
	return seatbelt{w.text.String(), w.params}
}

// writable is what may be written.
func (f fence) writable(w *seatbeltWriter) {
	groups := f.names()
	for _, root := range f.roots {
		top := w.subtree("ROOT", root)
		var but []string
		if within("/dev", root) {
			but = append(but, `(require-not (subpath "/dev"))`)
		}
		for _, guard := range f.guards {
			if _, ok := below(guard, root); ok {
				but = append(but, w.except("literal", "GUARD", guard)...)
				but = append(but, w.except("subpath", "GUARD", guard)...)
			}
		}
		for _, g := range groups {
			if within(g.dir, root) {
				for _, expr := range g.patterns() {
					but = append(but, "(require-not (regex "+w.param("NAMES", expr)+"))")
				}
			}
		}
		w.line("\n(allow file-write*\n  %s)", allBut(top, but))
	}
	if len(f.single) > 0 {
		w.line("\n; Opened for this command.")
	}
	for _, path := range f.single {
		// Many programs write the next version under this name, and then rename it.
		w.line("(allow file-write* %s %s)", w.each("literal", "OPENED", path), w.each("literal", "OPENED", path+".lock"))
	}
}

// closed is what stays closed whatever was opened before, and our own places in the middle of it.
func (f fence) closed(w *seatbeltWriter) {
	if f.home != "" {
		top := w.subtree("HOME", f.home)
		var but []string
		for _, root := range f.roots {
			if _, ok := below(root, f.home); ok {
				but = append(but, w.except("subpath", "ROOT", root)...)
			}
		}
		w.line("\n; The agent's own.\n(deny file-write*\n  %s)", allBut(top, but))
	}
	for _, path := range f.own {
		w.line("(allow file-write* %s)", w.each("subpath", "SCRATCH", path))
	}
	if len(f.pins)+len(f.own) > 0 {
		w.line("\n; Folders on the way to something that is protected stay where they are.\n(deny file-write-unlink file-write-create")
		for _, path := range slices.Concat(f.pins, f.own) {
			w.line("  %s", w.each("literal", "PIN", path))
		}
		w.line(")")
	}
	if len(f.hidden) > 0 {
		w.line("\n; Keys.\n(deny file-read* file-write* file-clone")
		for _, path := range f.hidden {
			w.line("  %s %s", w.each("literal", "HIDDEN", path), w.each("subpath", "HIDDEN", path))
		}
		w.line(")")
	}
}

// nameGroup is names of one folder that count in any spelling.
type nameGroup struct {
	dir   string
	names []string
}

// names are the entries that must be recognised however they are spelled: what is missing has no spelling on the disk
// to go by, and a protected name is too dear to trust to one.
func (f fence) names() []nameGroup {
	by := map[string][]string{}
	for _, path := range f.guards {
		name := filepath.Base(path)
		if slices.Contains(f.missing, path) || slices.ContainsFunc(protectedNames, func(n string) bool { return strings.EqualFold(n, name) }) {
			by[filepath.Dir(path)] = append(by[filepath.Dir(path)], name)
		}
	}
	var found []nameGroup
	for _, dir := range slices.Sorted(maps.Keys(by)) {
		found = append(found, nameGroup{dir, by[dir]})
	}
	return found
}

// patterns are expressions for the names and all below them, one for each form of the folder. They are not anchored at
// the end, for a dot does not match every byte of what may follow.
func (g nameGroup) patterns() []string {
	var names []string
	for _, name := range g.names {
		names = append(names, anyCase(name))
	}
	var found []string
	for _, dir := range forms(g.dir) {
		found = append(found, "^"+exactly(strings.TrimSuffix(dir, "/"))+"/("+strings.Join(names, "|")+")(/|$)")
	}
	return found
}

// special are the bytes that mean something in an expression.
const special = `\^$.|?*+()[]{}`

// exactly is an expression for a text and nothing else.
func exactly(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(special, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// anyCase is an expression for a name in capitals and small letters as they come.
func anyCase(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z':
			b.WriteString(string([]byte{'[', c, c - 32, ']'}))
		case c >= 'A' && c <= 'Z':
			b.WriteString(string([]byte{'[', c + 32, c, ']'}))
		case c == '.':
			b.WriteString("[.]")
		default:
			b.WriteString(exactly(name[i : i+1]))
		}
	}
	return b.String()
}

// privateNames are folders of macOS that are links to folders of the same name in /private.
var privateNames = []string{"/tmp", "/var", "/etc"}

// forms are the ways to name a real path: the kernel goes by the one in /private.
func forms(path string) []string {
	for _, name := range privateNames {
		if path == name || strings.HasPrefix(path, name+"/") {
			return []string{"/private" + path, path}
		}
		if long := "/private" + name; path == long || strings.HasPrefix(path, long+"/") {
			return []string{path, strings.TrimPrefix(path, "/private")}
		}
	}
	return []string{path}
}

// seatbeltWriter writes rules and gives every path a parameter, each once.
type seatbeltWriter struct {
	text   strings.Builder
	params []seatbeltParam
	known  map[string]string // names of parameters by kind and value
}

func (w *seatbeltWriter) line(format string, args ...any) {
	fmt.Fprintf(&w.text, format+"\n", args...)
}

// param is the expression for a value.
func (w *seatbeltWriter) param(kind, value string) string {
	key := kind + "=" + value
	if w.known[key] == "" {
		w.known[key] = fmt.Sprintf("%s_%d", kind, len(w.params))
		w.params = append(w.params, seatbeltParam{w.known[key], value})
	}
	return `(param "` + w.known[key] + `")`
}

// each is one filter for each form of a path.
func (w *seatbeltWriter) each(filter, kind, path string) string {
	var found []string
	for _, form := range forms(path) {
		found = append(found, "("+filter+" "+w.param(kind, form)+")")
	}
	return strings.Join(found, " ")
}

// subtree is one filter for a folder and all below it, in each form of its path.
func (w *seatbeltWriter) subtree(kind, path string) string {
	all := w.each("subpath", kind, path)
	if len(forms(path)) > 1 {
		return "(require-any " + all + ")"
	}
	return all
}

// except are filters that leave out a path, one for each of its forms.
func (w *seatbeltWriter) except(filter, kind, path string) []string {
	var found []string
	for _, form := range forms(path) {
		found = append(found, "(require-not ("+filter+" "+w.param(kind, form)+"))")
	}
	return found
}

// allBut is one filter with exceptions.
func allBut(filter string, but []string) string {
	if len(but) == 0 {
		return filter
	}
	return "(require-all " + filter + "\n    " + strings.Join(but, "\n    ") + ")"
}
