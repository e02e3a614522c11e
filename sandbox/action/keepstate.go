package action

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// What a shell says of itself, as fields that end in a zero byte: its options, umask and variables, before it becomes
// what the last one was and again at its end. What differs is what it leaves.
const (
	bashShow = `\command printf '%s\0' "$SHELLOPTS" "$BASHOPTS"; \command umask; \command printf '\0'; ` +
		`\command declare -p; \command printf '\0'`

	bashShowNames = `\command alias -p; \command printf '\0'; \command declare -f; \command printf '\0'; ` +
		`\command declare -Fx; \command printf '\0'`

	shShow = `\command printf '%s\0' "$-"; \command umask; \command printf '\0'; \command export -p; ` +
		`\command printf '\0'; \command set; \command printf '\0'`

	shShowNames = `\command alias; \command printf '\0'; ` +
		`if [ -n "${ZSH_VERSION-}" ]; then functions; elif [ -n "${BASH_VERSION-}" ]; then declare -f; fi; \command printf '\0'`
)

// ownVariables change by themselves, tell of one process, or are the sandbox's word.
var ownVariables = []string{"_", "BASH*", "COMP_*", "CODEX_SANDBOX*", "DIRSTACK", "EPOCH*", "EUID", "FUNCNAME", "GROUPS", "HISTCMD",
	"INTERPRETER_SANDBOX*", "LINENO", "OPTIND", "PIPESTATUS", "PPID", "PWD", "RANDOM", "SECONDS", "SHELLOPTS", "SHLVL", "SRANDOM",
	"TTYIDLE", "UID", "EGID", "GID", "ZSH_*", "pipestatus", "argv", "status", "funcstack", "functrace", "funcfiletrace",
	"funcsourcetrace", "zsh_*"}

func ownVariable(name string) bool {
	return slices.ContainsFunc(ownVariables, func(p string) bool { ok, _ := path.Match(p, name); return ok })
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// shellState is what a shell said of itself.
type shellState struct {
	options string            // of set: names, or letters
	shopts  string            // of shopt
	umask   string            // as umask prints it
	vars    map[string]string // by name, words that make them
	exports map[string]bool
}

// left is what a shell leaves.
type left struct {
	dir  string
	text string
}

// read gives what a shell left in a file. A folder comes even with an error.
func (f family) read(file io.ReadSeeker, what Keep) (left, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return left{}, err
	}
	told := keptFields(file)
	var out left
	var before, after shellState
	if what == KeepShell {
		before = f.state(told)
	}
	options := told.next()
	out.dir = strings.TrimSuffix(told.next(), "\n")
	if what != KeepShell {
		return out, nil
	}
	after = f.state(told)
	after.options = options
	aliases, functions := told.next(), told.next()
	exported := ""
	if f == bashShell {
		exported = told.next()
	}
	if !told.whole {
		return out, errors.New("the shell did not tell all of them (because of exec, a trap for EXIT, or their size)")
	}
	if f == bashShell {
		out.text = bashText(before, after, aliases, functions, exported)
	} else {
		out.text = shText(before, after, aliases, functions)
	}
	return out, nil
}

// fieldList is what is left of the fields a shell told.
type fieldList struct {
	fields []string
	whole  bool // none was missing so far, the one at the end included
}

func (l *fieldList) next() string {
	if len(l.fields) == 0 {
		l.whole = false
		return ""
	}
	text := l.fields[0]
	l.fields = l.fields[1:]
	return text
}

// keptFields reads fields up to the one that says that all was told.
func keptFields(file io.Reader) *fieldList {
	l := &fieldList{}
	r := bufio.NewReaderSize(file, 32<<10)
	for {
		text, err := r.ReadString(0)
		if err != nil {
			return l
		}
		text = text[:len(text)-1]
		if text == "end" {
			l.whole = true
			return l
		}
		l.fields = append(l.fields, text)
		if len(l.fields) > 1<<16 {
			return l
		}
	}
}

func (f family) state(told *fieldList) shellState {
	s := shellState{options: told.next(), vars: map[string]string{}, exports: map[string]bool{}}
	if f == bashShell {
		s.shopts, s.umask = told.next(), strings.TrimSpace(told.next())
		for _, a := range assignments(told.next()) {
			flags, name, _ := strings.Cut(a.name, " ")
			s.vars[name] = "declare " + flags + " " + name
			if a.set {
				s.vars[name] += "=" + a.value
			}
		}
		return s
	}
	s.umask = strings.TrimSpace(told.next())
	for _, a := range assignments(told.next()) {
		s.exports[a.name] = true
	}
	for _, a := range assignments(told.next()) {
		s.vars[a.name] = a.name + "=" + a.value
	}
	return s
}

