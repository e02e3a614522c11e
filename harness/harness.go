// Package harness is how a family of models likes to be spoken to: instructions, tools, wording, stop rule, as a
// value. It presents and never executes: what a tool does is an action, and what an action may do is not its business.
package harness

import (
	"context"
	"encoding/json"
	"io/fs"
	"slices"
	"time"

	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// A Harness is everything a model family expects around it, as data. A nil hook means the plain way.
type Harness struct {
	Name      string     // as a person types it: "qwen-code"
	About     string     // for whom, one line
	Suits     Suits      // what chooses it
	Prose     fs.FS      // system.md, compact.md, about.md, <tool>.md for each row; guidance.md goes before and facts.md after the instructions
	Tools     []Tool     // in the order the model sees them
	Parallel  bool       // the model may be asked for several calls at once
	Git       bool       // tells the state of the repository at the start, so that git is asked for it
	Messages  bool       // made for the Messages wire as well
	Text      bool       // calls and results travel as text: the request has no tools, and a result is a message of the user
	Join      bool       // the message Open ends with and the first prompt are one message
	Escalates Escalation // how a model asks for a command to run outside the sandbox
	Tries     int        // how often in a row an answer that cannot be read is sent back; 0 is 2

	Open  func(Environment) []chat.Message                    // messages before the first prompt, after the system message
	Wrap  func(env Environment, t Turn, prompt string) string // what the model is given for a prompt; nil: the prompt itself
	Shape func(Environment, *chat.Request)                    // last touch before the wire; must keep the prefix law
	// Decode finds calls written as prose in an answer that ended by itself. Its error is a call that must not run as
	// it stands; Say words it for the model. nil: Rescue.
	Decode func(Answer) (Reading, error)
	Nudge  func(Pause) string                    // answer to a reply without a call that is not the end; "" ends the turn
	Remind func(Progress) string                 // appended to a result; "" appends nothing
	Repeat func(r Repeated, plain string) string // wording of what is said about a repeated call; "" keeps the plain one
	Ended  func(action.Ran) string               // tells that a command in the background has ended; nil: the plain way
	Digest func(summary string) string           // what to keep of the answer to compact.md; nil: all of it
	Retain func(path string) (Step, error)       // reads a file anew that was shown whole, for a message behind a summary; nil: none is shown again
	Fault  func(tool string, err error) string   // wording of a call that failed; nil: Plain
}

// Suits is what chooses a harness when nobody names one. Each is a plain substring of the lower-cased text but Models,
// which are globs over the name, and Wire.
type Suits struct {
	Models        []string // "*qwen*"
	Vendors       []string // of the provider's id or display name
	Addresses     []string // of the base URL
	Architectures []string // beginnings of general.architecture
	Templates     []string // marks in the chat template that only this family's has
	Wire          string   // a wire that this harness is made for
}

// Tool is a row: a name they know, an action we know.
type Tool struct {
	Spec   chat.Spec // Description and Parameters are completed from Prose by Open
	Plan   func(args json.RawMessage) (Step, error)
	Hidden bool                   // understood, never advertised
	When   func(Environment) bool // advertised only if; nil: always

	form func() *form // parameters, worked out when first needed; nil of a hand-made row
}

// Hide returns the row as one that is understood but never advertised.
func (t Tool) Hide() Tool {
	t.Hidden = true
	return t
}

// If returns the row as one that is advertised only when the environment allows it.
func (t Tool) If(when func(Environment) bool) Tool {
	t.When = when
	return t
}

// Asked returns the row as one that is advertised only when a person switched it on by name.
func (t Tool) Asked() Tool {
	name := t.Spec.Name
	return t.If(func(e Environment) bool { return slices.Contains(e.Requested, name) })
}

// Conditions of rows, for If.
func Interactive(e Environment) bool { return e.Interactive }
func Background(e Environment) bool  { return e.Background }
func Vision(e Environment) bool      { return e.Vision }
func Fetch(e Environment) bool       { return e.Fetch }
func Large(e Environment) bool       { return e.Large }
func NotLarge(e Environment) bool    { return !e.Large }

// Step is a call made concrete.
type Step struct {
	action.Action
	Run  func(context.Context, *action.Workspace) (action.Outcome, string, error) // facts, then words
	Say  func(action.Outcome) (string, bool)                                      // words alone; false: not this step's kind of facts
	Ends func(action.Outcome) (final string, ended bool)                          // whether the facts end the turn, and with what last word; nil: they never do
	Tool string                                                                   // the row's name; the model may have written another
	Note []string                                                                 // tolerances used, one sentence each; Run and Say have added them

	Spelled []string                                   // what the model wrote another way than the row says, for people: "path for file_path"
	Parting func(o action.Outcome, said string) string // of Ends: the last word, given what the model said beside the call; nil: what Ends gives, or that
}

// Environment is what a harness may tell a model about where it is. It is gathered once a session and frozen.
type Environment struct {
	Dir         string // working directory
	OS          string // "linux", "darwin", "windows"
	OSVersion   string
	Shell       string // base name
	Date        time.Time
	Zone        string // IANA name
	Git         bool   // Dir is in a work tree
	Branch      string
	Status      GitStatus // as it was at the start
	Listing     []Entry   // of Dir, bounded, breadth first
	Docs        []Doc     // AGENTS.md and its like, most general first
	Sandbox     string    // mode
	Network     bool
	Roots       []string // writable, absolute
	Approval    string   // policy
	Model       string
	Window      int      // tokens; 0 when unknown
	Interactive bool     // a person can answer during the turn
	Background  bool     // commands may outlive the turn and be looked at later
	Fetch       bool     // pages may be fetched
	Vision      bool     // the model takes images
	Large       bool     // the model has more than 40 billion parameters, or is hosted
	Requested   []string // tools that a person switched on by name
	Guidance    bool     // prefix the harness's guidance.md
	Extra       string   // the person's own instructions, after ours
	Base        string   // the person's replacement of the instructions; "" uses ours
}

// GitStatus is what several families are shown of a repository. The zero value is of a folder without one.
type GitStatus struct {
	Main    string   // branch that pull requests go to; "" when unknown
	User    string   // user.name
	Changes []string // lines of git status --short, at most 50
	More    int      // lines left out
	Commits []string // the last five, "1a2b3c4 subject"
}

// Entry is a file or folder of a listing.
type Entry struct {
	Path    string // relative to Dir, slash-separated
	Dir     bool
	Skipped bool // a folder whose content is left out
}

// Doc is a project instruction file.
type Doc struct {
	Path string // absolute
	Text string
}
