package lmstudio

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"interpreter/local"
	"interpreter/local/chat"
)

// idleFor is how long a model that the server loaded by itself stays in memory without a request, in seconds. What is
// loaded on demand has no such limit.
const idleFor = 30 * 60

// Load makes a model ready with at least this window. An instance that has it is used as it is; loading the same model
// again would put a second one beside it. Instances that are too small go first: whoever calls has settled that with
// those who use them.
func (p *Provider) Load(ctx context.Context, info local.ModelInfo, l local.Loading) (chat.Model, error) {
	ctx, cancel := context.WithTimeout(ctx, loadFor)
	defer cancel()
	have, err := p.hold(ctx, info.Name, l, func(instance) bool { return !l.Adopt })
	if err != nil {
		return nil, err
	}
	return newModel(p, info, have, l), nil
}

// held is an instance to converse with, and the model it is of.
type held struct {
	entry
	instance
	fresh bool // loaded just now
}

// hold finds or loads an instance and reads back what it is. replace says which instances that are too small may go
// for it.
func (p *Provider) hold(ctx context.Context, name string, l local.Loading, replace func(instance) bool) (held, error) {
	have, err := p.list(ctx)
	if err != nil {
		return held{}, local.ForModel(err, name)
	}
	e, ok := have.find(name)
	if !ok {
		return held{}, p.missing(name)
	}
	if !l.Remote {
		e = p.link(ctx).without(e)
	}
	target := e.key
	if variant := e.variant(name); variant != "" {
		// Only an instance that is named so is known to be of this variant.
		target = variant
		e.instances = slices.DeleteFunc(slices.Clone(e.instances), func(i instance) bool {
			return !strings.HasPrefix(strings.ToLower(i.id), strings.ToLower(variant))
		})
	}
	if found, ok := e.enough(l.Window); ok {
		return held{entry: e, instance: found}, nil
	}
	if have.era == eraV1 {
		for _, i := range e.instances {
			if !replace(i) {
				continue
			}
			if err := p.unload(ctx, i.id, name); err != nil {
				return held{}, err
			}
		}
	}
	loaded, err := p.bring(ctx, have.era, e, target, l)
	return held{entry: e, instance: loaded, fresh: true}, err
}

// without is a model without its instances on other machines.
func (l link) without(e entry) entry {
	var here []instance
	for _, i := range e.instances {
		if !l.has(i.id) {
			here = append(here, i)
		}
	}
	e.instances = here
	return e
}

// bring loads a model: by lms where it is there, since it alone can ask for room for one conversation, which the API
// makes four; by the API; and before release 0.4.0, which has no call for it, by a chat that names the model.
func (p *Provider) bring(ctx context.Context, era era, e entry, target string, l local.Loading) (instance, error) {
	if p.cli() != nil {
		if i, ok := p.loadByCommand(ctx, e, target, l); ok {
			return i, nil
		}
		if err := ctx.Err(); err != nil {
			return instance{}, err
		}
	}
	if l.OnCPU {
		return instance{}, &local.Refusal{
			Code: local.NoMemory, Model: e.key, Text: fmt.Sprintf("load %s on the processor alone: LM Studio's API has no such setting", e.key),
			Try: loadCommand(e.key, l.Window) + " --gpu off",
		}
	}
	if era == eraV1 {
		return p.loadByAPI(ctx, target, l)
	}
	return p.loadByChat(ctx, e, l)
}

// loadByAPI loads with release 0.4.0 or later, and reads back the window and the room that it really has.
func (p *Provider) loadByAPI(ctx context.Context, target string, l local.Loading) (instance, error) {
	type request struct {
		Model  string `json:"model"`
		Window int    `json:"context_length,omitempty"`
		Batch  int    `json:"eval_batch_size,omitempty"`
		Echo   bool   `json:"echo_load_config"`
	}
	var out struct {
		ID     text `json:"instance_id"`
		Status text `json:"status"`
		Config struct {
			Window   number `json:"context_length"`
			Parallel number `json:"parallel"`
		} `json:"load_config"`
	}
	in := request{Model: target, Window: l.Window, Batch: l.Batch, Echo: true}
	if err := p.tell(ctx, loadFor, http.MethodPost, "/api/v1/models/load", target, in, &out); err != nil {
		return instance{}, err
	}
	if out.ID == "" {
		return instance{}, &chat.Error{Kind: chat.Invalid, Model: target, Detail: "LM Studio did not say what it loaded", Remedy: loadCommand(target, l.Window)}
	}
	made := instance{string(out.ID), out.Config.Window.tokens(), out.Config.Parallel.tokens()}
	have, err := p.list(ctx)
	if err != nil {
		return instance{}, local.ForModel(err, target)
	}
	for _, e := range have.entries {
		for _, i := range e.instances {
			if i.id == made.id && i.window > 0 {
				made = i
			}
		}
	}
	return made, nil
}

