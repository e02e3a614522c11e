package lmstudio

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"interpreter/local"
	"interpreter/local/chat"
)

// model is a loaded model. Requests name its instance: named by its key, the server would load another one with a
// window of its own choice once this one is gone.
type model struct {
	provider *Provider
	info     local.ModelInfo
	loading  local.Loading
	efforts  []string // settings of its reasoning that the server lists; nil: it lists none
	blunt    bool     // the server says that it does not reason

	lock sync.Mutex
	have instance
	wire chat.Model
}

func newModel(p *Provider, info local.ModelInfo, have held, l local.Loading) *model {
	m := &model{provider: p, info: info, loading: l, efforts: have.efforts, blunt: have.blunt}
	m.use(have.instance)
	return m
}

func (m *model) use(have instance) {
	window := have.window
	if window == 0 {
		window = m.loading.Window
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	m.have, m.wire = have, m.provider.chat.Chat(m.info, have.id, window)
}

func (m *model) now() (instance, chat.Model) {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.have, m.wire
}

// Stream sends a request and yields the answer as it comes. When the model has gone from memory, or the server has
// loaded it anew with a smaller window, it is loaded again as it was, once, and asked again.
func (m *model) Stream(ctx context.Context, req chat.Request) iter.Seq2[chat.Delta, error] {
	return func(yield func(chat.Delta, error) bool) {
		req.Effort = m.effort(req.Effort)
		failure, said, gone := m.attempt(ctx, req, yield)
		if gone || failure == nil {
			return
		}
		if why := m.lost(failure); why != "" && !said && ctx.Err() == nil {
			fresh, err := m.again(ctx)
			if err != nil {
				yield(chat.Delta{}, fmt.Errorf("load %s again, since %s: %w", m.info.Name, why, err))
				return
			}
			if fresh {
				have, _ := m.now()
				notice := fmt.Sprintf("%s: %s; it is loaded again with a window of %d tokens", m.info.Name, why, have.window)
				if !yield(chat.Delta{Notice: notice}, nil) {
					return
				}
				if failure, _, gone = m.attempt(ctx, req, yield); gone || failure == nil {
					return
				}
			}
		}
		yield(chat.Delta{}, m.worded(failure))
	}
}

// attempt streams one answer. It reports the error that ended it, whether anything had come before, and whether the
// consumer has left.
func (m *model) attempt(ctx context.Context, req chat.Request, yield func(chat.Delta, error) bool) (failure error, said, gone bool) {
	_, wire := m.now()
	for d, err := range wire.Stream(ctx, req) {
		if err != nil {
			return err, said, false
		}
		said = true
		if !yield(d, nil) {
			return nil, true, true
		}
	}
	return nil, said, false
}

// lost says how the model went from memory, "" when it did not.
func (m *model) lost(err error) string {
	var failure *chat.Error
	if !errors.As(err, &failure) {
		return ""
	}
	have, _ := m.now()
	lower := strings.ToLower(failure.Detail)
	switch {
	case failure.Kind == chat.Overflow && failure.Window > 0 && have.window > failure.Window:
		return fmt.Sprintf("the server had loaded it anew with a window of %d tokens", failure.Window)
	case failure.Kind == chat.Overflow || failure.Kind == chat.Denied:
		return ""
	case failure.Kind == chat.Missing, strings.Contains(lower, "model unloaded"), strings.Contains(lower, "model is not loaded"),
		strings.Contains(lower, "model was unloaded"), strings.Contains(lower, "model has been unloaded"):
		return "the server had unloaded it"
	}
	return ""
}

// again loads the model with the window it had, unless the server still has it so. What the server put under its id in
// the meantime goes; other instances may be somebody's and stay.
func (m *model) again(ctx context.Context) (fresh bool, err error) {
	have, _ := m.now()
	l := m.loading
	l.Window, l.Adopt = max(have.window, l.Window), false
	ctx, cancel := context.WithTimeout(ctx, loadFor)
	defer cancel()
	now, err := m.provider.hold(ctx, m.info.Name, l, func(i instance) bool { return i.id == have.id })
	if err != nil {
		return false, err
	}
	m.use(now.instance)
	return now.fresh || now.id != have.id, nil
}

// effort is a setting of the reasoning that the model takes: one of those the server lists for it. A model that only
// knows on and off is on for every effort but none.
func (m *model) effort(asked string) string {
	if asked == "" || m.blunt {
		return ""
	}
	if m.efforts == nil || slices.Contains(m.efforts, asked) {
		return asked
	}
	near := map[string][]string{
		"none": {"off"}, "minimal": {"low", "on"}, "low": {"on"}, "medium": {"on"}, "high": {"on"}, "xhigh": {"high", "on"},
	}[asked]
	for _, option := range near {
		switch {
		case !slices.Contains(m.efforts, option):
		case option == "off":
			return "none"
		case option == "on":
			return ""
		default:
			return option
		}
	}
	return ""
}

// worded puts LM Studio's own remedies into an error.
func (m *model) worded(err error) error {
	var failure *chat.Error
	if !errors.As(err, &failure) {
		return err
	}
	have, _ := m.now()
	switch failure.Kind {
	case chat.Missing:
		failure.Remedy = fmt.Sprintf("%s, or install it with: %s", loadCommand(m.info.Name, max(have.window, m.loading.Window)), m.provider.PullCommand(m.info.Name))
	case chat.Memory:
		failure.Remedy = "free memory, or ask for a smaller window with -c model_context_window=N"
	case chat.Overflow:
		failure.Remedy = "use a larger window with -c model_context_window=N, or start a new session"
		if failure.Prompt > 0 {
			failure.Remedy = fmt.Sprintf("use a window of more than %d tokens with -c model_context_window=N, or start a new session", failure.Prompt)
		}
	case chat.NoTools:
		failure.Remedy = "name a model that can call tools with -m"
	}
	return err
}
