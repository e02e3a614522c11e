package main

import (
	"context"
	"errors"
	"fmt"
	osexec "os/exec"
	"strings"

	"github.com/spf13/cobra"

	"interpreter/agent/approve"
	"interpreter/agent/event"
	"interpreter/agent/project"
	"interpreter/agent/store"
	"interpreter/cmd/exec"
	"interpreter/local/chat"
)

// execFlags are those of exec alone; they may stand before or after its nested words.
type execFlags struct {
	json, skipGit, ephemeral, ignoreUser, ignoreRules bool
	last, schema                                      string
	color                                             colorFlag
}

// newExec is the command that runs one task.
func newExec(w world, f *flags) *cobra.Command {
	x := &execFlags{color: "auto"}
	c := &cobra.Command{
		Use:     "exec [PROMPT | -]",
		Aliases: []string{"e"},
		Short:   "Run one task to its end, without questions",
		Args:    usageArgs(onePrompt),
		RunE: func(cmd *cobra.Command, args []string) error {
			return w.exec(cmd.Context(), f, x, task{prompt: optional(args)})
		},
	}
	set := c.PersistentFlags()
	set.BoolVar(&x.json, "json", false, "events on standard output, one JSON object a line")
	set.BoolVar(&x.json, "experimental-json", false, "")
	_ = set.MarkHidden("experimental-json")
	set.StringVarP(&x.last, "output-last-message", "o", "", "write the final answer to `file`")
	set.StringVar(&x.schema, "output-schema", "", "the final answer must be JSON of the schema in `file`")
	for _, label := range []string{"thread-source", "cyber-access-program"} { // newer Codex SDKs pass them; they name nothing of ours
		set.String(label, "", "")
		_ = set.MarkHidden(label)
	}
	set.BoolVar(&x.skipGit, "skip-git-repo-check", false, "allow a start outside a git work tree")
	set.BoolVar(&x.ephemeral, "ephemeral", false, "keep no session file")
	set.BoolVar(&x.ignoreUser, "ignore-user-config", false, "leave out the home configuration")
	set.BoolVar(&x.ignoreRules, "ignore-rules", false, "leave out rules files")
	set.Var(&x.color, "color", "colours on standard error: auto, always, never")
	_ = c.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp))

	var last, all bool
	resume := &cobra.Command{
		Use:   "resume [SESSION_ID | NAME] [PROMPT | -]",
		Short: "Go on with an earlier session",
		Args:  usageArgs(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := resumed(args, last, all)
			if err != nil {
				return err
			}
			return w.exec(cmd.Context(), f, x, t)
		},
	}
	resume.Flags().BoolVar(&last, "last", false, "the newest session of this folder")
	resume.Flags().BoolVar(&all, "all", false, "look at sessions of every folder")
	fork := &cobra.Command{
		Use:   "fork [SESSION_ID | NAME] [PROMPT | -]",
		Short: "Copy an earlier session and go on with the copy",
		Args:  usageArgs(cobra.MaximumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := resumed(args, last, all)
			if err != nil {
				return err
			}
			t.copy = true
			return w.exec(cmd.Context(), f, x, t)
		},
	}
	fork.Flags().AddFlagSet(resume.Flags())
	c.AddCommand(resume, fork)
	return c
}

// onePrompt is the arguments of exec.
func onePrompt(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%d prompts were given; put the whole of it in quotes", len(args))
	}
	return nil
}

// task is what exec is asked to do.
type task struct {
	prompt *string
	query  *store.Query // of an earlier session
	copy   bool
}

// resumed reads the positional arguments of resume and fork: with --last the only one is the prompt.
func resumed(args []string, last, all bool) (task, error) {
	t := task{query: &store.Query{Last: last, All: all}}
	if last && len(args) > 1 {
		return t, usageError{errors.New("--last names the session; give one prompt, or drop --last")}
	}
	if !last {
		if len(args) == 0 {
			return t, usageError{errors.New("resume what? name a session, or use --last")}
		}
		t.query.Text, args = args[0], args[1:]
	}
	t.prompt = optional(args)
	return t, nil
}

func optional(args []string) *string {
	if len(args) == 0 {
		return nil
	}
	return &args[0]
}

