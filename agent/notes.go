package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// notes remembers what was remarked, so that nothing is said twice in a turn. The zero value is ready.
type notes struct {
	said    map[string]bool // kinds of remarks
	unknown int             // calls of tools that do not exist
	broken  int             // long calls that could not be read
	thought uint64          // the beginning of the last thoughts
	same    int             // how often those came in a row
	owed    bool            // the model is to be told of that
}

// once reports whether a kind of remark was not made before.
func (n *notes) once(kind string) bool {
	if n.said[kind] {
		return false
	}
	if n.said == nil {
		n.said = map[string]bool{}
	}
	n.said[kind] = true
	return true
}

// longCall is the size from which a call that cannot be read is better sent in parts.
const longCall = 800

// fault adds to the answer to a call that made no sense, when it is not the first.
func (n *notes) fault(k *task, offered []chat.Spec) string {
	var unknown *harness.UnknownToolError
	if errors.As(k.fault, &unknown) {
		if n.unknown++; n.unknown < 2 || len(unknown.Suggest) == 0 {
			return ""
		}
		for _, s := range offered {
			if s.Name == unknown.Suggest[0] {
				return "\n[" + usage(s) + "]"
			}
		}
	}
	if len(k.call.Raw) >= longCall {
		if n.broken++; n.broken >= 2 {
			return wordsParts
		}
	}
	return ""
}

// usage is a tool in a line: "read_file takes file_path: string, limit?: integer".
func usage(s chat.Spec) string {
	var schema struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(s.Parameters, &schema) != nil {
		return s.Name
	}
	var params []string
	in := json.NewDecoder(strings.NewReader(string(schema.Properties)))
	if open, err := in.Token(); err != nil || open != json.Delim('{') {
		return s.Name
	}
	for in.More() {
		name, err := in.Token()
		var kind struct {
			Type json.RawMessage `json:"type"`
		}
		if err != nil || in.Decode(&kind) != nil {
			break
		}
		param := fmt.Sprint(name)
		if !slices.Contains(schema.Required, param) {
			param += "?"
		}
		params = append(params, strings.TrimSuffix(param+": "+strings.Trim(string(kind.Type), `"`), ": "))
	}
	return s.Name + " takes " + strings.Join(params, ", ")
}

// remark appends to a result what the model should know beside it, and keeps count of what the turn has come to. All of
// it is stored with the result: later requests repeat it to the letter.
func (t *turn) remark(ctx context.Context, k *task, d *event.Did) {
	fresh := k.twin == nil && ctx.Err() == nil
	if fresh && k.fault == nil {
		t.deed(k, d)
		d.Words += t.known(k, d)
	}
	if fresh && !polls(k.step) {
		note := t.repeats.after(k.key, k.need, d.Words, k.outcome)
		d.Words += t.repeated(k, note, true)
	}
	if ran, ok := d.Outcome.(action.Ran); ok && polls(k.step) {
		d.Words += t.repeats.looked(ran)
	}
	if t.notes.owed {
		t.notes.owed = false
		d.Words += wordsThoughts
	}
	if left := t.cfg.MaxCalls - t.calls; left == 5 {
		d.Words += fmt.Sprintf(wordsFewLeft, left)
	}
	if ctx.Err() == nil {
		t.remind(k, d)
		for _, ran := range t.cfg.Workspace.Ended() {
			d.Words += "\n\n" + t.hasEnded(ran)
		}
	}
}

// deed keeps what a step did.
func (t *turn) deed(k *task, d *event.Did) {
	if now := t.cfg.Workspace.Planning(); now != t.looks {
		d.PlanMode = event.PlanEnded
		if now {
			d.PlanMode = event.PlanBegun
		}
	}
	switch o := d.Outcome.(type) {
	case action.Planned:
		t.planned = true
	case action.Changed:
		if !o.Same {
			t.changed, t.ranSince = true, false
		}
	case action.Ran:
		t.ranSince = true
	}
}

// loosely names the files of a change whose place was found although the old text was not the file's to the letter.
func (t *turn) loosely(c action.Changed) string {
	var paths []string
	for _, f := range c.Files {
		paths = append(paths, f.Path)
	}
	return strings.Join(paths, ", ")
}

// known is what is known of a result beyond what it says: causes of failures, files that are better left alone.
func (t *turn) known(k *task, d *event.Did) string {
	switch o := d.Outcome.(type) {
	case action.Ran:
		kind, words := hint(o, keepsPlace(k.step.Action), t.cfg.Workspace)
		if words != "" && t.notes.once(kind+words) {
			return "\n[" + words + "]"
		}
	case action.Changed:
		for _, f := range o.Files {
			if f.Kind != action.Modified {
				continue
			}
			if generated(f.Path) && t.notes.once("generated "+f.Path) {
				return fmt.Sprintf(wordsGenerated, f.Path)
			}
			if tests(f.Path) && !strings.Contains(strings.ToLower(t.asking), "test") && t.notes.once("tests") {
				return fmt.Sprintf(wordsTest, f.Path)
			}
		}
	}
	return ""
}

