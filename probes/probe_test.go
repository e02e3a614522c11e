package probes

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// TestHardware plays the recorded machines of testdata/hardware.
func TestHardware(t *testing.T) {
	files, _ := filepath.Glob("testdata/hardware/*[0-9].json")
	if len(files) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var in map[string]json.RawMessage
			read(t, file, &in)
			var want struct {
				GPU       *string      `json:"gpu"`
				Unified   bool         `json:"unified"`
				UsableMax float64      `json:"usable_gib_max"`
				RAM       float64      `json:"ram_gib"`
				First     *expectedGPU `json:"first"`
				Second    *expectedGPU `json:"second"`
			}
			read(t, strings.TrimSuffix(file, ".json")+".expected.json", &want)
			var smi, meminfo string
			exit := 0
			for key, value := range in {
				switch {
				case strings.HasPrefix(key, "nvidia-smi --"):
					json.Unmarshal(value, &smi)
				case key == "nvidia-smi exit":
					json.Unmarshal(value, &exit)
				case key == "/proc/meminfo":
					json.Unmarshal(value, &meminfo)
				}
			}
			if exit != 0 {
				smi = "" // what nvidiaSMI does with a tool that fails; see TestTool
			}
			gpus, _, _ := parseSMI(smi, smiFields)
			gpus = order(append(gpus, amdCards(sysfs(t, in["sysfs"]))...))
			total := int64(0)
			if _, rest, ok := strings.Cut(meminfo, "MemTotal:"); ok {
				kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				total = kb << 10
			}
			switch {
			case want.First != nil:
				if len(gpus) != 2 {
					t.Fatalf("got %+v", gpus)
				}
				want.First.check(t, gpus[0])
				want.Second.check(t, gpus[1])
			case want.GPU == nil:
				if len(gpus) != 0 {
					t.Errorf("got %+v, want none", gpus)
				}
				if got := float64(total) / gib; got < want.RAM-0.01 || got > want.RAM+0.01 {
					t.Errorf("RAM %.2f GiB, want %.2f", got, want.RAM)
				}
			default:
				if len(gpus) != 1 || gpus[0].Name != *want.GPU || gpus[0].Unified != want.Unified || gpus[0].Total != 0 {
					t.Errorf("got %+v, want %s", gpus, *want.GPU)
				}
				if float64(total)/gib > want.UsableMax+1 {
					t.Errorf("usable %d", total)
				}
			}
		})
	}
}

type expectedGPU struct {
	Name    string  `json:"name"`
	VRAM    float64 `json:"vram_gib"`
	Unified bool    `json:"unified"`
}

func (e expectedGPU) check(t *testing.T, got GPU) {
	t.Helper()
	if e.Name != "" && got.Name != e.Name || float64(got.Total)/gib != e.VRAM || got.Unified != e.Unified {
		t.Errorf("got %+v, want %+v", got, e)
	}
}

func sysfs(t *testing.T, raw json.RawMessage) fstest.MapFS {
	root := fstest.MapFS{}
	if raw == nil {
		return root
	}
	var cards map[string]map[string]any
	if err := json.Unmarshal(raw, &cards); err != nil {
		t.Fatal(err)
	}
	for card, files := range cards {
		for name, value := range files {
			text := fmt.Sprint(value)
			if n, ok := value.(float64); ok {
				text = strconv.FormatInt(int64(n), 10)
			}
			root["sys/class/drm/"+card+"/device/"+name] = &fstest.MapFile{Data: []byte(text + "\n")}
		}
	}
	return root
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// TestProbe measures the machine that it runs on.
func TestProbe(t *testing.T) {
	began := time.Now()
	m := Probe(t.Context())
	if took := time.Since(began); took > patience+time.Second {
		t.Errorf("took %v", took)
	}
	if m.RAM.Total <= 0 || m.RAM.Available <= 0 || m.RAM.Available > m.RAM.Physical || m.Cores < 1 {
		t.Errorf("got %+v", m)
	}
	if runtime.GOARCH == "amd64" && m.CPU.Source == "measured" {
		t.Error("the fast probe measured the bandwidth")
	}
	if _, err := Read(pretty(t, m)); err != nil {
		t.Error(err)
	}
}

// A source that hangs is left behind with a note, and the others are heard.
func TestHangingSource(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	m := Machine{}
	for _, tell := range gather(ctx, []source{
		{"hangs", func(context.Context) finding { cancel(); <-never; return nothing }},
		{"works", func(context.Context) finding { return func(m *Machine) { m.Virtual = "vm" } }},
	}) {
		tell(&m)
	}
	if m.Virtual != "vm" || len(m.Notes) != 1 || m.Notes[0].Source != "hangs" {
		t.Errorf("got %+v", m)
	}
}

// A tool that fails is quoted with the first thing it said, whatever it printed before; one that hangs is ended.
func TestTool(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("needs a shell")
	}
	tool := filepath.Join(t.TempDir(), "nvidia-smi")
	script := "#!/bin/sh\necho 'NVIDIA A, 4096, 4000'\necho 'no driver' >&2\n[ \"$1\" = ok ] || exit 9\n"
	if err := os.WriteFile(tool, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := output(t.Context(), tool, "ok"); err != nil || out != "NVIDIA A, 4096, 4000\n" {
		t.Errorf("got %q, %v", out, err)
	}
	gpus, notes := nvidiaSMI(func(args ...string) (string, error) { return output(t.Context(), tool, args...) })
	if len(gpus) != 0 || len(notes) != 1 || !strings.Contains(notes[0].Text, "exit status 9: no driver") {
		t.Errorf("got %+v, %+v", gpus, notes)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := output(ended, tool); err == nil || err.Error() != "no answer in time" {
		t.Errorf("got %v", err)
	}
}
