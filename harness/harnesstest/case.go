package harnesstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// testCase is one golden. It begins with one of these sections:
//
//	call      name {arguments}; then facts or fault or neither
//	answer    a model's whole text, for a harness that finds calls in it; the first call may be followed by facts or
//	          fault. A section finish has the finish reason.
//	remind, repeat, ended, pause, wrap
//	          what Remind, Repeat, Ended, Nudge and Wrap are given, as JSON; of wrap {"turn": …, "prompt": …}
//
// and ends with what the program made of it: calls, action, words.
type testCase struct {
	name    string
	file    string
	archive *txtar.Archive
	call    chat.Call
	answer  string
	calls   *[]string // found in answer
	said    string    // words, once run
	failed  bool
}

func readCases(t *testing.T) []*testCase {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no goldens in testdata: %v", err)
	}
	var cases []*testCase
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := &testCase{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), file: file, archive: a}
		if c.section("call") == "" {
			cases = append(cases, c)
			continue
		}
		name, args, _ := strings.Cut(strings.TrimSpace(c.section("call")), " ")
		c.call = chat.Call{ID: "call_" + c.name, Name: name, Args: json.RawMessage(args)}
		if !json.Valid(c.call.Args) {
			c.call.Args, c.call.Raw = json.RawMessage("{}"), args
		}
		cases = append(cases, c)
	}
	return cases
}

