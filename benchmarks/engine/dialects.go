package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"interpreter/harness/textcall"
	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/practice"
)

// The answers that each dialect is tried with, a column each. The first begins the conversation of all.
var answers = []struct{ title, script string }{
	{"a call", `call look {"path": "a.go", "limit": 20}`},
	{"after prose", "say I will look at the file first.\n  call look {\"path\": \"b.go\"}"},
	{"two calls", "say Both files.\n  call look {\"path\": \"c.go\"}\n  call find {\"pattern\": \"TODO\"}"},
	{"markup", `call find {"pattern": "if a < b && c > d { \"x\" } </parameter> is not the end, </arg_value> neither"}`},
}

// What the server made of an answer.
const (
	parsed  = "parsed"
	leaked  = "as text" // and that text holds the calls
	lost    = "LOST"    // neither calls nor text of them
	damaged = "DAMAGED" // other calls than were written
	failed  = "ERROR"   // an error inside the answer
	silent  = "SILENT"  // nothing more within patience
)

// An answer of a practice model takes well under a second.
const patience = time.Minute

// dialects tells what a server makes of calls in each family's own form, written by a practice model, and whether what
// it passes on as text is understood here. Only the latter is judged.
func dialects(ctx context.Context, engine, dir string) (err error) {
	s, err := start(engine, dir, "engine")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	row := func(cells ...string) {
		line := fmt.Sprintf("%-11s %-11s", cells[0], cells[1])
		for _, cell := range cells[2:] {
			line += fmt.Sprintf(" %-17s", cell)
		}
		fmt.Println(strings.TrimSpace(line))
	}
	header := []string{"calls as in", "read by"}
	for _, a := range answers {
		header = append(header, a.title)
	}
	row(header...)
	var bad []string
	for _, name := range practice.Dialects() {
		if name == "text" {
			continue // has no calls
		}
		for _, leak := range []bool{false, true} {
			model, how, err := s.speaking(ctx, dir, name, leak)
			if err != nil {
				return err
			}
			cells := []string{name, how}
			stuck := false
			for at := range answers {
				verdict := "cannot occur" // a second call, in a dialect whose answers end with the first
				if script, err := practice.Parse(play(name)); err != nil {
					return err
				} else if want := calls(script.Replies[at]); len(want) > 0 {
					var read bool
					if stuck {
						if s, err = s.again(engine, dir); err != nil {
							return err
						}
						if model, _, err = s.speaking(ctx, dir, name, leak); err != nil {
							return err
						}
					}
					if verdict, read, err = hear(ctx, model, script, at); err != nil {
						return err
					}
					stuck = verdict == failed || verdict == silent
					if verdict == leaked && !read {
						verdict += ", NOT read"
						bad = append(bad, fmt.Sprintf("%s, %s: %s", name, how, answers[at].title))
					} else if verdict == leaked {
						verdict += ", read"
					}
				}
				cells = append(cells, verdict)
			}
			row(cells...)
			if stuck {
				if s, err = s.again(engine, dir); err != nil {
					return err
				}
			}
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("dialects: calls that came as text were not read: %s", strings.Join(bad, "; "))
	}
	return nil
}

// play is the script of a dialect. Harmony has no answer with two calls.
func play(dialect string) string {
	var b strings.Builder
	for i, a := range answers {
		text := a.script
		if i == 2 && dialect == "harmony" {
			text = "say None."
		}
		b.WriteString("reply\n  " + text + "\n")
	}
	return b.String()
}

// again ends a server and starts another with the same models. A server whose reader failed within an answer is not to be
// used on: Ollama 0.24 then waits for ever to hand over what the model writes next, if it writes it before the connection
// is seen to end, and the model neither answers nor can be unloaded. 0.34 ends the answer.
func (s *server) again(engine, dir string) (*server, error) {
	if err := s.stop(); err != nil {
		return s, err
	}
	next, err := start(engine, dir, "engine")
	if err != nil {
		return s, err
	}
	return next, nil
}

// speaking makes a model that writes a dialect, and names what the server goes by.
func (s *server) speaking(ctx context.Context, dir, dialect string, leak bool) (chat.Model, string, error) {
	script, err := practice.Parse(play(dialect))
	if err != nil {
		return nil, "", err
	}
	name, how := "practice-"+dialect, "template"
	if leak {
		name, how = name+"-leak", "hidden"
	}
	dir = filepath.Join(dir, name)
	if err := practice.WriteGGUF(script, dir, practice.GGUFOptions{Dialect: dialect, Leak: leak}); err != nil {
		return nil, "", err
	}
	modelfile := filepath.Join(dir, "Modelfile")
	text, err := os.ReadFile(modelfile)
	if err != nil {
		return nil, "", err
	}
	if _, reader, ok := strings.Cut(string(text), "\nPARSER "); ok {
		how = strings.TrimSpace(reader)
	}
	how = strings.TrimSuffix(how, "-no-thinking")
	if err := s.create(ctx, name, modelfile); err != nil {
		return nil, "", err
	}
	info, err := s.Show(ctx, name)
	if err != nil {
		return nil, "", err
	}
	model, err := s.Load(ctx, info, local.Loading{Window: 8192})
	return model, how, err
}

var tools = []chat.Spec{
	{Name: "look", Description: "Shows a file.", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}`)},
	{Name: "find", Description: "Finds a text.", Parameters: json.RawMessage(`{"type":"object","properties":{"pattern":{"type":"string"}},"required":["pattern"]}`)},
}

// hear asks for the answer at a place of the script, and compares what came with what was written. read is whether the
// calls are found in the text that came instead.
func hear(ctx context.Context, model chat.Model, script *practice.Script, at int) (verdict string, read bool, err error) {
	req := chat.Request{Tools: tools, Window: 8192, Messages: []chat.Message{{Role: chat.User, Text: "Find the cause."}}}
	for i, r := range script.Replies[:at] {
		m := chat.Message{Role: chat.Assistant, Text: prose(r), Calls: calls(r)}
		req.Messages = append(req.Messages, m)
		for j := range m.Calls {
			id := fmt.Sprintf("call_%d_%d", i, j)
			m.Calls[j].ID = id
			req.Messages = append(req.Messages, chat.Message{Role: chat.Tool, Result: &chat.Result{CallID: id, Name: m.Calls[j].Name, Text: "nothing"}})
		}
		if len(m.Calls) == 0 {
			req.Messages = append(req.Messages, chat.Message{Role: chat.User, Text: "Go on."})
		}
	}
	want := calls(script.Replies[at])
	got := chat.Message{Role: chat.Assistant}
	var finish chat.Finish
	limited, done := context.WithTimeout(ctx, patience)
	defer done()
	for delta, err := range model.Stream(limited, req) {
		if err != nil && ctx.Err() == nil && limited.Err() != nil {
			return silent, false, nil
		}
		var told *chat.Error
		if errors.As(err, &told) {
			return failed, false, nil
		}
		if err != nil {
			return "", false, err
		}
		got.Text, got.Thinking = got.Text+delta.Text, got.Thinking+delta.Thinking
		if delta.Call != nil {
			got.Calls = append(got.Calls, *delta.Call)
		}
		if delta.Finish != "" {
			finish = delta.Finish
		}
	}
	switch {
	case same(want, got.Calls):
		return parsed, true, nil
	case len(got.Calls) > 0:
		return damaged, false, nil
	case !strings.Contains(strings.Replace(got.Text, prose(script.Replies[at]), "", 1), want[0].Name):
		return lost, false, nil
	}
	r, err := textcall.Read(textcall.Answer{Message: got, Finish: finish, Tools: tools})
	return leaked, err == nil && same(want, r.Message.Calls), nil
}

func prose(r practice.Reply) (text string) {
	for _, step := range r.Steps {
		if step.Kind == practice.Say {
			text += step.Text
		}
	}
	return text
}

func calls(r practice.Reply) (calls []chat.Call) {
	for _, step := range r.Steps {
		if step.Kind == practice.Call {
			calls = append(calls, step.Call)
		}
	}
	return calls
}

func same(want, got []chat.Call) bool {
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		var a, b any
		if want[i].Name != got[i].Name || json.Unmarshal(want[i].Args, &a) != nil || json.Unmarshal(got[i].Args, &b) != nil || !reflect.DeepEqual(a, b) {
			return false
		}
	}
	return true
}
