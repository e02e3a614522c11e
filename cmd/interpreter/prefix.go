package main

import (
	"strconv"
	"strings"

	"interpreter/agent"
	"interpreter/agent/event"
	"interpreter/agent/project"
	"interpreter/harness"
	"interpreter/local"
	"interpreter/local/chat"
)

// setting is what a session is opened with: the harness of a model, why that one, and what it may tell the model of
// where it is.
type setting struct {
	harness harness.Harness
	why     string
	env     harness.Environment
}

// setting is worked out once the model is known. The tool check and the session make their requests from the same one,
// which is why the server need not read anything twice.
func (s *settings) setting(known project.Known, m local.ModelInfo, address string, window int, before earlier) (out setting, err error) {
	if out.harness, out.why, err = s.harness(m, address, before); err != nil {
		return setting{}, err
	}
	out.env = known.Env
	out.env.Approval, out.env.Model, out.env.Window = s.approval, m.Name, window
	out.env.Vision, out.env.Guidance = m.Can("vision"), s.HarnessGuidance
	out.env.Large, out.env.Requested = large(m), s.HarnessTools
	out.env.Background, out.env.Fetch = out.env.Interactive, out.env.Network
	if out.harness.Git && out.env.Git && s.status != nil {
		out.env.Status = s.status()
	}
	out.env.Extra = s.DeveloperInstructions
	out.env.Base, err = readOptional("model_instructions_file", s.ModelInstructionsFile)
	return out, err
}

// large reports whether a model is one of those that cope with long instructions: of more than 40 billion parameters, or
// hosted.
func large(m local.ModelInfo) bool {
	if known, ok := local.Lookup(m.Name); ok && m.Parameters == "" {
		m.Parameters = known.Info.Parameters
	}
	number, billions := strings.CutSuffix(strings.ToUpper(strings.TrimSpace(m.Parameters)), "B")
	size, err := strconv.ParseFloat(number, 64)
	return billions && err == nil && size > 40 || m.RemoteHost != ""
}

// beginning says how the session to come will begin with a model: as it began before, if it goes on with the same model
// and harness, and otherwise as the agent will open it.
func (s *settings) beginning(w world, known project.Known, before earlier) func(local.ModelInfo, int) (local.Prefix, error) {
	return func(m local.ModelInfo, window int) (local.Prefix, error) {
		with, err := s.setting(known, m, s.addressOf(w, m.Provider), window, before)
		if err != nil {
			return local.Prefix{}, err
		}
		opened := before.opened
		if !before.any || opened.Harness != with.harness.Name || opened.Model != m.Name || opened.Provider != m.Provider {
			opened = event.Opened{}
			if opened.Messages, opened.Tools, err = agent.Opening(with.harness, with.env); err != nil {
				return local.Prefix{}, err
			}
		}
		req := with.harness.Request(with.env, opened.Messages, opened.Tools, []chat.Message(nil), window)
		return local.Prefix{
			Harness: with.harness.Name, Messages: req.Messages, Tools: req.Tools, Effort: s.ModelReasoningEffort,
			Join: with.harness.Join, Spoken: with.harness.Text,
			Read: func(m chat.Message) (chat.Message, error) {
				read, err := with.harness.Read(harness.Answer{Message: m, Finish: chat.Stopped})
				return read.Message, err
			},
		}, nil
	}
}

// addressOf is where a provider of this run is, "" when there is none of that name.
func (s *settings) addressOf(w world, name string) string {
	providers, err := s.providers(w)
	if err != nil {
		return ""
	}
	for _, p := range providers {
		if p.Name() == name {
			return p.Address()
		}
	}
	return ""
}
