package event

import (
	"interpreter/local/chat"
)

// NoResult is what a model is told of a call that never got an answer, because the program died while it ran.
const NoResult = "interrupted: the program stopped before this call gave a result; what it did is unknown"

// Fold makes a conversation of events, one event at a time. The zero value is ready. What Messages returns never
// changes in its beginning, except through a Compacted: the next request is the last one plus a tail.
type Fold struct {
	opened   *Opened
	messages []chat.Message
	usage    chat.Usage
	calls    []chat.Call    // of the last answer
	results  map[string]Did // of those
	loose    bool           // the last answer may still grow: Codex writes one in several records
	prompts  []prompt       // that stand in messages
	said     []chat.Message // what a person said, all of it that was not taken back
	turn     *TurnStarted   // the last one
	ended    *TurnEnded     // of that turn; nil while it runs
}

// prompt is where a turn's first message stands.
type prompt struct{ message, said int }

// Transcript folds a whole log: what stands before the conversation, the conversation, and the sum of its usage.
// Every call in it has its result, in call order; one that a crash cut off gets NoResult.
func Transcript(events []Event) (opened *Opened, messages []chat.Message, usage chat.Usage) {
	var f Fold
	for _, e := range events {
		f.Add(e)
	}
	return f.opened, f.Messages(), f.usage
}

// Add takes the next event.
func (f *Fold) Add(e Event) {
	switch b := e.Body.(type) {
	case Opened:
		f.opened = &b
	case TurnStarted:
		f.turn, f.ended = &b, nil
	case TurnEnded:
		f.ended = &b
	case Prompted:
		f.settle()
		if !b.Steered {
			f.prompts = append(f.prompts, prompt{len(f.messages), len(f.said)})
		}
		if b.Sent != "" {
			b.Message.Text = b.Sent
		}
		f.messages = append(f.messages, b.Message)
		f.said = append(f.said, b.Message)
	case Injected:
		f.settle()
		f.messages = append(f.messages, b.Message)
	case Said:
		f.say(b)
	case Did:
		f.did(b)
	case Compacted:
		f.calls, f.results, f.loose, f.prompts = nil, nil, false, nil
		f.messages = append([]chat.Message(nil), b.Messages...)
		f.usage = f.usage.Add(b.Usage)
	case Foreign:
		f.rollBack(rolledBack(b))
	}
}

func (f *Fold) say(b Said) {
	f.usage = f.usage.Add(b.Usage)
	if f.loose && b.Finish == "" && len(f.results) == 0 && len(f.messages) > 0 {
		last := &f.messages[len(f.messages)-1]
		last.Text = joined(last.Text, b.Message.Text)
		last.Thinking = joined(last.Thinking, b.Message.Thinking)
		last.Calls = append(last.Calls[:len(last.Calls):len(last.Calls)], b.Message.Calls...)
		f.calls = last.Calls
		return
	}
	f.settle()
	f.messages = append(f.messages, b.Message)
	f.calls, f.results, f.loose = b.Message.Calls, nil, b.Finish == ""
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

func (f *Fold) did(b Did) {
	for _, c := range f.calls {
		if c.ID != b.CallID {
			continue
		}
		if _, twice := f.results[b.CallID]; twice {
			return
		}
		if f.results == nil {
			f.results = map[string]Did{}
		}
		f.results[b.CallID] = b
		return
	}
}

// settle puts the results of the last answer behind it, in call order.
func (f *Fold) settle() {
	f.messages = f.pending()
	f.calls, f.results, f.loose = nil, nil, false
}

func (f *Fold) pending() []chat.Message {
	out := f.messages
	for _, c := range f.calls {
		did, ok := f.results[c.ID]
		if !ok {
			did = Did{CallID: c.ID, Status: Aborted, Words: NoResult}
		}
		out = append(out, resultOf(c, did))
	}
	return out
}

func resultOf(c chat.Call, d Did) chat.Message {
	failed := d.Error != "" || d.Status == Declined || d.Status == Aborted
	return chat.Message{Role: chat.Tool, Images: d.Images,
		Result: &chat.Result{CallID: c.ID, Name: c.Name, Text: d.Words, Failed: failed}}
}

func (f *Fold) rollBack(turns int) {
	if turns <= 0 || turns > len(f.prompts) {
		return
	}
	at := f.prompts[len(f.prompts)-turns]
	f.messages, f.said = f.messages[:at.message:at.message], f.said[:at.said:at.said]
	f.prompts = f.prompts[:len(f.prompts)-turns]
	f.calls, f.results, f.loose = nil, nil, false
}

// Messages is the conversation after the opening. The slice is the caller's; what its entries point to is not.
func (f *Fold) Messages() []chat.Message {
	return append([]chat.Message(nil), f.pending()...)
}

// Opened is what stands before the conversation, nil before the first turn.
func (f *Fold) Opened() *Opened { return f.opened }

// Usage is the sum over all answers.
func (f *Fold) Usage() chat.Usage { return f.usage }

// Turn is the last turn that started, nil when none did, and how it ended, nil while it runs or when a crash cut it.
func (f *Fold) Turn() (*TurnStarted, *TurnEnded) { return f.turn, f.ended }

// Open lists the calls of the last answer that have no result yet.
func (f *Fold) Open() []chat.Call {
	var open []chat.Call
	for _, c := range f.calls {
		if _, done := f.results[c.ID]; !done {
			open = append(open, c)
		}
	}
	return open
}

// Pending reports whether the conversation ends with results that the model has not been given yet.
func (f *Fold) Pending() bool { return len(f.calls) > 0 }

// Prompts is everything a person said, what a compaction has taken out of the conversation included.
func (f *Fold) Prompts() []chat.Message { return f.said }

// Len counts the messages that are settled; results of the last answer come behind them.
func (f *Fold) Len() int { return len(f.messages) }
