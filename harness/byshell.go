package harness

import (
	"encoding/json"
	"path"
	"reflect"
	"runtime"
	"strconv"
	"strings"
)

// What a look into files is called with, whatever product the names are of.
type (
	lookRead struct {
		Path  string `json:"path"`
		From  int    `json:"offset,omitempty"`
		Lines int    `json:"limit,omitempty"`
		To    int    `json:"end_line,omitempty"`
	}
	lookList struct {
		Path string `json:"path,omitempty"`
	}
	lookGrep struct {
		Pattern string `json:"pattern"`
		Path    string `json:"path,omitempty"`
		Include string `json:"include,omitempty"`
		Fold    bool   `json:"ignoreCase,omitempty"`
	}
	lookGlob struct {
		Pattern string `json:"pattern"`
		Path    string `json:"path,omitempty"`
	}
)

// byShell carries out a look into files where a shell is the only tool there is for it: a model that calls a tool of
// another product to read gets what it wants instead of a lesson. Nothing is written that way.
func (h Harness) byShell(name, role string, args json.RawMessage) (Step, bool) {
	words := looking(name, role, args)
	if words == nil || runtime.GOOS == "windows" {
		return Step{}, false
	}
	for _, t := range h.Tools {
		if t.Hidden || t.form == nil || roleOf(t.Spec.Name, nil) != "shell" {
			continue
		}
		only := t.form().firstRequired()
		if only == nil || only.kind != "string" {
			continue
		}
		script := Script(words)
		step, err := t.Plan(quoted(map[string]string{only.name: script}))
		if err != nil {
			continue
		}
		return step.noted("there is no tool " + name + " here; " + t.Spec.Name + " ran: " + script), true
	}
	return Step{}, false
}

// firstRequired is the first parameter that a call must have; nil when there is none.
func (f *form) firstRequired() *field {
	for _, fd := range f.fields {
		if fd.required && !fd.lenient {
			return fd
		}
	}
	return nil
}

// looking is the command for a look into files; nil when the arguments are of something else.
func looking(name, role string, args json.RawMessage) []string {
	switch role {
	case "read":
		var p lookRead
		if !fits(name, args, &p) {
			return nil
		}
		from, last := max(p.From, 1), "$"
		switch {
		case p.Lines > 0:
			last = strconv.Itoa(from + p.Lines - 1)
		case p.To >= from:
			last = strconv.Itoa(p.To)
		case from == 1:
			return []string{"cat", "--", p.Path}
		}
		return []string{"sed", "-n", strconv.Itoa(from) + "," + last + "p", "--", p.Path}
	case "list":
		var p lookList
		if !fits(name, args, &p) {
			return nil
		}
		if p.Path == "" {
			p.Path = "."
		}
		return []string{"ls", "-AF", "--", p.Path}
	case "grep":
		var p lookGrep
		if !fits(name, args, &p) {
			return nil
		}
		words := []string{"grep", "-rnE", "--exclude-dir=.git", "--exclude-dir=node_modules"}
		if p.Fold {
			words = append(words, "-i")
		}
		if p.Include != "" {
			words = append(words, "--include="+path.Base(p.Include))
		}
		if p.Path == "" {
			p.Path = "."
		}
		return append(words, "-e", p.Pattern, "--", p.Path)
	case "glob":
		var p lookGlob
		if !fits(name, args, &p) {
			return nil
		}
		return finding(p)
	}
	return nil
}

// finding is the command that finds files by their names: what stands before the first wild card is where it begins.
func finding(p lookGlob) []string {
	folder := p.Path
	parts := strings.Split(p.Pattern, "/")
	for len(parts) > 1 && !strings.ContainsAny(parts[0], "*?[{") {
		folder, parts = path.Join(folder, parts[0]), parts[1:]
	}
	if strings.HasPrefix(p.Pattern, "/") {
		folder = "/" + folder
	}
	if folder == "" {
		folder = "."
	}
	last := parts[len(parts)-1]
	if last == "" || last == "**" {
		last = "*"
	}
	if strings.HasPrefix(folder, "-") {
		folder = "./" + folder
	}
	if strings.Contains(last, "{") { // find knows no alternatives
		return nil
	}
	return []string{"find", folder, "-type", "f", "-name", last, "-not", "-path", "*/.git/*"}
}

// fits reads arguments as those of a look, with all the names that parameters go by.
func fits(name string, args json.RawMessage, into any) bool {
	v := reflect.ValueOf(into).Elem()
	_, err := formOf(v.Type()).decode(name, args, v)
	return err == nil
}
