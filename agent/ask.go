package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"interpreter/agent/event"
	"interpreter/agent/store"
	"interpreter/harness"
	"interpreter/local/chat"
)

// ask gets one answer worth keeping and appends it.
func (t *turn) ask(ctx context.Context) (event.Said, error) {
	for {
		req := t.request()
		said, err := t.stream(ctx, req, ear{tells: true, watch: t.watch})
		if err != nil {
			if err := t.mishap(ctx, said, err); err != nil {
				return event.Said{}, err
			}
			continue
		}
		garbled, err := t.decode(&said)
		if err != nil {
			return event.Said{}, err
		}
		if again, err := t.worthless(said, garbled); again || err != nil {
			if err != nil {
				return event.Said{}, err
			}
			continue
		}
		t.format = nil
		if err := t.recovered(garbled == nil); err != nil {
			return event.Said{}, err
		}
		if err := t.add(said); err != nil {
			return event.Said{}, err
		}
		if err := t.heed(said, spoken(req), garbled); err != nil {
			return event.Said{}, err
		}
		if garbled == nil {
			return said, nil
		}
		if err := t.correct(garbled); err != nil {
			return event.Said{}, err
		}
	}
}

// heed learns from an answer that was kept: how much of the request the server read, what the model thinks again and
// again, and whether it can be trusted to call.
func (t *turn) heed(said event.Said, sent int, garbled error) error {
	t.thinking(said.Message.Thinking)
	if err := t.distrust(said.Message, garbled); err != nil {
		return err
	}
	return t.probe(sent, said.Usage)
}

// left keeps what the model had said when a person interrupted it: they have read it, and the server has it in its
// memory. Calls are not kept, they never ran.
func (t *turn) left(ctx context.Context, said event.Said, err error) error {
	if ctx.Err() == nil || strings.TrimSpace(said.Message.Text) == "" {
		return err
	}
	said.Message.Calls, said.Finish = nil, chat.Left
	if lost := t.add(said); lost != nil {
		return lost
	}
	return err
}

// decode finds calls that were written as prose. garbled is a call that must not run as it stands.
func (t *turn) decode(said *event.Said) (garbled, err error) {
	h := t.cfg.Harness
	said.Message.Calls = harness.Spread(said.Message.Calls)
	had := len(said.Message.Calls)
	read := harness.Reading{Message: said.Message}
	if !h.Text || t.format == nil { // a value that was asked for is no reply in the harness's form
		read, garbled = h.Read(harness.Answer{Message: said.Message, Finish: said.Finish, Shown: t.shown, Forms: t.forms})
	}
	m := read.Message
	found := len(m.Calls) - had
	if cut := said.Finish == chat.CutShort && found > 0 && !h.Text; garbled == nil && (cut || read.Notice == truncated && len(m.Calls) == 0) {
		garbled = errCutText // what looks whole may have been meant to go on
	}
	runs := len(m.Calls)
	if garbled != nil {
		runs = 0
	}
	if err := t.notice(read, runs); err != nil {
		return nil, err
	}
	if garbled != nil {
		if m.Role == chat.Assistant && (found <= 0 || m.Written != "") {
			said.Message = m
		}
		said.Message.Calls = nil
		return garbled, nil
	}
	m.Role = chat.Assistant
	t.guessed = nil
	for _, id := range read.Mended {
		if i := slices.IndexFunc(m.Calls, func(c chat.Call) bool { return c.ID == id }); i >= 0 {
			t.guessed = append(t.guessed, i)
		}
	}
	t.spelled = respelled(said.Message.Calls, m.Calls)
	said.Message = m
	if read.Whole {
		said.Finish = chat.Stopped
	}
	t.normalise(&said.Message)
	if found <= 0 {
		return nil, nil
	}
	return nil, t.asText(read.Form, had, said.Message.Calls)
}

// respelled tells what of calls that a server read had to be mended, by their places.
func respelled(came, now []chat.Call) map[int][]string {
	var all map[int][]string
	for i := range min(len(came), len(now)) {
		var other []string
		if came[i].Name != now[i].Name {
			other = append(other, came[i].Name+" for "+now[i].Name)
		}
		if came[i].Raw != "" && now[i].Raw == "" {
			other = append(other, "arguments that were not quite JSON")
		}
		if other == nil {
			continue
		}
		if all == nil {
			all = map[int][]string{}
		}
		all[i] = other
	}
	return all
}

// asText tells of the calls from a place on, which were found in the text of the answer. Those that make no sense are told
// as failures, not as mended.
func (t *turn) asText(form string, from int, calls []chat.Call) error {
	h := t.cfg.Harness
	words, known := harness.FormInWords(form)
	if h.Text {
		for i := range calls {
			if known { // the form of another family
				if t.spelled == nil {
					t.spelled = map[int][]string{}
				}
				t.spelled[i] = []string{words}
			}
		}
		return nil
	}
	t.Session.mended = true
	all, good := len(calls)-from, 0
	for _, c := range calls[from:] {
		_, err := h.Step(c)
		if _, finishes := harness.Finishing(c.Name, c.Args); err == nil || finishes {
			good++
		}
	}
	if good == 0 {
		return nil
	}
	if !known {
		words = "in another form"
	}
	switch {
	case good < all:
		words += fmt.Sprintf(", %d of %d calls", good, all)
	case all > 1:
		words += fmt.Sprintf(", %d calls", all)
	}
	if err := t.tellMend(event.Recovered{What: event.CallAsText, Detail: words, Form: form, Times: good}); err != nil {
		return err
	}
	return t.misread()
}

