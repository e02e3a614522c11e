package probes

import (
	"io/fs"
	"regexp"
	"strings"
)

// jetson completes what the driver's tool told on a Jetson board, where the graphics part shares RAM and older
// releases have no such tool.
func jetson(root fs.FS, all []GPU) []GPU {
	driver, ok := tegraRelease(text(root, "etc/nv_tegra_release"))
	if !ok {
		return all
	}
	name := text(root, "proc/device-tree/model")
	if name == "" {
		name = "NVIDIA Jetson"
	}
	if len(all) == 0 {
		all = []GPU{{Name: name, Vendor: "nvidia", Source: "nv_tegra_release"}}
	}
	for i := range all {
		gpu := &all[i]
		gpu.Name, gpu.Unified, gpu.Total, gpu.Free = name, true, 0, 0
		if gpu.Driver == "" {
			gpu.Driver = driver
		}
		gpu.Bandwidth = cardBandwidth(name, 0, 0)
	}
	return all
}

var tegra = regexp.MustCompile(`R(\d+) *\(release\), *REVISION: *([\d.]+)`)

// tegraRelease reads /etc/nv_tegra_release: "# R36 (release), REVISION: 4.0, …" is "R36.4.0".
func tegraRelease(text string) (string, bool) {
	if match := tegra.FindStringSubmatch(text); match != nil {
		return "R" + match[1] + "." + match[2], true
	}
	return "", strings.TrimSpace(text) != ""
}
