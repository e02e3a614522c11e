package probes

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// limits are those of the control group of this process and of the groups above it, version 1 or 2.
type limits struct {
	levels []level // that limit memory, nearest first
	cores  int     // processors by CPU quota, 0 is no quota
	source string
}

// level is one group that limits memory: the bytes allowed and those used that cannot be reclaimed at once. Page
// cache that nobody reads can be, and the files of models live there.
type level struct{ total, used int64 }

// readLimits reads /proc/self/cgroup and the files of the groups below root. A hybrid machine shows both versions,
// with the memory controller on version 1 and an empty version 2 tree, so version 1 wins where it has a line.
func readLimits(root fs.FS) limits {
	data, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return limits{}
	}
	unified, groups := memberships(string(data))
	mounts := controllerMounts(text(root, "proc/self/mountinfo"))
	v2 := folders{root, mounts.or("", "sys/fs/cgroup", "sys/fs/cgroup/unified"), unified}
	l := limits{source: "cgroup"}
	if group, ok := groups["memory"]; ok {
		l.source = "cgroup v1"
		l.levels = memoryV1(folders{root, mounts.or("memory", "sys/fs/cgroup/memory"), group})
	} else if unified != "" {
		l.source = "cgroup v2"
		l.levels = memoryV2(v2)
	}
	if group, ok := groups["cpu"]; ok {
		l.cores = coresV1(folders{root, mounts.or("cpu", "sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"), group})
	} else if unified != "" {
		l.cores = coresV2(v2)
	}
	return l
}

// memberships reads the lines of /proc/self/cgroup: the path in the version 2 tree, "" for none, and the path by
// controller in the trees of version 1.
func memberships(text string) (unified string, groups map[string]string) {
	groups = map[string]string{}
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimRight(line, "\r\n"), ":", 3)
		if len(parts) != 3 || !strings.HasPrefix(parts[2], "/") {
			continue
		}
		if parts[0] == "0" && parts[1] == "" {
			unified = parts[2]
			continue
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			groups[controller] = parts[2]
		}
	}
	return unified, groups
}

// mount is where a tree of groups is seen: the group that is its top, and the folder.
type mount struct{ top, dir string }

// mounts are the trees by controller; "" is version 2.
type mounts map[string][]mount

// controllerMounts reads /proc/self/mountinfo (proc(5)): the fourth field is the group that is mounted, the fifth the
// folder, and after the dash follow the kind, the device and the options that name the controllers.
func controllerMounts(text string) mounts {
	found := mounts{}
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(kind) < 3 {
			continue
		}
		at := mount{fields[3], strings.TrimPrefix(path.Clean(fields[4]), "/")}
		switch {
		case !fs.ValidPath(at.dir):
		case kind[0] == "cgroup2":
			found[""] = append(found[""], at)
		case kind[0] == "cgroup":
			for option := range strings.SplitSeq(kind[2], ",") {
				found[option] = append(found[option], at)
			}
		}
	}
	return found
}

// or is where a controller's tree is mounted, or else the usual folders.
func (m mounts) or(controller string, usual ...string) []mount {
	if known := m[controller]; len(known) > 0 {
		return known
	}
	var all []mount
	for _, dir := range usual {
		all = append(all, mount{"/", dir})
	}
	return all
}

// folders are those of a group and of the groups above it, in every tree where it may be seen.
type folders struct {
	root   fs.FS
	mounts []mount
	group  string
}

// walk visits them, nearest first. In a container the top of the mount may already be the group, while
// the path still names what is above it outside; the mount itself is the last one visited in any case.
func (f folders) walk(visit func(root fs.FS, dir string)) {
	for _, at := range f.mounts {
		group := path.Clean("/" + f.group)
		if rest, ok := strings.CutPrefix(group, path.Clean("/"+at.top)); ok && at.top != "/" && (rest == "" || rest[0] == '/') {
			group = path.Clean("/" + rest)
		}
		for {
			visit(f.root, strings.TrimSuffix(path.Join(at.dir, group), "/"))
			if group == "/" {
				break
			}
			group = path.Dir(group)
		}
	}
}

func memoryV2(f folders) (found []level) {
	f.walk(func(root fs.FS, dir string) {
		for _, name := range []string{"memory.max", "memory.high"} {
			if n, ok := number(root, path.Join(dir, name)); ok && n > 0 {
				used, _ := number(root, path.Join(dir, "memory.current"))
				found = append(found, level{n, max(used-stat(root, dir, "inactive_file"), 0)})
			}
		}
	})
	return found
}

// memoryV1 also reads the limit that the groups above pass down, which a container sees even where it does not see them.
func memoryV1(f folders) (found []level) {
	f.walk(func(root fs.FS, dir string) {
		n, ok := number(root, path.Join(dir, "memory.limit_in_bytes"))
		if above := stat(root, dir, "hierarchical_memory_limit"); above > 0 && (!ok || above < n) {
			n, ok = above, true
		}
		// "No limit" is the largest page-rounded number there is, whatever the size of a page.
		if !ok || n <= 0 || n >= math.MaxInt64-mib {
			return
		}
		used, _ := number(root, path.Join(dir, "memory.usage_in_bytes"))
		found = append(found, level{n, max(used-stat(root, dir, "total_inactive_file"), 0)})
	})
	return found
}

func coresV2(f folders) (cores int) {
	f.walk(func(root fs.FS, dir string) {
		fields := strings.Fields(text(root, path.Join(dir, "cpu.max")))
		if len(fields) != 2 {
			return
		}
		quota, err1 := strconv.ParseInt(fields[0], 10, 64)
		period, err2 := strconv.ParseInt(fields[1], 10, 64)
		if err1 == nil && err2 == nil {
			cores = fewer(cores, quota, period)
		}
	})
	return cores
}

func coresV1(f folders) (cores int) {
	f.walk(func(root fs.FS, dir string) {
		quota, ok1 := number(root, path.Join(dir, "cpu.cfs_quota_us"))
		period, ok2 := number(root, path.Join(dir, "cpu.cfs_period_us"))
		if ok1 && ok2 {
			cores = fewer(cores, quota, period)
		}
	})
	return cores
}

// fewer is the smaller of cores and quota/period rounded up; a quota that is not positive is none.
func fewer(cores int, quota, period int64) int {
	if quota <= 0 || period <= 0 {
		return cores
	}
	n := quota / period
	if quota%period > 0 {
		n++
	}
	if n < math.MaxInt32 && (cores == 0 || int(n) < cores) {
		return int(n)
	}
	return cores
}

// stat reads one counter of a group's memory.stat; 0 when it is not there.
func stat(root fs.FS, dir, key string) int64 {
	for line := range strings.Lines(text(root, path.Join(dir, "memory.stat"))) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == key {
			n, _ := strconv.ParseInt(value, 10, 64)
			return n
		}
	}
	return 0
}
