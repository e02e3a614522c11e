package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"interpreter/sandbox/helper"
)

// box confines with the confining program.
type box struct {
	policy   Policy
	kind     string
	prog     program
	identity map[string][2]uint64 // device and inode of each root when the session began

	mu     sync.Mutex
	nested nested
}

// New finds the strongest back end that works here, by the complete set-up with nothing to start, once. Without one
// nothing can be run and the error, a *RefusedError, says why and what to do.
func New(p Policy) (Box, error) {
	progs, err := programs()
	if err != nil {
		if p.Mode == FullAccess {
			return &bare{p}, nil
		}
		return nil, &RefusedError{p.Mode, []Attempt{{Backend: "any", Err: err}}, "build with make build, which builds the confining program in"}
	}
	b := &box{policy: p, kind: helper.Watch, identity: map[string][2]uint64{}}
	for _, root := range p.Roots {
		info, err := os.Stat(root)
		if err != nil {
			return nil, fmt.Errorf("open the writable folder %s: %w", root, plain(err))
		}
		st := info.Sys().(*syscall.Stat_t)
		b.identity[root] = [2]uint64{uint64(st.Dev), st.Ino}
	}
	candidates := []string{helper.Watch}
	if p.Mode != FullAccess {
		candidates = []string{helper.Namespaces, helper.Inner}
		if p.Mode == ReadOnly {
			candidates = append(candidates, helper.Landlock)
		}
		if p.Force != "" {
			candidates = []string{p.Force}
		}
	}
	refused := &RefusedError{Mode: p.Mode, Remedy: remedy}
	for _, kind := range candidates {
		attempt := b.try(kind, progs)
		if attempt == nil {
			return b, nil
		}
		refused.Tried = append(refused.Tried, *attempt)
	}
	if p.Mode == FullAccess {
		return &bare{p}, nil
	}
	return nil, refused
}

const remedy = "change what the reasons name, or run this on a machine of its own with the mode danger-full-access, which confines nothing"

// try settles on a back end if it works with one of the programs.
func (b *box) try(kind string, progs []program) *Attempt {
	if kind == helper.Landlock && b.policy.Mode == WorkspaceWrite && len(protections(b.policy).readOnly) > 0 {
		return &Attempt{kind, "", errors.New("it cannot protect " + protections(b.policy).readOnly[0]), "read-only places below a writable folder need mounts"}
	}
	var last error
	for _, prog := range progs {
		b.kind, b.prog = kind, prog
		plan, _, unlock := b.plan(Command{Argv: []string{"true"}, Dir: b.policy.Dir})
		last = probe(prog, plan)
		unlock()
		if last == nil {
			return nil
		}
	}
	a := &Attempt{Backend: kind, Err: last, Cause: cause(kind, last)}
	var se *stepError
	if errors.As(last, &se) {
		a.What, a.Err = se.what, se.err
	}
	return a
}

func (b *box) Policy() Policy  { return b.policy }
func (b *box) Backend() string { return b.kind }

func (b *box) Start(ctx context.Context, c Command) (Process, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("start a command: no command given")
	}
	dir := c.Dir
	if dir == "" {
		dir = b.policy.Dir
	}
	real, err := realDir(b.policy.abs(dir))
	if err != nil {
		return nil, fmt.Errorf("start %s: the working directory %s: %w", c.Argv[0], dir, err)
	}
	c.Dir = real
	path, err := lookPath(c.Argv[0], c.Env, c.Dir)
	if err != nil {
		return nil, err
	}
	plan, guard, unlock := b.plan(c)
	plan.Path = path
	var after func() []string
	if guard != nil {
		after = func() []string { return guard.undo(b.policy.Home) }
	}
	p, err := begin(ctx, c, func(files []*os.File) (running, error) {
		run, err := launch(ctx, b.prog, plan, append(files[:3:3], c.Extra...), unlock)
		if err != nil {
			return nil, err
		}
		return run, nil
	}, after)
	if err != nil {
		unlock()
		var se *stepError
		if errors.As(err, &se) {
			if errors.Is(err, helper.ErrMoved) || se.err.Error() == helper.ErrMoved.Error() {
				return nil, fmt.Errorf("start %s: %s: %w", c.Argv[0], se.what, helper.ErrMoved)
			}
			return nil, fmt.Errorf("start %s: %w", c.Argv[0], &RefusedError{b.policy.Mode, []Attempt{{plan.Kind, se.what, se.err, cause(plan.Kind, se.err)}}, remedy})
		}
	}
	return p, err
}

