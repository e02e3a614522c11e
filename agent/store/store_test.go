package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"interpreter/agent/event"
	"interpreter/local/chat"
)

func newID(t *testing.T) string {
	t.Helper()
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	return id.String()
}

func prompt(text string) event.Prompted {
	return event.Prompted{Message: chat.Message{Role: chat.User, Text: text}}
}

func says(text string, ids ...string) event.Said {
	s := event.Said{Message: chat.Message{Role: chat.Assistant, Text: text}, Finish: chat.Stopped}
	for _, id := range ids {
		s.Message.Calls = append(s.Message.Calls, chat.Call{ID: id, Name: "run", Args: json.RawMessage(`{"cmd":  "ls"}`)})
	}
	return s
}

// session makes a file with one turn and returns its path.
func session(t *testing.T, home, dir, text string) string {
	t.Helper()
	log, file, err := Create(home, event.Begun{ID: newID(t), Dir: dir, Source: "exec", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, log, event.TurnStarted{ID: "t1", Dir: dir, Model: "m"}, prompt(text), says("", "a", "b"),
		event.Did{CallID: "a", Words: "1"}, event.Did{CallID: "b", Words: "2"}, says("done"), event.TurnEnded{ID: "t1", Reason: event.Finished})
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Path()
}

func appendAll(t *testing.T, log *event.Log, bodies ...event.Body) {
	t.Helper()
	for _, b := range bodies {
		if err := log.Append(b); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFileAppearsWithTheFirstTurn(t *testing.T) {
	home := t.TempDir()
	id := newID(t)
	log, file, err := Create(home, event.Begun{ID: id, Dir: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	appendAll(t, log, event.Warned{Text: "x"})
	if got := files(home); len(got) > 0 {
		t.Fatalf("there is a file already: %v", got)
	}
	appendAll(t, log, event.TurnStarted{ID: "t"}, prompt("hi"), event.Heard{Text: "h"})
	rel, _ := filepath.Rel(home, file.Path())
	if !regexp.MustCompile(`^sessions/\d{4}/\d\d/\d\d/rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-` + id + `\.jsonl$`).MatchString(filepath.ToSlash(rel)) {
		t.Errorf("path %s", rel)
	}
	raw, err := os.ReadFile(file.Path())
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for line := range bytes.Lines(raw) {
		var in struct {
			Timestamp, Type string
			Ordinal         int
		}
		if err := json.Unmarshal(line, &in); err != nil {
			t.Fatal(err)
		}
		if in.Ordinal != len(kinds) {
			t.Errorf("ordinal %d at line %d", in.Ordinal, len(kinds))
		}
		kinds = append(kinds, in.Type)
	}
	if want := []string{"session_meta", "warned", "turn_context", "prompted"}; !slices.Equal(kinds, want) {
		t.Errorf("got %q, want %q", kinds, want)
	}
	if runtime.GOOS != "windows" {
		for path := file.Path(); path != home; path = filepath.Dir(path) {
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s is open to others: %v %v", path, info.Mode(), err)
			}
		}
	}
}

func TestResumeGivesTheSameBytes(t *testing.T) {
	home := t.TempDir()
	path := session(t, home, "/w", "hi")
	before, _ := os.ReadFile(path)
	log, file, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	_, messages, _ := event.Transcript(log.Events())
	if len(messages) != 5 || string(messages[1].Calls[0].Args) != `{"cmd":  "ls"}` {
		t.Errorf("got %+v", messages)
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(now, before) {
		t.Error("opening changed the file")
	}
	n := len(log.Events())
	appendAll(t, log, event.TurnStarted{ID: "t2"}, prompt("more"))
	file.Close()
	got, err := Read(path)
	if err != nil || len(got.Events) != n+2 || got.Events[n+1].Seq != n+1 {
		t.Errorf("%d events, want %d (%v)", len(got.Events), n+2, err)
	}
}

func TestCasesOfSessions(t *testing.T) {
	for _, id := range []string{"se-01", "se-02", "se-03", "se-04", "se-05"} {
		t.Run(id, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join("testdata", id+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				Records, Warn, Skipped int
				RecordsMin             int `json:"records_min"`
				Last                   string
				Synthetic              []string `json:"synthetic_output_for"`
				NewLine                bool     `json:"next_append_starts_on_new_line"`
			}
			expected, err := os.ReadFile(filepath.Join("testdata", id+".expected.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(expected, &want); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), id+".jsonl")
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := Read(path)
			if err != nil {
				t.Fatal(err)
			}
			known := len(got.Events) - got.Unknown
			if want.RecordsMin == 0 && known != want.Records || known < want.RecordsMin || got.Unknown != want.Skipped {
				t.Errorf("%d records, %d unknown", known, got.Unknown)
			}
			if (got.Damage != "") != (want.Warn > 0) {
				t.Errorf("warning %q", got.Damage)
			}
			log, file, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			warnings := 0
			for _, e := range log.Events()[file.Held():] { // new, so that a reader of what is new is told
				if _, ok := e.Body.(event.Warned); ok {
					warnings++
				}
			}
			if warnings != want.Warn {
				t.Errorf("%d warnings, want %d", warnings, want.Warn)
			}
			_, messages, _ := event.Transcript(log.Events())
			if want.Last != "" && messages[len(messages)-1].Text != want.Last {
				t.Errorf("the last is %+v", messages[len(messages)-1])
			}
			for _, call := range want.Synthetic {
				last := messages[len(messages)-1]
				if last.Result == nil || last.Result.CallID != call || last.Result.Text != event.NoResult {
					t.Errorf("no result was made for %s: %+v", call, last)
				}
			}
			if now, _ := os.ReadFile(path); !bytes.Equal(now, raw) {
				t.Error("opening changed the file")
			}
			appendAll(t, log, event.TurnStarted{ID: "t"}, prompt("next"))
			file.Close()
			now, _ := os.ReadFile(path)
			if !bytes.HasPrefix(now, raw) {
				t.Error("the file was rewritten")
			}
			if want.NewLine && now[len(raw)] != '\n' {
				t.Errorf("what follows the torn line is %q", now[len(raw):len(raw)+20])
			}
			again, err := Read(path)
			if err != nil || again.Damage != got.Damage {
				t.Errorf("read again: %q, was %q (%v)", again.Damage, got.Damage, err)
			}
			if last := again.Events[len(again.Events)-1].Body; last.(event.Prompted).Message.Text != "next" {
				t.Errorf("the new record is %+v", last)
			}
		})
	}
}

// A crash may cut the file at any byte: what is left must resume, and take new records.
func TestCutAtEveryByte(t *testing.T) {
	home := t.TempDir()
	whole, err := os.ReadFile(session(t, home, "/w", "hi"))
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(whole, '\n')
	path := filepath.Join(t.TempDir(), "cut.jsonl")
	for n := range len(whole) + 1 {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		log, file, err := Open(path)
		if n < first {
			if err == nil {
				t.Fatalf("at %d: nothing was left, yet it opened", n)
			}
			continue
		}
		if err != nil {
			t.Fatalf("at %d: %v", n, err)
		}
		appendAll(t, log, event.TurnStarted{ID: "t2"}, prompt("more"))
		file.Close()
		got, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		_, messages, _ := event.Transcript(got.Events)
		open := map[string]bool{}
		for _, m := range messages {
			if m.Role == chat.Tool {
				if !open[m.Result.CallID] {
					t.Fatalf("at %d: a result without its call", n)
				}
				delete(open, m.Result.CallID)
				continue
			}
			if len(open) > 0 {
				t.Fatalf("at %d: calls without results before %+v", n, m)
			}
			for _, c := range m.Calls {
				open[c.ID] = true
			}
		}
		if last := messages[len(messages)-1]; len(open) > 0 || last.Text != "more" {
			t.Fatalf("at %d: it ends with %+v", n, last)
		}
	}
}

func TestSecondOpenerIsTurnedAway(t *testing.T) {
	path := session(t, t.TempDir(), "/w", "hi")
	_, file, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("STORE_TEST_CHILD") != "" {
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestChildOpens$")
	cmd.Env = append(os.Environ(), "STORE_TEST_FILE="+path)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !bytes.Contains(out, []byte("using it")) || !bytes.Contains(out, []byte(path)) {
		t.Errorf("the other process saw: %s", out)
	}
	if runtime.GOOS == "linux" && !bytes.Contains(out, []byte("(process ")) {
		t.Errorf("it was not told who: %s", out)
	}
	file.Close()
	_, file, err = Open(path)
	if err != nil {
		t.Fatalf("after the first one closed: %v", err)
	}
	file.Close()
}

// TestChildOpens is the other process of the test above.
func TestChildOpens(t *testing.T) {
	path := os.Getenv("STORE_TEST_FILE")
	if path == "" {
		t.Skip("run by TestSecondOpenerIsTurnedAway")
	}
	_, _, err := Open(path)
	if err == nil {
		t.Fatal("two processes have one session")
	}
	os.Stdout.WriteString(err.Error() + "\n")
}

func TestCreateTellsAtOnceWhatCannotBeWritten(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := os.WriteFile(home, nil, 0o600); err != nil { // a file where the folder should be
		t.Fatal(err)
	}
	_, _, err := Create(home, event.Begun{ID: newID(t)})
	var e *Error
	if !errors.As(err, &e) || e.Remedy == "" || !strings.Contains(err.Error(), home) {
		t.Errorf("got %v", err)
	}
}

// /dev/full refuses every write as a full disk does.
func TestFullDiskIsAnError(t *testing.T) {
	out, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	f := &File{path: "/dev/full", out: out}
	log := event.NewLog(f.keep)
	appendAll(t, log, event.Begun{ID: "x"})
	err = log.Append(event.TurnStarted{})
	var e *Error
	if !errors.As(err, &e) || e.Remedy == "" {
		t.Errorf("got %v", err)
	}
	if len(log.Events()) != 1 {
		t.Error("an event that was not kept is in the log")
	}
}

func TestFind(t *testing.T) {
	home := t.TempDir()
	a, b := t.TempDir(), t.TempDir()
	first := session(t, home, a, "first one")
	second := session(t, home, b, "second one")
	third := session(t, home, a, "third\n  one")
	now := time.Now()
	for i, path := range []string{first, second, third} {
		if err := os.Chtimes(path, now, now.Add(time.Duration(i-3)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	idOf := func(path string) string {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		return name[len(name)-36:]
	}
	for _, n := range [][2]string{{idOf(first), "fix"}, {idOf(second), "fix"}, {idOf(third), "fix"}, {idOf(third), "other"}} {
		if err := SetName(home, n[0], n[1]); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name string
		q    Query
		want string
	}{
		{"by id without its dashes", Query{Text: strings.ReplaceAll(idOf(first), "-", ""), Dir: b}, first},
		{"by id, wherever it ran", Query{Text: strings.ToUpper(idOf(first)), Dir: b}, first},
		{"the newest of a name", Query{Text: "fix"}, second},
		{"a name in this folder", Query{Text: "fix", Dir: a}, first},
		{"a name in any folder", Query{Text: "fix", Dir: a, All: true}, second},
		{"the last", Query{Last: true, Dir: a}, third},
		{"the last of another folder", Query{Last: true, Dir: b}, second},
		{"the last of all", Query{Last: true, Dir: b, All: true}, third},
		{"an unknown id", Query{Text: newID(t)}, ""},
		{"an unknown name", Query{Text: "nope"}, ""},
		{"nothing was asked", Query{}, ""},
		{"none here", Query{Last: true, Dir: home}, ""},
	}
	for _, tt := range tests {
		got, err := Find(home, tt.q)
		if got.Path != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: got %s, %v", tt.name, got.Path, err)
		}
	}
	all, err := List(home, Query{})
	if err != nil || len(all) != 3 || all[0].Label() != "other" || all[0].Preview != "third one" || all[2].ID != idOf(first) || all[1].Dir != b {
		t.Errorf("list: %+v, %v", all, err)
	}
	old := filepath.Join(home, archive, filepath.Base(first))
	os.MkdirAll(filepath.Dir(old), 0o700)
	if err := os.Rename(first, old); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, err := Find(home, Query{Text: idOf(first)}); !errors.As(err, &e) || !strings.Contains(e.Remedy, "unarchive "+idOf(first)) {
		t.Errorf("archived: %v", err)
	}
}

func TestLatestFolderOfALongSession(t *testing.T) {
	home := t.TempDir()
	path := session(t, home, "/old", "hi")
	log, file, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", window)
	appendAll(t, log, says(long), event.TurnStarted{ID: "t2", Dir: "/new"}, prompt("more"), says(long), says(long), says(long))
	file.Close()
	got, err := Find(home, Query{Last: true, Dir: "/new"})
	if err != nil || got.Dir != "/new" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestFork(t *testing.T) {
	home := t.TempDir()
	path := session(t, home, "/w", "one")
	log, file, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, log, event.TurnStarted{ID: "t2"}, prompt("two"), says("done too"), event.TurnEnded{ID: "t2"})
	file.Close()
	from, err := Find(home, Query{Last: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ prompts, messages int }{{-1, 7}, {1, 5}, {0, 0}} {
		id := newID(t)
		log, file, err := Fork(home, from, event.Begun{ID: id, Dir: "/w"}, tt.prompts)
		if err != nil {
			t.Fatal(err)
		}
		_, messages, _ := event.Transcript(log.Events())
		if len(messages) != tt.messages {
			t.Errorf("%d prompts: %d messages, want %d", tt.prompts, len(messages), tt.messages)
		}
		if _, err := os.Stat(file.Path()); err == nil {
			t.Error("a fork without a turn has a file")
		}
		appendAll(t, log, event.TurnStarted{ID: "t3"}, prompt("three"))
		file.Close()
		got, err := Read(file.Path())
		if err != nil || got.Damage != "" {
			t.Fatalf("%v %s", err, got.Damage)
		}
		begun, ok := got.Events[0].Body.(event.Begun)
		if !ok || begun.ForkedFrom != from.ID || begun.ID != id {
			t.Errorf("got %+v", got.Events[0])
		}
		if _, again, _ := event.Transcript(got.Events); len(again) != tt.messages+1 {
			t.Errorf("%d prompts: the file holds %d messages", tt.prompts, len(again))
		}
	}
}

func TestEphemeralLeavesNothing(t *testing.T) {
	log := Ephemeral(event.Begun{ID: "x"})
	appendAll(t, log, event.TurnStarted{}, prompt("x"))
	if n := len(log.Events()); n != 3 {
		t.Errorf("%d events", n)
	}
}

func FuzzParse(f *testing.F) {
	names, _ := filepath.Glob("testdata/se-*.jsonl")
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for i, e := range parse(raw).Events {
			if e.Seq != i || e.Body == nil {
				t.Fatalf("event %d is %+v", i, e)
			}
		}
	})
}

func BenchmarkAppendToFile(b *testing.B) {
	log, file, err := Create(b.TempDir(), event.Begun{ID: "x"})
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	if err := log.Append(event.TurnStarted{}); err != nil {
		b.Fatal(err)
	}
	body := says("an answer of a usual length", "a")
	b.ReportAllocs()
	for b.Loop() {
		if err := log.Append(body); err != nil {
			b.Fatal(err)
		}
	}
}
