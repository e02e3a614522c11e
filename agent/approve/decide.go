// Package approve says which actions need a person: go on, ask, or refuse. It decides from facts (what an action
// needs, what the sandbox allows, what was granted) and asks nobody itself. Its view of commands is for accidents
// and for sparing questions; the sandbox is the boundary.
package approve

import (
	"fmt"
	"path/filepath"
	"slices"

	"interpreter/agent/approve/rules"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// Policy is when to ask.
type Policy string

// The policies.
const (
	Untrusted Policy = "untrusted"  // ask unless a command is known to only read
	OnRequest Policy = "on-request" // the sandbox decides; the model may ask for more
	Never     Policy = "never"      // nobody is asked: what would need a person is refused
)

// ParsePolicy reads a policy as a person types it. "on-failure" is an old name of on-request.
func ParsePolicy(text string) (Policy, error) {
	switch p := Policy(text); p {
	case Untrusted, OnRequest, Never:
		return p, nil
	case "on-failure":
		return OnRequest, nil
	}
	return "", fmt.Errorf("approval policy %q: not one of untrusted, on-request, never", text)
}

// Decision is a person's answer.
type Decision string

// The decisions.
const (
	Once       Decision = "once"    // this call
	ForSession Decision = "session" // this call, and the same one later in the session
	ByPrefix   Decision = "prefix"  // every command that starts with the proposed words
	No         Decision = "no"      // refused, the model goes on
	Stop       Decision = "stop"    // refused, the turn ends
)

// Grants reports whether a decision lets the action happen.
func (d Decision) Grants() bool { return d == Once || d == ForSession || d == ByPrefix }

// What is the outcome of a verdict.
type What int

// The outcomes. The zero value refuses.
const (
	Refuse What = iota
	Ask
	Go
)

// Verdict says whether an action may happen, and why not.
type Verdict struct {
	What    What
	Why     string   // one clause: for the person who is asked, or for the model that is refused
	Kind    Kind     // of question, of Ask and of a Refuse that stands for one
	Outside bool     // of Go: rules allow every part of the command to run outside the sandbox
	Prefix  []string // of Ask: words a rule may be made of, nil when none may be offered
	Parts   []Part   // what a command was split into, for people; nil when it is not a command
}

// Part is the verdict on one simple command of a line.
type Part struct {
	Argv []string
	What What
	Why  string // what it was taken for, or the rule that holds
}

// Kind is a class of questions. A person can switch a class off; what would ask such a question is refused then.
type Kind string

// The kinds.
const (
	BySandbox  Kind = "sandbox_approval"    // to leave the sandbox, to write where it does not reach, to run what destroys
	ByRule     Kind = "rules"               // a rule says prompt
	BySkill    Kind = "skill_approval"      // a script of a skill
	ByRequest  Kind = "request_permissions" // the model asks for more, without a command
	ByMCP      Kind = "mcp_elicitations"    // a server outside asks
	Unforeseen Kind = ""                    // none of these: a command that is not known to only read
)

// Judge is what decides in a session. The zero value refuses what would need a person.
type Judge struct {
	Policy Policy
	Off    []Kind // questions that are not asked, of a policy with switches
	Box    sandbox.Policy
	Rules  *rules.Set
	// Git reports whether git's configuration, as it holds in a folder, starts no program of its own. Nil, or false: git is
	// not taken for a command that only reads.
	Git func(dir string) bool
	// Env is the environment of commands: where it finds programs decides what their names mean.
	Env []string
}

// Decide judges an action. need.Paths are relative to the policy's directory.
func (j Judge) Decide(need action.Need) Verdict {
	switch need.Effect {
	case action.Runs:
		return j.run(need)
	case action.Writes:
		return j.write(need)
	case action.Connect:
		if j.Box.Network || j.free() {
			return Verdict{What: Go}
		}
		return j.ask(BySandbox, "it needs the network, which the sandbox does not allow")
	}
	return Verdict{What: Go} // reads are the sandbox's business, thoughts nobody's
}

// free reports whether nothing confines commands.
func (j Judge) free() bool { return j.Box.Mode == sandbox.FullAccess }

func (j Judge) write(need action.Need) Verdict {
	worst := Verdict{What: Go}
	if j.Policy == Untrusted {
		worst = j.ask(Unforeseen, "it changes files")
	}
	for _, path := range need.Paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(j.Box.Dir, path)
		}
		_, place, err := j.Box.Place(path)
		v := Verdict{What: Go}
		switch {
		case err != nil:
			v = Verdict{What: Refuse, Why: err.Error()}
		case place == sandbox.Forbidden:
			v = Verdict{What: Refuse, Why: path + " may never be written"}
		case place == sandbox.Guarded:
			v = j.ask(BySandbox, path+" is protected")
		case place == sandbox.Outside && j.Box.Mode == sandbox.ReadOnly:
			v = j.ask(BySandbox, path+": the sandbox is read-only")
		case place == sandbox.Outside:
			v = j.ask(BySandbox, path+" is outside the folders that may be written")
		}
		if v.What < worst.What || v.What == worst.What && worst.Kind == Unforeseen && v.Kind != Unforeseen {
			worst = v
		}
	}
	return worst
}

// ask is Ask, or Refuse when nobody may be asked that.
func (j Judge) ask(kind Kind, why string) Verdict {
	switch {
	case j.Policy == Untrusted || j.Policy == OnRequest:
		if slices.Contains(j.Off, kind) {
			return Verdict{What: Refuse, Kind: kind, Why: fmt.Sprintf("%s; questions of that kind (%s) are switched off", why, kind)}
		}
		return Verdict{What: Ask, Kind: kind, Why: why}
	}
	return Verdict{What: Refuse, Kind: kind, Why: why}
}