var errCutText = errors.New(wordsCutTextCall)

// truncated is what Read says of a call that has no end.
const truncated = "tool_call_truncated"

// notice tells the person what was odd about an answer, once a turn. runs is how many of its calls are run.
func (t *turn) notice(read harness.Reading, runs int) error {
	text := ""
	switch code := read.Notice; {
	case code == "":
		return nil
	case code == truncated && runs > 0:
		which, before := "a call", "the call before it is"
		if read.Lost != "" {
			which = "a call of " + read.Lost
		}
		if runs > 1 {
			before = fmt.Sprintf("the %d calls before it are", runs)
		}
		text = fmt.Sprintf("the answer was cut off inside %s, which was not run; %s run", which, before)
	case code == truncated:
		text = "the answer was cut off inside a tool call; nothing of it was run"
	case code == "unclosed_think":
		text = "the answer ended inside the model's thoughts, before it said anything"
	default:
		text = strings.ReplaceAll(code, "_", " ")
	}
	if t.noticed[text] {
		return nil
	}
	if t.noticed == nil {
		t.noticed = map[string]bool{}
	}
	t.noticed[text] = true
	return t.add(event.Warned{Text: text})
}

// misread tells the person, once a session, that the server passes this model's calls on as text.
func (t *turn) misread() error {
	const often = 3
	if len(t.forms) != often || t.native {
		return nil
	}
	return t.add(event.Warned{
		Text:   fmt.Sprintf("%s does not read the tool calls of %s; they are found in its text", t.server(), t.cfg.ModelName),
		Remedy: "a server that knows the model's chat template: llama-server takes --jinja, vLLM --enable-auto-tool-choice and --tool-call-parser",
	})
}

func (t *turn) server() string {
	if t.cfg.Provider == "" {
		return "the server"
	}
	return t.cfg.Provider
}

// correct sends back an answer that holds a call which cannot be read, a bounded number of times in a row.
func (t *turn) correct(garbled error) error {
	h := t.cfg.Harness
	t.tries.garbled++
	if n := t.tries.garbled; n > h.Corrections() {
		if h.Text {
			return &Failure{fmt.Errorf("%s does not keep to the form of the harness %s: %d answers in a row could not be read: %w", t.cfg.ModelName, h.Name, n, garbled),
				"--harness with one whose calls the server reads, or a model that was made for " + h.Name}
		}
		return &Failure{fmt.Errorf("%s writes calls that cannot be read, %d times in a row: %w", t.cfg.ModelName, n, garbled),
			"another model, or a server that knows this one's chat template"}
	}
	return t.inject("unreadable call", h.Say("", garbled))
}

// normalise gives each call an id of its own and arguments that are an object; what did not parse stays in Raw and
// never reaches a server again.
func (t *turn) normalise(m *chat.Message) {
	seen := map[string]bool{}
	for i := range m.Calls {
		c := &m.Calls[i]
		if c.ID == "" || t.ids[c.ID] || seen[c.ID] {
			base := c.ID
			if base == "" {
				base = "call"
			}
			for n := len(t.ids) + i + 1; c.ID == "" || t.ids[c.ID] || seen[c.ID]; n++ {
				c.ID = fmt.Sprintf("%s_%d", base, n)
			}
		}
		seen[c.ID] = true
		var object map[string]json.RawMessage
		if len(strings.TrimSpace(string(c.Args))) == 0 && c.Raw == "" {
			c.Args = json.RawMessage("{}")
		}
		if json.Unmarshal(c.Args, &object) != nil || object == nil {
			if c.Raw == "" {
				c.Raw = strings.ToValidUTF8(string(c.Args), "\uFFFD")
			}
			c.Args = json.RawMessage("{}")
		}
	}
}

// distrust counts calls that cannot be read, and passes on that there were two within ten turns.
func (t *turn) distrust(said chat.Message, garbled error) error {
	raw := slices.ContainsFunc(said.Calls, func(c chat.Call) bool { return c.Raw != "" })
	if t.doubted || garbled == nil && !raw {
		return nil
	}
	const near = 10
	t.garbled = slices.DeleteFunc(append(t.garbled, t.turns), func(turn int) bool { return turn <= t.turns-near })
	if len(t.garbled) < 2 {
		return nil
	}
	t.doubted = true
	if t.cfg.Distrust == nil {
		return nil
	}
	if text := t.cfg.Distrust(); text != "" {
		return t.add(event.Warned{Text: text})
	}
	return nil
}

func overflowOf(err error) *chat.Error {
	var e *chat.Error
	if errors.As(err, &e) && e.Kind == chat.Overflow {
		return e
	}
	return nil
}

// remedy finds what a person can do about an error.
func remedy(err error) string {
	var failure *Failure
	var model *chat.Error
	var kept *store.Error
	switch {
	case errors.As(err, &failure) && failure.Remedy != "":
		return failure.Remedy
	case errors.As(err, &model):
		return model.Remedy
	case errors.As(err, &kept):
		return kept.Remedy
	}
	return ""
}
