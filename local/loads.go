package local

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// A load is a model that this program had a server load, with the options that must be the same on each later call.
type load struct {
	Address string    `json:"address"`
	Model   string    `json:"model"`
	Digest  string    `json:"digest,omitempty"`
	Window  int       `json:"window"`
	Batch   int       `json:"batch,omitempty"`
	OnCPU   bool      `json:"on_cpu,omitempty"`
	When    time.Time `json:"when"`
}

// loadFile is the record of loads, and of how well memory was predicted. A damaged one is an empty one.
type loadFile struct {
	Version int    `json:"version"`
	Loads   []load `json:"loads"`
	// Ratios are measured over predicted bytes, by server, its version and the model's architecture.
	Ratios map[string]float64 `json:"ratios,omitempty"`
}

const (
	// oursFor is how long a loaded model counts as ours: whoever loads it after it went leaves the same traces.
	oursFor   = 24 * time.Hour
	mostLoads = 32
)

func readLoads(path string) loadFile {
	var file loadFile
	if path != "" {
		if data, err := os.ReadFile(path); err != nil || json.Unmarshal(data, &file) != nil || file.Version != 1 {
			file = loadFile{}
		}
	}
	file.Version = 1
	return file
}

// of finds what this program loaded at an address and is there still.
func (f loadFile) of(address string, r Resident, now time.Time) (load, bool) {
	for _, l := range f.Loads {
		age := now.Sub(l.When)
		if l.is(address, r.Name, r.Digest) && l.Window == r.Window && age < oursFor && age > -time.Hour {
			return l, true
		}
	}
	return load{}, false
}

func (l load) is(address, name, digest string) bool {
	if l.Address != address {
		return false
	}
	if l.Digest != "" && digest != "" {
		return bare(l.Digest) == bare(digest)
	}
	return SameModel(l.Model, name)
}

func bare(digest string) string { return strings.TrimPrefix(digest, "sha256:") }

// keep adds a load, in place of an earlier one of the same model there, and drops what is old.
func (f *loadFile) keep(l load) {
	f.Loads = slices.DeleteFunc(f.Loads, func(old load) bool {
		return old.is(l.Address, l.Model, l.Digest) || l.When.Sub(old.When) > oursFor
	})
	f.Loads = append(f.Loads, l)
	if extra := len(f.Loads) - mostLoads; extra > 0 {
		f.Loads = f.Loads[extra:]
	}
}

// drop forgets a load.
func (f *loadFile) drop(address string, r Resident) {
	f.Loads = slices.DeleteFunc(f.Loads, func(l load) bool { return l.is(address, r.Name, r.Digest) })
}

// ratioKey is what a prediction may be wrong by.
func ratioKey(c choice) string {
	return strings.Join([]string{c.Name(), c.version, cmp.Or(plain(c.model.Architecture), "unknown")}, " ")
}

// The bounds of a ratio that is believed, and the size below which fixed costs drown it. A server that lists less than
// was predicted is not believed: some leave out a second cache, others what they compute in.
const (
	leastRatio, mostRatio = 1, 1.3
	telling               = gib
)

// measuredRatio is a ratio that a later prediction can use, 0 when these numbers tell none.
func measuredRatio(actual, predicted int64) float64 {
	if actual < telling || predicted < telling {
		return 0
	}
	return min(max(float64(actual)/float64(predicted), leastRatio), mostRatio)
}

// changeLoads rewrites the record in one step, and returns what it is now, kept or not.
func changeLoads(path string, change func(*loadFile)) (loadFile, error) {
	var file loadFile
	err := Rewriting(path, func() error {
		file = readLoads(path)
		change(&file)
		data, err := json.MarshalIndent(file, "", "  ")
		if err != nil {
			return err
		}
		return ReplaceFile(path, append(data, '\n'))
	})
	if err == nil {
		return file, nil
	}
	if file.Version == 0 { // not even begun
		file = readLoads(path)
		change(&file)
	}
	return file, fmt.Errorf("keep the record of loaded models: %w", err)
}

// measured corrects a prediction by what earlier ones were wrong by.
func (w Want) measured(predicted int64) int64 {
	if w.Ratio <= 0 {
		return predicted
	}
	return int64(float64(predicted) * min(max(w.Ratio, leastRatio), mostRatio))
}
