package setup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"interpreter/local"
)

// prove loads the model and has it call a tool.
func prove(ctx context.Context, w World, s State) (State, string, error) {
	var failed error
	for {
		key, err := w.Ask.Choose(ctx, proveQuestion(s, failed))
		if err != nil {
			return s, "", err
		}
		switch key {
		case "next":
			c, _ := following(s)
			return taken(s, c), fetchStep, nil
		case "other":
			return s, modelStep, nil
		case "skip":
			s.Unproved = true
			return s, writeStep, nil
		case "window":
			if s, err = askWindow(ctx, w, s); err != nil {
				return s, "", err
			}
			continue
		}
		prepared, err := load(ctx, w, s)
		if err == nil {
			s.Prepared, s.Unproved = prepared, false
			w.Screen.done("model", proven(prepared))
			return s, writeStep, nil
		}
		if ctx.Err() != nil {
			return s, "", ErrLeft
		}
		failed = err
		w.Screen.mark("✗", "31", "check", s.Model.Name+" did not pass.")
		failures := maps.Clone(s.Failed)
		if failures == nil {
			failures = map[string]string{}
		}
		failures[s.Model.Name] = err.Error()
		s.Failed = failures
	}
}

// load makes the model ready and shows how that goes.
func load(ctx context.Context, w World, s State) (*local.Prepared, error) {
	show := &waiting{screen: w.Screen}
	show.now("getting "+s.Model.Name+" ready", time.Now())
	defer show.now("", time.Now())
	return w.Ready(ctx, Wish{
		Provider: s.server().Provider, Model: s.Model.Name, Window: window(w, s), Cache: s.Cache,
		Consent: func(question string) bool {
			yes := false
			show.aside(func() { yes = consents(ctx, w, question) })
			return yes
		},
		Stage: func(stage local.Stage) {
			switch {
			case stage.Warning != "":
				show.aside(func() { w.Screen.warn(sentence(stage.Warning)) })
			case stage.Ready != nil:
				show.now("", time.Now())
			case stage.Long:
				show.now(stage.Text, time.Now())
			}
		},
		Tick: show.tick,
	})
}

// window is the one that a person said, now or in the configuration; 0 when nobody did.
func window(w World, s State) int {
	if s.Window > 0 {
		return s.Window
	}
	return w.Config.Window
}

// consents asks whether what another program uses may be loaded again. Nobody is no.
func consents(ctx context.Context, w World, question string) bool {
	key, err := w.Ask.Choose(ctx, Question{
		Title: question, Default: "no", Answers: []Answer{{Key: "no", Text: "no, leave it"}, {Key: "yes", Text: "yes, load it again"}},
	})
	return err == nil && key == "yes"
}

func proveQuestion(s State, failed error) Question {
	name := s.Model.Name
	q := Question{Title: fmt.Sprintf("Load %s and see whether it can call tools?", name), Default: "check"}
	q.Answers = []Answer{{Key: "check", Text: "load and check it now"}}
	q.About = "An agent works by calling tools, and not every model can. " + usual(s.Model)
	if failed != nil {
		q.Title = name + " did not pass. What now?"
		q.About = failure(failed)
		q.Answers[0].Text = "try it once more"
		q.Stuck = failed
		var next Choice
		if next, q.Stuck = nextOr(s, failed); q.Stuck == nil {
			q.Default = "next"
			q.Answers = append([]Answer{{Key: "next", Text: fmt.Sprintf("take %s instead (%s)", next.Name, next.facts())}}, q.Answers...)
		}
	}
	text := "another window than the one that fits best …"
	if s.Window > 0 {
		text = fmt.Sprintf("another window than %d tokens …", s.Window)
	}
	q.Answers = append(q.Answers,
		Answer{Key: "window", Text: text},
		Answer{Key: "other", Text: "back: another model"})
	if failed == nil {
		q.Answers = append(q.Answers, Answer{Key: "skip", Text: "skip the check: it is made when the model is first used"})
	}
	return q
}

// nextOr is the model to try next, or why there is none.
func nextOr(s State, failed error) (Choice, error) {
	if next, ok := following(s); ok {
		return next, nil
	}
	return Choice{}, failed
}

// usual says how long loading and the check take.
func usual(c Choice) string {
	switch c.Judged.Verdict {
	case local.FullGPU, local.MultiGPU:
		return "It usually takes less than two minutes."
	case local.CPUOnly, local.PartialOffload, local.ExpertOffload:
		return "On this machine it usually takes two to ten minutes, since a processor reads slowly; only the first time."
	}
	return "It usually takes a few minutes; only the first time."
}

// failure is what went wrong, in the words of a person: what the model was asked and what came back.
func failure(err error) string {
	var wrong *local.CheckError
	if errors.As(err, &wrong) {
		sent, _, _ := strings.Cut(wrong.Sent, " behind the opening") // of a session, of which a newcomer knows nothing yet
		text := "It was asked: " + sent + "\nWhat came back: " + wrong.Got
		if wrong.Err != nil {
			text += ": " + wrong.Err.Error()
		}
		return text + "\nA model that does not call tools cannot read or change files."
	}
	return sentence(saying(err))
}

// sentence begins with a capital and ends with a stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return text
	}
	if first := text[0]; 'a' <= first && first <= 'z' {
		if word, _, _ := strings.Cut(text, " "); !strings.ContainsAny(word, ":.0123456789") { // not a model's name
			text = strings.ToUpper(text[:1]) + text[1:]
		}
	}
	if !strings.ContainsAny(text[len(text)-1:], ".!?") {
		text += "."
	}
	return text
}

// proven is what became of the model.
func proven(p *local.Prepared) string {
	verdict := "its calls of tools could not be tried in time"
	switch p.Verdict {
	case local.Native:
		verdict = "calls tools"
	case local.Rescued:
		verdict = "calls tools, as text that is understood here"
	case local.Skipped:
		verdict = "not checked, as the configuration says"
	}
	rate := ""
	if p.Report.Decode > 0 {
		rate = fmt.Sprintf("%.0f tokens/s", p.Report.Decode)
	}
	return joined(" · ", p.Info.Name, tokens(p.Window)+" window", rate, verdict)
}

// askWindow has the person name a window.
func askWindow(ctx context.Context, w World, s State) (State, error) {
	text, err := w.Ask.Type(ctx, Field{
		Title: "Window in tokens",
		About: fmt.Sprintf("Such as %d or 64k. The work needs about %d; more takes more memory. An empty line lets the best fit decide.", local.Floor, local.Floor),
		Check: func(text string) error {
			_, err := windowOf(text)
			return err
		},
	})
	if err != nil {
		return s, err
	}
	s.Window, err = windowOf(text)
	return s, err
}

// windowOf reads a number of tokens, with k for 1024 of them; nothing is 0.
func windowOf(text string) (int, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" {
		return 0, nil
	}
	digits, k := strings.CutSuffix(text, "k")
	n, err := strconv.Atoi(strings.TrimSpace(digits))
	if err != nil || n <= 0 || n > 100_000_000 {
		return 0, errors.New("a whole number of tokens, such as 65536 or 64k")
	}
	if k {
		n *= 1024
	}
	return n, nil
}
