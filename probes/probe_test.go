package probes

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

func TestCgroup(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, test := range []struct {
		name string
		root fstest.MapFS
		want limits
	}{
		{"none", fstest.MapFS{}, limits{}},
		{"v2: the tightest level of the way up counts, with its own usage", fstest.MapFS{
			"proc/self/cgroup":               file("0::/a/b\n"),
			"sys/fs/cgroup/a/b/memory.max":   file("max\n"),
			"sys/fs/cgroup/a/memory.max":     file("8000\n"),
			"sys/fs/cgroup/a/memory.current": file("5000\n"),
			"sys/fs/cgroup/a/memory.stat":    file("anon 1\ninactive_file 2000\n"),
			"sys/fs/cgroup/a/b/cpu.max":      file("150000 100000\n"),
			"sys/fs/cgroup/cpu.max":          file("max 100000\n"),
		}, limits{8000, 3000, 2, "cgroup v2"}},
		{"v2: memory.high is a limit too", fstest.MapFS{
			"proc/self/cgroup":             file("0::/\n"),
			"sys/fs/cgroup/memory.max":     file("9000\n"),
			"sys/fs/cgroup/memory.high":    file("7000\n"),
			"sys/fs/cgroup/memory.current": file("1000\n"),
		}, limits{7000, 1000, 0, "cgroup v2"}},
		{"v1: the huge number is no limit", fstest.MapFS{
			"proc/self/cgroup": file("4:memory:/x\n1:cpu,cpuacct:/x\n"),
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": file("9223372036854771712\n"),
			"sys/fs/cgroup/cpu/x/cpu.cfs_quota_us":         file("-1\n"),
			"sys/fs/cgroup/cpu/x/cpu.cfs_period_us":        file("100000\n"),
		}, limits{0, 0, 0, "cgroup v1"}},
		{"hybrid: memory on v1 beside an empty v2 tree", fstest.MapFS{
			"proc/self/cgroup": file("4:memory:/x\n0::/\n"),
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": file("6000\n"),
			"sys/fs/cgroup/memory/x/memory.usage_in_bytes": file("4000\n"),
			"sys/fs/cgroup/memory/x/memory.stat":           file("total_inactive_file 1500\n"),
		}, limits{6000, 2500, 0, "cgroup v1"}},
		{"v1 in a container: files directly under the mount", fstest.MapFS{
			"proc/self/cgroup":                           file("4:memory:/docker/0123\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("5000\n"),
			"sys/fs/cgroup/memory/memory.usage_in_bytes": file("100\n"),
		}, limits{5000, 100, 0, "cgroup v1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := readLimits(test.root); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestLimit(t *testing.T) {
	m := Machine{Cores: 8, RAM: Memory{Physical: 100, Total: 100, Available: 90}}
	m.limit(limits{total: 40, used: 30, cores: 2, source: "cgroup v2"})
	if m.RAM.Physical != 100 || m.RAM.Total != 40 || m.RAM.Available != 10 || m.Cores != 2 || len(m.Notes) != 2 {
		t.Errorf("got %+v", m)
	}
	m.limit(limits{total: 400, used: 0, source: "cgroup v2"})
	if m.RAM.Total != 40 || m.RAM.Available != 10 {
		t.Errorf("a limit above what is there changed %+v", m.RAM)
	}
}

func TestSMI(t *testing.T) {
	for _, test := range []struct {
		text  string
		want  string
		notes int
	}{
		{"NVIDIA GeForce RTX 4090, 24564, 23010\nNVIDIA T4, 15360, 15000\n",
			"NVIDIA GeForce RTX 4090 24564/23010 false; NVIDIA T4 15360/15000 false", 0},
		{"NVIDIA GH200, [N/A], [N/A]\n", "NVIDIA GH200 0/0 true", 0},
		{"NVIDIA X, [Not Supported], 3\n", "NVIDIA X 0/0 true", 0},
		{"NVIDIA X, 8192, [N/A]\n", "NVIDIA X 8192/8192 false", 0},
		{"NVIDIA X, 0, 0\r\n", "NVIDIA X 0/0 true", 0},
		{"NVIDIA-SMI has failed because it could not talk to the driver\n", "", 1},
		{"NVIDIA X, 12x4, 3\n", "", 1},
		{"", "", 0},
	} {
		gpus, notes := parseSMI(test.text)
		var got []string
		for _, g := range gpus {
			got = append(got, fmt.Sprintf("%s %d/%d %v", g.Name, g.Total/mib, g.Free/mib, g.Unified))
		}
		if s := strings.Join(got, "; "); s != test.want || len(notes) != test.notes {
			t.Errorf("%q: got %q with %d notes, want %q with %d", test.text, s, len(notes), test.want, test.notes)
		}
	}
}

func TestWorkingSet(t *testing.T) {
	for _, test := range []struct{ total, limitMB, want int64 }{
		{16 * gib, 0, 11_453_246_122},
		{64 * gib, 0, 48 * gib},
		{64 * gib, 60000, 60000 * mib},
		{16 * gib, 99999, 16 * gib},
	} {
		if got := workingSet(test.total, test.limitMB); got/mib != test.want/mib {
			t.Errorf("workingSet(%d, %d) = %d, want %d", test.total, test.limitMB, got, test.want)
		}
	}
}

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
				smi = "" // what nvidiaSMI does with a tool that fails; see TestBrokenTool
			}
			gpus, _ := parseSMI(smi)
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

// A driver tool that fails leaves a note and no GPU, whatever it printed first.
func TestBrokenTool(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho 'NVIDIA A, 4096, 4000'\nexit 9\n"
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("needs a shell")
	}
	t.Setenv("PATH", dir)
	gpus, notes := nvidiaSMI(context.Background())
	if len(gpus) != 0 || len(notes) != 1 {
		t.Errorf("got %+v, %+v", gpus, notes)
	}
}

func TestProbe(t *testing.T) {
	m := Probe(context.Background())
	if m.RAM.Total <= 0 || m.RAM.Available <= 0 || m.RAM.Available > m.RAM.Physical || m.Cores < 1 {
		t.Errorf("got %+v", m)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", text)
}
