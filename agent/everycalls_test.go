package agent_test

import (
	"testing"

	"interpreter/harness/harnesstest"
)

// one is one call of a tool, as the harness's play.json has it.
type one = harnesstest.PlayCall

// rowsOf are the calls of a harness where some tools are offered: of those, and of the hidden ones.
func rowsOf(p harnesstest.Play, text bool, wanted map[string]bool, person bool) []one {
	var rows []one
	for _, r := range p.Calls {
		if text || wanted[r.Tool] && (person || !r.Person) {
			rows = append(rows, r)
		}
	}
	return rows
}

// runs is an answer that runs a command.
func runs(t testing.TB, name, command string) reply {
	form := harnesstest.Played(t, name).Run
	if form.Tool == "" {
		return reply{text: form.With(command)}
	}
	return reply{call: form.Tool, args: form.With(command)}
}

// ends are the answers that end a turn.
func ends(p harnesstest.Play) []reply {
	if len(p.Last) == 0 {
		p.Last = []string{"All done: the greeting is spelled right."}
	}
	var out []reply
	for _, text := range p.Last {
		out = append(out, reply{text: text})
	}
	return out
}
