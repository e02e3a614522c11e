package agent

import (
	"fmt"
	"slices"
	"strings"

	"interpreter/agent/approve"
	"interpreter/agent/event"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// question is what a person is shown before a task may go on.
func (t *turn) question(k *task, title string, v approve.Verdict) event.Asked {
	q := event.Asked{CallID: k.call.ID, Title: title, Need: k.need, Why: v.Why, Class: string(v.Kind)}
	if len(v.Parts) > 1 {
		for _, p := range v.Parts {
			q.Parts = append(q.Parts, event.Part{Argv: p.Argv, Why: p.Why})
		}
	}
	again := "the same call"
	switch k.need.Effect {
	case action.Runs:
		q.Dir, q.Would = t.folder(k.need), t.would(k.need)
		again = "the same command in this folder"
	case action.Writes:
		q.Files = t.files(k.need)
		again, q.Would = "this file", "the file is written by this call; commands still may not write there"
		if len(q.Files) > 1 {
			again, q.Would = "these files", "the files are written by this call; commands still may not write there"
		}
		if !slices.ContainsFunc(q.Files, func(f event.File) bool { return f.Why != "" }) {
			q.Would = strings.TrimSuffix(q.Would, "; commands still may not write there")
		}
	case action.Connect:
		q.Would = "this address is asked for a page; commands stay without the network"
	}
	q.Choices = []event.Choice{choiceOnce}
	if !k.guess || v.What == approve.Ask { // what was guessed once is not what comes again
		q.Choices = append(q.Choices, event.Choice{Decision: string(approve.ForSession), Text: "yes, and " + again + " until this session ends"})
	}
	if len(v.Prefix) > 0 {
		words := strings.Join(v.Prefix, " ")
		keeps := "in later sessions too"
		if t.cfg.Remember == nil {
			keeps = "until this session ends"
		}
		q.Choices = append(q.Choices, event.Choice{Decision: string(approve.ByPrefix), Prefix: v.Prefix,
			Text: fmt.Sprintf("yes, and every command that begins with `%s`, outside the sandbox and %s", words, keeps)})
	}
	q.Choices = append(q.Choices, choiceNo, choiceStop)
	return q
}

// The choices that every question offers.
var (
	choiceOnce = event.Choice{Decision: string(approve.Once), Text: "yes, this time"}
	choiceNo   = event.Choice{Decision: string(approve.No), Text: "no, and the model goes on without it"}
	choiceStop = event.Choice{Decision: string(approve.Stop), Text: "no, and the turn ends"}
)

// would says within what limits a command runs once a person says yes.
func (t *turn) would(need action.Need) string {
	p := t.cfg.Workspace.Box.Policy()
	switch {
	case t.free():
		return "it runs with all your rights; there is no sandbox"
	case need.Escalate:
		return "it runs outside the sandbox: it may write wherever you may, and use the network"
	case len(need.Argv) == 0:
		return "it is typed into the terminal, which stays in the sandbox"
	case need.Opens.Network || len(need.Opens.Paths) > 0:
		return "it runs in the sandbox, and " + opening(need.Opens)
	}
	limits := string(p.Mode)
	if !p.Network {
		limits += ", no network"
	}
	return "it runs in the sandbox (" + limits + ")"
}

// opening says what a command may do beyond the policy, a clause without its subject.
func opening(o sandbox.Opened) string {
	var may []string
	if o.Network {
		may = append(may, "may use the network")
	}
	if len(o.Paths) > 0 {
		may = append(may, "may write "+strings.Join(o.Paths, " and "))
	}
	return strings.Join(may, ", and ")
}

// files are all that an action would write, with what keeps each from being written unasked.
func (t *turn) files(need action.Need) []event.File {
	p := t.cfg.Workspace.Box.Policy()
	var files []event.File
	for _, path := range t.exact(need).Paths {
		f := event.File{Path: path}
		switch _, place, err := p.Place(path); {
		case err != nil:
			f.Why = err.Error()
		case place == sandbox.Guarded:
			f.Why = "protected: settings and hooks there run later without review"
		case place == sandbox.Outside && p.Mode == sandbox.ReadOnly:
			f.Why = "nothing may be written in read-only mode"
		case place == sandbox.Outside:
			f.Why = "outside the folders that may be written"
		}
		files = append(files, f)
	}
	return files
}
