package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"interpreter/agent/event"
	"interpreter/local/chat"
)

// tries counts what is done about answers that are no good, so that each is done a bounded number of times.
type tries struct {
	attempts // at the answer that is wanted now; a good one starts them over
	cut      int
	nudged   int
	justNow  bool // the last answer was nudged already
	garbled  int  // in a row
	shape    int
	checked  bool // asked once whether the change was checked
	hurried  int  // told to act instead of thinking
}

// attempts counts what was done to get one answer.
type attempts struct {
	empty     int // in a row
	pondered  int // of those, with thoughts
	silent    int // of those, with no token to speak of
	prodded   bool
	plainly   bool // asked with thinking switched off
	endless   int
	garbage   int
	parse     int // the server could not read what the model wrote
	overflows int
	hurrying  bool
	mood      mood
}

// mood is how another try at an answer differs. What it differs in is no part of the prompt.
type mood struct {
	seed int     // added to the seed
	heat float64 // added to the temperature
}

const (
	maxEmpty   = 2
	maxCut     = 3
	maxEndless = 2
	maxParse   = 2
	maxHurried = 2 // a turn
	maxSilent  = 3
)

// watch is for the next answer.
func (t *turn) watch() *watch {
	w := &watch{}
	if !t.tries.hurrying && t.tries.hurried < maxHurried {
		w.budget = int(float64(t.thoughtBudget()) * charsPerToken)
	}
	return w
}

// mishap deals with an answer that did not come. It returns nil when the model is to be asked again.
func (t *turn) mishap(ctx context.Context, said event.Said, err error) error {
	var failure *chat.Error
	switch overflow := overflowOf(err); {
	case overflow != nil:
		return t.shrink(ctx, overflow)
	case errors.Is(err, errEndless):
		return t.endless(err)
	case errors.Is(err, errThoughts):
		return t.hurry(fmt.Sprintf("more than %d tokens of thought", t.thoughtBudget()))
	case errors.As(err, &failure) && failure.Kind == chat.Server && unreadable.MatchString(failure.Detail):
		return t.unread(err)
	case errors.As(err, &failure) && t.tries.plainly && (failure.Kind == chat.NoThinking || failure.Kind == chat.Invalid):
		return t.gaveUp()
	}
	return t.left(ctx, said, err)
}

// unreadable is what servers say when their own parser stumbles over what the model wrote.
var unreadable = regexp.MustCompile(`(?i)(?:pars(?:e|ing)|invalid|malformed|unexpected)\b.*\b(?:tool|call|function|json|argument|output|xml|syntax)|\btool call\b.*\bpars|(?:json|xml|syntax) error`)

// endless drops an answer that repeats itself. The same question with another seed and more heat may get out of it.
func (t *turn) endless(err error) error {
	t.tries.mood.seed++
	t.tries.mood.heat += 0.2
	return t.retry(&t.tries.endless, maxEndless, err.Error(), &Failure{fmt.Errorf("%s repeats itself without end, %d times in a row", t.cfg.ModelName, maxEndless+1),
		"another model or quantisation, or sampling as its card says; repeat_penalty helps some"})
}

// unread deals with a server that could not parse the model's call: other words first, then fewer.
func (t *turn) unread(err error) error {
	t.tries.mood.seed++
	if t.tries.parse == maxParse {
		t.tries.parse++
		if err := t.again(t.tries.parse, maxParse+1, unreadWhy+", and it was asked for a shorter one"); err != nil {
			return err
		}
		return t.inject("unreadable call", t.inForm(wordsShorter))
	}
	if t.tries.parse++; t.tries.parse > maxParse {
		return err
	}
	return t.again(t.tries.parse, maxParse+1, unreadWhy)
}

const unreadWhy = "the server cannot read the model's call"

// retry counts one more try, or ends the tries with an error.
func (t *turn) retry(count *int, limit int, why string, over error) error {
	if *count++; *count > limit {
		return over
	}
	return t.again(*count, limit, why)
}

// again tells readers that the answer will be asked for once more; what they heard of it is void. attempt is 0 of
// another try that is no matter of counting.
func (t *turn) again(attempt, limit int, why string) error {
	return t.add(event.Waited{Wait: chat.Wait{Attempt: attempt, Limit: limit, Why: why}})
}

// hurry ends thoughts that lead nowhere: the same request with a reminder behind it, once an answer.
func (t *turn) hurry(why string) error {
	t.tries.hurrying = true
	t.tries.hurried++
	if err := t.again(0, 0, "the model thought too long: "+why+"; it was told to act"); err != nil {
		return err
	}
	return t.inject("thoughts without end", t.inForm(wordsHurry))
}

// worthless drops an answer that is none, and reports whether the model is to be asked again.
func (t *turn) worthless(said event.Said, garbled error) (again bool, err error) {
	m := said.Message
	switch {
	case garbled != nil || len(m.Calls) > 0:
		return false, nil
	case blank(m.Text):
		return true, t.empty(said)
	case garbage(m.Text) && t.tries.garbage == 0:
		t.tries.mood.seed++
		t.tries.mood.heat -= 0.2
		return true, t.retry(&t.tries.garbage, 1, "the answer was no text", nil)
	}
	return false, nil
}

// tokens of templates that are left when a model says nothing.
var leftover = regexp.MustCompile(`<\|[\w ]{1,40}\|>|<｜[^｜>]{1,40}｜>|</?s>|<(?:pad|eos|bos|unk)>|<(?:start|end)_of_turn>|\[/?(?:PAD|UNK|INST)\]`)

