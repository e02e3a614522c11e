package probes

import (
	"io/fs"
	"strings"
)

// virtual says what kind of walls are around this process.
func virtual(root fs.FS) finding {
	kind := platformVirtual(root)
	return func(m *Machine) { m.Virtual = kind }
}

// linuxVirtual reads the signs below root. WSL2 is named before a container inside it, since what it changes
// (RAM is a part of the host's, the card is the host's) holds for both.
func linuxVirtual(root fs.FS) string {
	release := text(root, "proc/sys/kernel/osrelease")
	// The first WSL had no kernel of its own and showed 4.4.0-…-Microsoft.
	if strings.Contains(strings.ToLower(release), "microsoft") && !strings.HasPrefix(release, "4.4.") {
		return "wsl2"
	}
	for _, name := range []string{".dockerenv", "run/.containerenv", "run/systemd/container"} {
		if _, err := fs.Stat(root, name); err == nil {
			return "container"
		}
	}
	groups := text(root, "proc/self/cgroup")
	for _, sign := range []string{"/docker/", "/docker-", "/kubepods", "/lxc/", "/lxc.payload", "/libpod-", "/cri-containerd-", "/crio-"} {
		if strings.Contains(groups, sign) {
			return "container"
		}
	}
	if text(root, "sys/hypervisor/type") != "" || hypervisorFlag(text(root, "proc/cpuinfo")) ||
		boardIsVirtual(text(root, "sys/class/dmi/id/sys_vendor"), text(root, "sys/class/dmi/id/product_name")) {
		return "vm"
	}
	return ""
}

// hypervisorFlag reports the processor's own word that something runs beneath the kernel.
func hypervisorFlag(cpuinfo string) bool {
	for line := range strings.Lines(cpuinfo) {
		if key, flags, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "flags" {
			for flag := range strings.FieldsSeq(flags) {
				if flag == "hypervisor" {
					return true
				}
			}
			return false
		}
	}
	return false
}

// boardIsVirtual knows the names that hypervisors give to the board of a guest.
func boardIsVirtual(vendor, product string) bool {
	v, p := strings.ToLower(vendor), strings.ToLower(product)
	switch {
	case strings.Contains(p, ".metal"): // a rented machine without a hypervisor
		return false
	case strings.Contains(v, "microsoft"): // also the maker of laptops
		return strings.Contains(p, "virtual machine")
	}
	for _, sign := range []string{"qemu", "kvm", "vmware", "innotek", "virtualbox", "xen", "bochs", "parallels", "bhyve", "amazon ec2", "google compute engine", "openstack", "digitalocean", "hetzner vserver", "firecracker"} {
		if strings.Contains(v, sign) || strings.Contains(p, sign) {
			return true
		}
	}
	return false
}
