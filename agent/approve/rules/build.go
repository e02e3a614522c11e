package rules

import (
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

// builder takes up what a file says while it runs.
type builder struct {
	path    string
	loading *loading
	spent   int
}

// names are those that a file can use. Of the language's own functions only range, len and fail are left.
func (b *builder) names() starlark.StringDict {
	names := starlark.StringDict{
		"prefix_rule":     starlark.NewBuiltin("prefix_rule", b.prefixRule),
		"host_executable": starlark.NewBuiltin("host_executable", b.hostExecutable),
		"network_rule":    starlark.NewBuiltin("network_rule", b.networkRule),
		"print":           starlark.NewBuiltin("print", drop),
		"fail":            starlark.NewBuiltin("fail", giveUp),
		sized:             starlark.NewBuiltin("size", b.measure),
	}
	for name := range starlark.Universe {
		switch name {
		case "None", "True", "False", "range", "len":
			continue
		}
		if !names.Has(name) {
			names[name] = starlark.NewBuiltin(name, absent)
		}
	}
	return names
}

type (
	thread  = *starlark.Thread
	builtin = *starlark.Builtin
	args    = starlark.Tuple
	pairs   = []starlark.Tuple
)

// drop is print: what a file prints goes nowhere, and is not even put together.
func drop(thread, builtin, args, pairs) (starlark.Value, error) { return starlark.None, nil }

func absent(_ thread, f builtin, _ args, _ pairs) (starlark.Value, error) {
	return nil, &Error{Text: f.Name() + " is not part of the language of rules", Try: "a file of rules calls prefix_rule, host_executable and network_rule"}
}

func giveUp(_ thread, _ builtin, a args, _ pairs) (starlark.Value, error) {
	text := "the file gives up"
	if len(a) > 0 {
		if s, ok := starlark.AsString(a[0]); ok {
			text += ": " + s
		}
	}
	return nil, &Error{Text: text}
}

// measure lets a value pass and takes its size off what the file may make.
func (b *builder) measure(_ thread, _ builtin, a args, _ pairs) (starlark.Value, error) {
	return a[0], b.size(a[0], 0)
}

// size counts the bytes of a value as if every part of it stood there by itself.
func (b *builder) size(v starlark.Value, depth int) error {
	if depth > 32 {
		return &Error{Text: "a list is nested too deep"}
	}
	cost := 16
	switch v := v.(type) {
	case starlark.String:
		cost += len(v)
	case starlark.Int:
		if _, small := v.Int64(); !small {
			return &Error{Text: "a number is too large"}
		}
	}
	if err := b.spend(cost); err != nil {
		return err
	}
	if parts, ok := items(v); ok {
		for part := range parts.Elements() {
			if err := b.size(part, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *builder) spend(cost int) error {
	if b.spent += cost; b.spent > mostSize {
		return &Error{Text: fmt.Sprintf("the file makes more than %d MiB of words", mostSize>>20), Try: "write the rules down one by one"}
	}
	return nil
}

// sequence is a list or a tuple.
type sequence interface {
	Len() int
	Elements() iter.Seq[starlark.Value]
}

func items(v starlark.Value) (sequence, bool) {
	switch v := v.(type) {
	case *starlark.List:
		return v, true
	case starlark.Tuple:
		return v, true
	}
	return nil, false
}

// here is the line of the call that is running.
func (b *builder) here(t thread) Place {
	for depth := 1; depth < t.CallStackDepth(); depth++ {
		if pos := t.CallFrame(depth).Pos; pos.IsValid() && pos.Line > 0 {
			return Place{File: b.path, Line: int(pos.Line)}
		}
	}
	return Place{File: b.path}
}

// arguments takes those of a call by name; the first names are the ones that must be there. first may stand without its
// name. One that is None is not there.
func arguments(f builtin, a args, given pairs, must int, names ...string) (map[string]starlark.Value, error) {
	out := map[string]starlark.Value{}
	if len(a) > 1 {
		return nil, &Error{Text: f.Name() + ": only the first argument may stand without its name", Try: "name them: " + strings.Join(names, "=…, ") + "=…"}
	}
	if len(a) == 1 {
		out[names[0]] = a[0]
	}
	for _, pair := range given {
		name := string(pair[0].(starlark.String))
		if !slices.Contains(names, name) {
			return nil, &Error{Text: f.Name() + " takes no " + name, Try: "it takes " + strings.Join(names, ", ")}
		}
		if _, twice := out[name]; twice {
			return nil, &Error{Text: f.Name() + ": " + name + " is given twice"}
		}
		out[name] = pair[1]
	}
	for name, v := range out {
		if v == starlark.None {
			delete(out, name)
		}
	}
	for _, name := range names[:must] {
		if out[name] == nil {
			return nil, &Error{Text: f.Name() + " lacks " + name + "=…"}
		}
	}
	return out, nil
}

// text is an argument that is a string; "" when it is not there.
func text(f builtin, got map[string]starlark.Value, name string) (string, error) {
	v, there := got[name]
	if !there {
		return "", nil
	}
	s, ok := starlark.AsString(v)
	if !ok {
		return "", &Error{Text: f.Name() + ": " + name + " is " + article(v) + ", want text in quotes"}
	}
	return s, nil
}

func article(v starlark.Value) string {
	switch kind := v.Type(); kind {
	case "int":
		return "a number"
	case "string":
		return "text"
	case "function", "builtin_function_or_method":
		return "a function"
	default:
		return "a " + kind
	}
}

// justification is why a rule says what it says; one that is given has to say something.
func justification(f builtin, got map[string]starlark.Value) (string, error) {
	why, err := text(f, got, "justification")
	if _, given := got["justification"]; err == nil && given && strings.TrimSpace(why) == "" {
		err = &Error{Text: f.Name() + ": justification is empty", Try: "say why, or leave it out"}
	}
	return strings.TrimSpace(why), err
}

func (b *builder) prefixRule(t thread, f builtin, a args, given pairs) (starlark.Value, error) {
	got, err := arguments(f, a, given, 1, "pattern", "decision", "justification", "match", "not_match")
	if err != nil {
		return nil, err
	}
	r := Rule{Place: b.here(t), Decision: Allow}
	if r.Pattern, err = b.pattern(f, got["pattern"]); err != nil {
		return nil, err
	}
	if _, given := got["decision"]; given {
		decision, err := text(f, got, "decision")
		if err != nil {
			return nil, err
		}
		if r.Decision = Decision(decision); r.Decision.strictness() < 0 {
			return nil, &Error{Text: fmt.Sprintf("prefix_rule: decision %s is none of allow, prompt, forbidden", literal(decision))}
		}
	}
	if r.Why, err = justification(f, got); err != nil {
		return nil, err
	}
	index := len(b.loading.set.prefixes)
	for _, name := range []string{"match", "not_match"} {
		if err := b.examples(f, got, name, index, r.Pattern); err != nil {
			return nil, err
		}
	}
	b.loading.set.prefixes = append(b.loading.set.prefixes, r)
	return starlark.None, nil
}

// pattern reads a list of words, or of lists of words that stand for one another.
func (b *builder) pattern(f builtin, v starlark.Value) ([][]string, error) {
	places, ok := items(v)
	if !ok {
		e := &Error{Text: "prefix_rule: pattern is " + article(v) + ", want a list of words"}
		if s, isText := starlark.AsString(v); isText {
			if words, err := split(s); err == nil && len(words) > 0 {
				e.Try = "pattern=" + list(words)
			}
		}
		return nil, e
	}
	if places.Len() == 0 {
		return nil, &Error{Text: "prefix_rule: pattern is empty, it would hold for every command", Try: "name at least the program"}
	}
	if err := b.spend(64 * places.Len()); err != nil {
		return nil, err
	}
	var pattern [][]string
	for place := range places.Elements() {
		if word, ok := starlark.AsString(place); ok {
			if err := b.spend(len(word)); err != nil {
				return nil, err
			}
			pattern = append(pattern, []string{word})
			continue
		}
		words, err := b.words(f, "pattern", place)
		if err != nil {
			return nil, err
		}
		if len(words) == 0 {
			return nil, &Error{Text: "prefix_rule: pattern has a place with no words, it would never match"}
		}
		pattern = append(pattern, words)
	}
	if slices.Contains(pattern[0], "") {
		return nil, &Error{Text: "prefix_rule: pattern begins with an empty word, no program is called that"}
	}
	return pattern, nil
}

// words reads a list of words.
func (b *builder) words(f builtin, name string, v starlark.Value) ([]string, error) {
	parts, ok := items(v)
	if !ok {
		return nil, &Error{Text: f.Name() + ": " + name + " holds " + article(v) + ", want words in quotes, or a list of them"}
	}
	if err := b.spend(32 * parts.Len()); err != nil {
		return nil, err
	}
	var words []string
	for part := range parts.Elements() {
		word, ok := starlark.AsString(part)
		if !ok {
			return nil, &Error{Text: f.Name() + ": " + name + " holds " + article(part) + " in a list, want words in quotes"}
		}
		if err := b.spend(len(word)); err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	return words, nil
}

// examples keeps the commands that a rule is said to match, or not to.
func (b *builder) examples(f builtin, got map[string]starlark.Value, name string, rule int, pattern [][]string) error {
	v, given := got[name]
	if !given {
		return nil
	}
	list, ok := items(v)
	if !ok {
		return &Error{Text: "prefix_rule: " + name + " is " + article(v) + ", want a list of commands", Try: name + "=[\"…\"]"}
	}
	alternatives := 0
	for _, words := range pattern {
		alternatives += len(words)
	}
	for part := range list.Elements() {
		if err := b.spend(64 + 8*alternatives); err != nil { // matching it takes time
			return err
		}
		e := example{rule: rule, want: name == "match"}
		if line, ok := starlark.AsString(part); ok {
			if err := b.spend(len(line)); err != nil {
				return err
			}
			words, err := split(line)
			if err != nil {
				return &Error{Text: fmt.Sprintf("prefix_rule: %s has %s: %v", name, literal(line), err)}
			}
			e.text, e.argv = line, words
		} else {
			words, err := b.words(f, name, part)
			if err != nil {
				return err
			}
			quoted := make([]string, len(words))
			for i, w := range words {
				quoted[i] = shellWord(w)
			}
			e.text, e.argv = strings.Join(quoted, " "), words
		}
		if len(e.argv) == 0 {
			return &Error{Text: "prefix_rule: " + name + " has an example without words"}
		}
		b.loading.pending = append(b.loading.pending, e)
	}
	return nil
}

func (b *builder) hostExecutable(t thread, f builtin, a args, given pairs) (starlark.Value, error) {
	got, err := arguments(f, a, given, 2, "name", "paths")
	if err != nil {
		return nil, err
	}
	e := executable{Place: b.here(t)}
	if e.name, err = text(f, got, "name"); err != nil {
		return nil, err
	}
	if e.name == "" || e.name == "." || e.name == ".." || strings.ContainsAny(e.name, `/\`) {
		return nil, &Error{Text: "host_executable: name " + literal(e.name) + " is not the bare name of a program", Try: `name="git"`}
	}
	paths, err := b.words(f, "paths", got["paths"])
	if err != nil {
		return nil, err
	}
	e.name = programName(e.name)
	for _, path := range paths {
		switch {
		case !filepath.IsAbs(path):
			return nil, &Error{Text: "host_executable: " + literal(path) + " is not an absolute path", Try: "begin it with /"}
		case programName(path) != e.name:
			return nil, &Error{Text: "host_executable: " + literal(path) + " does not end in " + literal(e.name)}
		}
		e.paths = append(e.paths, filepath.Clean(path))
	}
	b.loading.set.hosts = append(b.loading.set.hosts, e)
	return starlark.None, nil
}
