package approve

import (
	"path/filepath"
	"slices"
	"strings"

	"interpreter/agent/approve/rules"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// run judges a command: by rules first, then by what it might destroy, then by what it asks for and what is known of it.
func (j Judge) run(need action.Need) Verdict {
	c := j.look(need)
	v := j.weigh(need, c)
	v.Parts = c.parts
	if v.What == Ask && v.Kind != ByRule && c.plain && !need.Kept && c.ruled == 0 && c.danger == "" && opensNothing(need.Opens) {
		v.Prefix = c.prefix(need.Prefix)
	}
	return v
}

func opensNothing(o sandbox.Opened) bool { return !o.Network && len(o.Paths) == 0 }

// command is what is found out about one before it is judged.
type command struct {
	plain   bool
	argvs   [][]string // the simple commands of a plain one
	parts   []Part
	ruling  rules.Ruling // the strictest that asks or forbids
	ruled   int          // simple commands that some rule speaks of
	allowed bool         // rules allow every part of it
	danger  string
}

// look takes a command apart and holds its parts against the rules.
func (j Judge) look(need action.Need) command {
	c, script := command{}, scriptOf(need)
	strictest := func(r rules.Ruling) {
		if r.Decision == rules.Forbid && c.ruling.Decision != rules.Forbid || r.Decision == rules.Prompt && c.ruling.Decision == "" {
			c.ruling = r
		}
	}
	if len(j.Rules.Rules()) > 0 {
		judge{visit: func(argv []string) { strictest(j.Rules.Match(argv, j.writable)) }}.script(script, 0)
	}
	t, plain := plainTree(script)
	if c.plain = plain && !need.Kept; c.plain {
		for words := range t.simple() {
			c.argvs = append(c.argvs, texts(words))
		}
		c.parts = j.partsOf(t, need)
		c.allowed = !slices.ContainsFunc(c.argvs, func(argv []string) bool { return !j.allows(argv) })
		for _, argv := range c.argvs {
			if j.Rules.Match(argv, j.writable).Decision != "" {
				c.ruled++
			}
		}
	} else {
		here, ok := hereWords(script)
		c.allowed = ok && !need.Kept && j.allows(here)
		part := Part{Argv: []string{script}, What: Ask, Why: "it is more than a plain sequence of commands"}
		if need.Script == "" && len(need.Argv) > 0 {
			part.Argv = need.Argv
			strictest(j.Rules.Match(need.Argv, j.writable))
		}
		if need.Kept {
			part.Why = "its shell remembers things that may change what words mean"
		}
		if c.allowed {
			part.What, part.Why = Go, "a rule allows it"
		} else if j.Policy != Untrusted {
			part.What, part.Why = Go, j.inside()
		}
		c.parts = []Part{part}
	}
	if c.ruling.Decision != "" {
		c.allowed = false
	}
	if c.allowed {
		return c
	}
	passing := j.passing(need, c)
	c.danger = passing.script(script, 0)
	for i := range c.parts {
		p := &c.parts[i]
		why := c.danger
		if c.plain {
			why = passing.argv(p.Argv, 0)
		}
		if why != "" && p.What != Refuse {
			p.What, p.Why = j.ask(BySandbox, why).What, why
		}
	}
	return c
}

// passing looks for dangers beside those that a rule allows, and beside those that are let pass where nobody is asked. A
// rule allows what destroys where it allows the very command, not what is behind a wrapper or in a larger script.
func (j Judge) passing(need action.Need, c command) judge {
	anyway := judge{}
	if j.Policy == Never || j.Policy == "" {
		opens, _ := j.opens(need)
		switch {
		case j.free():
			anyway = ruinous(scriptOf(need), j.Box.Dir, need.Dir)
		case !need.Escalate && opens == "":
			anyway = reckless(scriptOf(need), j.Box.Dir, need.Dir, j.Box.Roots)
		}
	}
	return judge{pass: func(argv []string) bool {
		return anyway.pass != nil && anyway.pass(argv) ||
			slices.ContainsFunc(c.argvs, func(a []string) bool { return slices.Equal(a, argv) }) && j.allows(argv)
	}}
}

// partsOf judges the simple commands of a plain script one by one.
func (j Judge) partsOf(t tree, need action.Need) []Part {
	var parts []Part
	if j.Policy != Untrusted {
		for words := range t.simple() {
			part, ruled := j.part(texts(words))
			if !ruled {
				part = Part{Argv: texts(words), What: Go, Why: j.inside()}
			}
			parts = append(parts, part)
		}
		return parts
	}
	l := &looking{places: places{j.Box, j.Env}, git: j.Git, pass: j.part}
	dirs, why := l.start(need)
	l.began = dirs
	if why == "" {
		why = l.unsettled()
	}
	l.walk(t, dirs)
	for i, p := range l.parts {
		if p.What == Go && why != "" && !j.allows(p.Argv) {
			l.parts[i].What, l.parts[i].Why = Ask, why
		}
	}
	return l.parts
}

// inside says what holds commands that are not asked about.
func (j Judge) inside() string {
	if j.free() {
		return "nothing confines commands"
	}
	return "the sandbox confines it"
}

// allows reports whether a rule allows one simple command, and none is stricter.
func (j Judge) allows(argv []string) bool {
	return len(argv) > 0 && j.Rules.Match(argv, j.writable).Decision == rules.Allow
}

// part is what rules alone say of a simple command.
func (j Judge) part(argv []string) (Part, bool) {
	r := j.Rules.Match(argv, j.writable)
	switch r.Decision {
	case rules.Allow:
		return Part{Argv: argv, What: Go, Why: because("a rule allows it", r.Why)}, true
	case rules.Prompt:
		return Part{Argv: argv, What: Ask, Why: because("a rule says to ask", r.Why)}, true
	case rules.Forbid:
		return Part{Argv: argv, What: Refuse, Why: because("a rule forbids it", r.Why)}, true
	}
	return Part{}, false
}

func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// writable reports whether commands, or the model, may change what is at a path.
func (j Judge) writable(path string) bool {
	p := places{box: j.Box}
	real, _, err := j.Box.Place(path)
	return err != nil || p.workspace(real) || p.workspace(filepath.Clean(path))
}

func (j Judge) weigh(need action.Need, c command) Verdict {
	switch {
	case c.ruling.Decision == rules.Forbid:
		return Verdict{What: Refuse, Why: because("a rule forbids it", c.ruling.Why)}
	case c.ruling.Decision == rules.Prompt:
		return j.ask(ByRule, because("a rule says to ask each time", c.ruling.Why))
	}
	opens, refused := j.opens(need)
	if refused != "" {
		return Verdict{What: Refuse, Why: refused}
	}
	if c.allowed {
		return Verdict{What: Go, Outside: !j.free()}
	}
	var whys []string
	if c.danger != "" {
		whys = append(whys, c.danger)
	}
	switch {
	case need.Escalate && !j.free():
		whys = append(whys, because("it asks to run outside the sandbox", need.Reason))
	case opens != "":
		whys = append(whys, because(opens, need.Reason))
	}
	switch {
	case len(whys) > 0:
		return j.ask(BySandbox, strings.Join(whys, "; and "))
	case j.Policy != Untrusted:
		if why := reachesOut(j.Box, !need.Kept && Safe(scriptOf(need))); why != "" {
			return j.ask(BySandbox, why)
		}
		return Verdict{What: Go}
	}
	for _, p := range c.parts {
		if p.What != Go {
			return j.ask(Unforeseen, p.Why)
		}
	}
	if len(c.parts) == 0 {
		return j.ask(Unforeseen, notKnown)
	}
	return Verdict{What: Go}
}

// opens says what a command asks for beyond the policy, "" when that is nothing. refused is what nobody may grant.
func (j Judge) opens(need action.Need) (asks, refused string) {
	if j.free() {
		return "", ""
	}
	var list []string
	if need.Opens.Network && !j.Box.Network {
		list = append(list, "use the network")
	}
	var paths []string
	for _, path := range need.Opens.Paths {
		real, place, err := j.Box.Place(path)
		switch {
		case err != nil:
			return "", err.Error()
		case place == sandbox.Forbidden:
			return "", path + " may never be written"
		case place != sandbox.Inside && !slices.Contains(paths, real):
			paths = append(paths, real)
		}
	}
	if len(paths) > 0 {
		list = append(list, "write "+strings.Join(paths, " and "))
	}
	if len(list) == 0 {
		return "", ""
	}
	return "it asks to " + strings.Join(list, " and to "), ""
}

func scriptOf(need action.Need) string {
	if need.Script == "" && len(need.Argv) > 0 {
		return quote(need.Argv)
	}
	return need.Script
}

// prefix is what a rule about a command may be made of: what is proposed, or what can be made of its first part.
func (c command) prefix(proposed []string) []string {
	if len(c.argvs) == 0 {
		return nil
	}
	for _, argv := range c.argvs { // one that is asked about for where it reads: no rule should let it read anywhere
		if _, why := known(bare(argv)); why == "" {
			return nil
		}
	}
	if offers(proposed, c.argvs) {
		return slices.Clone(proposed)
	}
	if made := derive(c.argvs[0]); offers(made, c.argvs) {
		return made
	}
	return nil
}

// quote makes a shell line of an argument list.
func quote(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}
