package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/windows"
)

// begun is a mark of a running process that no later one with its number has: when it began. false when there is none.
func begun(pid int) (string, bool) {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return "", false
	}
	defer windows.CloseHandle(process)
	if state, err := windows.WaitForSingleObject(process, uint32(time.Millisecond.Milliseconds())); err != nil || state != uint32(windows.WAIT_TIMEOUT) {
		return "", false
	}
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(process, &created, &exited, &kernel, &user) != nil {
		return "", false
	}
	return fmt.Sprint(created.Nanoseconds()), true
}
