package ollama

import (
	"context"
	"errors"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/localtest"
	"interpreter/local/practice"
	"interpreter/probes"
)

// The whole way against the practice server: found, chosen, loaded with a window of ours, checked, and asked. The
// second time the loaded model is adopted without a look at the machine, and the verdict is known.
func TestReadyWithPractice(t *testing.T) {
	script, err := practice.Parse("reply\n  think hm\n  say Grüße.\n")
	if err != nil {
		t.Fatal(err)
	}
	played := practice.NewServer(script)
	server := httptest.NewServer(played)
	defer server.Close()
	o := local.Options{
		Providers: []local.Provider{newProvider(t, server.URL+"/v1", Options{})}, Verdicts: filepath.Join(t.TempDir(), "verdicts.json"),
		Machine: func(context.Context) probes.Machine {
			return probes.Machine{RAM: probes.Memory{Physical: 16 << 30, Total: 16 << 30, Available: 12 << 30}}
		},
	}
	for _, checks := range []int{2, 0} {
		before := len(played.Requests())
		prepared := ready(t, o)
		if prepared.Window != 131072 || prepared.Verdict != local.Native || prepared.Provider != "ollama" || prepared.Resident.Window != 131072 {
			t.Errorf("got %+v", prepared)
		}
		asked := 0
		for _, r := range played.Requests()[before:] {
			if len(r.Request.Messages) > 0 {
				asked++
			}
			if !strings.Contains(string(r.Body), `"num_ctx":131072`) || !strings.Contains(string(r.Body), `"truncate":false`) {
				t.Errorf("a call with other load-time options: %s", r.Body)
			}
		}
		if asked != checks {
			t.Errorf("%d requests for the check, want %d", asked, checks)
		}
		got, err := localtest.Collect(t.Context(), prepared.Model, localtest.Hello())
		if err != nil || got.Text != "Grüße." || got.Thinking != "hm" {
			t.Errorf("got %+v, %v", got, err)
		}
		o.Machine = func(context.Context) probes.Machine { panic("probed") }
	}
}

func ready(t *testing.T, o local.Options) *local.Prepared {
	t.Helper()
	for s, err := range local.Ready(t.Context(), o) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Ready != nil {
			return s.Ready
		}
	}
	t.Fatal("no result")
	return nil
}

// A model that writes its calls as text is refused with what was seen.
func TestNotReadyWithPractice(t *testing.T) {
	script, err := practice.Parse("check fail <tool_call>{\"name\":\"probe_sum\",\"arguments\":{}}</tool_call>\nreply\n  say x\n")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(practice.NewServer(script))
	defer server.Close()
	for _, err := range local.Ready(t.Context(), local.Options{Providers: []local.Provider{newProvider(t, server.URL, Options{})}}) {
		if err == nil {
			continue
		}
		var refusal *local.Refusal
		if !errors.As(err, &refusal) || refusal.Code != local.Unproven || !strings.Contains(err.Error(), "a call written as text") || refusal.Remedy() == "" {
			t.Errorf("got %v", err)
		}
		return
	}
	t.Error("the model was handed over")
}

var _ chat.Model = (*model)(nil)
