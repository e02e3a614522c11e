package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// cacheVariable is how a tool is told to keep what it saves between builds in another place.
type cacheVariable struct {
	name   string
	folder string // where it keeps that by itself, below the person's home folder; "" when that is elsewhere
	warm   string // the variable by which it reads the usual place as well, "" when it has none
	part   string // what of folder is for warm
	online bool   // only a command with a network is sent elsewhere: what is in the usual place does for the others
}

// cacheVariables are the tools of macOS. Nothing can be laid over their folders there, so they start with empty ones,
// but for those that read a second place.
var cacheVariables = []cacheVariable{
	{name: "BUNDLE_USER_CACHE", folder: ".bundle/cache"},
	{name: "BUN_INSTALL_CACHE_DIR", folder: ".bun/install/cache"},
	{name: "CARGO_HOME", folder: ".cargo", online: true},
	{name: "CCACHE_DIR", folder: "Library/Caches/ccache"},
	{name: "CLANG_MODULE_CACHE_PATH"},
	{name: "COMPOSER_CACHE_DIR", folder: "Library/Caches/composer"},
	{name: "DENO_DIR", folder: "Library/Caches/deno"},
	{name: "GRADLE_USER_HOME", folder: ".gradle", warm: "GRADLE_RO_DEP_CACHE", part: "caches"},
	{name: "NUGET_PACKAGES", folder: ".nuget/packages", warm: "NUGET_FALLBACK_PACKAGES"},
	{name: "PIP_CACHE_DIR", folder: "Library/Caches/pip"},
	{name: "SCCACHE_DIR", folder: "Library/Caches/Mozilla.sccache"},
	{name: "UV_CACHE_DIR", folder: ".cache/uv"},
	{name: "YARN_CACHE_FOLDER", folder: "Library/Caches/Yarn"},
	{name: "ZIG_GLOBAL_CACHE_DIR", folder: ".cache/zig"},
	{name: "npm_config_cache", folder: ".npm"},
	{name: "npm_config_store_dir", folder: "Library/pnpm/store"},
}

// byVariables names caches by variables, where none can be shown through a layer. They lie in a folder of the
// workspace's, and in scratch, which goes with the command, where the workspace may not be written. It returns the
// variables and the folders that must be writable for them.
func (p Policy) byVariables(env []string, scratch string) (vars, folders []string) {
	if len(p.Caches) == 0 {
		return nil, nil
	}
	lasting := func(upper, name string) string {
		dir := filepath.Join(scratch, "caches", name)
		if upper != "" {
			dir = filepath.Join(upper, "upper")
		}
		if scratch == "" && upper == "" || os.MkdirAll(dir, 0o700) != nil {
			return ""
		}
		if upper != "" {
			folders = append(folders, dir)
		}
		return dir
	}
	ours := ""
	if p.Mode == WorkspaceWrite && p.Home != "" {
		ours = filepath.Join(p.Home, "build-cache", WorkspaceID(p.Dir))
	}
	for _, c := range p.Caches {
		upper := c.Upper
		switch {
		case c.Env == "":
			continue
		case upper == "" && c.Env == "GOMODCACHE" && exists(c.Lower) && !p.Network: // modules are only read
			continue
		case upper == "" && ours != "":
			upper = filepath.Join(ours, layerName(c.Env, c.Lower))
		}
		if dir := lasting(upper, strings.ToLower(c.Env)); dir != "" {
			vars = append(vars, c.Env+"="+dir)
		}
	}
	tools := ""
	if ours != "" {
		tools = filepath.Join(ours, "tools")
	}
	base := lasting(tools, "tools")
	if base == "" {
		return vars, folders
	}
	for _, v := range cacheVariables {
		if v.online && !p.Network {
			continue
		}
		usual := lookup(env, v.name)
		if usual == "" && v.folder != "" && p.UserHome != "" {
			usual = filepath.Join(p.UserHome, filepath.FromSlash(v.folder))
		}
		if usual != "" && p.Mode == WorkspaceWrite && p.rootOf(mustFollow(usual)) != "" { // a person made it writable
			continue
		}
		vars = append(vars, v.name+"="+filepath.Join(base, strings.ToLower(v.name)))
		if usual = filepath.Join(usual, v.part); v.warm != "" && lookup(env, v.warm) == "" && exists(usual) {
			vars = append(vars, v.warm+"="+usual)
		}
	}
	return append(vars, p.maven(env, base)...), folders
}

// maven tells Maven of another repository, and to read the usual one too. It takes both as options of its run-time,
// which are split at spaces.
func (p Policy) maven(env []string, base string) []string {
	local := filepath.Join(base, "maven")
	options := []string{lookup(env, "MAVEN_OPTS"), "-Dmaven.repo.local=" + local}
	if strings.Contains(options[0], "maven.repo.local") || strings.ContainsAny(local, " \t\n") {
		return nil
	}
	usual := filepath.Join(p.UserHome, ".m2", "repository")
	if p.UserHome != "" && p.Mode == WorkspaceWrite && p.rootOf(usual) != "" {
		return nil
	}
	if p.UserHome != "" && exists(usual) && !strings.ContainsAny(usual, " \t\n") {
		options = append(options, "-Dmaven.repo.local.tail="+usual)
	}
	return []string{"MAVEN_OPTS=" + strings.TrimSpace(strings.Join(options, " "))}
}

// scratchFolder is a fresh folder for a command that may write none of the usual temporary ones, "" for one that may.
// The function removes it.
func (p Policy) scratchFolder() (string, func()) {
	if p.rootOf(mustFollow("/tmp")) != "" || p.TMPDIR != "" && p.rootOf(p.TMPDIR) != "" {
		return "", func() {}
	}
	if p.Home != "" && os.MkdirAll(p.Home, 0o700) != nil {
		return "", func() {}
	}
	dir, err := os.MkdirTemp(p.Home, "scratch-")
	if err != nil {
		return "", func() {}
	}
	return mustFollow(dir), func() { removeAll(dir) }
}

// removeAll removes what a command left, folders without rights too.
func removeAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	level := []string{dir}
	for len(level) > 0 {
		var next []string
		for _, d := range level {
			_ = os.Chmod(d, 0o700)
			next = append(next, folders(d, -1)...)
		}
		level = next
	}
	_ = os.RemoveAll(dir)
}

// temporaryVariables send a command's temporary files to its scratch folder. The shell of macOS has a name of its own
// for where it keeps the text of here-documents.
func temporaryVariables(scratch string) []string {
	if scratch == "" {
		return nil
	}
	return []string{"TMPDIR=" + scratch, "TMP=" + scratch, "TEMP=" + scratch, "TMPPREFIX=" + filepath.Join(scratch, "zsh")}
}
