package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"interpreter/agent/approve"
	"interpreter/agent/approve/rules"
	"interpreter/cmd/config"
	"interpreter/sandbox"
)

// rulesFolder is where a layer of configuration keeps its rules, beside its file.
const rulesFolder = "rules"

// keptRules is the file that answers for good go to.
func (s *settings) keptRules() string {
	return filepath.Join(s.home, rulesFolder, "default"+rules.Ending)
}

// ruleSources are the folders of rules in force, low to high. onlySystem leaves out all but who runs the machine's.
func (s *settings) ruleSources(w world, onlySystem bool) []rules.Source {
	var list []rules.Source
	if w.systemConfig != "" {
		list = append(list, rules.Source{Dir: filepath.Join(filepath.Dir(w.systemConfig), rulesFolder), System: true})
	}
	if onlySystem {
		return list
	}
	list = append(list, rules.Source{Dir: filepath.Join(s.home, rulesFolder)})
	for _, f := range s.Folders {
		if f.Trust == config.Trusted {
			list = append(list, rules.Source{Dir: filepath.Join(f.Path, rulesFolder), Project: true})
		}
	}
	return list
}

// inertRules says of each folder of rules that does not count why not.
func (s *settings) inertRules() []string {
	var texts []string
	for _, f := range s.Folders {
		dir := filepath.Join(f.Path, rulesFolder)
		files, err := rules.Files(dir)
		if f.Trust != config.Trusted && (err != nil || len(files) > 0) {
			texts = append(texts, fmt.Sprintf("the rules in %s do not count: %s", dir, f.Inert()))
		}
	}
	return texts
}

// loadRules takes up the rules of a run. A mistake in one is an error: what a person meant to forbid would be allowed
// otherwise.
func (s *settings) loadRules(w world, onlySystem bool) error {
	set, err := rules.Load(s.ruleSources(w, onlySystem))
	if err != nil {
		return ruleError(err, onlySystem)
	}
	s.rules = set
	if !onlySystem {
		s.warnings = append(s.warnings, s.inertRules()...)
	}
	open := s.mode == sandbox.FullAccess || s.SandboxWorkspaceWrite.NetworkAccess
	for _, n := range set.Networks() {
		if open && !n.Void {
			s.warnings = append(s.warnings, fmt.Sprintf("%s:%d: %s", n.File, n.Line, notEnforced))
			break
		}
	}
	return nil
}

const notEnforced = "network_rule is read and listed, but nothing enforces it in this version"

// ruleError adds what a person can do about a mistake in a file of rules.
func ruleError(err error, onlySystem bool) error {
	var at *rules.Error
	if !errors.As(err, &at) {
		return err
	}
	remedy := at.Try
	if remedy == "" {
		remedy = "correct " + at.File
	}
	if !onlySystem {
		remedy += "; or leave your rules and the project's out of one run with --ignore-rules"
	}
	return try(err, remedy)
}

// remember keeps a rule that a person made, for later sessions.
func (s *settings) remember(prefix []string) error { return rules.Add(s.keptRules(), prefix) }

// switchedOff are the questions that the person does not want to be asked.
func (s *settings) switchedOff() []approve.Kind {
	g := s.ApprovalPolicy.Granular
	if g == nil {
		return nil
	}
	off := []approve.Kind{} // not nil: the policy has switches, all of them on perhaps
	for _, one := range []struct {
		on   bool
		kind approve.Kind
	}{
		{g.SandboxApproval, approve.BySandbox}, {g.Rules, approve.ByRule}, {g.SkillApproval, approve.BySkill},
		{g.RequestPermissions, approve.ByRequest}, {g.MCPElicitations, approve.ByMCP},
	} {
		if !one.on {
			off = append(off, one.kind)
		}
	}
	return off
}

// explainRules tells which files of rules there are, and which of them count.
func (s *settings) explainRules(w world) error {
	var b strings.Builder
	b.WriteString("\nRules\n")
	some := false
	for _, source := range s.ruleSources(w, false) {
		name := "user"
		switch {
		case source.System:
			name = "system"
		case source.Project:
			name = "project"
		}
		files, err := rules.Files(source.Dir)
		for _, file := range files {
			some = true
			fmt.Fprintf(&b, "  %s %s\n", name, harmless(file))
		}
		if err != nil {
			some = true
			fmt.Fprintf(&b, "  %s %s\n", name, harmless(err.Error()))
		}
	}
	if _, err := rules.Load(s.ruleSources(w, false)); err != nil {
		fmt.Fprintf(&b, "    wrong: %s\n", harmless(err.Error()))
	}
	for _, text := range s.inertRules() {
		some = true
		fmt.Fprintf(&b, "  %s\n", harmless(text))
	}
	if !some {
		b.WriteString("  <none>\n")
	}
	_, err := fmt.Fprint(w.stdout, b.String())
	return err
}
