// Package event is what happened in a session: an append-only log of typed events. Screens, files and protocols
// are its readers. It decides nothing and knows no wire, no tool name and no screen.
package event

import (
	"encoding/json"
	"time"

	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// Event is one entry of a log. Seq counts kept events from 0 without gaps; an event that is not kept carries the
// Seq of the kept one that will follow it.
type Event struct {
	Seq  int
	Time time.Time
	Body Body
}

// Body is one of the types of this file. Kind is its name in a session file.
type Body interface{ Kind() string }

// Begun is the first event of every session.
type Begun struct {
	ID         string `json:"id"` // UUIDv7
	Dir        string `json:"cwd"`
	Source     string `json:"source"`               // "exec", "cli", …
	Originator string `json:"originator,omitempty"` // the program that started it, by its own word
	Version    string `json:"cli_version"`
	Provider   string `json:"model_provider"`
	Model      string `json:"model"`
	Commit     string `json:"commit,omitempty"`
	Branch     string `json:"branch,omitempty"`
	Repository string `json:"repository,omitempty"`
	ForkedFrom string `json:"forked_from_id,omitempty"`
}

// Opened freezes what stands before the first prompt: a resumed session sends these bytes again. A later one
// (another model or harness) starts a new prefix.
type Opened struct {
	Harness  string         `json:"harness"`
	Model    string         `json:"model"`
	Provider string         `json:"provider"`
	Window   int            `json:"window"`
	Messages []chat.Message `json:"messages"`
	Tools    []chat.Spec    `json:"tools"`
}

// TurnStarted opens a turn.
type TurnStarted struct {
	ID       string   `json:"turn_id"`
	Dir      string   `json:"cwd"`
	Model    string   `json:"model"`
	Provider string   `json:"model_provider"`
	Harness  string   `json:"harness"`
	Why      string   `json:"harness_reason,omitempty"` // why this harness
	Window   int      `json:"window"`
	Sandbox  string   `json:"sandbox"`
	Backend  string   `json:"sandbox_backend"`
	Network  bool     `json:"network"`
	Approval string   `json:"approval"`
	Wire     string   `json:"wire_api,omitempty"`
	Roots    []string `json:"workspace_roots,omitempty"` // writable
	Effort   string   `json:"effort,omitempty"`
	Date     string   `json:"current_date,omitempty"` // 2006-01-02, where the person is
	Zone     string   `json:"timezone,omitempty"`
}

// Prompted is what a person said. Steered is set when it came in the middle of a turn.
type Prompted struct {
	Message chat.Message `json:"message"`
	Steered bool         `json:"steered,omitempty"`
	Sent    string       `json:"sent,omitempty"` // what the model was given in place of Message.Text; "": that
}

// Injected is a message for the model that no person wrote: a nudge, a notice of an interrupt.
type Injected struct {
	Message chat.Message `json:"message"`
	Why     string       `json:"why"`
}

// Heard is a piece of an answer as it arrives. It is not kept: Said holds the whole.
type Heard struct {
	Text     string `json:"text,omitempty"`
	Thinking string `json:"thinking,omitempty"`
}

// Said is one whole answer of the model, its calls included.
type Said struct {
	Message chat.Message `json:"message"`
	Finish  chat.Finish  `json:"finish"`
	Usage   chat.Usage   `json:"usage"`
}

// Waited tells that an answer was lost or refused and will be asked for again; pieces heard since the last Said
// are void.
type Waited struct {
	chat.Wait
}

// Started tells that an action begins.
type Started struct {
	CallID string      `json:"call_id"`
	Tool   string      `json:"tool"` // the name the model used
	Title  string      `json:"title"`
	Need   action.Need `json:"need"`
}

// Printed is output of a running action as it comes. It is not kept.
type Printed struct {
	CallID string `json:"call_id"`
	Text   string `json:"text"`
}

// Did ends a call: with facts, with an error, or with a refusal. Every call of a Said gets exactly one, in call order.
type Did struct {
	CallID  string         `json:"call_id"`
	Tool    string         `json:"tool"`
	Outcome action.Outcome `json:"-"` // nil when it failed or was refused
	Status  Status         `json:"status"`
	Error   string         `json:"error,omitempty"` // for people
	Words   string         `json:"words"`           // what the model is told
	Images  []chat.Image   `json:"images,omitempty"`
	Took    time.Duration  `json:"took"`

	By     string `json:"by,omitempty"`     // who let the action happen, or refused it: one of the constants below; "" when there was nothing to decide
	Remedy string `json:"remedy,omitempty"` // what a person can start with so that what the sandbox refused passes

	Reminded bool   `json:"reminded,omitempty"`  // Words end with the harness's reminder of the plan
	PlanMode string `json:"plan_mode,omitempty"` // what it did to that: PlanBegun, PlanEnded, or nothing
}

// What an action can do to the mode in which nothing may be changed.
const (
	PlanBegun = "begun"
	PlanEnded = "ended"
)

// Status is how an action ended.
type Status string

// The ways an action ends.
const (
	Completed Status = "completed"
	Failing   Status = "failed"
	Declined  Status = "declined"
	Aborted   Status = "aborted"
)

// Who lets an action happen or refuses it.
const (
	ByPolicy = "policy" // the sandbox's, or that of approvals: nobody may be asked
	ByRule   = "rule"   // a rules file, or a rule that was made in this session
	ByPerson = "person" // who was asked for this call
	ByGrant  = "grant"  // a person, earlier in this session and for the rest of it
)

// Tried is a run of a command that was not its last: the sandbox refused a part of it, and the same command ran again
// with more rights because a person said so. The Did of the call tells of the run that counts; the model is told of that
// one alone.
type Tried struct {
	CallID  string     `json:"call_id"`
	Outcome action.Ran `json:"outcome"`
}

// Asked waits for a person; Answered settles it. CallID is "" when it comes with Questions. It holds all that a front
// end has to show: Lines makes text of it. A question about leave lasts no longer than its turn, and what is granted for
// the session no longer than the program runs: a session that goes on asks again.
type Asked struct {
	ID     string      `json:"id"`
	CallID string      `json:"call_id"`
	Title  string      `json:"title"`
	Need   action.Need `json:"need"`
	Why    string      `json:"why"`

	Class   string   `json:"class,omitempty"`   // the kind of the question, by which it can be switched off
	Dir     string   `json:"cwd,omitempty"`     // where a command runs, absolute
	Blocked []string `json:"blocked,omitempty"` // what the sandbox refused of the run before, one line each
	Would   string   `json:"would,omitempty"`   // what a yes changes, a clause: "it runs again, with the network"
	Files   []File   `json:"files,omitempty"`   // all that would be written
	Parts   []Part   `json:"parts,omitempty"`   // the simple commands of a line, where there are several
	Choices []Choice `json:"choices,omitempty"` // in the order to offer them

	Questions []action.Question `json:"questions,omitempty"` // the model asks, instead of asking for leave
}

// File is one that an action would write.
type File struct {
	Path string `json:"path"`          // real and absolute
	Why  string `json:"why,omitempty"` // what keeps it from being written unasked; "" when nothing does
}

// Part is one simple command of a line.
type Part struct {
	Argv []string `json:"argv"`
	Why  string   `json:"why,omitempty"` // what it was taken for
}

// Choice is an answer that a person can give.
type Choice struct {
	Decision string   `json:"decision"`         // what Answer takes
	Text     string   `json:"text"`             // what it does and how long it holds, a clause
	Prefix   []string `json:"prefix,omitempty"` // the words that every command it allows begins with
}

// Answered settles an Asked.
type Answered struct {
	ID       string `json:"id"`
	Decision string `json:"decision"`
	Note     string `json:"note,omitempty"`

	Answers map[string]string `json:"answers,omitempty"` // to Questions, by their ids
}

// Warned is news for the person that stops nothing.
type Warned struct {
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// Recovered tells that a model's slip was mended: what kind, and how.
type Recovered struct {
	What   string `json:"what"` // one of the kinds in recovered.go
	Detail string `json:"detail,omitempty"`
	Form   string `json:"form,omitempty"`  // of a CallAsText: the form as textcall names it
	Times  int    `json:"times,omitempty"` // how many slips it stands for; 0 is one
}

// Compacted replaces the transcript before it. The log keeps everything.
type Compacted struct {
	Messages []chat.Message `json:"replacement_history"` // after the opening
	Before   int            `json:"tokens_before"`
	After    int            `json:"tokens_after"`
	Usage    chat.Usage     `json:"usage"` // of asking for the summary
}

// TurnEnded closes a turn. Usage is the sum over the session so far, Recovered counts the slips of this turn that were
// mended, by kind.
type TurnEnded struct {
	ID     string        `json:"turn_id"`
	Reason Reason        `json:"reason"`
	Final  string        `json:"final,omitempty"` // last text of the model
	Error  string        `json:"error,omitempty"`
	Remedy string        `json:"remedy,omitempty"`
	Usage  chat.Usage    `json:"usage"`
	Took   time.Duration `json:"took"`

	Recovered map[string]int `json:"recovered,omitempty"`
}

// Reason is why a turn ended.
type Reason string

// The reasons.
const (
	Finished    Reason = "finished"
	Interrupted Reason = "interrupted"
	Broke       Reason = "failed"
	Limited     Reason = "limit" // a bound on calls or repetitions
)

// Foreign is a line of a session file that this version does not know. It is kept as it was.
type Foreign struct {
	Type    string
	Payload json.RawMessage
}

func (Begun) Kind() string       { return "session_meta" }
func (Opened) Kind() string      { return "opened" }
func (TurnStarted) Kind() string { return "turn_context" }
func (Prompted) Kind() string    { return "prompted" }
func (Injected) Kind() string    { return "injected" }
func (Heard) Kind() string       { return "heard" }
func (Said) Kind() string        { return "said" }
func (Waited) Kind() string      { return "waited" }
func (Started) Kind() string     { return "started" }
func (Printed) Kind() string     { return "printed" }
func (Did) Kind() string         { return "did" }
func (Tried) Kind() string       { return "tried" }
func (Asked) Kind() string       { return "asked" }
func (Answered) Kind() string    { return "answered" }
func (Warned) Kind() string      { return "warned" }
func (Recovered) Kind() string   { return "recovered" }
func (Compacted) Kind() string   { return "compacted" }
func (TurnEnded) Kind() string   { return "turn_ended" }
func (f Foreign) Kind() string   { return f.Type }
