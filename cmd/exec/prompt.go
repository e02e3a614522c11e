package exec

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"interpreter/cmd/config"
)

// Input is where the prompt of a run may come from.
type Input struct {
	Argument string // the positional prompt
	Given    bool   // there was one
	Resume   bool   // a resumed session with a positional prompt leaves standard input alone
	Stdin    io.Reader
	Terminal bool         // Stdin is a terminal
	Notice   func(string) // one line for a person; nil drops it

	// Patience bounds the wait for the first byte of a standard input that only adds to a positional prompt; zero
	// is DefaultPatience. Whoever starts us may hand down a pipe that nobody will ever write to or close, and a slow
	// producer looks the same, so the run goes on after a while and says so.
	Patience time.Duration
	after    func(time.Duration) <-chan time.Time
}

// DefaultPatience is long enough for the programs people put in front of a pipe to say their first word.
const DefaultPatience = 2 * time.Second

// mostInput is what a prompt may take from standard input; more is a mistake of the command line.
const mostInput = 32 << 20

// Pending is a prompt that is being read.
type Pending struct {
	in     Input
	stdin  *stdin
	expiry <-chan time.Time
}

// Begin starts reading what will be needed, so that the wait passes while the model is made ready.
func (in Input) Begin() *Pending {
	if in.Patience == 0 {
		in.Patience = DefaultPatience
	}
	if in.after == nil {
		in.after = time.After
	}
	if in.Notice == nil {
		in.Notice = func(string) {}
	}
	p := &Pending{in: in}
	added := in.Given && in.Argument != "-"
	switch {
	case added && (in.Terminal || in.Resume), !in.Given && in.Terminal:
		return p
	case added:
		p.expiry = in.after(in.Patience)
	}
	p.stdin = readAll(in.Stdin)
	return p
}

// Prompt is Begin and Prompt in one.
func (in Input) Prompt(ctx context.Context) (string, error) { return in.Begin().Prompt(ctx) }

