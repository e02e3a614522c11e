// Package action is what an agent can do: run, read, write, edit, patch, list, find, grep, plan. Each action takes
// typed values and returns facts. There is not a word for a model here, and no question to a person.
package action

import (
	"context"
	"time"

	"interpreter/sandbox"
)

// Action is one thing to do, concrete enough to be shown and approved.
type Action interface {
	Title() string // for people, one line: "run go test ./..."
	Need() Need    // for approval
}

// Doer is an Action that knows how.
type Doer[O Outcome] interface {
	Action
	Do(ctx context.Context, w *Workspace) (O, error)
}

// Effect says what kind of thing an action does.
type Effect string

// The effects. Only Reads may run side by side.
const (
	Reads   Effect = "read"
	Writes  Effect = "write"
	Runs    Effect = "run"
	Connect Effect = "network"
	Thinks  Effect = "think" // plans, questions: nothing outside the conversation
)

// Need is what an action asks of the sandbox and of a person.
type Need struct {
	Effect   Effect         `json:"effect"`
	Paths    []string       `json:"paths,omitempty"`    // files, as the model named them
	Script   string         `json:"script,omitempty"`   // a shell line, of Runs
	Argv     []string       `json:"argv,omitempty"`     // what is really executed, of Runs
	Dir      string         `json:"dir,omitempty"`      // working directory, of Runs; "" is the workspace's
	Escalate bool           `json:"escalate,omitempty"` // the model asks to leave the sandbox
	Opens    sandbox.Opened `json:"opens,omitzero"`     // what it asks for beyond the policy, staying inside
	Reason   string         `json:"reason,omitempty"`   // its justification
	Prefix   []string       `json:"prefix,omitempty"`   // a rule it proposes
	TTY      bool           `json:"tty,omitempty"`
	Typed    string         `json:"typed,omitempty"` // of Keys, for people: what is typed, a stroke a line, keys by their names
	Keep     Keep           `json:"-"`               // what the command finds of the one before, of Runs
	Kept     bool           `json:"-"`               // a shell remembers things of earlier commands that may change what words of Script mean
}

// Outcome is one of the seven kinds of facts.
type Outcome interface{ outcome() }

// Ran tells of a command, ended or still running.
type Ran struct {
	Script  string            `json:"script"`
	Argv    []string          `json:"argv"`
	Dir     string            `json:"dir"`
	Exit    sandbox.Exit      `json:"exit"`
	Session int               `json:"session,omitempty"` // non-zero: still running under this number
	Call    string            `json:"call,omitempty"`    // the call that started it, of Ended
	PID     int               `json:"pid,omitempty"`
	Output  string            `json:"output"` // clean UTF-8 text, bounded; "" when it printed nothing
	Omitted int64             `json:"omitted,omitempty"`
	Gap     *Gap              `json:"gap,omitempty"`   // where in Output the middle is missing; nil of a whole one
	Bytes   int64             `json:"bytes,omitempty"` // of the whole output, before it was bounded
	Lines   int               `json:"lines,omitempty"` // line ends in it
	Full    string            `json:"full,omitempty"`  // file that holds everything, when Output does not
	Took    time.Duration     `json:"took"`
	Denied  []string          `json:"denied,omitempty"`  // what the sandbox refused, one line each
	Refused []sandbox.Refusal `json:"refused,omitempty"` // the same, with what would have let it pass
	Notes   []string          `json:"notes,omitempty"`
	Outside bool              `json:"outside,omitempty"` // nothing confined it, though others are confined
	Opened  sandbox.Opened    `json:"opened,omitzero"`   // what it was let do beyond the policy, confined as it was
	Left    string            `json:"left,omitempty"`    // folder a command that keeps its place ended in, when that is another one; absolute
	Screen  string            `json:"screen,omitempty"`  // what a terminal shows, of Keys
	Claims  int               `json:"claims,omitempty"`  // answers in a row that said that the work is done, of Claim
}

// Gap is where an output lost its middle. A mark stands there that says so; lines from the middle that tell what went
// wrong follow it.
type Gap struct {
	At    int   `json:"at"`   // where the mark begins in Output
	Mark  int   `json:"mark"` // bytes of it, its line end included
	Bytes int64 `json:"bytes"`
	First int   `json:"first"` // 1-based, of the lines that are missing
	Last  int   `json:"last"`
	Total int   `json:"total"` // lines of the whole output
}

// Seen tells of a file or a part of one.
type Seen struct {
	Path      string `json:"path"` // as asked for
	Real      string `json:"real"` // absolute
	Text      string `json:"text"`
	First     int    `json:"first"` // 1-based line of Text's first line; 0 of an empty file
	Last      int    `json:"last"`
	Total     int    `json:"total"`               // lines in the file
	Bytes     int    `json:"bytes"`               // size of the file
	Cut       bool   `json:"cut,omitempty"`       // more lines follow Last
	ByLimit   bool   `json:"by_limit,omitempty"`  // … because the caller's limit said so
	Unchanged bool   `json:"unchanged,omitempty"` // read before in this session and the same since
	Image     []byte `json:"-"`
	MIME      string `json:"mime,omitempty"`
	Longer    []int  `json:"longer,omitempty"` // numbers of lines that were cut at Read.Columns

	Guides []Guide `json:"guides,omitempty"` // of Guided: instruction files that hold for this one, most general first
}

