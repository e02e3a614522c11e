package ollama

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/localtest"
)

// Answers of a server from 0.30 on are in testdata/era-b, whose README says where each comes from.

// recorded is one answer of a server.
type recorded struct {
	status     int
	kind, body string
}

func readAnswer(t testing.TB, name string) recorded {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "era-b", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	comment, rest, _ := strings.Cut(string(data), "\n")
	head, body, ok := strings.Cut(rest, "\n\n")
	status, kind, _ := strings.Cut(head, " ")
	n, err := strconv.Atoi(status)
	if !strings.HasPrefix(comment, "# ") || !ok || err != nil {
		t.Fatalf("%s: no comment, status and body", name)
	}
	return recorded{n, kind, body}
}

func (a recorded) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", a.kind)
	w.WriteHeader(a.status)
	fmt.Fprint(w, a.body)
}

// answering is a provider whose server gives one recorded answer to whatever is asked.
func answering(t testing.TB, name string) *Provider {
	t.Helper()
	server := httptest.NewServer(readAnswer(t, name))
	t.Cleanup(server.Close)
	return newProvider(t, server.URL, Options{})
}

// wireB is how a server of 0.34.0 speaks on its native path: calls come in the chunk that says done, and the engine's
// refusals are handed on as texts within a text.
func wireB() localtest.Wire {
	b := wire
	var calls string // of the answer that is being put together
	b.Serve = func(s localtest.State, answer http.Handler) http.Handler {
		s.Version = "0.34.0"
		return serve(s, answer)
	}
	line := func(message, rest string) string {
		return `{"model":"practice","created_at":"2026-11-30T18:52:35Z","message":{"role":"assistant",` + message + `},` + rest + "}\n"
	}
	b.Text = func(s string) string { return line(`"content":`+quote(s), `"done":false`) }
	b.Thinking = func(s string) string { return line(`"content":"","thinking":`+quote(s), `"done":false`) }
	b.Calls = func(list ...chat.Call) string {
		var all []string
		for i, c := range list {
			id := ""
			if c.ID != "" {
				id = `"id":` + quote(c.ID) + ","
			}
			all = append(all, fmt.Sprintf(`{%s"function":{"index":%d,"name":%s,"arguments":%s}}`, id, i, quote(c.Name), c.Args))
		}
		calls = `,"tool_calls":[` + strings.Join(all, ",") + "]"
		return ""
	}
	b.End = func(f chat.Finish, input, output int) string {
		last := line(`"content":""`+calls, fmt.Sprintf(
			`"done":true,"done_reason":%q,"total_duration":276559411,"load_duration":254123664,"prompt_eval_count":%d,"prompt_eval_cached_count":0,"prompt_eval_duration":8801000,"eval_count":%d,"eval_duration":1297000`,
			string(f), input, output))
		calls = ""
		return last
	}
	b.Overflow = func(prompt, window int) string {
		return `{"error":` + quote(fmt.Sprintf(
			`{"error":{"code":400,"message":"request (%d tokens) exceeds the available context size (%d tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`,
			prompt, window, prompt, window)) + `}`
	}
	b.Missing = func(model string) string { return `{"error":` + quote("model '"+model+"' not found") + `}` }
	return b
}

func TestProviderEraB(t *testing.T) { localtest.TestProvider(t, wireB()) }

