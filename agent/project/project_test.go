package project

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"interpreter/sandbox"
)

// copyCase puts a case where a test may write, with its repository root made one.
func copyCase(t *testing.T, id string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", id))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCasesOfAgentsMD(t *testing.T) {
	for _, id := range []string{"ag-01", "ag-02", "ag-03", "ag-04"} {
		t.Run(id, func(t *testing.T) {
			dir := copyCase(t, id)
			var want struct {
				Cwd         string
				RepoRoot    string `json:"repo_root"`
				Text        *string
				MustContain []string `json:"must_contain"`
				MustWarn    []string `json:"must_warn"`
				MaxBytes    int      `json:"max_bytes"`
				NotBytes    string   `json:"must_not_contain_bytes"`
			}
			raw, err := os.ReadFile(filepath.Join(dir, "expected.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			o := DocOptions{Dir: filepath.Join(dir, want.Cwd)}
			if err := os.MkdirAll(filepath.Join(dir, want.RepoRoot, ".git"), 0o755); err != nil {
				t.Fatal(err)
			}
			if settings, err := os.ReadFile(filepath.Join(dir, "config.toml")); err == nil {
				o.MaxBytes, _ = strconv.Atoi(regexp.MustCompile(`\d+`).FindString(string(settings)))
			}
			o.Root = Root(o.Dir, nil)
			docs, warnings := Docs(o)
			var all string
			for _, d := range docs {
				all += d.Text
			}
			if want.Text != nil && strings.TrimSpace(all) != *want.Text {
				t.Errorf("got %q, want %q", all, *want.Text)
			}
			for _, text := range want.MustContain {
				if !strings.Contains(all, text) {
					t.Errorf("%q is missing in %q", text, all)
				}
			}
			warned := filepath.ToSlash(strings.Join(warnings, "\n"))
			for _, text := range want.MustWarn {
				if !strings.Contains(warned, text) {
					t.Errorf("no warning of %q: %q", text, warned)
				}
			}
			if want.MaxBytes > 0 && len(all) > want.MaxBytes {
				t.Errorf("%d bytes, want at most %d", len(all), want.MaxBytes)
			}
			if bad, _ := hex.DecodeString(want.NotBytes); len(bad) > 0 && bytes.Contains([]byte(all), bad) {
				t.Errorf("%q holds bytes %x", all, bad)
			}
			if !utf8.ValidString(all) {
				t.Errorf("not UTF-8: %q", all)
			}
			if id == "ag-01" && !strings.Contains(all, "[cut") {
				t.Errorf("the cut is not to be seen: %q", all)
			}
			if id == "ag-02" && strings.ContainsRune(all, utf8.RuneError) {
				t.Errorf("a character was cut in two: %q", all)
			}
		})
	}
}

func TestDocsOrderAndNames(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	write(t, filepath.Join(home, "AGENTS.override.md"), " \n")
	write(t, filepath.Join(home, "AGENTS.md"), "global")
	write(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(dir, "AGENTS.md"), "\xEF\xBB\xBFroot")
	write(t, filepath.Join(dir, "CLAUDE.md"), "not read beside AGENTS.md")
	write(t, filepath.Join(dir, "a", "CLAUDE.md"), "fallback")
	write(t, filepath.Join(dir, "a", "b", "AGENTS.md"), "hidden by the override")
	write(t, filepath.Join(dir, "a", "b", "AGENTS.override.md"), "near")
	if err := os.Mkdir(filepath.Join(dir, "a", "AGENTS.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	o := DocOptions{Dir: filepath.Join(dir, "a", "b"), Root: dir, Home: home}
	docs, warnings := Docs(o)
	var got []string
	for _, d := range docs {
		got = append(got, d.Text)
	}
	if want := []string{"global", "root", "fallback", "near"}; !slices.Equal(got, want) || len(warnings) > 0 {
		t.Errorf("got %q, want %q; warnings %q", got, want, warnings)
	}
	o.GlobalOnly = true
	if docs, _ := Docs(o); len(docs) != 1 || docs[0].Text != "global" {
		t.Errorf("global only: %v", docs)
	}
	o = DocOptions{Dir: dir, Root: dir, Fallbacks: []string{}}
	if docs, _ := Docs(o); len(docs) != 1 || docs[0].Text != "root" {
		t.Errorf("no fallbacks: %v", docs)
	}
}

func TestGitFactsFromFiles(t *testing.T) {
	const first, second = "0123456789abcdef0123456789abcdef01234567", "89abcdef0123456789abcdef0123456789abcdef"
	dir := t.TempDir()
	main := filepath.Join(dir, "main")
	write(t, filepath.Join(main, ".git", "HEAD"), "ref: refs/heads/topic/x\n")
	write(t, filepath.Join(main, ".git", "packed-refs"), "# pack-refs with: peeled\n"+first+" refs/heads/topic/x\n")
	write(t, filepath.Join(main, ".git", "config"), "[core]\n\tbare = false\n[remote \"up\"]\n\turl = https://no.example/x\n[remote \"origin\"]\n\turl = https://me:secret@example.org/a.git\n")
	write(t, filepath.Join(main, "sub", "x"), "")
	want := Git{Root: main, Main: main, Branch: "topic/x", Commit: first, Repository: "https://example.org/a.git"}
	if got, ok := FindGit(filepath.Join(main, "sub")); !ok || got != want {
		t.Errorf("packed: got %+v, want %+v", got, want)
	}
	write(t, filepath.Join(main, ".git", "refs", "heads", "topic", "x"), second+"\n")
	if got, _ := FindGit(main); got.Commit != second {
		t.Errorf("a loose ref wins: %+v", got)
	}

	linked := filepath.Join(dir, "linked")
	write(t, filepath.Join(linked, ".git"), "gitdir: ../main/.git/worktrees/linked\n")
	write(t, filepath.Join(main, ".git", "worktrees", "linked", "HEAD"), first+"\n")
	write(t, filepath.Join(main, ".git", "worktrees", "linked", "commondir"), "../..\n")
	want = Git{Root: linked, Main: main, Commit: first, Repository: "https://example.org/a.git"}
	if got, ok := FindGit(linked); !ok || got != want {
		t.Errorf("linked: got %+v, want %+v", got, want)
	}

	if got, ok := FindGit(dir); ok {
		t.Errorf("no repository, yet %+v", got)
	}
	write(t, filepath.Join(dir, "odd", ".git"), "not a pointer")
	if _, ok := FindGit(filepath.Join(dir, "odd")); ok {
		t.Error("a broken .git file passed")
	}
	write(t, filepath.Join(dir, "evil", ".git", "HEAD"), "ref: ../../../secret\n")
	if got, _ := FindGit(filepath.Join(dir, "evil")); got.Commit != "" {
		t.Errorf("a ref led outside: %+v", got)
	}
}

func TestListIsBoundedAndBreadthFirst(t *testing.T) {
	dir := t.TempDir()
	for _, p := range []string{"b/deep/x.go", "a.go", "node_modules/y/z.js", ".git/HEAD", "b/c.go"} {
		write(t, filepath.Join(dir, filepath.FromSlash(p)), "")
	}
	var got []string
	for _, e := range List(context.Background(), dir, 6) {
		mark := ""
		if e.Dir {
			mark = "/"
		}
		if e.Skipped {
			mark = "/…"
		}
		got = append(got, e.Path+mark)
	}
	want := []string{".git/…", "a.go", "b/", "node_modules/…", "b/c.go", "b/deep/"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestGather(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(dir, "AGENTS.md"), "be kind")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	known, err := Gather(context.Background(), Options{Dir: dir, Shell: "/bin/bash", TZ: "Europe/Berlin", Now: now,
		Policy: sandbox.Policy{Mode: sandbox.FullAccess}})
	if err != nil {
		t.Fatal(err)
	}
	env := known.Env
	if !env.Git || env.Branch != "main" || env.Shell != "bash" || env.Zone != "Europe/Berlin" || len(env.Docs) != 1 || !env.Network || env.OSVersion == "" {
		t.Errorf("got %+v", env)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Gather(ctx, Options{Dir: dir}); err == nil {
		t.Error("a cancelled gathering went on")
	}
}

func TestZone(t *testing.T) {
	for tz, want := range map[string]string{":Asia/Tokyo": "Asia/Tokyo", "/usr/share/zoneinfo/Africa/Lagos": "Africa/Lagos", "UTC": "UTC"} {
		if got := Zone(tz, time.Now()); got != want {
			t.Errorf("%s: got %s", tz, got)
		}
	}
}
