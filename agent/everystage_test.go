package agent_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"interpreter/agent"
	"interpreter/agent/approve"
	"interpreter/agent/event"
	"interpreter/agent/project"
	"interpreter/agent/store"
	"interpreter/harness"
	"interpreter/harness/harnesstest"
	"interpreter/local/chat"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// stage is a session and all around it.
type stage struct {
	t         *testing.T
	h         harness.Harness
	v         variant
	dir, home string
	now       time.Time
	model     *scripted

	log      *event.Log
	file     *store.File
	session  *agent.Session
	box      sandbox.Box
	fence    *fence
	env      harness.Environment
	answered chan struct{} // closed when nobody answers any more
	form     harnesstest.Play
	says     func(action.Question) string // what a person answers; nil: the first of the choices
}

func newStage(t *testing.T, h harness.Harness, v variant, template, page string) *stage {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(template)); err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, h: h, v: v, form: harnesstest.Played(t, h.Name), dir: dir, home: t.TempDir(), now: time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)}
	s.model = &scripted{t: t, fill: strings.NewReplacer("$dir", dir, "$url", page), compacts: h.CompactPrompt()}
	s.log, s.file, err = store.Create(s.home, event.Begun{ID: "0197f000-0000-7000-8000-000000000009", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	s.begin(h)
	t.Cleanup(s.end)
	return s
}

// begin makes a session of the log, in the environment as it is now.
func (s *stage) begin(h harness.Harness) {
	s.t.Helper()
	policy, _, err := sandbox.Resolve(sandbox.Settings{Mode: sandbox.FullAccess, Dir: s.dir, Home: s.home})
	if err != nil {
		s.t.Fatal(err)
	}
	if s.box, err = sandbox.New(policy); err != nil {
		s.t.Fatal(err)
	}
	s.fence = &fence{Box: s.box, dir: s.dir}
	s.env = s.environment(h)
	s.session, err = agent.New(agent.Config{
		Model: s.model, ModelName: "m", Provider: "p", Window: 200_000, Harness: h, HarnessWhy: "asked for", Env: s.env,
		Workspace: &action.Workspace{Dir: s.dir, Box: s.fence, Shell: "/bin/sh", Env: gitEnv(), Spill: filepath.Join(s.home, "outputs")},
		Approval:  approve.Never, Log: s.log, Interactive: s.v.full, Now: func() time.Time { return s.now },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.answered = make(chan struct{})
	go s.person(s.session, s.session.Events(context.Background(), len(s.log.Events())), s.answered)
}

// fence is a box that confines while it is up, as far as its policy and a command can tell: $MAY is what the command may
// do beyond it.
type fence struct {
	sandbox.Box
	dir string
	up  bool
}

func (f *fence) Policy() sandbox.Policy {
	if f.up {
		return sandbox.Policy{Mode: sandbox.WorkspaceWrite, Dir: f.dir, Roots: []string{f.dir}}
	}
	return f.Box.Policy()
}

func (f *fence) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	if c.Opened.Network || c.Outside {
		c.Env = append(slices.Clone(c.Env), "MAY=net")
	}
	c.Opened, c.Outside = sandbox.Opened{}, false
	return f.Box.Start(ctx, c)
}

// environment is what the program would gather, and what a variant says.
func (s *stage) environment(h harness.Harness) harness.Environment {
	known, err := project.Gather(context.Background(), project.Options{Dir: s.dir, Home: s.home, Shell: "/bin/sh", TZ: "UTC", Now: s.now, Policy: s.box.Policy()})
	if err != nil {
		s.t.Fatal(err)
	}
	env := known.Env
	if h.Git {
		env.Status = project.Status(context.Background(), s.box, s.dir, gitEnv())
	}
	env.Approval, env.Model, env.Window = string(approve.Never), "m", 200_000
	env.Interactive, env.Background, env.Fetch, env.Vision, env.Large = s.v.full, s.v.full, s.v.full, s.v.full, s.v.large
	for _, tool := range h.Tools {
		if s.v.full {
			env.Requested = append(env.Requested, tool.Spec.Name)
		}
	}
	return env
}

// person answers what the session asks: the first of the choices, and no to what is called declined.
func (s *stage) person(session *agent.Session, events iter.Seq[event.Event], done chan struct{}) {
	defer close(done)
	for e := range events {
		asked, ok := e.Body.(event.Asked)
		switch {
		case !ok:
		case len(asked.Questions) > 0:
			answers := map[string]string{}
			for _, q := range asked.Questions {
				answers[q.ID] = q.Options[0]
				if s.says != nil {
					answers[q.ID] = s.says(q)
				}
			}
			session.Reply(asked.ID, answers)
		case strings.Contains(asked.Title, "declined"):
			session.Answer(asked.ID, approve.No, "that is not needed")
		default:
			session.Answer(asked.ID, approve.Once, "")
		}
	}
}

// end closes the session and its file.
func (s *stage) end() {
	if s.session == nil {
		return
	}
	if err := s.session.Close(); err != nil {
		s.t.Errorf("close the session: %v", err)
	}
	<-s.answered
	if err := s.file.Close(); err != nil {
		s.t.Errorf("close its file: %v", err)
	}
	s.session = nil
}

// again goes on with the session from its file, 25 hours later, after others have worked in the repository.
func (s *stage) again(branch string) {
	s.t.Helper()
	s.end()
	git(s.t, s.dir, "checkout", "-q", "-b", branch)
	write(s.t, filepath.Join(s.dir, branch+".txt"), "new\n")
	write(s.t, filepath.Join(s.dir, "AGENTS.md"), "On "+branch+": say nothing.\n")
	git(s.t, s.dir, "commit", "-q", "-a", "-m", "Begin "+branch)
	write(s.t, filepath.Join(s.dir, "greet.go"), "package greet // on "+branch+"\n")
	s.now = s.now.Add(25 * time.Hour)
	var err error
	if s.log, s.file, err = store.Open(s.file.Path()); err != nil {
		s.t.Fatal(err)
	}
	s.begin(s.h)
}

// turn runs a turn that must come to its end with all its replies, and gives the results of those that do not end it.
func (s *stage) turn(prompt string, replies ...reply) []event.Did {
	s.t.Helper()
	before := len(all[event.Did](s.log))
	s.model.queue = slices.Concat(replies, ends(s.form))
	if err := s.session.Prompt(context.Background(), chat.Message{Text: prompt}); err != nil {
		s.t.Fatalf("%s: %v", prompt, err)
	}
	ended := all[event.TurnEnded](s.log)
	if last := ended[len(ended)-1]; last.Reason != event.Finished || len(s.model.queue) > 0 {
		s.t.Fatalf("%s: the turn ended with %+v, %d replies were not asked for", prompt, last, len(s.model.queue))
	}
	dids := all[event.Did](s.log)[before:]
	return dids[:len(dids)-s.form.Ends]
}

// interrupted runs a turn that a person ends: while a command runs, or in the middle of an answer.
func (s *stage) interrupted(prompt string, r reply) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.model.interrupt = cancel
	s.model.queue = []reply{r}
	from := s.session.Events(ctx, len(s.log.Events()))
	blind := s.form.Blind
	go func() {
		for e := range from {
			switch b := e.Body.(type) {
			case event.Printed:
				if strings.Contains(b.Text, "begun") {
					cancel()
				}
			case event.Started:
				if blind {
					cancel()
				}
			}
		}
	}()
	err := s.session.Prompt(ctx, chat.Message{Text: prompt})
	ended := all[event.TurnEnded](s.log)
	if !errors.Is(err, context.Canceled) || ended[len(ended)-1].Reason != event.Interrupted {
		s.t.Fatalf("%s: %v, %+v", prompt, err, ended[len(ended)-1])
	}
}

func (s *stage) opened() *event.Opened {
	opened := all[event.Opened](s.log)
	if len(opened) != 1 {
		s.t.Fatalf("%d openings", len(opened))
	}
	return &opened[0]
}
