package setup

import (
	"context"
	"fmt"

	"interpreter/cmd/config"
)

// write puts the choice into the configuration, if the person agrees.
func write(ctx context.Context, w World, s State) (State, string, error) {
	values := settings(w, s)
	var failed error
	for {
		key, err := w.Ask.Choose(ctx, writeQuestion(w, s, values, failed))
		if err != nil {
			return s, "", err
		}
		switch key {
		case "other":
			return s, modelStep, nil
		case "skip":
			return s, endStep, nil
		}
		if failed = w.Save(values...); failed == nil {
			s.Saved = nil
			for _, v := range values {
				s.Saved = append(s.Saved, v.Line())
			}
			w.Screen.done("written", fmt.Sprintf("%s (%s)", w.Path, counted(len(values), "line")))
			return s, endStep, nil
		}
	}
}

// settings are the lines to write. A window is written only if the person named one, and the server for --oss only where
// the file has one that would contradict.
func settings(w World, s State) []config.Value {
	id := s.server().Name()
	values := []config.Value{{Key: "model_provider", Text: id}, {Key: "model", Text: s.Model.Name}}
	if s.Window > 0 {
		values = append(values, config.Value{Key: "model_context_window", Number: s.Window})
	}
	if w.Config.OSS != "" && w.Config.OSS != id {
		values = append(values, config.Value{Key: "oss_provider", Text: id})
	}
	return values
}

func writeQuestion(w World, s State, values []config.Value, failed error) Question {
	q := Question{Title: "Write this to " + w.Path + "?", Default: "write"}
	for _, v := range values {
		q.About += "  " + v.Line() + "\n"
	}
	switch {
	case failed != nil:
		q.About += sentence(failed.Error())
		q.Stuck = failed
	case w.Config.Model != "" || w.Config.Provider != "":
		q.About += "It takes the place of " + joined(", ", w.Config.Provider, w.Config.Model) + ". Everything else in the file stays as it is."
	default:
		q.About += "Then every start uses this model. Whatever else is in the file stays as it is."
	}
	if w.Config.Window > 0 && s.Window == 0 {
		q.About += fmt.Sprintf(" The line model_context_window = %d stays.", w.Config.Window)
	}
	q.Answers = []Answer{
		{Key: "write", Text: "write it"},
		{Key: "other", Text: "back: another model"},
		{Key: "skip", Text: "skip: write nothing"},
	}
	return q
}

// ending says what to type next.
func ending(w World, s State) []string {
	out := []string{""}
	if len(s.Saved) == 0 {
		text := kept(s)
		if text != unchanged {
			text = "Nothing was written to the configuration. " + text
		}
		out = append(out, text)
		if s.Model.Name != "" {
			return append(out, "To use the model without it:", fmt.Sprintf("  %s exec -m %s \"explain what this project does\"", w.Name, s.Model.Name))
		}
		return append(out, fmt.Sprintf("Go on at any time with: %s setup", w.Name))
	}
	if s.Unproved {
		out = append(out, "The model is not checked yet; that happens when it is first used.", "")
	}
	return append(out,
		"Try it in a folder that git knows:",
		"  "+w.Name+` exec "explain what this project does"`,
		"  "+w.Name+` exec -s workspace-write "fix the failing test and run it"`)
}
