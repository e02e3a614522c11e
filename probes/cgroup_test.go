package probes

import (
	"reflect"
	"testing"
	"testing/fstest"
)

func TestCgroup(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, test := range []struct {
		name string
		root fstest.MapFS
		want limits
	}{
		{"none", fstest.MapFS{}, limits{}},
		{"v2: the tightest level of the way up counts, with its own usage", fstest.MapFS{
			"proc/self/cgroup":               file("0::/a/b\n"),
			"sys/fs/cgroup/a/b/memory.max":   file("max\n"),
			"sys/fs/cgroup/a/memory.max":     file("8000\n"),
			"sys/fs/cgroup/a/memory.current": file("5000\n"),
			"sys/fs/cgroup/a/memory.stat":    file("anon 1\ninactive_file 2000\n"),
			"sys/fs/cgroup/a/b/cpu.max":      file("150000 100000\n"),
			"sys/fs/cgroup/cpu.max":          file("max 100000\n"),
		}, limits{[]level{{8000, 3000}}, 2, "cgroup v2"}},
		{"v2: memory.high is a limit too", fstest.MapFS{
			"proc/self/cgroup":             file("0::/\n"),
			"sys/fs/cgroup/memory.max":     file("9000\n"),
			"sys/fs/cgroup/memory.high":    file("7000\n"),
			"sys/fs/cgroup/memory.current": file("1000\n"),
		}, limits{[]level{{9000, 1000}, {7000, 1000}}, 0, "cgroup v2"}},
		{"v1: the huge number is no limit", fstest.MapFS{
			"proc/self/cgroup": file("4:memory:/x\n1:cpu,cpuacct:/x\n"),
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": file("9223372036854771712\n"),
			"sys/fs/cgroup/cpu/x/cpu.cfs_quota_us":         file("-1\n"),
			"sys/fs/cgroup/cpu/x/cpu.cfs_period_us":        file("100000\n"),
		}, limits{nil, 0, "cgroup v1"}},
		{"hybrid: memory on v1 beside an empty v2 tree", fstest.MapFS{
			"proc/self/cgroup": file("4:memory:/x\n0::/\n"),
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": file("6000\n"),
			"sys/fs/cgroup/memory/x/memory.usage_in_bytes": file("4000\n"),
			"sys/fs/cgroup/memory/x/memory.stat":           file("total_inactive_file 1500\n"),
		}, limits{[]level{{6000, 2500}}, 0, "cgroup v1"}},
		{"v1 in a container: files directly under the mount", fstest.MapFS{
			"proc/self/cgroup":                           file("4:memory:/docker/0123\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("5000\n"),
			"sys/fs/cgroup/memory/memory.usage_in_bytes": file("100\n"),
		}, limits{[]level{{5000, 100}}, 0, "cgroup v1"}},
		{"v1: a limit that groups above pass down into a container", fstest.MapFS{
			"proc/self/cgroup": file("4:cpu,cpuacct:/k\n3:memory:/k/pod\n"),
			"proc/self/mountinfo": file("40 30 0:35 /k/pod /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n" +
				"41 30 0:36 / /cg/cpu\\040x rw shared:1 - cgroup cgroup rw,cpu,cpuacct\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n"),
			"sys/fs/cgroup/memory/memory.usage_in_bytes": file("300\n"),
			"sys/fs/cgroup/memory/memory.stat":           file("hierarchical_memory_limit 4000\ntotal_inactive_file 100\n"),
		}, limits{[]level{{4000, 200}}, 0, "cgroup v1"}},
		{"hybrid: processors on v2, mounted beside", fstest.MapFS{
			"proc/self/cgroup":                  file("4:memory:/x\n0::/x\n"),
			"sys/fs/cgroup/unified/x/cpu.max":   file("100000 100000\n"),
			"sys/fs/cgroup/unified/x/unrelated": file("1\n"),
		}, limits{nil, 1, "cgroup v1"}},
		{"v1 with the processors' controllers in one folder", fstest.MapFS{
			"proc/self/cgroup": file("4:cpu,cpuacct:/x\n"),
			"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us":  file("350000\n"),
			"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": file("100000\n"),
		}, limits{nil, 4, "cgroup"}},
		{"outside of the namespace", fstest.MapFS{
			"proc/self/cgroup":         file("0::/../../other\n"),
			"sys/fs/cgroup/memory.max": file("77\n"),
		}, limits{[]level{{77, 0}}, 0, "cgroup v2"}},
		{"nonsense", fstest.MapFS{
			"proc/self/cgroup":         file("hello\n0::\n::\n1:memory\n"),
			"sys/fs/cgroup/memory.max": file("77\n"),
		}, limits{source: "cgroup"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := readLimits(test.root); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// The tightest limit and the least that is left may be at different levels.
func TestLimit(t *testing.T) {
	for _, test := range []struct {
		name             string
		levels           []level
		total, available int64
		notes            int
	}{
		{"one level", []level{{400, 300}}, 400, 100, 1},
		{"neighbours use up what the parent allows", []level{{400, 10}, {800, 780}}, 400, 20, 1},
		{"in the other order", []level{{800, 780}, {400, 10}}, 400, 20, 1},
		{"more than there is", []level{{4000, 10}}, 1000, 900, 0},
		{"exactly what there is", []level{{1000, 990}}, 1000, 900, 0},
		{"overdrawn", []level{{400, 500}}, 400, 0, 1},
		{"none", nil, 1000, 900, 0},
	} {
		m := Machine{Cores: 8, RAM: Memory{Physical: 1000, Total: 1000, Available: 900}}
		m.limit(limits{levels: test.levels, source: "cgroup v2"})
		if m.RAM.Physical != 1000 || m.RAM.Total != test.total || m.RAM.Available != test.available || len(m.Notes) != test.notes {
			t.Errorf("%s: got %+v, %v", test.name, m.RAM, m.Notes)
		}
	}
	m := Machine{Cores: 8}
	m.limit(limits{levels: []level{{400, 100}, {300, 290}, {900, 10}}, cores: 2, source: "cgroup v1"})
	if m.RAM.Total != 300 || m.RAM.Available != 10 || m.Cores != 2 || m.RAM.Source != "cgroup v1" {
		t.Errorf("with memory unknown otherwise: got %+v", m)
	}
}
