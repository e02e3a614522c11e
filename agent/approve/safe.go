package approve

import (
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// Safe reports whether a script is known to only read, as far as its words tell: a plain sequence of commands from a
// short list, with none of the options that write or start other programs. Where it reads, which programs its words find
// and what git's configuration says is not looked at; a Judge does that.
func Safe(script string) bool {
	t, plain := plainTree(script)
	if !plain {
		return false
	}
	moved := false // a cd came before: what git's configuration says there is not known
	for words := range t.simple() {
		if _, why := known(words); why != "" || moved && filepath.Base(words[0].text) == "git" {
			return false
		}
		moved = moved || words[0].text == "cd"
	}
	return true
}

// reading is a place that a command reads.
type reading struct {
	word   word
	names  bool // only what is there and how it is named, not what is in it
	tree   bool // all below it too
	hidden bool // of tree: what has a name that begins with a dot as well
	follow bool // of tree: through symbolic links
	enter  bool // it goes there, and later commands are there
}

const notKnown = "it is not known to only read"

// noFiles are programs of the list whose arguments are no files.
var noFiles = []string{"echo", "expr", "false", "id", "pwd", "seq", "tr", "true", "uname", "whoami", "numfmt"}

// spellings are programs of the list that read their operands, and how they take options.
var spellings = map[string]spelling{
	"cat": {}, "rev": {},
	"tac":  {values: "s", texts: "s", long: map[string]taking{"separator": text}},
	"head": {values: "cn", long: map[string]taking{"bytes": text, "lines": text}},
	"tail": {values: "cns", long: map[string]taking{"bytes": text, "lines": text, "sleep-interval": text, "pid": text, "max-unchanged-stats": text}},
	"nl": {values: "bdfhilnsvw", texts: "bdfhs", long: map[string]taking{"body-numbering": text, "section-delimiter": text, "footer-numbering": text,
		"header-numbering": text, "line-increment": text, "join-blank-lines": text, "number-format": text, "number-separator": text,
		"starting-line-number": text, "number-width": text}},
	"wc":    {long: map[string]taking{"files0-from": harm}},
	"cut":   {values: "bcdf", texts: "bcdf", long: map[string]taking{"bytes": text, "characters": text, "delimiter": text, "fields": text, "output-delimiter": text}},
	"paste": {values: "d", texts: "d", long: map[string]taking{"delimiters": text}},
	"uniq": {values: "fsw", long: map[string]taking{"skip-fields": text, "skip-chars": text, "check-chars": text, "all-repeated": nothing,
		"group": nothing}},
	"base64": {values: "w", bad: "o", long: map[string]taking{"output": harm, "wrap": text}},
	"stat":   {values: "c", texts: "c", long: map[string]taking{"format": text, "printf": text}},
	"ls": {values: "ITw", texts: "I", long: map[string]taking{"ignore": text, "ignore-backups": nothing, "hide": text, "block-size": text, "format": text,
		"sort": text, "time": text, "time-style": text, "indicator-style": text, "quoting-style": text, "width": text, "tabsize": text,
		"dereference": nothing, "dereference-command-line": nothing, "dereference-command-line-symlink-to-dir": nothing, "recursive": nothing}},
}

// known says what a simple command reads, or why that is not known.
func known(words []word) ([]reading, string) {
	name, args := words[0].text, words[1:]
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			return nil, name + " is a program of this folder"
		}
		name = filepath.Base(name)
	}
	if slices.Contains(noFiles, name) {
		if name == "numfmt" && runtime.GOOS != "linux" {
			return nil, notKnown
		}
		return globbed(args), ""
	}
	switch name {
	case "cd":
		return entering(args)
	case "find":
		return finding(args)
	case "grep":
		return searching(args, grepSpelling, "file", "f")
	case "rg":
		return searching(args, rgSpelling, "file", "f", "files", "type-list")
	case "sed":
		return printing(args)
	case "git":
		return gitReading(args)
	case "which":
		var found []reading
		for _, a := range args {
			if strings.Contains(a.text, "/") || len(a.globs) > 0 {
				found = append(found, reading{word: a, names: true})
			}
		}
		return found, ""
	case "tac":
		if runtime.GOOS != "linux" {
			return nil, notKnown
		}
	}
	s, listed := spellings[name]
	if !listed {
		return nil, notKnown
	}
	options, operands, why := s.read(args)
	if why != "" {
		return nil, why
	}
	if name == "uniq" && (len(operands) > 1 || len(operands) == 1 && len(operands[0].globs) > 0) {
		return nil, "uniq writes to its second file"
	}
	found := values(options)
	for _, o := range operands {
		found = append(found, reading{word: o})
	}
	if name != "ls" && name != "stat" {
		return found, ""
	}
	if name == "ls" && len(operands) == 0 {
		found = append(found, reading{word: word{text: "."}})
	}
	for i := range found {
		found[i].names = true
		found[i].follow = name == "ls" && has(options, "L", "dereference")
		found[i].tree, found[i].hidden = found[i].follow, true
	}
	return found, ""
}

