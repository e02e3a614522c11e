package probes

import (
	"context"
	"encoding/csv"
	"os/exec"
	"strconv"
	"strings"
)

const mib = 1 << 20

// nvidiaSMI asks the driver's own tool, when there is one.
func nvidiaSMI(ctx context.Context) ([]GPU, []Note) {
	tool, err := exec.LookPath("nvidia-smi")
	if err != nil {
		return nil, nil
	}
	out, err := exec.CommandContext(ctx, tool,
		"--query-gpu=name,memory.total,memory.free", "--format=csv,noheader,nounits").Output()
	if err != nil {
		return nil, []Note{{"nvidia-smi", "no GPU is counted: the driver tool stopped with " + err.Error()}}
	}
	return parseSMI(string(out))
}

// parseSMI reads lines of name, total and free MiB; free may be missing. A part without memory of its own (a
// superchip that shares RAM) says N/A or 0: it is unified. A line that is half a value is left out with a note.
func parseSMI(text string) ([]GPU, []Note) {
	var found []GPU
	var notes []Note
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		reader := csv.NewReader(strings.NewReader(line))
		reader.TrimLeadingSpace, reader.LazyQuotes = true, true
		fields, err := reader.Read()
		if err != nil || len(fields) < 2 {
			notes = append(notes, Note{"nvidia-smi", "a line was not understood: " + line})
			continue
		}
		gpu := GPU{Name: fields[0], Vendor: "nvidia", Source: "nvidia-smi"}
		total, state := mebibytes(fields[1])
		switch {
		case state == absent || state == given && total == 0:
			gpu.Unified = true
		case state == garbled:
			notes = append(notes, Note{"nvidia-smi", "a line was not understood: " + line})
			continue
		default:
			gpu.Total = total
			gpu.Free = total
			if len(fields) > 2 {
				if free, state := mebibytes(fields[2]); state == given {
					gpu.Free = min(free, total)
				}
			}
		}
		found = append(found, gpu)
	}
	return found, notes
}

// A field of the tool is given, says that it does not apply, or makes no sense.
const (
	given = iota
	absent
	garbled
)

func mebibytes(field string) (int64, int) {
	field = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(field), "MiB"))
	if strings.HasPrefix(field, "[") || strings.EqualFold(field, "n/a") {
		return 0, absent
	}
	n, err := strconv.ParseInt(field, 10, 64)
	if err != nil || n < 0 {
		return 0, garbled
	}
	return n * mib, given
}
