package main

import "golang.org/x/sys/windows"

// keepApart keeps a crash from opening a window that offers to save what is in memory. Handles are inherited here only
// where a child is given them by name.
func keepApart(bool) {
	windows.SetErrorMode(windows.SEM_FAILCRITICALERRORS | windows.SEM_NOGPFAULTERRORBOX | windows.SEM_NOOPENFILEERRORBOX)
}
