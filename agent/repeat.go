package agent

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"

	"interpreter/agent/approve"
	"interpreter/harness"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// repeats notices when a model goes round in circles. It forgets everything when a file changes or a person speaks.
// The zero value is ready.
type repeats struct {
	past    []record // calls that ran
	key     string   // of the last call
	hash    uint64   // of its result
	row     int      // how often that came in a row, refused ones included
	refused int      // refusals in a row; the third ends the tools of the turn
	over    bool

	idle int // looks in a row at running commands that had printed nothing new

	fails  failures
	known  map[uint64]bool            // results of reads
	stale  int                        // reads in a row that showed nothing new
	states map[string]map[uint64]bool // what files were before changes of this turn
}

type record struct {
	key  string
	hash uint64
}

// ruling is what becomes of a call before it runs; without words it runs.
type ruling struct {
	words   string
	pointer bool // not a refusal: the result is already there
}

const maxRefused = 3

// before rules on a call that is about to run.
func (r *repeats) before(key string, need action.Need, lasting bool) ruling {
	row := 1
	if key == r.key {
		row = r.row + 1
	}
	if words := r.fails.again(need, lasting); words != "" {
		r.key, r.row = key, row
		return r.refuse(words)
	}
	switch {
	case row >= 4:
		r.row = row
		return r.refuse(wordsRefused)
	case row == 3 && need.Effect == action.Reads:
		r.row = row
		return ruling{wordsPointer, true}
	}
	if same, circles := r.circles(key); circles {
		r.past = append(r.past, same)
		r.key, r.row = key, 1
		return r.refuse(wordsCycle)
	}
	r.refused = 0
	return ruling{}
}

func (r *repeats) refuse(words string) ruling {
	r.refused++
	r.over = r.over || r.refused >= maxRefused
	return ruling{words: words}
}

// miss counts a call that made no sense. The same nonsense over and over ends the tools as well.
func (r *repeats) miss(c chat.Call) {
	key := "miss " + c.Name + " " + string(c.Args) + c.Raw
	if key != r.key {
		r.key, r.row, r.hash = key, 1, 0
		return
	}
	if r.row++; r.row >= 6 {
		r.over = true
	}
}

// circles reports whether a call would go on with a pattern of two or three calls that has run three times with
// the same results, and what the call came to before.
func (r *repeats) circles(key string) (record, bool) {
	for period := 2; period <= 3; period++ {
		n := 3 * period
		if len(r.past) < n || r.past[len(r.past)-period].key != key {
			continue
		}
		tail, same := r.past[len(r.past)-n:], true
		for i := period; i < n; i++ {
			same = same && tail[i] == tail[i-period]
		}
		if same {
			return r.past[len(r.past)-period], true
		}
	}
	return record{}, false
}

// after takes in a result and returns a note for the model, or "".
func (r *repeats) after(key string, need action.Need, words string, outcome action.Outcome) string {
	if changed, ok := outcome.(action.Changed); ok && !changed.Same {
		note := r.changed(changed)
		return note
	}
	hash := r.resultOf(key, words, outcome)
	if key == r.key && hash == r.hash {
		r.row++
	} else {
		r.row = 1
	}
	r.key, r.hash = key, hash
	r.past = append(r.past, record{key, hash})
	note := ""
	if ran, ok := outcome.(action.Ran); ok {
		var end bool
		if note, end = r.fails.after(need, ran); end {
			r.over = true
		}
	}
	if note == "" && r.row >= 2 {
		note = wordsSame
	}
	if need.Effect == action.Reads {
		if r.known == nil {
			r.known = map[uint64]bool{}
		}
		if r.stale++; !r.known[hash] {
			r.stale = 0
		}
		r.known[hash] = true
		if r.stale > 0 && r.stale%10 == 0 {
			note += fmt.Sprintf(wordsStale, r.stale)
		}
	}
	return note
}

// resultOf tells results apart. A file that is only said to be unchanged is the result it was when it was shown.
func (r *repeats) resultOf(key, words string, outcome action.Outcome) uint64 {
	if seen, ok := outcome.(action.Seen); ok && seen.Unchanged {
		for _, was := range slices.Backward(r.past) {
			if was.key == key {
				return was.hash
			}
		}
	}
	return hashOf(words)
}

// looked takes in a look at a running command. Looking is free to be repeated, but not for nothing.
func (r *repeats) looked(ran action.Ran) string {
	if ran.Session == 0 || ran.Output != "" {
		r.idle = 0
		return ""
	}
	if r.idle++; r.idle < 3 {
		return ""
	}
	return fmt.Sprintf(wordsIdle, r.idle)
}

// changed starts over, and notices a file that is back to an earlier state.
func (r *repeats) changed(c action.Changed) string {
	note := ""
	states := r.states
	if states == nil {
		states = map[string]map[uint64]bool{}
	}
	for _, f := range c.Files {
		if f.Before == f.After {
			continue // told without contents
		}
		if states[f.Real] == nil {
			states[f.Real] = map[uint64]bool{}
		}
		if states[f.Real][hashOf(f.After)] {
			note += fmt.Sprintf(wordsUndone, f.Path)
		}
		states[f.Real][hashOf(f.Before)] = true
	}
	*r = repeats{states: states, over: r.over}
	return note
}

func hashOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// cosmetic are parameters that do not change what a call does.
var cosmetic = []string{"description", "timeout", "timeout_ms", "timeout_sec", "timeout_seconds", "justification", "explanation"}

// keyOf names what a call does, however its arguments are ordered and spaced.
func keyOf(tool string, c chat.Call) string {
	if tool == "" {
		tool = c.Name
	}
	return tool + " " + argsOf(c) + c.Raw
}

// argsOf are the arguments of a call in an order and spelling of their own, without what changes nothing.
func argsOf(c chat.Call) string {
	var args map[string]any
	if json.Unmarshal(c.Args, &args) != nil {
		return string(c.Args)
	}
	for _, name := range cosmetic {
		delete(args, name)
	}
	for name, v := range args {
		s, ok := v.(string)
		if !ok {
			continue
		}
		s = strings.TrimSpace(s)
		if strings.Contains(strings.ToLower(name), "path") && s != "" {
			s = filepath.Clean(s)
		}
		args[name] = s
	}
	sorted, err := json.Marshal(args)
	if err != nil {
		return string(c.Args)
	}
	return string(sorted)
}

// polls reports whether a step only looks whether something has ended: doing that again and again is its use.
func polls(s harness.Step) bool {
	switch a := s.Action.(type) {
	case action.Poll:
		return true
	case action.Keys: // nothing is typed
		return a.Need().Effect == action.Thinks
	}
	return false
}

// readsOnly reports whether a command cannot have changed what another one depends on.
func readsOnly(need action.Need) bool { return !need.Kept && approve.Safe(need.Script) }
