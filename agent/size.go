package agent

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"interpreter/agent/event"
	"interpreter/local/chat"
)

// charsPerToken is how much plain text a token holds, taken low.
const charsPerToken = 3.5

// estimate counts tokens of messages without a tokenizer: letters at a ratio, everything beyond ASCII one each.
func estimate(messages []chat.Message) int {
	total := 0
	for _, m := range messages {
		total += 4 + tokens(m.Text) + tokens(m.Thinking) + 1000*len(m.Images)
		for _, c := range m.Calls {
			total += 8 + tokens(c.Name) + tokens(string(c.Args))
		}
		if m.Result != nil {
			total += tokens(m.Result.Text)
		}
	}
	return total
}

func tokens(text string) int {
	wide := 0
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf && utf8.RuneStart(text[i]) {
			wide++
		}
	}
	narrow := len(text)
	if wide > 0 {
		narrow = 0
		for i := 0; i < len(text); i++ {
			if text[i] < utf8.RuneSelf {
				narrow++
			}
		}
	}
	return wide + int(float64(narrow)/charsPerToken+0.999)
}

func estimateSpecs(specs []chat.Spec) int {
	total := 0
	for _, s := range specs {
		total += 8 + tokens(s.Name) + tokens(s.Description) + tokens(string(s.Parameters))
	}
	return total
}

// size is how many tokens the next request has: what the server counted last, and an estimate of what came since.
func (s *Session) size() int {
	messages := s.fold.Messages()
	if s.tokens > 0 && s.counts <= len(messages) {
		return s.tokens + estimate(messages[s.counts:])
	}
	return s.fixed() + estimate(messages)
}

// fixed is the part of every request that no compaction can shorten.
func (s *Session) fixed() int {
	opened := s.fold.Opened()
	if opened == nil {
		return 0
	}
	return estimate(opened.Messages) + estimateSpecs(opened.Tools)
}

// window is the room there really is, 0 when unknown.
func (s *Session) window() int {
	if s.limit > 0 && (s.cfg.Window == 0 || s.limit < s.cfg.Window) {
		return s.limit
	}
	return s.cfg.Window
}

// threshold is the size from which the conversation is compacted.
func (s *Session) threshold() int {
	window := s.window()
	if window <= 0 {
		return 0
	}
	reserve := max(2048, window*15/100)
	at := max(window*80/100, window-reserve)
	if s.cfg.CompactAt > 0 {
		at = min(s.cfg.CompactAt, window*90/100)
	}
	return at
}

// CallsFor is how many calls a turn may make, by the size of the model as its provider writes it, such as "30.5B":
// small ones go astray earlier. 0, the usual number, when the size is not known.
func CallsFor(parameters string) int {
	number, ok := strings.CutSuffix(strings.ToUpper(strings.TrimSpace(parameters)), "B")
	billions, err := strconv.ParseFloat(number, 64)
	switch {
	case strings.HasSuffix(strings.ToUpper(strings.TrimSpace(parameters)), "M"):
		return 40
	case !ok || err != nil || billions <= 0:
		return 0
	case billions < 15:
		return 40
	case billions <= 40:
		return 80
	}
	return 200
}

// warnOfSize tells the person when the opening leaves little room.
func (t *turn) warnOfSize() {
	window, fixed := t.window(), t.fixed()
	if window > 0 && fixed > window/2 {
		_ = t.add(event.Warned{ // a lost log shows at the next step
			Text:   fmt.Sprintf("instructions and tools take about %d of the %d tokens of the window", fixed, window),
			Remedy: "load the model with a larger context, or choose a leaner harness",
		})
	}
}
