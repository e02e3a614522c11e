package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// enclosure makes the policy of sandbox-exec for each command, from the disk as it is then.
type enclosure struct {
	policy Policy
	spell  func(path string) string // a path as the kernel will name it

	mu     sync.Mutex
	nested nested
}

// enclosed is what one command is started with.
type enclosed struct {
	seatbelt
	env   []string // the whole environment
	guard *guards
	drop  func() // removes what was made for the command
}

// plan compiles the policy for one command. The terminal is the name of its own, "" when it has none.
func (e *enclosure) plan(c Command, terminal string) (enclosed, error) {
	o, err := e.policy.opened(c.Opened)
	if err != nil {
		return enclosed{}, err
	}
	p := e.policy.with(o)
	guard := e.guard(p, o)
	scratch, drop := p.scratchFolder()
	var own []string
	if scratch != "" {
		own = append(own, scratch)
	}
	// What lasts is the session's to say: opening a place for one command does not make a session one that writes.
	session := e.policy
	session.Network = p.Network
	caches, folders := session.byVariables(c.Env, scratch)
	own = append(own, folders...)
	f := fenceOf(p, guard, o.single(p), own).spelled(e.spell)
	f.terminal = terminal
	set := []string{"INTERPRETER_SANDBOX=seatbelt", "CODEX_SANDBOX=seatbelt"}
	if !p.Network {
		set = append(set, "INTERPRETER_SANDBOX_NETWORK_DISABLED=1", "CODEX_SANDBOX_NETWORK_DISABLED=1")
	}
	set = slices.Concat(set, temporaryVariables(scratch), caches)
	return enclosed{f.compile(), withMarkers(c.Env, set...), guard, drop}, nil
}

// guard looks at the disk for what must be protected now.
func (e *enclosure) guard(p Policy, o opening) *guards {
	g := protections(p)
	for _, dir := range o.folders {
		// Who opens a repository's folder opens it to be committed to. What of it runs stays closed.
		g.readOnly = slices.DeleteFunc(g.readOnly, func(path string) bool { return path == filepath.Join(dir, ".git") && isRepository(dir) })
		if isRepository(dir) {
			g.repository(dir, 0)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, root := range p.Roots {
		if !temporary(p, root) && p.Mode == WorkspaceWrite {
			e.nested.guard(g, root, e.policy.Roots)
		}
	}
	g.lift(p)
	g.apart()
	return g
}

// settle looks after what a command left behind.
func (e *enclosure) settle(g *guards, x *Exit) {
	x.Backend = "seatbelt"
	x.Undone = g.settle(e.policy.Home)
	for _, r := range x.Undone {
		x.Refused = append(x.Refused, r.Text)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	x.Notices = e.nested.notices(g, e.policy.Roots)
}

// errMoved is the refusal to write into a folder that is not the one that was allowed.
var errMoved = errors.New("workspace path changed on disk")

// identities tells folders from others that take their place.
type identities map[string]os.FileInfo

// identify remembers which folders the writable ones are.
func identify(roots []string) (identities, error) {
	known := identities{}
	for _, root := range roots {
		info, err := os.Lstat(root)
		if err != nil {
			return nil, fmt.Errorf("open the writable folder %s: %w", root, plain(err))
		}
		known[root] = info
	}
	return known, nil
}

// check reports a writable folder that another has taken the place of. One that is gone is no danger, unless it is
// the one that is needed.
func (k identities) check(needed string) error {
	for root, was := range k {
		now, err := os.Lstat(root)
		switch {
		case err != nil && root != needed && errors.Is(err, os.ErrNotExist):
		case err != nil && errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("open %s: %w", root, errMoved)
		case err != nil:
			return fmt.Errorf("open %s: %w", root, plain(err))
		case !now.IsDir() || !os.SameFile(was, now): // numbers are used again, a link has one too
			return fmt.Errorf("open %s: %w", root, errMoved)
		}
	}
	return nil
}

const seatbeltRemedy = "change what the reason names, or run this on a machine of its own with the mode danger-full-access, which confines nothing"

// Exit codes by which sandbox-exec says, as sysexits.h has them, that it did not start the command.
const (
	seatbeltBadPolicy = 65
	seatbeltNoApply   = 71
)

// seatbeltRefusal reads what sandbox-exec printed when it did not start a command.
func seatbeltRefusal(mode Mode, code int, said string) *RefusedError {
	line, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(said, "?")), "\n")
	a := Attempt{Backend: "seatbelt", What: seatbeltProgram, Err: fmt.Errorf("it ended with exit code %d", code)}
	if line != "" {
		a.Err = fmt.Errorf("it ended with exit code %d: %s", code, strings.TrimPrefix(line, "sandbox-exec: "))
	}
	refused := &RefusedError{Mode: mode, Remedy: seatbeltRemedy}
	lower := strings.ToLower(said)
	switch {
	case strings.Contains(lower, "sandbox_apply") && strings.Contains(lower, "operation not permitted"):
		a.Cause = "this runs inside a sandbox already, and one does not nest in another"
		refused.Remedy = "run it outside of the other sandbox, or, if that one is as tight as you need it, with the mode danger-full-access, which adds no second one"
	case code == seatbeltBadPolicy:
		a.Cause = "this macOS does not know a word of the policy"
	case code == seatbeltNoApply:
		a.Cause = "the kernel did not take the policy"
	}
	refused.Tried = []Attempt{a}
	return refused
}
