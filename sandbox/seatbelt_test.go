package sandbox

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateGoldens = flag.Bool("update", false, "rewrite the golden files")

const (
	me   = "/Users/me"
	ws   = "/Users/me/ws"
	home = "/Users/me/.openinterpreter"
)

// drawn is a policy drawn by hand, as it is on a Mac: nothing here looks at the disk.
type drawn struct {
	name     string
	policy   Policy
	guards   guards
	single   []string
	own      []string
	terminal string
	yes, no  []string // "op path", with write for file-write-data and make for file-write-create
}

func missing(root string, but ...string) []string {
	var found []string
	for _, name := range protectedNames {
		if !slices.Contains(but, name) {
			found = append(found, root+"/"+name)
		}
	}
	return found
}

var keys = []string{home + "/auth.json", home + "/.env"}

var drawings = []drawn{
	{
		name:   "read-only",
		policy: Policy{Mode: ReadOnly, Dir: ws, Home: home, Hidden: keys},
		own:    []string{home + "/scratch-1"},
		yes:    []string{"read /etc/passwd", "read " + ws + "/a", "write " + home + "/scratch-1/x", "make " + home + "/scratch-1/d/e"},
		no: []string{"write " + ws + "/a", "write /private/tmp/a", "write " + home + "/scratch-2/x", "write " + home + "/config.toml",
			"unlink " + home + "/scratch-1", "read " + home + "/auth.json", "read " + home + "/.env", "write " + home + "/auth.json", "write /dev/disk0"},
	},
	{
		name: "workspace-write",
		policy: Policy{Mode: WorkspaceWrite, Dir: ws, Home: home, Hidden: keys,
			Roots: []string{"/private/tmp", "/private/var/folders/ab/cd/T", ws}},
		guards: guards{readOnly: []string{ws + "/.git"},
			missing: slices.Concat(missing("/private/tmp"), missing("/private/var/folders/ab/cd/T"), missing(ws, ".git"))},
		own: []string{home + "/build-cache/ws-1/gocache/upper"},
		yes: []string{"write " + ws + "/a", "make " + ws + "/d", "unlink " + ws + "/a", "write /private/tmp/a", "write /private/var/folders/ab/cd/T/x",
			"write " + ws + "/.gitignore", "make " + ws + "/.github", "make " + ws + "/x.git", "make " + ws + "/sub/.git", "write " + home + "/build-cache/ws-1/gocache/upper/00/x",
			"make " + ws + "/agents", "make " + ws + "/xagents", "mode " + ws + "/a"},
		no: []string{"write " + me + "/.bashrc", "write " + ws + "/.git/config", "write " + ws + "/.GIT/x", "make " + ws + "/.Git", "write " + ws + "/.git",
			"unlink " + ws + "/.git", "mode " + ws + "/.git", "make " + ws + "/.git/hooks/x", "make " + ws + "/.codex", "make " + ws + "/.CODEX", "make " + ws + "/.codex/config.toml",
			"make " + ws + "/.agents", "make " + ws + "/.openinterpreter", "make " + ws + "/.OpenInterpreter/x", "make /private/tmp/.git", "unlink " + ws, "make " + ws,
			"unlink /private/tmp", "write " + me + "/ws-evil/x", "write " + me + "/wsx", "write " + home + "/config.toml", "write " + home + "/build-cache/ws-1/gocache/lock",
			"unlink " + home + "/build-cache/ws-1/gocache/upper", "read " + home + "/auth.json", "clone " + home + "/auth.json", "link " + me + "/.bashrc", "link " + ws + "/b", "write /private/var/db/x"},
	},
	{
		name:   "network",
		policy: Policy{Mode: WorkspaceWrite, Dir: ws, Home: home, Network: true, Roots: []string{ws}},
		guards: guards{missing: missing(ws)},
		yes:    []string{"write " + ws + "/a"},
		no:     []string{"make " + ws + "/.git"},
	},
	{
		name:   "extra root",
		policy: Policy{Mode: WorkspaceWrite, Dir: ws, Home: home, Roots: []string{ws, me + "/other/lib"}},
		guards: guards{readOnly: []string{me + "/other/lib/.git"}, missing: slices.Concat(missing(ws), missing(me+"/other/lib", ".git"))},
		yes:    []string{"write " + me + "/other/lib/x"},
		no:     []string{"write " + me + "/other/x", "unlink " + me + "/other/lib", "write " + me + "/other/lib/.git/HEAD", "make " + me + "/other/lib/.agents"},
	},
	{
		name:   "below another root",
		policy: Policy{Mode: WorkspaceWrite, Dir: "/private/tmp/a/b/ws", Home: home, Roots: []string{"/private/tmp", "/private/tmp/a/b/ws"}},
		guards: guards{readOnly: []string{"/private/tmp/a/b/ws/.git"}, missing: slices.Concat(missing("/private/tmp"), missing("/private/tmp/a"), missing("/private/tmp/a/b/ws", ".git"))},
		yes:    []string{"write /private/tmp/a/b/ws/x", "write /private/tmp/a/x", "unlink /private/tmp/c"},
		no: []string{"unlink /private/tmp/a", "unlink /private/tmp/a/b", "unlink /private/tmp/a/b/ws", "make /private/tmp/a", "write /private/tmp/a/b/ws/.git/HEAD", "write /private/tmp/a/b/ws/.GIT/HEAD",
			"make /private/tmp/a/.codex", "make /private/tmp/a/b/ws/.codex"},
	},
	{
		name:   "link",
		policy: Policy{Mode: WorkspaceWrite, Dir: ws, Home: home, Roots: []string{ws}},
		guards: guards{links: map[string]string{ws + "/.agents": "sub/deep/agents"}, readOnly: []string{ws + "/sub/deep/agents"}, missing: missing(ws, ".agents")},
		yes:    []string{"write " + ws + "/sub/x", "write " + ws + "/sub/deep/x"},
		no:     []string{"unlink " + ws + "/.agents", "make " + ws + "/.agents", "make " + ws + "/.AGENTS", "write " + ws + "/sub/deep/agents/x", "unlink " + ws + "/sub/deep", "unlink " + ws + "/sub"},
	},
	{
		name:   "worktree",
		policy: Policy{Mode: WorkspaceWrite, Dir: "/private/tmp/tree", Home: home, Roots: []string{"/private/tmp", "/private/tmp/tree"}},
		guards: guards{readOnly: []string{"/private/tmp/tree/.git", "/private/tmp/main/.git", "/private/tmp/main/.git/worktrees/tree"},
			missing: missing("/private/tmp/tree", ".git")},
		yes: []string{"write /private/tmp/tree/x", "write /private/tmp/main/x"},
		no:  []string{"write /private/tmp/tree/.git", "unlink /private/tmp/tree/.git", "write /private/tmp/main/.git/config", "write /private/tmp/main/.git/worktrees/tree/HEAD", "unlink /private/tmp/main"},
	},
	{
		name: "opened",
		policy: Policy{Mode: WorkspaceWrite, Dir: ws, Home: home, Hidden: keys, Network: true, Roots: []string{ws, ws + "/.git", me + "/out"},
			Allowed: []string{ws + "/.git", me + "/out", me + "/.bashrc"}},
		guards: guards{readOnly: []string{ws + "/.git/hooks", ws + "/.git/config"}, missing: missing(ws, ".git")},
		single: []string{me + "/.bashrc", ws + "/.codex/a"},
		yes:    []string{"write " + me + "/.bashrc", "write " + ws + "/.git/index", "write " + me + "/out/x", "write " + ws + "/.codex/a", "make " + ws + "/.codex/a.lock"},
		no:     []string{"write " + me + "/.zshrc", "write " + me + "/.bashrc/x", "write " + ws + "/.git/hooks/pre-commit", "write " + ws + "/.git/config", "unlink " + ws + "/.git", "write " + ws + "/.codex/b", "write " + home + "/auth.json"},
	},
	{
		name:   "home below a root",
		policy: Policy{Mode: WorkspaceWrite, Dir: me, Home: home, Hidden: keys, Roots: []string{me, home + "/worktrees/w"}},
		guards: guards{readOnly: []string{home, me + "/.ssh", me + "/.zshrc"}, missing: missing(me, ".openinterpreter")},
		own:    []string{home + "/build-cache/me-1/gocache/upper"},
		yes:    []string{"write " + me + "/x", "write " + home + "/worktrees/w/x", "write " + home + "/build-cache/me-1/gocache/upper/x"},
		no:     []string{"write " + home + "/config.toml", "write " + me + "/.ssh/config", "write " + me + "/.zshrc", "unlink " + home, "unlink " + home + "/worktrees", "unlink " + home + "/build-cache/me-1/gocache", "read " + home + "/auth.json"},
	},
	{
		name:   "whole disk",
		policy: Policy{Mode: WorkspaceWrite, Dir: "/", Home: home, Hidden: keys, Roots: []string{"/"}},
		guards: guards{readOnly: []string{home}, missing: missing("")},
		yes:    []string{"write /Library/x", "write " + me + "/x"},
		no:     []string{"write " + home + "/x", "make /.git", "make /.GIT/x", "unlink /Users", "unlink " + me, "read " + home + "/auth.json"},
	},
	{
		name:     "terminal",
		policy:   Policy{Mode: ReadOnly, Dir: ws, Home: home},
		terminal: "/dev/ttys007",
		yes:      []string{"write /dev/ttys007", "ioctl /dev/ttys007", "write /dev/tty", "read /dev/tty"},
		no:       []string{"write /dev/ttys008"},
	},
}

