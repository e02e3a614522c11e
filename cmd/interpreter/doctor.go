package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"interpreter/cmd/config"
	"interpreter/probes"
)

// The states of a finding.
const (
	fine    = "ok"
	warning = "warn"
	broken  = "fail"
)

// finding is one thing that doctor looked at. Remedy is what a person can do, where something is to be done.
type finding struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

func ok(name, format string, args ...any) finding {
	return finding{Name: name, State: fine, Text: fmt.Sprintf(format, args...)}
}

func warn(name, remedy, format string, args ...any) finding {
	return finding{name, warning, fmt.Sprintf(format, args...), remedy}
}

func fail(name, remedy, format string, args ...any) finding {
	return finding{name, broken, fmt.Sprintf(format, args...), remedy}
}

// doctorFor bounds all of doctor's questions together.
const doctorFor = 6 * time.Second

// doctorFlags are how its findings are shown.
type doctorFlags struct{ json, summary, plain bool }

// newDoctor looks at everything that a run needs, and changes nothing.
func newDoctor(w world, f *flags) *cobra.Command {
	q := &doctorFlags{}
	c := &cobra.Command{
		Use:   "doctor",
		Short: "What works here and what does not, each with a remedy",
		Long: "doctor looks at the configuration, the sandbox, the model servers and what fits this machine. It loads nothing, downloads\n" +
			"nothing, changes nothing and asks no address that is not configured. Exit code 1 when something fails.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			all := w.examine(cmd.Context(), f)
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if err := w.tellFindings(all, q); err != nil {
				return err
			}
			if slices.ContainsFunc(all, func(one finding) bool { return one.State == broken }) {
				return exited(exitFailed)
			}
			return nil
		},
	}
	set := c.Flags()
	set.BoolVar(&q.json, "json", false, "as JSON")
	set.BoolVar(&q.summary, "summary", false, "only what is not ok")
	set.BoolVar(&q.plain, "no-color", false, "without colours")
	set.Bool("all", true, "everything, as without --summary")
	set.Bool("ascii", true, "no other characters, as always")
	_ = set.MarkHidden("all")
	_ = set.MarkHidden("ascii")
	return c
}

// examine asks all sides at once and tells of them in a fixed order.
func (w world) examine(ctx context.Context, f *flags) []finding {
	ctx, cancel := context.WithTimeout(ctx, doctorFor)
	defer cancel()
	all := []finding{ok("version", "interpreter %s on %s/%s", version, runtime.GOOS, runtime.GOARCH)}
	s, found := w.readable(f)
	all = append(all, found...)
	if s == nil { // without a home there is nothing to say of servers and models
		return slices.Concat(all, findGit(ctx), findMachine(w.machine(ctx, "", false)), w.surroundings())
	}
	var machine probes.Machine
	var servers stock
	var homely, gitty, boxed []finding
	var wait sync.WaitGroup
	of := func() *settings { one := *s; one.warnings = nil; return &one } // each side has its own
	wait.Go(func() {
		ask := w.questions(s.home, false)
		ask.Disks = append(ask.Disks, probes.Volume{Path: s.home, What: homeDisk})
		machine = w.measured(ctx, ask)
	})
	asking := of()
	wait.Go(func() { servers = asking.stock(ctx, w) })
	wait.Go(func() { homely = findHome(s.home) })
	wait.Go(func() { gitty = findGit(ctx) })
	wait.Go(func() { boxed = of().findSandbox(ctx, w, f) })
	wait.Wait()
	for _, text := range asking.warnings {
		homely = append(homely, warn("config", "mend it in config.toml, or take it out", "%s", text))
	}
	all = slices.Concat(all, homely, gitty, boxed, findMachine(machine), s.findServers(ctx, w, servers, machine))
	return slices.Concat(all, s.findModel(ctx, f, servers, machine), s.findHarness(ctx, servers), w.surroundings())
}

// readable reads the configuration. What cannot be read is a finding, and the rest is examined without it. nil is no
// settings at all.
func (w world) readable(f *flags) (*settings, []finding) {
	at, err := w.folders(f.cd)
	if err != nil {
		return nil, []finding{fail("home", remedyOf(err), "%v", err)}
	}
	s, err := w.settings(f, choices{})
	if err == nil {
		return &s, s.findConfig()
	}
	found := []finding{fail("config", orElse(remedyOf(err), "mend the line; what follows is examined without it"), "%s", inPlace(err))}
	if s, err = w.settings(f, choices{ignoreUser: true}); err == nil {
		return &s, found
	}
	empty, _, err := config.Load(config.Source{Home: at.home, Dir: at.home, UserHome: at.user, IgnoreUser: true})
	if err != nil {
		return nil, append(found, fail("config", "", "%s", inPlace(err)))
	}
	s = settings{folders: at, Config: empty}
	mode, _ := empty.Permissions()
	s.setMode(mode)
	return &s, found
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// surroundings are the environment and the terminal.
func (w world) surroundings() []finding {
	return slices.Concat(w.findEnvironment(), []finding{w.findTerminal(), w.findLocale()})
}

// tellFindings prints findings for people or for programs.
func (w world) tellFindings(all []finding, q *doctorFlags) error {
	for i := range all {
		all[i].Text, all[i].Remedy = printable(all[i].Text), printable(all[i].Remedy)
	}
	shown := all
	if q.summary {
		shown = slices.DeleteFunc(slices.Clone(all), func(one finding) bool { return one.State == fine })
	}
	if q.json {
		if shown == nil {
			shown = []finding{}
		}
		return writeJSON(w.stdout, struct {
			Findings []finding `json:"findings"`
		}{shown})
	}
	width := 0
	for _, one := range shown {
		width = max(width, len(one.Name))
	}
	count := map[string]int{}
	for _, one := range all {
		count[one.State]++
	}
	var b strings.Builder
	for _, one := range shown {
		fmt.Fprintf(&b, "%s  %-*s  %s\n", w.mark(one.State, q), width, one.Name, one.Text)
		if one.Remedy != "" {
			fmt.Fprintf(&b, "      %-*s  try: %s\n", width, "", one.Remedy)
		}
	}
	fmt.Fprintf(&b, "%d ok, %s, %d failed\n", count[fine], counted(count[warning], "warning"), count[broken])
	_, err := fmt.Fprint(w.stdout, b.String())
	return err
}

// mark is a state in four letters, which say the same without their colour.
func (w world) mark(state string, q *doctorFlags) string {
	text, colour := "ok  ", "32"
	switch state {
	case warning:
		text, colour = "warn", "33"
	case broken:
		text, colour = "FAIL", "31"
	}
	if q.plain || !w.stdoutTerminal || w.env("NO_COLOR") != "" || w.env("TERM") == "dumb" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// printable takes out of a text, which may be a server's or a file's, what would act on a terminal, and puts it on one
// line.
func printable(text string) string { return strings.Join(strings.Fields(harmless(text)), " ") }
