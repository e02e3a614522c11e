// Package harnesstest is the contract of a harness, run by each: the surface that the family knows, words for every
// shape of result, whole requests, and the law that each request is the last one plus a tail. Goldens are files in
// the harness's testdata; go test -update rewrites what the program says in them.
package harnesstest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interpreter/harness"
	"interpreter/local/chat"
)

var update = flag.Bool("update", false, "rewrite the goldens of harnesses")

// Run checks a harness against its testdata:
//
//	surface.json        what it must offer; about.md beside the code must name what it does not
//	*.txtar             a call, facts or a fault in; an action and words out
//	shapes.txt          shapes of results without a golden, each with the reason
//	play.json           calls of every tool, played with real actions: see Play
//	request.json        the whole first request of a plain session
//	request-full.json   the same where everything conditional is offered
func Run(t *testing.T, h harness.Harness) {
	t.Helper()
	t.Run("surface", func(t *testing.T) { surfaces(t, h) })
	t.Run("about", func(t *testing.T) { about(t, h) })
	t.Run("prose", func(t *testing.T) { prose(t, h) })
	t.Run("request", func(t *testing.T) { requests(t, h) })
	cases := readCases(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(t, h) })
	}
	t.Run("shapes", func(t *testing.T) { shapes(t, cases) })
	t.Run("prefix", func(t *testing.T) { prefixLaw(t, h, cases) })
}

// about checks that about.md tells a person of every tool of the original that this harness does not offer.
func about(t *testing.T, h harness.Harness) {
	page := h.AboutPage()
	if len(page) < 200 {
		t.Fatalf("about.md has %d bytes; it must say for whom, what it changes, and what it leaves out", len(page))
	}
	offered := map[string]bool{}
	large := Full()
	large.Large = true
	for _, env := range []harness.Environment{Full(), large} {
		_, tools, err := h.Begin(env)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range tools {
			offered[s.Name] = true
		}
	}
	for _, tool := range readSurface(t).Tools {
		if !offered[tool.Name] && !strings.Contains(page, tool.Name) {
			t.Errorf("about.md does not name %s, which is not offered (%s)", tool.Name, tool.Offer)
		}
	}
}

// Fits checks that the first request of a small session stays within a size, in bytes on the wire.
func Fits(t *testing.T, h harness.Harness, most int) {
	t.Helper()
	messages, tools, err := h.Begin(Plain())
	if err != nil {
		t.Fatal(err)
	}
	messages = append(messages, chat.Message{Role: chat.User, Text: "Hello"})
	s := harness.Stats(messages, tools)
	t.Logf("%s: instructions %d, tools %d, context %d, total %d bytes (%d tokens)", h.Name, s.Instructions.Bytes, s.Tools.Bytes, s.Context.Bytes, s.Total.Bytes, s.Total.Tokens)
	if s.Total.Bytes > most {
		t.Errorf("the first request has %d bytes, more than %d", s.Total.Bytes, most)
	}
}

// Plain is the environment of a session that nobody watches, in a small repository.
func Plain() harness.Environment {
	return harness.Environment{
		Dir: "/home/ada/habits", OS: "linux", OSVersion: "6.12", Shell: "bash", Zone: "Europe/Berlin",
		Date: time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC), Git: true, Branch: "main",
		Listing: []harness.Entry{{Path: "cmd", Dir: true}, {Path: "node_modules", Dir: true, Skipped: true}, {Path: "go.mod"}, {Path: "habits.go"}, {Path: "habits_test.go"}, {Path: "cmd/main.go"}},
		Status:  harness.GitStatus{Main: "main", User: "Ada", Changes: []string{" M habits.go"}, Commits: []string{"1a2b3c4 Count streaks"}},
		Sandbox: "workspace-write", Roots: []string{"/home/ada/habits", "/tmp"}, Approval: "never",
		Model: "a-model:7b", Window: 65536,
	}
}

