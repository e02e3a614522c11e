package exec

import (
	"cmp"
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"interpreter/agent/event"
	"interpreter/cmd/config"
	"interpreter/sandbox/action"
)

// The states of an item.
const (
	inProgress = "in_progress"
	completed  = "completed"
	failed     = "failed"
	declined   = "declined"
)

// Translator turns events into the lines of --json, one event at a time. It reads nothing but events.
type Translator struct {
	next  int
	dir   string
	open  map[string]*openItem     // by call id
	quiet map[string]event.Started // by call id: begun without an item
	plan  *todoItem
	held  string // an answer without a call: the last of its turn, unless something follows
	told  string // the message before
	ended bool
}

// openItem was started and not completed.
type openItem struct {
	number  int
	command *commandItem
	files   *fileItem
}

func (t *Translator) id() (string, int) {
	n := t.next
	t.next++
	return "item_" + strconv.Itoa(n), n
}

func (t *Translator) head(kind string) head {
	id, _ := t.id()
	return head{ID: id, Type: kind}
}

func started(item any) any { return itemLine{"item.started", item} }
func updated(item any) any { return itemLine{"item.updated", item} }
func done(item any) any    { return itemLine{"item.completed", item} }

// Lines is what an event looks like from outside; most of them look like nothing.
func (t *Translator) Lines(e event.Event) []any {
	if b, ended := e.Body.(event.TurnEnded); ended {
		return t.turnEnded(b)
	}
	return append(t.message(t.held), t.lines(e)...)
}

// message is what the model said, told once.
func (t *Translator) message(text string) []any {
	t.held = ""
	if strings.TrimSpace(text) == "" {
		return nil
	}
	t.told = strings.TrimSpace(text)
	return []any{done(textItem{t.head("agent_message"), text})}
}

func (t *Translator) lines(e event.Event) []any {
	switch b := e.Body.(type) {
	case event.Begun:
		t.dir = b.Dir
		return []any{threadStarted{"thread.started", b.ID}}
	case event.TurnStarted:
		t.dir, t.told, t.ended = b.Dir, "", false
		return []any{turnStarted{"turn.started"}}
	case event.Said:
		return t.said(b)
	case event.Waited:
		return []any{errorLine{"error", "asking the model again" + attempts(b) + ": " + b.Why}}
	case event.Started:
		return t.started(b)
	case event.Printed:
		if o := t.open[b.CallID]; o != nil && o.command != nil {
			o.command.Output = bounded(o.command.Output + b.Text)
		}
	case event.Did:
		return t.did(b)
	case event.Warned:
		return t.notice(detailed(b.Text, b.Remedy))
	case event.Recovered:
		return t.notice(strings.TrimSuffix("mended: "+b.What+": "+b.Detail, ": "))
	case event.Opened, event.Prompted, event.Injected, event.Heard, event.Tried, event.Asked, event.Answered, event.Compacted,
		event.Foreign, event.TurnEnded:
		// The stream has no line for what goes into the model, for pieces of a message that comes whole, for
		// questions that exec answers itself, or for the upkeep of the conversation.
	}
	return nil
}

// notice is news that stops nothing.
func (t *Translator) notice(text string) []any { return []any{done(errorItem{t.head("error"), text})} }

// attempts counts tries the way people do: the first repetition is the second try.
func attempts(w event.Waited) string {
	if w.Attempt == 0 {
		return ""
	}
	text := ", " + strconv.Itoa(w.Attempt)
	if w.Limit > 0 {
		text += "/" + strconv.Itoa(w.Limit)
	}
	if w.For > 0 {
		text += " in " + span(w.For)
	}
	return text
}

func detailed(text, details string) string {
	if details == "" {
		return text
	}
	return text + " (" + details + ")"
}

func (t *Translator) said(b event.Said) []any {
	var lines []any
	if strings.TrimSpace(b.Message.Thinking) != "" {
		lines = append(lines, done(textItem{t.head("reasoning"), b.Message.Thinking}))
	}
	if len(b.Message.Calls) == 0 {
		t.held = b.Message.Text
		return lines
	}
	return append(lines, t.message(b.Message.Text)...)
}

