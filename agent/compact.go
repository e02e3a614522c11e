package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"interpreter/agent/event"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// leastOutput is the room for an answer below which the conversation is compacted first, and headroom is kept free.
const (
	leastOutput = 512
	headroom    = 256
)

// makeRoom compacts before a request that would come close to the window, or leave no room for an answer.
func (t *turn) makeRoom(ctx context.Context) error {
	at := t.threshold()
	if at == 0 || t.fold.Len() < 2 {
		return nil
	}
	size := t.size()
	tight := t.window()-size-headroom < leastOutput
	if size < t.floor || !tight && (size < at || t.poor >= 2) {
		return nil
	}
	if err := t.compact(ctx); err != nil {
		return err
	}
	after := t.size()
	if after >= t.window() {
		return t.tooLarge(after)
	}
	if after < at && after <= size*95/100 {
		t.poor = 0
		return nil
	}
	t.floor = after + t.window()/20 // again only when there is more to gain
	t.poor++
	text := fmt.Sprintf("summing up the conversation gained little: %d of %d tokens are left, the window holds %d", after, size, t.window())
	if t.poor == 2 {
		text += "; it is not tried again before the window is full"
	}
	return t.add(event.Warned{Text: text, Remedy: "start a new session, or load the model with a larger context"})
}

// output is how many tokens an answer may have: what was asked for, and no more than the window has room for. 0 leaves it
// to the model, where there is plenty.
func (t *turn) output(wanted int) int {
	const plenty = 16384
	window := t.window()
	if window <= 0 {
		return wanted
	}
	room := max(window-t.size()-headroom, headroom)
	switch {
	case wanted > 0:
		return min(wanted<<t.tries.cut, room) // what was cut off is given more
	case room < plenty:
		return room
	}
	return 0
}

func (t *turn) tooLarge(size int) error {
	return &Failure{fmt.Errorf("the conversation does not fit: it has about %d tokens, the window holds %d", size, t.window()),
		"load the model with a larger context, or start a new session"}
}

// shrinking is what part of a request the next one may be, after a server has refused it.
var shrinking = []float64{0.7, 0.5, 0.35}

// shrink answers an overflow the server reported: compact, then keep less and less without asking the model, then give
// up with both numbers.
func (t *turn) shrink(ctx context.Context, overflow *chat.Error) error {
	size := t.size()
	t.learn(overflow, size)
	n := t.tries.overflows
	if t.tries.overflows++; n >= len(shrinking) || t.fold.Len() < 2 {
		if overflow.Prompt > 0 && overflow.Window > 0 {
			return overflow
		}
		return &Failure{fmt.Errorf("%w (the request has about %d tokens)", overflow, size), overflow.Remedy}
	}
	if n == 0 {
		return t.compact(ctx)
	}
	t.limit = min(t.window(), max(int(shrinking[n]*float64(size)), t.fixed()+headroom))
	return t.replace(ctx, wordsDigest+t.lastWords()+t.lastErrors(), chat.Usage{}, size)
}

// learn takes the real window from a refusal. A server that names none, or one that what it refused should have fitted,
// counts otherwise than we do: its window is less than our measure of that request.
func (t *turn) learn(overflow *chat.Error, size int) {
	if overflow.Window > 0 {
		t.limit = overflow.Window
	}
	if window := t.window(); window == 0 || size < window {
		t.limit = size * 95 / 100
	}
}

// compact replaces the conversation by the person's recent words and a summary. A model that could not give one three
// times in a row is not asked again.
func (t *turn) compact(ctx context.Context) error {
	const most = 3
	before := t.size()
	if t.failed >= most {
		return t.replace(ctx, wordsDigest+t.lastWords()+t.lastErrors(), chat.Usage{}, before)
	}
	summary, usage, err := t.summarise(ctx)
	if err != nil {
		if ctx.Err() == nil {
			t.failed++
		}
		return err
	}
	t.failed = 0
	return t.replace(ctx, summary, usage, before)
}

