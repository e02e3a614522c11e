package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"interpreter/agent/project"
)

// hardened is what a process says of itself after harden.
type hardened struct {
	Dumpable int
	Core     uint64
	Leaks    bool // a descriptor that it inherited is inherited on
	Loaders  []string
	Path     string
}

const (
	playHardened = "INTERPRETER_TEST_HARDEN"
	inherited    = 7
)

// A child of this test plays the program's first steps.
func TestHarden(t *testing.T) {
	if os.Getenv(playHardened) != "" {
		harden()
		programsElsewhere(here()...)
		told := hardened{Path: os.Getenv("PATH")}
		told.Dumpable, _ = unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		var limit unix.Rlimit
		_ = unix.Getrlimit(unix.RLIMIT_CORE, &limit)
		told.Core = limit.Cur + limit.Max
		flags, err := unix.FcntlInt(inherited, unix.F_GETFD, 0)
		told.Leaks = err != nil || flags&unix.FD_CLOEXEC == 0
		for _, entry := range os.Environ() {
			if strings.HasPrefix(entry, "LD_") || strings.HasPrefix(entry, "DYLD_") {
				told.Loaders = append(told.Loaders, entry)
			}
		}
		_ = json.NewEncoder(os.Stderr).Encode(told)
		return
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(dir, "deep", "er")
	for _, folder := range []string{inside, filepath.Join(dir, ".git")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if project.Root(inside, nil) != dir {
		t.Fatal("the folder has no project around it")
	}
	play := func(more ...string) hardened {
		t.Helper()
		null, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer null.Close()
		var said bytes.Buffer
		c := exec.Command(os.Args[0], append([]string{"-test.run=^TestHarden$"}, more...)...)
		c.Dir, c.Stderr = inside, &said
		for range inherited - 2 {
			c.ExtraFiles = append(c.ExtraFiles, null)
		}
		c.Env = append(os.Environ(), playHardened+"=1", "LD_LIBRARY_PATH=/x", "LD_AUDIT=", "DYLD_INSERT_LIBRARIES=/y",
			"PATH="+strings.Join([]string{"", ".", "bin", dir + "/bin", inside, "/usr/bin", "/bin"}, ":"))
		if out, err := c.Output(); err != nil {
			t.Fatalf("%v: %s%s", err, out, said.Bytes())
		}
		var told hardened
		if err := json.Unmarshal(said.Bytes(), &told); err != nil {
			t.Fatalf("%v: %s", err, said.Bytes())
		}
		return told
	}
	// The test binary puts a folder of its own on PATH.
	if told := play(); told.Dumpable != 0 || told.Core != 0 || told.Leaks || len(told.Loaders) > 0 || strings.Contains(":"+told.Path, ":"+dir) ||
		!strings.HasSuffix(told.Path, ":/usr/bin:/bin") || strings.Contains(told.Path, "::") {
		t.Errorf("%+v", told)
	}
	if told := play("/dev/fd/63"); told.Dumpable == 0 || told.Core != 0 {
		t.Errorf("with a file that only this process can open: %+v", told)
	}
}
