// Package harness is how a family of models likes to be spoken to: instructions, tools, wording, stop rule, as a
// value. It presents and never executes: what a tool does is an action, and what an action may do is not its business.
package harness

import (
	"context"
	"encoding/json"
	"io/fs"
	"time"

	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// A Harness is everything a model family expects around it, as data. A nil hook means the plain way.
type Harness struct {
	Name     string   // as a person types it: "qwen-code"
	About    string   // for whom, one line
	Models   []string // name patterns that choose it; catalog.For also weighs provider and architecture
	Prose    fs.FS    // system.md, compact.md, <tool>.md for each row; guidance.md goes before and facts.md after the instructions
	Tools    []Tool   // in the order the model sees them
	Parallel bool     // the model may be asked for several calls at once

	Open  func(Environment) []chat.Message // messages before the first prompt, after the system message
	Shape func(Environment, *chat.Request) // last touch before the wire; must keep the prefix law
	// Decode finds calls written as prose in an answer that ended by itself. Its error is a call that must not run as
	// it stands; Say words it for the model.
	Decode func(chat.Message) (chat.Message, error)
	Nudge  func(chat.Message) string           // answer to a reply without a call; "" ends the turn
	Digest func(summary string) string         // what to keep of the answer to compact.md; nil: all of it
	Fault  func(tool string, err error) string // wording of a call that failed; nil: Plain
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

// Step is a call made concrete.
type Step struct {
	action.Action
	Run  func(context.Context, *action.Workspace) (action.Outcome, string, error) // facts, then words
	Say  func(action.Outcome) (string, bool)                                      // words alone; false: not this step's kind of facts
	Tool string                                                                   // the row's name; the model may have written another
	Note []string                                                                 // tolerances used, one sentence each; Run and Say have added them
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
	Listing     []Entry // of Dir, bounded, breadth first
	Docs        []Doc   // AGENTS.md and its like, most general first
	Sandbox     string  // mode
	Network     bool
	Roots       []string // writable, absolute
	Approval    string   // policy
	Model       string
	Window      int    // tokens; 0 when unknown
	Interactive bool   // a person can answer during the turn
	Vision      bool   // the model takes images
	Guidance    bool   // prefix the harness's guidance.md
	Extra       string // the person's own instructions, after ours
	Base        string // the person's replacement of the instructions; "" uses ours
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
