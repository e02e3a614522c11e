package lmstudio

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"interpreter/local"
	"interpreter/local/chat"
)

// era is a generation of the server's own API.
type era int

const (
	eraNone era = iota // only the OpenAI style
	eraV0
	eraV1
)

// String is the releases that speak it: the server names no version of its own.
func (e era) String() string {
	switch e {
	case eraV1:
		return "0.4.0 or later"
	case eraV0:
		return "0.3.6 or later"
	}
	return "older than 0.3.6"
}

// inventory is what a server has.
type inventory struct {
	era     era
	entries []entry
}

// find is the model that a name means. A key counts before a variant or an instance of another model.
func (v inventory) find(name string) (entry, bool) {
	for _, e := range v.entries {
		if local.SameModel(e.key, name) {
			return e, true
		}
	}
	at := slices.IndexFunc(v.entries, func(e entry) bool { return e.is(name) })
	if at < 0 {
		return entry{}, false
	}
	return v.entries[at], true
}

// list asks for the newest list that the server has. The keys in the answer count, not its status: LM Studio answers
// what it does not know with status 200.
func (p *Provider) list(ctx context.Context) (inventory, error) {
	var own bool // the server has answered a path it does not know as LM Studio does
	var foreign string
	var words string
	var broken error
	for _, step := range []struct {
		path string
		era  era
	}{{"/api/v1/models", eraV1}, {"/api/v0/models", eraV0}, {"/v1/models", eraNone}} {
		got, err := p.ask(ctx, listFor, http.MethodGet, step.path, nil)
		if err != nil {
			return inventory{}, err
		}
		text, isError := said(got.body)
		own = own || isError && strings.HasPrefix(strings.ToLower(text), unexpected)
		switch {
		case got.status == 401 || got.status == 403 || got.status == 429 || got.status == 503:
			return inventory{}, p.refused(got, "")
		case got.status >= 500:
			broken = p.refused(got, "")
			continue
		case got.status/100 != 2:
			continue
		case isError:
			words = text
			continue
		}
		switch step.era {
		case eraV1:
			if entries, ok := decodeV1(got.body); ok {
				return inventory{eraV1, entries}, nil
			}
		case eraV0:
			if entries, ok := decodeV0(got.body); ok {
				return inventory{eraV0, entries}, nil
			}
		default:
			entries, other, ok := decodeOpenAI(got.body)
			if ok && (own || other == "" && len(entries) > 0) {
				return inventory{eraNone, entries}, nil
			}
			foreign = other
		}
	}
	if broken != nil {
		return inventory{}, broken
	}
	e := &chat.Error{Kind: chat.Invalid, Detail: "what answers at " + p.base + " is not LM Studio", Remedy: p.addressRemedy()}
	switch {
	case foreign != "":
		e.Detail += fmt.Sprintf(" (its models are owned by %q)", foreign)
		e.Remedy += ", or name its own provider with --local-provider"
	case words != "":
		e.Detail += ": it says " + words
	}
	return inventory{}, e
}

// Version tells which releases speak as this server does; LM Studio names no version. An error means that nobody
// answers, or that what answers is not LM Studio.
func (p *Provider) Version(ctx context.Context) (string, error) {
	have, err := p.list(ctx)
	if err != nil {
		return "", err
	}
	return have.era.String(), nil
}

// Models lists what is installed, but for models that make embeddings.
func (p *Provider) Models(ctx context.Context) ([]local.ModelInfo, error) {
	have, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	far := p.link(ctx)
	var list []local.ModelInfo
	for _, e := range have.entries {
		info := e.info(p.Name())
		info.RemoteHost = far.host
		list = append(list, info)
	}
	return list, nil
}

// Show tells what is known of one model: the server's list, and its layers from the header of its file or from the
// catalogue, since the API tells nothing of them.
func (p *Provider) Show(ctx context.Context, name string) (local.ModelInfo, error) {
	have, err := p.list(ctx)
	if err != nil {
		return local.ModelInfo{}, local.ForModel(err, name)
	}
	e, ok := have.find(name)
	if !ok {
		return local.ModelInfo{}, p.missing(name)
	}
	info := e.info(p.Name())
	if v := e.variant(name); v != "" {
		// The list tells of the selected variant alone.
		info.Name, info.Size = v, 0
		_, info.Quantization, _ = strings.Cut(v, "@")
		info.Quantization = strings.ToUpper(info.Quantization)
	}
	info.RemoteHost = p.link(ctx).host
	return p.measured(info, e), nil
}

// measured adds what only the file or the catalogue tells.
func (p *Provider) measured(info local.ModelInfo, e entry) local.ModelInfo {
	if e.format == "" || e.format == "gguf" {
		if header, ok := p.header(info.Size); ok {
			info.Geometry, info.Template = header.Geometry, header.Template
			info.Architecture = cmp.Or(header.Architecture, info.Architecture)
			info.Trained = cmp.Or(info.Trained, header.Trained)
			return info
		}
	}
	if known, ok := local.Lookup(e.key); ok && agrees(known.Info.Architecture, e.arch) {
		info.Geometry = known.Info.Geometry
		info.Trained = cmp.Or(info.Trained, known.Info.Trained)
		info.Parameters = cmp.Or(info.Parameters, known.Info.Parameters)
	}
	return info
}

// agrees reports whether two names of an architecture can mean the same.
func agrees(a, b string) bool { return a == "" || b == "" || local.SameArchitecture(a, b) }

func (p *Provider) missing(name string) error {
	e := &chat.Error{Kind: chat.Missing, Model: name, Detail: "LM Studio at " + p.base + " has no such model", Remedy: p.PullCommand(name)}
	if known, ok := local.Lookup(name); ok && known.Key != "" && !strings.EqualFold(known.Key, name) {
		e.Detail += "; it may be there as " + known.Key
		e.Remedy = p.PullCommand(known.Key)
	}
	return e
}

// Loaded lists the models in memory, each instance by its own id. LM Studio does not tell the memory they use; the size
// of the files is the least. Instances that LM Link keeps on another machine are left out.
func (p *Provider) Loaded(ctx context.Context) ([]local.Resident, error) {
	have, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	far := p.link(ctx)
	var list []local.Resident
	for _, e := range have.entries {
		for _, i := range e.instances {
			if !far.has(i.id) {
				list = append(list, local.Resident{Name: e.key, Size: e.size, Window: i.window, Slots: i.slots, ID: i.id, Guessed: true})
			}
		}
	}
	return list, nil
}
