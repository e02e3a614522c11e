package probes

import (
	"context"
	"io/fs"
	"path"
	"strings"
)

// amd reads the cards that the kernel lists, and asks ROCm's tool where the kernel shows none of their memory.
func (w world) amd(ctx context.Context) finding {
	all := amdCards(w.root)
	var notes []Note
	if len(all) == 0 {
		if tool := w.find("rocm-smi"); tool != "" {
			all, notes = rocmSMI(func(args ...string) (string, error) { return w.run(ctx, tool, args...) })
		}
	}
	return func(m *Machine) {
		m.GPUs = append(m.GPUs, all...)
		m.Notes = append(m.Notes, notes...)
	}
}

// The rule for a processor's own graphics is that of Ollama 0.34: a small carve-out beside a large shared pool, and no
// sign of a board with memory chips.
const (
	mostCarved  = 4 * gib
	leastShared = 8 * gib
)

func sharesRAM(total, shared int64) bool {
	return total <= mostCarved && shared >= leastShared && shared >= 4*total
}

// amdCards reads the AMD cards that the kernel lists below root. A large carve-out (half of the memory of a Strix Halo and
// more) is like a card of its own: the kernel has taken it from RAM already.
func amdCards(root fs.FS) (found []GPU) {
	for _, dir := range drmDevices(root, "0x1002") {
		total, ok := number(root, path.Join(dir, "mem_info_vram_total"))
		if !ok || total <= 0 {
			continue
		}
		used, _ := number(root, path.Join(dir, "mem_info_vram_used"))
		gpu := GPU{Vendor: "amd", Total: total, Free: min(max(total-used, 0), total), ID: slot(root, dir), Source: "sysfs"}
		if shared, _ := number(root, path.Join(dir, "mem_info_gtt_total")); sharesRAM(total, shared) && !hasBoard(root, dir) {
			used, _ := number(root, path.Join(dir, "mem_info_gtt_used"))
			gpu.Unified, gpu.SharedTotal, gpu.SharedFree = true, shared, min(max(shared-used, 0), shared)
		}
		node := kfdNode(root, dir)
		gpu.Compute = node.compute
		gpu.Name = amdName(root, dir, node)
		gpu.Bandwidth = cardBandwidth(gpu.Name, gpu.Total, 0)
		switch {
		case gpu.Bandwidth > 0:
		case node.compute == "gfx1151":
			gpu.Bandwidth = cardBandwidth("Strix Halo", 0, 0)
		default:
			gpu.Bandwidth = node.bandwidth
		}
		found = append(found, gpu)
	}
	return found
}

// drmDevices are the folders of the graphics devices of a vendor. A connector is named after its card with a dash.
func drmDevices(root fs.FS, vendor string) (dirs []string) {
	entries, err := fs.ReadDir(root, "sys/class/drm")
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, "card") || strings.Contains(name, "-") {
			continue
		}
		dir := path.Join("sys/class/drm", name, "device")
		if text(root, path.Join(dir, "vendor")) == vendor {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// hasBoard reports a board with memory chips of its own, which a processor's graphics have not. Kernels that have these
// files for every device say unknown in them.
func hasBoard(root fs.FS, dir string) bool {
	for _, name := range []string{"mem_info_vram_vendor", "board_info"} {
		if said := strings.ToLower(text(root, path.Join(dir, name))); said != "" && !strings.Contains(said, "unknown") {
			return true
		}
	}
	return false
}

// slot is the address of a device on the bus, such as 0000:03:00.0.
func slot(root fs.FS, dir string) string {
	for line := range strings.Lines(text(root, path.Join(dir, "uevent"))) {
		if address, ok := strings.CutPrefix(strings.TrimSpace(line), "PCI_SLOT_NAME="); ok {
			return address
		}
	}
	return ""
}

// amdName is a card's name as libdrm's list has it, or the card itself, or the list of all devices, or the compute driver.
func amdName(root fs.FS, dir string, node kfd) string {
	device := strings.TrimPrefix(text(root, path.Join(dir, "device")), "0x")
	revision := strings.TrimPrefix(text(root, path.Join(dir, "revision")), "0x")
	for _, list := range []string{"usr/share/libdrm/amdgpu.ids", "opt/amdgpu/share/libdrm/amdgpu.ids"} {
		if name := amdListed(text(root, list), device, revision); name != "" {
			return branded(name)
		}
	}
	if name := text(root, path.Join(dir, "product_name")); name != "" {
		return branded(name)
	}
	if name := pciName(root, "1002", device); name != "" {
		return branded(name)
	}
	switch {
	case node.compute != "":
		return "AMD " + node.compute
	case device != "":
		return "AMD device 0x" + device
	}
	return "AMD " + path.Base(path.Dir(dir))
}

func branded(name string) string {
	if strings.Contains(name, "AMD") {
		return name
	}
	return "AMD " + name
}

// amdListed looks a device up in amdgpu.ids: "744C,	C8,	AMD Radeon RX 7900 XTX".
func amdListed(list, device, revision string) string {
	if device == "" || revision == "" {
		return ""
	}
	for line := range strings.Lines(list) {
		cells := strings.SplitN(line, ",", 3)
		if len(cells) == 3 && strings.EqualFold(strings.TrimSpace(cells[0]), device) && strings.EqualFold(strings.TrimSpace(cells[1]), revision) {
			return strings.TrimSpace(cells[2])
		}
	}
	return ""
}

// pciName looks a device up in the list that most systems have of all devices on the bus.
func pciName(root fs.FS, vendor, device string) string {
	for _, list := range []string{"usr/share/hwdata/pci.ids", "usr/share/misc/pci.ids"} {
		if name := pciListed(text(root, list), vendor, device); name != "" {
			return name
		}
	}
	return ""
}

// pciListed reads pci.ids: a vendor's line starts with its number, its devices follow after a tab, their subsystems after
// two. What people call a device is in brackets behind the name of its chip.
func pciListed(list, vendor, device string) string {
	inside := false
	for line := range strings.Lines(list) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != '\t':
			inside = len(line) > 4 && strings.EqualFold(line[:4], vendor)
		case inside && len(line) > 5 && line[1] != '\t' && strings.EqualFold(line[1:5], device):
			name := strings.TrimSpace(line[5:])
			if i := strings.LastIndexByte(name, '['); i >= 0 && strings.HasSuffix(name, "]") {
				name = name[i+1 : len(name)-1]
			}
			return name
		}
	}
	return ""
}
