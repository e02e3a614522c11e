// Command compare runs the demo under several harnesses on the practice server and prints how they differ: how many
// calls and requests it took, how the edit was written, how long the prompts were. Everything is counted afterwards, in
// the session's file and in the log of the practice server. The replies are scripted: it compares surfaces, not models.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"interpreter/agent/event"
	"interpreter/agent/store"
	"interpreter/harness/catalog"
	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("want the path of benchmarks/demo, and harnesses")
	}
	const layout = "%-16s %5v %8v %8v %8v  %6v  %-44s %v\n"
	fmt.Printf(layout, "harness", "calls", "requests", "first", "last", "turns", "edit, as it was written", "bytes")
	for _, id := range args[1:] {
		if _, err := catalog.Named(id); err != nil {
			return err
		}
		dir, err := os.MkdirTemp("/var/tmp", "interpreter-compare-") // not /tmp, which workspace-write may write
		if err != nil {
			return err
		}
		f, err := played(ctx, args[0], id, dir)
		if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		fmt.Printf(layout, id, f.calls, f.requests, f.first, f.last, fmt.Sprintf("%.2f s", f.took.Seconds()), f.edit, f.bytes)
	}
	fmt.Println("first, last: bytes of the requests of the session; the two of the tool check before it are not counted")
	return nil
}

// figures are what one run of the demo came to.
type figures struct {
	calls, requests int
	first, last     int // bytes of requests
	took            time.Duration
	edit            string // the call that changed the file
	bytes           int    // of its arguments
}

func played(ctx context.Context, demo, id, dir string) (f figures, err error) {
	cmd := exec.CommandContext(ctx, demo)
	cmd.Env = append(os.Environ(), "PROVIDER=practice", "HARNESS="+id, "WORK="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return f, fmt.Errorf("the demo: %w\n%s", err, out)
	}
	if err := f.requested(filepath.Join(dir, "practice.log")); err != nil {
		return f, err
	}
	var files []string
	err = filepath.WalkDir(filepath.Join(dir, "home", "sessions"), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".jsonl") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return f, err
	}
	if len(files) != 1 {
		return f, fmt.Errorf("%d session files, want one", len(files))
	}
	session, err := store.Read(files[0])
	if err != nil {
		return f, err
	}
	return f, f.happened(session.Events)
}

// requested counts in the log of the practice server.
func (f *figures) requested(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var line struct{ Bytes, Reply int }
		if json.Unmarshal(lines.Bytes(), &line) != nil || line.Reply == 0 {
			continue // the banner, or a tool check
		}
		f.requests++
		if f.first == 0 {
			f.first = line.Bytes
		}
		f.last = line.Bytes
	}
	if f.requests == 0 {
		return fmt.Errorf("%s: no request in it", path)
	}
	return lines.Err()
}

// happened counts in the session. The edit is the call that changed a file; where there is none, a command did, and it
// is the first one of the last turn.
func (f *figures) happened(events []event.Event) error {
	asked := map[string]chat.Call{}
	var changed, ran string
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.Said:
			for _, c := range b.Message.Calls {
				asked[c.ID] = c
			}
		case event.TurnStarted:
			ran = ""
		case event.Did:
			f.calls++
			switch b.Outcome.(type) {
			case action.Changed:
				changed = b.CallID
			case action.Ran:
				if ran == "" {
					ran = b.CallID
				}
			}
		case event.TurnEnded:
			f.took += b.Took
		}
	}
	if changed == "" {
		changed = ran
	}
	call, ok := asked[changed]
	if !ok {
		return fmt.Errorf("the call that changed the file is not in the session")
	}
	f.edit, f.bytes = call.Name+" "+strings.Join(keys(call.Args), ", "), len(call.Args)
	return nil
}

// keys lists the arguments of a call, those of the objects in a list behind its name.
func keys(object json.RawMessage) []string {
	var out []string
	d := json.NewDecoder(bytes.NewReader(object))
	d.Token()
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			break
		}
		name := fmt.Sprint(key)
		var items []json.RawMessage
		if json.Unmarshal(value, &items) == nil && len(items) > 0 && items[0][0] == '{' {
			name += " [" + strings.Join(keys(items[0]), ", ") + "]"
		}
		out = append(out, name)
	}
	return out
}
