package local

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

const (
	keepFolder, keepWho = "KEEP_FOLDER", "KEEP_WHO"
	keepTimes           = 20
)

// keepMany writes a verdict and a load for each of so many models.
func keepMany(t *testing.T, folder, who string) {
	t.Helper()
	now := time.Now().UTC()
	for i := range keepTimes {
		key := fmt.Sprintf("%s %d", who, i)
		if err := (ledger{filepath.Join(folder, "verdicts.json"), key}).keep(keptVerdict{Model: key, Verdict: Native, When: now}); err != nil {
			t.Error(err)
		}
		if _, err := changeLoads(filepath.Join(folder, "loads.json"), func(f *loadFile) {
			if f.Ratios == nil {
				f.Ratios = map[string]float64{}
			}
			f.Ratios[key] = 1
		}); err != nil {
			t.Error(err)
		}
	}
}

// Runs that keep what they learned at the same time, in this process and in others, lose nothing of it.
func TestKeepTogether(t *testing.T) {
	if folder := os.Getenv(keepFolder); folder != "" {
		keepMany(t, folder, os.Getenv(keepWho))
		return
	}
	folder := filepath.Join(t.TempDir(), "home")
	var wait sync.WaitGroup
	for _, who := range []string{"a", "b"} {
		wait.Go(func() {
			other := exec.Command(os.Args[0], "-test.run=^TestKeepTogether$")
			other.Env = append(os.Environ(), keepFolder+"="+folder, keepWho+"="+who)
			if out, err := other.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	for _, who := range []string{"c", "d"} {
		wait.Go(func() { keepMany(t, folder, who) })
	}
	wait.Wait()
	const want = 4 * keepTimes
	if n := len(readVerdicts(filepath.Join(folder, "verdicts.json")).Verdicts); n != want {
		t.Errorf("%d verdicts of %d are kept", n, want)
	}
	if n := len(readLoads(filepath.Join(folder, "loads.json")).Ratios); n != want {
		t.Errorf("%d loads of %d are kept", n, want)
	}
}
