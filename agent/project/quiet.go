package project

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"interpreter/sandbox"
)

// Bounds of asking git about its settings.
const (
	quietFor        = 5 * time.Second
	quietModules    = 16 // submodules of one repository that are asked too
	quietModuleDeep = 3
)

// quietScript asks git for its settings as they hold in a folder, and for what else may start a program when git only
// looks: a hook that runs when the index is refreshed, and submodules, whose settings are their own.
const quietScript = `top=$(g rev-parse --show-toplevel)
common=$(g rev-parse --git-common-dir)
printf '%s\036' "$top"
[ -n "$common" ] && [ -e "$common/hooks/post-index-change" ] && printf hook
printf '\036'
[ -n "$top" ] && g -C "$top" ls-files --stage | grep '^160000 '
printf '\036'
g config --list -z --includes --show-scope || printf 'unknown'
`

// QuietGit reports whether git, asked to look at the repository that holds a folder (status, log, diff, show, branch),
// starts nothing but itself, by what its settings say. When git does not say what they are, within 5 seconds, it does not.
func QuietGit(ctx context.Context, box sandbox.Box, dir string, env []string) bool {
	ctx, cancel := context.WithTimeout(ctx, quietFor)
	defer cancel()
	return quietIn(ctx, box, dir, env, 0)
}

func quietIn(ctx context.Context, box sandbox.Box, dir string, env []string, depth int) bool {
	process, err := sandbox.LookWithGit(ctx, box, sandbox.Command{Dir: dir, Env: env, Timeout: quietFor}, quietScript)
	if err != nil {
		return false
	}
	<-process.Done()
	out := process.Output()
	if exit := process.Exit(); exit.Code != 0 || exit.TimedOut || out.Omitted > 0 {
		return false
	}
	answers := strings.SplitN(string(out.Head)+string(out.Tail), "\x1e", 4)
	if len(answers) < 4 || answers[1] != "" {
		return false
	}
	top := answers[0]
	if top == "" && repositoryAbove(dir) {
		return false // git was not shown it, and a command may be
	}
	settings, ok := settingsOf(answers[3])
	if !ok || !quiet(settings) {
		return false
	}
	for _, s := range settings {
		switch s.name {
		case "core.worktree": // a submodule has one too, and a .git file there that leads back
			if _, err := os.Lstat(filepath.Join(top, ".git")); err != nil {
				return false
			}
		case "core.hookspath":
			hooks := s.value
			if strings.HasPrefix(hooks, "~") {
				return false
			}
			if !filepath.IsAbs(hooks) {
				hooks = filepath.Join(top, hooks)
			}
			if _, err := os.Stat(filepath.Join(hooks, "post-index-change")); err == nil {
				return false
			}
		}
	}
	modules := linesOf(answers[2])
	if len(modules) > quietModules || len(modules) > 0 && depth >= quietModuleDeep {
		return false
	}
	for _, line := range modules {
		_, path, ok := strings.Cut(line, "\t")
		if !ok || strings.HasPrefix(path, `"`) || strings.HasSuffix(path, "…") {
			return false
		}
		module := filepath.Join(top, path)
		if _, err := os.Lstat(filepath.Join(module, ".git")); err == nil && !quietIn(ctx, box, module, env, depth+1) {
			return false
		}
	}
	return true
}

// repositoryAbove reports whether a folder, or one above it, is where a repository begins.
func repositoryAbove(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// setting is one setting of git's: the name in lower case but for its middle part.
type setting struct{ name, value string }

// settingsOf reads what git config --list -z --show-scope prints. What was set for this one question is left out.
func settingsOf(text string) ([]setting, bool) {
	if text == "" {
		return nil, true
	}
	fields := strings.Split(strings.TrimSuffix(text, "\x00"), "\x00")
	if len(fields)%2 != 0 || !strings.HasSuffix(text, "\x00") {
		return nil, false
	}
	var found []setting
	for i := 0; i < len(fields); i += 2 {
		name, value, _ := strings.Cut(fields[i+1], "\n")
		switch fields[i] {
		case "command":
		case "system", "global", "local", "worktree":
			found = append(found, setting{name, value})
		default:
			return nil, false
		}
	}
	return found, true
}

// quiet reports whether settings name no program that git starts when it only looks, nothing it writes then, and nothing
// it fetches.
func quiet(settings []setting) bool {
	return !slices.ContainsFunc(settings, func(s setting) bool {
		lower := strings.ToLower(s.name)
		section, rest, _ := strings.Cut(lower, ".")
		_, last, _ := cutLast(lower)
		switch section {
		case "core":
			return slices.Contains([]string{"pager", "attributesfile"}, rest) || rest == "fsmonitor" && !boolean(s.value)
		case "diff":
			return rest == "external" || (last == "command" || last == "textconv") && rest != last || rest == "submodule" && s.value == "log"
		case "filter", "gpg":
			return true
		case "alias":
			return slices.Contains([]string{"status", "log", "diff", "show", "branch"}, rest)
		case "pager":
			return !boolean(s.value)
		case "log":
			return rest == "showsignature" || rest == "diffmerges"
		case "format":
			return rest == "pretty" && signs(s.value)
		case "pretty":
			return signs(s.value)
		case "branch", "tag":
			return rest == "sort" && signs(s.value)
		case "remote":
			return last == "promisor" || last == "partialclonefilter"
		case "extensions":
			return rest == "partialclone"
		case "trace2":
			return strings.HasSuffix(last, "target")
		}
		return false
	})
}

// signs reports a format for which git starts the program that checks signatures.
func signs(format string) bool {
	return strings.Contains(format, "%G") || strings.Contains(format, "signature")
}

func boolean(value string) bool {
	return slices.Contains([]string{"", "true", "false", "yes", "no", "on", "off", "0", "1"}, strings.ToLower(value))
}

func cutLast(name string) (before, last string, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}
