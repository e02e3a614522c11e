package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"interpreter/local"
)

// checked is what a tool check found, for programs.
type checked struct {
	Model    string              `json:"model"`
	Provider string              `json:"provider,omitempty"`
	Server   string              `json:"server,omitempty"` // version
	Window   int                 `json:"window,omitempty"` // tokens it was loaded with
	Verdict  local.Verdict       `json:"verdict"`
	Passed   bool                `json:"passed"`
	Prefill  float64             `json:"prefill,omitempty"` // tokens read in a second
	Decode   float64             `json:"decode,omitempty"`  // tokens written in a second
	Seconds  float64             `json:"seconds,omitempty"`
	Stages   []local.StageReport `json:"stages,omitempty"`
	Notes    []string            `json:"notes,omitempty"`
	Error    string              `json:"error,omitempty"`
	Remedy   string              `json:"remedy,omitempty"`
}

// checkModels has models call tools, each as a session with it would begin.
func (w world) checkModels(ctx context.Context, f *flags, names []string, asJSON bool) error {
	s, err := w.settings(f, choices{})
	if err != nil {
		return err
	}
	policy, err := s.policy(w, f)
	if err != nil {
		return err
	}
	known, err := s.project(ctx, w, policy)
	if err != nil {
		return err
	}
	s.prefix = s.beginning(w, known, earlier{})
	if len(names) == 0 {
		names = []string{f.model} // "": the configured one, or the best that is installed
	}
	out := struct {
		Models []checked `json:"models"`
	}{[]checked{}}
	failed := 0
	for _, name := range names {
		one, err := s.checkModel(ctx, w, f, name, asJSON)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && one.Model == "" {
			if len(names) == 1 && !asJSON {
				return err
			}
			one = checked{Model: name, Verdict: unchecked, Error: err.Error(), Remedy: remedyOf(err)} // the others are checked all the same
		}
		if !one.Passed {
			failed++
		}
		out.Models = append(out.Models, one)
		if !asJSON {
			if err := tellCheck(w, one); err != nil {
				return err
			}
		}
	}
	if asJSON {
		if err := writeJSON(w.stdout, out); err != nil {
			return err
		}
	}
	if failed > 0 {
		return exited(exitFailed)
	}
	return nil
}

// checkModel checks one. The error is about something else than the model when the result names none.
func (s *settings) checkModel(ctx context.Context, w world, f *flags, name string, quiet bool) (checked, error) {
	r := readying{model: name, thorough: true, stage: func(stage local.Stage) {
		switch {
		case quiet:
		case stage.Warning != "":
			fmt.Fprintln(w.stderr, "warning: "+harmless(stage.Warning))
		case stage.Long:
			fmt.Fprintf(w.stderr, "%-5s %s\n", stage.Name, harmless(stage.Text))
		}
	}}
	if name != "" && f.provider == "" && !f.oss && s.ModelProvider == "" { // whichever server has it
		all, err := s.wanted(ctx, w, f)
		if err != nil {
			return checked{}, err
		}
		m, err := all.find(name)
		if err != nil {
			return checked{}, err
		}
		r.servers = []local.Provider{m.server.Provider}
	}
	prepared, err := s.ready(ctx, w, f, r)
	if err == nil {
		one := reported(prepared.Info.Name, prepared.Report)
		one.Provider, one.Server, one.Window, one.Verdict = prepared.Provider, prepared.Server, prepared.Window, prepared.Verdict
		one.Passed = one.Verdict == local.Native || one.Verdict == local.Rescued || one.Verdict == local.Spoken
		return one, nil
	}
	var refusal *local.Refusal
	if !errors.As(err, &refusal) || refusal.Model == "" {
		return checked{}, err
	}
	one := checked{Model: refusal.Model, Verdict: unchecked}
	var wrong *local.CheckError
	if errors.As(err, &wrong) {
		one = reported(refusal.Model, wrong.Report)
		one.Verdict = local.Failed
	}
	one.Error, one.Remedy = err.Error(), remedyOf(err)
	return one, err
}

// unchecked is what is said of a model that could not be asked: it is not there, or does not fit.
const unchecked local.Verdict = "unchecked"

func reported(name string, r local.Report) checked {
	return checked{
		Model: name, Verdict: r.Verdict, Prefill: tenths(r.Prefill), Decode: tenths(r.Decode), Seconds: r.Took.Round(time.Millisecond).Seconds(),
		Stages: r.Stages, Notes: r.Notes,
	}
}

// tellCheck prints what was sent and what came back, stage by stage, and the verdict.
func tellCheck(w world, one checked) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", joined(one.Model, strings.TrimSpace(one.Provider+" "+one.Server), windowOf(one.Window)))
	for _, stage := range one.Stages {
		mark := "passed"
		switch {
		case !stage.Ran:
			mark = "left out"
		case !stage.Passed:
			mark = "FAILED"
		}
		took := ""
		if stage.Took >= 50*time.Millisecond {
			took = fmt.Sprintf(" in %s", stage.Took.Round(100*time.Millisecond))
		}
		fmt.Fprintf(&b, "  %-10s %s%s\n", stage.Name, mark, took)
		block(&b, "sent", stage.Sent)
		block(&b, "got", stage.Got)
	}
	for _, note := range one.Notes {
		fmt.Fprintf(&b, "  note: %s\n", note)
	}
	if rates := (local.Report{Prefill: one.Prefill, Decode: one.Decode}).Rates(); rates != "" {
		fmt.Fprintf(&b, "  %s\n", rates)
	}
	fmt.Fprintf(&b, "  verdict: %s\n", says(one.Verdict))
	if _, err := fmt.Fprint(w.stdout, harmless(b.String())); err != nil {
		return err
	}
	if one.Error != "" && len(one.Stages) == 0 {
		fmt.Fprintf(w.stderr, "interpreter: %s\n", harmless(one.Error))
	}
	if one.Remedy != "" {
		fmt.Fprintf(w.stderr, "  try: %s\n", harmless(one.Remedy))
	}
	return nil
}

func windowOf(n int) string {
	if n == 0 {
		return ""
	}
	return "a window of " + kTokens(n)
}

// block prints a text below its stage, its further lines set in.
func block(b *strings.Builder, word, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	fmt.Fprintf(b, "    %-5s %s\n", word, strings.ReplaceAll(text, "\n", "\n          "))
}

func says(v local.Verdict) string {
	switch v {
	case local.Native:
		return "native: calls arrive as calls"
	case local.Rescued:
		return "rescued: calls arrive as text, which the harness reads"
	case local.Spoken:
		return "spoken: commands arrive as text, in the form that the harness wants"
	case local.NotKnown:
		return "unproven: it was too slow to tell"
	case unchecked:
		return "unchecked: it was not asked"
	}
	return cmp.Or(string(v), "none") + ": it does not call tools in a way that anything here can read"
}