// globbed are the words that expand to names of files: those are read whatever the command does with them.
func globbed(args []word) []reading {
	var found []reading
	for _, a := range args {
		if len(a.globs) > 0 {
			found = append(found, reading{word: a, names: true})
		}
	}
	return found
}

// values are what options may read.
func values(options []given) []reading {
	var found []reading
	for _, o := range options {
		if o.value.text != "" && !o.text || len(o.value.globs) > 0 {
			found = append(found, reading{word: o.value})
		}
	}
	return found
}

func entering(args []word) ([]reading, string) {
	options := true
	var to []word
	for _, a := range args {
		switch {
		case options && a.text == "--":
			options = false
		case options && a.text == "-":
			return nil, "it goes back to a folder that is not known"
		case options && strings.HasPrefix(a.text, "-"):
			if strings.Trim(a.text[1:], "LPe") != "" {
				return nil, "the option " + a.text + " of cd is not known"
			}
		default:
			to, options = append(to, a), false
		}
	}
	switch {
	case len(to) == 0:
		return nil, "it goes to the home folder"
	case len(to) > 1 || len(to[0].globs) > 0 || to[0].text == "":
		return nil, "it goes to a folder that is not known"
	}
	return []reading{{word: to[0], names: true, enter: true}}, ""
}

var grepSpelling = spelling{
	values: "ABCDdefm", texts: "ABCDdem", strict: true,
	long: map[string]taking{
		"extended-regexp": nothing, "fixed-strings": nothing, "basic-regexp": nothing, "perl-regexp": nothing, "regexp": text, "file": file,
		"ignore-case": nothing, "no-ignore-case": nothing, "word-regexp": nothing, "line-regexp": nothing, "null-data": nothing, "no-messages": nothing,
		"invert-match": nothing, "version": nothing, "help": nothing, "max-count": text, "byte-offset": nothing, "line-number": nothing,
		"line-buffered": nothing, "with-filename": nothing, "no-filename": nothing, "label": text, "only-matching": nothing, "quiet": nothing,
		"silent": nothing, "binary-files": text, "text": nothing, "directories": text, "devices": text, "recursive": nothing,
		"dereference-recursive": nothing, "include": text, "exclude": text, "exclude-from": file, "exclude-dir": text, "files-without-match": nothing,
		"files-with-matches": nothing, "count": nothing, "initial-tab": nothing, "null": nothing, "before-context": text, "after-context": text,
		"context": text, "group-separator": text, "no-group-separator": nothing, "color": nothing, "colour": nothing, "binary": nothing,
		"unix-byte-offsets": nothing,
	},
}

var rgSpelling = spelling{
	values: "ABCEMTdefgjmrt", texts: "ABCEMTdegjmrt", bad: "z", strict: true,
	long: rgLong(),
}

