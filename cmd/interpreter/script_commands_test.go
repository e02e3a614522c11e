package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"interpreter/local/practice"
)

// cmdExits is `exits CODE PROGRAM [ARG…]`: it runs a program that ends with exactly this exit code.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG…]")
	}
	want := number(ts, args[0])
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		got = ended.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// cmdExited is `exited CODE`, about the program that ran in the background at the latest await and was waited for.
func cmdExited(ts *testscript.TestScript, neg bool, args []string) {
	s := on(ts)
	if neg || len(args) != 1 || len(s.started) != 1 || s.started[0].ProcessState == nil {
		ts.Fatalf("usage: exited CODE, after exec … &, await and wait")
	}
	if got, want := s.started[0].ProcessState.ExitCode(), number(ts, args[0]); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

// line is what the checks read of a line of --json.
type line struct {
	Type   string                     `json:"type"`
	Thread string                     `json:"thread_id"`
	Usage  map[string]json.RawMessage `json:"usage"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
	Item *struct {
		ID     string `json:"id"`
		Type   string `json:"type"`
		Status string `json:"status"`
	} `json:"item"`
}

// name is the type of a line, and that of its item and how it stands.
func (l line) name() string {
	name := l.Type
	if l.Item != nil {
		name = strings.TrimPrefix(name, "item.") + ":" + l.Item.Type
		if l.Item.Status != "" {
			name += ":" + l.Item.Status
		}
	}
	return name
}

// cmdJSON is `json NAME…`, about the standard output of the latest program: every line is JSON, in the order of the
// names, one a line. The name of an item's line is like completed:agent_message. It also checks what always holds: a
// thread begins it, a turn's end with a reason or five counts ends it, ids count up, and what began is completed once.
func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: json NAME…")
	}
	var names []string
	var lines []line
	for text := range strings.Lines(ts.ReadFile("stdout")) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			ts.Fatalf("%q is no JSON: %v", text, err)
		}
		lines, names = append(lines, l), append(names, l.name())
	}
	if !slices.Equal(names, args) {
		ts.Fatalf("the lines are:\n%s\nwant:\n%s", strings.Join(names, "\n"), strings.Join(args, "\n"))
	}
	if lines[0].Type != "thread.started" || lines[0].Thread == "" {
		ts.Fatalf("the first line starts no thread")
	}
	if complaint := paired(lines); complaint != "" {
		ts.Fatalf("%s", complaint)
	}
	switch last := lines[len(lines)-1]; last.Type {
	case "turn.completed":
		for _, key := range []string{"input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens", "reasoning_output_tokens"} {
			if _, err := strconv.Atoi(string(last.Usage[key])); err != nil {
				ts.Fatalf("usage.%s is %q, want a whole number", key, last.Usage[key])
			}
		}
	case "turn.failed":
		if last.Error == nil || last.Error.Message == "" {
			ts.Fatalf("turn.failed does not say why")
		}
	default:
		ts.Fatalf("the last line is %s, want turn.completed or turn.failed", last.Type)
	}
}

// paired says what is wrong with the items of a stream.
func paired(lines []line) string {
	next := 0
	open, closed := map[string]bool{}, map[string]bool{}
	for _, l := range lines {
		if l.Item == nil {
			continue
		}
		id := l.Item.ID
		if !open[id] && !closed[id] {
			if want := fmt.Sprintf("item_%d", next); id != want {
				return fmt.Sprintf("an item has the id %s, want %s", id, want)
			}
			next++
		}
		switch {
		case closed[id]:
			return id + " goes on after it was completed"
		case l.Type == "item.started" && open[id]:
			return id + " is started twice"
		case l.Type == "item.started":
			open[id] = true
		case l.Type == "item.updated" && !open[id]:
			return id + " is updated and was not started"
		case l.Type == "item.completed":
			delete(open, id)
			closed[id] = true
		}
	}
	for id := range open {
		return id + " is never completed"
	}
	return ""
}

// cmdSession is `session COUNT`: so many sessions are kept. It sets SESSION to the id of the newest and FILE to its path.
func cmdSession(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: session COUNT")
	}
	files, err := filepath.Glob(filepath.Join(on(ts).home, "sessions", "*", "*", "*", "rollout-*.jsonl"))
	ts.Check(err)
	if want := number(ts, args[0]); len(files) != want {
		ts.Fatalf("%d sessions are kept, want %d", len(files), want)
	}
	if len(files) == 0 {
		return
	}
	newest := slices.MaxFunc(files, func(a, b string) int { // ids grow with time
		return strings.Compare(idIn(a), idIn(b))
	})
	ts.Setenv("SESSION", idIn(newest))
	ts.Setenv("FILE", newest)
}

func idIn(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	return name[max(0, len(name)-36):]
}

// requests are those that a turn made; tool checks are not among them.
func requests(ts *testscript.TestScript) []practice.Received {
	s := on(ts)
	if len(s.servers) == 0 {
		ts.Fatalf("this script has no model")
	}
	var all []practice.Received
	for _, server := range s.servers {
		all = append(all, server.Requests()...)
	}
	return slices.DeleteFunc(all, func(r practice.Received) bool {
		return bytes.Contains(r.Body, []byte(`"probe_sum"`))
	})
}

// cmdAsked is `asked COUNT`: the model was asked so often; or `[!] asked NUMBER PATTERN`: this request, counted from 1,
// matches.
func cmdAsked(ts *testscript.TestScript, neg bool, args []string) {
	got := requests(ts)
	switch {
	case len(args) == 1 && !neg:
		if want := number(ts, args[0]); len(got) != want {
			ts.Fatalf("the model was asked %d times, want %d", len(got), want)
		}
	case len(args) == 2:
		n := number(ts, args[0])
		if n < 1 || n > len(got) {
			ts.Fatalf("the model was asked %d times; there is no request %d", len(got), n)
		}
		pattern, err := regexp.Compile(args[1])
		ts.Check(err)
		if pattern.Match(got[n-1].Body) == neg {
			ts.Logf("request %d: %s", n, got[n-1].Body)
			ts.Fatalf("request %d, as above: matches %s: %v", n, args[1], neg)
		}
	default:
		ts.Fatalf("usage: asked COUNT | [!] asked NUMBER PATTERN")
	}
}

// cmdElsewhere is `elsewhere MODEL WINDOW`: another program has Ollama load a model with a window, and goes on using it.
func cmdElsewhere(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: elsewhere MODEL WINDOW")
	}
	body := fmt.Sprintf(`{"model":%q,"options":{"num_ctx":%d},"keep_alive":-1}`, args[0], number(ts, args[1]))
	answer, err := http.Post(ts.Getenv("OLLAMA_HOST")+"/api/chat", "application/json", strings.NewReader(body))
	ts.Check(err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		ts.Fatalf("the server answers %s", answer.Status)
	}
}

// cmdSent is `sent NUMBER FILE`: the messages and tools of this request, as bytes, are those in the file, which may be
// stdout.
func cmdSent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sent NUMBER FILE")
	}
	got, n := requests(ts), number(ts, args[0])
	if n < 1 || n > len(got) {
		ts.Fatalf("the model was asked %d times; there is no request %d", len(got), n)
	}
	var sent, want body
	ts.Check(json.Unmarshal(got[n-1].Body, &sent))
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &want))
	if !bytes.Equal(sent.Messages, want.Messages) || !bytes.Equal(sent.Tools, want.Tools) {
		ts.Fatalf("request %d:\n%s\n%s\nwant:\n%s\n%s", n, sent.Messages, sent.Tools, want.Messages, want.Tools)
	}
}

// body is what of a request the next one must begin with.
type body struct{ Tools, Messages json.RawMessage }

// cmdPrefix is `prefix COUNT`: there were so many requests, and the messages and tools of each, as bytes, are the
// beginning of the next one's.
func cmdPrefix(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: prefix COUNT")
	}
	var last body
	got := requests(ts)
	for i, r := range got {
		var now body
		ts.Check(json.Unmarshal(r.Body, &now))
		if i > 0 {
			if !bytes.Equal(now.Tools, last.Tools) {
				ts.Fatalf("the tools of request %d are not those of request %d", i+1, i)
			}
			if !bytes.HasPrefix(now.Messages, bytes.TrimSuffix(last.Messages, []byte("]"))) {
				ts.Fatalf("the messages of request %d are no prefix of the next:\n%s\n%s", i, last.Messages, now.Messages)
			}
		}
		last = now
	}
	if want := number(ts, args[0]); len(got) != want {
		ts.Fatalf("the model was asked %d times, want %d", len(got), want)
	}
}

// patience bounds every wait for something that must happen.
const patience = 10 * time.Second

// cmdAwait is `await FILE`: it waits until a file is there; or `await asked COUNT`: until the model was asked so often.
// From then on within measures.
func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	var there func() bool
	switch {
	case neg || len(args) == 0 || len(args) > 2 || len(args) == 2 && args[0] != "asked":
		ts.Fatalf("usage: await FILE | await asked COUNT")
	case len(args) == 2:
		count := number(ts, args[1])
		there = func() bool { return len(requests(ts)) >= count }
	default:
		there = func() bool { _, err := os.Stat(ts.MkAbs(args[0])); return err == nil }
	}
	if !comes(there) {
		ts.Fatalf("%s did not come in %s", strings.Join(args, " "), patience)
	}
	s := on(ts)
	s.mark, s.started = time.Now(), ts.BackgroundCmds()
}

// comes looks for something until it is so.
func comes(so func() bool) bool {
	for deadline := time.Now().Add(patience); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// cmdWithin is `within DURATION`: no more time has passed since the latest await.
func cmdWithin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: within DURATION")
	}
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	if took := time.Since(on(ts).mark); took > limit {
		ts.Fatalf("it took %s, want at most %s", took.Round(time.Millisecond), limit)
	}
}

// cmdAlive is `[!] alive TEXT`: some process has the text in its command line, or none has. The system may need a
// moment to bury the dead.
func cmdAlive(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] alive TEXT")
	}
	if !comes(func() bool { return running(args[0]) != neg }) {
		ts.Fatalf("a process with %q: %v", args[0], neg)
	}
}

// running looks through the processes of this machine.
func running(text string) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	return slices.ContainsFunc(files, func(path string) bool {
		words, err := os.ReadFile(path) // an error is a process that has ended meanwhile
		return err == nil && strings.Contains(strings.ReplaceAll(string(words), "\x00", " "), text)
	})
}
