package probes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// rocmSMI asks the tool of AMD's compute packages.
func rocmSMI(run func(args ...string) (string, error)) ([]GPU, []Note) {
	out, err := run("--showmeminfo", "vram", "gtt", "--showproductname", "--json")
	if err != nil {
		return nil, []Note{{"rocm-smi", "no card is counted: the driver tool stopped with " + err.Error()}}
	}
	found, err := parseROCm(out)
	if err != nil {
		return nil, []Note{{"rocm-smi", "no card is counted: its answer was not understood: " + err.Error()}}
	}
	return found, nil
}

// parseROCm reads the tool's JSON in its layouts: an object of cards by name, or a list of cards that name themselves, both
// with flat keys, which releases write in different cases; or the list of the newer amd-smi, with a unit
// beside each number. Warnings may stand before it.
func parseROCm(text string) ([]GPU, error) {
	start := strings.IndexAny(text, "{[")
	if start < 0 {
		return nil, fmt.Errorf("no JSON in %q", firstLine(text))
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text[start:])))
	decoder.UseNumber()
	var answer any
	if err := decoder.Decode(&answer); err != nil {
		return nil, err
	}
	var found []GPU
	switch answer := answer.(type) {
	case []any:
		for i, one := range answer {
			if fields, ok := one.(map[string]any); ok {
				found = rocmCard(found, strconv.Itoa(i), fields)
			}
		}
	case map[string]any:
		names := make([]string, 0, len(answer))
		for name := range answer {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int { // card2 before card10
			return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
		})
		for _, name := range names {
			switch fields := answer[name].(type) {
			case map[string]any:
				found = rocmCard(found, name, fields)
			case []any: // {"gpu_data": [...]}
				for i, one := range fields {
					if fields, ok := one.(map[string]any); ok {
						found = rocmCard(found, strconv.Itoa(i), fields)
					}
				}
			}
		}
	}
	return found, nil
}

// rocmCard adds a card, if the fields are a card's.
func rocmCard(found []GPU, id string, fields map[string]any) []GPU {
	flat := map[string]any{}
	flatten(flat, "", fields)
	total := rocmBytes(flat, "vram total memory (b)", "mem_usage.total_vram")
	if total <= 0 {
		return found
	}
	gpu := GPU{Vendor: "amd", Total: total, ID: id, Source: "rocm-smi"}
	used := max(rocmBytes(flat, "vram total used memory (b)", "mem_usage.used_vram"), 0)
	gpu.Free = max(total-used, 0)
	shared := rocmBytes(flat, "gtt total memory (b)", "mem_usage.total_gtt")
	if sharesRAM(total, shared) {
		used := max(rocmBytes(flat, "gtt total used memory (b)", "mem_usage.used_gtt"), 0)
		gpu.Unified, gpu.SharedTotal, gpu.SharedFree = true, shared, max(shared-used, 0)
	}
	gpu.Name = "AMD " + id
	for _, key := range []string{"card series", "device name", "card model", "market_name"} {
		if name, ok := flat[key].(string); ok && name != "" && !strings.HasPrefix(name, "0x") && !strings.EqualFold(name, "n/a") {
			gpu.Name = branded(name)
			break
		}
	}
	for _, key := range []string{"device", "pci bus"} {
		if at, ok := flat[key].(string); ok && at != "" {
			gpu.ID = at
		}
	}
	gpu.Compute, _ = flat["gfx version"].(string)
	gpu.Bandwidth = cardBandwidth(gpu.Name, gpu.Total, 0)
	return append(found, gpu)
}

// flatten writes nested fields with dots between the names, in small letters.
func flatten(into map[string]any, prefix string, fields map[string]any) {
	for name, value := range fields {
		key := prefix + strings.ToLower(name)
		into[key] = value
		if inner, ok := value.(map[string]any); ok {
			flatten(into, key+".", inner)
		}
	}
}

// rocmBytes is the first of the keys that is a size: a number, a string of one, or a value with a unit.
func rocmBytes(flat map[string]any, keys ...string) int64 {
	for _, key := range keys {
		value, unit := flat[key], int64(1)
		if inner, ok := value.(map[string]any); ok {
			value = inner["value"]
			switch named, _ := inner["unit"].(string); strings.ToUpper(named) {
			case "KB", "KIB":
				unit = 1 << 10
			case "MB", "MIB":
				unit = mib
			case "GB", "GIB":
				unit = gib
			}
		}
		n, err := strconv.ParseInt(strings.TrimSpace(fmt.Sprint(value)), 10, 64)
		if err == nil && n >= 0 && n < (1<<50)/unit {
			return n * unit
		}
	}
	return 0
}
