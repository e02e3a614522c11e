// Package project is what is known of a workspace before the first word: where it is, its git facts, its
// instruction files, what lies in it. It reads files. The one program it starts is git, for Status, and in a box: a
// repository one has just cloned may say what git should run.
package project

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"interpreter/harness"
	"interpreter/sandbox"
)

// Options say where to look. Everything that depends on the machine or the person is handed in.
type Options struct {
	Dir       string         // working directory, absolute
	Home      string         // the agent's own home, for the global instruction file; "" for none
	Shell     string         // path or name of the shell that runs scripts
	TZ        string         // value of the variable, "" when unset
	Now       time.Time      // the clock at the start of the session
	Policy    sandbox.Policy // what commands may do
	NoDocs    bool           // leave the project's own instruction files out
	Markers   []string       // names that mark a project root; nil: ".git"
	Fallbacks []string       // instruction files read where there is no AGENTS.md; nil: "CLAUDE.md"
	DocBytes  int            // bound on project instructions; 0: 32 KiB
	Entries   int            // bound on the listing; 0: 20
}

// Known is what was found.
type Known struct {
	Env      harness.Environment // all but model, window, approval and what the front end knows
	Git      Git                 // zero when Dir is in no work tree
	Root     string              // project root, Dir when nothing marks one
	Warnings []string            // for the person
}

// Gather looks at a workspace once, for a whole session.
func Gather(ctx context.Context, o Options) (Known, error) {
	git, inside := FindGit(o.Dir)
	root := Root(o.Dir, o.Markers)
	docs, warnings := Docs(DocOptions{Dir: o.Dir, Root: root, Home: o.Home, Fallbacks: o.Fallbacks, MaxBytes: o.DocBytes, GlobalOnly: o.NoDocs})
	if err := ctx.Err(); err != nil {
		return Known{}, err
	}
	env := harness.Environment{
		Dir: o.Dir, OS: runtime.GOOS, OSVersion: osVersion(), Shell: shellName(o.Shell),
		Date: o.Now, Zone: Zone(o.TZ, o.Now), Git: inside, Branch: git.Branch,
		Listing: List(ctx, o.Dir, o.Entries), Docs: docs,
		Sandbox: string(o.Policy.Mode), Network: o.Policy.Network || o.Policy.Mode == sandbox.FullAccess, Roots: o.Policy.Roots,
	}
	return Known{Env: env, Git: git, Root: root, Warnings: warnings}, nil
}

func shellName(path string) string {
	name := filepath.Base(filepath.ToSlash(path))
	if path == "" {
		return ""
	}
	return strings.TrimSuffix(name[strings.LastIndexAny(name, `\/`)+1:], ".exe")
}
