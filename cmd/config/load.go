package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// Source says where settings come from. Every path is absolute.
type Source struct {
	Home       string // resolved; see Home
	Dir        string // working root: -C, or the current directory
	Cwd        string // current directory, where paths of -c start; "" is Dir
	UserHome   string // what ~ means
	System     string // the system's file; "" for none
	Profile    string // --profile
	Overrides  []string
	Enable     []string
	Disable    []string
	Strict     bool           // an unknown key is an error
	IgnoreUser bool           // leave <home>/config.toml alone
	Flags      map[string]any // dedicated flags by dotted key, stronger than everything
}

// SystemPath is where the machine's own file is looked for.
const SystemPath = "/etc/interpreter/config.toml"

// Layer is one source of settings, for people who ask where a value came from.
type Layer struct {
	Name    string   `json:"name"` // "system", "user", "project", "profile NAME", "command line", "flags"
	Path    string   `json:"path,omitempty"`
	Enabled bool     `json:"enabled"`
	Reason  string   `json:"reason,omitempty"` // why it is not
	Keys    []string `json:"keys,omitempty"`   // key = value, of the command line
	Inert   []string `json:"inert,omitempty"`  // keys that are known and do nothing here

	tree   map[string]any
	at     *places
	prefix []string // where a profile's table stands in its file
	dir    string   // relative paths start here
	quiet  bool     // unknown keys are no news unless they look like a slip
}

// found is what Load learned beside the values.
type found struct {
	Home   string  // the home folder
	Root   string  // the project's root
	Trust  Trust   // what was decided about the project
	Chosen string  // the profile in force, "" for none
	Layers []Layer // lowest first, those that do not count included

	Folders []Folder // of the project, those that do not count included

	entries []Entry
	merged  map[string]any
}

// Load reads every layer, lowest first: system, user, trusted project folders from root to dir, profile, command line,
// flags. Tables merge; everything else replaces.
func Load(s Source) (Config, []Warning, error) {
	if s.Cwd == "" {
		s.Cwd = s.Dir
	}
	l := &loader{Source: s}
	c, err := l.load()
	return c, l.warnings, err
}

type loader struct {
	Source
	layers   []Layer
	warnings []Warning
	trusted  map[string]any // [projects] of the layers that may say so
	root     string
	trust    Trust
	folders  []Folder
	chosen   string
}

func (l *loader) load() (Config, error) {
	for _, step := range []func() error{l.system, l.user, l.session} {
		if err := step(); err != nil {
			return Config{}, err
		}
	}
	session := l.layers[len(l.layers)-1]
	l.layers = l.layers[:len(l.layers)-1]
	profiles, err := l.profile(session)
	if err != nil {
		return Config{}, err
	}
	base := map[string]any{}
	for _, layer := range slices.Concat(l.layers, profiles, []Layer{session}) {
		merge(base, clone(layer.tree))
	}
	if err := l.projects(base); err != nil {
		return Config{}, err
	}
	flags, err := l.flags()
	if err != nil {
		return Config{}, err
	}
	l.layers = append(append(l.layers, profiles...), session, flags)
	return l.settle()
}

// settle checks each layer against the keys we know, merges them and fills the struct.
func (l *loader) settle() (Config, error) {
	merged := map[string]any{}
	for i := range l.layers {
		if !l.layers[i].Enabled {
			continue
		}
		if err := l.check(&l.layers[i]); err != nil {
			return Config{}, err
		}
		merge(merged, clone(l.layers[i].tree))
	}
	c := defaults()
	w := walk{userHome: l.UserHome}
	w.fill(&c, merged)
	for _, complaint := range w.complaints {
		return Config{}, l.fault(complaint.path, complaint.text)
	}
	c.found = found{Home: l.Home, Root: l.root, Trust: l.trust, Chosen: l.chosen, Layers: l.layers, Folders: l.folders, merged: merged}
	if err := l.validate(&c); err != nil {
		return Config{}, err
	}
	c.entries = entries(merged, l.layers)
	return c, nil
}