// loadByCommand loads with lms, and reports whether an instance with the window came of it. Whatever went wrong, the
// API is asked next.
func (p *Provider) loadByCommand(ctx context.Context, e entry, target string, l local.Loading) (instance, bool) {
	args := []string{"load", target, "--context-length", strconv.Itoa(l.Window), "--parallel", "1", "--yes"}
	if l.OnCPU {
		args = append(args, "--gpu", "off")
	}
	if _, err := p.cli()(ctx, args...); err != nil {
		return instance{}, false
	}
	have, err := p.list(ctx)
	if err != nil {
		return instance{}, false
	}
	now, _ := have.find(e.key)
	var made entry
	for _, i := range now.instances {
		if i.window > 0 || len(e.instances) == 0 {
			made.instances = append(made.instances, i)
		}
	}
	return made.enough(min(l.Window, max(e.trained, local.NearFloor)))
}

// loadByChat has a server without a call for it load a model by a chat of one word. The window is the one of the
// person's own settings, and is refused when it is too small for an agent.
func (p *Provider) loadByChat(ctx context.Context, e entry, l local.Loading) (instance, error) {
	if len(e.instances) > 0 {
		return instance{}, tooSmall(e.key, l.Window, e.instances[0].window)
	}
	in := map[string]any{
		"model": e.key, "messages": []any{map[string]any{"role": "user", "content": "Hello."}},
		"max_tokens": 1, "stream": false, "ttl": idleFor,
	}
	var out struct {
		Choices []any `json:"choices"`
	}
	if err := p.tell(ctx, loadFor, http.MethodPost, "/v1/chat/completions", e.key, in, &out); err != nil {
		return instance{}, err
	}
	have, err := p.list(ctx)
	if err != nil {
		return instance{}, local.ForModel(err, e.key)
	}
	now, _ := have.find(e.key)
	if i, ok := now.enough(min(l.Window, local.Floor)); ok {
		return i, nil
	}
	if len(now.instances) > 0 {
		return instance{}, tooSmall(e.key, l.Window, now.instances[0].window)
	}
	return instance{id: e.key}, nil // the OpenAI style does not tell what is loaded
}

func tooSmall(key string, asked, loaded int) error {
	return &local.Refusal{
		Code: local.WrongWindow, Model: key, Needed: int64(asked), Available: int64(loaded),
		Text: fmt.Sprintf("load %s: %d tokens of window are needed, LM Studio has loaded it with %d, and before release 0.4.0 its API cannot load it with more", key, asked, loaded),
		Try:  loadCommand(key, asked) + ", or set the context length of the model in LM Studio, or update LM Studio to 0.4.0 or later",
	}
}

// Unload gives back the memory of one instance.
func (p *Provider) Unload(ctx context.Context, r local.Resident) error {
	id := r.ID
	if id == "" {
		id = r.Name
	}
	return p.unload(ctx, id, r.Name)
}

func (p *Provider) unload(ctx context.Context, id, name string) error {
	var out struct {
		ID text `json:"instance_id"`
	}
	in := struct {
		ID string `json:"instance_id"`
	}{id}
	err := p.tell(ctx, listFor*6, http.MethodPost, "/api/v1/models/unload", name, in, &out)
	if err == nil {
		return nil
	}
	if run := p.cli(); run != nil && ctx.Err() == nil {
		if _, failed := run(ctx, "unload", id); failed == nil {
			return nil
		}
	}
	return fmt.Errorf("unload %s: %w", id, err)
}
