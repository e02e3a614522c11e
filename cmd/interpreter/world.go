package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"

	"golang.org/x/term"

	"interpreter/cmd/config"
	"interpreter/local"
	"interpreter/probes"
)

// world is everything outside the program that a command may look at.
type world struct {
	stdin        *os.File
	stdout       io.Writer
	stderr       io.Writer
	argv0        string
	env          func(string) string
	environ      []string
	loaders      []string // variables of the loader, which were taken from our own environment: a server may need them
	systemConfig string
	bar          func(folders ...string) // told the folders that commands may write: we take no programs from there. May be nil

	stdinTerminal, stdoutTerminal, stderrTerminal bool

	patience local.Patience // with a model server; the zero value is a person's
	lmstudio string         // where that server is when nobody says otherwise; "": its usual port

	probe func(context.Context, probes.Ask) probes.Machine // nil: probes.ProbeAll
}

func thisWorld() world {
	return world{
		argv0: os.Args[0], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		env: os.Getenv, environ: os.Environ(), systemConfig: config.SystemPath,
		bar:            programsElsewhere,
		stdinTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		stdoutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		stderrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
}

// folders are the places a run works with, real and absolute.
type folders struct {
	home string // the agent's own, may not exist yet
	user string // the person's home folder
	cwd  string // where the program was started
	dir  string // working root: cwd, or --cd
}

// userHome is the person's home folder: HOME, or what the system has on file where that is not set or names no one
// place. "" when nobody knows.
func (w world) userHome() string {
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		return home
	}
	if who, err := user.Current(); err == nil && filepath.IsAbs(who.HomeDir) {
		return who.HomeDir
	}
	return ""
}

// folders finds them; cd is the value of --cd.
func (w world) folders(cd string) (folders, error) {
	user := w.userHome()
	home, err := config.Home(w.env, user)
	if err != nil {
		return folders{}, try(err, "set HOME, or INTERPRETER_HOME to a folder that exists (mkdir -p makes one)")
	}
	if user == "" {
		user = string(filepath.Separator)
	}
	cwd, err := os.Getwd()
	if err != nil {
		return folders{}, try(err, "run it from a folder that exists")
	}
	dir := cwd
	if cd != "" {
		dir, err = filepath.Abs(cd)
		if err != nil {
			return folders{}, err
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("work in %s: there is no such folder", dir)
	}
	if err != nil {
		return folders{}, try(err, "name a folder that exists with --cd DIR")
	}
	info, err := os.Stat(real)
	if err != nil {
		return folders{}, err
	}
	if !info.IsDir() {
		return folders{}, try(fmt.Errorf("work in %s: it is a file", dir), "name a folder with --cd, not a file")
	}
	return folders{home: home, user: user, cwd: cwd, dir: real}, nil
}
