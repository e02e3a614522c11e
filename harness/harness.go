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
	Prose    fs.FS    // system.md, compact.md, guidance.md (optional), and <tool>.md for each row
	Tools    []Tool   // in the order the model sees them
	Parallel bool     // the model may be asked for several calls at once

	Open   func(Environment) []chat.Message         // messages before the first prompt, after the system message
	Shape  func(Environment, *chat.Request)         // last touch before the wire; must keep the prefix law
	Decode func(chat.Message) (chat.Message, error) // calls written as prose
	Nudge  func(chat.Message) string                // answer to a reply without a call; "" ends the turn
	Fault  func(tool string, err error) string      // wording of a call that failed; nil: Plain
}

// Tool is a row: a name they know, an action we know.
type Tool struct {
	Spec   chat.Spec // Description and Parameters are completed from Prose by Open
	Plan   func(args json.RawMessage) (Step, error)
	Hidden bool                   // understood, never advertised
	When   func(Environment) bool // advertised only if; nil: always
}

// Step is a call made concrete.
type Step struct {
	action.Action
	Run func(context.Context, *action.Workspace) (action.Outcome, string, error) // facts, then words
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
