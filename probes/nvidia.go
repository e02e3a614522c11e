package probes

import (
	"context"
	"encoding/csv"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// smiFields is what the driver's tool is asked for, and the shortest question that every driver understands.
var (
	smiFields = []string{"index", "uuid", "name", "memory.total", "memory.free", "memory.used", "compute_cap",
		"driver_version", "clocks.max.memory", "mig.mode.current"}
	smiShort = []string{"name", "memory.total", "memory.free"}
)

// nvidia asks the driver's own tool, when there is one, and a Jetson's release file.
func (w world) nvidia(ctx context.Context) finding {
	var all []GPU
	var notes []Note
	if tool := w.find("nvidia-smi"); tool != "" {
		all, notes = nvidiaSMI(func(args ...string) (string, error) { return w.run(ctx, tool, args...) })
		bounded, cancel := sooner(ctx, 4*grace)
		defer cancel()
		users, more := holders(all, func(args ...string) (string, error) { return w.run(bounded, tool, args...) })
		all, notes = users, append(notes, more...)
	}
	all = jetson(w.root, all)
	return func(m *Machine) {
		m.GPUs = append(m.GPUs, all...)
		m.Notes = append(m.Notes, notes...)
	}
}

// findTool finds a driver's tool on the path; nvidia-smi also where WSL and Windows put it. One that the
// path finds in the folder of the moment is not the driver's.
func findTool(name string) string {
	if tool, err := exec.LookPath(name); err == nil {
		return tool
	}
	if name != "nvidia-smi" {
		return ""
	}
	for _, place := range smiPlaces() {
		if info, err := os.Stat(place); err == nil && info.Mode().IsRegular() {
			return place
		}
	}
	return ""
}

// nvidiaSMI asks run, which is the tool. A field that an old driver does not know is left out and the rest asked again.
func nvidiaSMI(run func(args ...string) (string, error)) ([]GPU, []Note) {
	fields := slices.Clone(smiFields)
	for {
		out, err := run("--query-gpu="+strings.Join(fields, ","), "--format=csv,noheader,nounits")
		said := out
		if err != nil {
			said = err.Error()
		}
		if unknown, ok := unknownField(said); ok {
			if i := slices.Index(fields, unknown); i >= 0 && len(fields) > len(smiShort) {
				fields = slices.Delete(fields, i, i+1)
				continue
			}
			if !slices.Equal(fields, smiShort) {
				fields = smiShort
				continue
			}
		}
		if err != nil {
			return nil, []Note{{"nvidia-smi", "no card is counted: the driver tool stopped with " + err.Error()}}
		}
		all, partitioned, notes := parseSMI(out, fields)
		if len(partitioned) > 0 {
			slices, more := migSlices(run, partitioned)
			all, notes = append(all, slices...), append(notes, more...)
		}
		return all, notes
	}
}

// unknownField reads the tool's complaint about a field: Field "x" is not a valid field to query.
func unknownField(said string) (string, bool) {
	_, rest, ok := strings.Cut(said, `Field "`)
	if !ok {
		return "", false
	}
	name, rest, ok := strings.Cut(rest, `"`)
	return name, ok && strings.Contains(rest, "not a valid field")
}

// parseSMI reads the tool's answer about fields, a card a line. partitioned are cards in MIG mode, whose
// own memory means nothing. A line that is half a value is left out with a note.
func parseSMI(text string, fields []string) (all, partitioned []GPU, notes []Note) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		value, ok := smiValues(line, fields)
		if !ok {
			notes = append(notes, Note{"nvidia-smi", "a line was not understood: " + firstLine(line)})
			continue
		}
		if value == nil {
			continue // the names of the columns
		}
		gpu, note := smiCard(value)
		if strings.EqualFold(value["mig.mode.current"], "enabled") {
			if gpu.Name == "" { // its memory is closed to those who may use an instance
				gpu = smiIdentity(value)
			}
			partitioned = append(partitioned, gpu)
			continue
		}
		if note != "" {
			notes = append(notes, Note{"nvidia-smi", note})
		}
		if gpu.Name != "" {
			all = append(all, gpu)
		}
	}
	return all, partitioned, notes
}

// smiValues names the columns of a line; nil is the header that some versions print in spite of noheader. A line as
// short as the shortest question is read as its answer.
func smiValues(line string, fields []string) (map[string]string, bool) {
	reader := csv.NewReader(strings.NewReader(line))
	reader.TrimLeadingSpace, reader.LazyQuotes = true, true
	cells, err := reader.Read()
	if err != nil {
		return nil, false
	}
	if len(cells) != len(fields) {
		if len(cells) < 2 || len(cells) > len(smiShort) {
			return nil, false
		}
		fields = smiShort[:len(cells)]
	}
	value := map[string]string{}
	for i, cell := range cells {
		cell = strings.TrimSpace(cell)
		if i == 0 && cell == fields[0] {
			return nil, true
		}
		if !notTold(cell) {
			value[fields[i]] = cell
		} else if fields[i] == "memory.total" {
			value[fields[i]] = none
		}
	}
	return value, value["name"] != "" && value["memory.total"] != ""
}

// none stands for a memory size that does not apply.
const none = "none"

// notTold reports the tool's ways to say that a field does not apply to this card or this driver.
func notTold(cell string) bool {
	switch strings.ToLower(strings.Trim(cell, "[]")) {
	case "", "n/a", "not supported", "not available", "not found":
		return true
	}
	return false
}

// smiCard makes a card of what the tool told. A part without memory of its own (a superchip that shares RAM) says that
// the size does not apply, or 0: it is unified. An empty name is a card that cannot be used.
func smiCard(value map[string]string) (GPU, string) {
	gpu := smiIdentity(value)
	total, ok := mebibytes(value["memory.total"])
	if value["memory.total"] == none || ok && total == 0 {
		gpu.Unified = true
		gpu.Bandwidth = cardBandwidth(gpu.Name, 0, 0)
		return gpu, ""
	}
	if !ok {
		return GPU{}, "a card is left out, its memory was not understood: " + firstLine(gpu.Name+", "+value["memory.total"])
	}
	gpu.Total = total
	clock, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(value["clocks.max.memory"], "MHz")), 64)
	gpu.Bandwidth = cardBandwidth(gpu.Name, gpu.Total, clock)
	if free, ok := mebibytes(value["memory.free"]); ok {
		gpu.Free = min(free, total)
		return gpu, ""
	}
	if used, ok := mebibytes(value["memory.used"]); ok {
		gpu.Free = max(total-used, 0)
		return gpu, ""
	}
	gpu.Free = total
	return gpu, untoldFree(gpu.Name)
}

func smiIdentity(value map[string]string) GPU {
	return GPU{Name: value["name"], Vendor: "nvidia", Compute: value["compute_cap"], Driver: value["driver_version"],
		ID: value["uuid"], Source: "nvidia-smi"}
}

// untoldFree is the note for a card whose size is known while nothing tells what others use of it.
func untoldFree(name string) string {
	return "nothing tells how much memory of " + name + " is free; all of it is counted"
}

// mebibytes reads a whole number of MiB, with or without the unit, and returns bytes.
func mebibytes(cell string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(cell), "MiB")), 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return 0, false
	}
	return n * mib, true
}
