// Package local finds, chooses, fits, pulls, checks and loads models on this machine. Ready is its one way in.
// It knows no prompts of a harness, no tools of an agent and no front end; providers below it own the wire.
package local

import (
	"context"
	"iter"

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
	// Load makes a model ready with exactly this window, in tokens.
	Load(ctx context.Context, m ModelInfo, window int) (chat.Model, error)
	// Loaded lists what is in memory now.
	Loaded(ctx context.Context) ([]Resident, error)
}

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
	Template     string
	Parser       string   // the server's own parser of tool calls, "" when it has no named one
	Trained      int      // trained context in tokens
	Configured   int      // num_ctx the model file sets, 0 when none
	Capabilities []string // "completion", "tools", "thinking", "vision", …
	RemoteHost   string   // non-empty: runs on another machine
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
	Size   int64 // bytes in all memories
	VRAM   int64 // bytes of those on GPUs
	Window int   // tokens, per slot
}

// Progress of a pull; Total and Done are bytes over all layers seen so far.
type Progress struct {
	Stage string
	Done  int64
	Total int64
}
