// Package helper is the small program that confines one command: the agent starts it, it draws the walls around
// itself, starts the command inside, reaps what the command leaves behind and passes its status on. It decides
// nothing: what to allow comes as a Plan on an inherited descriptor, a field it does not know stops it, and it reads
// neither environment nor configuration. It is a package so that the main program can play its part where the
// embedded small program cannot run; it imports the standard library and x/sys only, because it is started before
// every command and each package it links costs time.
package helper

// Version is raised whenever Plan changes its meaning, so that an old embedded program refuses a new plan.
const Version = 4

// Descriptors the program is started with, beside the standard three.
const (
	PlanFD  = 3 // the Plan as JSON, read to its end
	TalkFD  = 4 // a stream: Reports go out as JSON lines, each byte that comes in is an order
	StopAll = 0xff
)

// How a command is confined.
const (
	Namespaces = "namespace"  // the agent made the namespaces, the program furnishes them
	Inner      = "bubblewrap" // bubblewrap made and furnished them, the program adds what it lacks
	Landlock   = "landlock"   // no namespaces: Landlock and system call filter only
	Watch      = "none"       // nothing is confined, but nothing survives either
)

// Plan says what to start and what it may do.
type Plan struct {
	Version int
	Kind    string
	Probe   bool // do everything but start the command

	Path string // the program, absolute
	Argv []string
	Env  []string
	Dir  string
	TTY  bool // standard input is the terminal to control

	Extra []int // descriptors of the program that the command inherits as 3 and up

	WholeDisk bool    // the root folder itself is writable
	Writable  []Place // folders that may be written, any order
	ReadOnly  []string
	Shown     []string // folders to show, read-only, above Layers that cover them
	Hidden    []string // files whose content nobody inside may read
	Layers    []Layer  // folders that are seen through a layer of their own
	Scratch   int64    // bound of what layers without a disk may hold, in bytes

	Network     bool
	Unmodified  bool // file metadata may not change anywhere; only of use without mounts
	Processes   uint64
	AllowTrace  bool
	AllowNested bool
}

// Place is a folder with its identity, which is compared again so that a folder put in its place is noticed.
type Place struct {
	Path     string
	Dev, Ino uint64 // zero: not compared
	Needed   bool   // its absence is an error and not just nothing to write
}

// Layer covers a folder: what is there is seen, what is written goes elsewhere.
type Layer struct {
	Target  string
	Below   string // another layer's writings, seen under this one's; "" for none
	Upper   string // folder that keeps the writings, with its sister Work; "" for memory
	Work    string
	Entries []string // of a layer that stands for opened entries of Target: their names; without layers they open as they are
}

// Report is what the program says of itself and of the command.
type Report struct {
	Kind   string // "started", "failed", "ended"
	What   string `json:",omitempty"` // of failed: what was being done
	Errno  int    `json:",omitempty"` // of failed: the system's reason, 0 when it was none of the system's
	Text   string `json:",omitempty"` // of failed: the reason in words
	Own    bool   `json:",omitempty"` // of failed: the command could not be started, the walls stand
	PID    int    `json:",omitempty"` // of started: as the program sees it
	Code   int    `json:",omitempty"` // of ended
	Signal int    `json:",omitempty"` // of ended
}

// Packed is the plan with each byte of its names as a letter of its own: names are bytes, and JSON carries letters only.
func (p Plan) Packed() Plan {
	return p.each(func(s string) string {
		if ascii(s) {
			return s
		}
		letters := make([]rune, len(s))
		for i := range len(s) {
			letters[i] = rune(s[i])
		}
		return string(letters)
	})
}

// unpacked is the plan that was Packed.
func (p Plan) unpacked() Plan {
	return p.each(func(s string) string {
		if ascii(s) {
			return s
		}
		data := make([]byte, 0, len(s))
		for _, letter := range s {
			data = append(data, byte(letter))
		}
		return string(data)
	})
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// each is a copy of the plan with another text for every one that may not be plain letters.
func (p Plan) each(f func(string) string) Plan {
	all := func(list []string) []string {
		if list == nil {
			return nil
		}
		changed := make([]string, len(list))
		for i, s := range list {
			changed[i] = f(s)
		}
		return changed
	}
	p.Path, p.Dir = f(p.Path), f(p.Dir)
	p.Argv, p.Env, p.ReadOnly, p.Shown, p.Hidden = all(p.Argv), all(p.Env), all(p.ReadOnly), all(p.Shown), all(p.Hidden)
	p.Writable = append([]Place(nil), p.Writable...)
	for i := range p.Writable {
		p.Writable[i].Path = f(p.Writable[i].Path)
	}
	p.Layers = append([]Layer(nil), p.Layers...)
	for i := range p.Layers {
		l := &p.Layers[i]
		l.Target, l.Below, l.Upper, l.Work, l.Entries = f(l.Target), f(l.Below), f(l.Upper), f(l.Work), all(l.Entries)
	}
	return p
}
