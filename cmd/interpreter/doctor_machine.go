package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/term"

	"interpreter/cmd/config"
	"interpreter/local"
	"interpreter/probes"
	"interpreter/sandbox"
)

// inPlace is an error of the configuration as file:line, the way editors take it.
func inPlace(err error) string {
	var at *config.Error
	if !errors.As(err, &at) || at.Path == "" || at.Line == 0 {
		return err.Error()
	}
	place := fmt.Sprintf("%s:%d", at.Path, at.Line)
	if at.Column > 0 {
		place += fmt.Sprintf(":%d", at.Column)
	}
	if at.Key != "" {
		place += ": " + at.Key
	}
	return place + ": " + at.Problem
}

// findConfig says which files count, and what in them does not do what its writer meant.
func (s *settings) findConfig() []finding {
	var files, idle []string
	var found []finding
	for _, layer := range s.Layers {
		switch {
		case layer.Path != "" && layer.Enabled:
			files = append(files, layer.Path)
		case layer.Name == "project":
			found = append(found, warn("config", "decide about the folder with trust_level in [projects] of config.toml", "%s is left out: %s", layer.Path, layer.Reason))
		}
		idle = append(idle, layer.Inert...)
	}
	text := "no file: the defaults hold"
	if len(files) > 0 {
		text = strings.Join(files, ", ")
	}
	if len(idle) > 0 {
		text += "; known, but without effect in this version: " + strings.Join(idle, ", ")
	}
	found = append([]finding{ok("config", "%s", text)}, found...)
	for _, text := range s.warnings {
		found = append(found, warn("config", "mend it, or take it out; --strict-config makes it an error", "%s", text))
	}
	return found
}

// setMode is the sandbox of settings that were not read from the usual files.
func (s *settings) setMode(mode string) { s.mode = sandbox.Mode(mode) }

// findHome looks whether the home folder can be written, or made.
func findHome(home string) []finding {
	info, err := os.Stat(home)
	switch {
	case err == nil && !info.IsDir():
		return []finding{fail("home", "move the file away, or set INTERPRETER_HOME", "%s is a file, not a folder", home)}
	case err == nil:
		if err := writable(home); err != nil {
			return []finding{fail("home", "give yourself the right to write there, or set INTERPRETER_HOME", "%s cannot be written: %v; sessions and verdicts are lost", home, err)}
		}
		if path := writableByOthers(home); path != "" {
			return []finding{warn("home", "chmod -R go-w "+home, "other accounts may change %s, and with it what the agent may do", path)}
		}
		return []finding{ok("home", "%s", home)}
	case !errors.Is(err, os.ErrNotExist):
		return []finding{fail("home", "set INTERPRETER_HOME to a folder that can be read", "%v", err)}
	}
	above := filepath.Dir(home)
	for ; above != filepath.Dir(above); above = filepath.Dir(above) {
		if _, err := os.Stat(above); err == nil {
			break
		}
	}
	if err := writable(above); err != nil {
		return []finding{fail("home", "set INTERPRETER_HOME to a folder that can be written", "%s cannot be made: %v", home, err)}
	}
	return []finding{ok("home", "%s, made by the first run", home)}
}

// writableByOthers is the home folder or its settings, whichever other accounts of this machine may change, "" when neither:
// who writes there decides what the agent may do.
func writableByOthers(home string) string {
	for _, path := range []string{home, config.UserPath(home), filepath.Join(home, rulesFolder)} {
		if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
			return path
		}
	}
	return "" // on Windows rights are not in the mode
}

// findGit asks git for its version.
func findGit(ctx context.Context) []finding {
	const remedy = "install git with the package manager of this system"
	path, err := exec.LookPath("git")
	if err != nil {
		return []finding{warn("git", remedy, "not installed: work goes on, without diffs to review it by")}
	}
	c := exec.CommandContext(ctx, path, "--version")
	c.WaitDelay = time.Second
	out, err := c.Output()
	if err != nil {
		return []finding{warn("git", remedy+" anew", "%s does not work: %v", path, err)}
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(string(out), "git version "), "\n")
	return []finding{ok("git", "%s", text)}
}