// Whole reports whether all of a text file was shown.
func (s Seen) Whole() bool {
	return s.Total > 0 && s.MIME == "" && !s.Unchanged && s.First <= 1 && !s.Cut && len(s.Longer) == 0
}

// Changed tells of files written, in order.
type Changed struct {
	Files []FileChange `json:"files"`
	Spots int          `json:"spots,omitempty"` // places replaced, of an edit
	Level string       `json:"level,omitempty"` // how loosely an edit matched: "E0" is to the letter
	Same  bool         `json:"same,omitempty"`  // nothing was written: the change is already there
	Notes []string     `json:"notes,omitempty"`

	Unread bool `json:"unread,omitempty"` // the file had not been read in this session
	Stale  bool `json:"stale,omitempty"`  // it had changed since it was read
}

// ChangeKind is how a file changed.
type ChangeKind string

// The kinds of change.
const (
	Added    ChangeKind = "add"
	Deleted  ChangeKind = "delete"
	Modified ChangeKind = "update"
	Moved    ChangeKind = "move" // To holds the new path; content may have changed too
)

// FileChange is one file of a Changed.
type FileChange struct {
	Path    string     `json:"path"` // as the model spelled it
	Real    string     `json:"real"`
	Kind    ChangeKind `json:"kind"`
	To      string     `json:"to,omitempty"`
	Diff    string     `json:"diff"` // unified, bounded
	Added   int        `json:"added"`
	Removed int        `json:"removed"`
	First   int        `json:"first,omitempty"` // 1-based line of the first changed line in the new text
	Last    int        `json:"last,omitempty"`
	Before  string     `json:"-"`
	After   string     `json:"-"`
}

// Found tells of entries or lines: what list, find and grep come back with.
type Found struct {
	What    string   `json:"what"` // "entries", "files", "lines", "commands"
	Pattern string   `json:"pattern,omitempty"`
	Where   string   `json:"where"`          // absolute directory or file searched
	Glob    string   `json:"glob,omitempty"` // file filter of a grep
	Hits    []Hit    `json:"hits"`
	More    int      `json:"more,omitempty"`  // hits left out by the limit; -1: an unknown number
	Mode    string   `json:"mode,omitempty"`  // of a grep: "" lines, "files", "count"
	Total   int      `json:"total,omitempty"` // all there is, limit and skip aside: matching lines of a grep, files of its mode "files" and of a find
	Skipped []string `json:"skipped,omitempty"`

	Excluded int `json:"excluded,omitempty"` // files and folders that Exclude left out
}

// Hit is one entry, file or line.
type Hit struct {
	Path    string `json:"path"` // absolute
	Dir     bool   `json:"dir,omitempty"`
	Line    int    `json:"line,omitempty"` // 1-based
	Text    string `json:"text,omitempty"`
	Context bool   `json:"context,omitempty"` // a neighbour of a match, not a match
	Size    int64  `json:"size,omitempty"`
	Count   int    `json:"count,omitempty"` // matching lines in this file, of a grep that counts
	Ended   bool   `json:"ended,omitempty"` // of a command: it does not run any more
	Score   int    `json:"score,omitempty"` // of a file found by its name: how well it fits, 100 is the name itself
}

// Fetched tells of a page.
type Fetched struct {
	URL    string `json:"url"`
	Status int    `json:"status"`
	MIME   string `json:"mime"`
	Text   string `json:"text"`
	Bytes  int    `json:"bytes,omitempty"` // of the page as it came
	Cut    bool   `json:"cut,omitempty"`   // Text is not all of it
	Moved  string `json:"moved,omitempty"` // the page is said to be on another host, at this address; it was not followed
}

// Told tells what a person, another agent or another server said.
type Told struct {
	Text    string            `json:"text"`
	Answers map[string]string `json:"answers,omitempty"`
}

// Planned tells of the plan as it is now.
type Planned struct {
	Why   string     `json:"why,omitempty"`
	Items []PlanItem `json:"items"`
}

// PlanItem is one step of a plan.
type PlanItem struct {
	ID     string `json:"id,omitempty"`
	Text   string `json:"text"`
	Status string `json:"status"` // "pending", "in_progress", "completed", "cancelled"

	Priority string `json:"priority,omitempty"` // "high", "medium", "low", of families that rank their steps
	Task     *Task  `json:"task,omitempty"`     // of a plan kept as a list of tasks
}

// The two ways a proposed plan is Told of.
const (
	Approved = "approved"
	Rejected = "rejected"
)

func (Ran) outcome()     {}
func (Seen) outcome()    {}
func (Changed) outcome() {}
func (Found) outcome()   {}
func (Fetched) outcome() {}
func (Told) outcome()    {}
func (Planned) outcome() {}
