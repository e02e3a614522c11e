package probes

import (
	"regexp"
	"strings"
)

// adapter is a display adapter as Windows keeps it in its registry. memory is the 64-bit size in bytes; the older 32-bit
// value beside it wraps at 4 GB and is never read.
type adapter struct {
	key, name, device, driver string
	memory                    uint64
}

// adapters adds what no driver tool told. An adapter that was taken out of the machine keeps its entry, so NVIDIA
// cards count only where their tool said nothing.
func adapters(all []adapter) finding {
	return func(m *Machine) {
		told := map[string]bool{}
		for _, gpu := range m.GPUs {
			told[gpu.Vendor] = true
		}
		for _, a := range all {
			vendor := adapterVendor(a.device)
			if vendor == "" || told[vendor] || a.name == "" {
				continue
			}
			size := int64(min(a.memory, 1<<50))
			gpu := GPU{Name: a.name, Vendor: vendor, Driver: a.driver, ID: "display " + a.key, Source: "registry",
				Bandwidth: cardBandwidth(a.name, size, 0)}
			switch {
			case size >= 1<<50:
				m.note("registry", "the memory of "+a.name+" makes no sense, so it is not counted")
				continue
			case vendor == "intel" && !discreteArc(a.name):
				gpu.Unified = true
			case vendor == "amd" && processorRadeon(a.name) && size <= mostCarved:
				gpu.Unified, gpu.Total, gpu.Free = true, size, size
			case size == 0:
				m.note("registry", "the memory of "+a.name+" is not recorded, so it is not counted")
				continue
			default:
				gpu.Total, gpu.Free = size, size
				m.note("registry", untoldFree(a.name)+", as its driver recorded it last")
			}
			m.GPUs = append(m.GPUs, gpu)
		}
	}
}

// adapterVendor reads the vendor's number in a device name such as pci\ven_1002&dev_744c. Remote and basic displays have none.
func adapterVendor(device string) string {
	_, id, _ := strings.Cut(strings.ToLower(device), "ven_")
	switch {
	case strings.HasPrefix(id, "10de"):
		return "nvidia"
	case strings.HasPrefix(id, "1002"):
		return "amd"
	case strings.HasPrefix(id, "8086"):
		return "intel"
	}
	return ""
}

// radeon are the names of a processor's own graphics: "AMD Radeon(TM) Graphics", "Radeon 780M", "8060S", "Vega 8".
var radeon = regexp.MustCompile(`(?i)radeon(?:\(tm\))? (?:graphics|\d{3,4}[ms]\b|(?:rx )?vega (?:3|6|7|8|9|10|11)\b)`)

func processorRadeon(name string) bool { return radeon.MatchString(name) }

// littleEndian is the number in up to 8 bytes, as some drivers store it.
func littleEndian(data []byte) (n uint64) {
	for i := min(len(data), 8) - 1; i >= 0; i-- {
		n = n<<8 | uint64(data[i])
	}
	return n
}
