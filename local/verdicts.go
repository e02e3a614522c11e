package local

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Verdict is the outcome of a tool check.
type Verdict string

// The verdicts. Only the first two are kept: a failed check is made again each time.
const (
	Native   Verdict = "native"   // calls arrive as calls
	Rescued  Verdict = "rescued"  // calls arrive as text that the harness can read
	Skipped  Verdict = "skipped"  // not asked for
	NotKnown Verdict = "unproven" // the model was too slow to tell
)

// validFor is how long a verdict stands.
const validFor = 30 * 24 * time.Hour

// verdictFile is the file of verdicts. A damaged one is an empty one.
type verdictFile struct {
	Version  int                    `json:"version"`
	Verdicts map[string]keptVerdict `json:"verdicts"`
}

type keptVerdict struct {
	Model   string    `json:"model"`
	Verdict Verdict   `json:"verdict"`
	When    time.Time `json:"when"`
}

// verdictKey is everything that can change how a model calls tools; "" when too little is known to keep a verdict.
func verdictKey(c choice, rescue bool) string {
	if c.model.Digest == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(c.model.Template))
	key := []string{c.Name(), c.version, strings.TrimPrefix(c.model.Digest, "sha256:"), hex.EncodeToString(sum[:8])}
	if c.model.Parser != "" {
		key = append(key, c.model.Parser)
	}
	if rescue {
		key = append(key, "rescue")
	}
	return strings.Join(key, " ")
}

func readVerdicts(path string) verdictFile {
	file := verdictFile{Version: 1}
	if data, err := os.ReadFile(path); err == nil {
		var read verdictFile
		if json.Unmarshal(data, &read) == nil && read.Version == 1 {
			file = read
		}
	}
	if file.Verdicts == nil {
		file.Verdicts = map[string]keptVerdict{}
	}
	return file
}

// knownVerdict looks up a verdict that still stands.
func knownVerdict(path, key string, now time.Time) (keptVerdict, bool) {
	if path == "" || key == "" {
		return keptVerdict{}, false
	}
	v, ok := readVerdicts(path).Verdicts[key]
	age := now.Sub(v.When)
	return v, ok && (v.Verdict == Native || v.Verdict == Rescued) && age < validFor && age > -time.Hour
}

// keepVerdict adds a verdict to the file, in one step that leaves the old file or the new one.
func keepVerdict(path, key string, v keptVerdict) error {
	if path == "" || key == "" {
		return nil
	}
	file := readVerdicts(path)
	for k, old := range file.Verdicts {
		if v.When.Sub(old.When) > validFor {
			delete(file.Verdicts, k)
		}
	}
	file.Verdicts[key] = v
	data, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return fmt.Errorf("keep the verdict: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep the verdict: %w", err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".verdicts-*") // created with mode 0600
	if err != nil {
		return fmt.Errorf("keep the verdict: %w", err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(append(data, '\n'))
	if err == nil {
		err = temp.Sync()
	}
	if closing := temp.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("keep the verdict: %w", err)
	}
	return nil
}
