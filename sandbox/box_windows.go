package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/windows"
)

// AsHelper has a part to play on Linux only.
func AsHelper() {}

// box confines with a restricted token, access lists and a job. The network stays open, what the person may read a
// command may read, and the right of a folder to delete what is in it is no write to the second check of a restricted
// token: none of this can be had on Windows without an administrator.
type box struct {
	policy  Policy
	rules   enclosure // what must stay as it is, which does not depend on the system
	folders identities
	who     identity
	devices []sid
	scratch sid // bearer of the right to write to the scratch folders of this session, and to its pipes and events
	desktop string

	mu sync.Mutex
}

const windowsRemedy = "change what the reason names, or run this on a machine of its own with the mode danger-full-access, which confines nothing"

// New tries the whole set-up with a command that does nothing, once. Where it does not work nothing can be run, and
// the error, a *RefusedError, says why and what to do.
func New(p Policy) (Box, error) {
	if p.Mode == FullAccess {
		return &bare{p}, nil
	}
	refused := func(what string, err error) error {
		return &RefusedError{p.Mode, []Attempt{{Backend: "windows", What: what, Err: err}}, windowsRemedy}
	}
	known, err := identify(p.Roots)
	if err != nil {
		return nil, err
	}
	if p.Mode == WorkspaceWrite && p.Home == "" {
		return nil, refused("", errors.New("the agent has no home folder to remember in what it opened"))
	}
	for _, root := range p.Roots {
		switch keeps, err := keepsACLs(root); {
		case err != nil:
			return nil, refused("", err)
		case !keeps:
			return nil, refused("", fmt.Errorf("the volume of %s has no access lists, so nothing on it can be protected", root))
		}
	}
	b := &box{policy: p, folders: known, scratch: newSID(), rules: enclosure{policy: p, spell: func(path string) string { return path }}}
	if b.who, err = ownIdentity(); err != nil {
		return nil, refused("", err)
	}
	device := newSID()
	if p.Home != "" {
		if record, err := b.recorded(nil); err != nil {
			return nil, refused("", err)
		} else {
			device = record.Device
		}
	}
	b.devices = openNUL(device)
	b.desktop = b.who.newDesktop()
	if err := b.probe(); err != nil {
		return nil, refused("start a command", err)
	}
	return b, nil
}

// probe runs a command that does nothing.
func (b *box) probe() error {
	system, err := windows.GetSystemDirectory()
	if err != nil {
		return err
	}
	p, err := b.Start(context.Background(), Command{Argv: []string{filepath.Join(system, "cmd.exe"), "/d", "/c", "exit 0"}, Timeout: 20 * time.Second})
	if err != nil {
		return err
	}
	if e := p.Exit(); e.Code != 0 {
		return fmt.Errorf("it ended with exit code %d", e.Code)
	}
	return nil
}

func (b *box) Policy() Policy  { return b.policy }
func (b *box) Backend() string { return "windows" }

func (b *box) Start(ctx context.Context, c Command) (Process, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("start a command: no command given")
	}
	if c.Outside {
		return (&bare{b.policy}).Start(ctx, c)
	}
	dir, path, err := b.policy.whereWindows(c)
	if err != nil {
		return nil, err
	}
	if err := b.folders.check(b.policy.Dir); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	r := &restricted{box: b}
	if err := r.prepare(c); err != nil {
		r.drop()
		return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	p, err := beginWith(ctx, c, func(files []*os.File) (running, error) {
		token, err := b.who.restrict(b.scratch, restricting(b.who.logon, append([]sid{b.scratch}, b.devices...), r.grants))
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
		}
		defer token.Close()
		return launching{path: path, dir: dir, token: token, desktop: b.desktop, limits: limitsOf(true)}.launch(c, r.env, files)
	}, r.settle)
	if err != nil {
		r.drop()
		return nil, err
	}
	return p, nil
}

// restricted is what was made for one command.
type restricted struct {
	box    *box
	grants []grant
	opened map[string][]ace // entries that go with the command
	env    []string
	guard  *guards
	remove func()
	once   sync.Once
}

