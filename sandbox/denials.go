package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"interpreter/sandbox/helper"
)

// Bounds of what is read of an output in search of refusals.
const (
	denialBytes = 64 << 10
	denialLines = 8
)

// A phrase is what programs print when the system said no.
type phrase struct {
	text string // lower case
	kind refusalKind
}

type refusalKind int

const (
	readOnlyPlace refusalKind = iota // the place may not be written: what mounts say
	noRight                          // the person, or a wall that is no mount, may not
	held                             // the entry is a mount of its own
)

var phrases = []phrase{
	{"read-only file system", readOnlyPlace}, {"readonlyfilesystem", readOnlyPlace}, {"erofs", readOnlyPlace}, {"readonly filesystem", readOnlyPlace},
	{"permission denied", noRight}, {"operation not permitted", noRight}, {"eacces", noRight}, {"eperm", noRight},
	{"access is denied", noRight}, {"accessdeniedexception", noRight},
	{"device or resource busy", held}, {"ebusy", held},
}

// Denials says what the sandbox refused of a command that failed, or undid after it, one line each. The system does
// not tell who refused, so only what the policy forbids and the person could have done counts; words in the output
// are no evidence by themselves.
func Denials(e Exit, o Output, p Policy) []string {
	var lines []string
	for _, r := range Refusals(e, o, p) {
		lines = append(lines, r.Text)
	}
	return lines
}

// Refusals is Denials with what would have let each pass.
func Refusals(e Exit, o Output, p Policy) []Refusal {
	found := slices.Clone(e.Undone)
	if len(found) == 0 {
		for _, line := range e.Refused {
			found = append(found, Refusal{Text: line, Undone: true})
		}
	}
	if p.Mode == FullAccess || e.Code == 0 && e.Signal == "" {
		return found
	}
	add := func(r Refusal) {
		known := slices.ContainsFunc(found, func(f Refusal) bool { return f.Text == r.Text || r.Path != "" && f.Path == r.Path })
		if !known && len(found) < denialLines {
			found = append(found, r)
		}
	}
	text := lastBytes(o)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		kind, paths := spoken(lines, i)
		for _, path := range paths {
			if r, ok := p.denied(path, kind, e.Backend, line); ok {
				add(r)
				break
			}
		}
	}
	if !p.Network && slices.ContainsFunc(lines, offline) {
		add(Refusal{Text: "the network is off for commands", Network: true})
	}
	if e.Signal == "SIGSYS" || e.Code == 128+31 && runtime.GOOS == "linux" {
		add(Refusal{Text: "a system call that commands may not make"})
	}
	return found
}

// denied is the refusal for a path that a line speaks of, if the policy did it.
func (p Policy) denied(path string, kind refusalKind, backend, line string) (Refusal, bool) {
	real, place, err := p.Place(path)
	if err != nil || place == Inside && kind != held || !couldWrite(real) {
		return Refusal{}, false
	}
	if slices.ContainsFunc(kernelPlaces, func(k string) bool { return within(real, k) }) {
		return Refusal{}, false
	}
	if kind == held {
		// A mount cannot be renamed or removed. Elsewhere somebody else is the reason.
		if place == Guarded {
			return Refusal{Text: fmt.Sprintf("writing %s: it is protected", real), Path: p.opener(real)}, true
		}
		return Refusal{}, false
	}
	if kind == noRight && !p.bars(real, place, backend, line) {
		return Refusal{}, false
	}
	switch place {
	case Guarded:
		return Refusal{Text: fmt.Sprintf("writing %s: it is protected", real), Path: p.opener(real)}, true
	case Forbidden:
		return Refusal{Text: fmt.Sprintf("touching %s: it belongs to the agent itself", real)}, true
	}
	why := "it is outside the writable folders"
	if p.Mode == ReadOnly {
		why = "commands may only read"
	}
	return Refusal{Text: fmt.Sprintf("writing %s: %s", real, why), Path: p.opener(real)}, true
}

// bars reports whether a refusal in these words can be the sandbox's. Where mounts confine they say "read-only file
// system", and only hidden files answer otherwise. Where it is not known what confined, a file that nobody may start
// is the better reason.
func (p Policy) bars(real string, place Place, backend, line string) bool {
	switch backend {
	case helper.Namespaces, helper.Inner:
		return place == Forbidden && p.hidden(real)
	case helper.Landlock, "seatbelt", "windows":
		return true
	}
	info, err := os.Stat(real)
	started := err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 == 0 && !changing.MatchString(line)
	return !started && (err != nil || !info.IsDir() || changing.MatchString(line))
}

// changing are words of programs that wanted to change something.
var changing = regexp.MustCompile(`(?i)\b(cannot (create|touch|remove|move|make|open|overwrite|unlink|stat)|create|mkdir|unlink|rmdir|rename|write|writing|changing|remove|touch|chmod|chown|Errno \d+|EACCES|EPERM)\b`)

// opener is what to open so that a write of a real path passes: for the parts of a protected repository that do not
// run the repository, for a lock the file it stands for, for sed's scratch file its folder.
func (p Policy) opener(real string) string {
	base, dir := filepath.Base(real), filepath.Dir(real)
	if file, ok := strings.CutSuffix(real, ".lock"); ok && base != ".lock" && exists(file) {
		real = file
	} else if scratchName.MatchString(base) && !exists(real) {
		return dir
	}
	root := p.rootOf(real)
	rel, ok := below(real, root)
	if root == "" || !ok {
		return real
	}
	parts := strings.Split(rel, string(filepath.Separator))
	for i, part := range parts {
		if !sameName(part, ".git") {
			continue
		}
		git := filepath.Join(root, filepath.Join(parts[:i+1]...))
		for _, name := range gitParts {
			if within(real, filepath.Join(git, name)) {
				return real
			}
		}
		return git
	}
	return real
}

