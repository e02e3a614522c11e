package main

import (
	"fmt"
	"slices"
	"strings"

	"interpreter/harness"
	"interpreter/harness/catalog"
)

// harnessNames are the ids of all harnesses.
func harnessNames() []string {
	var names []string
	for _, h := range catalog.All() {
		names = append(names, h.Name)
	}
	return names
}

// namedHarness finds a harness by its id. The error of a slip says what was probably meant.
func namedHarness(id string) (harness.Harness, error) {
	h, err := catalog.Named(id)
	if err == nil {
		return h, nil
	}
	near := nearNames(id, harnessNames())
	if len(near) == 0 {
		return h, try(err, "interpreter harness list")
	}
	return h, try(fmt.Errorf("harness %q: not known; did you mean %s? there are %s", id, strings.Join(near, " or "), strings.Join(harnessNames(), ", ")),
		"interpreter harness list")
}

// whoseHarness says for people who set the harness.
func (s *settings) whoseHarness() string { return "said " + s.Said("--harness", "harness") }

// knownHarness refuses a harness that is named and not there, and says where it was named.
func (s *settings) knownHarness() error {
	id, chosen := s.HarnessChoice()
	if !chosen {
		return nil
	}
	if _, err := namedHarness(id); err != nil {
		return try(fmt.Errorf("%w (%s)", err, s.whoseHarness()), remedyOf(err))
	}
	return nil
}

// strangeTools says which names of harness_tools do nothing: in the harness that was chosen, or in any when the model
// decides which it will be. A tool that is always offered needs no word.
func (s *settings) strangeTools() []string {
	of, who := catalog.All(), "no harness offers a"
	if id, chosen := s.HarnessChoice(); chosen {
		h, err := catalog.Named(id)
		if err != nil {
			return nil // that is said by itself
		}
		of, who = []harness.Harness{h}, h.Name+" offers no"
	}
	var asked, always []string
	for _, h := range of {
		asked = append(asked, h.OnRequest()...)
		for _, t := range h.Tools {
			if t.When == nil && !t.Hidden {
				always = append(always, t.Spec.Name)
			}
		}
	}
	slices.Sort(asked)
	asked = slices.Compact(asked)
	var strange []string
	for _, name := range s.HarnessTools {
		if slices.Contains(asked, name) || slices.Contains(always, name) {
			continue
		}
		text := fmt.Sprintf("harness_tools: %s tool %q on request (said %s)", who, name, s.Said("", "harness_tools"))
		switch near := nearNames(name, asked); {
		case len(near) > 0:
			text += "; did you mean " + strings.Join(near, " or ") + "? there are " + strings.Join(asked, ", ")
		case len(asked) > 0:
			text += "; there are " + strings.Join(asked, ", ")
		default:
			text += "; it has none of that kind"
		}
		strange = append(strange, text)
	}
	return strange
}

// checkHarness refuses a harness that is not there, and takes the names of tools that do nothing as a warning, or as an
// error where every unknown key is one.
func (s *settings) checkHarness() error {
	if err := s.knownHarness(); err != nil {
		return err
	}
	strange := s.strangeTools()
	if len(strange) > 0 && s.strict {
		return fmt.Errorf("%s", strange[0])
	}
	s.warnings = append(s.warnings, strange...)
	return nil
}

// markHarness notes what is wrong with the choice of a harness, for whoever has the configuration explained.
func (s *settings) markHarness() {
	if id, chosen := s.HarnessChoice(); chosen {
		if _, err := namedHarness(id); err != nil {
			s.Mark("harness", err.Error())
		}
	}
	if strange := s.strangeTools(); len(strange) > 0 {
		s.Mark("harness_tools", strings.Join(strange, "; "))
	}
}
