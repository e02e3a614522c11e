package harnesstest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Play is how a harness is played with real actions: testdata/play.json in its folder, play@V.json of its variant V. In
// arguments, $dir is the workspace, $url a page, and $id the number or name that the last result gave to something that
// runs, or to a task.
type Play struct {
	Run   RunForm    `json:"run"`
	Bad   string     `json:"bad"`        // of a text harness: an answer that cannot be read
	Last  []string   `json:"last"`       // answers that end a turn in which something was run; none: any words do
	Ends  int        `json:"last_calls"` // how many of those are calls
	Blind bool       `json:"blind"`      // what a command prints is told only at its end
	Calls []PlayCall `json:"calls"`      // every tool it offers in any environment, and every one it understands without
	Work  []PlayCall `json:"work"`       // a small piece of work: greet.go says helo, and hello in the end
}

// RunForm is how a command is run: a call, or an answer of a text harness, with $command in it.
type RunForm struct {
	Tool    string `json:"tool"`
	Args    string `json:"args"`
	Escaped bool   `json:"escaped"` // $command stands inside a JSON string
}

// With is the form with a command in it.
func (r RunForm) With(command string) string {
	if r.Escaped {
		raw, err := json.Marshal(command)
		if err != nil {
			panic(err) // a string always has a form
		}
		command = strings.TrimSuffix(strings.TrimPrefix(string(raw), `"`), `"`)
	}
	return strings.ReplaceAll(r.Args, "$command", command)
}

// PlayCall is one call, and a fact that its words must hold, however they put it. Of a text harness, Args is the whole
// answer.
type PlayCall struct {
	Tool   string `json:"tool"`
	Args   string `json:"args"`
	Want   string `json:"want"`
	Status string `json:"status"` // "": completed
	Person bool   `json:"person"` // makes sense only where a person can be asked
}

// Played reads how a harness is played.
func Played(t testing.TB, name string) Play {
	t.Helper()
	base, variant, varies := strings.Cut(name, "@")
	file := "play.json"
	if varies {
		file = "play@" + variant + ".json"
	}
	raw, err := os.ReadFile(filepath.Join(root(t), "harness", strings.ReplaceAll(base, "-", ""), "testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var p Play
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatalf("%s of %s: %v", file, name, err)
	}
	if len(p.Calls) == 0 || len(p.Work) == 0 || p.Run.Args == "" {
		t.Fatalf("%s of %s: it needs run, calls and work", file, name)
	}
	return p
}

// root is the top of the module, from the folder of whichever package is tested.
func root(t testing.TB) string {
	t.Helper()
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at
		}
		up := filepath.Dir(at)
		if up == at {
			t.Fatal("no go.mod above the test")
		}
		at = up
	}
}
