package lmstudio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"interpreter/local"
	"interpreter/local/chat"
)

// pulled collects a download.
func pulled(ctx context.Context, p *Provider, name string) (seen []local.Progress, err error) {
	for at, err := range p.Pull(ctx, name) {
		if err != nil {
			return seen, err
		}
		seen = append(seen, at)
	}
	return seen, nil
}

func TestPull(t *testing.T) {
	_, calls, url := played(t, "absent\nsize 4000000000\n"+hi)
	p := newProvider(t, url, Options{})
	if models, err := p.Models(t.Context()); err != nil || len(models) != 0 {
		t.Fatalf("%+v, %v", models, err)
	}
	seen, err := pulled(t.Context(), p, "practice")
	if err != nil || len(seen) != 5 || seen[1] != (local.Progress{Stage: "downloading at 1000.0 MB/s, 3s left", Done: 1e9, Total: 4e9}) ||
		seen[4] != (local.Progress{Stage: "completed", Done: 4e9, Total: 4e9}) {
		t.Errorf("%+v, %v", seen, err)
	}
	if models, err := p.Models(t.Context()); err != nil || len(models) != 1 {
		t.Errorf("%+v, %v", models, err)
	}
	if seen, err = pulled(t.Context(), p, "practice"); err != nil || len(seen) != 1 || seen[0].Stage != "already downloaded" {
		t.Errorf("again: %+v, %v", seen, err)
	}
	_, err = pulled(t.Context(), p, "nothing/here")
	if kind, failure := kindOf(t, err); kind != chat.Missing || !strings.Contains(failure.Remedy, "spelling") {
		t.Errorf("%v", err)
	}
	if seen, err = pulled(t.Context(), p, "https://hub.example/a/b@Q4_K_M"); err == nil || len(seen) != 2 || !strings.Contains(err.Error(), "the download failed, at ") {
		t.Errorf("a link that leads nowhere: %+v, %v", seen, err)
	}
	if n := calls.count("POST /api/v1/models/download"); n != 4 {
		t.Errorf("%d downloads", n)
	}
}

// states is a server whose download goes through states, one a look; the last stays.
func states(t *testing.T, first string, looks ...string) *Provider {
	t.Helper()
	at := 0
	_, url := recorded(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/v1/models/download":
			io.WriteString(w, first)
		case strings.HasPrefix(looks[at], "status "):
			w.WriteHeader(500)
			at = min(at+1, len(looks)-1)
		default:
			io.WriteString(w, looks[at])
			at = min(at+1, len(looks)-1)
		}
	}))
	return newProvider(t, url, Options{})
}

const begun = `{"job_id":"j","status":"downloading","total_size_bytes":10}`

func TestPullStates(t *testing.T) {
	for name, test := range map[string]struct {
		looks []string
		seen  string
		kind  chat.Kind // "": it is there
		words string
	}{
		"more than all of it": {[]string{`{"status":"downloading","downloaded_bytes":12,"bytes_per_second":5}`, `{"status":"completed"}`}, "downloading 0/10, downloading 10/10, completed 10/10", "", ""},
		"back and forth":      {[]string{`{"status":"downloading","downloaded_bytes":6,"total_size_bytes":12}`, `{"status":"downloading","downloaded_bytes":2,"total_size_bytes":11}`, `{"status":"completed"}`}, "downloading 0/10, downloading 6/12, downloading 2/12, completed 12/12", "", ""},
		"paused and on":       {[]string{`{"status":"paused","downloaded_bytes":3}`, `{"status":"downloading","downloaded_bytes":4}`, `{"status":"completed"}`}, "downloading 0/10, paused in LM Studio; it can be let go on there 3/10, downloading 4/10, completed 10/10", "", ""},
		"paused for good":     {[]string{`{"status":"paused","downloaded_bytes":3}`}, "", chat.Idle, "paused in LM Studio"},
		"stands still":        {[]string{`{"status":"downloading","downloaded_bytes":3}`}, "", chat.Idle, "stood still for 2m0s"},
		"failed":              {[]string{`{"status":"failed"}`}, "downloading 0/10", chat.Server, "the download failed, at 0.0 of 0.0 GB"},
		"a word of its own":   {[]string{`{"status":"pondering"}`}, "downloading 0/10", chat.Invalid, `"pondering"`},
		"an unknown path":     {[]string{`{"error":"Unexpected endpoint or method."}`}, "downloading 0/10", "", "look at the download of m"},
		"two bad looks":       {[]string{"status 500", "status 500", `{"status":"completed"}`}, "downloading 0/10, completed 10/10", "", ""},
		"bad looks alone":     {[]string{"status 500"}, "downloading 0/10", "", "look at the download of m"},
	} {
		t.Run(name, func(t *testing.T) {
			seen, err := pulled(t.Context(), states(t, begun, test.looks...), "m")
			var words []string
			for _, at := range seen {
				stage, _, _ := strings.Cut(at.Stage, " at ")
				words = append(words, fmt.Sprintf("%s %d/%d", stage, at.Done, at.Total))
			}
			if got := strings.Join(words, ", "); test.seen != "" && got != test.seen {
				t.Errorf("saw %s\nwant %s", got, test.seen)
			}
			if test.words == "" && err != nil || test.words != "" && (err == nil || !strings.Contains(err.Error(), test.words)) {
				t.Errorf("got %v", err)
			}
			if test.kind != "" {
				if kind, failure := kindOf(t, err); kind != test.kind || kind != chat.Invalid && failure.Remedy == "" {
					t.Errorf("got %v with remedy %q", err, failure.Remedy)
				}
			}
		})
	}
	if _, err := pulled(t.Context(), states(t, `{"status":"downloading"}`, ""), "m"); err == nil || !strings.Contains(err.Error(), "names no download") {
		t.Errorf("without a job: %v", err)
	}
}

// The end of our watching is not the end of the download, and says so.
func TestPullLeft(t *testing.T) {
	p := states(t, begun, `{"status":"downloading","downloaded_bytes":3}`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range p.Pull(ctx, "m") {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) || !strings.Contains(last.Error(), "goes on in LM Studio") {
		t.Errorf("got %v", last)
	}
	for range p.Pull(t.Context(), "m") {
		break
	}
}

func TestPullByCommand(t *testing.T) {
	_, _, url := played(t, "era v0\n"+hi)
	var refusal *local.Refusal
	if _, err := pulled(t.Context(), newProvider(t, url, Options{}), "m"); !errors.As(err, &refusal) || refusal.Code != local.PullFailed || !strings.Contains(refusal.Try, "lms get m") {
		t.Errorf("without lms: %v", err)
	}
	ran := ""
	fails := error(nil)
	p := newProvider(t, url, Options{CLI: func(_ context.Context, args ...string) ([]byte, error) {
		ran = strings.Join(args, " ")
		return []byte("no such model"), fails
	}})
	if seen, err := pulled(t.Context(), p, "m"); err != nil || len(seen) != 2 || seen[1].Stage != "completed" || ran != "get m --yes" {
		t.Errorf("%+v, %v, ran %q", seen, err, ran)
	}
	fails = errors.New("exit status 1")
	if _, err := pulled(t.Context(), p, "m"); err == nil || !strings.Contains(err.Error(), "no such model") {
		t.Errorf("%v", err)
	}
}
