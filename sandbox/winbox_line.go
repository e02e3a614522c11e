package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
)

// commandLine is the one text that a program of Windows gets for its arguments. Most programs split it by the rules of
// CommandLineToArgvW; cmd.exe takes what follows /c as it stands, but for the quotes around it when /s is given.
func commandLine(argv []string) (string, error) {
	if len(argv) == 0 {
		return "", errors.New("no command given")
	}
	for _, arg := range argv {
		if strings.ContainsRune(arg, 0) {
			return "", fmt.Errorf("the argument %q holds a zero byte", arg)
		}
	}
	words := make([]string, 0, len(argv)+1)
	name := strings.ToLower(windowsBase(argv[0]))
	shell, batch := name == "cmd" || name == "cmd.exe", strings.HasSuffix(name, ".bat") || strings.HasSuffix(name, ".cmd")
	for i, arg := range argv {
		switch {
		case shell && i == len(argv)-2 && (strings.EqualFold(arg, "/c") || strings.EqualFold(arg, "/k")):
			words = append(words, "/s", arg, `"`+argv[i+1]+`"`)
			return fit(strings.Join(words, " "))
		case batch && i > 0 && strings.ContainsAny(arg, "\"%!^&|<>()\r\n"):
			// cmd.exe, which runs it, would read these again, and no quoting holds for all batch files.
			return "", fmt.Errorf("the argument %q has a meaning of its own for batch files; run %s through a shell", arg, windowsBase(argv[0]))
		}
		words = append(words, quoteWindows(arg))
	}
	return fit(strings.Join(words, " "))
}

// longestLine is how many UTF-16 units CreateProcess takes, with the zero at the end.
const longestLine = 32767

func fit(line string) (string, error) {
	if n := len(utf16.Encode([]rune(line))); n >= longestLine {
		return "", fmt.Errorf("the command line has %d characters, Windows takes %d; put it into a file", n, longestLine-1)
	}
	return line, nil
}

