package project

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// osVersion is the version and build of Windows.
func osVersion() string {
	v := windows.RtlGetVersion()
	return fmt.Sprintf("Windows %d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber)
}
