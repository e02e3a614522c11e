package claudecodebare

import (
	"testing"

	"interpreter/harness"
	"interpreter/harness/harnesstest"
	"interpreter/local/chat"
)

func TestHarness(t *testing.T) { harnesstest.Run(t, Harness) }

const most = 4000

func TestSize(t *testing.T) { harnesstest.Fits(t, Harness, most) }

// The size counts with the guidance, which is on unless a person switches it off.
func TestSizeWithGuidance(t *testing.T) {
	env := harnesstest.Plain()
	env.Guidance = true
	messages, tools, err := Harness.Begin(env)
	if err != nil {
		t.Fatal(err)
	}
	prompt := []chat.Message{{Role: chat.User, Text: "Hello"}}
	req := Harness.Request(env, messages, tools, prompt, env.Window)
	s := harness.Stats(req.Messages, req.Tools)
	t.Logf("instructions %d, tools %d, context %d, total %d bytes", s.Instructions.Bytes, s.Tools.Bytes, s.Context.Bytes, s.Total.Bytes)
	if s.Total.Bytes > most {
		t.Errorf("the first request has %d bytes, more than %d", s.Total.Bytes, most)
	}
}
