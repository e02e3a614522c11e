package probes

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

// sane fails on a machine that no reader may make of any input.
func sane(t *testing.T, m Machine) {
	t.Helper()
	for _, gpu := range m.GPUs {
		if gpu.Total < 0 || gpu.Free < 0 || gpu.Free > gpu.Total || gpu.SharedFree < 0 || gpu.SharedFree > max(gpu.SharedTotal, 0) || gpu.Bandwidth < 0 || gpu.Name == "" {
			t.Errorf("%+v", gpu)
		}
	}
	if m.RAM.Total < 0 || m.RAM.Available < 0 || m.RAM.Available > m.RAM.Total || m.Cores < 1 {
		t.Errorf("%+v with %d cores", m.RAM, m.Cores)
	}
}

func FuzzSMI(f *testing.F) {
	f.Add("0, GPU-1, NVIDIA X, 8192, 8000, 192, 8.9, 570, 8001, Enabled\n", "GPU 0: NVIDIA X (UUID: GPU-1)\n  MIG 3g.20gb Device 0: (UUID: MIG-1)\n", "<nvidia_smi_log><gpu><uuid>GPU-1</uuid></gpu></nvidia_smi_log>")
	f.Add("NVIDIA GB10, [N/A]\n", "", "")
	f.Add(`Field "uuid" is not a valid field to query.`, "", "")
	f.Fuzz(func(t *testing.T, query, list, report string) {
		asked := 0
		gpus, _ := nvidiaSMI(func(args ...string) (string, error) {
			if asked++; asked > 30 {
				t.Fatal("asked without end")
			}
			switch args[0] {
			case "-L":
				return list, nil
			case "-q":
				return report, nil
			}
			return query, nil
		})
		sane(t, Machine{GPUs: gpus, Cores: 1})
	})
}

func FuzzROCm(f *testing.F) {
	f.Add(`{"card0": {"VRAM Total Memory (B)": "536870912", "GTT Total Memory (B)": "16496762880", "Card series": "AMD Radeon Graphics"}}`)
	f.Add(`[{"gpu":0,"mem_usage":{"total_vram":{"value":24560,"unit":"MB"}}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		gpus, _ := parseROCm(text)
		sane(t, Machine{GPUs: gpus, Cores: 1})
	})
}

// FuzzTree replaces one file of a recorded machine.
func FuzzTree(f *testing.F) {
	files, _ := filepath.Glob("testdata/machines/*.txtar")
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, one := range archive.Files {
			f.Add(one.Name, one.Data)
		}
	}
	base, err := os.ReadFile("testdata/machines/apu-780m.txtar")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("proc/self/mountinfo", []byte("41 30 0:36 /../x /cg rw - cgroup2 cgroup rw\n"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		w, _ := recorded(txtar.Parse(base))
		w.root.(fstest.MapFS)[name] = &fstest.MapFile{Data: data}
		m := Machine{Cores: 8, RAM: Memory{Physical: 8 * gib, Total: 8 * gib, Available: 7 * gib}}
		for _, tell := range gather(context.Background(), w.devices()) {
			tell(&m)
		}
		sane(t, m)
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"ram":{"total":34359738368},"gpus":[{"name":"x"}]}`))
	f.Add([]byte("\xff\xfe{\x00}\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Read(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Read(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if more, _ := json.Marshal(again); !bytes.Equal(more, text) {
			t.Errorf("%s became %s", text, more)
		}
	})
}

func FuzzRegions(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0, 1, 0})
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, parse := range []func([]byte) (int64, int64){parseI915, parseXe} {
			if total, free := parse(answer); total < 0 || free < 0 || free > total {
				t.Errorf("got %d, %d", total, free)
			}
		}
		windowsCores(answer)
	})
}