func rgLong() map[string]taking {
	long := map[string]taking{"file": file, "ignore-file": file, "pre": harm, "pre-glob": harm, "hostname-bin": harm, "search-zip": harm}
	for _, name := range []string{"after-context", "before-context", "context", "color", "colors", "context-separator", "dfa-size-limit", "encoding",
		"engine", "field-context-separator", "field-match-separator", "generate", "glob", "hyperlink-format", "iglob", "max-columns", "max-count",
		"max-depth", "maxdepth", "max-filesize", "path-separator", "regex-size-limit", "regexp", "replace", "sort", "sortr", "threads", "type", "type-add",
		"type-clear", "type-not"} {
		long[name] = text
	}
	for _, name := range []string{"auto-hybrid-regex", "binary", "block-buffered", "byte-offset", "case-sensitive", "column", "count", "count-matches", "crlf",
		"debug", "files", "files-with-matches", "files-without-match", "fixed-strings", "follow", "glob-case-insensitive", "heading", "hidden",
		"ignore", "ignore-case", "ignore-file-case-insensitive", "include-zero", "invert-match", "json", "line-buffered", "line-number", "line-regexp",
		"max-columns-preview", "messages", "mmap", "multiline", "multiline-dotall", "no-binary", "no-column", "no-config", "no-context-separator",
		"no-filename", "no-follow", "no-heading", "no-hidden", "no-ignore", "no-ignore-dot", "no-ignore-exclude", "no-ignore-files",
		"no-ignore-global", "no-ignore-messages", "no-ignore-parent", "no-ignore-vcs", "no-json", "no-line-number", "no-messages", "no-mmap",
		"no-multiline", "no-pcre2", "no-pcre2-unicode", "no-require-git", "no-stats", "no-text", "no-trim", "no-unicode", "null", "null-data",
		"one-file-system", "only-matching", "passthru", "passthrough", "pcre2", "pcre2-version", "pretty", "quiet", "smart-case", "sort-files", "stats",
		"stop-on-nonmatch", "text", "trace", "trim", "type-list", "unicode", "unrestricted", "version", "help", "vimgrep", "with-filename",
		"word-regexp"} {
		long[name] = nothing
	}
	return long
}

// searching is grep or rg. The first operand is what to look for, unless one of the options says that there is none.
func searching(args []word, s spelling, without ...string) ([]reading, string) {
	options, operands, why := s.read(args)
	if why != "" {
		return nil, why
	}
	found := values(options)
	if !has(options, append(without, "e", "regexp")...) && len(operands) > 0 {
		if pattern := operands[0]; len(pattern.globs) > 0 {
			found = append(found, reading{word: pattern})
		}
		operands = operands[1:]
	}
	r := reading{}
	if s.bad == "" { // grep
		r.follow = has(options, "R", "S", "dereference-recursive")
		r.tree = r.follow || has(options, "r", "recursive", "d", "directories")
		r.hidden = true
	} else {
		r.tree, r.follow = true, has(options, "L", "follow")
		r.hidden = has(options, "u", ".", "unrestricted", "hidden")
		r.names = has(options, "files", "type-list")
	}
	if r.tree && len(operands) == 0 {
		operands = bare([]string{"."})
	}
	for _, o := range operands {
		at := r
		at.word = o
		found = append(found, at)
	}
	return found, ""
}

// The primaries of find that only look.
var (
	findAlone = strings.Fields("-a -and -o -or -not -print -print0 -ls -prune -quit -true -false -depth -d -mount -xdev -daystart -noleaf -warn " +
		"-nowarn -empty -nouser -nogroup -readable -writable -executable -ignore_readdir_race -noignore_readdir_race -follow -help -version " +
		"-H -L -P -E -s -x ( ) ! ,")
	findText = strings.Fields("-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname -type -xtype -size -perm " +
		"-user -group -uid -gid -links -inum -mtime -atime -ctime -mmin -amin -cmin -maxdepth -mindepth -used -fstype -printf -context -flags")
	findFile = strings.Fields("-newer -anewer -cnewer -mnewer -samefile")
	newerXY  = regexp.MustCompile(`^-newer[aBcm][aBcmt]$`)
)

func finding(args []word) ([]reading, string) {
	var found []reading
	roots, looking := 0, false
	follow := slices.ContainsFunc(args, func(a word) bool { return a.text == "-L" || a.text == "-follow" })
	for i := 0; i < len(args); i++ {
		a := args[i]
		if len(a.globs) > 0 && looking {
			return nil, "find may be handed names of files as conditions"
		}
		switch next := i + 1; {
		case slices.Contains(findAlone, a.text):
			looking = looking || !slices.Contains([]string{"-H", "-L", "-P", "-E", "-s", "-x", "-d"}, a.text)
			continue
		case slices.Contains(findText, a.text):
			looking = true
			if i = next; i < len(args) && len(args[i].globs) > 0 {
				return nil, "find may be handed names of files as conditions"
			}
			continue
		case slices.Contains(findFile, a.text) || newerXY.MatchString(a.text):
			looking = true
			if i = next; i < len(args) && !strings.HasSuffix(a.text, "t") {
				found = append(found, reading{word: args[i], names: true})
			}
			continue
		case strings.HasPrefix(a.text, "-") || looking:
			return nil, "the condition " + a.text + " of find is not known to only read"
		}
		roots++
		found = append(found, reading{word: a, names: true, tree: follow, hidden: true, follow: follow})
	}
	if roots == 0 {
		found = append(found, reading{word: word{text: "."}, names: true, tree: follow, hidden: true, follow: follow})
	}
	return found, ""
}

