package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// toolCaches are build caches in a person's home folder that their tools find by themselves.
var toolCaches = []string{
	".npm", ".bun/install/cache", ".local/share/pnpm/store", ".cargo/registry", ".cargo/git", ".gradle/caches",
	".m2/repository", ".nuget/packages", ".ccache", ".deno",
}

// caches are the build caches that commands see through a layer: warm, and never written to. Those that a person made
// writable, by a root that holds them, are as writable as the rest of the root.
func caches(s Settings, p Policy) []Cache {
	home := p.UserHome
	var found []Cache
	add := func(env, lower string, lasting bool) {
		if lower == "" || !filepath.IsAbs(lower) {
			return
		}
		lower = mustFollow(lower)
		if p.rootOf(lower) != "" && p.Mode == WorkspaceWrite || p.Home != "" && within(lower, p.Home) || within(p.Dir, lower) {
			return
		}
		if slices.ContainsFunc(found, func(c Cache) bool { return within(lower, c.Lower) && exists(c.Lower) }) {
			return
		}
		c := Cache{Env: env, Lower: lower}
		if lasting && p.Mode == WorkspaceWrite && p.Home != "" {
			c.Upper = filepath.Join(p.Home, "build-cache", WorkspaceID(p.Dir), layerName(env, lower))
		}
		found = append(found, c)
	}
	general := lookup(s.Environ, "XDG_CACHE_HOME")
	if general == "" && home != "" {
		general = filepath.Join(home, ".cache")
		if runtime.GOOS == "darwin" {
			general = filepath.Join(home, "Library", "Caches")
		}
	}
	add("XDG_CACHE_HOME", general, true)
	gocache := lookup(s.Environ, "GOCACHE")
	if gocache == "" && general != "" {
		gocache = filepath.Join(general, "go-build")
	}
	if gocache != "off" {
		add("GOCACHE", gocache, true)
	}
	// Modules are only read, but for lock files: what a command fetched is gone with it unless it may fetch.
	add("GOMODCACHE", modCache(s.Environ, home), p.Network)
	if home != "" {
		for _, name := range toolCaches {
			if lower := filepath.Join(home, name); exists(lower) {
				add("", lower, true)
			}
		}
	}
	return found
}

func modCache(environ []string, home string) string {
	if dir := lookup(environ, "GOMODCACHE"); dir != "" {
		return dir
	}
	if list := filepath.SplitList(lookup(environ, "GOPATH")); len(list) > 0 && list[0] != "" {
		return filepath.Join(list[0], "pkg", "mod")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, "go", "pkg", "mod")
}

// WorkspaceID names a workspace in file names: its last part, for people, and a digest of the whole path.
func WorkspaceID(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return clean(filepath.Base(dir)) + "-" + hex.EncodeToString(sum[:6])
}

func layerName(env, lower string) string {
	if env != "" {
		return strings.ToLower(env)
	}
	sum := sha256.Sum256([]byte(lower))
	return clean(filepath.Base(lower)) + "-" + hex.EncodeToString(sum[:3])
}

func clean(name string) string {
	kept := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	return strings.TrimLeft(kept[:min(len(kept), 40)], ".")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
