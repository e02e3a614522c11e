package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interpreter/local/chat"
)

// A verdict is kept by server version, digest and template; a change of any, damage to the file or age ask again.
func TestVerdicts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home", "verdicts.json")
	now := time.Date(2026, 9, 1, 10, 0, 0, 0, time.UTC)
	f := server(able("a:1b", 2e9))
	asked := func(o Options) int {
		t.Helper()
		before := len(f.answer.asked)
		o.Providers, o.Verdicts, o.Now = []Provider{f}, path, func() time.Time { return now }
		p, log, err := finish(t, o)
		if err != nil || p.Verdict != Native {
			t.Fatalf("got %+v, %v\n%s", p, err, log)
		}
		return len(f.answer.asked) - before
	}
	check := func(name string, want int) {
		t.Helper()
		if got := asked(Options{}); got != want {
			t.Errorf("%s: %d requests, want %d", name, got, want)
		}
	}
	check("first", 2)
	check("again", 0)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	f.version = "1.1"
	check("another server", 2)
	f.models[0].Template = "changed"
	check("another template", 2)
	f.models[0].Digest = "d2"
	check("another digest", 2)
	now = now.Add(29 * 24 * time.Hour)
	check("a month is not over", 0)
	now = now.Add(2 * 24 * time.Hour)
	check("a month is over", 2)
	check("renewed", 0)
	if err := os.WriteFile(path, []byte(`{"version":1,"verd`), 0o600); err != nil {
		t.Fatal(err)
	}
	check("damaged", 2)
	check("mended", 0)
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".verdicts-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	f.models[0].Digest = ""
	check("no digest", 2)
	check("no digest again: name and size stand for it", 0)
}

// A verdict that cannot be kept is a warning.
func TestVerdictsUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, log, err := finish(t, Options{Providers: []Provider{server(able("a:1b", 2e9))}, Verdicts: filepath.Join(file, "verdicts.json")})
	if err != nil || !strings.Contains(log, "keep the verdict") {
		t.Errorf("%v\n%s", err, log)
	}
}

// A model that is too slow for the check is handed over, said to be unproven.
func TestSlowCheck(t *testing.T) {
	f := server(able("a:1b", 2e9))
	hang := &hanging{}
	path := filepath.Join(t.TempDir(), "verdicts.json")
	p, log, err := finish(t, Options{Providers: []Provider{loadsOther{f, hang}}, CheckFor: time.Millisecond, Verdicts: path})
	if err != nil || p.Verdict != NotKnown || !strings.Contains(log, "unproven") {
		t.Errorf("got %+v, %v\n%s", p, err, log)
	}
}

// A model known to read too slowly for the session's opening is asked without it. What a check in vain tells of its
// speed counts for the next one.
func TestSlowReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "verdicts.json")
	now := time.Date(2026, 9, 1, 10, 0, 0, 0, time.UTC)
	f := server(able("a:1b", 2e9))
	big := opening()
	big.Messages[0].Text = strings.Repeat("word ", 1<<16)
	o := Options{
		Providers: []Provider{loadsOther{f, &hanging{}}}, Verdicts: path, CheckFor: 20 * time.Millisecond, Now: func() time.Time { return now },
		Prefix: func(m ModelInfo, window int) (Prefix, error) {
			if m.Name != "a:1b" || window != 131072 {
				t.Errorf("asked for the opening of %s with %d", m.Name, window)
			}
			return big, nil
		},
	}
	p, log, err := finish(t, o)
	if err != nil || p.Verdict != NotKnown || p.Report.Prefill == 0 || !strings.Contains(log, "unproven") {
		t.Fatalf("got %+v, %v\n%s", p, err, log)
	}
	slow := keptVerdict{Provider: "fake", Digest: "d-a:1b", Verdict: NotKnown, When: now.Add(time.Second), Report: Report{Prefill: 500}}
	if prefill, _ := readVerdicts(path).rates("fake", f.models[0]); prefill != p.Report.Prefill {
		t.Errorf("kept a speed of %v, not %v", prefill, p.Report.Prefill)
	}
	if err := (ledger{path, "another harness"}).keep(slow); err != nil {
		t.Fatal(err)
	}
	o.Providers, o.CheckFor = []Provider{f}, 0
	p, log, err = finish(t, o)
	if err != nil || p.Verdict != Native || !p.Report.Alone || !strings.Contains(log, "checked without them") {
		t.Fatalf("got %+v, %v\n%s", p, err, log)
	}
	if req := f.answer.asked[0]; len(req.Messages) != 2 || len(req.Tools) != 2 {
		t.Errorf("asked with %d messages and %d tools", len(req.Messages), len(req.Tools))
	}
	if p.Warm || p.Prefill != 500 {
		t.Errorf("the opening was not read: warm %v, %v tokens a second", p.Warm, p.Prefill)
	}
	if p, log, err = finish(t, o); err != nil || p.Verdict != Native || len(f.answer.asked) != 2 {
		t.Errorf("asked again: %+v, %v\n%s", p, err, log)
	}
}

// Behind a tool check the server has read the session's opening; behind a kept verdict nobody knows.
func TestWarmAfterCheck(t *testing.T) {
	o := Options{
		Providers: []Provider{server(able("a:1b", 2e9))}, Verdicts: filepath.Join(t.TempDir(), "verdicts.json"),
		Prefix: func(ModelInfo, int) (Prefix, error) { return opening(), nil },
	}
	for _, want := range []bool{true, false} {
		if p, log, err := finish(t, o); err != nil || p.Warm != want {
			t.Errorf("warm %v, %v\n%s", p.Warm, err, log)
		}
	}
}