// Full is an environment in which everything conditional holds.
func Full() harness.Environment {
	env := Plain()
	env.Interactive, env.Vision, env.Approval, env.Network = true, true, "on-request", true
	env.Background, env.Fetch = true, true
	env.Docs = []harness.Doc{
		{Path: "/home/ada/.config/AGENTS.md", Text: "Prefer short answers.\n"},
		{Path: "/home/ada/habits/AGENTS.md", Text: "Run `go test ./...` before you finish.\n"},
	}
	env.Extra = "Answer in English."
	return env
}

func prose(t *testing.T, h harness.Harness) {
	if h.CompactPrompt() == "" {
		t.Error("no compact.md")
	}
	for _, env := range []harness.Environment{Plain(), Full()} {
		for _, sandbox := range []string{"read-only", "workspace-write", "danger-full-access"} {
			env.Sandbox = sandbox
			messages, tools, err := h.Begin(env)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range messages {
				if strings.Contains(m.Text, "<no value>") || strings.Contains(m.Text, "\n\n\n") || m.Text != strings.TrimSpace(m.Text) {
					t.Errorf("%s: a message with holes in it: %q", sandbox, m.Text)
				}
			}
			for _, s := range tools {
				if s.Description == "" || !json.Valid(s.Parameters) {
					t.Errorf("%s: no description or no schema", s.Name)
				}
			}
		}
	}
	env := Plain()
	env.Base, env.Extra = "Be a parrot.", "Squawk twice."
	messages, _, err := h.Begin(env)
	if err != nil {
		t.Fatal(err)
	}
	if text := messages[0].Text; !strings.Contains(text, "Be a parrot.\n\nSquawk twice.") {
		t.Errorf("a person's own instructions were not taken: %.80q", text)
	}
}

func requests(t *testing.T, h harness.Harness) {
	for file, env := range map[string]harness.Environment{"request.json": Plain(), "request-full.json": Full()} {
		messages, tools, err := h.Begin(env)
		if err != nil {
			t.Fatal(err)
		}
		prompt := []chat.Message{{Role: chat.User, Text: "Hello"}}
		req := h.Request(env, messages, tools, prompt, 65536)
		raw, err := harness.WireJSON(req)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := json.Indent(&got, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		got.WriteByte('\n')
		golden(t, filepath.Join("testdata", file), got.Bytes())
		s := harness.Stats(req.Messages, req.Tools)
		t.Logf("%s %s: instructions %d, tools %d, context %d, total %d bytes", h.Name, file, s.Instructions.Bytes, s.Tools.Bytes, s.Context.Bytes, s.Total.Bytes)
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; -update rewrites it\n%s", file, firstDifference(string(want), string(got)))
	}
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "(end)", "(end)"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return "want: " + x + "\ngot:  " + y
		}
	}
	return ""
}

// shapes checks that every shape of the surface has a golden or a reason to have none.
func shapes(t *testing.T, cases []*testCase) {
	raw, err := os.ReadFile("testdata/surface.json")
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Shapes []string `json:"result_shapes"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	text, err := os.ReadFile("testdata/shapes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		shape, why, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if shape != "" {
			reasons[shape] = strings.TrimSpace(why)
		}
	}
	have := map[string]bool{}
	for _, c := range cases {
		have[c.name] = true
	}
	for _, shape := range s.Shapes {
		file := strings.ReplaceAll(shape, ":", "-")
		why, excused := reasons[shape]
		switch {
		case have[file] && excused:
			t.Errorf("%s has a golden and an excuse", shape)
		case !have[file] && !excused:
			t.Errorf("%s has neither a golden %s.txtar nor a line in shapes.txt", shape, file)
		case excused && len(why) < 10:
			t.Errorf("%s: a reason, please: %q", shape, why)
		}
		delete(reasons, shape)
	}
	for shape := range reasons {
		t.Errorf("shapes.txt excuses %s, which is not in the surface", shape)
	}
}