// prepare brings the access lists to what the command may do.
func (r *restricted) prepare(c Command) error {
	b := r.box
	o, err := b.policy.opened(c.Opened)
	if err != nil {
		return err
	}
	p := b.policy.with(o)
	r.guard = b.rules.guard(p, o)
	if b.policy.Mode == WorkspaceWrite {
		// A folder that is wholly the person's lets go of what is in it without a second check, so what a command deletes is
		// put back from copies.
		r.guard.vault = newVault(r.guard, b.policy.Home)
	}
	scratch, remove := b.policy.scratchFolder()
	r.remove = remove
	session := b.policy
	session.Network = p.Network
	caches, folders := session.byVariables(c.Env, scratch)
	if err := r.lasting(folders); err != nil {
		return err
	}
	once := newSID()
	var single []grant
	for _, dir := range o.folders {
		single = append(single, grant{path: dir, who: once, opened: true})
	}
	for _, file := range o.files {
		switch {
		case exists(file):
			single = append(single, grant{path: file, who: once, opened: true, file: true})
		case p.placeReal(filepath.Dir(file)) != Inside:
			return fmt.Errorf("open %s for one command: it does not exist yet, and Windows can only open what does; create it first", file)
		}
	}
	if scratch != "" {
		single = append(single, grant{path: scratch, who: b.scratch})
	}
	r.grants = append(r.grants, single...)
	r.opened = wantACEs(single, r.guard)
	if len(o.folders)+len(o.files) > 0 && b.policy.Home != "" {
		if _, err := b.recorded(func(record *accessRecord) bool { return record.note(r.opened) }); err != nil {
			return err
		}
	}
	if err := apply(r.opened, nil, carriers(single)); err != nil {
		return err
	}
	set := append([]string{"INTERPRETER_SANDBOX=windows"}, temporaryVariables(scratch)...)
	if !p.Network {
		set = slices.Concat(set, []string{"INTERPRETER_SANDBOX_NETWORK_DISABLED=1", "CODEX_SANDBOX_NETWORK_DISABLED=1"}, noNetwork())
	}
	r.env = windowsVariables(c.Env, append(set, caches...))
	return nil
}

// lasting opens the writable folders of the session, and those of its caches, and protects what is protected in them.
// Nearly always they are as they should be and nothing is written.
func (r *restricted) lasting(folders []string) error {
	b := r.box
	if b.policy.Mode != WorkspaceWrite {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	guard := b.rules.guard(b.policy, opening{})
	var want map[string][]ace
	var stale []string
	_, err := b.recorded(func(record *accessRecord) bool {
		r.grants = nil
		before := len(record.Roots)
		for _, root := range b.policy.Roots {
			r.grants = append(r.grants, grant{path: root, who: record.root(b.policy.Dir, root)})
		}
		for _, dir := range folders {
			r.grants = append(r.grants, grant{path: dir, who: record.root(b.policy.Dir, b.policy.Dir)})
		}
		want = wantACEs(r.grants, guard)
		stale = record.stale(b.policy.Roots, want)
		return record.note(want) || len(record.Roots) != before
	})
	if err != nil {
		return err
	}
	return apply(want, stale, carriers(r.grants))
}

// recorded changes the record of the agent's home and gives it back. The record is written before any access list is,
// so that whatever ends the agent, nothing is forgotten.
func (b *box) recorded(change func(*accessRecord) bool) (*accessRecord, error) {
	unlock, err := lockAccess(b.policy.Home)
	if err != nil {
		return nil, err
	}
	defer unlock()
	record, err := readAccess(b.policy.Home)
	if err != nil {
		return nil, err
	}
	changed := !exists(accessName(b.policy.Home))
	if change != nil && change(record) {
		changed = true
	}
	if changed {
		err = record.write(b.policy.Home)
	}
	return record, err
}

// carriers tells the names of some grants.
func carriers(grants []grant) func(sid) bool {
	return func(s sid) bool { return slices.ContainsFunc(grants, func(g grant) bool { return g.who == s }) }
}

// apply writes entries where they are missing, folders before what they hold, and removes those at stale places. What
// does not exist needs none.
func apply(want map[string][]ace, stale []string, mine func(sid) bool) error {
	for _, path := range slices.Concat(slices.Sorted(maps.Keys(want)), stale) {
		if err := editACL(path, mine, want[path]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("say who may write %s: %w", path, plain(err))
		}
	}
	return nil
}

// settle looks after what the command left behind.
func (r *restricted) settle(e *Exit) {
	r.box.rules.settle(r.guard, e)
	r.drop()
}

// drop removes what was made for the command.
func (r *restricted) drop() {
	r.once.Do(func() {
		for path, entries := range r.opened {
			if path := path; len(entries) > 0 {
				_ = editACL(path, func(s sid) bool { return slices.ContainsFunc(entries, func(e ace) bool { return e.who == s }) }, nil)
			}
		}
		if r.remove != nil {
			r.remove()
		}
	})
}
