package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"interpreter/local/chat"
)

// UnknownToolError is a call of a tool that does not exist here.
type UnknownToolError struct {
	Name    string
	Known   []string // every tool offered whatever the environment, in order
	Suggest []string // up to three that may have been meant
}

func (e *UnknownToolError) Error() string { return "unknown tool " + e.Name }

// Offered names the tools that the model really has, and keeps suggestions to them. None changes nothing: a model that
// writes its calls as text was offered none.
func (e *UnknownToolError) Offered(tools []chat.Spec) {
	if len(tools) == 0 {
		return
	}
	e.Known = nil
	for _, s := range tools {
		e.Known = append(e.Known, s.Name)
	}
	e.Suggest = slices.DeleteFunc(e.Suggest, func(name string) bool { return !slices.Contains(e.Known, name) })
}

// Step makes a call concrete. The name may be spelled another way, or be another product's name for the same kind
// of tool when the arguments fit ours. The error is an *UnknownToolError, an *ArgumentsError, or a refusal of the
// row itself; Say words all of them.
func (h Harness) Step(call chat.Call) (Step, error) {
	name := CleanName(call.Name)
	if t, ok := h.row(name); ok {
		step, err := t.Plan(arguments(t, call))
		var bad *ArgumentsError
		if errors.As(err, &bad) && call.Raw != "" {
			return Step{}, &ArgumentsError{Tool: bad.Tool, Expected: bad.Expected, Raw: call.Raw, Problems: []Problem{{"", notJSON(call.Raw)}}}
		}
		if err != nil {
			return step, err
		}
		if call.Name != t.Spec.Name {
			step.Spelled = append([]string{call.Name + " for " + t.Spec.Name}, step.Spelled...)
		}
		if name != t.Spec.Name {
			step = step.noted(fmt.Sprintf("this tool is named %s", t.Spec.Name))
		}
		return step, nil
	}
	return h.stepFor(name, call)
}

// stepFor makes a step of a call that no row has the name of. A tool for the same is taken when the arguments fit it; what
// is wrong with them is told of the first that may be called.
func (h Harness) stepFor(name string, call chat.Call) (Step, error) {
	var first error
	if role := roleOf(name, call.Args); role != "" {
		for _, t := range h.Tools {
			if roleOf(t.Spec.Name, nil) != role || t.form == nil {
				continue
			}
			step, err := t.Plan(arguments(t, call))
			if err == nil {
				step.Spelled = append([]string{name + " for " + t.Spec.Name}, step.Spelled...)
				return step.noted(fmt.Sprintf("there is no tool %s here; %s did it", name, t.Spec.Name)), nil
			}
			var bad *ArgumentsError
			if first != nil || t.When != nil || t.Hidden && !h.Text || !errors.As(err, &bad) {
				continue
			}
			told := *bad
			told.Called = name
			if call.Raw != "" {
				told.Received, told.Raw, told.Problems = nil, call.Raw, []Problem{{"", notJSON(call.Raw)}}
			}
			first = &told
		}
		if call.Raw == "" && !slices.ContainsFunc(h.Tools, func(t Tool) bool { return roleOf(t.Spec.Name, nil) == role }) {
			if step, ok := h.byShell(name, role, call.Args); ok {
				step.Spelled = append([]string{name + " for the shell"}, step.Spelled...)
				return step, nil
			}
		}
	}
	if first != nil {
		return Step{}, first
	}
	return Step{}, h.unknown(name, call.Args)
}

