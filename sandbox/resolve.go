package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// protectedNames are the entries directly below a writable root that stay read-only: what they hold runs later, or
// steers the agent itself.
var protectedNames = []string{".git", ".openinterpreter", ".agents", ".codex"}

// credentialNames are the files of the agent's home that hold secrets.
var credentialNames = []string{"auth.json", "credentials.json", "keys.json", "mcp_oauth.json", ".credentials.json", ".env"}

// personalNames are the places of a person's home folder that run at every login or hold keys. They are protected
// when a writable root reaches them.
var personalNames = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
	".zlogout", ".kshrc", ".xprofile", ".xsessionrc", ".xinitrc", ".pam_environment", ".config/environment.d", ".config/fish", ".inputrc", ".ssh", ".gnupg", ".config/git", ".gitconfig", ".config/autostart", ".config/systemd",
	"Library/LaunchAgents",
}

// Resolve turns what a person chose into a Policy whose every path is real, as the disk is now. The warnings are for
// that person.
func Resolve(s Settings) (Policy, []string, error) {
	switch s.Mode {
	case ReadOnly, WorkspaceWrite, FullAccess:
	default:
		return Policy{}, nil, fmt.Errorf("resolve the sandbox: unknown mode %q; there are %s, %s and %s", s.Mode, ReadOnly, WorkspaceWrite, FullAccess)
	}
	switch s.Backend {
	case "", "auto", "namespace", "bubblewrap", "landlock":
	default:
		return Policy{}, nil, fmt.Errorf("resolve the sandbox: unknown back end %q; there are auto, namespace, bubblewrap and landlock", s.Backend)
	}
	mode, warnings := onSystem(s, runtime.GOOS)
	s.Mode = mode
	dir, err := realDir(s.Dir)
	if err != nil {
		return Policy{}, nil, fmt.Errorf("open the working directory %s: %w", s.Dir, err)
	}
	p := Policy{Mode: s.Mode, Dir: dir, Network: s.Mode == FullAccess || s.Mode == WorkspaceWrite && s.Network, Environ: placesOnly(s.Environ)}
	if s.Backend != "auto" {
		p.Force = s.Backend
	}
	p.Degraded, p.Limit = s.Degraded || s.Backend == "landlock", s.CacheLimit
	if p.Limit <= 0 {
		p.Limit = 5 << 30
	}
	if s.Home != "" {
		home, err := follow(filepath.Clean(s.Home))
		if err != nil {
			return Policy{}, nil, fmt.Errorf("resolve the agent's home %s: %w", s.Home, err)
		}
		p.Home = home
	}
	if s.UserHome != "" {
		p.UserHome = mustFollow(s.UserHome)
	}
	if s.TMPDIR != "" && filepath.IsAbs(s.TMPDIR) {
		if tmp, err := realDir(s.TMPDIR); err == nil && !isSlashTmp(tmp) {
			p.TMPDIR = tmp
		}
	}
	p.NetworkOpen = runtime.GOOS == "windows" && s.Mode != FullAccess
	if s.Mode == WorkspaceWrite {
		var skipped []string
		p.Roots, skipped = roots(s, dir, p.TMPDIR)
		warnings = slices.Concat(warnings, skipped, wide(p))
	}
	p.Protected = protections(p).paths()
	p.Hidden = credentials(p)
	if s.Mode != FullAccess {
		p.Caches = caches(s, p)
	}
	return p, warnings, nil
}

// roots are the writable roots, real, shallow before deep, each once.
func roots(s Settings, dir, tmpdir string) (found, warnings []string) {
	found = []string{dir}
	wanted := slices.Clone(s.Writable)
	for _, w := range wanted {
		if !filepath.IsAbs(w) {
			w = filepath.Join(dir, w)
		}
		real, err := realDir(w)
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("writable folder %s skipped: %v", w, err))
			continue
		}
		found = append(found, real)
	}
	if runtime.GOOS != "windows" && !s.ExcludeTmp {
		if real, err := realDir("/tmp"); err == nil {
			found = append(found, real)
		}
	}
	if tmpdir != "" && !s.ExcludeTMPDIR {
		found = append(found, tmpdir)
	}
	slices.SortStableFunc(found, func(a, b string) int {
		if d := depth(a) - depth(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return slices.CompactFunc(found, same), warnings
}

// wide warns of roots that give away more than a project.
func wide(p Policy) []string {
	var warnings []string
	for _, root := range p.Roots {
		switch {
		case root == filepath.Dir(root):
			warnings = append(warnings, "the whole disk is writable: "+root+" is a writable folder")
		case p.UserHome != "" && within(p.UserHome, root):
			warnings = append(warnings, root+" is writable and holds your home folder; start-up files and keys in it stay read-only")
		case p.Home != "" && within(p.Home, root):
			warnings = append(warnings, root+" is writable and holds the agent's own home, which stays read-only")
		}
	}
	return warnings
}

func credentials(p Policy) []string {
	var found []string
	if p.Home != "" {
		for _, name := range credentialNames {
			found = append(found, filepath.Join(p.Home, name))
		}
	}
	if p.UserHome != "" {
		for _, name := range []string{".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".cargo/credentials.toml", ".cargo/credentials"} {
			found = append(found, filepath.Join(p.UserHome, name))
		}
	}
	for variable, names := range map[string][]string{"CARGO_HOME": {"credentials.toml", "credentials"}, "HF_HOME": {"token", "stored_tokens"}} {
		if dir := lookup(p.Environ, variable); filepath.IsAbs(dir) {
			for _, name := range names {
				found = append(found, filepath.Join(dir, name))
			}
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	for _, name := range slices.Clone(found) {
		if real := mustFollow(name); real != name {
			found = append(found, real)
		}
	}
	return found
}

// placesOnly keeps the variables that name places. The rest of the environment is no business of a policy.
func placesOnly(environ []string) []string {
	names := []string{"GOCACHE", "GOMODCACHE", "GOPATH", "XDG_CACHE_HOME", "CARGO_HOME", "HF_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "DOCKER_HOST",
		"CONTAINER_HOST", "DBUS_SESSION_BUS_ADDRESS", "WAYLAND_DISPLAY", "PATH"}
	var kept []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(names, name) {
			kept = append(kept, entry)
		}
	}
	return kept
}

// realDir is the real path of an existing folder.
func realDir(path string) (string, error) {
	if path == "" {
		return "", errors.New("no path given")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", errors.New("it does not exist")
		}
		return "", plain(err)
	}
	if runtime.GOOS == "windows" { // EvalSymlinks knows no junctions
		if real, err = follow(real); err != nil {
			return "", err
		}
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", plain(err)
	}
	if !info.IsDir() {
		return "", errors.New("it is not a folder")
	}
	return real, nil
}

func mustFollow(path string) string {
	if real, err := follow(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

func isSlashTmp(real string) bool {
	tmp, err := filepath.EvalSymlinks("/tmp")
	return err == nil && real == tmp
}

func depth(path string) int { return strings.Count(filepath.Clean(path), string(filepath.Separator)) }

func lookup(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