// exec runs a task: settings, prompt, checks that cost nothing, then the model, then the turn.
func (w world) exec(ctx context.Context, f *flags, x *execFlags, t task) error {
	colour, err := exec.UseColour(string(x.color), w.stderrTerminal, w.env("NO_COLOR"))
	if err != nil {
		return usageError{err}
	}
	s, err := w.settings(f, choices{ignoreUser: x.ignoreUser})
	if err != nil {
		return err
	}
	if f.approval == "" && !f.confinement.auto {
		s.approval = "never" // nobody is there to answer
	}
	human := &exec.Human{
		Out: w.stderr, Version: version, Colour: colour, Terminal: w.stderrTerminal, Quiet: x.json,
		HideReasoning: s.HideAgentReasoning,
	}
	pending, prompt, err := w.prompt(ctx, t, human)
	if err != nil {
		return err
	}
	images, err := readImages(f.images)
	if err != nil {
		return err
	}
	if err := s.cheapChecks(f, x); err != nil {
		return err
	}
	if err := s.loadRules(w, x.ignoreRules); err != nil {
		return err
	}
	p := plan{source: "exec", ephemeral: x.ephemeral || s.Sessions.Persistence == "none", images: len(images), stage: human.Stage, tick: human.Tick}
	if !p.ephemeral {
		human.GoOn = `interpreter exec resume --last "…"`
	}
	if x.schema != "" {
		if p.schema, err = exec.Schema(x.schema); err != nil {
			return err
		}
	}
	if t.query != nil {
		if err := p.find(s.home, s.dir, t); err != nil {
			return err
		}
	}
	news := p.listen(human, x.json)
	a, err := w.assemble(ctx, &s, f, p)
	if err != nil {
		human.Wipe()
		return err
	}
	defer a.close()
	for _, text := range *news {
		if err := a.log.Append(event.Warned{Text: text}); err != nil {
			return err
		}
	}
	if prompt == "" {
		if prompt, err = pending.Prompt(ctx); err != nil {
			return err
		}
	}
	human.Reads(a.model.Prefill, a.model.Warm, a.log.Events()[:a.held])
	code, err := exec.Run(ctx, a.session, exec.Options{
		Prompt: chat.Message{Role: chat.User, Text: prompt, Images: images}, Compact: exec.IsCompact(prompt, len(images)),
		JSON: x.json, From: a.held, LastMessage: x.last, Human: human,
		Stdout: w.stdout, StdoutTerminal: w.stdoutTerminal, StderrTerminal: w.stderrTerminal,
		Decline: func(q event.Asked) { a.session.Answer(q.ID, approve.No, "nobody is there to answer") },
	})
	if err == nil && code != exitFine {
		err = exited(code)
	}
	return err
}

// prompt begins to read the prompt, and waits for it when there is nothing to start with yet: a model that takes minutes
// to load should not be loaded for an empty prompt. "" means that the rest may come while the model is made ready.
func (w world) prompt(ctx context.Context, t task, human *exec.Human) (*exec.Pending, string, error) {
	in := exec.Input{Resume: t.query != nil, Stdin: w.stdin, Terminal: w.stdinTerminal, Notice: human.Notice}
	if t.prompt != nil {
		in.Argument, in.Given = *t.prompt, true
	}
	pending := in.Begin()
	if in.Given && in.Argument != "-" && strings.TrimSpace(in.Argument) != "" {
		return pending, "", nil
	}
	text, err := pending.Prompt(ctx)
	return pending, text, err
}

// cheapChecks refuses what cannot work before a model is loaded for it, and notes what is odd.
func (s *settings) cheapChecks(f *flags, x *execFlags) error {
	if err := s.thereAll(); err != nil {
		return err
	}
	if err := exec.Writable(x.last); err != nil {
		return err
	}
	if _, inside := project.FindGit(s.dir); !inside && !x.skipGit && !f.confinement.yolo {
		return try(fmt.Errorf("%s is not inside a git work tree, so there would be no diff to review", s.dir),
			"git init, or --skip-git-repo-check to go on without")
	}
	if _, err := osexec.LookPath("git"); err != nil {
		s.warnings = append(s.warnings, "git is not installed: the work goes on, but there is no git diff to review it by")
	}
	return nil
}

// listen has a person told what is odd at once. A program that reads --json is told by events, once there is a session:
// those texts are collected.
func (p *plan) listen(human *exec.Human, asJSON bool) *[]string {
	news := new([]string)
	p.note = func(texts []string) {
		for _, text := range texts {
			human.Warn(text, "")
		}
	}
	p.warn = p.note
	if asJSON {
		p.warn = func(texts []string) { *news = append(*news, texts...) }
	}
	return news
}

// find looks up the earlier session a task goes on with.
func (p *plan) find(home, dir string, t task) error {
	q := *t.query
	q.Dir = dir
	info, err := store.Find(home, q)
	if err != nil {
		return err
	}
	if t.copy {
		p.fork = &info
	} else {
		p.resume = &info
	}
	return nil
}

// colorFlag is --color.
type colorFlag string

func (c *colorFlag) String() string { return string(*c) }
func (c *colorFlag) Type() string   { return "when" }
func (c *colorFlag) Set(v string) error {
	switch v {
	case "auto", "always", "never":
		*c = colorFlag(v)
		return nil
	}
	return fmt.Errorf("want one of: %s", strings.Join([]string{"auto", "always", "never"}, ", "))
}
