package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interpreter/agent/project"
	"interpreter/local"
	"interpreter/sandbox"
)

// leaving warns when a model is not on this machine and may read a file of the project that keeps secrets: no sandbox
// mode hides those, and what the model reads goes where it runs. "" when there is nothing to warn of.
func (s *settings) leaving(m *local.Prepared, policy sandbox.Policy) string {
	if m.Local && !m.Leaves {
		return ""
	}
	files := secretFiles(s.dir, policy)
	if len(files) == 0 {
		return ""
	}
	where := "its vendor's machines"
	if u, err := url.Parse(m.Address); err == nil && !m.Leaves && u.Host != "" {
		where = u.Host
	}
	return fmt.Sprintf("the model may read %s, and what it reads leaves this machine for %s; keep secrets outside of the project, or use a model on this machine",
		strings.Join(files, " and "), where)
}

// secretFiles are the files named .env or .env.something that the agent may read, from the root of the repository down
// to a folder, with what they are called there. Examples of such files hold no secrets.
func secretFiles(dir string, policy sandbox.Policy) []string {
	top := dir
	if git, ok := project.FindGit(dir); ok {
		top = git.Root
	}
	var found []string
	for at := dir; ; at = filepath.Dir(at) {
		entries, err := os.ReadDir(at)
		if err != nil {
			break
		}
		for _, e := range entries {
			path := filepath.Join(at, e.Name())
			if keepsSecrets(e.Name()) && holds(policy, path) {
				found = append(found, shorter(dir, path))
			}
		}
		if at == top || at == filepath.Dir(at) {
			break
		}
	}
	slices.Sort(found)
	return found
}

// keepsSecrets goes by the name of a file.
func keepsSecrets(name string) bool {
	rest, ok := strings.CutPrefix(name, ".env")
	if !ok || rest != "" && rest[0] != '.' {
		return false
	}
	for _, end := range []string{".example", ".sample", ".template", ".dist", ".defaults"} {
		if strings.HasSuffix(rest, end) {
			return false
		}
	}
	return true
}

// holds reports a file that has content and that the agent may read.
func holds(policy sandbox.Policy, path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	_, _, err = policy.ReadFile(path)
	return err == nil
}

// shorter is a path as seen from a folder, if it is below it.
func shorter(dir, path string) string {
	if short, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(short) {
		return short
	}
	return path
}
