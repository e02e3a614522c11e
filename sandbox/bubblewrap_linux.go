package sandbox

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"interpreter/sandbox/helper"
)

// bubblewrap is the command line of bwrap for a plan, the confining program inside. Caches of a person are not
// layered here: bwrap has no overlays in its common versions.
func bubblewrap(plan helper.Plan, prog program) ([]string, error) {
	bwrap, err := trusted("bwrap", plan)
	if err != nil {
		return nil, err
	}
	argv := []string{bwrap, "--new-session", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--as-pid-1"}
	if !plan.Network {
		argv = append(argv, "--unshare-net")
	}
	root := "--ro-bind"
	if plan.WholeDisk {
		root = "--bind"
	}
	argv = append(argv, root, "/", "/")
	if plan.WholeDisk {
		argv = append(argv, "--ro-bind-try", "/sys", "/sys")
	}
	argv = append(argv, "--dev", "/dev", "--proc", "/proc")
	type bind struct {
		args []string
		path string
	}
	var binds []bind
	for _, l := range plan.Layers {
		binds = append(binds, bind{[]string{"--tmpfs", l.Target}, l.Target})
	}
	for _, w := range plan.Writable {
		if w.Path == "/" {
			continue
		}
		if err := unchanged(w); err != nil {
			if w.Needed || !errors.Is(err, os.ErrNotExist) {
				return nil, err
			}
			continue
		}
		binds = append(binds, bind{[]string{"--bind", w.Path, w.Path}, w.Path})
	}
	for _, path := range plan.Shown {
		binds = append(binds, bind{[]string{"--ro-bind", path, path}, path})
	}
	for _, path := range plan.ReadOnly {
		if exists(path) {
			binds = append(binds, bind{[]string{"--ro-bind", path, path}, path})
		}
	}
	slices.SortStableFunc(binds, func(a, b bind) int { return cmp.Compare(depth(a.path), depth(b.path)) })
	for _, path := range plan.Hidden {
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink == 0 && reachable(path) {
			binds = append(binds, bind{[]string{"--ro-bind", "/dev/null", path}, path})
		}
	}
	for _, b := range binds {
		argv = append(argv, b.args...)
	}
	argv = append(argv, "--chdir", plan.Dir, "--", prog.path)
	return append(argv, prog.argv[1:]...), nil
}

// reachable reports whether a command could get at a path. Root's right to enter every folder is lost in a user
// namespace for the folders of others: bwrap cannot cover what is in those, and need not.
func reachable(path string) bool {
	for dir := filepath.Dir(path); dir != "/"; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return false
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if ok && int(st.Uid) != os.Getuid() && info.Mode().Perm()&0o011 == 0 {
			return false
		}
	}
	return true
}

func unchanged(w helper.Place) error {
	info, err := os.Lstat(w.Path)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if w.Ino != 0 && (!ok || st.Ino != w.Ino || uint64(st.Dev) != w.Dev) {
		return &stepError{"open " + w.Path, helper.ErrMoved}
	}
	return nil
}

// trusted finds a program that only root can have put there, outside of everything a command may write.
func trusted(name string, plan helper.Plan) (string, error) {
	for _, dir := range []string{"/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"} {
		path, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		if err != nil || slices.ContainsFunc(plan.Writable, func(w helper.Place) bool { return w.Path != "/" && within(path, w.Path) }) {
			continue
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid == 0 && info.Mode().Perm()&0o022 == 0 {
			return path, nil
		}
	}
	return "", &stepError{"find " + name, errors.New("no " + strings.ToLower(name) + " is installed that belongs to root alone")}
}
