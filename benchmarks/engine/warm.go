package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"interpreter/agent"
	"interpreter/agent/event"
	"interpreter/agent/store"
	"interpreter/harness"
	"interpreter/harness/catalog"
	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/practice"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

const (
	rounds   = 3
	prefix   = 20 << 10 // bytes of instructions; the echoing model reads a token a byte
	accepted = 15       // percent of the cold time
)

// warm measures what a person waits for the first token of a session whose instructions take 20 KB: when the server
// reads them then, and when it has read them while the person typed. Each session's instructions begin differently, so
// none profits from another.
func warm(ctx context.Context, engine, dir string) error {
	s, err := start(engine, dir, "engine", "OLLAMA_FLASH_ATTENTION=0") // on a processor the plain way reads faster
	if err != nil {
		return err
	}
	return errors.Join(s.compare(ctx, dir), s.stop())
}

func (s *server) compare(ctx context.Context, dir string) error {
	script, err := practice.Parse("reply\n  say It works.\n")
	if err != nil {
		return err
	}
	const name = "practice-echo"
	if err := practice.WriteGGUF(script, dir, practice.GGUFOptions{Echo: true}); err != nil {
		return err
	}
	if err := s.create(ctx, name, filepath.Join(dir, "Modelfile")); err != nil {
		return err
	}
	info, err := s.Show(ctx, name)
	if err != nil {
		return err
	}
	model, err := s.Load(ctx, info, local.Loading{Window: local.Floor})
	if err != nil {
		return err
	}
	var cold, reading, warmed []time.Duration
	for round := range rounds {
		first, err := opened(model, dir, fmt.Sprintf("cold %d", round))
		if err != nil {
			return err
		}
		wait, err := first.untilHeard(ctx)
		if err != nil {
			return fmt.Errorf("cold: %w", err)
		}
		cold = append(cold, wait)

		second, err := opened(model, dir, fmt.Sprintf("warm %d", round))
		if err != nil {
			return err
		}
		began := time.Now()
		if err := second.Warm(ctx); err != nil {
			return err
		}
		reading = append(reading, time.Since(began))
		if wait, err = second.untilHeard(ctx); err != nil {
			return fmt.Errorf("warm: %w", err)
		}
		warmed = append(warmed, wait)
	}
	percent := 100 * float64(median(warmed)) / float64(median(cold))
	fmt.Printf("first token, %d KB of instructions    cold %6.2f s   warm %6.2f s   %.1f %% of cold   (median of %d; the warm-up itself %.2f s)\n",
		prefix>>10, median(cold).Seconds(), median(warmed).Seconds(), percent, rounds, median(reading).Seconds())
	if percent > accepted {
		return fmt.Errorf("warm: the first token after a warm-up took %.1f %% of the cold time, want at most %d %%: cold %v, warm %v", percent, accepted, cold, warmed)
	}
	return nil
}

// talk is a session and its log.
type talk struct {
	*agent.Session
	log *event.Log
}

// opened makes a session whose instructions begin with a title and are as long as prefix.
func opened(model chat.Model, dir, title string) (*talk, error) {
	native, err := catalog.Named("native")
	if err != nil {
		return nil, err
	}
	box, err := sandbox.New(sandbox.Policy{Mode: sandbox.FullAccess, Dir: dir}) // nothing is run
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	text.WriteString(title)
	for n := 1; text.Len() < prefix; n++ {
		fmt.Fprintf(&text, "\nrule-%d:read-before-you-write,and-say-what-you-did.", n) // a blank is three tokens
	}
	log := store.Ephemeral(event.Begun{ID: title, Dir: dir})
	session, err := agent.New(agent.Config{
		Model: model, ModelName: "practice-echo", Provider: "ollama", Wire: "ollama", Window: local.Floor, Harness: native,
		Env:       harness.Environment{Dir: dir, OS: "linux", Shell: "sh", Window: local.Floor, Base: text.String()[:prefix]},
		Workspace: &action.Workspace{Dir: dir, Box: box, Shell: "/bin/sh"}, Log: log,
	})
	return &talk{session, log}, err
}

// untilHeard prompts, and measures the time until the first word of the answer.
func (t *talk) untilHeard(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	heard := make(chan time.Time, 1)
	go func() {
		for e := range t.log.From(ctx, 0) {
			if said, ok := e.Body.(event.Heard); ok && said.Text != "" {
				heard <- time.Now()
				return
			}
		}
	}()
	began := time.Now()
	if err := t.Prompt(ctx, chat.Message{Text: "Does it work?"}); err != nil {
		return 0, err
	}
	select {
	case at := <-heard:
		return at.Sub(began), t.Close()
	case <-time.After(time.Second):
		return 0, errors.New("the model said nothing")
	}
}

func median(list []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
