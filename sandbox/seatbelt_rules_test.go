package sandbox

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// form is an expression of the policy language: a list, a word, or a text.
type form struct {
	list   []form
	word   string
	text   string
	isText bool
}

// parseSeatbelt reads the forms of a policy: lists, words, "texts", #"expressions" and ; remarks.
func parseSeatbelt(t testing.TB, s string) []form {
	t.Helper()
	stack := [][]form{nil}
	push := func(f form) { stack[len(stack)-1] = append(stack[len(stack)-1], f) }
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\n':
			i++
		case c == ';':
			for i < len(s) && s[i] != '\n' {
				i++
			}
		case c == '(':
			stack = append(stack, nil)
			i++
		case c == ')':
			if len(stack) == 1 {
				t.Fatalf("a ) too many at byte %d of\n%s", i, s)
			}
			list := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			push(form{list: list})
			i++
		case c == '"' || strings.HasPrefix(s[i:], `#"`):
			i += strings.IndexByte(s[i:], '"') + 1
			end := strings.IndexByte(s[i:], '"')
			if end < 0 || strings.Contains(s[i:i+end], `\"`) {
				t.Fatalf("a text without an end, or with a quote in it, at byte %d of\n%s", i, s)
			}
			push(form{text: s[i : i+end], isText: true})
			i += end + 1
		default:
			end := i
			for end < len(s) && !strings.ContainsRune(" \t\n()\";", rune(s[end])) {
				end++
			}
			push(form{word: s[i:end]})
			i = end
		}
	}
	if len(stack) != 1 {
		t.Fatalf("%d lists are not closed in\n%s", len(stack)-1, s)
	}
	return stack[0]
}

// operations are those of the policy language that a policy of ours may name.
var operations = []string{"default", "process-exec", "process-fork", "process-info*", "signal", "sysctl-read", "sysctl-write",
	"ipc-posix-sem", "ipc-posix-shm-read-data", "ipc-posix-shm-write-create", "ipc-posix-shm-write-unlink", "mach-lookup",
	"user-preference-read", "iokit-open", "pseudo-tty", "file-read*", "file-write*", "file-write-data", "file-write-unlink",
	"file-write-create", "file-ioctl", "file-link", "file-clone", "network-outbound", "network-inbound", "network-bind", "system-socket"}

// wish is something that a process wants to do.
type wish struct {
	op, path string
	kind     string // of the file: CHARACTER-DEVICE
	mark     string // an extension that the kernel gave for the path
	name     string // of a service, a sysctl, a class, a shared memory
	address  string // "ip" or "" for the other end of a connection
	same     bool   // the other process is in the same sandbox
}

// judge is a policy, ready to be asked: the last rule that matches decides.
type judge struct {
	t      testing.TB
	rules  []form
	params map[string]string
}

// judgeOf checks the shape of a policy: every list closed, every word known, every parameter both given and used.
func judgeOf(t testing.TB, s seatbelt) judge {
	t.Helper()
	j := judge{t, parseSeatbelt(t, s.text), map[string]string{}}
	for _, p := range s.params {
		if _, twice := j.params[p.name]; twice || strings.ContainsAny(p.name, "= ") {
			t.Errorf("parameter %q is given twice or cannot be given", p.name)
		}
		j.params[p.name] = p.value
	}
	if len(j.rules) < 2 || fmt.Sprint(j.rules[0]) != fmt.Sprint(form{list: []form{{word: "version"}, {word: "1"}}}) ||
		fmt.Sprint(j.rules[1]) != fmt.Sprint(form{list: []form{{word: "deny"}, {word: "default"}}}) {
		t.Fatalf("the policy does not begin with the version and a refusal of everything:\n%s", s.text)
	}
	used := map[string]bool{}
	var walk func(f form)
	walk = func(f form) {
		if len(f.list) == 2 && f.list[0].word == "param" {
			name := f.list[1].text
			if _, ok := j.params[name]; !ok {
				t.Errorf("parameter %q is not given", name)
			}
			used[name] = true
		}
		for _, sub := range f.list {
			walk(sub)
		}
	}
	for _, rule := range j.rules[1:] {
		if len(rule.list) < 2 || rule.list[0].word != "allow" && rule.list[0].word != "deny" {
			t.Errorf("no rule: %v", rule)
			continue
		}
		ops, _ := split(rule)
		for _, op := range ops {
			if !slices.Contains(operations, op) {
				t.Errorf("unknown operation %q", op)
			}
		}
		walk(rule)
	}
	for name := range j.params {
		if !used[name] {
			t.Errorf("parameter %q is not used", name)
		}
	}
	return j
}

func split(rule form) (ops []string, filters []form) {
	for i, f := range rule.list[1:] {
		if f.word == "" {
			return ops, rule.list[i+1:]
		}
		ops = append(ops, f.word)
	}
	return ops, nil
}

func (j judge) allows(w wish) bool {
	verdict := false
	for _, rule := range j.rules[1:] {
		ops, filters := split(rule)
		if !slices.ContainsFunc(ops, func(op string) bool {
			stem, wide := strings.CutSuffix(op, "*")
			return op == "default" || op == w.op || wide && strings.HasPrefix(w.op, stem)
		}) {
			continue
		}
		if len(filters) == 0 || slices.ContainsFunc(filters, func(f form) bool { return j.matches(f, w) }) {
			verdict = rule.list[0].word == "allow"
		}
	}
	return verdict
}

func (j judge) matches(f form, w wish) bool {
	j.t.Helper()
	args := f.list[1:]
	value := func() string {
		if args[0].isText {
			return args[0].text
		}
		return j.params[args[0].list[1].text]
	}
	is := func(f form) bool { return j.matches(f, w) }
	switch f.list[0].word {
	case "require-all":
		return !slices.ContainsFunc(args, func(f form) bool { return !is(f) })
	case "require-any":
		return slices.ContainsFunc(args, is)
	case "require-not":
		return !is(args[0])
	case "literal":
		return w.path == value()
	case "subpath":
		dir := value()
		return w.path == dir || strings.HasPrefix(w.path, strings.TrimSuffix(dir, "/")+"/")
	case "regex":
		return w.path != "" && bytewise(j.t, value()).MatchString(latin(w.path))
	case "ipc-posix-name-regex":
		return bytewise(j.t, value()).MatchString(latin(w.name))
	case "global-name", "local-name", "sysctl-name", "iokit-registry-entry-class":
		return w.name == value()
	case "sysctl-name-prefix":
		return strings.HasPrefix(w.name, value())
	case "vnode-type":
		return w.kind == args[0].word
	case "extension":
		return w.mark == value()
	case "target":
		return w.same && args[0].word == "same-sandbox"
	case "remote", "local":
		return w.address == args[0].word
	case "socket-domain":
		return w.name == args[0].word
	case "socket-protocol":
		return args[0].word == "2"
	}
	j.t.Errorf("unknown filter %q", f.list[0].word)
	return false
}

// latin makes a letter of each byte: the kernel compares bytes.
func latin(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

func bytewise(t testing.TB, expr string) *regexp.Regexp {
	t.Helper()
	re, err := regexp.Compile(latin(expr))
	if err != nil {
		t.Fatalf("expression %q: %v", expr, err)
	}
	return re
}
