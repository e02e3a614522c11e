package setup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"interpreter/local"
)

// pickModel has the person choose a model, or takes them back.
func pickModel(ctx context.Context, w World, s State) (State, string, error) {
	best, others := choices(s)
	s.Next = best
	key, err := w.Ask.Choose(ctx, modelQuestion(w, s, best, others))
	if err != nil {
		return s, "", err
	}
	word, name, _ := strings.Cut(key, ":")
	switch word {
	case "take":
		for _, c := range best {
			if c.Name == name {
				return taken(s, c), fetchStep, nil
			}
		}
	case "others":
		return pickOther(ctx, w, s, others)
	case "name":
		return nameModel(ctx, w, s)
	case "servers":
		s.revisit = true
		return s, serverStep, nil
	}
	s.Model = Choice{}
	return s, endStep, nil
}

// taken is the state with another model in it.
func taken(s State, c Choice) State {
	if s.Model.Name != c.Name {
		s.Prepared, s.Unproved = nil, false
	}
	s.Model = c
	return s
}

// roomy is the width from which there is room to explain words beside a list of models.
const roomy = 72

func modelQuestion(w World, s State, best, others []Choice) Question {
	q := Question{Title: "Which model?", About: honest(s, best)}
	if q.About == "" && len(best) > 0 && w.Screen.width() >= roomy {
		q.About = "The window is how much text it keeps in mind; a token is about three quarters of a word. Speeds are predicted."
	}
	for _, c := range best {
		a := c.answer(w.Screen.width() - 6)
		if s.Failed[c.Name] != "" {
			a.More = append(a.More, "It did not pass the check before.")
		} else if q.Default == "" && rank(c) < unfit {
			q.Default = a.Key
		}
		q.Answers = append(q.Answers, a)
	}
	if len(others) > 0 {
		q.Answers = append(q.Answers, Answer{Key: "others:", Text: fmt.Sprintf("something else that is installed (%d)", len(others))})
	}
	q.Answers = append(q.Answers,
		Answer{Key: "name:", Text: "another name …"},
		Answer{Key: "servers:", Text: "back: look for model servers again"},
		Answer{Key: "skip:", Text: "skip: choose no model now"})
	if q.Default == "" {
		text := "no model fits this machine"
		if len(s.Failed) > 0 {
			text = "no model that fits this machine has passed the check"
		}
		q.Stuck = stuck(text, w.Name+" fit shows what would fit and why not")
		q.Default = q.Answers[0].Key
	}
	return q
}

// pickOther chooses among what is installed beside the best.
func pickOther(ctx context.Context, w World, s State, others []Choice) (State, string, error) {
	q := Question{Title: "Which of the installed models?"}
	for _, c := range others {
		q.Answers = append(q.Answers, c.answer(w.Screen.width()-6))
	}
	q.Answers = append(q.Answers, Answer{Key: "back", Text: "back"})
	q.Default = q.Answers[0].Key
	key, err := w.Ask.Choose(ctx, q)
	if err != nil {
		return s, "", err
	}
	for _, c := range others {
		if "take:"+c.Name == key {
			return taken(s, c), fetchStep, nil
		}
	}
	return s, modelStep, nil
}

// nameModel asks for a name and judges it like any other.
func nameModel(ctx context.Context, w World, s State) (State, string, error) {
	var words []string
	for _, e := range local.Catalogue() {
		if name := e.Name; s.server().Name() != "lmstudio" {
			words = append(words, name)
		} else if e.Key != "" {
			words = append(words, e.Key)
		}
	}
	name, err := w.Ask.Type(ctx, Field{
		Title: "Name of the model", About: "As its server names it, such as " + words[0] + ". An empty line goes back.",
		Words: words, Check: nameable,
	})
	if err != nil {
		return s, "", err
	}
	if name = strings.TrimSpace(name); name == "" {
		return s, modelStep, nil
	}
	return taken(s, named(s, name)), fetchStep, nil
}

func nameable(name string) error {
	name = strings.TrimSpace(name)
	switch {
	case strings.ContainsAny(name, " \t"):
		return errors.New("a name has no blanks in it")
	case local.LooksRemote(name):
		return errors.New("that one runs on its vendor's machines: what you say would leave this one")
	}
	return nil
}

// named is what is known of a model that a person names: as the server has it, or else the catalogue.
func named(s State, name string) Choice {
	one := s.server()
	held := local.HeldBy(one.Loaded)
	if i := slices.IndexFunc(one.Models, func(m local.ModelInfo) bool { return local.SameModel(m.Name, name) || same(name, m.Name) }); i >= 0 {
		c := Choice{Name: one.Models[i].Name, Installed: true, Judged: local.Judgement{Model: one.Models[i]}}
		if one.Here {
			c.Judged = judged(s, one, one.Models[i])
		}
		return c
	}
	c := Choice{Name: name, Judged: local.Judgement{Model: local.ModelInfo{Name: name}}}
	for _, e := range local.Catalogue() {
		if e.Key != "" && e.Key == name && one.Name() == "lmstudio" {
			c.Judged = local.Judge(e.Info, s.Machine, held, want(s))
			return c
		}
	}
	if e, ok := local.Lookup(name); ok && one.Here {
		c.Judged = local.Judge(e.Info, s.Machine, held, want(s))
	}
	return c
}

// following is the model to try after one that failed: the best one that did not.
func following(s State) (Choice, bool) {
	for _, c := range s.Next {
		if c.Name != s.Model.Name && s.Failed[c.Name] == "" {
			return c, true
		}
	}
	return Choice{}, false
}
