package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"interpreter/local"
)

// shop is an Ollama server with one model to be had; its download goes as the test says.
func shop(t *testing.T, pull http.HandlerFunc) string {
	t.Helper()
	routes := http.NewServeMux()
	routes.HandleFunc("GET /api/version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"version":"0.24.0"}`) })
	routes.HandleFunc("GET /api/tags", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"models":[]}`) })
	routes.HandleFunc("GET /api/ps", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"models":[]}`) })
	routes.HandleFunc("POST /api/pull", pull)
	server := httptest.NewServer(routes)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// at runs a command line with a home of its own and returns its exit code and what it printed.
func at(ctx context.Context, t *testing.T, ollama string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	env := map[string]string{"INTERPRETER_HOME": t.TempDir(), "OLLAMA_HOST": ollama}
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer nothing.Close()
	var out, complaints bytes.Buffer
	w := world{stdin: nothing, stdout: &out, stderr: &complaints, argv0: "interpreter", env: func(name string) string { return env[name] }, lmstudio: nobody}
	code = run(ctx, w, args)
	return code, out.String(), complaints.String()
}

func piece(w http.ResponseWriter, line string) {
	fmt.Fprintln(w, line)
	w.(http.Flusher).Flush()
}

// A download that a person stops keeps what it has, and the error says so.
func TestPullIsInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	address := shop(t, func(w http.ResponseWriter, r *http.Request) {
		piece(w, `{"status":"pulling manifest"}`)
		piece(w, `{"status":"pulling abc","digest":"sha256:abc","total":10000000000,"completed":2500000000}`)
		piece(w, `{"status":"pulling abc","digest":"sha256:abc","total":10000000000,"completed":2600000000}`)
		time.AfterFunc(50*time.Millisecond, stop)
		<-r.Context().Done()
	})
	code, out, complaints := at(ctx, t, address, "models", "pull", "some:model")
	if code != exitFailed || out != "" {
		t.Errorf("exit code %d, %q", code, out)
	}
	for _, want := range []string{"pull  25 % of 10.0 GB", "interpreter: pull some:model: interrupted at 2.6 GB of 10.0 GB\n", "  try: run it again: what was downloaded is kept: interpreter models pull some:model\n"} {
		if !strings.Contains(complaints, want) {
			t.Errorf("it does not say %q:\n%s", want, complaints)
		}
	}
}

// A stream that ends without the word of success is not a download that is done.
func TestPullWithoutSuccess(t *testing.T) {
	address := shop(t, func(w http.ResponseWriter, _ *http.Request) {
		piece(w, `{"status":"pulling abc","digest":"sha256:abc","total":4000000000,"completed":4000000000}`)
		piece(w, `{"status":"verifying sha256 digest"}`)
	})
	code, out, complaints := at(t.Context(), t, address, "models", "pull", "some:model", "--json")
	if code != exitFailed || out != "" || !strings.Contains(complaints, "not finished") || !strings.Contains(complaints, "\n  try: ") {
		t.Errorf("exit code %d, %q\n%s", code, out, complaints)
	}
}

// A model with a new name is not there; one that is there twice must be told apart.
func TestFindInStock(t *testing.T) {
	one, two := &server{}, &server{}
	var all stock
	if _, err := all.find("m"); err == nil {
		t.Error("nothing is found in an empty stock")
	}
	all.models = []have{{server: one}, {server: two}}
	all.models[0].Name, all.models[1].Name = "M:latest", "other"
	if m, err := all.find("m"); err != nil || m.server != one {
		t.Errorf("%v, %v", m.Name, err)
	}
}

// What was going on when a person interrupted is told, and nothing when nothing was. Whatever a server says, it does not
// act on the terminal.
func TestReportOfAnInterrupt(t *testing.T) {
	for want, err := range map[string]error{
		"interpreter: interrupted\n":                               context.Canceled,
		"interpreter: interrupted: pull m: stopped at 1 of 2 GB\n": fmt.Errorf("pull m: stopped at 1 of 2 GB: %w", context.Canceled),
		"interpreter: the server says \n  try: again\n":            try(fmt.Errorf("the server says \x1b]0;x\x07"), "a\x1b[2Jgain"),
	} {
		var b bytes.Buffer
		if code := report(&b, err); code != exitFailed || b.String() != want {
			t.Errorf("%d, %q, want %q", code, b.String(), want)
		}
	}
}

// What is in memory with a window to work with is not said to be too big; a small window proves nothing, and neither
// does memory what else is wrong with a model.
func TestProven(t *testing.T) {
	for _, test := range []struct {
		loaded *loadedOf
		code   local.Code
		want   string
	}{
		{&loadedOf{Window: 65_536}, local.TooBig, "loaded"},
		{&loadedOf{Window: 131_072}, local.TooSlow, "loaded"},
		{&loadedOf{Window: 8192}, local.TooBig, "refuse"},
		{&loadedOf{}, local.TooBig, "refuse"},
		{nil, local.TooBig, "refuse"},
		{&loadedOf{Window: 65_536}, local.NoTools, "refuse"},
	} {
		row := listed{Verdict: "refuse", Loaded: test.loaded, judged: local.Judgement{Refusal: &local.Refusal{Code: test.code, Text: "no"}}}
		row.proven()
		if row.Verdict != test.want || test.want == "loaded" && (row.Window != test.loaded.Window || row.verdict() != "loaded" || row.Reason == "") {
			t.Errorf("%+v, %s: %+v", test.loaded, test.code, row)
		}
	}
}
