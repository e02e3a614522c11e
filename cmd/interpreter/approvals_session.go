package main

import (
	"fmt"
	"strings"
	"time"

	"interpreter/agent/approve"
	"interpreter/agent/event"
	"interpreter/agent/store"
	"interpreter/sandbox/action"
)

// answeredGrant is an answer of a person that held longer than the call it was about.
type answeredGrant struct {
	Decision string    `json:"decision"` // "session" or "prefix"
	What     string    `json:"what"`
	Prefix   []string  `json:"prefix,omitempty"`
	Paths    []string  `json:"paths,omitempty"`
	Dir      string    `json:"cwd,omitempty"`
	Lasts    string    `json:"lasts"`
	Answered time.Time `json:"answered"`
}

// listSession prints what was granted in an earlier session, by its log.
func (s *settings) listSession(w world, q store.Query, asJSON bool) error {
	info, err := store.Find(s.home, q)
	if err != nil {
		return err
	}
	got, err := store.Read(info.Path)
	if err != nil {
		return err
	}
	if got.Damage != "" {
		fmt.Fprintf(w.stderr, "warning: %s\n", harmless(got.Damage))
	}
	granted := grantedIn(got.Events)
	if asJSON {
		return writeJSON(w.stdout, struct {
			Session string          `json:"session"`
			Grants  []answeredGrant `json:"grants"`
		}{info.ID, granted})
	}
	if len(granted) == 0 {
		_, err := fmt.Fprintf(w.stdout, "Nothing was granted in session %s beyond single calls.\n", info.ID)
		return err
	}
	fmt.Fprintf(w.stdout, "Granted in session %s\n\n", info.ID)
	t := table{heads: []string{"answered", "what", "where", "lasts"}}
	for _, g := range granted {
		t.add(g.Answered.Local().Format("2006-01-02 15:04"), g.What, g.Dir, g.Lasts)
	}
	return t.write(w.stdout)
}

// grantedIn joins the answers that grant for longer than a call with their questions.
func grantedIn(events []event.Event) []answeredGrant {
	asked := map[string]event.Asked{}
	out := []answeredGrant{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.Asked:
			asked[b.ID] = b
		case event.Answered:
			q, known := asked[b.ID]
			decision := approve.Decision(b.Decision)
			if !known || len(q.Questions) > 0 || decision != approve.ForSession && decision != approve.ByPrefix {
				continue
			}
			g := answeredGrant{Decision: b.Decision, What: subject(q), Dir: q.Dir, Answered: e.Time, Lasts: "until that run ended"}
			if q.Need.Effect == action.Writes {
				g.Paths = q.Need.Paths
			}
			if decision == approve.ByPrefix {
				if g.Prefix = offeredPrefix(q); len(g.Prefix) == 0 {
					continue // a yes to words that were not offered is one to the call
				}
				g.What, g.Dir = "every command that begins with: "+strings.Join(g.Prefix, " "), ""
				g.Lasts = "kept as a rule, while approvals list shows it"
			}
			out = append(out, g)
		}
	}
	return out
}

// subject is what a question was about.
func subject(q event.Asked) string {
	switch {
	case q.Need.Effect == action.Runs && q.Need.Script != "":
		return q.Need.Script
	case q.Need.Effect == action.Runs && len(q.Need.Argv) > 0:
		return strings.Join(q.Need.Argv, " ")
	case q.Need.Effect == action.Writes && len(q.Need.Paths) > 0:
		return "write " + strings.Join(q.Need.Paths, ", ")
	}
	return q.Title
}

// offeredPrefix are the words that the choice of a rule named. Logs of earlier versions have them with the need.
func offeredPrefix(q event.Asked) []string {
	for _, c := range q.Choices {
		if c.Decision == string(approve.ByPrefix) {
			return c.Prefix
		}
	}
	if len(q.Choices) == 0 {
		return q.Need.Prefix
	}
	return nil
}