// replace puts the person's recent words and a summary in place of the conversation.
func (t *turn) replace(ctx context.Context, summary string, usage chat.Usage, before int) error {
	window := t.window()
	keep := 20000
	if window > 0 {
		keep = min(keep, window/4)
	}
	if most := int(float64(max(window/10, 1024)) * charsPerToken); window > 0 && len(summary) > most {
		summary = strings.ToValidUTF8(summary[:most], "") + "\n[cut]" // a model that writes without end must not fill the window
	}
	messages := recent(t.fold.Prompts(), keep)
	messages = append(messages, chat.Message{Role: chat.User, Text: summary + t.leftovers()})
	t.cfg.Workspace.Forget() // files shown before are out of the model's sight
	messages = append(messages, t.retained(ctx)...)
	done := event.Compacted{Messages: messages, Before: before, After: t.fixed() + estimate(messages), Usage: usage}
	if err := t.add(done); err != nil {
		return err
	}
	return t.add(event.Warned{Text: fmt.Sprintf("the conversation was summed up (about %d tokens, now %d); details may be lost", before, done.After)})
}

// What of the window each file that is shown again behind a summary may take, and all of them.
const (
	retainOne = 0.03
	retainAll = 0.10
)

// retained shows the files again that were last shown whole, as they are now and as far as there is room, the newest
// first: what the model is about to work on.
func (t *turn) retained(ctx context.Context) []chat.Message {
	window := t.window()
	if t.cfg.Harness.Retain == nil || window <= 0 {
		return nil
	}
	var out []chat.Message
	room := int(retainAll * float64(window))
	done := map[string]bool{}
	for _, e := range slices.Backward(t.log.Events()) {
		did, ok := e.Body.(event.Did)
		seen, shown := did.Outcome.(action.Seen)
		if !ok || !shown || done[seen.Real] || !seen.Whole() {
			continue
		}
		done[seen.Real] = true
		step, err := t.cfg.Harness.Retain(seen.Path)
		if err != nil {
			continue
		}
		_, words, err := step.Run(ctx, t.cfg.Workspace)
		m := chat.Message{Role: chat.User, Text: words}
		need := estimate([]chat.Message{m})
		if err != nil || need > int(retainOne*float64(window)) || need > room {
			t.cfg.Workspace.Forget(seen.Real)
			continue
		}
		room -= need
		out = append(out, m)
	}
	return out
}

// recent takes the latest messages that fit, in order; the oldest one taken may be cut.
func recent(said []chat.Message, room int) []chat.Message {
	var out []chat.Message
	for _, m := range slices.Backward(said) {
		need := estimate([]chat.Message{m})
		if need > room {
			m.Images = nil
			most := int(float64(room) * charsPerToken)
			if most < 200 {
				break
			}
			if len(m.Text) > most {
				m.Text = strings.ToValidUTF8(m.Text[:most], "") + "\n[cut]"
			}
			out = append(out, m)
			break
		}
		room -= need
		out = append(out, m)
	}
	slices.Reverse(out)
	return out
}

// shares are how much of the window a request for a summary may take, one try after another.
var shares = []float64{0.9, 0.7, 0.5, 0.35}

// summarise asks the model: the same prefix, one instruction behind it. A server that has read the conversation
// need not read it again. What does not fit is left out from the oldest on.
func (t *turn) summarise(ctx context.Context) (string, chat.Usage, error) {
	instruction := t.cfg.Harness.CompactPrompt()
	var usage chat.Usage
	for i, share := range shares {
		req := t.request()
		req.Format = nil
		tail := chat.Message{Role: chat.User, Text: instruction}
		if i > 0 {
			tail.Text += wordsNoTools
		}
		opening := len(t.fold.Opened().Messages)
		if window := t.window(); window > 0 {
			room := int(share*float64(window)) - t.fixed() - estimate([]chat.Message{tail})
			if i > 0 || t.size() > window*9/10 {
				req.Messages = append(slices.Clone(req.Messages[:opening]), t.latest(req.Messages[opening:], room)...)
			}
		}
		req.Messages = append(slices.Clip(req.Messages), tail)
		said, err := t.stream(ctx, req, ear{})
		if overflow := overflowOf(err); overflow != nil {
			t.learn(overflow, t.fixed()+estimate(req.Messages[opening:]))
			continue
		}
		if err != nil {
			return "", usage, fmt.Errorf("summing up the conversation: %w", err)
		}
		usage = usage.Add(said.Usage)
		if text := t.digest(said.Message.Text); text != "" {
			return wordsSummary + text, usage, nil
		}
	}
	return wordsDigest + t.lastWords(), usage, nil
}

