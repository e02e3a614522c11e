package probes

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// limits are those of the control group of this process, version 1 or 2; 0 is none.
type limits struct {
	total  int64 // bytes allowed
	used   int64 // bytes used that cannot be reclaimed at once, in the group that sets the limit
	cores  int
	source string
}

// readLimits reads /proc/self/cgroup and the group's files below root. A hybrid machine shows both versions, with
// the memory controller on version 1 and an empty version 2 tree, so version 1 wins where it has a memory line.
func readLimits(root fs.FS) limits {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return limits{}
	}
	var v2 string
	has2 := false
	groups := map[string]string{}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if parts[0] == "0" && parts[1] == "" {
			v2, has2 = parts[2], true
			continue
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			groups[controller] = parts[2]
		}
	}
	var l limits
	if group, ok := groups["memory"]; ok {
		l = memoryV1(root, group)
	} else if has2 {
		l = memoryV2(root, v2)
	}
	if group, ok := groups["cpu"]; ok {
		l.cores = coresV1(root, group)
	} else if has2 {
		l.cores = coresV2(root, v2)
	}
	if l.source == "" {
		l.source = "cgroup"
	}
	return l
}

// walk visits the folder of a group and those above it, nearest first. In a container the namespace root may
// already be the group, so the mount itself is the last one.
func walk(mount, group string, visit func(dir string)) {
	group = path.Clean("/" + group)
	for {
		visit(strings.TrimSuffix(path.Join(mount, group), "/"))
		if group == "/" {
			return
		}
		group = path.Dir(group)
	}
}

func memoryV2(root fs.FS, group string) limits {
	l := limits{source: "cgroup v2"}
	walk("sys/fs/cgroup", group, func(dir string) {
		for _, name := range []string{"memory.max", "memory.high"} {
			n, ok := number(root, path.Join(dir, name))
			if !ok || l.total > 0 && n >= l.total {
				continue
			}
			used, _ := number(root, path.Join(dir, "memory.current"))
			l.total, l.used = n, max(used-stat(root, dir, "inactive_file"), 0)
		}
	})
	return l
}

func memoryV1(root fs.FS, group string) limits {
	l := limits{source: "cgroup v1"}
	walk("sys/fs/cgroup/memory", group, func(dir string) {
		n, ok := number(root, path.Join(dir, "memory.limit_in_bytes"))
		// "No limit" is the largest page-rounded number there is.
		if !ok || n >= math.MaxInt64-1<<20 || l.total > 0 && n >= l.total {
			return
		}
		used, _ := number(root, path.Join(dir, "memory.usage_in_bytes"))
		l.total, l.used = n, max(used-stat(root, dir, "total_inactive_file"), 0)
	})
	return l
}

func coresV2(root fs.FS, group string) int {
	cores := 0
	walk("sys/fs/cgroup", group, func(dir string) {
		text, err := fs.ReadFile(root, path.Join(dir, "cpu.max"))
		fields := strings.Fields(string(text))
		if err != nil || len(fields) != 2 {
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

func coresV1(root fs.FS, group string) int {
	cores := 0
	walk("sys/fs/cgroup/cpu", group, func(dir string) {
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
	n := int((quota + period - 1) / period)
	if cores == 0 || n < cores {
		return n
	}
	return cores
}

func number(root fs.FS, name string) (int64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// stat reads one counter of a group's memory.stat.
func stat(root fs.FS, dir, key string) int64 {
	text, err := fs.ReadFile(root, path.Join(dir, "memory.stat"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == key {
			n, _ := strconv.ParseInt(value, 10, 64)
			return n
		}
	}
	return 0
}
