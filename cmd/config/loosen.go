package config

import (
	"os"
	"path/filepath"
	"slices"
)

// The values of settings that guard a person, from tight to loose.
var (
	modesByReach     = []string{"read-only", "workspace-write", "danger-full-access"}
	policiesByTrust  = []string{"untrusted", "on-request", "never"}
	policiesAsOthers = map[string]string{"on-failure": "on-request"}
)

// loosened are the keys of a trusted project's tree that would guard the person less than what they chose, or than what
// holds in a trusted folder where they chose nothing. A project may always be stricter.
func loosened(project, base map[string]any, root, dir string) [][]string {
	mode, policy := DefaultPermissions(Trusted)
	var keys [][]string
	rank := func(key string, order []string, usual string) {
		text, ok := project[key].(string)
		if !ok {
			return // what is no word is refused when it is read
		}
		if chosen, ok := base[key].(string); ok {
			usual = chosen
		}
		for _, word := range []*string{&text, &usual} {
			if same, ok := policiesAsOthers[*word]; ok {
				*word = same
			}
		}
		if slices.Index(order, text) > slices.Index(order, usual) {
			keys = append(keys, []string{key})
		}
	}
	rank("sandbox_mode", modesByReach, mode)
	rank("approval_policy", policiesByTrust, policy)
	flip := func(loose bool, path ...string) {
		table, below := project, base
		for _, part := range path[:len(path)-1] {
			table, _ = table[part].(map[string]any)
			below, _ = below[part].(map[string]any)
		}
		last := path[len(path)-1]
		wanted, set := table[last].(bool)
		chosen, decided := below[last].(bool)
		if !decided {
			chosen = path[0] == "allow_login_shell"
		}
		if set && wanted == loose && chosen != loose {
			keys = append(keys, path)
		}
	}
	flip(true, "allow_login_shell")
	flip(true, "sandbox_workspace_write", "network_access")
	flip(false, "sandbox_workspace_write", "exclude_slash_tmp")
	flip(false, "sandbox_workspace_write", "exclude_tmpdir_env_var")
	write, _ := project["sandbox_workspace_write"].(map[string]any)
	roots, _ := write["writable_roots"].([]any)
	if slices.ContainsFunc(roots, func(r any) bool {
		path, ok := r.(string)
		return ok && !insideProject(path, root, dir)
	}) {
		keys = append(keys, []string{"sandbox_workspace_write", "writable_roots"})
	}
	return keys
}

// insideProject reports whether a path that a project's file names stays in the project, also where links lead.
func insideProject(path, root, dir string) bool {
	if !filepath.IsAbs(path) {
		if path == "" || path[0] == '~' {
			return false
		}
		path = filepath.Join(dir, path)
	}
	real, rest := filepath.Clean(path), ""
	for { // the deepest part that is there decides
		if found, err := filepath.EvalSymlinks(real); err == nil {
			real = filepath.Join(found, rest)
			break
		}
		if _, err := os.Lstat(real); err == nil || filepath.Dir(real) == real {
			return false // a link that leads nowhere yet
		}
		real, rest = filepath.Dir(real), filepath.Join(filepath.Base(real), rest)
	}
	rel, err := filepath.Rel(resolved(root), real)
	return err == nil && filepath.IsLocal(rel)
}