// bashText are the words that make a bash what the last one was, in an order in which none disturbs the next: how
// functions are read depends on some options, and aliases would change them.
func bashText(before, after shellState, aliases, functions, exported string) string {
	var b strings.Builder
	var last strings.Builder
	for _, o := range changed(before.shopts, after.shopts, ":", "login_shell", "restricted_shell") {
		to := &b
		if o.name == "expand_aliases" {
			o.on = slices.Contains(strings.Split(after.shopts, ":"), o.name)
			to = &last
		}
		fmt.Fprintf(to, "shopt -%s %s\n", map[bool]string{true: "s", false: "u"}[o.on], o.name)
	}
	writeVariables(&b, before, after)
	b.WriteString(functions)
	b.WriteString(exported)
	b.WriteString(aliases)
	b.WriteString(last.String())
	for _, o := range changed(before.options, after.options, ":", "xtrace", "verbose", "noexec", "monitor", "history", "privileged") {
		fmt.Fprintf(&b, "set %so %s\n", map[bool]string{true: "-", false: "+"}[o.on], o.name)
	}
	return silent(b.String())
}

func shText(before, after shellState, aliases, functions string) string {
	var b strings.Builder
	writeVariables(&b, before, after)
	for _, name := range slices.Sorted(maps.Keys(after.exports)) {
		if !before.exports[name] && !ownVariable(name) && after.vars[name] != "" {
			fmt.Fprintf(&b, "export %s\n", name)
		}
	}
	if functions != "" {
		b.WriteString(strings.TrimSuffix(functions, "\n") + "\n")
	}
	for _, a := range assignments(aliases) {
		fmt.Fprintf(&b, "alias %s=%s\n", a.name, a.value)
	}
	const kept = "aCefu"
	for _, letter := range kept {
		on, was := strings.ContainsRune(after.options, letter), strings.ContainsRune(before.options, letter)
		if on != was {
			fmt.Fprintf(&b, "set %s%c\n", map[bool]string{true: "-", false: "+"}[on], letter)
		}
	}
	return silent(b.String())
}

// silent keeps a shell from complaining of the words while it reads them.
func silent(text string) string {
	if text == "" {
		return ""
	}
	return "exec 8>&2 2>/dev/null\n" + text + "\\exec 2>&8 8>&-\n"
}

func writeVariables(b *strings.Builder, before, after shellState) {
	for _, name := range slices.Sorted(maps.Keys(after.vars)) {
		if !ownVariable(name) && variableName.MatchString(name) && after.vars[name] != before.vars[name] {
			b.WriteString(after.vars[name] + "\n")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before.vars)) {
		if _, ok := after.vars[name]; !ok && !ownVariable(name) && variableName.MatchString(name) {
			fmt.Fprintf(b, "unset %s\n", name)
		}
	}
	if after.umask != before.umask && after.umask != "" {
		fmt.Fprintf(b, "umask %s\n", after.umask)
	}
}

type option struct {
	name string
	on   bool
}

// changed are the options that are on in one list and not in the other.
func changed(before, after, sep string, but ...string) []option {
	was, is := strings.Split(before, sep), strings.Split(after, sep)
	var out []option
	for _, name := range is {
		if name != "" && !slices.Contains(was, name) && !slices.Contains(but, name) {
			out = append(out, option{name, true})
		}
	}
	for _, name := range was {
		if name != "" && !slices.Contains(is, name) && !slices.Contains(but, name) {
			out = append(out, option{name, false})
		}
	}
	return out
}

type assignment struct {
	name, value string
	set         bool // there is a value
}

// assignments reads what set, export -p, declare -p and alias print: lines NAME=WORD, the word quoted in any of the ways of shells
// and left as it is. What is no such line is skipped.
func assignments(text string) []assignment {
	var out []assignment
	for text != "" {
		line := text
		for _, word := range []string{"export ", "alias ", "typeset -x ", "declare "} {
			line = strings.TrimPrefix(line, word)
		}
		end := strings.IndexAny(line, "=\n")
		if end < 0 || line[end] == '\n' {
			name, rest, _ := strings.Cut(line, "\n")
			out = append(out, assignment{name: name})
			text = rest
			continue
		}
		name, rest := line[:end], line[end+1:]
		n := wordEnd(rest)
		out = append(out, assignment{name, rest[:n], true})
		text = strings.TrimPrefix(rest[n:], "\n")
	}
	return out
}

// wordEnd is where a word ends that a line end follows: one outside of quotes and brackets.
func wordEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\'':
			dollar := i > 0 && text[i-1] == '$'
			for i++; i < len(text) && text[i] != '\''; i++ {
				if dollar && text[i] == '\\' {
					i++
				}
			}
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '(':
			depth++
		case ')':
			depth--
		case '\n':
			if depth <= 0 {
				return i
			}
		}
	}
	return len(text)
}