// findSandbox runs a command within the limits of a run, with nothing that would last.
func (s *settings) findSandbox(ctx context.Context, w world, f *flags) []finding {
	policy, err := s.policy(w, f)
	if err != nil {
		return []finding{fail("sandbox", remedyOf(err), "%v", err)}
	}
	policy.Caches = nil // their layers would be made for it
	if !there(policy.Home) {
		policy.Home = "" // and so would the home folder
	}
	var found []finding
	for _, text := range s.warnings {
		found = append(found, warn("sandbox", "interpreter help sandbox", "%s", text))
	}
	box, err := sandbox.New(policy)
	if err != nil {
		return append(found, refused(err))
	}
	if box.Policy().Mode == sandbox.FullAccess {
		flag := "--sandbox"
		if f.confinement.yolo {
			flag = "--yolo"
		}
		who := cmp.Or(s.Said(flag, "sandbox_mode"), "by --yolo")
		return append(found, warn("sandbox", "-s workspace-write, or sandbox_mode = \"workspace-write\" in config.toml", "danger-full-access, said %s: commands are not confined", who))
	}
	program := "true"
	if runtime.GOOS == "windows" {
		program = "hostname"
	}
	p, err := box.Start(ctx, sandbox.Command{Argv: []string{program}, Env: s.childEnvironment(w), Timeout: doctorFor})
	if err != nil {
		return append(found, refused(err))
	}
	<-p.Done()
	if code := p.Exit().Code; code != 0 {
		return append(found, fail("sandbox", "interpreter sandbox -- true, which shows more; interpreter help sandbox", "%s, by %s: the command true ends with exit code %d in it", policy.Mode, box.Backend(), code))
	}
	text := fmt.Sprintf("%s, by %s: a confined command ran", policy.Mode, box.Backend())
	if box.Backend() == "landlock" && policy.Force == "" {
		return append(found, warn("sandbox", "interpreter help sandbox", "%s; the stronger ones do not work here: %s", text, whyNot(policy)))
	}
	return append(found, ok("sandbox", "%s", text))
}

func refused(err error) finding {
	var r *sandbox.RefusedError
	if errors.As(err, &r) {
		return fail("sandbox", r.Remedy, "%v", err)
	}
	return fail("sandbox", orElse(remedyOf(err), "interpreter help sandbox"), "%v", err)
}

// whyNot is the reason of the strongest back end for not working.
func whyNot(p sandbox.Policy) string {
	p.Force = "namespace"
	var r *sandbox.RefusedError
	if _, err := sandbox.New(p); errors.As(err, &r) && len(r.Tried) > 0 {
		return r.Tried[0].String()
	}
	return "no reason is known"
}

// The shares and sizes from which memory and disks are worth a word.
const (
	fewShare = 10            // available memory below a tenth
	fewDisk  = 2_000_000_000 // bytes, where sessions and logs go
	fewModel = 20_000_000_000
	someSwap = 1 << 30

	homeDisk = "home" // what the disk of the home folder is for
)

// findMachine is memory, GPUs and disks.
func findMachine(m probes.Machine) []finding {
	var found []finding
	text := fmt.Sprintf("%s, %s available", local.Bytes(m.RAM.Total), local.Bytes(m.RAM.Available))
	if m.RAM.Physical > m.RAM.Total && m.RAM.Total > 0 {
		text += fmt.Sprintf("; %s are built in, the rest is withheld by %s", local.Bytes(m.RAM.Physical), cmp.Or(m.RAM.Source, "a limit"))
	}
	used := m.RAM.SwapTotal - m.RAM.SwapFree
	if m.RAM.SwapTotal > 0 {
		text += fmt.Sprintf("; %s of %s swap in use", local.Bytes(used), local.Bytes(m.RAM.SwapTotal))
	}
	const roomier = "end what needs much memory; a model that is swapped out crawls"
	switch {
	case m.RAM.Total == 0:
		found = append(found, warn("memory", "name the window with -c model_context_window=N", "its size cannot be told, so nothing is fitted to it"))
	case m.RAM.Available*fewShare < m.RAM.Total:
		found = append(found, warn("memory", roomier, "%s: little is left", text))
	case used > someSwap && used*2 > m.RAM.SwapTotal:
		found = append(found, warn("memory", roomier, "%s: the machine is short of memory", text))
	default:
		found = append(found, ok("memory", "%s", text))
	}
	for _, g := range m.GPUs {
		found = append(found, ok("gpu", "%s", tellGPU(g)))
	}
	if len(m.GPUs) == 0 {
		found = append(found, ok("gpu", "none found; models run on the processor (%s)", counted(m.Cores, "processor")))
	}
	for _, d := range m.Disks {
		least, what := int64(fewModel), d.What+" models"
		if d.What == homeDisk {
			least, what = fewDisk, "sessions and logs"
		}
		text := fmt.Sprintf("%s free of %s for %s, at %s", gb(d.Free), gb(d.Total), what, d.Path)
		if d.Free < least {
			found = append(found, warn("disk", "make room, or keep them elsewhere", "only %s", text))
			continue
		}
		found = append(found, ok("disk", "%s", text))
	}
	for _, n := range m.Notes {
		found = append(found, ok("probe", "%s: %s", n.Source, n.Text))
	}
	return found
}

