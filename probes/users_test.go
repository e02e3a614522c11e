package probes

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestUsers(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"GPU-a, 12, /usr/bin/python3, 9000\n", "GPU-a python3/12/9000"},
		{"GPU-a, 12, /usr/bin/python3, 9000 MiB\r\n", "GPU-a python3/12/9000"},
		{`GPU-a, 12, C:\a b\game.exe, [N/A]`, "GPU-a game.exe/12/0"},
		{"GPU-a, 12, /opt/a, b/c, d, 5\n", "GPU-a c, d/12/5"},
		{"GPU-a, 12, [Not Found], [Not Supported]\n", "GPU-a /12/0"},
		{"GPU-a, 12, x, 5\nGPU-a, 12, x, 7\n", "GPU-a x/12/7"},
		{"gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n", ""},
		{"No running processes found\n", ""},
		{"GPU-a, [N/A], x, 5\n, 12, x, 5\nGPU-a, -3, x, 5\nGPU-a, 12\n", ""},
		{"GPU-a, 12, x, -5\n", "GPU-a x/12/0"},
		{"", ""},
	} {
		var got []string
		for card, users := range parseUsers(test.text) {
			for _, u := range users {
				got = append(got, fmt.Sprintf("%s %s/%d/%d", card, u.Name, u.PID, u.Bytes/mib))
			}
		}
		if s := strings.Join(got, "; "); s != test.want {
			t.Errorf("%q: got %q, want %q", test.text, s, test.want)
		}
	}
}

// Who holds a card is only asked when much of one is held, and a driver that does not know costs nothing.
func TestHolders(t *testing.T) {
	card := func(free int64) []GPU { return []GPU{{Name: "Card", ID: "GPU-a", Total: 10 * gib, Free: free * gib}} }
	asked := 0
	ask := func(out string, err error) func(...string) (string, error) {
		return func(...string) (string, error) { asked++; return out, err }
	}
	if _, notes := holders(card(9), ask("GPU-a, 12, x, 1024\n", nil)); asked != 0 || len(notes) != 0 {
		t.Errorf("asked %d times, %v", asked, notes)
	}
	all, notes := holders(card(2), ask("", errors.New("exit status 2")))
	if asked != 1 || len(notes) != 0 || all[0].Users != nil {
		t.Errorf("asked %d times, %v, %v", asked, all, notes)
	}
	all, notes = holders(card(2), ask("GPU-a, 12, small, 1024\nGPU-a, 13, large, 5120\n", nil))
	if len(notes) != 1 || notes[0].Text != "8.0 GiB of Card are in use by large (process 13) with 5.0 GiB" || len(all[0].Users) != 1 {
		t.Errorf("got %v, %v", all, notes)
	}
}