// check reports what in a layer is unknown or does not fit, and makes its paths absolute.
func (l *loader) check(layer *Layer) error {
	scratch := Config{}
	w := walk{dir: layer.dir, userHome: l.UserHome}
	w.fill(&scratch, layer.tree)
	for _, path := range w.inert {
		layer.Inert = append(layer.Inert, dotted(path))
	}
	line := func(path []string) int {
		if layer.at == nil {
			return 0
		}
		return layer.at.line(append(slices.Clip(layer.prefix), path...))
	}
	sort.SliceStable(w.complaints, func(i, j int) bool { return line(w.complaints[i].path) < line(w.complaints[j].path) })
	for _, c := range w.complaints {
		key := dotted(append(slices.Clip(layer.prefix), c.path...))
		if layer.quiet {
			key = "-c " + key
		}
		if c.kind == wrong || l.Strict {
			e := &Error{Path: layer.Path, Line: line(c.path), Key: key, Problem: c.text}
			if layer.quiet && strings.HasPrefix(c.text, "want a string") {
				e.Try = "to pass text that reads as something else, quote it twice: -c '" + dotted(c.path) + "=\"…\"'"
			}
			return e
		}
		if layer.quiet && c.kind == unknown && !strings.Contains(c.text, "nearest") {
			continue
		}
		l.warnings = append(l.warnings, Warning{Path: layer.Path, Line: line(c.path), Key: key, Text: c.text})
	}
	return nil
}

// fault is an error about a merged value, placed where its strongest layer wrote it.
func (l *loader) fault(path []string, problem string) error {
	e := &Error{Key: dotted(path), Problem: problem}
	for i := len(l.layers) - 1; i >= 0; i-- {
		layer := l.layers[i]
		if _, ok := lookup(layer.tree, path); ok && layer.Enabled {
			e.Path = layer.Path
			if layer.at != nil {
				e.Line = layer.at.line(append(slices.Clip(layer.prefix), path...))
			}
			break
		}
	}
	return e
}

func (l *loader) file(name, path string) (Layer, bool, error) {
	layer := Layer{Name: name, Path: path, Enabled: true, dir: filepath.Dir(path)}
	tree, at, there, err := readFile(path)
	if err != nil {
		return layer, there, err
	}
	layer.tree, layer.at = tree, at
	if !there {
		layer.Enabled, layer.Reason = false, "there is no such file"
	}
	return layer, there, nil
}

func (l *loader) system() error {
	if l.System == "" {
		return nil
	}
	layer, _, err := l.file("system", l.System)
	l.layers = append(l.layers, layer)
	return err
}

func (l *loader) user() error {
	path := UserPath(l.Home)
	if l.IgnoreUser {
		l.layers = append(l.layers, Layer{Name: "user", Path: path, Reason: "left out by --ignore-user-config"})
		return nil
	}
	layer, _, err := l.file("user", path)
	l.layers = append(l.layers, layer)
	return err
}

// UserPath is the file of settings in a home folder.
func UserPath(home string) string { return filepath.Join(home, "config.toml") }

const (
	sessionName = "command line"
	flagsName   = "flags"
)

func (l *loader) session() error {
	layer := Layer{Name: sessionName, Enabled: true, dir: l.Cwd, tree: map[string]any{}, quiet: true}
	for _, raw := range l.Overrides {
		path, value, err := parseOverride(raw)
		if err != nil {
			return err
		}
		put(layer.tree, path, value)
	}
	features, err := featureTree(l.Enable, l.Disable)
	if err != nil {
		return err
	}
	for name, on := range features {
		put(layer.tree, []string{"features", name}, on)
	}
	leaves(layer.tree, nil, func(path []string, value any) {
		layer.Keys = append(layer.Keys, dotted(path)+" = "+render(mask(path, value)))
	})
	l.layers = append(l.layers, layer)
	return nil
}

func (l *loader) flags() (Layer, error) {
	layer := Layer{Name: flagsName, Enabled: true, dir: l.Cwd, tree: map[string]any{}}
	for _, key := range slices.Sorted(maps.Keys(l.Flags)) {
		path := strings.Split(key, ".")
		put(layer.tree, path, plain(l.Flags[key]))
		layer.Keys = append(layer.Keys, key+" = "+render(mask(path, plain(l.Flags[key]))))
	}
	scratch, w := Config{}, walk{dir: layer.dir, userHome: l.UserHome}
	w.fill(&scratch, clone(layer.tree))
	for _, c := range w.complaints {
		return layer, &Error{Key: "flag for " + dotted(c.path), Problem: c.text}
	}
	return layer, nil
}

