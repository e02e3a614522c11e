package main

import (
	"os"
	"path/filepath"
	"strings"

	"interpreter/agent/project"
	"interpreter/sandbox"
)

// harden makes this process hard to look into and hard to lead astray, before anything is read: no core dump holds its
// keys, no process of the same person traces it, and what it starts inherits neither files nor loaders it was not given.
// Files of the agent's home are made with rights of their own, not by the umask, which is the person's and holds for what
// the agent writes for them. There is no switch that leaves it out. It returns the variables that it took away.
func harden() (loaders []string) {
	keepApart(namesDescriptor(os.Args[1:]))
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") {
			loaders = append(loaders, entry)
			_ = os.Unsetenv(name)
		}
	}
	return loaders
}

// namesDescriptor reports whether an argument is a file that only its process can open, such as the one a shell makes of
// <(command). A process that nobody may look into cannot open it either, unless root runs it.
func namesDescriptor(args []string) bool {
	for _, a := range args {
		if strings.Contains(a, "/dev/fd/") || strings.Contains(a, "/dev/std") || strings.Contains(a, "/proc/self/") {
			return true
		}
	}
	return false
}

// programsElsewhere makes our own PATH, by which the agent finds git, servers and tools of drivers, one that names no
// program in the given folders. Commands are given the person's PATH as it was.
func programsElsewhere(folders ...string) {
	_ = os.Setenv("PATH", sandbox.SafePath(os.Getenv("PATH"), folders...))
}

// here are the folder a program was started in and the project around it.
func here() []string {
	cwd, err := os.Getwd()
	if err != nil {
		return nil
	}
	if real, err := filepath.EvalSymlinks(cwd); err == nil {
		cwd = real
	}
	return []string{cwd, project.Root(cwd, nil)}
}
