package deepseektui

import (
	"testing"

	"interpreter/harness/harnesstest"
	"interpreter/local/chat"
)

func TestHarness(t *testing.T) { harnesstest.Run(t, Harness) }

func TestSize(t *testing.T) { harnesstest.Fits(t, Harness, 14_000) }

// What goes to the wire for a message depends on that message alone.
func TestThoughts(t *testing.T) {
	call := []chat.Call{{ID: "1", Name: "read_file"}}
	req := chat.Request{Messages: []chat.Message{
		{Role: chat.User, Text: "go"},
		{Role: chat.Assistant, Calls: call},
		{Role: chat.Assistant, Calls: call, Thinking: "look first"},
		{Role: chat.Assistant, Text: "done"},
	}}
	shape(harnesstest.Plain(), &req)
	for i, want := range []string{"", omitted, "look first", ""} {
		if got := req.Messages[i].Thinking; got != want {
			t.Errorf("thoughts of message %d are %q, want %q", i, got, want)
		}
	}
}
