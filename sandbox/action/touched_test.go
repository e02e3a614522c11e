package action

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"interpreter/sandbox/sandboxtest"
)

func touchable(t *testing.T) *Workspace {
	t.Helper()
	policy := sandboxtest.Writable(t, t.TempDir())
	w := &Workspace{Dir: policy.Dir, Box: sandboxtest.New(t, policy), Env: sandboxtest.Environ(), Shell: "/bin/sh"}
	t.Cleanup(func() { w.Close() })
	return w
}

func TestTouchedTellsOfEachChangeOnce(t *testing.T) {
	w, ctx := touchable(t), context.Background()
	clock := time.Now()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(w.Dir, name)
		clock = clock.Add(time.Second)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, clock, clock); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what string, names ...string) {
		t.Helper()
		if got := w.Touched(); !slices.Equal(got, names) {
			t.Errorf("%s: got %v, want %v", what, got, names)
		}
	}
	put("a", "one")
	put("b", "one")
	put("never seen", "one")
	for _, name := range []string{"a", "b"} {
		if _, err := (Read{Path: name}).Do(ctx, w); err != nil {
			t.Fatal(err)
		}
	}
	want("nothing happened")
	put("b", "two")
	put("a", "two")
	put("never seen", "two")
	want("two changes", "a", "b")
	want("they were told")
	put("a", "two") // another time, the same content
	want("saved again")
	put("a", "one")
	want("as the model knows it")
	put("a", "three")
	want("another change", "a")
	if _, err := (Edit{Path: "b", Old: "two", New: "2"}).Do(ctx, w); err != nil {
		t.Fatal(err)
	}
	want("the model's own edit")
	if err := os.Remove(filepath.Join(w.Dir, "a")); err != nil {
		t.Fatal(err)
	}
	want("gone")
}

func TestEndedTellsOfEachCommandOnce(t *testing.T) {
	w, ctx := touchable(t), context.Background()
	w.Spill = t.TempDir()
	var ids []int
	for _, script := range []string{"echo one; exit 3", "echo two", "sleep 300"} {
		ran, err := (Run{Script: script, Background: true}).Do(WithCall(ctx, "call "+script), w)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, ran.Session)
	}
	var ended []Ran
	for range 2000 {
		if ended = append(ended, w.Ended()...); len(ended) == 2 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	slices.SortFunc(ended, func(a, b Ran) int { return a.Session - b.Session })
	if len(ended) != 2 || ended[0].Session != ids[0] || ended[0].Exit.Code != 3 || ended[1].Exit.Code != 0 || !strings.HasPrefix(ended[0].Full, w.Spill) || ended[1].Call != "call echo two" || ended[1].Output != "two\n" {
		t.Fatalf("got %+v", ended)
	}
	if again := w.Ended(); len(again) != 0 {
		t.Errorf("told again: %+v", again)
	}
	ran, err := (Poll{Session: ids[0]}).Do(ctx, w)
	if err != nil || ran.Output != "one\n" || ran.Session != 0 {
		t.Errorf("its output is gone: %+v, %v", ran, err)
	}
}

func TestWhich(t *testing.T) {
	w := touchable(t)
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"tool": 0o755, "text": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	w.Env = []string{"PATH=" + strings.Join([]string{t.TempDir(), dir}, string(filepath.ListSeparator))}
	if path, ok := w.Which("tool"); !ok || path != filepath.Join(dir, "tool") {
		t.Errorf("got %q, %v", path, ok)
	}
	for _, name := range []string{"text", "none", "", "../tool", "/bin/sh"} {
		if path, ok := w.Which(name); ok {
			t.Errorf("%q is said to be at %q", name, path)
		}
	}
}

func TestRoomLimitsAnOutput(t *testing.T) {
	w := touchable(t)
	for room, most := range map[int]int{0: 30000, 2000: 2000, 1: 1600, 1 << 20: 30000} {
		ran, err := (Run{Script: "seq 1 20000"}).Do(WithRoom(context.Background(), room), w)
		if err != nil || len(ran.Output) > most || ran.Gap == nil || !strings.HasSuffix(ran.Output, "20000\n") {
			t.Errorf("room %d: %d bytes, gap %v, %v", room, len(ran.Output), ran.Gap, err)
		}
	}
}
