package probes

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// kfd is what AMD's compute driver tells of a device.
type kfd struct {
	compute   string  // "gfx1100"
	bandwidth float64 // GB/s of stacked memory, 0 for other kinds
}

// kfdNode finds the node of the topology that belongs to a graphics device, by the number of its render file.
func kfdNode(root fs.FS, dir string) kfd {
	minor := renderMinor(root, dir)
	const nodes = "sys/class/kfd/kfd/topology/nodes"
	entries, err := fs.ReadDir(root, nodes)
	if err != nil || minor == "" {
		return kfd{}
	}
	for _, entry := range entries {
		node := path.Join(nodes, entry.Name())
		values := properties(text(root, path.Join(node, "properties")))
		if strconv.FormatInt(values["drm_render_minor"], 10) != minor {
			continue
		}
		found := kfd{compute: gfx(values["gfx_target_version"])}
		banks, _ := fs.ReadDir(root, path.Join(node, "mem_banks"))
		for _, bank := range banks {
			b := properties(text(root, path.Join(node, "mem_banks", bank.Name(), "properties")))
			found.bandwidth = max(found.bandwidth, stacked(b["width"], b["mem_clk_max"], found.compute))
		}
		return found
	}
	return kfd{}
}

// renderMinor is the number in the name of the device's render file, renderD128.
func renderMinor(root fs.FS, dir string) string {
	entries, _ := fs.ReadDir(root, path.Join(dir, "drm"))
	for _, entry := range entries {
		if n, ok := strings.CutPrefix(entry.Name(), "renderD"); ok {
			return n
		}
	}
	return ""
}

// properties reads lines of a name and a number.
func properties(text string) map[string]int64 {
	values := map[string]int64{}
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) == 2 {
			if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				values[fields[0]] = n
			}
		}
	}
	return values
}

// gfx writes a version such as 110501 the way compilers do, gfx1151; the last two digits are one in base 16.
func gfx(version int64) string {
	if version <= 0 || version >= 1_000_000 {
		return ""
	}
	return fmt.Sprintf("gfx%d%x%x", version/10000, version/100%100, version%100)
}

// stacked is the bandwidth of stacked memory (HBM) in GB/s from the width of its bus in bits and its clock in MHz: two
// transfers a clock, and four in the third generation, whose clock is told at half the rate. Narrower buses belong to
// other memory, whose transfers a clock differ from card to card.
func stacked(width, clock int64, compute string) float64 {
	if width < 1024 || width > 1<<16 || clock <= 0 || clock > 1<<16 {
		return 0
	}
	transfers := int64(2)
	if strings.HasPrefix(compute, "gfx94") || strings.HasPrefix(compute, "gfx95") {
		transfers = 4
	}
	return float64(transfers * clock * width / 8 / 1000)
}
