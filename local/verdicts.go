package local

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// validFor is how long a verdict stands.
const validFor = 30 * 24 * time.Hour

// verdictVersion is that of the file's form. A file of another version is an empty one, and so is a damaged one.
const verdictVersion = 2

type verdictFile struct {
	Version  int                    `json:"version"`
	Verdicts map[string]keptVerdict `json:"verdicts"`
}

// keptVerdict is what is remembered of a tool check. One that came to nothing for want of time is kept for its speed
// alone, which tells how to ask the next time.
type keptVerdict struct {
	Model    string    `json:"model"`
	Provider string    `json:"provider"`
	Digest   string    `json:"digest"` // or what stands for it
	Verdict  Verdict   `json:"verdict"`
	When     time.Time `json:"when"`
	Note     string    `json:"note,omitempty"` // why it was lowered
	Report   Report    `json:"report"`
}

// verdictKey is everything that can change how a model calls tools; "" when too little is known to keep a verdict.
func verdictKey(c choice, prefix Prefix, cache CacheType, rescue bool) string {
	digest := identity(c.model)
	if digest == "" {
		return ""
	}
	if cache == "" {
		cache = "f16"
	}
	thinking, decoder := "plain", "native"
	if c.model.Can("thinking") {
		thinking = "thinks"
	}
	if rescue {
		decoder = "rescue"
	}
	harness := prefix.Harness
	if harness == "" {
		harness = "alone"
	}
	parts := []string{c.Name(), c.version, digest, short([]byte(c.model.Template)), c.model.Parser, harness, short(schemas(prefix)), thinking, string(cache), decoder}
	for i, part := range parts {
		if part == "" || strings.ContainsAny(part, " \"") {
			parts[i] = strconv.Quote(part)
		}
	}
	return strings.Join(parts, " ")
}

// identity is the digest of a model, or its name and size where the server has no digests; "" when it has neither.
func identity(m ModelInfo) string {
	switch {
	case m.Digest != "":
		return strings.TrimPrefix(m.Digest, "sha256:")
	case m.Size > 0:
		return fmt.Sprintf("%s:%d", m.Name, m.Size)
	}
	return ""
}

func short(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// schemas are the tools of a prefix as one text.
func schemas(p Prefix) []byte {
	var b bytes.Buffer
	for _, t := range p.Tools {
		fmt.Fprintf(&b, "%q %q %s\n", t.Name, t.Description, t.Parameters)
	}
	return b.Bytes()
}

func readVerdicts(path string) verdictFile {
	file := verdictFile{Version: verdictVersion}
	if path == "" {
		return file
	}
	if data, err := os.ReadFile(path); err == nil {
		var read verdictFile
		if json.Unmarshal(data, &read) == nil && read.Version == verdictVersion {
			file = read
		}
	}
	return file
}

// stands reports whether a verdict is a proof that is not too old. A clock that was set back a little does no harm.
func (v keptVerdict) stands(now time.Time) bool {
	age := now.Sub(v.When)
	return v.Verdict.passed() && age < validFor && age > -time.Hour
}

// rates are the speeds measured of a model at a provider in whatever check was the last, 0 when none was.
func (f verdictFile) rates(provider string, m ModelInfo) (prefill, decode float64) {
	var newest, newestDecode time.Time
	for _, v := range f.Verdicts {
		if v.Provider != provider || v.Digest != identity(m) {
			continue
		}
		if v.Report.Prefill > 0 && v.When.After(newest) {
			prefill, newest = v.Report.Prefill, v.When
		}
		if v.Report.Decode > 0 && v.When.After(newestDecode) {
			decode, newestDecode = v.Report.Decode, v.When
		}
	}
	return prefill, decode
}

// proofOf is the newest verdict that stands for a model at a provider, in whatever harness it was asked.
func (f verdictFile) proofOf(provider string, m ModelInfo, now time.Time) (keptVerdict, bool) {
	var newest keptVerdict
	for _, v := range f.Verdicts {
		if v.Provider == provider && v.Digest == identity(m) && v.stands(now) && v.When.After(newest.When) {
			newest = v
		}
	}
	return newest, newest.Verdict != ""
}

// ledger is the place of one verdict: a file and a key in it. An empty one keeps nothing.
type ledger struct{ path, key string }

// known looks up a verdict that still stands.
func (l ledger) known(now time.Time) (keptVerdict, bool) {
	if l.path == "" || l.key == "" {
		return keptVerdict{}, false
	}
	v, ok := readVerdicts(l.path).Verdicts[l.key]
	return v, ok && v.stands(now)
}

// keep writes a verdict down. One without a proof does not replace a proof that stands.
func (l ledger) keep(v keptVerdict) error {
	return l.change(func(all map[string]keptVerdict) bool {
		if old, ok := all[l.key]; ok && !v.Verdict.passed() && old.stands(v.When) {
			return false
		}
		for k, old := range all {
			if v.When.Sub(old.When) > validFor {
				delete(all, k)
			}
		}
		all[l.key] = v
		return true
	})
}

// drop forgets a verdict.
func (l ledger) drop() error {
	return l.change(func(all map[string]keptVerdict) bool {
		_, there := all[l.key]
		delete(all, l.key)
		return there
	})
}

// change rewrites the file in one step that leaves the old one or the new one.
func (l ledger) change(f func(map[string]keptVerdict) bool) error {
	if l.path == "" || l.key == "" {
		return nil
	}
	err := Rewriting(l.path, func() error {
		file := readVerdicts(l.path)
		if file.Verdicts == nil {
			file.Verdicts = map[string]keptVerdict{}
		}
		if !f(file.Verdicts) {
			return nil
		}
		return l.replace(file)
	})
	if err != nil {
		return fmt.Errorf("keep the verdict: %w", err)
	}
	return nil
}

func (l ledger) replace(file verdictFile) error {
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(file); err != nil {
		return err
	}
	return ReplaceFile(l.path, data.Bytes())
}

// Downgrade lowers the kept verdict by one step, because the model wrote calls in its work that could not be read: from
// native to rescued, from there to nothing, so that the next run asks anew. It returns what a person should know, "" when
// no verdict is kept.
func (p *Prepared) Downgrade() string {
	var told string
	err := p.ledger.change(func(all map[string]keptVerdict) bool {
		v, ok := all[p.ledger.key]
		if !ok || !v.Verdict.passed() {
			return false
		}
		if v.Verdict == Native {
			v.Verdict = Rescued
		} else {
			v.Verdict = NotKnown
		}
		told = fmt.Sprintf("%s wrote calls that could not be read, twice or more; a larger model, or a finer quantisation of this one, calls tools more reliably", p.Info.Name)
		v.Note = "lowered: calls in its work could not be read"
		all[p.ledger.key] = v
		return true
	})
	if err != nil {
		return err.Error()
	}
	return told
}
