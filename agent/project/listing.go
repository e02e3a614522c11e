package project

import (
	"context"
	"os"
	"path"
	"path/filepath"

	"interpreter/harness"
)

// ignored are folders whose content tells nothing about a project and would crowd out what does.
var ignored = map[string]bool{
	".git": true, ".hg": true, ".svn": true, "node_modules": true, "target": true, ".venv": true, "venv": true,
	"__pycache__": true, "vendor": true, "dist": true, "build": true, ".next": true, ".cache": true, ".idea": true,
	".tox": true, ".mypy_cache": true, ".pytest_cache": true, ".gradle": true, "Pods": true,
}

// List names what lies in dir, breadth first, at most limit entries (0: 20). Folders left out are marked; links
// are listed and not followed.
func List(ctx context.Context, dir string, limit int) []harness.Entry {
	if limit <= 0 {
		limit = 20
	}
	var out []harness.Entry
	for queue := []string{"."}; len(queue) > 0 && ctx.Err() == nil; queue = queue[1:] {
		at := queue[0]
		entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(at)))
		if err != nil {
			continue // a folder that cannot be read is listed, its content is not known
		}
		for _, e := range entries {
			if len(out) == limit {
				return out
			}
			entry := harness.Entry{Path: path.Join(at, e.Name()), Dir: e.IsDir()}
			entry.Skipped = entry.Dir && ignored[e.Name()]
			if entry.Dir && !entry.Skipped {
				queue = append(queue, entry.Path)
			}
			out = append(out, entry)
		}
	}
	return out
}