func (d drawn) compile() seatbelt {
	f := fenceOf(d.policy, &d.guards, d.single, d.own)
	f.terminal = d.terminal
	return f.compile()
}

// ops are short names for what is done to a file.
var ops = map[string]string{"read": "file-read-data", "write": "file-write-data", "make": "file-write-create", "unlink": "file-write-unlink",
	"mode": "file-write-mode", "link": "file-link", "clone": "file-clone", "ioctl": "file-ioctl"}

func (j judge) file(said string) bool {
	op, path, _ := strings.Cut(said, " ")
	return j.allows(wish{op: ops[op], path: path})
}

func TestSeatbelt(t *testing.T) {
	for _, d := range drawings {
		t.Run(strings.ReplaceAll(d.name, " ", "-"), func(t *testing.T) {
			s := d.compile()
			j := judgeOf(t, s)
			for _, said := range d.yes {
				if !j.file(said) {
					t.Errorf("refused: %s", said)
				}
			}
			for _, said := range d.no {
				if j.file(said) {
					t.Errorf("allowed: %s", said)
				}
			}
			j.always(d.policy.Network)
			rest, ok := strings.CutPrefix(s.text, seatbeltBase)
			if !ok {
				t.Fatal("the policy does not begin with its fixed part")
			}
			var b strings.Builder
			b.WriteString(rest + "\n; parameters\n")
			for _, p := range s.params {
				fmt.Fprintf(&b, "; %s = %q\n", p.name, p.value)
			}
			golden := filepath.Join("testdata", "seatbelt", strings.ReplaceAll(d.name, " ", "-")+".sbpl")
			if *updateGoldens {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := content(t, golden); want != b.String() {
				t.Errorf("%s differs; go test ./sandbox -run Seatbelt -update rewrites it. Now:\n%s", golden, b.String())
			}
		})
	}
}

// always is what holds in every policy.
func (j judge) always(network bool) {
	j.t.Helper()
	open := []wish{{op: "process-exec", path: "/bin/sh"}, {op: "process-fork"}, {op: "signal", same: true}, {op: "process-info-pidinfo", same: true},
		{op: "file-write-data", path: "/dev/null", kind: "CHARACTER-DEVICE"}, {op: "file-write-data", path: "/dev/fd/2"}, {op: "sysctl-read", name: "hw.ncpu"},
		{op: "sysctl-read", name: "kern.osrelease"}, {op: "ipc-posix-sem", name: "/mp-1"}, {op: "mach-lookup", name: "com.apple.system.opendirectoryd.libinfo"},
		{op: "pseudo-tty"}, {op: "file-ioctl", path: "/dev/ptmx"}, {op: "file-write-data", path: "/dev/ttys044", mark: "com.apple.sandbox.pty"},
		{op: "iokit-open", name: "RootDomainUserClient"}, {op: "ipc-posix-shm-write-create", name: "/__KMP_REGISTERED_LIB_77"}}
	shut := []wish{{op: "signal"}, {op: "process-info-pidinfo"}, {op: "file-write-data", path: "/dev/null"}, {op: "file-write-data", path: "/dev/ttys044"},
		{op: "sysctl-read", name: "kern.procargs2"}, {op: "sysctl-write", name: "kern.hostname"}, {op: "ipc-posix-shm-write-create", name: "/x"},
		{op: "mach-lookup", name: "com.apple.pasteboard.1"}, {op: "mach-lookup", name: "com.apple.coreservices.launchservicesd"},
		{op: "mach-lookup", name: "com.apple.coreservices.appleevents"}, {op: "mach-lookup", name: "com.apple.tccd"}, {op: "mach-register", name: "com.apple.x"},
		{op: "appleevent-send"}, {op: "lsopen"}, {op: "job-creation"}, {op: "user-preference-write"}, {op: "mach-priv-task-port"}, {op: "file-mount", path: "/x"},
		{op: "network-outbound", path: "/private/tmp/tmux-501/default"}, {op: "network-outbound", path: "/private/var/run/docker.sock"}, {op: "network-bind", path: ws + "/s"},
		{op: "iokit-open", name: "IOUSBDeviceUserClientV2"}, {op: "nvram-set"}, {op: "system-socket", name: "AF_INET"}}
	net := []wish{{op: "network-outbound", address: "ip"}, {op: "network-inbound", address: "ip"}, {op: "network-bind", address: "ip"},
		{op: "network-outbound", path: "/private/var/run/mDNSResponder"}, {op: "mach-lookup", name: "com.apple.trustd.agent"}, {op: "system-socket", name: "AF_SYSTEM"}}
	if network {
		open = append(open, net...)
	} else {
		shut = append(shut, net...)
	}
	for _, w := range open {
		if !j.allows(w) {
			j.t.Errorf("refused: %+v", w)
		}
	}
	for _, w := range shut {
		if j.allows(w) {
			j.t.Errorf("allowed: %+v", w)
		}
	}
}

func TestSeatbeltArgv(t *testing.T) {
	s := seatbelt{"(policy)", []seatbeltParam{{"ROOT_0", "/a b=c"}}}
	want := []string{"/usr/bin/sandbox-exec", "-p", "(policy)", "-DROOT_0=/a b=c", "--", "/bin/echo", "-D", "x"}
	if got := s.argv([]string{"/bin/echo", "-D", "x"}); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestForms(t *testing.T) {
	for path, want := range map[string][]string{
		"/tmp": {"/private/tmp", "/tmp"}, "/private/tmp/x": {"/private/tmp/x", "/tmp/x"}, "/var/folders": {"/private/var/folders", "/var/folders"},
		"/private/etc": {"/private/etc", "/etc"}, "/tmpx": {"/tmpx"}, "/private/tmpx": {"/private/tmpx"}, "/Users/me": {"/Users/me"}, "/": {"/"},
	} {
		if got := forms(path); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestSpelled(t *testing.T) {
	f := fenceOf(Policy{Mode: WorkspaceWrite, Dir: "/users/ME/WS", Home: "/users/me/home", Hidden: []string{"/users/me/home/k"}, Roots: []string{"/users/ME/WS"}},
		&guards{missing: missing("/users/ME/WS")}, nil, []string{"/users/me/home/s"}).spelled(func(path string) string {
		return strings.NewReplacer("/users", "/Users", "ME", "me", "WS", "ws", "home", "Home").Replace(path)
	})
	j := judgeOf(t, f.compile())
	for said, want := range map[string]bool{"write /Users/me/ws/a": true, "make /Users/me/ws/.gIt": false, "unlink /Users/me/ws": false, "read /Users/me/Home/k": false,
		"write /Users/me/Home/s/x": true, "write /users/ME/WS/a": false} {
		if got := j.file(said); got != want {
			t.Errorf("%s: %v, want %v", said, got, want)
		}
	}
}

// However a folder is called, the text of its policy is the same, and so is what it says of that folder.
func FuzzSeatbelt(f *testing.F) {
	for _, name := range []string{"plain", `q"uote`, "par(en)t)hes(", "naïve 日本", "new\nline", `back\slash`, "^$.*+?[]{}|", "-D=x", ";", "#", "\xff\xfe", "; (allow default)", `") (allow default) ("`, "$(id)", "%s%d%n"} {
		f.Add(name)
	}
	draw := func(name string) seatbelt {
		root := me + "/" + name + "/ws"
		return drawn{policy: Policy{Mode: WorkspaceWrite, Dir: root, Home: home, Hidden: []string{home + "/keys/" + name}, Roots: []string{root}},
			guards: guards{readOnly: []string{root + "/.git"}, missing: append(missing(root, ".git"), root+"/"+name)}, own: []string{home + "/cache/" + name}}.compile()
	}
	plain := draw("plain")
	f.Fuzz(func(t *testing.T, name string) {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || strings.EqualFold(name, "a") || slices.ContainsFunc(protectedNames, func(n string) bool { return strings.EqualFold(n, name) }) {
			t.Skip()
		}
		s := draw(name)
		if s.text != plain.text {
			t.Fatalf("the name %q is in the policy:\n%s", name, s.text)
		}
		j := judgeOf(t, s)
		root := me + "/" + name + "/ws"
		for said, want := range map[string]bool{
			"write " + root + "/a": true, "write " + root + "/a/" + name: true, "write " + home + "/cache/" + name + "/x": true, "write " + root + "x/a": false,
			"write " + me + "/" + name + "/a": false, "write " + root + "/.git/" + name: false, "make " + root + "/.GiT": false, "make " + root + "/.codex\n": true,
			"make " + root + "/.Codex/" + name: false, "make " + root + "/" + name: false, "make " + root + "/" + name + "/x": false, "make " + root + "/" + swapCase(name): false,
			"unlink " + root: false, "read " + home + "/keys/" + name: false, "write " + me + "/x/ws/a": name == "x",
		} {
			if got := j.file(said); got != want {
				t.Errorf("%q: %v, want %v", said, got, want)
			}
		}
	})
}

// swapCase turns letters of ASCII around.
func swapCase(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			b[i] = c ^ 32
		}
	}
	return string(b)
}