func (t *Translator) started(b event.Started) []any {
	o := &openItem{}
	switch {
	case announced(b.Need):
		o.command = t.commandOf(b.Need, b.Title)
	case b.Need.Effect == action.Writes:
		o.files = &fileItem{Changes: t.named(b.Need.Paths), Status: inProgress}
	default:
		if t.quiet == nil {
			t.quiet = map[string]event.Started{}
		}
		t.quiet[b.CallID] = b
		return nil // reading, planning and asking have no item that begins
	}
	return []any{started(t.opened(b.CallID, o))}
}

// opened numbers an item and keeps it until it ends.
func (t *Translator) opened(call string, o *openItem) any {
	if t.open == nil {
		t.open = map[string]*openItem{}
	}
	t.open[call] = o
	id, n := t.id()
	o.number = n
	if o.command != nil {
		o.command.head = head{id, "command_execution"}
	} else {
		o.files.head = head{id, "file_change"}
	}
	return o.item()
}

func (o *openItem) item() any {
	if o.command != nil {
		return *o.command
	}
	return *o.files
}

func (t *Translator) commandOf(n action.Need, title string) *commandItem {
	command := cmp.Or(n.Typed, quoteAll(n.Argv), n.Script, title)
	return &commandItem{Command: config.Redact(command), Status: inProgress, typed: n.TTY && len(n.Argv) == 0}
}

// named lists files by the names the model used, before anything is known of what happens to them.
func (t *Translator) named(paths []string) []fileEntry {
	entries := make([]fileEntry, 0, len(paths))
	for _, path := range paths {
		entries = append(entries, fileEntry{Path: t.absolute(path), Kind: "update"})
	}
	return entries
}

func (t *Translator) absolute(path string) string {
	if path == "" || filepath.IsAbs(path) || t.dir == "" {
		return path
	}
	return filepath.Join(t.dir, path)
}

func (t *Translator) did(b event.Did) []any {
	o, begun := t.open[b.CallID], t.quiet[b.CallID]
	delete(t.open, b.CallID)
	delete(t.quiet, b.CallID)
	switch out := b.Outcome.(type) {
	case action.Planned:
		return t.planned(out)
	case action.Fetched:
		page := searchItem{t.head("web_search"), out.URL, pageAction{"open_page", out.URL}}
		return []any{started(page), done(page)}
	case action.Ran:
		var lines []any
		if o == nil || o.command == nil {
			need := action.Need{Argv: out.Argv, Script: out.Script}
			if inTerminal(begun.Need, out) {
				need = action.Need{TTY: true}
			}
			o = &openItem{command: t.commandOf(need, cmp.Or(begun.Title, b.Tool))}
			lines = append(lines, started(t.opened(b.CallID, o)))
			delete(t.open, b.CallID)
		}
		return append(append(lines, done(ran(o.command, out, b.Status))), t.refusals(out, b)...)
	case action.Changed:
		var lines []any
		if o == nil || o.files == nil {
			o = &openItem{files: &fileItem{Changes: t.changes(out), Status: inProgress}}
			lines = append(lines, started(t.opened(b.CallID, o)))
			delete(t.open, b.CallID)
		}
		o.files.Changes, o.files.Status = t.changes(out), ending(b.Status, failed)
		return append(lines, done(*o.files))
	}
	switch {
	case o == nil && (b.Status == event.Completed || b.Status == event.Aborted):
		return nil // an action without an item
	case o == nil:
		return t.notice(uncalled(b))
	case o.command != nil:
		o.command.Status = ending(b.Status, declined)
		if o.command.Output == "" {
			o.command.Output = b.Error
		}
		return []any{done(*o.command)}
	}
	o.files.Status = ending(b.Status, failed)
	lines := []any{done(*o.files)}
	if b.Status == event.Declined && b.Error != "" { // such an item has no room for a reason
		lines = append(lines, t.notice(uncalled(b))...)
	}
	return lines
}

// refusals tell what the sandbox refused a command, and what it left behind: neither is a part of its output.
func (t *Translator) refusals(out action.Ran, b event.Did) []any {
	var lines []any
	if len(out.Denied) > 0 {
		remedy := ""
		if b.Remedy != "" {
			remedy = toAllow(b.Remedy)
		}
		lines = t.notice(detailed("the sandbox refused: "+strings.Join(out.Denied, "; "), remedy))
	}
	for _, notice := range out.Exit.Notices {
		lines = append(lines, t.notice(notice)...)
	}
	return lines
}

