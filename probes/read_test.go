package probes

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestRead(t *testing.T) {
	const ram = `"ram":{"physical":34359738368,"total":34359738368,"available":20000000000,"source":"x"}`
	for _, test := range []struct{ text, want string }{
		{`{` + ram + `}`, ""},
		{" \n{" + ram + `,"from_the_future":{"a":[1]},"gpus":[{"name":"x","vendor":"v","total":8589934592,"free":1,"new":true}]}` + "\n", ""},
		{"\xef\xbb\xbf{" + ram + "}", ""},
		{``, "it is empty"},
		{`   `, "it is empty"},
		{`OS: linux`, "not JSON"},
		{`{` + ram, "ends in the middle"},
		{`{` + ram + `} {}`, "something follows the JSON object"},
		{`[]`, "not an object: found array"},
		{`"x"`, "not an object: found string"},
		{`{}`, "ram.total is missing"},
		{`null`, "ram.total is missing"},
		{`{"models":[]}`, "ram.total is missing"},
		{`{"ram":{"total":0}}`, "ram.total is missing"},
		{`{"ram":{"total":-1}}`, "ram.total is negative: -1"},
		{`{"ram":{"total":64}}`, "ram.total is 64: sizes are bytes"},
		{`{"ram":{"total":"64 GB"}}`, "ram.total: found string where a whole number is expected"},
		{`{"ram":{"total":1.5}}`, "ram.total: found number 1.5 where a whole number is expected"},
		{`{"ram":[]}`, "ram: found array where an object is expected"},
		{`{"ram":{"total":34359738368,"available":44359738368}}`, "ram.available is 44359738368, more than its total of 34359738368"},
		{`{"ram":{"total":9000000000000000000}}`, "more than any machine has"},
		{`{` + ram + `,"gpus":[{"total":8589934592},{"total":8589934592,"free":-3}]}`, "gpus[1].free is negative: -3"},
		{`{` + ram + `,"gpus":[{"free":5}]}`, "gpus[0].free is 5 without gpus[0].total"},
		{`{` + ram + `,"gpus":[{"total":24}]}`, "gpus[0].total is 24: sizes are bytes"},
		{`{` + ram + `,"gpus":[{"bandwidth":-1}]}`, "gpus[0].bandwidth is negative"},
		{`{` + ram + `,"cpu":{"bandwidth":-1}}`, "cpu.bandwidth is negative"},
		{`{` + ram + `,"cores":-1}`, "cores is negative"},
		{`{` + ram + `,"disks":[{"path":"x","free":-1}]}`, "disks[0] has a negative size"},
	} {
		m, err := Read([]byte(test.text))
		switch {
		case test.want == "" && (err != nil || m.RAM.Total != 32*gib):
			t.Errorf("%s: got %+v, %v", test.text, m, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "read a machine: ")):
			t.Errorf("%s: got %v, want %s", test.text, err, test.want)
		}
	}
	// A Windows shell redirects output as 16-bit text.
	for mark, order := range map[string]binary.AppendByteOrder{"\xff\xfe": binary.LittleEndian, "\xfe\xff": binary.BigEndian} {
		wide := []byte(mark)
		for _, unit := range utf16.Encode([]rune("{" + ram + "}\r\n")) {
			wide = order.AppendUint16(wide, unit)
		}
		if m, err := Read(wide); err != nil || m.RAM.Total != 32*gib {
			t.Errorf("16-bit text: got %+v, %v", m, err)
		}
	}
}

// Everything that a machine can hold survives being written and read.
func TestRoundTrip(t *testing.T) {
	m := Machine{
		OS: "linux", Arch: "amd64", Cores: 8, Unified: gib, Chip: "c", Virtual: "vm",
		RAM: Memory{Physical: 9 * gib, Total: 8 * gib, Available: 7 * gib, SwapTotal: 2, SwapFree: 1, Source: "s"},
		GPUs: []GPU{{Name: "n <&>", Vendor: "v", Total: 6 * gib, Free: 5 * gib, Unified: true, SharedTotal: 4, SharedFree: 3, Bandwidth: 204.8,
			Compute: "8.9", Driver: "d", ID: "i", Slice: true, Source: "s", Users: []User{{Name: "u", PID: 9, Bytes: 8}}}},
		CPU:   CPU{Name: "n", Physical: 4, Features: []string{"avx2"}, Bandwidth: 58.7, Source: "measured"},
		Disks: []Volume{{Path: `C:\models`, What: "ollama", Total: 2, Free: 1}},
		Notes: []Note{{"s", "t"}},
	}
	for _, v := range []reflect.Value{reflect.ValueOf(m), reflect.ValueOf(m.GPUs[0]), reflect.ValueOf(m.RAM), reflect.ValueOf(m.CPU), reflect.ValueOf(m.Disks[0])} {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("the test leaves out %s.%s", v.Type(), v.Type().Field(i).Name)
			}
		}
	}
	again, err := Read(pretty(t, m))
	if err != nil || !reflect.DeepEqual(again, m) {
		t.Errorf("got %+v, %v", again, err)
	}
}

// A card with no byte free stays one; a file that does not say what is free means all of it.
func TestFree(t *testing.T) {
	m := Machine{RAM: Memory{Total: 8 * gib}, GPUs: []GPU{{Name: "full", Total: 4 * gib}}}
	again, err := Read(pretty(t, m))
	if err != nil || again.GPUs[0].Free != 0 {
		t.Errorf("got %+v, %v", again.GPUs, err)
	}
	for _, plain := range []string{"", "\xef\xbb\xbf"} {
		m, err = Read([]byte(plain + `{"ram":{"total":8589934592},"gpus":[{"total":4294967296},{"total":4294967296,"free":null},{"total":4294967296,"free":0},{"unified":true}]}`))
		if err != nil || m.GPUs[0].Free != 4*gib || m.GPUs[1].Free != 4*gib || m.GPUs[2].Free != 0 || m.GPUs[3].Free != 0 {
			t.Errorf("got %+v, %v", m.GPUs, err)
		}
	}
}

// The machines that package local plans for are outputs of this package: nothing unknown in them, nothing lost.
func TestMachinesOfLocal(t *testing.T) {
	files, _ := filepath.Glob("../local/testdata/machines/*.json")
	if len(files) < 13 {
		t.Fatalf("%d machines", len(files))
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Read(data)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if got := pretty(t, m); string(got) != string(data) {
			t.Errorf("%s is written as\n%s", file, got)
		}
		for _, gpu := range m.GPUs {
			if want := cardBandwidth(gpu.Name, gpu.Total, 0); want > 0 && gpu.Bandwidth != want && !gpu.Slice {
				t.Errorf("%s: %s has %v GB/s, the table says %v", file, gpu.Name, gpu.Bandwidth, want)
			}
		}
	}
}
