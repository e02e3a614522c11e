package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interpreter/sandbox"
)

// childEnvironment is what commands of the agent see of ours.
func (s *settings) childEnvironment(w world, more ...string) []string {
	return append(s.environment(w, s.ShellEnvironmentPolicy.IgnoreDefaultExcludes), more...)
}

// environment is ours after the person's policy; secrets says whether what looks like one is passed on.
func (s *settings) environment(w world, secrets bool) []string {
	p := s.ShellEnvironmentPolicy
	var keys []string
	for _, provider := range s.ModelProviders {
		if provider.EnvKey != "" {
			keys = append(keys, provider.EnvKey)
		}
	}
	parent := slices.DeleteFunc(slices.Clone(w.environ), func(entry string) bool {
		folder, ok := strings.CutPrefix(entry, "TMPDIR=")
		if !ok {
			return false
		}
		_, err := os.Stat(folder) // one that is not there only makes programs fail
		return err != nil
	})
	return sandbox.Environ(parent, sandbox.EnvPolicy{
		Inherit: p.Inherit, Secrets: secrets, Keys: keys, Exclude: p.Exclude, Set: p.Set, IncludeOnly: p.IncludeOnly,
	})
}

// shell is the program that runs scripts.
func (w world) shell() string {
	for _, path := range []string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", w.env("SHELL"), "/bin/sh"} {
		if filepath.IsAbs(path) {
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				return path
			}
		}
	}
	return "/bin/sh"
}
