package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"interpreter/agent/approve/rules"
	"interpreter/agent/store"
	"interpreter/cmd/config"
)

// newApprovals shows what was granted, and takes it back.
func newApprovals(w world, f *flags) *cobra.Command {
	c := &cobra.Command{Use: "approvals", Short: "What you allowed and forbade for good: list it, take it back"}
	var asJSON bool
	var of store.Query
	list := &cobra.Command{
		Use:   "list",
		Short: "List what holds beyond one run: rules about commands, trusted folders",
		Args: usageArgs(func(c *cobra.Command, args []string) error {
			switch named := c.Flags().Changed("session"); {
			case named && of.Text == "":
				return errors.New("--session wants the id or name of a session")
			case named && of.Last:
				return errors.New("--session and --last each name a session; give one of them")
			case of.All && !named && !of.Last:
				return errors.New("--all belongs to --session or --last")
			}
			return cobra.NoArgs(c, args)
		}),
		RunE: func(*cobra.Command, []string) error {
			s, err := w.settings(f, choices{})
			if err != nil {
				return err
			}
			if of.Text != "" || of.Last {
				of.Dir = s.dir
				return s.listSession(w, of, asJSON)
			}
			return s.listGrants(w, asJSON)
		},
	}
	list.Flags().BoolVar(&asJSON, "json", false, "machine-readable")
	list.Flags().StringVar(&of.Text, "session", "", "what was granted in the session with this `id` or name, until its run ended")
	list.Flags().BoolVar(&of.Last, "last", false, "the same of the newest session of this folder")
	list.Flags().BoolVar(&of.All, "all", false, "with --last or a name: look at sessions of every folder")
	remove := &cobra.Command{
		Use:   "remove NUMBER… | WORD… | FOLDER",
		Short: "Take back a rule, or the trust of a folder, by its number in the list or by its words",
		Args:  usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := w.settings(f, choices{})
			if err != nil {
				return err
			}
			return s.removeGrants(w, args)
		},
	}
	remove.Flags().SetInterspersed(false) // the words of a rule may look like flags
	c.AddCommand(list, remove)
	return c
}

// grant is one thing that holds beyond a run.
type grant struct {
	Number   int        `json:"number"`
	Kind     string     `json:"kind"` // "rule", "host" or "folder"
	Decision string     `json:"decision"`
	Words    string     `json:"words"`             // as a person types it
	Pattern  [][]string `json:"pattern,omitempty"` // of a rule; a place may have alternatives
	Protocol string     `json:"protocol,omitempty"`
	Why      string     `json:"justification,omitempty"`
	Layer    string     `json:"layer"`
	File     string     `json:"file"`
	Line     int        `json:"line,omitempty"`
	Counts   bool       `json:"counts"`
	Note     string     `json:"note,omitempty"` // why it does not count, or what else to know

	text string // of a rule: the line it would be
	own  bool   // it stands in a file of the person's own
}

func (g grant) place() string {
	if g.Line > 0 {
		return fmt.Sprintf("%s:%d", g.File, g.Line)
	}
	return g.File
}

// what names a grant for a person.
func (g grant) what() string {
	switch g.Kind {
	case "host":
		return g.Protocol + " to " + g.Words
	case "folder":
		return "folder " + g.Words
	}
	return g.Words
}

// grants collects what holds in the working directory. The error is about rules; what it leaves in force is listed.
func (s *settings) grants(w world) ([]grant, error) {
	var all []grant
	add := func(g grant) {
		g.Number = len(all) + 1
		all = append(all, g)
	}
	set, err := rules.Load(s.ruleSources(w, false))
	at := func(p rules.Place) grant {
		return grant{Layer: p.Layer.String(), File: p.File, Line: p.Line, own: p.Layer == rules.User, Counts: true}
	}
	for _, r := range set.Rules() {
		g := at(r.Place)
		g.Kind, g.Decision, g.Words, g.Pattern, g.Why, g.text = "rule", string(r.Decision), r.Words(), r.Pattern, r.Why, r.String()
		if r.Void {
			g.Counts, g.Note = false, "counts as nothing: a project may only forbid, or ask for a question"
		}
		add(g)
	}
	for _, n := range set.Networks() {
		g := at(n.Place)
		g.Kind, g.Decision, g.Words, g.Protocol, g.Why, g.text = "host", string(n.Decision), n.Host, n.Protocol, n.Why, n.String()
		g.Counts, g.Note = false, notEnforced
		add(g)
	}
	for _, path := range slices.Sorted(maps.Keys(s.Projects)) {
		level := s.Projects[path].TrustLevel
		if level == "" {
			continue
		}
		g := grant{Kind: "folder", Decision: level, Words: path, Counts: true}
		origin := s.Origin("projects", path, "trust_level")
		g.Layer, g.File, _ = strings.Cut(origin, " ")
		g.own = g.Layer == "user"
		if file, line, ok := cutLine(g.File); ok {
			g.File, g.Line = file, line
		}
		if g.File == "" || strings.HasPrefix(origin, "command line") {
			g.Layer, g.File, g.Note = origin, "", "holds for this command alone"
		}
		add(g)
	}
	if err != nil {
		err = ruleError(err, true)
	}
	return all, err
}