// generated tells files that a package manager writes.
func generated(name string) bool {
	switch path.Base(strings.ReplaceAll(name, `\`, "/")) {
	case "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "Cargo.lock", "go.sum", "poetry.lock", "uv.lock", "Pipfile.lock",
		"Gemfile.lock", "composer.lock", "flake.lock", "Podfile.lock", "pubspec.lock", "mix.lock":
		return true
	}
	return false
}

// tests tells files that hold tests, by the habits of the languages.
func tests(name string) bool {
	name = strings.ToLower(strings.ReplaceAll(name, `\`, "/"))
	base := path.Base(name)
	stem := strings.TrimSuffix(base, path.Ext(base))
	for _, end := range []string{"_test", ".test", ".spec", "_spec"} {
		if strings.HasSuffix(stem, end) {
			return true
		}
	}
	return strings.HasPrefix(base, "test_") && path.Ext(base) == ".py" || slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return dir == "tests" || dir == "__tests__"
	})
}

// repeated words what is said of a repeated call, as the harness likes it. plain may begin with a line end: it is a note
// behind a result then.
func (t *turn) repeated(k *task, plain string, ran bool) string {
	reword := t.cfg.Harness.Repeat
	if reword == nil || plain == "" || t.repeats.row < 2 {
		return plain
	}
	note := strings.TrimLeft(plain, "\n")
	words := reword(harness.Repeated{Tool: k.step.Tool, Args: argsOf(k.call), Row: t.repeats.row, Ran: ran}, note)
	if words == "" {
		return plain
	}
	return plain[:len(plain)-len(note)] + words
}

// remind appends what the harness reminds of. The model's own commands change files too: those it is not told of.
func (t *turn) remind(k *task, d *event.Did) {
	touched := t.cfg.Workspace.Touched()
	if _, ran := d.Outcome.(action.Ran); ran {
		touched = nil
	}
	p := harness.Progress{Tool: k.step.Tool, Idle: t.idle + 1, Answers: t.rounds, Again: t.recalled, Plan: t.plan, Touched: touched}
	if planned, ok := d.Outcome.(action.Planned); ok {
		p.Idle, p.Answers, p.Again, p.Plan = 0, 0, false, planned.Items
	}
	text := ""
	switch h := t.cfg.Harness; {
	case h.Remind != nil:
		text = h.Remind(p)
		if p.Touched = nil; text != "" {
			d.Reminded = len(touched) == 0 || h.Remind(p) != ""
		}
	case len(touched) > 0:
		text = fmt.Sprintf(wordsTouched, strings.Join(touched, ", "))
	}
	if text != "" {
		d.Words += "\n\n" + text
	}
}

// tellEnded tells the model of commands in the background that ended, where no result can.
func (t *turn) tellEnded() error {
	var all []string
	for _, ran := range t.cfg.Workspace.Ended() {
		all = append(all, t.hasEnded(ran))
	}
	if len(all) == 0 {
		return nil
	}
	return t.inject("command ended", strings.Join(all, "\n\n"))
}

func (t *turn) hasEnded(ran action.Ran) string {
	refused := ""
	if len(ran.Denied) > 0 {
		refused = wordsRefusedBy(strings.Join(ran.Denied, "; "))
	}
	if word := t.cfg.Harness.Ended; word != nil {
		return word(ran) + refused
	}
	how := fmt.Sprintf("exit code %d", ran.Exit.Code)
	if ran.Exit.Signal != "" {
		how = "killed by " + ran.Exit.Signal
	}
	text := fmt.Sprintf(wordsEnded, ran.Session, brief(errors.New(ran.Script)), how)
	if ran.Full != "" {
		text += " Its output is in " + ran.Full + "."
	}
	return text + refused
}

// thinking notices thoughts that begin the same again and again.
func (t *turn) thinking(thoughts string) {
	const begin, often = 200, 3
	thoughts = strings.TrimSpace(thoughts)
	if thoughts == "" {
		return
	}
	now := hashOf(strings.ToValidUTF8(thoughts[:min(begin, len(thoughts))], ""))
	if now != t.notes.thought {
		t.notes.thought, t.notes.same = now, 0
	}
	if t.notes.same++; t.notes.same == often {
		t.notes.same, t.notes.owed = 0, true
	}
}

// bounded cuts a result that would take too much of the window. Tools bound their own; this is the last guard. A result
// is cut once, here, and never again.
func (t *turn) bounded(words string, o action.Outcome) string {
	room := t.resultRoom()
	if room == 0 || len(words) <= room {
		return words
	}
	var rest string
	switch o := o.(type) {
	case action.Ran:
		if o.Full != "" {
			rest = "; all of it is in " + o.Full
		}
	case action.Seen:
		rest = "; read it in parts"
	case action.Found:
		rest = "; narrow the search"
	}
	head, tail := room/4, room*3/5
	switch o.(type) {
	case action.Seen, action.Found, action.Fetched:
		head, tail = room*4/5, 0 // it goes on from where it was cut
	}
	first := lineEnd(words[:head])
	last := lineStart(words[len(words)-tail:])
	return first + fmt.Sprintf("\n[%d of %d bytes left out here%s]\n", len(words)-len(first)-len(last), len(words), rest) + last
}

// lineEnd drops the broken line at the end, and lineStart the one at the start, unless there is little else.
func lineEnd(text string) string {
	if i := strings.LastIndexByte(text, '\n'); i > len(text)/2 {
		return text[:i]
	}
	return strings.ToValidUTF8(text, "")
}

func lineStart(text string) string {
	if i := strings.IndexByte(text, '\n'); i >= 0 && i < len(text)/2 {
		return text[i+1:]
	}
	return strings.ToValidUTF8(text, "")
}
