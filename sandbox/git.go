package sandbox

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// gitFlags keep git from starting what a repository's configuration names, from asking and from reaching out. Drivers of
// diffs, filters and signatures have names of their own and cannot all be switched off so; GitDiffFlags and the
// sandbox do the rest.
var gitFlags = []string{"--no-pager", "--no-optional-locks",
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.bareRepository=explicit",
	"-c", "core.pager=cat", "-c", "core.editor=true", "-c", "core.sshCommand=false", "-c", "core.askPass=false",
	"-c", "core.alternateRefsCommand=false", "-c", "core.untrackedCache=false",
	"-c", "credential.helper=", "-c", "submodule.recurse=false", "-c", "status.submoduleSummary=false",
	"-c", "log.showSignature=false", "-c", "gpg.program=false", "-c", "gpg.ssh.program=false", "-c", "gpg.x509.program=false",
	"-c", "maintenance.auto=false", "-c", "gc.auto=0",
	// What is missing in a partial clone is not fetched: that would start the program that serves it.
	"-c", "protocol.allow=never", "-c", "protocol.ext.allow=never", "-c", "protocol.file.allow=never",
	"-c", "protocol.git.allow=never", "-c", "protocol.ssh.allow=never", "-c", "protocol.http.allow=never", "-c", "protocol.https.allow=never",
}

// GitDiffFlags belong behind diff, log and show when the agent runs git itself.
const GitDiffFlags = "--no-ext-diff --no-textconv --ignore-submodules=all"

// unfiltered switches off by name what only its name can switch off: the filters that a repository has for its files.
const unfiltered = `n=0
while IFS= read -r name; do
  [ -n "$name" ] || continue
  value=; case $name in *.required) value=false;; esac
  export "GIT_CONFIG_KEY_$n=$name" "GIT_CONFIG_VALUE_$n=$value"
  n=$((n+1))
done <<END
$(g config --name-only --get-regexp '^filter\..*\.(clean|smudge|process|required)$')
END
export GIT_CONFIG_COUNT=$n
`

// LookWithGit starts the script by which the agent looks at a repository for itself, whatever that holds. In the script,
// g stands for git with all its programs off, and its complaints go nowhere; the environment is stripped of what moves
// git. It runs read-only and without network, though commands may do more: filters and drivers that a repository names
// can be confined, not forbidden. Where that cannot be had it runs as commands do and without filters, so that files
// which pass through one may seem changed.
func LookWithGit(ctx context.Context, b Box, c Command, script string) (Process, error) {
	look, err := lookOnly(b)
	if err != nil || look.Backend() == "none" {
		look, script = b, unfiltered+script
	}
	return look.Start(ctx, gitCommand(c, script))
}

// gitCommand completes a command that looks at a repository.
func gitCommand(c Command, script string) Command {
	words := make([]string, len(gitFlags))
	for i, w := range gitFlags {
		words[i] = "'" + w + "'"
	}
	c.Argv = []string{"sh", "-c", "g() { git " + strings.Join(words, " ") + ` "$@" 2>/dev/null; }` + "\n" + script}
	var kept []string
	for _, entry := range c.Env {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case name == "GIT_CONFIG_NOSYSTEM":
			kept = append(kept, entry)
		case strings.HasPrefix(name, "GIT_"), name == "SSH_ASKPASS", matchAny(loaders, name):
		case name == "PATH":
			kept = append(kept, "PATH="+SafePath(value, c.Dir))
		default:
			kept = append(kept, entry)
		}
	}
	c.Env = append(kept, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_PAGER=cat", "GIT_EDITOR=true",
		"GIT_ASKPASS=false", "SSH_ASKPASS=false")
	return c
}

// lookOnly is a box for looks at a workspace: read-only and without network.
func lookOnly(b Box) (Box, error) {
	p := b.Policy()
	if p.Mode == ReadOnly && !p.Network {
		return b, nil
	}
	p.Mode, p.Roots, p.Protected, p.Network, p.Caches, p.Allowed = ReadOnly, nil, nil, false, nil, nil
	return New(p)
}

// SafePath is a PATH without entries that are empty or relative, and without those in the given folders, by their name
// or by where they lead: no program that a workspace holds is taken for one of the system.
func SafePath(path string, folders ...string) string {
	var kept []string
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		at := []string{filepath.Clean(dir)}
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			at = append(at, real)
		}
		if slices.ContainsFunc(folders, func(folder string) bool {
			return slices.ContainsFunc(at, func(dir string) bool { return folder != "" && within(dir, folder) })
		}) {
			continue
		}
		kept = append(kept, dir)
	}
	return strings.Join(kept, string(filepath.ListSeparator))
}