func blank(text string) bool {
	return strings.TrimSpace(text) == "" || len(text) < 400 && strings.TrimSpace(leftover.ReplaceAllString(text, "")) == ""
}

// empty deals with an answer that says and calls nothing: the same request again, then a reminder, then without
// thinking where it only thought, then the end.
func (t *turn) empty(said event.Said) error {
	thought := strings.TrimSpace(said.Message.Thinking) != ""
	limit, what := maxEmpty, "an empty answer"
	if thought {
		limit, what = 1, "thoughts and no answer"
	}
	if thought && said.Finish == chat.CutShort && !t.tries.hurrying && t.tries.hurried < maxHurried {
		return t.hurry("its length limit came first")
	}
	t.tries.empty++
	if thought {
		t.tries.pondered++
	}
	if err := t.silence(said.Usage); err != nil {
		return err
	}
	plainly := thought && !t.tries.plainly && t.cfg.Effort != "none"
	left := 0 // tries behind this one
	if plainly {
		left++
	}
	switch {
	case t.tries.empty <= limit && !t.tries.prodded:
		return t.again(t.tries.empty, limit+1+left, "the model gave "+what)
	case !t.tries.prodded:
		t.tries.prodded = true
		if err := t.again(t.tries.empty, t.tries.empty+left, "the model gave "+what+"; it was reminded"); err != nil {
			return err
		}
		return t.inject("empty answer", t.inForm(wordsEmpty))
	case plainly:
		t.tries.plainly = true
		return t.again(t.tries.empty, t.tries.empty, "the model gave "+what+"; now without thinking")
	}
	return t.gaveUp()
}

// gaveUp ends the tries at an answer that says and calls nothing, with what was seen.
func (t *turn) gaveUp() error {
	remedy := "try another model, or check the server's chat template and stop words"
	if t.tries.silent >= maxSilent {
		remedy = "check the server's chat template and stop words for this model: they end each answer at its first token"
	}
	n, pondered := t.tries.empty, t.tries.pondered
	what := fmt.Sprintf("no answer %d times in a row: %s only thoughts, %s nothing at all", n, timesOver(pondered), timesOver(n-pondered))
	switch pondered {
	case 0:
		what = fmt.Sprintf("an empty answer, %d times in a row", n)
	case n:
		what = fmt.Sprintf("thoughts and no answer, %d times in a row", n)
	}
	return &Failure{fmt.Errorf("%s gave %s", t.cfg.ModelName, what), remedy}
}

// silence notices answers that end at their first token: that is the server's doing, not the model's.
func (t *turn) silence(u chat.Usage) error {
	if u.Input == 0 || u.Output > 1 {
		t.tries.silent = 0
		return nil
	}
	if t.tries.silent++; t.tries.silent != maxSilent {
		return nil
	}
	return t.add(event.Warned{
		Text:   fmt.Sprintf("%s ends each answer of %s at its first token", t.server(), t.cfg.ModelName),
		Remedy: "check the model's chat template and stop words at the server; with Ollama: ollama show --modelfile",
	})
}

// recovered tells what asking again has mended, now that there is an answer. read: its calls can be read.
func (t *turn) recovered(read bool) error {
	a := t.tries.attempts
	t.tries.attempts = attempts{}
	for _, m := range []struct {
		kind  string
		times int
	}{{event.EmptyAnswer, a.empty}, {event.EndlessAnswer, a.endless}, {event.GarbledAnswer, a.garbage}, {event.UnreadableCall, a.parse}, {event.FullWindow, a.overflows}} {
		if m.times == 0 {
			continue
		}
		if err := t.mendTimes(m.kind, asked(m.times), m.times); err != nil {
			return err
		}
	}
	if a.hurrying {
		if err := t.mend(event.LongThoughts, "told to act"); err != nil {
			return err
		}
	}
	if read && t.tries.garbled > 0 {
		n := t.tries.garbled
		t.tries.garbled = 0
		return t.mendTimes(event.UnreadableCall, "sent back "+timesOver(n), n)
	}
	return nil
}

func asked(n int) string { return "asked again " + timesOver(n) }

func timesOver(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// mend tells readers of a slip that was mended, and counts it.
func (t *turn) mend(kind, detail string) error { return t.mendTimes(kind, detail, 1) }

// mendTimes tells of several slips that were mended in one go.
func (t *turn) mendTimes(kind, detail string, times int) error {
	return t.tellMend(event.Recovered{What: kind, Detail: detail, Times: times})
}

func (t *turn) tellMend(r event.Recovered) error {
	if t.tally == nil {
		t.tally = map[string]int{}
	}
	if t.tally[r.What] += max(r.Times, 1); r.Times == 1 {
		r.Times = 0
	}
	return t.add(r)
}

// stirred is a request for another try: another seed, another temperature, no thoughts. The messages are the same.
func (t *turn) stirred(req chat.Request) chat.Request {
	a := t.tries.attempts
	if a.plainly {
		req.Effort = "none"
	}
	if a.mood == (mood{}) {
		return req
	}
	const usual = 0.7 // of models whose card nobody asked
	options := maps.Clone(req.Options)
	if options == nil {
		options = map[string]any{}
	}
	heat, ok := number(options["temperature"])
	if !ok {
		heat = usual
	}
	seed, _ := number(options["seed"])
	options["seed"] = int(seed) + a.mood.seed
	options["temperature"] = min(max(heat+a.mood.heat, 0), 2)
	req.Options = options
	return req
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case float32:
		return float64(v), true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	}
	return 0, false
}
