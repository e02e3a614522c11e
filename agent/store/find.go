package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"interpreter/agent/event"
)

// Info is what a list shows of a session.
type Info struct {
	ID       string
	Path     string
	Name     string // given by a person, "" when none
	Dir      string // working directory of its latest turn
	Source   string
	Model    string
	Provider string
	Started  time.Time
	Updated  time.Time
	Preview  string // the first thing a person said, cut
}

// Label is how a list names a session: its name, else what was said first.
func (i Info) Label() string {
	if i.Name != "" {
		return i.Name
	}
	return i.Preview
}

// Query says which sessions are meant.
type Query struct {
	Text  string // a UUID, or the exact name
	Last  bool   // the latest one
	Dir   string // only sessions whose latest turn was there, unless All or Text is a UUID; "" for any
	All   bool
	Limit int // of List; 0: no limit
}

// Find returns the one session a query means: by UUID, by name (the newest that has it), or the latest.
func Find(home string, q Query) (Info, error) {
	missed := func(what string) (Info, error) {
		if q.Dir != "" && !q.All {
			what += " for " + q.Dir
		}
		remedy := "start one without resume"
		if q.Dir != "" && !q.All {
			remedy = "add --all to look at sessions of every folder"
		}
		return Info{}, &Error{Op: "find session", Why: what + " in " + filepath.Join(home, folder), Remedy: remedy}
	}
	if id, err := uuid.Parse(q.Text); q.Text != "" && err == nil {
		return byID(home, id.String())
	}
	if q.Text == "" && !q.Last {
		return Info{}, &Error{Op: "find session", Why: "neither an id, a name nor the last one was asked for"}
	}
	names := readNames(home)
	found, err := walk(home, q, names, 1)
	if err != nil {
		return Info{}, err
	}
	if len(found) == 0 && q.Text != "" {
		return missed(fmt.Sprintf("no session is named %q", q.Text))
	}
	if len(found) == 0 {
		return missed("no session")
	}
	return found[0], nil
}

// List returns sessions, newest update first.
func List(home string, q Query) ([]Info, error) {
	return walk(home, q, readNames(home), q.Limit)
}

func byID(home, id string) (Info, error) {
	for _, f := range files(home) {
		if strings.HasSuffix(strings.ToLower(f.path), "-"+id+".jsonl") {
			return describe(f, readNames(home))
		}
	}
	old, _ := filepath.Glob(filepath.Join(home, archive, "*-"+id+".jsonl"))
	if len(old) > 0 {
		return Info{}, &Error{Op: "find session", Path: id, Why: "it is archived", Remedy: "interpreter unarchive " + id}
	}
	return Info{}, &Error{Op: "find session", Path: id, Why: "there is none with this id in " + filepath.Join(home, folder)}
}

// found is a session file that was seen in a folder.
type found struct {
	path    string
	updated time.Time
}

// files lists session files, newest update first.
func files(home string) []found {
	var out []found
	filepath.WalkDir(filepath.Join(home, folder), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), "rollout-") || !strings.HasSuffix(path, ".jsonl") {
			return nil // an unreadable folder hides its sessions, not the others
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			out = append(out, found{path, info.ModTime()})
		}
		return nil
	})
	slices.SortFunc(out, func(a, b found) int {
		if c := b.updated.Compare(a.updated); c != 0 {
			return c
		}
		return strings.Compare(b.path, a.path) // ids grow with time
	})
	return out
}

func walk(home string, q Query, names map[string]string, limit int) ([]Info, error) {
	var out []Info
	for _, f := range files(home) {
		info, err := describe(f, names)
		if err != nil {
			continue // not a session: nothing a list could show
		}
		if q.Text != "" && info.Name != q.Text || q.Dir != "" && !q.All && !sameDir(info.Dir, q.Dir) {
			continue
		}
		out = append(out, info)
		if limit > 0 && len(out) == limit {
			break
		}
	}
	return out, nil
}

func sameDir(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// window is how much of either end of a file a list reads.
const window = 64 << 10

// describe reads the two ends of a session file.
func describe(f found, names map[string]string) (Info, error) {
	in, err := os.Open(f.path)
	if err != nil {
		return Info{}, &Error{Op: "read session", Path: f.path, Err: err}
	}
	defer in.Close()
	head, tail, err := ends(in)
	if err != nil {
		return Info{}, &Error{Op: "read session", Path: f.path, Err: err}
	}
	info := Info{Path: f.path, Updated: f.updated}
	for _, e := range parse(head).Events {
		switch b := e.Body.(type) {
		case event.Begun:
			if info.ID == "" {
				info.ID, info.Dir, info.Source, info.Started = b.ID, b.Dir, b.Source, e.Time
				info.Model, info.Provider = b.Model, b.Provider
			}
		case event.Prompted:
			if info.Preview == "" {
				info.Preview = preview(b.Message.Text)
			}
		}
		info.latest(e)
	}
	if info.ID == "" {
		return Info{}, &Error{Op: "read session", Path: f.path, Why: "it does not begin as one"}
	}
	for _, e := range parse(tail).Events {
		info.latest(e)
	}
	info.Name = names[info.ID]
	return info, nil
}

// latest takes over what the newest turn tells.
func (i *Info) latest(e event.Event) {
	t, ok := e.Body.(event.TurnStarted)
	if !ok {
		return
	}
	if t.Dir != "" {
		i.Dir = t.Dir
	}
	if t.Model != "" {
		i.Model = t.Model
	}
	if t.Provider != "" {
		i.Provider = t.Provider
	}
}

func ends(in *os.File) (head, tail []byte, err error) {
	info, err := in.Stat()
	if err != nil {
		return nil, nil, err
	}
	head = make([]byte, min(window, info.Size()))
	if _, err = io.ReadFull(in, head); err != nil {
		return nil, nil, err
	}
	// A long turn may have begun far before the end; look back until its start is seen.
	for size := int64(window); ; size *= 4 {
		from := max(info.Size()-size, int64(len(head)))
		tail = make([]byte, max(info.Size()-from, 0))
		n, err := in.ReadAt(tail, from)
		if err != nil && err != io.EOF {
			return nil, nil, err
		}
		tail = tail[:n]
		if from == int64(len(head)) || bytes.Contains(tail, []byte(`"type":"turn_context"`)) {
			break
		}
	}
	return head, tail, nil
}

func preview(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	const most = 120
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most-1]) + "…"
	}
	return text
}

// name is a line of the name index.
type name struct {
	ID      string `json:"id"`
	Name    string `json:"thread_name"`
	Updated string `json:"updated_at"`
}

// readNames reads the name index; the newest line of a session wins.
func readNames(home string) map[string]string {
	names := map[string]string{}
	raw, err := os.ReadFile(filepath.Join(home, index))
	if err != nil {
		return names
	}
	for line := range bytes.Lines(raw) {
		var n name
		if json.Unmarshal(line, &n) == nil && n.ID != "" {
			names[n.ID] = n.Name
		}
	}
	return names
}

// SetName names a session. Names need not be unique.
func SetName(home, id, text string) error {
	path := filepath.Join(home, index)
	line, err := json.Marshal(name{id, text, time.Now().UTC().Format(time.RFC3339)})
	if err != nil {
		return &Error{Op: "name session", Path: id, Err: err}
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return &Error{Op: "name session", Path: path, Err: err}
	}
	_, err = f.Write(append(line, '\n'))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return &Error{Op: "name session", Path: path, Err: err}
	}
	return nil
}
