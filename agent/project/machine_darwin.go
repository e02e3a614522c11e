package project

import "syscall"

// osVersion is the version of macOS.
func osVersion() string {
	version, err := syscall.Sysctl("kern.osproductversion")
	if err != nil {
		return ""
	}
	return "macOS " + version
}
