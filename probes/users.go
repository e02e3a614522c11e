package probes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// User is a process that holds memory of a card. Bytes is 0 where the driver does not say how much, as on Windows.
type User struct {
	Name  string `json:"name,omitempty"` // of its program, without folders; "" where it is hidden from this account
	PID   int    `json:"pid"`
	Bytes int64  `json:"bytes,omitempty"`
}

// String names a process for people.
func (u User) String() string {
	return fmt.Sprintf("%s (process %d)", cmp.Or(u.Name, "an unnamed program"), u.PID)
}

// manyParts is the share of a card above which it matters who holds it: one part in this many.
const manyParts = 5

// smiUserFields is what the driver's tool is asked about processes that compute.
const smiUserFields = "gpu_uuid,pid,process_name,used_memory"

// holders asks which processes hold cards of which much is in use. What the driver does not tell is left out without a
// note: who it is changes no number.
func holders(all []GPU, run func(args ...string) (string, error)) ([]GPU, []Note) {
	var notes []Note
	if !slices.ContainsFunc(all, GPU.busy) {
		return all, nil
	}
	out, err := run("--query-compute-apps="+smiUserFields, "--format=csv,noheader,nounits")
	if err != nil {
		return all, nil
	}
	users := parseUsers(out)
	for i, gpu := range all {
		if !gpu.busy() || gpu.ID == "" {
			continue
		}
		all[i].Users = gpu.large(users[gpu.ID])
		if text := all[i].InUse(); text != "" {
			notes = append(notes, Note{"nvidia-smi", text})
		}
	}
	return all, notes
}

// busy reports a card of which more is in use than a screen takes.
func (g GPU) busy() bool { return !g.Slice && g.Total > 0 && g.Total-g.Free > g.Total/manyParts }

// large keeps the processes that hold much of a card, the largest first, or all where no amounts are told.
func (g GPU) large(users []User) []User {
	users = slices.DeleteFunc(users, func(u User) bool { return u.Bytes > 0 && u.Bytes <= g.Total/manyParts })
	if slices.ContainsFunc(users, func(u User) bool { return u.Bytes > 0 }) {
		users = slices.DeleteFunc(users, func(u User) bool { return u.Bytes == 0 })
	}
	slices.SortStableFunc(users, func(a, b User) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return users
}

// mostNamed bounds a list of processes whose amounts are not known: on Windows it has each program with a window.
const mostNamed = 3

// InUse says who holds how much of a card, "" when nobody that is known holds much.
func (g GPU) InUse() string {
	if len(g.Users) == 0 {
		return ""
	}
	var parts []string
	for i, u := range g.Users {
		if i == mostNamed {
			parts = append(parts, fmt.Sprintf("%d more", len(g.Users)-i))
			break
		}
		part := u.String()
		if u.Bytes > 0 {
			part += " with " + size(u.Bytes)
		}
		parts = append(parts, part)
	}
	text := fmt.Sprintf("%s of %s are in use by %s", size(g.Total-g.Free), g.Name, strings.Join(parts, ", "))
	if g.Users[0].Bytes == 0 {
		text += "; the driver does not say how much each holds"
	}
	return text
}

// parseUsers reads the tool's list of processes, by the card's UUID: UUID, number, program, MiB. The program may have
// commas of its own. A line that is something else is no process.
func parseUsers(text string) map[string][]User {
	found := map[string][]User{}
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		if len(cells) < 4 {
			continue
		}
		pid, err := strconv.Atoi(strings.TrimSpace(cells[1]))
		card := strings.TrimSpace(cells[0])
		if err != nil || pid <= 0 || card == "" {
			continue
		}
		used, _ := mebibytes(cells[len(cells)-1])
		found[card] = addUser(found[card], User{program(strings.Join(cells[2:len(cells)-1], ",")), pid, used})
	}
	return found
}

// addUser adds a process; one that is listed again, for another context on the card, is the same one.
func addUser(users []User, u User) []User {
	for i := range users {
		if users[i].PID == u.PID {
			users[i].Bytes = max(users[i].Bytes, u.Bytes)
			return users
		}
	}
	return append(users, u)
}

// program is the name of a program from its path; "" where the driver does not tell.
func program(path string) string {
	path = strings.TrimSpace(path)
	if path == "-" || strings.HasPrefix(path, "[") {
		return ""
	}
	return firstLine(path[strings.LastIndexAny(path, `/\`)+1:])
}

// sooner is a context that ends so long before another that what was found by then can still be told.
func sooner(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, end.Add(-by))
	}
	return context.WithCancel(ctx)
}
