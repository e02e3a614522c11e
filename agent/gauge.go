package agent

import (
	"cmp"
	"fmt"

	"interpreter/agent/event"
	"interpreter/local/chat"
)

// gauge compares what a server says it read with what it was sent. Some servers cut the oldest part off a prompt that
// does not fit, and say nothing: instructions and tools are gone then. The zero value is ready.
type gauge struct {
	most  int     // tokens read of the largest request
	sent  int     // our estimate of that request
	ratio float64 // of tokens read to our estimate, of a request that was read whole; 0: not known yet
	told  bool
}

const (
	leastGauged = 1500 // tokens; smaller requests tell nothing
	leastRead   = 1024 // no server has a smaller window: one that says less counts otherwise
	leastWindow = 8000 // tokens with which an agent can work
)

// whole are windows that servers have when nobody names one.
var whole = []int{2048, 4096, 8192, 16384, 32768}

// cut takes in what was read of a request of about so many tokens, and reports a prompt that lost its beginning.
func (g *gauge) cut(sent, read, window int) bool {
	if sent < leastGauged || read < leastRead {
		return false
	}
	before := *g
	if read > g.most {
		g.most, g.sent = read, sent
	}
	ratio := before.ratio
	switch {
	case window > 0 && read == window && sent > read:
		return true
	case float64(sent) > 1.1*float64(read) && isWhole(read) && (ratio == 0 || float64(read) < 0.9*ratio*float64(sent)):
		return true // a round number alone is none: conversations pass through those, too
	case ratio > 0 && float64(read) < 0.7*min(ratio, 1)*float64(sent) && read*10 >= before.most*9:
		return true // once before it was read whole
	case ratio == 0 && 2*read < sent && read >= leastGauged:
		return true
	case before.most > 0 && read*10 >= before.most*9 && sent-before.sent >= 200 && 2*float64(read-before.most) < min(cmp.Or(ratio, 1), 1)*float64(sent-before.sent) &&
		float64(read) < 0.7*float64(sent):
		return true // the conversation grows, and what is read of it hardly does
	}
	if ratio == 0 && float64(read) >= 0.7*float64(sent) {
		g.ratio = float64(read) / float64(sent)
	}
	return false
}

func isWhole(read int) bool {
	for _, n := range whole {
		if read >= n-2 && read <= n {
			return true
		}
	}
	return false
}

// spoken is our estimate of a request, without what templates leave out of earlier answers; 0 of one with pictures, whose
// size nobody knows.
func spoken(req chat.Request) int {
	total := estimateSpecs(req.Tools)
	for _, m := range req.Messages {
		if len(m.Images) > 0 {
			return 0
		}
		m.Thinking = ""
		total += estimate([]chat.Message{m})
	}
	return total
}

// probe tells the person when the server cuts prompts, and stops where nothing sensible can come of it.
func (t *turn) probe(sent int, usage chat.Usage) error {
	if !t.gauge.cut(sent, usage.Input, t.window()) {
		return nil
	}
	read := usage.Input
	t.limit = read
	remedy := "load the model with a larger context: its server's setting, or context_window here; Ollama takes OLLAMA_CONTEXT_LENGTH"
	text := fmt.Sprintf("the server cuts the prompt: of about %d tokens that %s was sent it read %d, so instructions are lost", sent, t.cfg.ModelName, read)
	if read < leastWindow {
		return &Failure{fmt.Errorf("%s; an agent needs at least %d", text, leastWindow), remedy}
	}
	if t.gauge.told {
		return nil
	}
	t.gauge.told = true
	return t.add(event.Warned{Text: text + fmt.Sprintf("; the conversation is kept below %d tokens from now on", read), Remedy: remedy})
}
