package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interpreter/agent/event"
	"interpreter/harness/catalog"
)

// What the loop does with answers whose reading has a remark: cut calls, thoughts without end, unknown tools, work that is
// only told of.
func TestCasesOfToolCalls(t *testing.T) {
	for name, check := range map[string]func(t *testing.T, w *world, ended event.TurnEnded){
		"tc-06": func(t *testing.T, w *world, ended event.TurnEnded) {
			if in := bodies[event.Injected](w.log); len(in) != 1 || !strings.Contains(in[0].Message.Text, "cut off") || len(bodies[event.Did](w.log)) > 0 {
				t.Errorf("the model is told %+v", in)
			}
			if warned := bodies[event.Warned](w.log); len(warned) != 1 || !strings.Contains(warned[0].Text, "cut off inside a tool call") {
				t.Errorf("the person is told %+v", warned)
			}
		},
		"tc-20": func(t *testing.T, w *world, ended event.TurnEnded) {
			if said := bodies[event.Said](w.log); len(said) != 1 || len(bodies[event.Injected](w.log)) > 0 {
				t.Errorf("something of it was kept: %+v", said)
			}
			if ended.Recovered[event.EmptyAnswer] != 1 || len(bodies[event.Warned](w.log)) != 1 {
				t.Errorf("the person is told %+v, %+v", ended, bodies[event.Warned](w.log))
			}
		},
		"tc-24": func(t *testing.T, w *world, ended event.TurnEnded) {
			dids := bodies[event.Did](w.log)
			if len(dids) != 1 || dids[0].Status != event.Failing || !strings.Contains(dids[0].Words, "inspect_blob") || !strings.Contains(dids[0].Words, "read_file") || !strings.Contains(dids[0].Words, "glob") {
				t.Errorf("the model is told %+v", dids)
			}
		},
		"tc-30": func(t *testing.T, w *world, ended event.TurnEnded) {
			if len(bodies[event.Did](w.log)) > 0 || len(bodies[event.Injected](w.log)) > 0 || !strings.HasPrefix(ended.Final, "The file is now there.") {
				t.Errorf("ended with %+v", ended)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join("testdata", "tool-calls", name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				Finish string `json:"given_finish_reason"`
				Calls  []any
			}
			raw, err := os.ReadFile(filepath.Join("testdata", "tool-calls", name+".expected.json"))
			if err == nil {
				err = json.Unmarshal(raw, &want)
			}
			if err != nil {
				t.Fatal(err)
			}
			qwen, err := catalog.Named("qwen-code")
			if err != nil {
				t.Fatal(err)
			}
			reply := "raw <<END\n" + string(content) + "\nEND"
			if want.Finish == "length" {
				reply += "\nfinish length"
			}
			w := start(t, script(reply, "say That was it."), func(c *Config) { c.Harness = qwen })
			ended := w.prompt("look at it")
			if calls := len(bodies[event.Said](w.log)[0].Message.Calls); calls != len(want.Calls) || len(w.box.Commands()) > 0 {
				t.Errorf("%d calls", calls)
			}
			check(t, w, ended)
		})
	}
}
