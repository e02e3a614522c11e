package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"interpreter/sandbox/helper"
)

// box confines with the confining program. With namespaces, its own or bubblewrap's, everything of a Policy holds by
// force. Landlock alone is weaker, and for WorkspaceWrite a person must have agreed to it: below the writable folders
// it cannot forbid anything, so protected files are copied before each command and put back after it; outside of them
// it cannot forbid chmod, chown, times and extended attributes; other processes stay visible, a server of the
// command's own cannot be reached, and with the network on so can sockets of others.
type box struct {
	policy   Policy
	kind     string
	prog     program
	identity map[string][2]uint64 // device and inode of each root when the session began

	mu      sync.Mutex
	nested  nested
	trimmed time.Time // when the build caches were weighed last
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
		if p.Mode == ReadOnly || p.Degraded {
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
	var last error
	for _, prog := range progs {
		b.kind, b.prog = kind, prog
		plan, _, unlock, err := b.plan(Command{Argv: []string{"true"}, Dir: b.policy.Dir})
		if last = err; err == nil {
			last = probe(prog, plan)
		}
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
	plan, guard, unlock, err := b.plan(c)
	if err != nil {
		unlock()
		return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	plan.Path = path
	if plan.Kind == helper.Landlock && b.policy.Mode == WorkspaceWrite {
		guard.vault = newVault(guard, b.policy.Home)
	}
	var after func(*Exit)
	if guard != nil {
		after = func(e *Exit) {
			e.Backend = plan.Kind
			b.settle(guard, e)
		}
	}
	p, err := beginWith(ctx, c, func(files []*os.File) (running, error) {
		run, err := launch(ctx, b.prog, plan, append(files[:3:3], c.Extra...), unlock)
		if err != nil {
			return nil, err
		}
		return run, nil
	}, after)
	if err != nil {
		unlock()
		guard.drop()
		var se *stepError
		if errors.As(err, &se) {
			if errors.Is(err, helper.ErrMoved) || se.err.Error() == helper.ErrMoved.Error() {
				return nil, fmt.Errorf("start %s: %s: %w", c.Argv[0], se.what, helper.ErrMoved)
			}
			return nil, fmt.Errorf("start %s: %w", c.Argv[0], &RefusedError{b.policy.Mode, []Attempt{{plan.Kind, se.what, se.err, cause(plan.Kind, se.err)}}, remedy})
		}
		return nil, err
	}
	if guard != nil {
		go guard.patrol(p.Done(), patrolEvery, b.policy.Home)
	}
	return p, nil
}

// settle looks after what the command left behind.
func (b *box) settle(g *guards, e *Exit) {
	e.Undone = g.settle(b.policy.Home)
	for _, r := range e.Undone {
		e.Refused = append(e.Refused, r.Text)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e.Notices = b.nested.notices(g, b.policy.Roots)
	if p := b.policy; p.Home != "" && p.Mode == WorkspaceWrite && time.Since(b.trimmed) > trimEvery {
		b.trimmed = time.Now()
		go trim(p.Home, filepath.Join(p.Home, cacheFolder, WorkspaceID(p.Dir)), p.Limit)
	}
}

// trimEvery is how often the build caches of a workspace are weighed, beside the work and not in its way.
const trimEvery = 10 * time.Minute

// plan compiles the policy for one command as the disk is now. The guards are nil when nothing is confined. The
// function gives back what the plan holds on to; it is there with an error too.
func (b *box) plan(c Command) (helper.Plan, *guards, func(), error) {
	plan := helper.Plan{Version: helper.Version, Kind: b.kind, Argv: c.Argv, Dir: c.Dir, TTY: c.TTY}
	if c.Outside || b.kind == helper.Watch {
		plan.Kind, plan.Network, plan.Env = helper.Watch, true, withMarkers(c.Env)
		return plan, nil, func() {}, nil
	}
	o, err := b.policy.opened(c.Opened)
	if err != nil {
		return plan, nil, func() {}, err
	}
	p := b.policy.with(o)
	plan.Network, plan.Processes, plan.Scratch = p.Network, 4096, 1<<30
	set := []string{"INTERPRETER_SANDBOX=" + b.kind}
	if !p.Network {
		set = append(set, "INTERPRETER_SANDBOX_NETWORK_DISABLED=1", "CODEX_SANDBOX_NETWORK_DISABLED=1")
	}
	guard := b.guard(p, o)
	plan.ReadOnly, plan.Hidden = guard.readOnly, p.Hidden
	if p.Network {
		plan.Hidden = append(slices.Clone(plan.Hidden), sockets(p.Environ)...)
	}
	for _, root := range p.Roots {
		plan.WholeDisk = plan.WholeDisk || root == "/"
		id := b.identity[root]
		plan.Writable = append(plan.Writable, helper.Place{Path: root, Dev: id[0], Ino: id[1], Needed: root == p.Dir || slices.Contains(o.folders, root)})
	}
	for _, pin := range guard.pins {
		plan.Writable = append(plan.Writable, helper.Place{Path: pin})
	}
	l := layering{box: b, plan: &plan}
	l.scratch()
	l.caches()
	plan.Unmodified = b.policy.Mode == ReadOnly && len(o.paths()) == 0
	if b.policy.Mode == ReadOnly && !slices.Contains(p.Roots, p.Dir) && slices.ContainsFunc(plan.Layers, func(l helper.Layer) bool { return within(p.Dir, l.Target) }) {
		plan.Shown = []string{p.Dir}
	}
	if err := guard.open(o.single(p), p.Home, &plan); err != nil {
		guard.drop()
		return plan, guard, l.unlock, err
	}
	plan.Env = withMarkers(c.Env, append(set, l.env...)...)
	return plan, guard, l.unlock, nil
}

// open lets opened entries of closed folders be written: through layers, or as they are where there are none.
func (g *guards) open(entries []string, home string, plan *helper.Plan) error {
	byFolder := map[string][]string{}
	for _, path := range entries {
		if plan.Kind == helper.Namespaces {
			byFolder[filepath.Dir(path)] = append(byFolder[filepath.Dir(path)], filepath.Base(path))
			continue
		}
		if !exists(path) {
			return fmt.Errorf("open %s for one command: it does not exist yet, and the back end %s can only open what does; create it first", path, plan.Kind)
		}
		plan.Writable = append(plan.Writable, helper.Place{Path: path, Needed: true})
	}
	for _, dir := range slices.Sorted(maps.Keys(byFolder)) {
		s, err := newSingle(dir, byFolder[dir], home)
		if err != nil {
			return fmt.Errorf("open %s for one command: %w", filepath.Join(dir, byFolder[dir][0]), err)
		}
		g.singles = append(g.singles, s)
		plan.Layers = append(plan.Layers, helper.Layer{Target: dir, Upper: s.upper(), Work: s.work(), Entries: s.names})
	}
	return nil
}

// drop gives up what was made for opened entries.
func (g *guards) drop() {
	if g == nil {
		return
	}
	for _, s := range g.singles {
		s.drop()
	}
}

// guard looks at the disk for what must be protected now.
func (b *box) guard(p Policy, o opening) *guards {
	g := protections(p)
	g.opened = map[string]bool{}
	for _, dir := range o.folders {
		g.opened[dir] = true
		g.readOnly = slices.DeleteFunc(g.readOnly, func(path string) bool { return path == filepath.Join(dir, ".git") })
		if isRepository(dir) {
			g.repository(dir, 0)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, root := range p.Roots {
		if !temporary(p, root) && p.Mode == WorkspaceWrite {
			b.nested.guard(g, root, b.policy.Roots)
		}
	}
	for _, outer := range p.Roots {
		for _, inner := range p.Roots {
			g.pins = append(g.pins, between(outer, inner)...)
		}
	}
	g.lift(p)
	g.apart()
	return g
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
			if f, ok := lockFile(filepath.Join(c.Upper, readersName), false); ok {
				l.unlocks = append(l.unlocks, func() { f.Close() })
			}
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
	f, ok := lockFile(filepath.Join(c.Upper, lockName), true)
	if !ok {
		if f, ok := lockFile(filepath.Join(c.Upper, readersName), false); ok {
			l.unlocks = append(l.unlocks, func() { f.Close() })
			layer.Below = upper
		}
		return layer
	}
	l.unlocks = append(l.unlocks, func() { f.Close() })
	layer.Upper, layer.Work = upper, work
	return layer
}
