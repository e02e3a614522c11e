// Package practice is a model that needs no download: it plays a script. One script format feeds three stand-ins:
// Model answers in process, Server answers on the wires of real model servers, and WriteGGUF spells the script into
// the weights of a file that a real Ollama loads. Its banner everywhere is "practice model: scripted replies": it is
// not intelligent, it refuses to look so, and it never reaches past the address it is given.
package practice

import (
	"regexp"
	"strings"
	"time"

	"interpreter/local/chat"
)

// Banner says what the practice model is. Every front end that shows it shows these words.
const Banner = "practice model: scripted replies"

// Lost is what the model says when the conversation has gone past the end of the script.
const Lost = "[the script has no line for this turn]"

// Script is a practice model: what it pretends to be and what it replies.
type Script struct {
	Name         string   // as a request names it; "practice" unless the script says otherwise
	Window       int      // trained context in tokens
	Loaded       int      // window the server pretends to have loaded; 0: the one that was asked for
	Capabilities []string // as a server declares them
	CheckFail    string   // what the tool check gets to hear; "": the check passes
	CheckSpoken  string   // the answer to the check of a harness that speaks in text: its command in that harness's form
	CheckLeak    bool     // the tool check is passed, with calls written as text
	Architecture string   // general.architecture
	Size         int64    // bytes of the model's file, as the server tells it
	Think        string   // thinking before each reply that has none of its own
	Absent       bool     // not installed until it is pulled
	Token        string   // requests without it are turned away; "": none is asked for
	Era          string   // of LM Studio's own API: "v1", or "v0" for a server from before its release 0.4
	ByRequest    bool     // replies follow each other request by request, whatever the conversation says
	Replies      []Reply  // in order
}

// Reply is one answer, or one way of not answering.
type Reply struct {
	Line       int // of the script
	Wants      []Want
	Stall      time.Duration // before the first byte
	Status     int           // HTTP status instead of an answer; 0: answer
	StatusText string
	RetryAfter time.Duration
	Times      int // how often a failing reply fails, at least 1
	Steps      []Step
	Finish     chat.Finish // "": stop
	Input      int         // tokens to report; 0: an estimate
	Output     int
}

// Want is a demand on what the model was last told.
type Want struct {
	Line    int
	Not     bool // the pattern must not match
	Pattern *regexp.Regexp
}

// Kind says what a Step does.
type Kind string

// The kinds of steps.
const (
	Say       Kind = "say"
	Raw       Kind = "raw" // text in one piece, nothing replaced in it
	Think     Kind = "think"
	Call      Kind = "call"
	Pause     Kind = "pause"
	Malformed Kind = "malformed" // bytes that no wire allows, sent the first time only
	Cut       Kind = "cut"       // the connection ends here
	Fault     Kind = "error"     // the server gives up here and says why
)

// Step is one thing a reply does.
type Step struct {
	Line int
	Kind Kind
	Text string
	Call chat.Call // of Call; Raw holds arguments that are no JSON
	For  time.Duration
}

// failing reports whether the reply never becomes an answer, so that a client has to ask again.
func (r *Reply) failing() bool {
	if r.Status != 0 {
		return true
	}
	for _, s := range r.Steps {
		if s.Kind == Cut || s.Kind == Fault {
			return true
		}
	}
	return false
}

// text is the prose of the reply as a client collects it.
func (r *Reply) text() string {
	var b strings.Builder
	for _, s := range r.Steps {
		if s.Kind == Say || s.Kind == Raw {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// calls counts the tool calls of the reply.
func (r *Reply) calls() int {
	n := 0
	for _, s := range r.Steps {
		if s.Kind == Call {
			n++
		}
	}
	return n
}

// thinks reports whether any reply of the script thinks aloud.
func (s *Script) thinks() bool {
	if s.Think != "" {
		return true
	}
	for _, r := range s.Replies {
		for _, step := range r.Steps {
			if step.Kind == Think {
				return true
			}
		}
	}
	return false
}

// can reports a declared capability.
func (s *Script) can(capability string) bool {
	for _, c := range s.Capabilities {
		if c == capability {
			return true
		}
	}
	return false
}

// attempts lists the replies of each position of a conversation: failing ones as often as they fail, then the
// answer. Only the last position may lack an answer; it then goes on failing.
func (s *Script) attempts() [][]*Reply {
	var all [][]*Reply
	var group []*Reply
	for i := range s.Replies {
		r := &s.Replies[i]
		if !r.failing() {
			all, group = append(all, append(group, r)), nil
			continue
		}
		for range max(r.Times, 1) {
			group = append(group, r)
		}
	}
	if group != nil {
		all = append(all, group)
	}
	return all
}
