package config

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const profileSuffix = ".config.toml"

// profile finds the layers of the chosen profile: its table in each layer that may hold one, then its own file.
func (l *loader) profile(session Layer) ([]Layer, error) {
	bearers := append(slices.Clone(l.layers), session)
	name := l.Profile
	for i := len(bearers) - 1; i >= 0 && name == ""; i-- {
		name, _ = bearers[i].tree["profile"].(string)
	}
	if name == "" {
		return nil, nil
	}
	var layers []Layer
	for _, bearer := range bearers {
		table, ok := lookup(bearer.tree, []string{"profiles", name})
		if !ok {
			continue
		}
		tree, ok := table.(map[string]any)
		if !ok {
			return nil, &Error{Path: bearer.Path, Line: lineOf(bearer, "profiles", name), Key: dotted([]string{"profiles", name}),
				Problem: "want a table"}
		}
		layers = append(layers, Layer{Name: "profile " + name, Path: bearer.Path, Enabled: true, tree: clone(tree),
			at: bearer.at, prefix: []string{"profiles", name}, dir: bearer.dir})
	}
	if fileName(name) {
		layer, there, err := l.file("profile "+name, filepath.Join(l.Home, name+profileSuffix))
		if err != nil {
			return nil, err
		}
		if there {
			layers = append(layers, layer)
		}
	}
	if len(layers) == 0 {
		return nil, l.unknownProfile(name, bearers)
	}
	for i, layer := range layers {
		for _, key := range strip(layer.tree, [][]string{{"profiles"}, {"profile"}, {"projects"}}) {
			l.warnings = append(l.warnings, Warning{Path: layer.Path, Line: lineOf(layer, key...),
				Key: dotted(append(slices.Clone(layer.prefix), key...)), Text: "a profile may not set this; it is left out"})
		}
		layers[i] = layer
	}
	l.chosen = name
	return layers, nil
}

func lineOf(layer Layer, path ...string) int {
	if layer.at == nil {
		return 0
	}
	return layer.at.line(append(slices.Clone(layer.prefix), path...))
}

// fileName reports whether a profile's name can be part of a file name in the home folder.
func fileName(name string) bool {
	return !strings.ContainsAny(name, "/\\:\x00") && !strings.HasPrefix(name, ".")
}

func (l *loader) unknownProfile(name string, bearers []Layer) error {
	known := map[string]bool{}
	for _, bearer := range bearers {
		tables, _ := bearer.tree["profiles"].(map[string]any)
		for key := range tables {
			known[key] = true
		}
	}
	files, _ := os.ReadDir(l.Home) // a home that cannot be read has no profiles
	for _, file := range files {
		if stem, ok := strings.CutSuffix(file.Name(), profileSuffix); ok && stem != "" {
			known[stem] = true
		}
	}
	problem := "there is no profile " + quote(name)
	if len(known) == 0 {
		return &Error{Problem: problem + ", and none is defined",
			Try: "add [profiles." + dotted([]string{name}) + "] to " + UserPath(l.Home)}
	}
	return &Error{Problem: problem + "; known profiles: " + strings.Join(slices.Sorted(maps.Keys(known)), ", ")}
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