// What wireB says is what was recorded, but for the numbers and the names.
func TestWireEraBIsAsRecorded(t *testing.T) {
	b := wireB()
	shape := func(text string) string {
		var out strings.Builder
		digits := false
		for _, r := range text {
			if r >= '0' && r <= '9' {
				if !digits {
					out.WriteByte('0')
				}
				digits = true
				continue
			}
			digits = false
			out.WriteRune(r)
		}
		return strings.ReplaceAll(out.String(), `"jinja"`, `"practice"`)
	}
	call := chat.Call{ID: "ZXFjG1kEoWko7wAQ0MOo7Y0BwPqAnBLm", Name: "read", Args: []byte(`{"path":"a.txt"}`)}
	got := b.Thinking("two calls") + b.Text("I look.") + b.Calls(call) + b.End(chat.Stopped, 618, 4)
	if want := readAnswer(t, "native-calls").body; shape(got) != shape(want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := b.Overflow(21057, 4096), strings.TrimSpace(readAnswer(t, "overflow").body); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := b.Missing("absent:1b"), strings.TrimSpace(readAnswer(t, "missing").body); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Every answer in the folder is used by a test here, so that none is kept for show.
func TestEveryRecordedAnswerIsUsed(t *testing.T) {
	var code strings.Builder
	files, _ := filepath.Glob("era*_test.go")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	answers, _ := filepath.Glob("testdata/era-b/*.txt")
	if len(answers) == 0 {
		t.Fatal("no answers")
	}
	for _, file := range answers {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		readAnswer(t, name)
		if !strings.Contains(code.String(), `"`+name+`"`) {
			t.Errorf("%s is not used", file)
		}
	}
}

func TestFactsEraB(t *testing.T) {
	if v, err := answering(t, "version").Version(t.Context()); v != "0.34.0" || err != nil {
		t.Errorf("version %q, %v", v, err)
	}
	for name, want := range map[string]bool{"status": true, "status-off": false} {
		if on, known, err := answering(t, name).Cloud(t.Context()); on != want || !known || err != nil {
			t.Errorf("%s: cloud %v, known %v, %v", name, on, known, err)
		}
	}
}

// The list of a server does not look into files for their templates: of a model that has it there it says only
// "completion", which must not be taken for a model that cannot call tools.
func TestTagsEraB(t *testing.T) {
	list, err := answering(t, "tags").Models(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatalf("got %+v, %v", list, err)
	}
	if m := list[0]; m.Name != "practice:latest" || !m.Can("tools") || !m.Can("thinking") || m.Trained != 262144 || m.Size != 1069249 || len(m.Digest) != 64 || m.RemoteHost != "" {
		t.Errorf("got %+v", m)
	}
	if m := list[1]; m.Name != "native:latest" || m.Capabilities != nil {
		t.Errorf("got %+v", m)
	}
	list, err = answering(t, "tags-remote").Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	remote := map[string]string{}
	for _, m := range list {
		if m.RemoteHost != "" {
			remote[m.Name] = m.RemoteHost
		}
	}
	if len(remote) != 3 || remote["far:20b"] != "http://127.0.0.1:5557" || remote["gpt-oss:20b-cloud"] != "https://ollama.com:443" || len(list) <= len(remote) {
		t.Errorf("got %v of %d", remote, len(list))
	}
}

func TestShowEraB(t *testing.T) {
	tests := []struct {
		name, parser, requires, template string
		tools, thinking                  bool
		configured                       int
	}{
		{"show-go", "", "", "<|check:{{ $r }}|>", true, true, 70000},
		{"show-jinja", "", "", "{%- if add_generation_prompt %}", true, true, 0},
		{"show-parser", "qwen3", "0.30.0", "{{ .Prompt }}", true, false, 0},
	}
	for _, tt := range tests {
		m, err := answering(t, tt.name).Show(t.Context(), "m:1b")
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if m.Parser != tt.parser || m.Requires != tt.requires || m.Can("tools") != tt.tools || m.Can("thinking") != tt.thinking || m.Configured != tt.configured ||
			!strings.Contains(m.Template, tt.template) || m.Architecture != "llama" || m.Trained != 262144 {
			t.Errorf("%s: got %+v", tt.name, m)
		}
		if g := m.Geometry; g.Layers != 1 || g.Embedding != 224 || g.Vocab != 474 || g.KeyDim != 32 || g.Partial {
			t.Errorf("%s: geometry %+v", tt.name, g)
		}
	}
	full, err := answering(t, "show-jinja-verbose").Measure(t.Context(), local.ModelInfo{Name: "m:1b", Digest: "d"})
	if err != nil || full.Geometry.Layers != 1 || full.Geometry.Partial {
		t.Errorf("measured %+v, %v", full.Geometry, err)
	}
	m, err := answering(t, "show-remote").Show(t.Context(), "far:20b")
	if err != nil || m.RemoteHost != "http://127.0.0.1:5557" || m.Architecture != "gptoss" || m.Trained != 131072 {
		t.Errorf("got %+v, %v", m, err)
	}
}

// A Modelfile names its parser in a line of its own; what looks like one within a text is none.
func TestDirective(t *testing.T) {
	for text, want := range map[string]string{
		"FROM x\nPARSER qwen3\n": "qwen3", "PARSER \"a b\"": "a b", "# PARSER x\nFROM y": "", "": "", "PARSER": "", "RENDERER x": "",
		"TEMPLATE \"\"\"one\nPARSER not\n\"\"\"\nPARSER yes\n": "yes", "SYSTEM \"\"\"PARSER\nPARSER no\"\"\"": "",
		"TEMPLATE \"\"\"one line\"\"\"\r\nPARSER crlf\r\n": "crlf",
	} {
		if got := directive(text, "PARSER"); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestLoadedEraB(t *testing.T) {
	type row struct {
		name       string
		size, vram int64
		window     int
	}
	for name, want := range map[string][]row{
		"ps-empty": nil,
		"ps":       {{"native:latest", 7350517, 0, 4096}, {"practice:latest", 284216524, 0, 65536}},
		"ps-gpu":   {{"native:latest", 3303989575, 3303989575, 65536}}, "ps-partial": {{"native:latest", 3585060371, 3303989575, 70006}},
	} {
		list, err := answering(t, name).Loaded(t.Context())
		if err != nil || len(list) != len(want) {
			t.Errorf("%s: got %+v, %v", name, list, err)
			continue
		}
		for i, r := range list {
			if got := (row{r.Name, r.Size, r.VRAM, r.Window}); got != want[i] || r.Until.Year() != 2026 || len(r.Digest) != 64 {
				t.Errorf("%s: got %+v, want %+v", name, r, want[i])
			}
		}
	}
}

func TestLoadAndLeaveEraB(t *testing.T) {
	p := answering(t, "load")
	if _, err := p.Load(t.Context(), local.ModelInfo{Name: "m:1b"}, local.Loading{Window: 65536}); err != nil {
		t.Error(err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST /api/chat", readAnswer(t, "unload"))
	mux.Handle("GET /api/ps", readAnswer(t, "ps-empty"))
	mux.Handle("DELETE /api/delete", readAnswer(t, "delete"))
	server := httptest.NewServer(mux)
	defer server.Close()
	p = newProvider(t, server.URL, Options{})
	if err := p.Unload(t.Context(), local.Resident{Name: "native:latest"}); err != nil {
		t.Error(err)
	}
	if err := p.Remove(t.Context(), "m:1b"); err != nil {
		t.Error(err)
	}
	if err := answering(t, "unload").loads(t.Context()); err == nil {
		t.Error("a load that was answered with an unload is none")
	}
}

// A model that another program has loaded with other options is loaded again by the next call, which its load_duration
// tells; a warm one takes a millisecond.
func TestReloadEraB(t *testing.T) {
	m := meter{last: time.Unix(100, 0), loaded: 600 * time.Millisecond}
	for _, tt := range []struct {
		name string
		want bool
	}{{"native-cached", false}, {"reloaded", true}, {"native-next", false}} {
		got, err := collect(t, tt.name)
		if err != nil {
			t.Fatal(err)
		}
		if again := m.reloadedBy(got.Usage.Load, time.Unix(160, 0), 30*time.Minute); again != tt.want {
			t.Errorf("%s: %s was taken for a reload: %v", tt.name, got.Usage.Load, again)
		}
	}
}
