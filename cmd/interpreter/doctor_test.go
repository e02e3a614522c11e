package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"interpreter/local"
	"interpreter/local/ollama"
	"interpreter/local/openai"
	"interpreter/probes"
)

// What a server says of itself and of its memory, as findings.
func TestFindServers(t *testing.T) {
	forGood := time.Now().Add(1000 * 24 * time.Hour).Format(time.RFC3339)
	card := probes.Machine{GPUs: []probes.GPU{{Name: "card", Total: 24 << 30}}}
	loaded := func(size, vram int64, window int) string {
		return fmt.Sprintf(`{"models":[{"name":"a:1b\u001b[2J","size":%d,"size_vram":%d,"context_length":%d,"expires_at":%q}]}`, size, vram, window, forGood)
	}
	for _, c := range []struct {
		name, version, ps, status string
		machine                   probes.Machine
		want                      []string // state name: part of the text
	}{
		{"all well", "0.24.0", loaded(10<<30, 10<<30, 131072), `{"cloud":{"disabled":true}}`, card,
			[]string{"ok ollama: 0.24.0 at", "ok ollama loaded: a window of 131072 tokens, 10.0 GiB, all of it on the GPU, kept for good", "ok ollama kv: assumed f16", "ok ollama cloud: switched off"}},
		{"a tenth beside the GPU", "0.24.0", loaded(10<<30, 9<<30, 65536), `{}`, card, []string{"ok ollama loaded: 10% of it on the processor"}},
		{"half beside the GPU", "0.24.0", loaded(10<<30, 5<<30, 65536), `{}`, card, []string{"warn ollama loaded: 50% of it on the processor, kept for good, which is slow"}},
		{"the GPU unused", "0.24.0", loaded(10<<30, 0, 65536), `{}`, card, []string{"warn ollama loaded: all of it on the processor"}},
		{"no GPU", "0.24.0", loaded(10<<30, 0, 65536), `{}`, probes.Machine{}, []string{"ok ollama loaded: all of it on the processor"}},
		{"too small a window", "0.24.0", loaded(10<<30, 10<<30, 8192), `{}`, card, []string{"warn ollama loaded: a window of 8192 tokens"}},
		{"the cloud is on", "0.24.0", `{}`, `{"cloud":{"disabled":false}}`, card, []string{"warn ollama cloud: not switched off", "ok ollama loaded: nothing"}},
		{"old", "0.11.0", `{}`, ``, card, []string{"warn ollama: cuts long prompts in silence"}},
		{"no list", "0.24.0", `no`, ``, card, []string{"fail ollama: does not tell its models"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mux := http.NewServeMux()
			for path, body := range map[string]string{"/api/version": `{"version":"` + c.version + `"}`, "/api/ps": c.ps, "/api/status": c.status, "/api/tags": `{"models":[]}`} {
				if body != "" {
					mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
				}
			}
			server := httptest.NewServer(mux)
			defer server.Close()
			p, err := ollama.New(server.URL, ollama.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s := &settings{folders: folders{home: t.TempDir()}}
			found := s.findServers(t.Context(), world{env: func(string) string { return "" }}, survey(t.Context(), []local.Provider{p}), c.machine)
			for _, want := range c.want {
				head, text, _ := strings.Cut(want, ": ")
				state, name, _ := strings.Cut(head, " ")
				if !slices.ContainsFunc(found, func(f finding) bool {
					return f.State == state && f.Name == name && strings.Contains(f.Text, text) && (state == fine) == (f.Remedy == "")
				}) {
					t.Errorf("want %q in %+v", want, found)
				}
			}
		})
	}
}

// Every finding that is not ok has a remedy, and none can act on a terminal.
func TestTellFindings(t *testing.T) {
	var out strings.Builder
	w := world{stdout: &out, env: func(string) string { return "" }}
	all := []finding{ok("one", "fine"), warn("another", "mend\x1b[1m it", "two\nlines \x1b]0;x\x07 \u009b31m"), fail("last", "give up", "broken")}
	if err := w.tellFindings(all, &doctorFlags{}); err != nil {
		t.Fatal(err)
	}
	want := "ok    one      fine\n" +
		"warn  another  two lines\n" +
		"               try: mend it\n" +
		"FAIL  last     broken\n" +
		"               try: give up\n" +
		"1 ok, 1 warning, 1 failed\n"
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
	w.stdoutTerminal = true
	if got := w.mark(broken, &doctorFlags{}); got != "\x1b[31mFAIL\x1b[0m" {
		t.Errorf("on a terminal: %q", got)
	}
	if got := w.mark(broken, &doctorFlags{plain: true}); got != "FAIL" {
		t.Errorf("with --no-color: %q", got)
	}
	out.Reset()
	if err := w.tellFindings(all[:1], &doctorFlags{json: true, summary: true}); err != nil || strings.TrimSpace(out.String()) != "{\n  \"findings\": []\n}" {
		t.Errorf("nothing to say: %v\n%s", err, out.String())
	}
}

// A model that is refused for its speed alone is what a run takes; one without room is not.
func TestFits(t *testing.T) {
	for code, state := range map[local.Code]string{local.TooSlow: warning, local.TooBig: broken, local.TooShort: broken} {
		j := local.Judgement{Verdict: local.RefuseVerdict, Refusal: &local.Refusal{Code: code, Text: "no"}}
		if got := fits(j, "configured"); got.State != state || got.Remedy == "" {
			t.Errorf("%s: %+v", code, got)
		}
	}
}

// What a server was started with it does not give back; what another one holds it does.
func TestHeld(t *testing.T) {
	box, err := openai.New("http://127.0.0.1:1", openai.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := ollama.New("http://127.0.0.1:1", ollama.Options{})
	if err != nil {
		t.Fatal(err)
	}
	loaded := []local.Resident{{Size: 5, VRAM: 3}}
	all := stock{servers: []*server{{Server: local.Server{Provider: box}, here: true, loaded: loaded}, {Server: local.Server{Provider: o}, here: true, loaded: loaded}, {loaded: loaded}}}
	if got := all.held(); got != (local.Held{GPU: 3, RAM: 2}) {
		t.Errorf("got %+v", got)
	}
}

// Memory, swap and disks that are short are worth a warning; limits are named.
func TestFindMachine(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		m    probes.Machine
		want string
	}{
		{probes.Machine{RAM: probes.Memory{Physical: 32 * gib, Total: 32 * gib, Available: 20 * gib}}, "ok memory: 32.0 GiB, 20.0 GiB available"},
		{probes.Machine{RAM: probes.Memory{Physical: 32 * gib, Total: 8 * gib, Available: 7 * gib, Source: "cgroup"}}, "ok memory: 8.0 GiB, 7.0 GiB available; 32.0 GiB are built in, the rest is withheld by cgroup"},
		{probes.Machine{RAM: probes.Memory{Total: 32 * gib, Available: 2 * gib}}, "warn memory: little is left"},
		{probes.Machine{RAM: probes.Memory{Total: 32 * gib, Available: 20 * gib, SwapTotal: 8 * gib, SwapFree: gib}}, "warn memory: short of memory"},
		{probes.Machine{RAM: probes.Memory{Total: 32 * gib, Available: 20 * gib, SwapTotal: 8 * gib, SwapFree: 7 * gib}}, "ok memory: 1.0 GiB of 8.0 GiB swap in use"},
		{probes.Machine{}, "warn memory: nothing is fitted to it"},
		{probes.Machine{GPUs: []probes.GPU{{Name: "card", Total: 24 * gib, Free: 23 * gib}}}, "ok gpu: card, 24.0 GiB, 23.0 GiB free"},
		{probes.Machine{Cores: 2}, "ok gpu: none found; models run on the processor (2 processors)"},
		{probes.Machine{Disks: []probes.Volume{{Path: "/m", What: "ollama", Total: 1e12, Free: 5e9}}}, "warn disk: only 5.0 GB free of 1000.0 GB for ollama models, at /m"},
		{probes.Machine{Disks: []probes.Volume{{Path: "/h", What: homeDisk, Total: 1e12, Free: 5e9}}}, "ok disk: 5.0 GB free of 1000.0 GB for sessions and logs, at /h"},
		{probes.Machine{Notes: []probes.Note{{Source: "nvidia-smi", Text: "it did not answer"}}}, "ok probe: nvidia-smi: it did not answer"},
	} {
		head, text, _ := strings.Cut(c.want, ": ")
		state, name, _ := strings.Cut(head, " ")
		found := findMachine(c.m)
		if !slices.ContainsFunc(found, func(f finding) bool { return f.State == state && f.Name == name && strings.Contains(f.Text, text) }) {
			t.Errorf("want %q in %+v", c.want, found)
		}
	}
}

// The variables that say what a terminal and a locale can.
func TestSurroundings(t *testing.T) {
	for _, c := range []struct {
		env   map[string]string
		state string
	}{
		{map[string]string{"LANG": "C.UTF-8"}, fine},
		{map[string]string{"LANG": "de_DE.utf8"}, fine},
		{map[string]string{"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, warning},
		{map[string]string{"LANG": "POSIX"}, warning},
	} {
		w := world{env: func(name string) string { return c.env[name] }}
		if got := w.findLocale(); got.State != c.state {
			t.Errorf("%v: %+v", c.env, got)
		}
	}
	for at, want := range map[string]bool{
		"0.0.0.0": true, "http://0.0.0.0:11434": true, "[::]:11434": true, ":11434": true, `"0.0.0.0"`: true,
		"127.0.0.1": false, "[::1]:11434": false, "::1": false, "box.lan:11434": false,
	} {
		if got := everywhere(at); got != want {
			t.Errorf("%s: %v", at, got)
		}
	}
	for _, name := range []string{"OLLAMA_HOST", "CODEX_OSS_BASE_URL"} { // what doctor says ends up in reports
		for at, want := range map[string]string{
			"http://me:s3cret@box.lan:1/v1?key=s3cret": "=http://…@box.lan:1/v1?…:", "me:s3@cret@box.lan:1": "=…@box.lan:1:", "box.lan:1": "=box.lan:1:",
		} {
			w := world{env: func(asked string) string { return map[string]string{name: at}[asked] }}
			if got := w.findEnvironment()[0].Text; !strings.Contains(got, name+want) || strings.Contains(got, "cret") {
				t.Errorf("%s=%s: %s", name, at, got)
			}
		}
	}
}

// A hanging server does not keep doctor.
func TestExamineEnds(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(hang)
	env := map[string]string{"INTERPRETER_HOME": t.TempDir(), "OLLAMA_HOST": server.URL}
	w := world{env: func(name string) string { return env[name] }, lmstudio: nobody}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond) // sooner than its own bound
	defer cancel()
	began := time.Now()
	found := w.examine(ctx, &flags{})
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
	if !slices.ContainsFunc(found, func(f finding) bool { return f.Name == "ollama" && f.State == broken }) {
		t.Errorf("%+v", found)
	}
}