func (l *loader) projects(base map[string]any) error {
	c, w := defaults(), walk{}
	markers := map[string]any{}
	if value, ok := base["project_root_markers"]; ok {
		markers["project_root_markers"] = value
	}
	w.fill(&c, markers)
	projects, _ := base["projects"].(map[string]any)
	l.root = ProjectRoot(l.Dir, c.ProjectRootMarkers)
	main := mainCheckout(l.root)
	l.trust = trustOf(projects, l.UserHome, l.Dir, l.root, main)
	for _, dir := range between(l.root, l.Dir) {
		path := filepath.Join(dir, folder, "config.toml")
		if resolved(filepath.Dir(path)) == resolved(l.Home) {
			continue // the product's home is no project
		}
		trust := trustOf(projects, l.UserHome, dir, l.root, main)
		l.folders = append(l.folders, folderAt(dir, trust)...)
		if trust != Trusted {
			if there(path) {
				l.layers = append(l.layers, Layer{Name: "project", Path: path, Reason: Folder{Trust: trust}.Inert()})
			}
			continue
		}
		layer, there, err := l.file("project", path)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		for _, key := range strip(layer.tree, forbidden) {
			l.warnings = append(l.warnings, Warning{Path: path, Line: layer.at.line(key), Key: dotted(key),
				Text: "a project may not set this; it is left out"})
		}
		for _, key := range strip(layer.tree, loosened(layer.tree, base, l.root, layer.dir)) {
			l.warnings = append(l.warnings, Warning{Path: path, Line: layer.at.line(key), Key: dotted(key),
				Text: "a project may not be looser than you are; it is left out"})
		}
		l.layers = append(l.layers, layer)
	}
	return nil
}

// validate checks what no single value can tell, and rounds off.
func (l *loader) validate(c *Config) error {
	for id, p := range c.ModelProviders {
		p.RequestMaxRetries, p.StreamMaxRetries = min(p.RequestMaxRetries, 100), min(p.StreamMaxRetries, 100)
		p.BaseURL = strings.TrimRight(p.BaseURL, "/") // a path is appended to it
		if p.Name == "" {
			p.Name = id
		}
		c.ModelProviders[id] = p
	}
	c.OpenAIBaseURL = strings.TrimRight(c.OpenAIBaseURL, "/")
	environment := []string{"shell_environment_policy", "filters"}
	for _, pattern := range slices.Sorted(maps.Keys(c.ShellEnvironmentPolicy.Filters)) {
		if word := c.ShellEnvironmentPolicy.Filters[pattern]; word != "include" && word != "exclude" {
			return l.fault(append(environment, pattern), fmt.Sprintf("is %q, not include or exclude", word))
		}
		if len(c.ShellEnvironmentPolicy.Exclude)+len(c.ShellEnvironmentPolicy.IncludeOnly) > 0 {
			return l.fault(environment, "says the same as exclude and include_only in another way; use one of the two ways")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.MCPServers)) {
		server := c.MCPServers[id]
		path := []string{"mcp_servers", id}
		switch {
		case strings.IndexFunc(id, func(r rune) bool { return r > 127 || !bare(byte(r)) }) >= 0 || id == "":
			return l.fault(path, "a server's name may hold letters, digits, _ and - only")
		case server.BearerToken != "":
			return l.fault(append(path, "bearer_token"), "a token may not stand in the file; name its variable in bearer_token_env_var")
		case server.Command == "" && server.URL == "":
			return l.fault(path, "needs either command or url")
		case server.URL != "":
			for _, key := range []string{"command", "args", "cwd", "env", "env_vars"} {
				if c.IsSet("mcp_servers", id, key) {
					return l.fault(append(path, key), "belongs to a server started by command, but url is set too")
				}
			}
		default:
			for _, key := range []string{"bearer_token_env_var", "http_headers", "env_http_headers"} {
				if c.IsSet("mcp_servers", id, key) {
					return l.fault(append(path, key), "belongs to a server reached by url, but command is set too")
				}
			}
		}
		if server.StartupTimeoutMS > 0 && !c.IsSet("mcp_servers", id, "startup_timeout_sec") {
			server.StartupTimeout = server.StartupTimeoutMS
			c.MCPServers[id] = server
		}
	}
	return nil
}

// IsSet reports whether any layer set a key, given part by part.
func (c Config) IsSet(path ...string) bool {
	_, ok := lookup(c.merged, path)
	return ok
}

// HarnessChoice is the harness a person chose; chosen is false when it is to be inferred. The empty name means native.
func (c Config) HarnessChoice() (id string, chosen bool) {
	if !c.IsSet("harness") || c.Harness == "auto" {
		return "", false
	}
	if c.Harness == "" {
		return "native", true
	}
	return c.Harness, true
}

// origin words where a layer set a key. Lines are counted only when someone asks.
func origin(layer Layer, path []string) string {
	switch {
	case layer.at != nil:
		text := layer.Name + " " + layer.Path
		if line := layer.at.line(append(slices.Clip(layer.prefix), path...)); line > 0 {
			text += fmt.Sprintf(":%d", line)
		}
		return text
	case layer.Path != "":
		return layer.Name + " " + layer.Path
	}
	return layer.Name
}
