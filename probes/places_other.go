//go:build !windows

package probes

// smiPlaces is where WSL keeps the tool of the host's driver, outside the path.
func smiPlaces() []string { return []string{"/usr/lib/wsl/lib/nvidia-smi"} }
