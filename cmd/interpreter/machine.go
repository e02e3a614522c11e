package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"interpreter/probes"
)

// machine measures this machine, and the disks that hold models. The speed of its memory is measured when it is asked
// for, and remembered in a home folder until the next start.
func (w world) machine(ctx context.Context, home string, bandwidth bool) probes.Machine {
	return w.measured(ctx, w.questions(home, bandwidth))
}

func (w world) measured(ctx context.Context, ask probes.Ask) probes.Machine {
	if w.probe != nil {
		return w.probe(ctx, ask)
	}
	return probes.ProbeAll(ctx, ask)
}

// questions are what to measure of a machine beyond the usual.
func (w world) questions(home string, bandwidth bool) probes.Ask {
	ask := probes.Ask{Bandwidth: bandwidth}
	if home != "" {
		ask.Cache = filepath.Join(home, "bandwidth.json")
	}
	for _, kind := range builtIn {
		if folder := w.modelFolder(kind); folder != "" {
			ask.Disks = append(ask.Disks, probes.Volume{Path: folder, What: kind})
		}
	}
	return ask
}

// modelFolder is where a kind of server keeps its models on this machine, "" when that cannot be told. A server that
// was started with other settings than a person has here may keep them elsewhere.
func (w world) modelFolder(kind string) string {
	user := w.userHome()
	switch kind {
	case "ollama":
		if folder := strings.TrimSpace(w.env("OLLAMA_MODELS")); filepath.IsAbs(folder) {
			return folder
		}
		if at := filepath.Join(user, ".ollama"); user != "" && there(at) {
			return filepath.Join(at, "models")
		}
		if at := "/usr/share/ollama/.ollama"; runtime.GOOS == "linux" && there(at) { // of the service's own account
			return filepath.Join(at, "models")
		}
	case "lmstudio":
		for _, at := range []string{filepath.Join(user, ".lmstudio"), filepath.Join(user, ".cache", "lm-studio")} {
			if user == "" || !there(at) {
				continue
			}
			var chosen struct {
				Folder string `json:"downloadsFolder"`
			}
			if text, err := os.ReadFile(filepath.Join(at, "settings.json")); err == nil && json.Unmarshal(text, &chosen) == nil && filepath.IsAbs(chosen.Folder) {
				return chosen.Folder
			}
			return filepath.Join(at, "models")
		}
	}
	return ""
}

func there(folder string) bool {
	info, err := os.Stat(folder)
	return err == nil && info.IsDir()
}