// printing accepts sed with `-n Np [FILE]` and `-n N,Mp [FILE]`.
func printing(args []word) ([]reading, string) {
	const why = "sed is known to only read as: sed -n N,Mp FILE"
	if len(args) < 2 || len(args) > 3 || args[0].text != "-n" || len(args[1].globs) > 0 {
		return nil, why
	}
	lines, ok := strings.CutSuffix(args[1].text, "p")
	from, to, both := strings.Cut(lines, ",")
	if !ok || !digits(from) || both && !digits(to) {
		return nil, why
	}
	if len(args) == 2 {
		return nil, ""
	}
	if strings.HasPrefix(args[2].text, "-") {
		return nil, why
	}
	return []reading{{word: args[2]}}, ""
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// gitReading accepts what only looks at a repository, as far as its words tell. What git's configuration makes of it is a
// question for Judge.Git.
func gitReading(args []word) ([]reading, string) {
	for len(args) > 0 && (args[0].text == "--no-pager" || args[0].text == "--no-optional-locks") {
		args = args[1:]
	}
	if len(args) == 0 {
		return nil, notKnown
	}
	sub, rest := args[0].text, args[1:]
	switch sub {
	case "status", "log", "diff", "show":
	case "branch":
		for _, a := range rest {
			if !slices.Contains([]string{"--list", "-l", "--show-current", "-a", "--all", "-r", "--remotes", "-v", "-vv", "--verbose"}, a.text) &&
				!strings.HasPrefix(a.text, "--format=") || len(a.globs) > 0 {
				return nil, "git branch is not known to only list with " + a.text
			}
		}
	default:
		return nil, "git " + sub + " is not known to only read"
	}
	if option(texts(rest), []string{"output", "ext-diff", "textconv", "exec", "no-index", "show-signature", "remerge-diff"}, "") {
		return nil, "git " + sub + " has an option that may write or start something"
	}
	var found []reading
	options := true
	for i, a := range rest {
		if verifies(a.text) || options && i > 0 && slices.Contains([]string{"--format", "--pretty"}, rest[i-1].text) && verifies("--format="+a.text) {
			return nil, "git starts another program to check signatures"
		}
		switch {
		case options && a.text == "--":
			options = false
		case options && strings.HasPrefix(a.text, "--diff-merges"), options && a.text == "--dd":
			return nil, "git " + sub + " has an option that may write or start something"
		case options && strings.HasPrefix(a.text, "--"):
		case options && strings.HasPrefix(a.text, "-"):
			if orders(a.text[1:]) {
				return nil, "git " + sub + " reads a file for the option -O"
			}
		default:
			path := a
			if _, in, ok := strings.Cut(a.text, ":"); ok { // REVISION:PATH lies in the repository, whatever its dots say
				if looksSecret(in) {
					return nil, in + " looks like a file of secrets"
				}
				if !strings.HasPrefix(a.text, "/") && !strings.HasPrefix(a.text, "~") && !strings.HasPrefix(a.text, ".") {
					continue
				}
			}
			found = append(found, reading{word: path})
		}
	}
	return found, ""
}

// verifies reports a format that has git call the program that checks signatures.
func verifies(a string) bool {
	return strings.HasPrefix(a, "-") && (strings.Contains(a, "%G") || strings.Contains(a, "signature"))
}

// orders reports whether an O is among short options, and not in the value of one that takes the rest.
func orders(letters string) bool {
	for _, l := range letters {
		switch l {
		case 'O':
			return true
		case 'S', 'G', 'L', 'U', 'n', 'l':
			return false
		}
	}
	return false
}
