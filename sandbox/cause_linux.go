package sandbox

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"interpreter/sandbox/helper"
)

// cause guesses why a back end does not work here, from the step and the system's reason.
func cause(kind string, err error) string {
	text := err.Error()
	at := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	var se *stepError
	if errors.As(err, &se) {
		text = se.what
	}
	switch {
	case kernelOf("microsoft") && !kernelOf("wsl2"):
		return "this is WSL 1, which has no namespaces; use WSL 2"
	case kind == helper.Namespaces && at("clone") && errors.Is(err, unix.ENOSPC):
		return "user.max_user_namespaces is reached, or this already runs in a sandbox; raise it with sysctl"
	case kind == helper.Namespaces && at("clone") && (errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES)):
		return "a container's system call filter, or kernel.unprivileged_userns_clone=0, forbids user namespaces"
	case at("mount proc") && errors.Is(err, unix.EPERM):
		return "/proc is partly masked, as containers do; start the container with an unmasked /proc"
	case at("mount", "open_tree") && (errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES)):
		return "a security module forbids mounts in user namespaces: kernel.apparmor_restrict_unprivileged_userns=1 does; installing bubblewrap with its profile helps"
	case errors.Is(err, unix.ENOSYS):
		return "the kernel is too old: 5.12 or later is needed"
	case kind == helper.Landlock && at("landlock_create_ruleset"):
		return "the kernel has no Landlock, or it is not among the security modules that were started"
	}
	return ""
}

func kernelOf(word string) bool {
	data, err := os.ReadFile("/proc/sys/kernel/osrelease")
	return err == nil && strings.Contains(strings.ToLower(string(data)), word)
}