// findEnvironment names the variables that change what a run does.
func (w world) findEnvironment() []finding {
	var found []finding
	if at := strings.TrimSpace(w.env("OLLAMA_HOST")); at != "" {
		if everywhere(at) {
			found = append(found, warn("environment", "OLLAMA_HOST=127.0.0.1, unless others are to use it",
				"OLLAMA_HOST=%s: a server started with it answers everybody in the network; it is asked at this machine's own address", unlocked(at)))
		} else {
			found = append(found, ok("environment", "OLLAMA_HOST=%s: where ollama is looked for", unlocked(at)))
		}
	}
	for _, name := range []string{"CODEX_OSS_BASE_URL", "CODEX_OSS_PORT"} {
		if at := w.env(name); at != "" {
			found = append(found, ok("environment", "%s=%s: moves the local server of a run, before config.toml", name, unlocked(at)))
		}
	}
	if at := w.env("OLLAMA_MODELS"); at != "" {
		found = append(found, ok("environment", "OLLAMA_MODELS=%s: where a server that is started here keeps models", at))
	}
	for _, name := range []string{"OLLAMA_CONTEXT_LENGTH", "OLLAMA_KV_CACHE_TYPE", "OLLAMA_NUM_PARALLEL"} {
		if value := w.env(name); value != "" {
			found = append(found, ok("environment", "%s=%s: counts only for a server started from here; interpreter serve chooses its own", name, value))
		}
	}
	if at := w.env(config.HomeVariable); at != "" {
		found = append(found, ok("environment", "%s=%s: the home folder", config.HomeVariable, at))
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		if cmp.Or(w.env(name), w.env(strings.ToLower(name))) != "" {
			found = append(found, ok("environment", "%s is set: model servers are asked directly all the same", name))
		}
	}
	if w.env("LM_API_TOKEN") != "" {
		found = append(found, ok("environment", "LM_API_TOKEN is set: sent to LM Studio"))
	}
	if len(found) == 0 {
		found = append(found, ok("environment", "no variable changes what a run does"))
	}
	return found
}

// unlocked is an address without what opens a gate: a name with a password, and a query. What doctor says is passed on.
func unlocked(at string) string {
	at, _, hidden := strings.Cut(at, "?")
	if hidden {
		at += "?…"
	}
	scheme, rest, found := strings.Cut(at, "://")
	if !found {
		scheme, rest = "", at
	} else {
		scheme += "://"
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = "…" + rest[i:]
	}
	return scheme + rest
}

// everywhere reports an address that a server binds to all interfaces with.
func everywhere(at string) bool {
	at = strings.Trim(at, `"' `)
	if _, rest, ok := strings.Cut(at, "://"); ok {
		at = rest
	}
	host, _, err := net.SplitHostPort(at)
	if err != nil {
		host = strings.Trim(at, "[]")
	}
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

// findTerminal is what can be shown.
func (w world) findTerminal() finding {
	kind := cmp.Or(w.env("TERM"), "not set")
	if !w.stdoutTerminal {
		return ok("terminal", "standard output is no terminal; TERM is %s", kind)
	}
	colours := "16 colours"
	switch {
	case w.env("NO_COLOR") != "":
		colours = "no colours, since NO_COLOR is set"
	case w.env("COLORTERM") == "truecolor" || w.env("COLORTERM") == "24bit":
		colours = "all colours"
	case strings.Contains(kind, "256color"):
		colours = "256 colours"
	}
	columns, rows, err := term.GetSize(int(os.Stdout.Fd()))
	size := "a size that is not known"
	known := err == nil && columns > 0
	if known {
		size = fmt.Sprintf("%d × %d", columns, rows)
	}
	switch {
	case runtime.GOOS != "windows" && (kind == "not set" || kind == "dumb"):
		return warn("terminal", "export TERM=xterm-256color, if it can do that", "TERM is %s: neither colours nor a screen", kind)
	case known && columns < 60:
		return warn("terminal", "make the window wider", "%s, %s, %s: narrow", kind, colours, size)
	}
	return ok("terminal", "%s, %s, %s", kind, colours, size)
}

// findLocale is whether other characters than ASCII arrive.
func (w world) findLocale() finding {
	if runtime.GOOS == "windows" {
		return ok("locale", "the console's")
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		value := w.env(name)
		if value == "" {
			continue
		}
		if encoding := strings.ReplaceAll(strings.ToLower(value), "-", ""); strings.Contains(encoding, "utf8") {
			return ok("locale", "%s=%s", name, value)
		}
		return warn("locale", "export "+name+"=C.UTF-8", "%s=%s is no UTF-8: other programs may garble what is not English", name, value)
	}
	if runtime.GOOS == "darwin" {
		return ok("locale", "the system's")
	}
	return warn("locale", "export LANG=C.UTF-8", "neither LC_ALL nor LANG is set: other programs may garble what is not English")
}
