package probes

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// intel reads the Intel devices that the kernel lists. Graphics without memory of their own are told as unified, and what
// they could use is left open: whether a server computes on them depends on how it was built.
func (w world) intel() finding {
	root := w.root
	var all []GPU
	var notes []Note
	for _, dir := range drmDevices(root, "0x8086") {
		device := strings.TrimPrefix(text(root, path.Join(dir, "device")), "0x")
		gpu := GPU{Name: intelName(root, device), Vendor: "intel", ID: slot(root, dir), Source: "sysfs"}
		total, free, ok := localMemory(root, dir)
		if !ok {
			if minor := renderMinor(root, dir); minor != "" {
				total, free, ok = w.regions("/dev/dri/renderD" + minor)
				gpu.Source = "drm"
			}
		}
		switch {
		case ok && total > 0:
			gpu.Total, gpu.Free = total, free
			if free <= 0 || free >= total {
				// The kernel tells an account without rights that everything is free.
				gpu.Free = total
				notes = append(notes, Note{gpu.Source, untoldFree(gpu.Name)})
			}
			gpu.Bandwidth = cardBandwidth(gpu.Name, gpu.Total, 0)
		case discreteArc(gpu.Name):
			gpu.Source = "sysfs"
			notes = append(notes, Note{"drm", "the memory of " + gpu.Name + " could not be read, so it is not counted"})
			continue
		default:
			gpu.Source, gpu.Unified = "sysfs", true
		}
		all = append(all, gpu)
	}
	return func(m *Machine) {
		m.GPUs = append(m.GPUs, all...)
		m.Notes = append(m.Notes, notes...)
	}
}

func intelName(root fs.FS, device string) string {
	if name := pciName(root, "8086", device); name != "" {
		if strings.Contains(name, "Intel") {
			return name
		}
		return "Intel " + name
	}
	if device == "" {
		return "Intel graphics"
	}
	return "Intel graphics 0x" + device
}

// arc is the name of a card; processors' graphics are called Arc too, with a V or a T behind the number or none at all.
var arc = regexp.MustCompile(`(?i)\barc(?:\(tm\))? (?:pro )?[ab]\d{2,3}m?\b|\bflex \d{3}\b|iris.* xe max`)

func discreteArc(name string) bool { return arc.MatchString(name) }

// localMemory reads the files that some kernels have for a card's memory; there is no lasting place for them.
func localMemory(root fs.FS, dir string) (total, free int64, ok bool) {
	for _, at := range []string{dir, path.Dir(dir)} {
		if total, ok = number(root, path.Join(at, "lmem_total_bytes")); ok {
			free, _ = number(root, path.Join(at, "lmem_avail_bytes"))
			return total, free, true
		}
	}
	for tile := range 4 {
		n, found := number(root, path.Join(dir, fmt.Sprintf("tile%d", tile), "physical_vram_size_bytes"))
		if found && n > 0 {
			total, ok = total+n, true
		}
	}
	return total, 0, ok
}

// regionSize is the length of a memory region in the answers of both drivers, i915 and xe (i915_drm.h, xe_drm.h); the
// class of memory on the card is 1 in both.
const regionSize, onCard = 88, 1

// parseI915 reads struct drm_i915_query_memory_regions: a count, 12 bytes, then regions of class, instance, 4
// bytes, the size and what is unallocated.
func parseI915(answer []byte) (total, free int64) {
	return regions(answer, 16, func(size, second uint64) int64 { return int64(min(second, size)) })
}

// parseXe reads struct drm_xe_query_mem_regions: a count, 4 bytes, then regions of class, instance, page size, the
// size and what is used.
func parseXe(answer []byte) (total, free int64) {
	return regions(answer, 8, func(size, second uint64) int64 { return int64(size - min(second, size)) })
}

func regions(answer []byte, head int, left func(size, second uint64) int64) (total, free int64) {
	if len(answer) < head {
		return 0, 0
	}
	count := binary.NativeEndian.Uint32(answer)
	for rest := answer[head:]; count > 0 && len(rest) >= regionSize; count, rest = count-1, rest[regionSize:] {
		size, second := binary.NativeEndian.Uint64(rest[8:]), binary.NativeEndian.Uint64(rest[16:])
		if binary.NativeEndian.Uint16(rest) == onCard && size < 1<<50 {
			total += int64(size)
			free += left(size, second)
		}
	}
	return total, free
}
