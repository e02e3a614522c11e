package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// repoCode is what is known of repositories whose settings and hooks run when somebody uses git there.
type repoCode map[string]bool

func (k *repoCode) add(git string) {
	if *k == nil {
		*k = repoCode{}
	}
	(*k)[git] = true
}

// mostNotices bounds the lines about one command.
const mostNotices = 8

// notices are the repositories that appeared below the watched folders: they cannot be prevented, only told.
func (n *nested) notices(g *guards, skip []string) []string {
	var lines []string
	for _, root := range g.watched {
		for _, git := range n.find(root, skip) {
			if g.known[git] {
				continue
			}
			g.known.add(git)
			if line := appeared(git); line != "" && len(lines) < mostNotices && !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

func appeared(git string) string {
	info, err := os.Lstat(git)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		if dir, ok := pointer(git, "gitdir:"); ok {
			return fmt.Sprintf("%s appeared: git run there obeys the settings and hooks of %s", git, dir)
		}
		return ""
	}
	var hooks []string
	entries, _ := os.ReadDir(filepath.Join(git, "hooks"))
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".sample") && len(hooks) < 20 {
			hooks = append(hooks, e.Name())
		}
	}
	line := "a repository appeared in " + git + ": git run there obeys its config"
	if len(hooks) > 0 {
		line += " and its hooks " + strings.Join(hooks, ", ")
	}
	return line
}
