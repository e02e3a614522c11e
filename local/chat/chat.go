// Package chat is the vocabulary of a conversation with a model: what is said, what can be called, what comes
// back. It is data only. It knows no provider, no harness and no prompt, and it sends nothing.
package chat

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// Role says who speaks in a Message.
type Role string

// The four roles every wire can carry.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Message is one entry of a conversation. Calls belong to the assistant, Result to a tool.
type Message struct {
	Role     Role    `json:"role"`
	Text     string  `json:"text,omitempty"`
	Thinking string  `json:"thinking,omitempty"`
	Images   []Image `json:"images,omitempty"`
	Calls    []Call  `json:"calls,omitempty"`
	Result   *Result `json:"result,omitempty"`
	// Written is an answer's whole text as it came, when Text is only part of it: thoughts or calls stood in it too. A
	// wire never sends it; harness.Request decides what goes back.
	Written string `json:"written,omitempty"`
	// Seal is what a server gave beside Thinking to know it again: a signature, or the thoughts in a form of its own. It goes
	// back as it came, with the Thinking it belongs to, on the wires that have a place for it.
	Seal string `json:"seal,omitempty"`
}

// Image is a picture given to a model, in the bytes it was read in.
type Image struct {
	MIME string `json:"mime"`
	Data []byte `json:"data"`
}

// Call is a tool call as the model wrote it. Args is a JSON object whose bytes are never re-ordered or re-spaced;
// a call whose arguments did not parse carries the text it wrote in Raw and "{}" in Args.
type Call struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
	Raw  string          `json:"raw,omitempty"`
}

// Result answers one Call, in the words the harness chose.
type Result struct {
	CallID string `json:"call_id"`
	Name   string `json:"name"`
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
}

// Spec describes a tool to a model. Parameters is a JSON Schema object in its final bytes.
type Spec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Request is everything a model gets in one turn of the wire.
type Request struct {
	Messages []Message       `json:"messages"`
	Tools    []Spec          `json:"tools,omitempty"`
	Window   int             `json:"window,omitempty"`  // context in tokens; constant for a session
	Output   int             `json:"output,omitempty"`  // most tokens to generate; 0: the model's own limit
	Format   json.RawMessage `json:"format,omitempty"`  // JSON Schema of the answer; nil: free text
	Effort   string          `json:"effort,omitempty"`  // reasoning effort: "none", "low", … ; "": the model's default
	Options  map[string]any  `json:"options,omitempty"` // sampling, in the names of the Ollama API: temperature, top_p, seed …
	Extra    map[string]any  `json:"extra,omitempty"`   // further body fields a harness asks for; a wire that lacks them drops them
}

// Finish tells why the model stopped.
type Finish string

// The finish reasons that matter to a loop; a wire maps its own names to them.
const (
	Stopped  Finish = "stop"
	CutShort Finish = "length"      // the answer ran into a limit; a call in it may be cut
	Left     Finish = "interrupted" // a person ended it; what was said until then is whole as far as it goes
)

// Delta is a piece of an answer. A Call arrives whole. The last Delta of an answer carries Finish and Usage.
// A Delta with Wait set voids all deltas before it: the answer will be asked for again. Notice is news for the person
// about the server, no part of the answer.
type Delta struct {
	Text     string
	Thinking string
	Seal     string // of the thinking so far
	Call     *Call
	Usage    *Usage
	Finish   Finish
	Wait     *Wait
	Notice   string
}

// Wait announces a pause before another attempt.
type Wait struct {
	Attempt int           `json:"attempt"` // 1 for the first repetition
	Limit   int           `json:"limit"`   // 0: no limit
	For     time.Duration `json:"for"`
	Why     string        `json:"why"`
}

// Usage counts tokens and time of one answer. Input includes CachedInput; Output includes Reasoning.
type Usage struct {
	Input       int           `json:"input"`
	CachedInput int           `json:"cached_input"`
	CacheWrite  int           `json:"cache_write"`
	Output      int           `json:"output"`
	Reasoning   int           `json:"reasoning"`
	Load        time.Duration `json:"load,omitempty"`    // loading the model
	Prefill     time.Duration `json:"prefill,omitempty"` // reading the prompt
	Decode      time.Duration `json:"decode,omitempty"`  // writing the answer
}

// Add sums two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, CachedInput: u.CachedInput + v.CachedInput, CacheWrite: u.CacheWrite + v.CacheWrite,
		Output: u.Output + v.Output, Reasoning: u.Reasoning + v.Reasoning,
		Load: u.Load + v.Load, Prefill: u.Prefill + v.Prefill, Decode: u.Decode + v.Decode,
	}
}

// A Model continues a conversation. It is all that agent knows of providers. Stream ends after the last Delta, or
// with one error, usually an *Error; breaking out of it or ending ctx cancels the request at the server.
type Model interface {
	Stream(ctx context.Context, req Request) iter.Seq2[Delta, error]
}