// scratchName is what sed -i and mktemp call the files they make beside others.
var scratchName = regexp.MustCompile(`^(sed[A-Za-z0-9]{6}|\.?tmp[._-]?[A-Za-z0-9]{6,}|.*\.[A-Za-z0-9]{6}\.tmp)$`)

// quoted finds paths that programs put in quotes of some kind.
var quoted = regexp.MustCompile("'([^']+)'|\"([^\"]+)\"|‘([^’]+)’|`([^`']+)['`]|“([^”]+)”")

// bareReason is a line that is nothing but a reason: the line that says what for stands before it.
var bareReason = regexp.MustCompile(`(?i)^(\s*(\d+|caused by)\s*:)?\s*(read-only file system|permission denied|operation not permitted)[ .]*(\(os error \d+\))?\s*$`)

// spoken are the kind of refusal in a line and the paths that it may speak of.
func spoken(lines []string, i int) (refusalKind, []string) {
	line := strings.TrimSpace(lines[i])
	if len(line) > 8<<10 {
		return 0, nil
	}
	lower := strings.ToLower(line)
	at, found := -1, phrase{}
	for _, ph := range phrases {
		if j := strings.LastIndex(lower, ph.text); j > at && word(lower, j, len(ph.text)) {
			at, found = j, ph
		}
	}
	if at < 0 || len(lower) != len(line) {
		return 0, nil
	}
	if bareReason.MatchString(lines[i]) {
		for j := i - 1; j >= max(0, i-5); j-- {
			before := strings.TrimSpace(lines[j])
			if before == "" || strings.HasSuffix(strings.ToLower(before), "caused by:") {
				continue
			}
			if paths := named(before, len(before), 0); len(paths) > 0 && len(before) < 4<<10 {
				return found.kind, paths
			}
		}
	}
	paths := named(line, at, len(found.text))
	if found.kind == readOnlyPlace { // only a sandbox says so of places a person could write
		for _, m := range absolute.FindAllStringSubmatch(line, 8) {
			paths = append(paths, m[1])
		}
	}
	return found.kind, paths
}

// absolute finds paths that stand free in a line.
var absolute = regexp.MustCompile(`(?:^|[\s'"(=])(/[^\s'":(),;]+)`)

// word reports whether a phrase stands by itself: a name that holds it is no refusal.
func word(s string, at, n int) bool {
	letter := func(i int) bool {
		return i >= 0 && i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= '0' && s[i] <= '9' || s[i] == '_' || s[i] == '-' || s[i] == '/')
	}
	return !letter(at-1) && !letter(at+n) || strings.HasPrefix(s[at:], "accessdenied")
}

// named are the paths in a line whose refusal stands at a place: in quotes, between colons, behind a verb as in
// "open /x: read-only file system", or in front of the refusal in brackets.
func named(line string, at, n int) []string {
	before, after := strings.TrimRight(line[:at], ": ([<"), strings.Trim(line[at+n:], " :.)(")
	var found []string
	for _, m := range quoted.FindAllStringSubmatch(line, -1) {
		for _, part := range m[1:] {
			if part != "" {
				found = append(found, part)
			}
		}
	}
	pieces := strings.Split(before, ": ")
	for i := len(pieces) - 1; i >= max(0, len(pieces)-3); i-- {
		found = append(found, strings.Trim(pieces[i], " "))
		if j := strings.LastIndexByte(pieces[i], ' '); j >= 0 {
			found = append(found, pieces[i][j+1:])
		}
	}
	found = append(found, before, after)
	if fields := strings.Fields(after); len(fields) > 1 {
		found = append(found, fields[len(fields)-1])
	}
	for i, f := range found {
		found[i] = strings.Trim(f, "'\"`,;")
	}
	return slices.DeleteFunc(found, func(s string) bool {
		relative := !filepath.IsAbs(s)
		return s == "" || len(s) > 4096 || strings.ContainsAny(s, "\x00\n") || relative && (strings.ContainsAny(s, " \t*?()[]{}<>|;=") || !plausible(s))
	})
}

// plausible reports whether a relative word can be a path of its own accord: "bash" and "tar" are programs.
func plausible(s string) bool {
	return strings.ContainsAny(s, "/.") || exists(s) || !leadWords.MatchString(s)
}

// leadWords are the names that stand first in an error line.
var leadWords = regexp.MustCompile(`^(ba|z|da|k|fi)?sh$|^(line|error|fatal|warning|cannot|open|create|mkdir|failed|to|tar|cp|mv|rm|ln|sed|npm|git|go|cargo|python3?|node|make|tee|touch|cause[ds]?|reason|errno|by|in|at|code)$`)

func lastBytes(o Output) string {
	head, tail := o.Head, o.Tail
	if len(tail) > denialBytes {
		tail = tail[len(tail)-denialBytes:]
	}
	if len(head) > denialBytes {
		if len(tail) == 0 {
			head = head[len(head)-denialBytes:]
		} else {
			head = head[:denialBytes]
		}
	}
	return string(bytes.ToValidUTF8(slices.Concat(head, []byte("\n"), tail), []byte("?")))
}