func (c *testCase) section(name string) string {
	for _, f := range c.archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func (c *testCase) set(name, text string) {
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	for i, f := range c.archive.Files {
		if f.Name == name {
			c.archive.Files[i].Data = []byte(text)
			return
		}
	}
	c.archive.Files = append(c.archive.Files, txtar.File{Name: name, Data: []byte(text)})
}

func (c *testCase) run(t *testing.T, h harness.Harness) {
	did, words, failed, err := c.outcome(h)
	if err != nil {
		t.Fatal(err)
	}
	if c.calls != nil {
		c.check(t, "calls", strings.Join(*c.calls, "\n"))
	}
	c.said, c.failed = words, failed
	if *update {
		if did != "" {
			c.set("action", did)
		}
		c.set("words", words)
		if err := os.WriteFile(c.file, txtar.Format(c.archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := strings.TrimSuffix(c.section("action"), "\n"); did != want {
		t.Errorf("action\nwant: %s\ngot:  %s", want, did)
	}
	if want := c.section("words"); strings.TrimSuffix(want, "\n") != strings.TrimSuffix(words, "\n") {
		t.Errorf("words\n%s\nall of it:\n%s", firstDifference(want, words), words)
	}
}

func (c *testCase) check(t *testing.T, section, got string) {
	t.Helper()
	if *update {
		c.set(section, got)
		return
	}
	if want := strings.TrimSuffix(c.section(section), "\n"); want != got {
		t.Errorf("%s\nwant: %s\ngot:  %s", section, want, got)
	}
}

// hooked words what is no call: a reminder, a prompt.
func (c *testCase) hooked(h harness.Harness) (words string, ok bool, err error) {
	for _, f := range c.archive.Files {
		switch f.Name {
		case "remind":
			p, err := parsed[harness.Progress](string(f.Data))
			return h.Remind(p), true, err
		case "repeat":
			r, err := parsed[harness.Repeated](string(f.Data))
			return h.Repeat(r, "[plain words]"), true, err
		case "ended":
			r, err := parsed[action.Ran](string(f.Data))
			return h.Ended(r), true, err
		case "pause":
			p, err := parsed[harness.Pause](string(f.Data))
			return h.Nudge(p), true, err
		case "wrap":
			w, err := parsed[struct {
				Turn   harness.Turn
				Prompt string
			}](string(f.Data))
			return h.Wrap(Plain(), w.Turn, w.Prompt), true, err
		}
	}
	return "", false, nil
}

// outcome plans the call and words its facts or fault. did is the action as JSON after its type.
func (c *testCase) outcome(h harness.Harness) (did, words string, failed bool, err error) {
	if words, ok, err := c.hooked(h); ok {
		return "", words, false, err
	}
	if c.answer = strings.TrimSuffix(c.section("answer"), "\n"); c.answer != "" {
		finish := chat.Finish(strings.TrimSpace(c.section("finish")))
		if finish == "" {
			finish = chat.Stopped
		}
		read, readErr := h.Read(harness.Answer{Message: chat.Message{Role: chat.Assistant, Text: c.answer}, Finish: finish})
		if readErr != nil {
			return "", h.Say("", readErr), true, nil
		}
		c.calls = &[]string{}
		for _, call := range read.Message.Calls {
			*c.calls = append(*c.calls, call.Name+" "+string(call.Args))
		}
		if len(read.Message.Calls) == 0 {
			return "", read.Message.Text, false, nil
		}
		c.call = read.Message.Calls[0]
		c.call.ID = "call_" + c.name
	}
	step, stepErr := h.Step(c.call)
	facts, fault := strings.TrimSpace(c.section("facts")), strings.TrimSpace(c.section("fault"))
	if stepErr != nil {
		if facts != "" || fault != "" {
			return "", "", true, fmt.Errorf("the call was not understood: %w", stepErr)
		}
		return "", h.Say(c.call.Name, stepErr), true, nil
	}
	raw, err := json.Marshal(step.Action)
	if err != nil {
		return "", "", false, err
	}
	did = strings.TrimPrefix(reflect.TypeOf(step.Action).String(), "action.") + " " + string(raw)
	switch {
	case fault != "":
		failure, err := faultOf(fault)
		if err != nil {
			return "", "", true, err
		}
		return did, h.Say(step.Tool, failure), true, nil
	case facts != "":
		o, err := factsOf(facts)
		if err != nil {
			return "", "", false, err
		}
		words, ok := step.Say(o)
		if !ok {
			return "", "", false, fmt.Errorf("a step of %s does not end as %T", step.Tool, o)
		}
		return did, words, false, nil
	}
	if c.answer != "" {
		return did, "", false, nil // only its reading is asked for
	}
	return "", "", false, errors.New("the call is understood, so the golden needs facts or a fault")
}

// factsOf reads "kind {json}".
func factsOf(text string) (action.Outcome, error) {
	kind, body, _ := strings.Cut(text, " ")
	switch kind {
	case "ran":
		return parsed[action.Ran](body)
	case "seen":
		return parsed[action.Seen](body)
	case "found":
		return parsed[action.Found](body)
	case "told":
		return parsed[action.Told](body)
	case "planned":
		return parsed[action.Planned](body)
	case "fetched":
		return parsed[action.Fetched](body)
	case "changed":
		c, err := parsed[action.Changed](body)
		if err != nil {
			return nil, err
		}
		var texts struct {
			Files []struct{ After, Before string } `json:"files"`
		}
		if err := json.Unmarshal([]byte(body), &texts); err != nil {
			return nil, err
		}
		for i := range c.Files {
			c.Files[i].After, c.Files[i].Before = texts.Files[i].After, texts.Files[i].Before
		}
		return c, nil
	}
	return nil, fmt.Errorf("facts of an unknown kind %q", kind)
}

func parsed[T any](body string) (T, error) {
	var v T
	// A text of many lines is written as {"repeat": n, "of": "…"} so that goldens stay short.
	body, err := unrolled(body)
	if err != nil {
		return v, err
	}
	d := json.NewDecoder(strings.NewReader(body))
	err = d.Decode(&v)
	return v, err
}

// unrolled replaces every {"repeat":n,"of":text} by the text, n times over.
func unrolled(body string) (string, error) {
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		return "", fmt.Errorf("facts: %w", err)
	}
	var walk func(any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			if of, ok := v["of"].(string); ok && len(v) == 2 {
				n, _ := v["repeat"].(float64)
				return strings.Repeat(of, int(n))
			}
			for k := range v {
				v[k] = walk(v[k])
			}
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		}
		return v
	}
	raw, err := json.Marshal(walk(v))
	return string(raw), err
}

// faultOf reads "kind [sentinel] {json}".
func faultOf(text string) (error, error) {
	kind, rest, _ := strings.Cut(text, " ")
	sentinels := map[string]error{
		"absent": action.ErrAbsent, "ambiguous": action.ErrAmbiguous, "same": action.ErrSame, "empty": action.ErrEmptyOld,
		"exists": action.ErrExists, "nosession": action.ErrNoSession, "notask": action.ErrNoTask, "nostdin": action.ErrNoStdin, "nottext": action.ErrNotText, "canceled": context.Canceled, "deadline": context.DeadlineExceeded,
	}
	switch kind {
	case "sentinel":
		if err := sentinels[rest]; err != nil {
			return fmt.Errorf("it: %w", err), nil
		}
	case "text":
		return errors.New(rest), nil
	case "aborted":
		after, err := time.ParseDuration(rest)
		return &harness.AbortedError{After: after}, err
	case "match":
		which, body, _ := strings.Cut(rest, " ")
		e := action.MatchError{Index: -1}
		err := json.Unmarshal([]byte(body), &e)
		e.Err = sentinels[which]
		return &e, err
	case "edits":
		var indexes []int
		err := json.Unmarshal([]byte(rest), &indexes)
		list := &action.EditsError{Path: "a.go"}
		for _, i := range indexes {
			list.Errs = append(list.Errs, &action.MatchError{Path: "a.go", Index: i, Err: action.ErrAbsent})
		}
		return list, err
	case "patch":
		return fault[action.PatchError](rest)
	case "denied":
		return fault[action.DeniedError](rest)
	case "declined":
		return fault[harness.DeclinedError](rest)
	case "missing":
		return fault[action.MissingError](rest)
	case "offset":
		return fault[action.OffsetError](rest)
	case "binary":
		return fault[action.BinaryError](rest)
	case "overlap":
		return fault[action.OverlapError](rest)
	case "directory":
		return fault[action.IsDirectoryError](rest)
	case "guard":
		return fault[action.GuardError](rest)
	case "status":
		return fault[action.StatusError](rest)
	}
	return nil, fmt.Errorf("a fault of an unknown kind %q", text)
}

func fault[T any, E interface {
	*T
	error
}](body string) (error, error) {
	var v T
	err := json.Unmarshal([]byte(body), &v)
	return E(&v), err
}
