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

// A toolCache is a build cache in a person's home folder that its tool finds by itself, or by a variable.
type toolCache struct {
	env    string // the variable that names it, "" when the tool has none
	folder string // below the home folder, or below what env names
	always bool   // the tool fails, or complains at length, where it cannot make the folder
}

// toolCaches are those that lie outside of the general cache folder. Folders that hold settings, programs or
// credentials beside a cache are not taken whole: of cargo's only what was fetched, of maven's only the repository.
var toolCaches = []toolCache{
	{env: "npm_config_cache", folder: ".npm", always: true}, {env: "GRADLE_USER_HOME", folder: ".gradle"},
	{env: "BUN_INSTALL_CACHE_DIR", folder: ".bun/install/cache"}, {env: "NUGET_PACKAGES", folder: ".nuget/packages"},
	{env: "CCACHE_DIR", folder: ".ccache"}, {env: "DENO_DIR", folder: ".deno"}, {env: "BUNDLE_USER_CACHE", folder: ".bundle/cache"},
	{env: "COMPOSER_CACHE_DIR", folder: ".composer/cache"}, {env: "npm_config_store_dir", folder: ".local/share/pnpm/store"},
	{folder: ".pnpm-store"}, {folder: ".yarn/berry/cache"}, {folder: ".cargo/registry"}, {folder: ".cargo/git"}, {folder: ".m2/repository"},
	{folder: ".local/share/NuGet"}, {folder: ".ivy2/cache"}, {folder: ".pub-cache"},
}

// namedCaches are caches that lie in the general folder unless a variable puts them elsewhere.
var namedCaches = []string{"PIP_CACHE_DIR", "UV_CACHE_DIR", "NPM_CONFIG_CACHE", "YARN_CACHE_FOLDER", "SCCACHE_DIR", "ZIG_GLOBAL_CACHE_DIR",
	"HF_HOME", "HF_HUB_CACHE"}

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
			c.Upper = filepath.Join(p.Home, cacheFolder, WorkspaceID(p.Dir), layerName(env, lower))
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
	for _, t := range toolCaches {
		lower := lookup(s.Environ, t.env)
		if t.env == "" || lower == "" {
			if home == "" {
				continue
			}
			lower = filepath.Join(home, t.folder)
			if cargo := lookup(s.Environ, "CARGO_HOME"); cargo != "" && strings.HasPrefix(t.folder, ".cargo/") {
				lower = filepath.Join(cargo, filepath.Base(t.folder))
			}
		}
		if t.always || exists(lower) {
			add(t.env, lower, true)
		}
	}
	for _, name := range namedCaches {
		if dir := lookup(s.Environ, name); dir != "" && exists(dir) {
			add(name, dir, true)
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
