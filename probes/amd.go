package probes

import (
	"io/fs"
	"path"
	"strings"
)

const gib = 1 << 30

// amdCards reads the AMD cards that the kernel lists below root.
func amdCards(root fs.FS) []GPU {
	entries, err := fs.ReadDir(root, "sys/class/drm")
	if err != nil {
		return nil
	}
	var found []GPU
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, "card") || strings.Contains(name, "-") {
			continue
		}
		dir := path.Join("sys/class/drm", name, "device")
		vendor, err := fs.ReadFile(root, path.Join(dir, "vendor"))
		if err != nil || strings.TrimSpace(string(vendor)) != "0x1002" {
			continue
		}
		total, ok := number(root, path.Join(dir, "mem_info_vram_total"))
		if !ok || total <= 0 {
			continue
		}
		used, _ := number(root, path.Join(dir, "mem_info_vram_used"))
		shared, _ := number(root, path.Join(dir, "mem_info_gtt_total"))
		found = append(found, GPU{
			Name: "AMD " + name, Vendor: "amd", Total: total, Free: max(total-used, 0),
			// A small carve-out beside a large shared pool is a processor's own graphics: its memory is RAM.
			Unified: total <= 4*gib && shared >= 8*gib && shared >= 4*total,
			Source:  "sysfs",
		})
	}
	return found
}
