package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interpreter/sandbox"
)

// childEnvironment is what commands of the agent see of ours. Keys of providers are never among it, unless the person
// sets one for them by name.
func (s *settings) childEnvironment(w world, more ...string) []string {
	policy := s.environmentPolicy()
	policy.Secrets, policy.Keys = s.ShellEnvironmentPolicy.IgnoreDefaultExcludes, s.secretNames()
	return append(sandbox.Environ(w.passed(), policy), more...)
}

// environment is ours after the person's policy; secrets says whether what looks like one is passed on.
func (s *settings) environment(w world, secrets bool) []string {
	policy := s.environmentPolicy()
	policy.Secrets = secrets
	if !secrets {
		policy.Keys = s.secretNames()
	}
	return sandbox.Environ(w.passed(), policy)
}

// environmentPolicy is what the person says of names. Filters is the other way to write two of the lists.
func (s *settings) environmentPolicy() sandbox.EnvPolicy {
	p := s.ShellEnvironmentPolicy
	out := sandbox.EnvPolicy{Inherit: p.Inherit, Exclude: p.Exclude, Set: p.Set, IncludeOnly: p.IncludeOnly}
	for _, pattern := range slices.Sorted(maps.Keys(p.Filters)) {
		if p.Filters[pattern] == "include" {
			out.IncludeOnly = append(out.IncludeOnly, pattern)
		} else {
			out.Exclude = append(out.Exclude, pattern)
		}
	}
	return out
}

// secretNames are the variables that the configuration names for keys.
func (s *settings) secretNames() []string {
	var names []string
	add := func(name string) {
		if name != "" {
			names = append(names, name)
		}
	}
	for _, provider := range s.ModelProviders {
		add(provider.EnvKey)
		for _, name := range provider.EnvHTTPHeaders {
			add(name)
		}
	}
	for _, server := range s.MCPServers {
		add(server.BearerTokenEnvVar)
		for _, name := range server.EnvHTTPHeaders {
			add(name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// passed is our environment without a TMPDIR that is not there: it only makes programs fail.
func (w world) passed() []string {
	return slices.DeleteFunc(slices.Clone(w.environ), func(entry string) bool {
		folder, ok := strings.CutPrefix(entry, "TMPDIR=")
		if !ok {
			return false
		}
		_, err := os.Stat(folder)
		return err != nil
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
