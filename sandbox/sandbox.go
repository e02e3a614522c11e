// Package sandbox is the hands of the agent: it decides what a process may do (Policy) and runs processes within
// those limits (Box). It knows no tools, no models and no questions; when to ask is agent/approve's.
package sandbox

import (
	"context"
	"errors"
	"os"
	"time"
)

// Mode is one of the three promises a person can choose from.
type Mode string

// The modes, from tight to none.
const (
	ReadOnly       Mode = "read-only"
	WorkspaceWrite Mode = "workspace-write"
	FullAccess     Mode = "danger-full-access"
)

// Settings are what a person chose; Resolve makes a Policy of them.
type Settings struct {
	Mode          Mode
	Dir           string   // the session's working directory
	Writable      []string // further writable roots
	Network       bool     // workspace-write only; full access always has it
	ExcludeTmp    bool     // /tmp is not writable
	ExcludeTMPDIR bool     // $TMPDIR is not writable
	TMPDIR        string   // value of the variable, "" when unset
	Home          string   // the agent's own home: never writable, its credentials never readable
	UserHome      string   // the person's home folder: caches live below it
	Environ       []string // the agent's environment, for cache locations such as GOCACHE
	Backend       string   // "auto" (or ""), "namespace", "bubblewrap", "landlock"
	Degraded      bool     // a person agreed to workspace-write with Landlock alone, where nothing stronger works
	CacheLimit    int64    // bytes that the build caches of this workspace may hold; 0 is 5 GiB
	Windows       string   // WindowsUnelevated when a person allowed it, "" when not; of no meaning elsewhere
}

// Policy is what a process may do, every path real and absolute. The Box compiles it; file actions and approvals ask it.
type Policy struct {
	Mode      Mode
	Dir       string
	Roots     []string // writable, shallow before deep; empty unless WorkspaceWrite
	Protected []string // read-only places below roots; those that are missing must not appear
	Hidden    []string // files no confined process may read
	Network   bool
	Home      string
	Caches    []Cache
	Allowed   []string // real paths a person approved for one action, protected or outside though they are
	UserHome  string   // the person's home folder, real; its start-up files are protected where a root reaches them
	TMPDIR    string   // real path of the temporary folder that $TMPDIR names, "" when it is /tmp
	Force     string   // the back end a person insists on, "" for the strongest that works
	Environ   []string // places of caches and sockets, by the variables that name them
	Degraded  bool     // Landlock alone will do for WorkspaceWrite
	Limit     int64    // bytes that the layers of Caches may hold together
	// NetworkOpen says that nothing here can close the network: Network false is a wish then, and a command that is not
	// known to only read needs a person.
	NetworkOpen bool
}

// Cache is a build cache that commands see through a layer of their own.
type Cache struct {
	Env   string // variable that names it for the tool, "" when the tool finds it by itself
	Lower string // the person's own cache, never written; may be missing
	Upper string // our layer for this workspace, "" for one that dies with the command
}

// Place is the verdict of Policy.Place on a path a file action wants to write.
type Place int

// The verdicts.
const (
	Inside    Place = iota // writable
	Outside                // not below a writable root
	Guarded                // below a root, but protected
	Forbidden              // never, whoever approves: the agent's own home
)

// Command is one process to start.
type Command struct {
	Argv    []string
	Dir     string   // "" is the policy's directory
	Env     []string // the whole environment of the child
	TTY     bool     // a pseudo terminal instead of pipes
	Columns int      // of the terminal; 0 is 120
	Rows    int      // of the terminal; 0 is 40
	Stdin   bool     // keep standard input open for Process.Write; implied by TTY
	Outside bool     // approved to run without confinement
	Opened  Opened   // approved beyond the policy for this command, which stays confined
	Timeout time.Duration
	Watch   func(chunk []byte) // sees output as it comes, from one goroutine; it must not block. May be nil
	Stdio   []*os.File         // standard input, output and error given as they are, nothing captured; nil for the usual
	Extra   []*os.File         // inherited beside the standard three, as descriptor 3 and up; Unix only. The caller closes them
}

// Opened is what one confined command may do beyond the policy, because a person said so.
type Opened struct {
	Network bool     `json:"network,omitempty"`
	Paths   []string `json:"paths,omitempty"` // real and absolute, files or folders with all below them; protected ones too. The agent's home never
}

// Refusal is one thing the sandbox refused a command, or undid after it.
type Refusal struct {
	Text    string `json:"text"`              // one line, for people and models
	Path    string `json:"path,omitempty"`    // what to open for it to pass, real: what it wanted to write, or the protected entry that is in
	Network bool   `json:"network,omitempty"` // it wanted the network
	Undone  bool   `json:"undone,omitempty"`  // it happened and was put back: opening Path would have let it
}

// A Box runs commands within a policy.
type Box interface {
	// Start runs a command. Ending ctx kills its whole tree. The error is about starting, never about the exit code.
	Start(ctx context.Context, c Command) (Process, error)
	Policy() Policy
	// Backend names what confines commands: "namespace", "bubblewrap", "landlock", "seatbelt", "windows", "none".
	Backend() string
}

// ErrNoProgram is a command whose program is nowhere on PATH.
var ErrNoProgram = errors.New("there is no such program on PATH")

// A Process is a command that was started. Its methods may be called from any goroutine.
type Process interface {
	Done() <-chan struct{} // closed when the process has ended and its output is complete
	Exit() Exit            // valid after Done
	Output() Output        // what it printed so far, standard output and error merged in the order they came
	Write(p []byte) error  // to its standard input
	Interrupt()            // SIGINT to its group
	Kill()                 // the whole tree; returns at once, Done follows
}

// Exit tells how a process ended.
type Exit struct {
	Code     int           `json:"code"`             // 128+n for a signal, 124 for a timeout
	Signal   string        `json:"signal,omitempty"` // "SIGKILL"; "" when it exited by itself
	TimedOut bool          `json:"timed_out,omitempty"`
	Took     time.Duration `json:"took"`
	// Refused is what the sandbox is certain to have refused or undone, one line each.
	Refused []string `json:"refused,omitempty"`
	// Undone are the same, with what would have let each pass.
	Undone []Refusal `json:"-"`
	// Backend is what confined the command, "" when nothing did or it is not known.
	Backend string `json:"-"`
	// Notices are what a person should know of what the command left behind and nothing prevents, one line each.
	Notices []string `json:"notices,omitempty"`
}

// Output is what a process printed, bounded: Head and Tail with Omitted bytes between them.
type Output struct {
	Head    []byte
	Tail    []byte
	Omitted int64
}