// row finds a tool by name: to the letter, then without case and separators when that leaves one.
func (h Harness) row(name string) (Tool, bool) {
	for _, t := range h.Tools {
		if t.Spec.Name == name {
			return t, true
		}
	}
	want := folded(name)
	var found []Tool
	for _, t := range h.Tools {
		if folded(t.Spec.Name) == want {
			found = append(found, t)
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	return Tool{}, false
}

// canonical is the row that answers to a name; the name itself when none does.
func (h Harness) canonical(name string) string {
	name = CleanName(name)
	if t, ok := h.row(name); ok {
		return t.Spec.Name
	}
	if role := roleOf(name, nil); role != "" {
		for _, t := range h.Tools {
			if roleOf(t.Spec.Name, nil) == role {
				return t.Spec.Name
			}
		}
	}
	return name
}

// arguments are the call's own, or the raw text of a call that wrote a document where JSON was expected.
func arguments(t Tool, call chat.Call) json.RawMessage {
	if call.Raw == "" {
		return call.Args
	}
	if t.form != nil {
		for _, fd := range t.form().fields {
			if fd.raw != "" && strings.Contains(call.Raw, fd.raw) {
				return quoted(map[string]string{fd.name: call.Raw})
			}
		}
	}
	return json.RawMessage("[]") // no tool takes a list: this fails as arguments that are no object
}

func notJSON(raw string) string {
	var v any
	err := json.Unmarshal([]byte(raw), &v)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return "not a JSON object"
	}
	at := min(int(syntax.Offset), len(raw))
	near := raw[max(0, at-40):min(len(raw), at+40)]
	cause := "an unescaped quote or line break is the usual cause"
	if strings.Contains(syntax.Error(), "unexpected end") {
		cause = "the text was cut off"
	}
	return fmt.Sprintf("not JSON (%v, at byte %d of %d, near %q); %s", syntax, at, len(raw), strings.ToValidUTF8(near, "?"), cause)
}

// CleanName takes away what leaks into the names of tools: markers, prefixes of other surfaces, call numbers.
func CleanName(name string) string {
	name = strings.TrimSpace(name)
	if at := strings.IndexAny(name, "<({ \t\n"); at > 0 {
		name = name[:at]
	}
	for _, prefix := range []string{"functions.", "function.", "tools.", "tool.", "default_api.", "default_api:"} {
		name = strings.TrimPrefix(name, prefix)
	}
	if at := strings.LastIndexByte(name, ':'); at > 0 && strings.Trim(name[at+1:], "0123456789") == "" {
		name = name[:at]
	}
	return name
}

func (h Harness) unknown(name string, args json.RawMessage) error {
	e := &UnknownToolError{Name: name}
	type ranked struct {
		name string
		far  int
	}
	var near []ranked
	role, want := roleOf(name, args), folded(name)
	for _, t := range h.Tools {
		if t.Hidden {
			continue
		}
		if t.When == nil {
			e.Known = append(e.Known, t.Spec.Name)
		}
		have := folded(t.Spec.Name)
		switch far := distance(want, have); {
		case role != "" && roleOf(t.Spec.Name, nil) == role:
			near = append(near, ranked{t.Spec.Name, 0})
		case role != "" && roleOf(t.Spec.Name, nil) != "": // alike in letters, but it is for something else
		case strings.HasPrefix(have, want) || strings.HasPrefix(want, have):
			near = append(near, ranked{t.Spec.Name, 1})
		case far <= 3 && far < len(want):
			near = append(near, ranked{t.Spec.Name, far})
		case strings.Contains(have, want) || strings.Contains(want, have):
			near = append(near, ranked{t.Spec.Name, 3})
		}
	}
	if role == "list" && len(near) == 0 { // a glob lists as well
		for _, t := range h.Tools {
			if !t.Hidden && roleOf(t.Spec.Name, nil) == "glob" {
				near = append(near, ranked{t.Spec.Name, 8})
			}
		}
	}
	if len(near) == 0 && (role == "read" || role == "list" || role == "grep" || role == "glob" || role == "write") {
		for _, t := range h.Tools { // a shell can do these when nothing else does
			if !t.Hidden && roleOf(t.Spec.Name, nil) == "shell" {
				near = append(near, ranked{t.Spec.Name, 9})
			}
		}
	}
	sort.SliceStable(near, func(i, j int) bool { return near[i].far < near[j].far })
	for _, n := range near[:min(3, len(near))] {
		e.Suggest = append(e.Suggest, n.name)
	}
	return e
}

// distance is how many letters must be changed, added or dropped between two names.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
