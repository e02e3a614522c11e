package local

import (
	"errors"
	"slices"

	"interpreter/probes"
)

// occupied is the share of a card above which it matters who holds it: one part in this many.
const occupied = 5

// blame adds to a refusal for want of memory which other programs hold the cards. What the server itself holds was
// counted as free and is nobody's fault.
func blame(err error, machine probes.Machine, h Held) error {
	var refusal *Refusal
	if !errors.As(err, &refusal) || !refusal.memory() {
		return err
	}
	h = h.placed(machine)
	for _, g := range machine.GPUs {
		if g.Total <= 0 || g.Total-min(g.Free+h.GPU, g.Total) <= g.Total/occupied {
			continue
		}
		g.Users = without(g.Users, h.GPU)
		if text := g.InUse(); text != "" {
			refusal.Text += "; " + text
		}
	}
	return err
}

// without leaves out the process that holds about what a server says that it holds: the server.
func without(users []probes.User, bytes int64) []probes.User {
	best, off := -1, bytes/2
	for i, u := range users {
		if d := max(u.Bytes-bytes, bytes-u.Bytes); bytes > 0 && u.Bytes > 0 && d < off {
			best, off = i, d
		}
	}
	if best < 0 {
		return users
	}
	return slices.Delete(slices.Clone(users), best, best+1)
}