// A verdict counts for the harness, the schemas and the cache that it was found with.
func TestVerdictKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "verdicts.json")
	f := server(able("a:1b", 2e9))
	prefix := opening()
	o := Options{Providers: []Provider{f}, Verdicts: path, Prefix: func(ModelInfo, int) (Prefix, error) { return prefix, nil }}
	check := func(name string, want int) {
		t.Helper()
		before := len(f.answer.asked)
		p, log, err := finish(t, o)
		if err != nil || p.Verdict != Native || p.Report.Verdict != Native || len(p.Report.Stages) < 4 {
			t.Fatalf("%s: got %+v, %v\n%s", name, p, err, log)
		}
		if got := len(f.answer.asked) - before; got != want {
			t.Errorf("%s: %d requests, want %d", name, got, want)
		}
	}
	check("first", 2)
	check("again", 0)
	prefix.Messages[0].Text = "Other instructions."
	check("other instructions", 0)
	prefix.Harness = "other"
	check("another harness", 2)
	prefix.Tools[0].Parameters = []byte(`{"type":"object","properties":{}}`)
	check("another schema", 2)
	o.CacheType = "q8_0"
	check("another cache", 2)
	f.models[0].Parser = "hermes"
	check("another parser", 2)
	f.models[0].Capabilities = append(f.models[0].Capabilities, "thinking")
	check("thinking", 2)
	o.Rescue = func(m chat.Message) (chat.Message, error) { return m, nil }
	check("a reader of calls as text", 2)
	check("all the same", 0)
	f.models[0].Digest = ""
	check("no digest", 2)
	check("name and size stand for it", 0)
	f.models[0].Size++
	check("another size", 2)
	o.Thorough = true
	f.answer.by = thorough
	check("thorough", 4)
	check("thorough again", 4)
	o.Prefix = func(ModelInfo, int) (Prefix, error) { return Prefix{}, errors.New("no such file") }
	if _, _, err := finish(t, o); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
}

// thorough passes all stages.
func thorough(req chat.Request) reply {
	switch last := req.Messages[len(req.Messages)-1]; {
	case last.Text == writeUser:
		return call("probe_write", string(AppendJSON(nil, map[string]string{"path": writePath, "text": writeText})))
	case last.Text == plainUser:
		return says("Tuesday")
	}
	return obedient().by(req)
}

// A file of an older form is an empty one.
func TestOldVerdicts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "verdicts.json")
	if err := os.WriteFile(path, []byte(`{"version":1,"verdicts":{"k":{"model":"a:1b","verdict":"native","when":"2026-09-01T10:00:00Z"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := readVerdicts(path); len(got.Verdicts) != 0 || got.Version != verdictVersion {
		t.Errorf("got %+v", got)
	}
}

// A check that fails takes back the verdict of an earlier one, and names the model that passed before others.
func TestFailureTakesVerdictBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "verdicts.json")
	f := server(able("a:1b", 2e9), able("b:1b", 1e9), able("c:1b", 15e8), able("d:90b", 90e9))
	o := Options{Providers: []Provider{f}, Verdicts: path}
	for _, name := range []string{"a:1b", "b:1b"} {
		o.Model = name
		if _, _, err := finish(t, o); err != nil {
			t.Fatal(err)
		}
	}
	o.Model, o.Thorough = "a:1b", true
	f.answer.by = func(chat.Request) reply { return says("no") }
	_, _, err := finish(t, o)
	var refusal *Refusal
	var wrong *CheckError
	today := time.Now().UTC().Format(time.DateOnly)
	if !errors.As(err, &refusal) || !strings.HasPrefix(refusal.Try, "-m b:1b, which called tools on "+today) {
		t.Errorf("got %v / %+v", err, refusal)
	}
	if !errors.As(err, &wrong) || wrong.Report.Verdict != Failed || wrong.Report.stage("call") == nil {
		t.Errorf("no report: %v", err)
	}
	if kept := readVerdicts(path).Verdicts; len(kept) != 1 {
		t.Errorf("kept %+v", kept)
	}
	f.answer.by = obedient().by
	o.Thorough = false
	before := len(f.answer.asked)
	if _, _, err := finish(t, o); err != nil || len(f.answer.asked) != before+2 {
		t.Errorf("%v, %d requests", err, len(f.answer.asked)-before)
	}
}

// Calls that cannot be read lower a verdict a step at a time; the last step makes the next run ask again.
func TestDowngrade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "verdicts.json")
	f := server(able("a:1b", 2e9))
	o := Options{Providers: []Provider{f}, Verdicts: path}
	ready := func() *Prepared {
		t.Helper()
		p, log, err := finish(t, o)
		if err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		return p
	}
	said := fmt.Sprintf("%s %v %s %v", ready().Verdict, ready().Downgrade() != "", ready().Verdict, ready().Downgrade() != "")
	if asked := len(f.answer.asked); said != "native true rescued true" || asked != 2 {
		t.Errorf("got %s, asked %d times", said, asked)
	}
	if p := ready(); p.Verdict != Native || len(f.answer.asked) != 4 {
		t.Errorf("got %s, asked %d times", p.Verdict, len(f.answer.asked))
	}
	o.Verdicts = ""
	if text := ready().Downgrade(); text != "" {
		t.Errorf("nothing is kept, yet: %s", text)
	}
}

// A model is never the remedy for its own failure, even when the catalogue thinks best of it.
func TestFailureNamesAnother(t *testing.T) {
	best := suggestion(box(32 * gib))
	f := server(able(best, 2e9))
	f.answer.by = func(chat.Request) reply { return says("no") }
	_, _, err := finish(t, Options{Providers: []Provider{f}})
	var refusal *Refusal
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Try, "fake pull ") || strings.Contains(refusal.Try, "fake pull "+best+";") {
		t.Errorf("got %v / %+v", err, refusal)
	}
}
