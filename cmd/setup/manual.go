package setup

import (
	"context"
	"fmt"
	"strings"

	"interpreter/cmd/config"
	"interpreter/local"
)

// Manual says what a person types to get what the wizard would: for this machine, with its servers, as numbered steps.
func Manual(ctx context.Context, w World) error {
	providers, err := w.Providers()
	if err != nil {
		return err
	}
	s := State{Machine: w.Probe(ctx), Servers: survey(ctx, w, providers)}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, line := range manual(w, s, providers) {
		if head, rest, ok := strings.Cut(line, ". "); ok && len(head) == 1 {
			line = head + ". " + strings.ReplaceAll(fold(rest, paper-3), "\n", "\n   ")
		}
		if _, err := fmt.Fprintln(w.Screen.Out, line); err != nil {
			return err
		}
	}
	return nil
}

// paper is the width of what is not shown on a terminal.
const paper = 78

func manual(w World, s State, providers []local.Provider) []string {
	out := []string{fmt.Sprintf("%s setup asks questions, for which it needs a terminal. By hand:", w.Name), ""}
	n := 0
	say := func(format string, args ...any) {
		n++
		out = append(out, fmt.Sprintf("%d. %s", n, fmt.Sprintf(format, args...)))
	}
	do := func(line string) { out = append(out, "     "+line) }
	if up := answering(s.Servers); len(up) > 0 {
		s.Server = up[0]
	} else {
		n, out = serverByHand(w, s, providers, out)
		s.Servers = append(s.Servers[:len(s.Servers):len(s.Servers)], Server{Server: local.Server{Provider: first(providers)}, Here: true})
		s.Server = len(s.Servers)
	}
	id, model := s.server().Name(), "NAME"
	best, _ := choices(s)
	switch {
	case len(best) == 0:
		say("%s", "Choose a model. "+honest(s, nil))
		do(w.Name + " fit")
	case best[0].Installed:
		model = best[0].Name
		say("A model is there: %s (%s). See whether it calls tools:", model, best[0].facts())
		do(w.Name + " models check " + model)
	default:
		model = best[0].Name
		say("Get a model. %s fits best here (%s), then see whether it calls tools:", model, best[0].facts())
		do(w.Name + " models pull " + model)
		do(w.Name + " models check " + model)
	}
	say("Put these lines at the top of %s:", w.Path)
	do((config.Value{Key: "model_provider", Text: id}).Line())
	do((config.Value{Key: "model", Text: model}).Line())
	say("Try it in a folder that git knows:")
	do(w.Name + ` exec "explain what this project does"`)
	if len(best) > 0 {
		out = append(out, "", fmt.Sprintf("Or let it take what it recommends, without questions: %s setup --yes", w.Name))
	}
	return out
}

// serverByHand is how to get a server that answers.
func serverByHand(w World, s State, providers []local.Provider, out []string) (int, []string) {
	for _, one := range s.Servers {
		guide, ok := one.Provider.(local.Guide)
		if ok && one.Here && startable(w, one.Provider) {
			return 1, append(out, fmt.Sprintf("1. No model server answers, but %s is installed. Start it, in another terminal:", title(one.Name())),
				"     "+guide.StartCommand())
		}
	}
	out = append(out, "1. No model server answers. Install one:")
	for _, line := range installs(w.OS, providers) {
		out = append(out, "   "+line)
	}
	return 1, out
}

// first is the provider whose models are spoken of while no server answers.
func first(providers []local.Provider) local.Provider {
	for _, p := range providers {
		if _, ok := p.(local.Starter); ok && local.OnThisMachine(p.Address()) {
			return p
		}
	}
	return providers[0]
}

// Tidy shortens a path below the person's home as people write it.
func Tidy(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home+"/"); ok && home != "" {
		return "~/" + rest
	}
	return path
}
