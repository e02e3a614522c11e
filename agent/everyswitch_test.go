package agent_test

import (
	"bytes"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"interpreter/agent"
	"interpreter/agent/event"
	"interpreter/harness"
	"interpreter/harness/catalog"
	"interpreter/harness/harnesstest"
	"interpreter/local/chat"
)

// TestSwitchHarnessMidway goes from one harness to another and back in the middle of a session. Each gets an opening of its
// own; what was said and done stays, in a form that servers take.
func TestSwitchHarnessMidway(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	template := repository(t)
	pairs := [][2]string{{"native", "claude-code"}, {"qwen-code", "kimi-code"}, {"deepseek-tui", "pi"}, {"claude-code", "native"}}
	for _, h := range catalog.All() {
		if h.Text {
			pairs = append(pairs, [2]string{"native", h.Name}, [2]string{h.Name, "zcode"})
		}
	}
	for _, pair := range pairs {
		t.Run(pair[0]+" to "+pair[1], func(t *testing.T) {
			t.Parallel()
			var both [2]harness.Harness
			for i, name := range pair {
				h, err := catalog.Named(name)
				if err != nil {
					t.Fatal(err)
				}
				both[i] = h
			}
			s := newStage(t, both[0], variant{full: true}, template, "")
			for turn := range 3 {
				h := both[turn%2]
				if turn > 0 {
					s.h, s.form, s.model.compacts = h, harnesstest.Played(t, h.Name), h.CompactPrompt()
					if err := s.session.Switch(agent.Change{Harness: h, HarnessWhy: "asked for", Env: s.environment(h)}); err != nil {
						t.Fatal(err)
					}
				}
				before := len(s.model.asked)
				s.check(s.turn("Look <once> more.", runs(t, h.Name, "cat greet.go"), runs(t, h.Name, "exit 3"), s.nonsense()), []one{
					{Tool: "cat", Want: "package greet // helo"}, {Tool: "exit", Want: "3", Status: string(event.Failing)},
					{Tool: "teleport", Want: "teleport", Status: string(event.Failing)}, {Tool: "nonsense", Status: string(event.Failing)},
				})
				s.checkOpening(turn, before)
			}
		})
	}
}

// checkOpening holds the requests behind a switch to the opening of the harness that is used now.
func (s *stage) checkOpening(turn, from int) {
	t := s.t
	openings := all[event.Opened](s.log)
	if len(openings) != turn+1 || openings[turn].Harness != s.h.Name {
		t.Fatalf("turn %d: %d openings, the last of %s", turn, len(openings), openings[len(openings)-1].Harness)
	}
	messages, tools, err := s.h.Begin(s.environment(s.h))
	if err != nil {
		t.Fatal(err)
	}
	begin := s.h.Request(s.env, messages, tools, nil, 0)
	if last := len(begin.Messages) - 1; s.h.Join && last >= 0 {
		begin.Messages = begin.Messages[:last]
	}
	prefix := open(wireJSON(t, chat.Request{Messages: begin.Messages}))
	for i, r := range s.model.asked[from:] {
		if !bytes.HasPrefix(r.messages, prefix) {
			t.Errorf("turn %d, request %d does not begin as it must: %s", turn, i, apart(prefix, r.messages))
		}
		if !sameTools(r.Tools, tools) {
			t.Errorf("turn %d, request %d has other tools", turn, i)
		}
		valid(t, s.h, i, r.Messages)
		prefix = open(r.messages)
		if n := bytes.Count(r.messages, []byte("package greet // helo")); n < turn {
			t.Errorf("turn %d, request %d has lost results of earlier turns: %d are left", turn, i, n)
		}
		for _, m := range r.Messages {
			if strings.Contains(m.Text, harness.NoResult) || m.Result != nil && m.Result.Text == harness.NoResult {
				t.Errorf("turn %d, request %d: a result is lost", turn, i)
			}
		}
	}
}
