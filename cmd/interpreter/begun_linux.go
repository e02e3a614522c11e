package main

import (
	"bytes"
	"fmt"
	"os"
)

// begun is a mark of a running process that no later one with its number has: when it began, in ticks since the start
// of the machine. false when there is none, or one that has ended and is only not yet buried.
func begun(pid int) (string, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // its name may hold anything
	const state, since = 0, 19
	if len(fields) <= since || fields[state][0] == 'Z' || fields[state][0] == 'X' {
		return "", false
	}
	return string(fields[since]), true
}