// cutLine takes the number of a line off a place.
func cutLine(place string) (file string, line int, ok bool) {
	at := strings.LastIndexByte(place, ':')
	if at < 0 {
		return place, 0, false
	}
	n, digits := 0, place[at+1:]
	for _, c := range digits {
		if c < '0' || c > '9' || n > 1e8 {
			return place, 0, false
		}
		n = 10*n + int(c-'0')
	}
	return place[:at], n, digits != ""
}

// listGrants prints what holds in the working directory.
func (s *settings) listGrants(w world, asJSON bool) error {
	all, wrong := s.grants(w)
	inert := s.inertRules()
	if asJSON {
		out := struct {
			Grants  []grant  `json:"grants"`
			Inert   []string `json:"inert"` // folders of rules that do not count, and why
			Problem string   `json:"problem,omitempty"`
		}{all, inert, ""}
		if out.Grants == nil {
			out.Grants = []grant{}
		}
		if out.Inert == nil {
			out.Inert = []string{}
		}
		if wrong != nil {
			out.Problem = wrong.Error()
		}
		if err := writeJSON(w.stdout, out); err != nil {
			return err
		}
		if wrong != nil {
			return exited(exitFailed)
		}
		return nil
	}
	t := table{heads: []string{">#", "decision", "what", "where", "note"}}
	own := false
	for _, g := range all {
		note := g.Note
		if g.Why != "" {
			note = strings.TrimPrefix(note+"; "+g.Why, "; ")
		}
		t.add(fmt.Sprint(g.Number), g.Decision, g.what(), strings.TrimSpace(g.Layer+" "+g.place()), note)
		own = own || g.own
	}
	if len(all) > 0 {
		if err := t.write(w.stdout); err != nil {
			return err
		}
	} else if wrong == nil {
		fmt.Fprintln(w.stdout, "Nothing is granted beyond one run: there are no rules about commands, and no folder was decided about.")
	}
	for _, text := range inert {
		fmt.Fprintln(w.stdout, harmless(text))
	}
	if own {
		fmt.Fprintf(w.stdout, "\nTo take one back: interpreter approvals remove NUMBER\n")
	}
	return wrong
}

// removeGrants takes back what a person names.
func (s *settings) removeGrants(w world, args []string) error {
	all, wrong := s.grants(w)
	chosen, err := choose(all, args, s.user)
	if err != nil {
		if wrong != nil { // what was meant may stand in the file that cannot be read
			return wrong
		}
		return err
	}
	for _, g := range chosen {
		if !g.own {
			return notOwn(g)
		}
	}
	// Lines below one that goes move up, so the last one goes first.
	slices.SortStableFunc(chosen, func(a, b grant) int { return b.Line - a.Line })
	for _, g := range chosen {
		if g.Kind == "folder" {
			err = config.ForgetTrust(s.home, g.Words)
		} else {
			err = rules.Remove(g.File, g.Line, g.text)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(w.stdout, "taken back: %s %s (%s)\n", g.Decision, harmless(g.what()), harmless(g.place()))
	}
	return nil
}

// notOwn refuses to change a file that is not the person's own, and names it.
func notOwn(g grant) error {
	if g.File == "" {
		return fmt.Errorf("%s stands in no file: it is from the %s", g.what(), g.Layer)
	}
	return try(fmt.Errorf("%s stands in a file of the %s, and this command changes your own files only", g.what(), g.Layer),
		"edit "+g.place())
}
