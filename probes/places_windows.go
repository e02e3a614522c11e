package probes

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// smiPlaces are where drivers of NVIDIA have put their tool on Windows, now and before 2019.
func smiPlaces() (places []string) {
	if dir, err := windows.GetSystemDirectory(); err == nil {
		places = append(places, filepath.Join(dir, "nvidia-smi.exe"))
	}
	if dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramFiles, 0); err == nil {
		places = append(places, filepath.Join(dir, "NVIDIA Corporation", "NVSMI", "nvidia-smi.exe"))
	}
	return places
}