// digest is what the harness keeps of a summary, "" when nothing is left.
func (t *turn) digest(text string) string {
	if h := t.cfg.Harness; h.Digest != nil {
		text = h.Digest(text)
	}
	return strings.TrimSpace(text)
}

// latest is the end of a conversation as far as there is room. A turn may be longer than that: then what the person
// asked for stands before the part of it that is left.
func (t *turn) latest(messages []chat.Message, room int) []chat.Message {
	rest := newest(messages, room)
	if len(rest) > 0 && rest[0].Role == chat.User {
		return rest
	}
	prompts := t.fold.Prompts()
	asked := recent(prompts[max(0, len(prompts)-1):], room/4)
	return append(asked, newest(messages, room-estimate(asked))...)
}

// newest drops whole exchanges from the front until the rest fits: a result never stands without its call.
func newest(messages []chat.Message, room int) []chat.Message {
	for len(messages) > 0 && estimate(messages) > room {
		n := 1
		for n < len(messages) && messages[n].Role == chat.Tool {
			n++
		}
		messages = messages[n:]
	}
	return messages
}

// lastWords is what the model said last, for want of a summary.
func (t *turn) lastWords() string {
	messages := t.fold.Messages()
	for _, m := range slices.Backward(messages) {
		if text := strings.TrimSpace(m.Text); m.Role == chat.Assistant && text != "" {
			if len(text) > 2000 {
				text = strings.ToValidUTF8(text[:2000], "") + "…"
			}
			return "The last thing you said was:\n\n" + text
		}
	}
	return "Look at the files again before you go on."
}

// lastErrors are the latest failures, for want of a summary.
func (t *turn) lastErrors() string {
	const most = 3
	var failed []string
	for _, e := range slices.Backward(t.log.Events()) {
		did, ok := e.Body.(event.Did)
		if ok && did.Status == event.Failing && len(failed) < most {
			failed = append(failed, "- "+did.Tool+": "+strings.ReplaceAll(lastLines(did.Words, 2, 300), "\n", " / "))
		}
	}
	if len(failed) == 0 {
		return ""
	}
	slices.Reverse(failed)
	return "\n\nWhat failed last:\n" + strings.Join(failed, "\n")
}

// leftovers are facts that a summary must not lose: the files that were changed, the plan, the mode in which nothing may
// be changed, and what runs in the background.
func (t *turn) leftovers() string {
	var files []string
	var plan action.Planned
	for _, e := range t.log.Events() {
		did, ok := e.Body.(event.Did)
		if !ok {
			continue
		}
		switch o := did.Outcome.(type) {
		case action.Changed:
			for _, f := range o.Files {
				if !slices.Contains(files, f.Path) {
					files = append(files, f.Path)
				}
			}
		case action.Planned:
			plan = o
		}
	}
	var b strings.Builder
	if len(files) > 0 {
		const most = 50
		b.WriteString("\n\nFiles changed so far: " + strings.Join(files[max(0, len(files)-most):], ", "))
	}
	if len(plan.Items) > 0 {
		b.WriteString("\n\nPlan:")
		for _, item := range plan.Items {
			fmt.Fprintf(&b, "\n- [%s] %s", item.Status, item.Text)
		}
	}
	if t.cfg.Workspace.Planning() {
		fmt.Fprintf(&b, wordsStillPlans, t.proposing())
	}
	for _, r := range t.cfg.Workspace.Running() {
		if !r.Ended {
			fmt.Fprintf(&b, wordsStillRuns, r.ID, brief(errors.New(r.Script)))
		}
	}
	return b.String()
}
