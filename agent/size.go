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

// size is how many tokens the next request has: what the server counted last, and an estimate of what came since, at the
// ratio that the server has counted before where that is higher.
func (s *Session) size() int {
	messages := s.fold.Messages()
	if s.tokens > 0 && s.counts <= len(messages) {
		const most = 1.5
		return s.tokens + int(min(max(s.gauge.ratio, 1), most)*float64(estimate(messages[s.counts:])))
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

// Class is how large a model is. Small ones go astray earlier and are led closer.
type Class string

// The classes, by billions of parameters: up to 14, up to 40, and beyond. "" is a model of which nothing is known.
const (
	Small  Class = "small"
	Medium Class = "medium"
	Large  Class = "large"
)

// ClassOf is the class of a model whose parameters its provider writes such as "30.5B"; "" when that says nothing.
func ClassOf(parameters string) Class {
	parameters = strings.ToUpper(strings.TrimSpace(parameters))
	if strings.HasSuffix(parameters, "M") {
		return Small
	}
	number, ok := strings.CutSuffix(parameters, "B")
	billions, err := strconv.ParseFloat(number, 64)
	switch {
	case !ok || err != nil || billions <= 0:
		return ""
	case billions < 15:
		return Small
	case billions <= 40:
		return Medium
	}
	return Large
}

// CallsFor is how many calls a turn may make, by the size of the model as its provider writes it, such as "30.5B". 0,
// the usual number, when the size is not known.
func CallsFor(parameters string) int {
	switch ClassOf(parameters) {
	case Small:
		return 40
	case Medium:
		return 80
	case Large:
		return 200
	}
	return 0
}

// nudges is how often in a turn a model is reminded that it stopped early.
func (c Class) nudges() int {
	if c == Large {
		return 1
	}
	return 2
}

// thoughts is how many tokens a model may think before an answer.
func (c Class) thoughts() int {
	switch c {
	case Small:
		return 1024
	case Medium:
		return 2048
	}
	return 8192
}

// thoughtBudget is how many tokens the model may think before an answer, 0 any number. A person who asks for more
// effort asks for longer thoughts.
func (s *Session) thoughtBudget() int {
	budget := s.cfg.Thoughts
	switch {
	case budget < 0:
		return 0
	case budget > 0:
		return budget
	}
	budget = s.cfg.Class.thoughts()
	switch s.cfg.Effort {
	case "", "none", "minimal", "low":
		return budget
	case "medium":
		return 2 * budget
	}
	return max(4*budget, 16384)
}

// resultRoom is how many bytes one result may have: its share of the window, and no more than a quarter of what is left
// of it. 0 when the window is not known.
func (s *Session) resultRoom() int {
	window := s.window()
	if window <= 0 {
		return 0
	}
	share := window * 8 / 100
	if s.cfg.Class == Small {
		share = window * 6 / 100
	}
	return max(leastResult, bytesPerToken*min(share, max(window-s.size(), 0)/4))
}

const (
	leastResult   = 1500
	bytesPerToken = 3 // of what tools print, taken low
)

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