// uncalled tells of a call without an item that came to nothing.
func uncalled(b event.Did) string {
	how := "failed"
	if b.Status == event.Declined {
		how = "was not run"
	}
	text := "call of " + b.Tool + " " + how
	if b.Error == "" || b.Error == "not run" {
		return text
	}
	text += ": " + b.Error
	if b.Remedy != "" {
		return detailed(text, toAllow(b.Remedy))
	}
	return text
}

// ending maps how an action ended; refused is the word for one that was not allowed.
func ending(s event.Status, refused string) string {
	switch s {
	case event.Completed:
		return completed
	case event.Declined:
		return refused
	}
	return failed
}

func ran(item *commandItem, out action.Ran, s event.Status) commandItem {
	if len(out.Argv) > 0 && !item.typed { // the shell behind the keys is no news
		item.Command = config.Redact(quoteAll(out.Argv))
	}
	item.Output, item.Status = printed(out), ending(s, declined)
	if out.Session == 0 {
		code := out.Exit.Code
		item.Exit = &code
		if code != 0 && item.Status == completed {
			item.Status = failed
		}
	}
	return *item
}

func (t *Translator) changes(out action.Changed) []fileEntry {
	entries := make([]fileEntry, 0, len(out.Files))
	for _, f := range out.Files {
		path := f.Real
		if path == "" {
			path = t.absolute(f.Path)
		}
		entry := fileEntry{Path: path, Kind: string(f.Kind)}
		if f.Kind == action.Moved {
			entry.Kind, entry.Move = "update", t.absolute(f.To)
		}
		entries = append(entries, entry)
	}
	return entries
}

func (t *Translator) planned(out action.Planned) []any {
	items := make([]todo, 0, len(out.Items))
	for _, i := range out.Items {
		items = append(items, todo{i.Text, i.Status == completed})
	}
	if t.plan == nil {
		t.plan = &todoItem{t.head("todo_list"), items}
		return []any{started(*t.plan)}
	}
	t.plan.Items = items
	return []any{updated(*t.plan)}
}

func (t *Translator) turnEnded(b event.TurnEnded) []any {
	t.ended = true
	if final := strings.TrimSpace(b.Final); b.Reason == event.Finished && final != "" && (strings.TrimSpace(t.held) != "" || final != t.told) {
		t.held = b.Final // a format that was asked for is kept to the letter there, and a step may have had the last word
	}
	lines := t.message(t.held)
	message := detailed(b.Error, b.Remedy)
	switch {
	case b.Reason == event.Interrupted:
		message = "interrupted"
	case b.Reason == event.Finished:
	default:
		if message == "" {
			message = "the turn ended: " + string(b.Reason)
		}
		lines = append(lines, errorLine{"error", message})
	}
	lines = append(lines, t.leftovers()...)
	if b.Reason == event.Finished {
		return append(lines, turnCompleted{"turn.completed", usage{
			b.Usage.Input, b.Usage.CachedInput, b.Usage.CacheWrite, b.Usage.Output, b.Usage.Reasoning}, b.Recovered})
	}
	return append(lines, turnFailed{"turn.failed", problem{message}, b.Recovered})
}

// leftovers closes what is open: the plan, then the rest in the order they began.
func (t *Translator) leftovers() []any {
	var lines []any
	if t.plan != nil {
		lines = append(lines, done(*t.plan))
		t.plan = nil
	}
	var rest []*openItem
	for _, o := range t.open {
		rest = append(rest, o)
	}
	t.open = nil
	sort.Slice(rest, func(i, j int) bool { return rest[i].number < rest[j].number })
	for _, o := range rest {
		lines = append(lines, done(o.item()))
	}
	return lines
}

// Broken ends a stream whose turn could not even be recorded.
func (t *Translator) Broken(err error) []any {
	if t.ended {
		return nil
	}
	return t.turnEnded(event.TurnEnded{Reason: event.Broke, Error: err.Error()})
}

// bounded keeps the end of a growing text, from a whole line on.
func bounded(text string) string {
	const most = 256 << 10
	if len(text) <= 2*most {
		return text
	}
	text = text[len(text)-most:]
	if at := strings.IndexByte(text, '\n'); at >= 0 {
		text = text[at+1:]
	}
	return text
}

// quoteAll writes words so that a shell would read them back.
func quoteAll(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = quoteWord(word)
	}
	return strings.Join(words, " ")
}

func quoteWord(word string) string {
	plain := strings.IndexFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+=:,./-", r))
	}) < 0
	if plain && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'"
}

// span writes a duration for people.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d m %02d s", int(d.Minutes()), int(d.Seconds())%60)
}