// plan compiles the policy for one command as the disk is now. The guards are nil when nothing is confined. The last
// result gives back what the plan holds on to.
func (b *box) plan(c Command) (helper.Plan, *guards, func()) {
	p := b.policy
	plan := helper.Plan{Version: helper.Version, Kind: b.kind, Argv: c.Argv, Dir: c.Dir, TTY: c.TTY}
	if c.Outside || b.kind == helper.Watch {
		plan.Kind, plan.Network, plan.Env = helper.Watch, true, withMarkers(c.Env)
		return plan, nil, func() {}
	}
	plan.Network, plan.Processes, plan.Scratch = p.Network, 4096, 1<<30
	set := []string{"INTERPRETER_SANDBOX=" + b.kind}
	if !p.Network {
		set = append(set, "INTERPRETER_SANDBOX_NETWORK_DISABLED=1", "CODEX_SANDBOX_NETWORK_DISABLED=1")
	}
	guard := b.guard()
	plan.ReadOnly, plan.Hidden = guard.readOnly, p.Hidden
	if p.Network {
		plan.Hidden = append(slices.Clone(plan.Hidden), sockets(p.Environ)...)
	}
	for _, root := range p.Roots {
		plan.WholeDisk = plan.WholeDisk || root == "/"
		id := b.identity[root]
		plan.Writable = append(plan.Writable, helper.Place{Path: root, Dev: id[0], Ino: id[1], Needed: root == p.Dir})
	}
	for _, pin := range guard.pins {
		plan.Writable = append(plan.Writable, helper.Place{Path: pin})
	}
	l := layering{box: b, plan: &plan}
	l.scratch()
	l.caches()
	plan.Unmodified = p.Mode == ReadOnly
	if p.Mode == ReadOnly && slices.ContainsFunc(plan.Layers, func(l helper.Layer) bool { return within(p.Dir, l.Target) }) {
		plan.Shown = []string{p.Dir}
	}
	plan.Env = withMarkers(c.Env, append(set, l.env...)...)
	return plan, guard, l.unlock
}

// guard looks at the disk for what must be protected now.
func (b *box) guard() *guards {
	g := protections(b.policy)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, root := range b.policy.Roots {
		if !temporary(b.policy, root) && b.policy.Mode == WorkspaceWrite {
			b.nested.guard(g, root, b.policy.Roots)
		}
	}
	for _, outer := range b.policy.Roots {
		for _, inner := range b.policy.Roots {
			g.pins = append(g.pins, between(outer, inner)...)
		}
	}
	g.apart()
	return g
}

// temporary reports whether a root is there for scratch and holds nobody's repositories.
func temporary(p Policy, root string) bool {
	return root != p.Dir && (root == p.TMPDIR || isSlashTmp(root))
}

// layering adds scratch space and caches to a plan.
type layering struct {
	box     *box
	plan    *helper.Plan
	env     []string
	fresh   string // folder for scratch where nothing can be mounted
	unlocks []func()
}

func (l *layering) unlock() {
	for _, f := range l.unlocks {
		f()
	}
	l.unlocks = nil
}

// scratch gives the command temporary folders of its own where the real ones may not be written.
func (l *layering) scratch() {
	p := l.box.policy
	if l.box.kind == helper.Landlock {
		l.folder()
		return
	}
	tmp, err := realDir("/tmp")
	if err != nil {
		return
	}
	for _, dir := range []string{tmp, p.TMPDIR} {
		if dir == "" || p.rootOf(dir) != "" || slices.ContainsFunc(l.plan.Layers, func(o helper.Layer) bool { return within(dir, o.Target) }) {
			continue
		}
		if _, err := os.Stat(dir); err == nil {
			l.plan.Layers = append(l.plan.Layers, helper.Layer{Target: dir})
		}
	}
}

// folder is scratch space where nothing can be mounted: a fresh folder that goes when the command has ended.
func (l *layering) folder() {
	p := l.box.policy
	if p.Mode == WorkspaceWrite && (p.rootOf("/tmp") != "" || p.TMPDIR != "" && p.rootOf(p.TMPDIR) != "") {
		return
	}
	if p.Home != "" && os.MkdirAll(p.Home, 0o700) != nil {
		return
	}
	dir, err := os.MkdirTemp(p.Home, "scratch-")
	if err != nil {
		return
	}
	l.fresh = dir
	l.unlocks = append(l.unlocks, func() { _ = os.RemoveAll(dir) })
	l.plan.Writable = append(l.plan.Writable, helper.Place{Path: dir})
	l.env = append(l.env, "TMPDIR="+dir)
}

// caches shows the person's caches through layers, or names empty ones by variables where there is nothing to show.
func (l *layering) caches() {
	mounts := l.box.kind == helper.Namespaces
	for _, c := range l.box.policy.Caches {
		info, err := os.Stat(c.Lower)
		switch {
		case err == nil && info.IsDir() && mounts:
			if !slices.ContainsFunc(l.plan.Layers, func(o helper.Layer) bool { return within(c.Lower, o.Target) }) {
				l.plan.Layers = append(l.plan.Layers, l.layer(c))
			}
		case c.Env == "":
		case c.Upper != "" && os.MkdirAll(filepath.Join(c.Upper, "upper"), 0o700) == nil:
			dir := filepath.Join(c.Upper, "upper")
			l.plan.Writable = append(l.plan.Writable, helper.Place{Path: dir})
			l.env = append(l.env, c.Env+"="+dir)
		case l.box.kind != helper.Landlock:
			l.env = append(l.env, c.Env+"=/dev/shm/cache/"+layerName(c.Env, c.Lower))
		case l.fresh != "":
			l.env = append(l.env, c.Env+"="+filepath.Join(l.fresh, layerName(c.Env, c.Lower)))
		}
	}
}

// layer is a lasting layer if no other command uses it now; else one in memory above it.
func (l *layering) layer(c Cache) helper.Layer {
	layer := helper.Layer{Target: c.Lower}
	if c.Upper == "" {
		return layer
	}
	upper, work := filepath.Join(c.Upper, "upper"), filepath.Join(c.Upper, "work")
	if os.MkdirAll(upper, 0o700) != nil || os.MkdirAll(work, 0o700) != nil {
		return layer
	}
	f, err := os.OpenFile(filepath.Join(c.Upper, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return layer
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		f.Close()
		layer.Below = upper
		return layer
	}
	l.unlocks = append(l.unlocks, func() { f.Close() })
	layer.Upper, layer.Work = upper, work
	return layer
}
