package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Trust is what a person decided about the files of a folder.
type Trust string

// The decisions. Undecided is none.
const (
	Undecided Trust = ""
	Trusted   Trust = "trusted"
	Untrusted Trust = "untrusted"
)

// folder is the name of our directory inside a project.
const folder = ".openinterpreter"

// forbidden are the keys a project may not set, whoever trusts it: they would move traffic, secrets or records.
var forbidden = [][]string{
	{"openai_base_url"}, {"chatgpt_base_url"}, {"apps_mcp_product_sku"}, {"responses_api_metadata"},
	{"model_provider"}, {"model_providers"}, {"oss_provider"}, {"notify"}, {"profile"}, {"profiles"}, {"otel"},
	{"projects"}, {"project_root_markers"}, {"linux_sandbox"}, {"windows_sandbox"}, {"build_cache_max_bytes"}, {"analytics"}, {"history"}, {"sessions"}, {"log_dir"}, {"sqlite_home"},
	{"check_for_update_on_startup"}, {"features", "respect_system_proxy"}, {"hooks", "state"},
	{"shell_environment_policy"},
}

// strip takes the forbidden keys out of a project's tree and returns their paths.
func strip(tree map[string]any, keys [][]string) [][]string {
	var gone [][]string
	for name := range tree {
		if strings.HasPrefix(name, "experimental_realtime_") {
			keys = append(keys[:len(keys):len(keys)], []string{name})
		}
	}
	for _, key := range keys {
		table, ok := tree, true
		for _, part := range key[:len(key)-1] {
			if table, ok = table[part].(map[string]any); !ok {
				break
			}
		}
		last := key[len(key)-1]
		if _, set := table[last]; ok && set {
			delete(table, last)
			gone = append(gone, key)
		}
	}
	return gone
}

// ProjectRoot is the nearest folder at or above dir that holds one of the markers; dir itself when none does.
func ProjectRoot(dir string, markers []string) string {
	for at := dir; len(markers) > 0; {
		for _, marker := range markers {
			if _, err := os.Lstat(filepath.Join(at, marker)); err == nil {
				return at
			}
		}
		up := filepath.Dir(at)
		if up == at {
			break
		}
		at = up
	}
	return dir
}

// between lists the folders from root down to dir, both included.
func between(root, dir string) []string {
	list := []string{dir}
	for at := dir; at != root; {
		up := filepath.Dir(at)
		if up == at {
			return []string{dir} // root is not above dir
		}
		at = up
		list = append([]string{at}, list...)
	}
	return list
}

// mainCheckout is the repository that a linked worktree at root belongs to; root itself for any other folder.
func mainCheckout(root string) string {
	raw, err := os.ReadFile(filepath.Join(root, ".git"))
	if err != nil {
		return root
	}
	gitdir, ok := strings.CutPrefix(strings.TrimSpace(string(raw)), "gitdir:")
	if !ok {
		return root
	}
	gitdir = expand(strings.TrimSpace(gitdir), root, "")
	// A submodule has a .git file too, but no commondir: it is a repository of its own.
	common, err := os.ReadFile(filepath.Join(gitdir, "commondir"))
	if err != nil {
		return root
	}
	shared := expand(strings.TrimSpace(string(common)), gitdir, "")
	if filepath.Base(shared) != ".git" {
		return root
	}
	// The repository must know the worktree too, or any folder could claim the trust of another.
	back, err := os.ReadFile(filepath.Join(gitdir, "gitdir"))
	if err != nil || !sameFile(expand(strings.TrimSpace(string(back)), gitdir, ""), filepath.Join(root, ".git")) {
		return root
	}
	return filepath.Dir(shared)
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}

// trustOf looks a folder up: itself, then its project's root, then the main checkout.
func trustOf(projects map[string]any, userHome string, places ...string) Trust {
	decided := make(map[string]Trust, len(projects))
	for path, value := range projects {
		table, _ := value.(map[string]any)
		level, _ := table["trust_level"].(string)
		if t := Trust(level); t == Trusted || t == Untrusted {
			decided[folded(expand(path, "", userHome))] = t
		}
	}
	if len(decided) == 0 {
		return Undecided
	}
	for _, place := range places {
		for _, name := range []string{filepath.Clean(place), resolved(place)} {
			if t, ok := decided[folded(name)]; ok {
				return t
			}
		}
	}
	// A key may be spelled through a symbolic link.
	for path, t := range decided {
		if real := folded(resolved(path)); t == Untrusted || decided[real] == Undecided {
			decided[real] = t
		}
	}
	for _, place := range places {
		if t, ok := decided[folded(resolved(place))]; ok {
			return t
		}
	}
	return Undecided
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

func folded(path string) string {
	if runtime.GOOS == "windows" {
		return strings.ToLower(path)
	}
	return path
}

// DefaultPermissions is the sandbox mode and the approval policy that hold when nobody chose them.
func DefaultPermissions(t Trust) (sandboxMode, approvalPolicy string) {
	return permissions(t, runtime.GOOS)
}

func permissions(t Trust, system string) (string, string) {
	mode, policy := "workspace-write", "on-request"
	switch t {
	case Undecided:
		mode = "read-only"
	case Untrusted:
		policy = "untrusted"
	}
	if system == "windows" {
		mode = "read-only" // nothing there keeps writes inside a folder, until a person allows what it takes
	}
	return mode, policy
}

// Permissions is what is in force: what was chosen, else the defaults of the folder's trust.
func (c Config) Permissions() (sandboxMode, approvalPolicy string) {
	return c.permissionsOn(runtime.GOOS)
}

func (c Config) permissionsOn(system string) (sandboxMode, approvalPolicy string) {
	if system == "windows" && c.WindowsSandbox == "unelevated" {
		system = "" // it keeps writes inside a folder, like those of the others
	}
	sandboxMode, approvalPolicy = permissions(c.Trust, system)
	if c.SandboxMode != "" {
		sandboxMode = c.SandboxMode
	}
	if c.ApprovalPolicy.Policy != "" {
		approvalPolicy = c.ApprovalPolicy.Policy
	}
	return sandboxMode, approvalPolicy
}
