package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"interpreter/sandbox"
)

func TestQuietSettings(t *testing.T) {
	for text, want := range map[string]bool{
		"user.name=x": true, "core.fsmonitor=true": true, "core.fsmonitor=./p": false, "core.fsmonitor=": true, "diff.external=x": false, "diff.x.command=y": false, "diff.x.y.textconv=z": false,
		"diff.renames=true": true, "filter.lfs.clean=x": false, "filter.x.required=true": false, "alias.status=!x": false, "alias.st=!x": true, "pager.log=x": false, "pager.log=false": true, "core.pager=less": false,
		"core.attributesfile=x": false, "gpg.program=x": false, "gpg.format=ssh": false, "log.showsignature=true": false, "format.pretty=%h %G?": false, "format.pretty=%h": true, "pretty.x=%GS": false, "branch.sort=signature": false,
		"remote.origin.url=x": true, "remote.origin.promisor=true": false, "remote.o.partialclonefilter=x": false, "extensions.partialclone=o": false, "trace2.eventtarget=/x": false, "core.hookspath=x": true, "diff.word.command": false,
		"diff.command.xfuncname=x": true, "DIFF.External=x": false, "branch.main.merge=x": true,
	} {
		name, value, _ := strings.Cut(text, "=")
		if got := quiet([]setting{{name, value}}); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestSettingsOfOddText(t *testing.T) {
	for _, text := range []string{"unknown", "local\x00core.x\ny", "local\x00", "elsewhere\x00a.b\nc\x00", "local\x00a.b\nc\x00unknown"} {
		if got, ok := settingsOf(text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
	got, ok := settingsOf("local\x00core.x\ny\nz\x00command\x00core.pager\ncat\x00global\x00a.b\x00")
	if !ok || len(got) != 2 || got[0] != (setting{"core.x", "y\nz"}) || got[1] != (setting{"a.b", ""}) {
		t.Errorf("%v %v", got, ok)
	}
}

func TestQuietGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1"}
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@y", "-c", "protocol.file.allow=always"}, args...)...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	fresh := func(t *testing.T) string {
		dir := filepath.Join(root, t.Name(), "repo")
		if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		git(dir, "init", "-q")
		git(dir, "commit", "-q", "--allow-empty", "-m", "x")
		return dir
	}
	asked := func(dir string, in ...string) bool { // in: the folder of the session, where that is another one
		policy, _, err := sandbox.Resolve(sandbox.Settings{Mode: sandbox.FullAccess, Dir: append(in, dir)[0]})
		if err != nil {
			t.Fatal(err)
		}
		box, err := sandbox.New(policy)
		if err != nil {
			t.Fatal(err)
		}
		return QuietGit(t.Context(), box, dir, env)
	}
	t.Run("plain", func(t *testing.T) {
		dir := fresh(t)
		if !asked(dir) || !asked(filepath.Join(dir, "sub"), dir) {
			t.Error("a plain repository is not quiet")
		}
		if !asked(filepath.Dir(dir)) {
			t.Error("a folder without a repository is not quiet")
		}
		git(dir, "config", "core.fsmonitor", "./x")
		if asked(dir) {
			t.Error("a monitor is quiet")
		}
	})
	t.Run("included", func(t *testing.T) {
		dir := fresh(t)
		if err := os.WriteFile(filepath.Join(dir, "more"), []byte("[diff]\n\texternal = ./x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		git(dir, "config", "include.path", "../more")
		if asked(dir) {
			t.Error("what is included is not seen")
		}
	})
	t.Run("hook", func(t *testing.T) {
		dir := fresh(t)
		if err := os.MkdirAll(filepath.Join(dir, ".git", "hooks"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".git", "hooks", "post-index-change"), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if asked(dir) {
			t.Error("the hook that runs when the index is written is not seen")
		}
	})
	t.Run("hooks elsewhere", func(t *testing.T) {
		dir := fresh(t)
		git(dir, "config", "core.hooksPath", "h")
		if !asked(dir) {
			t.Error("an empty folder of hooks is not quiet")
		}
		if err := os.MkdirAll(filepath.Join(dir, "h", "post-index-change"), 0o755); err != nil {
			t.Fatal(err)
		}
		if asked(dir) {
			t.Error("a hook elsewhere is not seen")
		}
	})
	t.Run("other files", func(t *testing.T) {
		dir := fresh(t)
		git(dir, "config", "core.worktree", "/")
		if asked(dir) {
			t.Error("a repository of everything is quiet")
		}
	})
	t.Run("worktree and submodule", func(t *testing.T) {
		dir := fresh(t)
		git(dir, "worktree", "add", "-q", "../tree", "-b", "y")
		tree := filepath.Join(filepath.Dir(dir), "tree")
		if !asked(tree) {
			t.Error("a worktree is not quiet")
		}
		git(dir, "submodule", "--quiet", "add", tree, "module")
		module := filepath.Join(dir, "module")
		if !asked(dir) || !asked(module) {
			t.Error("a submodule is not quiet")
		}
		git(module, "config", "core.fsmonitor", "./x")
		for _, at := range []string{dir, module, filepath.Join(dir, "sub")} {
			if asked(at, dir) {
				t.Errorf("the settings of a submodule are not seen from %s", at)
			}
		}
	})
}