// quoteWindows is one argument in the form that CommandLineToArgvW takes apart again: backslashes mean themselves but
// before a quote, where two stand for one.
func quoteWindows(arg string) string {
	if arg != "" && !strings.ContainsAny(arg, " \t\n\v\"") {
		return arg
	}
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for i := range len(arg) {
		switch c := arg[i]; c {
		case '\\':
			slashes++
			continue
		case '"':
			b.WriteString(strings.Repeat(`\`, 2*slashes+1))
		default:
			b.WriteString(strings.Repeat(`\`, slashes))
		}
		slashes = 0
		b.WriteByte(arg[i])
	}
	b.WriteString(strings.Repeat(`\`, 2*slashes))
	b.WriteByte('"')
	return b.String()
}

func windowsBase(path string) string { return path[strings.LastIndexAny(path, `\/`)+1:] }

// environmentBlock is the environment as CreateProcess takes it: each name once, in any case the last value given,
// sorted by name without regard to case, every entry and the whole ended by a zero. SystemRoot is added from the agent's
// own when it is missing: without it sockets and much of the run-time libraries do not start.
func environmentBlock(env []string, systemRoot string) ([]uint16, error) {
	values := map[string]string{}
	for _, entry := range env {
		if strings.ContainsRune(entry, 0) {
			return nil, fmt.Errorf("the variable %q holds a zero byte", entry)
		}
		// A name may begin with =, as those do in which cmd.exe keeps the current folder of each drive.
		i := strings.IndexByte(entry[min(1, len(entry)):], '=')
		if i < 0 {
			continue
		}
		values[strings.ToUpper(entry[:i+1])] = entry
	}
	if _, ok := values["SYSTEMROOT"]; !ok && systemRoot != "" {
		values["SYSTEMROOT"] = "SystemRoot=" + systemRoot
	}
	var block []uint16
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		block = append(append(block, utf16.Encode([]rune(values[name]))...), 0)
	}
	if len(block) == 0 {
		block = append(block, 0)
	}
	return append(block, 0), nil
}

// lookupAnyCase is lookup where names of variables have no case.
func lookupAnyCase(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if key, value, ok := strings.Cut(entry, "="); ok && strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}

// windowsProgram finds the program of a command. A bare name is looked for in the absolute folders of PATH and nowhere
// else: Windows by itself begins with the current folder, where a workspace may have put one of that name. isFile
// reports whether there is a regular file.
func windowsProgram(name string, env []string, dir string, isFile func(path string) bool) (string, error) {
	if name == "" {
		return "", errors.New("start a command: it has no name")
	}
	endings := []string{""}
	known := strings.FieldsFunc(strings.ToLower(lookupAnyCase(env, "PATHEXT")), func(r rune) bool { return r == ';' })
	if len(known) == 0 {
		known = []string{".com", ".exe", ".bat", ".cmd"}
	}
	// Other endings are documents, which a shell opens and CreateProcess cannot start.
	known = slices.DeleteFunc(known, func(e string) bool { return !slices.Contains([]string{".com", ".exe", ".bat", ".cmd"}, e) })
	base := windowsBase(name)
	if i := strings.LastIndexByte(base, '.'); i < 0 || !slices.Contains(known, strings.ToLower(base[i:])) {
		endings = known
		if i > 0 {
			endings = append(slices.Clone(known), "")
		}
	}
	try := func(path string) string {
		for _, ending := range endings {
			if isFile(path + ending) {
				return path + ending
			}
		}
		return ""
	}
	if strings.ContainsAny(name, `\/:`) {
		if err := windowsPath(name); err != nil {
			return "", fmt.Errorf("start %s: %w", name, err)
		}
		path := strings.ReplaceAll(name, "/", `\`)
		switch {
		case len(path) > 1 && path[1] == ':', strings.HasPrefix(path, `\\`):
		case strings.HasPrefix(path, `\`):
			path = dir[:min(2, len(dir))] + path
		default:
			path = strings.TrimRight(dir, `\`) + `\` + path
		}
		if found := try(strings.ReplaceAll(path, `\.\`, `\`)); found != "" {
			return found, nil
		}
		return "", fmt.Errorf("start %s: %w", name, ErrNoProgram)
	}
	for entry := range strings.SplitSeq(lookupAnyCase(env, "PATH"), ";") {
		entry = strings.Trim(entry, `"`)
		if len(entry) < 3 || entry[1] != ':' || entry[2] != '\\' && entry[2] != '/' || windowsPath(entry) != nil {
			continue
		}
		if found := try(strings.TrimRight(entry, `\/`) + `\` + name); found != "" {
			return found, nil
		}
	}
	return "", fmt.Errorf("start %s: %w", name, ErrNoProgram)
}

// Limits of a job (winnt.h).
const (
	limitProcesses  = 0x8
	limitNoDialogs  = 0x400
	limitKillOnEnd  = 0x2000
	limitsOfScreens = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x20 | 0x40 | 0x80
)

// mostProcesses is how many processes a command and all it started may be at once.
const mostProcesses = 4096

// jobLimits are what holds for a command and all it starts.
type jobLimits struct {
	flags     uint32
	processes uint32
	screens   uint32 // handles, clipboard, system parameters, display, global atoms, desktops, the end of the session
}

// limitsOf are the limits of a command. No flag lets a process out of its job, so the end of the job is the end of all.
func limitsOf(confined bool) jobLimits {
	l := jobLimits{flags: limitProcesses | limitNoDialogs | limitKillOnEnd, processes: mostProcesses}
	if confined {
		l.screens = limitsOfScreens
	}
	return l
}

// Flags of CreateRestrictedToken (winnt.h).
const (
	noPrivileges    = 0x1
	ordinaryUser    = 0x4
	writeRestricted = 0x8
)

// tokenFlags: no privilege but the one to pass through folders, no administrator, and every write checked twice.
const tokenFlags = noPrivileges | ordinaryUser | writeRestricted

// restricting are the names that a write must be allowed to as well. The names of everybody, of groups and of the
// person are not among them: what they may write, a command may not for that alone.
func restricting(logon sid, others []sid, grants []grant) []sid {
	found := append([]sid{logon}, others...)
	for _, g := range grants {
		if !slices.Contains(found, g.who) {
			found = append(found, g.who)
		}
	}
	return found
}

// defaultACL is what a command's own pipes, events and processes carry: open to the commands of the same session, which
// bear own, and not to those of others. It is short, for a token has little room for it.
func defaultACL(own, person sid) []ace {
	return []ace{
		{kind: allowedType, mask: allRights, who: systemSID},
		{kind: allowedType, mask: allRights, who: person},
		{kind: allowedType, mask: allRights, who: own},
	}
}

// noNetwork are variables that send well-meaning programs nowhere while the network is off. They are advice: a
// restricted token does not close the network.
func noNetwork() []string {
	dead := "http://127.0.0.1:9" // the port of discard, where nobody listens
	return []string{"HTTP_PROXY=" + dead, "HTTPS_PROXY=" + dead, "ALL_PROXY=" + dead, "NO_PROXY=localhost,127.0.0.1,::1"}
}

// windowsVariables replace what there is of the same name in any case.
func windowsVariables(env, set []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(slices.Concat(set, markers), func(s string) bool {
			n, _, _ := strings.Cut(s, "=")
			return strings.EqualFold(n, name)
		})
	})
	return append(out, set...)
}

// verbatim is a path in the form in which Windows takes long ones.
func verbatim(path string) string {
	if strings.HasPrefix(path, `\\`) {
		return `\\?\UNC` + path[1:]
	}
	return `\\?\` + path
}

// unverbatim is the reverse, of what Windows says a file is called.
func unverbatim(path string) string {
	if rest, ok := strings.CutPrefix(path, `\\?\UNC\`); ok {
		return `\\` + rest
	}
	return strings.TrimPrefix(path, `\\?\`)
}

// existing is the longest part of a path that exists, and the rest.
func existing(path string, there func(string) bool) (head, rest string) {
	for head = path; !there(head); {
		dir := filepath.Dir(head)
		if dir == head {
			return path, ""
		}
		rest = filepath.Join(filepath.Base(head), rest)
		head = dir
	}
	return head, rest
}