// Prompt waits for the text of the prompt.
func (p *Pending) Prompt(ctx context.Context) (string, error) {
	if !p.in.Given || p.in.Argument == "-" {
		if p.stdin == nil {
			return "", &inputError{"no prompt: give it as an argument, or pipe it into standard input", `interpreter exec "what to do"`}
		}
		p.in.Notice("reading the prompt from standard input")
		text, err := p.stdin.all(ctx)
		if err != nil {
			return "", err
		}
		if strings.TrimSpace(text) == "" {
			return "", &inputError{"the prompt on standard input is empty", ""}
		}
		return text, nil
	}
	if strings.TrimSpace(p.in.Argument) == "" {
		return "", &inputError{"the prompt is empty", `interpreter exec "what to do"`}
	}
	if p.stdin == nil {
		return p.in.Argument, nil
	}
	select {
	case <-p.stdin.first:
	case <-p.stdin.done:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case <-p.expiry:
		select {
		case <-p.stdin.first: // both came together: the data counts
		case <-p.stdin.done:
		default:
			p.in.Notice(fmt.Sprintf("standard input is open but nothing came for %v; going on without it (</dev/null avoids the wait)", p.in.Patience))
			return p.in.Argument, nil
		}
	}
	select {
	case <-p.stdin.done:
	default:
		select {
		case <-p.stdin.done:
		case <-p.expiry:
			p.in.Notice("reading standard input until it ends")
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	text, err := p.stdin.all(ctx)
	if err != nil {
		return "", err
	}
	return withStdin(p.in.Argument, text), nil
}

// withStdin adds what was piped in to a prompt.
func withStdin(prompt, piped string) string {
	if strings.TrimSpace(piped) == "" {
		return prompt
	}
	if !strings.HasSuffix(piped, "\n") {
		piped += "\n"
	}
	return prompt + "\n\n<stdin>\n" + piped + "</stdin>"
}

// inputError is a prompt that cannot be used.
type inputError struct{ text, try string }

func (e *inputError) Error() string  { return e.text }
func (e *inputError) Remedy() string { return e.try }

// stdin is a reader in progress. Its goroutine may outlive the wait: no system lets a read of a pipe be called off,
// and it ends with the process at the latest.
type stdin struct {
	first chan struct{} // closed at the first byte
	done  chan struct{} // closed at the end; data and err are final then
	data  []byte
	err   error
}

func readAll(r io.Reader) *stdin {
	s := &stdin{first: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		var begun sync.Once
		buffer := make([]byte, 32<<10)
		for {
			n, err := r.Read(buffer)
			if n > 0 {
				begun.Do(func() { close(s.first) })
				s.data = append(s.data, buffer[:n]...)
			}
			switch {
			case len(s.data) > mostInput:
				s.err = fmt.Errorf("read standard input: more than %d MiB; pass the name of a file instead", mostInput>>20)
				return
			case errors.Is(err, io.EOF), errors.Is(err, os.ErrClosed):
				return
			case err != nil:
				s.err = fmt.Errorf("read standard input: %w", err)
				return
			}
		}
	}()
	return s
}

func (s *stdin) all(ctx context.Context) (string, error) {
	select {
	case <-s.done:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if s.err != nil {
		return "", s.err
	}
	text, err := config.DecodeText(s.data)
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return text, nil
}

// IsCompact reports whether a prompt asks for a summary of the conversation instead of a turn.
func IsCompact(prompt string, images int) bool {
	return images == 0 && strings.TrimSpace(prompt) == "/compact"
}

// Schema reads the JSON Schema that a final answer has to fit. One that no answer could be held to is refused here,
// before a model is loaded for it.
func Schema(path string) (json.RawMessage, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the output schema: %w", err)
	}
	text, err := config.DecodeText(raw)
	if err != nil {
		return nil, fmt.Errorf("read the output schema %s: %w", path, err)
	}
	var schema any
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		return nil, fmt.Errorf("read the output schema %s: %w", path, err)
	}
	switch schema.(type) {
	case map[string]any, bool:
		if err := usable([]byte(text)); err != nil {
			return nil, fmt.Errorf("read the output schema %s: %w", path, err)
		}
		return json.RawMessage(text), nil
	}
	return nil, fmt.Errorf("read the output schema %s: a JSON Schema is an object, this is not one", path)
}

// jsonTypes are the names that "type" may have.
var jsonTypes = []string{"null", "boolean", "object", "array", "number", "string", "integer"}

// usable says what keeps a JSON value from being a schema that answers can be held to.
func usable(text []byte) error {
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		var misfit *json.UnmarshalTypeError
		if errors.As(err, &misfit) { // its own words name the types of this program
			return fmt.Errorf("%s in it may not be a %s", cmp.Or(misfit.Field[strings.LastIndexByte(misfit.Field, '.')+1:], "something"), misfit.Value)
		}
		return err
	}
	if _, err := s.Resolve(nil); err != nil {
		return err
	}
	return typed(&s)
}

// typed finds a type that does not exist, in a schema and those in it.
func typed(s *jsonschema.Schema) error {
	if s == nil {
		return nil
	}
	for _, name := range append(s.Types, s.Type) {
		if name != "" && !slices.Contains(jsonTypes, name) {
			return fmt.Errorf("%q is no type of JSON; there are %s", name, strings.Join(jsonTypes, ", "))
		}
	}
	below := slices.Concat([]*jsonschema.Schema{s.Items, s.AdditionalProperties, s.Not}, s.PrefixItems, s.AnyOf, s.AllOf, s.OneOf)
	for _, named := range []map[string]*jsonschema.Schema{s.Properties, s.Defs, s.Definitions} {
		below = slices.AppendSeq(below, maps.Values(named))
	}
	for _, one := range below {
		if err := typed(one); err != nil {
			return err
		}
	}
	return nil
}
