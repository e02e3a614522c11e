// Package local finds, chooses, fits, pulls, checks and loads models on this machine. Ready is the one way to a model to
// work with; Judge, Rank and Recommend say what would fit, Download fetches, TakeInventory lists.
// It knows no prompts of a harness, no tools of an agent and no front end; providers below it own the wire.
package local

import (
	"context"
	"iter"
	"time"

	"interpreter/local/chat"
)

// A Provider is a model server of one kind at one address.
type Provider interface {
	Name() string
	// Address is the base URL it talks to.
	Address() string
	// Version asks the server who it is; an error means nobody answers there.
	Version(ctx context.Context) (string, error)
	// Models lists what is installed. Details that cost a request a model are filled by Show.
	Models(ctx context.Context) ([]ModelInfo, error)
	// Show completes what is known of one installed model; a *chat.Error of kind Missing when it is not installed.
	Show(ctx context.Context, name string) (ModelInfo, error)
	// Pull downloads a model; the sequence ends without an error only when the server said so.
	Pull(ctx context.Context, name string) iter.Seq2[Progress, error]
	// Load makes a model ready with exactly this window, and returns when it is.
	Load(ctx context.Context, m ModelInfo, l Loading) (chat.Model, error)
	// Loaded lists what is in memory now.
	Loaded(ctx context.Context) ([]Resident, error)
}

// Loading is how a model is loaded. It is the same for all of a session: a change would load the model again.
type Loading struct {
	Window int // tokens
	// Adopt uses a model that another program has loaded with this window, and sends nothing that would reload it.
	Adopt  bool
	Batch  int  // tokens read at a time; 0: the server's own choice
	OnCPU  bool // keep it off the GPU
	Remote bool // a person named it for this run, so it may run on another machine; nothing is loaded here
}

// A Wired is a Provider that says which wire it speaks: "ollama" (native chat), "chat" (chat completions), "responses" or
// "messages".
type Wired interface{ Wire() string }

// A Remover is a Provider that can delete an installed model.
type Remover interface {
	Remove(ctx context.Context, name string) error
}

// An Unloader is a Provider that can give a model's memory back.
type Unloader interface {
	Unload(ctx context.Context, r Resident) error
}

// A Counsel is a Provider that knows what a person can do at its server about a model's memory.
type Counsel interface {
	// Share lists what lets another program and this one use a model with the same window, in the order of preference.
	Share(model string, window int) []string
	// Relieve is what makes the server keep keys and values in half the memory, "" when nothing does.
	Relieve() string
}

// A Single is a Provider whose server keeps room for several conversations of a model, unless a person loads it otherwise.
type Single interface {
	// LoadSingle is the command that loads a model with room for one conversation alone.
	LoadSingle(model string, window int) string
}

// A Starter is a Provider whose server can be started on this machine.
type Starter interface {
	// Install is the command that installs the server on an operating system (runtime.GOOS), "" when there is none.
	Install(os string) string
	// Start starts the server with settings and returns once it answers; it ends with ctx, or by Stop.
	Start(ctx context.Context, s Serving) (Started, error)
}

// Serving is what a server started by us is told. Cloud models are off and one model with one slot is held, always.
type Serving struct {
	Address   string    // host:port; "": the provider's own; port 0 picks a free one
	Window    int       // for clients that name none; 0: the server's own
	CacheType CacheType // "": f16
	HostCache int64     // most bytes of prompts that the server keeps in main memory beside the model, 0: its own
	Log       string    // file for what the server prints; "": nowhere
	Detach    bool      // it outlives this program
	Program   string    // path of the server's program; "": the one that the shell would find
	Environ   []string  // NAME=value, what the server's own settings are added to; nil: this program's
}

// Started is a server that we started.
type Started struct {
	Address string // base URL
	PID     int
	Stop    func() error      // ends it and waits
	Wait    func() error      // returns when it has ended
	Environ map[string]string // what it was told
}

// A Fixed is a Provider whose server was started with the one model and window it serves: nothing can be loaded again.
type Fixed interface{ FixedWindow() bool }

// A Guide is a Provider that knows what a person types at a shell for it.
type Guide interface {
	StartCommand() string
	PullCommand(model string) string
	// Advise says what is wrong with a version of the server, "" when nothing is.
	Advise(version string) string
}

// A Measurer is a Provider that can complete a Geometry whose counts per layer Show left out because they are costly.
type Measurer interface {
	Measure(ctx context.Context, m ModelInfo) (ModelInfo, error)
}

// ModelInfo is what is known of a model. Zero means unknown, except Layers' counts that a kind of model lacks.
type ModelInfo struct {
	Name         string
	Provider     string
	Digest       string
	Size         int64 // bytes of its files
	Family       string
	Architecture string // general.architecture of its GGUF
	Parameters   string // "30.5B"
	Quantization string
	Format       string // of its files, in the server's word: "gguf", "safetensors", "mlx"; "" when it does not say
	Template     string
	Parser       string   // the server's own parser of tool calls, "" when it has no named one
	Trained      int      // trained context in tokens
	Configured   int      // num_ctx the model file sets, 0 when none
	Capabilities []string // "completion", "tools", "thinking", "vision", …
	RemoteHost   string   // non-empty: runs on another machine
	Projector    int64    // bytes of the file that lets it see, part of Size
	Requires     string   // oldest server version that runs it, "" when unknown
	Geometry     Geometry
}

// Can reports a declared capability.
func (m ModelInfo) Can(capability string) bool {
	for _, c := range m.Capabilities {
		if c == capability {
			return true
		}
	}
	return false
}

// Resident is a model in a server's memory.
type Resident struct {
	Name   string
	Digest string
	Size   int64     // bytes in all memories
	VRAM   int64     // bytes of those on GPUs
	Window int       // tokens, per slot
	Slots  int       // conversations it keeps room for, 0 when the server does not say
	ID     string    // of the instance, where a server loads a model more than once
	Until  time.Time // when it will be unloaded; zero when the server does not say
	// Guessed says that the server does not tell its memory: Size is that of the files, and VRAM is 0 wherever it lies.
	Guessed bool
}

// Progress of a pull; Total and Done are bytes over all layers seen so far.
type Progress struct {
	Stage string
	Done  int64
	Total int64
	Kept  int64 // part of Done that was there before this pull began
}
