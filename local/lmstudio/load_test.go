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
	"interpreter/local/localtest"
	"interpreter/local/practice"
)

// played is the practice server of a script on LM Studio's wire alone.
func played(t *testing.T, script string) (*practice.Server, *record, string) {
	t.Helper()
	s, err := practice.Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	server, err := practice.NewWire(s, "lmstudio")
	if err != nil {
		t.Fatal(err)
	}
	r, url := recorded(t, server)
	return server, r, url
}

const hi = "reply\n say hi\n"

func load(t *testing.T, p *Provider, l local.Loading) chat.Model {
	t.Helper()
	m, err := p.Load(t.Context(), local.ModelInfo{Name: "practice"}, l)
	if err != nil {
		t.Fatalf("load %+v: %v", l, err)
	}
	return m
}

// residents writes what is loaded.
func residents(t *testing.T, p *Provider) string {
	t.Helper()
	list, err := p.Loaded(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range list {
		out = append(out, fmt.Sprintf("%s=%s %d/%d", r.Name, r.ID, r.Window, r.Slots))
	}
	return strings.Join(out, ", ")
}

// A model is loaded once with the window asked for. An instance that is large enough is used by its own id, and one
// that is too small goes first.
func TestLoadUsesWhatIsThere(t *testing.T) {
	server, calls, url := played(t, hi)
	p := newProvider(t, url, Options{})
	if got := residents(t, p); got != "" {
		t.Fatalf("loaded: %s", got)
	}
	load(t, p, local.Loading{Window: 32768})
	if got := residents(t, p); got != "practice=practice 32768/4" {
		t.Errorf("first: %s", got)
	}
	load(t, p, local.Loading{Window: 65536})
	if got := residents(t, p); got != "practice=practice 65536/4" || calls.count("POST /api/v1/models/unload") != 1 {
		t.Errorf("larger: %s", got)
	}
	load(t, p, local.Loading{Window: 65536})
	load(t, p, local.Loading{Window: 40000})
	if calls.count("POST /api/v1/models/load") != 2 {
		t.Errorf("loaded again what is there: %q", calls.calls)
	}
	// Adopting takes nothing from whoever uses the smaller instance.
	m := load(t, p, local.Loading{Window: 131072, Adopt: true})
	if got := residents(t, p); got != "practice=practice 65536/4, practice=practice:2 131072/4" {
		t.Errorf("beside: %s", got)
	}
	if _, err := localtest.Collect(t.Context(), m, localtest.Hello()); err != nil {
		t.Fatal(err)
	}
	if got := server.Requests(); !strings.Contains(string(got[len(got)-1].Body), `"model":"practice:2"`) {
		t.Errorf("another instance was asked: %s", got[len(got)-1].Body)
	}
	// Of several that are large enough the one that fits best is taken.
	if got := load(t, p, local.Loading{Window: 50000}).(*model).have; got.id != "practice" || got.window != 65536 {
		t.Errorf("took %+v", got)
	}
	for _, r := range []local.Resident{{Name: "practice", ID: "practice:2"}, {Name: "practice"}} {
		if err := p.Unload(t.Context(), r); err != nil {
			t.Error(err)
		}
	}
	if got := residents(t, p); got != "" {
		t.Errorf("after unloading: %s", got)
	}
	if err := p.Unload(t.Context(), local.Resident{Name: "practice"}); err == nil {
		t.Error("unloaded what is not loaded")
	}
}

func TestLoadRefusals(t *testing.T) {
	_, _, url := played(t, hi)
	p := newProvider(t, url, Options{})
	_, err := p.Load(t.Context(), local.ModelInfo{Name: "nothing/here"}, local.Loading{Window: 65536})
	if kind, failure := kindOf(t, err); kind != chat.Missing || failure.Remedy != "lms get nothing/here" {
		t.Errorf("%v with remedy %q", err, failure.Remedy)
	}
	var refusal *local.Refusal
	_, err = p.Load(t.Context(), local.ModelInfo{Name: "practice"}, local.Loading{Window: 65536, OnCPU: true})
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Try, "--gpu off") {
		t.Errorf("on the processor: %v", err)
	}
	for _, test := range []struct {
		status int
		body   string
		kind   chat.Kind
		words  string
	}{
		{400, `{"error":{"message":"Model loading was stopped due to insufficient system resources.","type":"x"}}`, chat.Memory, "insufficient"},
		{200, `{"error":"the guardrail refuses this load"}`, chat.Memory, "guardrail"},
		{500, `{"error":"The model has crashed without additional information. (Exit code: 6)"}`, chat.Server, "crashed"},
		{404, `{"error":{"message":"gone","type":"not_found"}}`, chat.Missing, "gone"},
		{200, `{"status":"loaded"}`, chat.Invalid, "did not say what it loaded"},
		{200, `loaded`, chat.Invalid, "no answer of LM Studio"},
		{401, `{"error":"who are you"}`, chat.Denied, "who are you"},
	} {
		_, url := recorded(t, fixed(map[string]string{"GET /api/v1/models": listV1}, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(test.status)
			io.WriteString(w, test.body)
		}))
		_, err := newProvider(t, url, Options{}).Load(t.Context(), local.ModelInfo{Name: "a"}, local.Loading{Window: 65536})
		kind, failure := kindOf(t, err)
		if kind != test.kind || !strings.Contains(err.Error(), test.words) || failure.Model != "a" {
			t.Errorf("%d %s: %v", test.status, test.body, err)
		}
		if crashed := strings.Contains(test.body, "Exit"); failure.Crash != crashed {
			t.Errorf("%s: crash %t", test.body, failure.Crash)
		}
	}
}

// Before 0.4.0 nothing can be loaded on demand: what the server loads by itself is used if it is large enough, and
// refused with both numbers and the way out if not.
func TestLoadByChat(t *testing.T) {
	var refusal *local.Refusal
	_, calls, url := played(t, "era v0\n"+hi)
	p := newProvider(t, url, Options{})
	for range 2 { // once loaded by the chat, once found loaded
		_, err := p.Load(t.Context(), local.ModelInfo{Name: "practice"}, local.Loading{Window: 65536})
		if !errors.As(err, &refusal) || refusal.Code != local.WrongWindow || refusal.Needed != 65536 || refusal.Available != 4096 ||
			!strings.Contains(err.Error(), "65536") || !strings.Contains(err.Error(), "4096") || !strings.Contains(refusal.Try, "lms load practice --context-length 65536 --parallel 1") {
			t.Errorf("%v, try %q", err, refusal.Try)
		}
	}
	if n := calls.count("POST /v1/chat/completions"); n != 1 {
		t.Errorf("%d chats to load it", n)
	}
	load(t, p, local.Loading{Window: 2048}) // a person's own wish

	server, calls, url := played(t, "era v0\nloaded 70000\n"+hi)
	p = newProvider(t, url, Options{})
	m := load(t, p, local.Loading{Window: 65536})
	if calls.count("POST /v1/chat/completions") != 0 || residents(t, p) != "practice=practice 70000/0" {
		t.Errorf("%q, %s", calls.calls, residents(t, p))
	}
	if got, err := localtest.Collect(t.Context(), m, localtest.Hello()); err != nil || got.Text != "hi" || len(server.Requests()) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := p.Unload(t.Context(), local.Resident{Name: "practice"}); err == nil {
		t.Error("unloaded with a server that has no call for it")
	}
}

// In the oldest era the server tells nothing of windows: what it says at the first overflow counts.
func TestLoadWithoutAList(t *testing.T) {
	chats := 0
	_, url := recorded(t, fixed(map[string]string{"GET /v1/models": listOpenAI}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" {
			unknown(w, r)
			return
		}
		if chats++; chats == 1 {
			io.WriteString(w, `{"choices":[{"message":{"content":"x"}}]}`)
			return
		}
		w.WriteHeader(400)
		io.WriteString(w, wire.Overflow(9100, 4096))
	}))
	p := newProvider(t, url, Options{})
	m, err := p.Load(t.Context(), local.ModelInfo{Name: "c"}, local.Loading{Window: 65536})
	if err != nil {
		t.Fatal(err)
	}
	_, err = localtest.Collect(t.Context(), m, localtest.Hello())
	if kind, failure := kindOf(t, err); kind != chat.Overflow || failure.Prompt != 9100 || failure.Window != 4096 || !strings.Contains(failure.Remedy, "9100") {
		t.Errorf("%v with remedy %q", err, failure.Remedy)
	}
}

// A model that somebody unloads in the middle of a session, or that the server has loaded anew with its own small
// window, is loaded again as it was, and the person hears of it.
func TestModelComesBack(t *testing.T) {
	long := chat.Request{Messages: []chat.Message{{Role: chat.User, Text: strings.Repeat("word ", 10_000)}}}
	for name, lose := range map[string]func(p *Provider) error{
		"unloaded": func(p *Provider) error { return p.Unload(t.Context(), local.Resident{Name: "practice:2"}) },
		"with another in its place": func(p *Provider) error {
			return errors.Join(p.Unload(t.Context(), local.Resident{Name: "practice:2"}), p.tell(t.Context(), listFor, "POST", "/api/v1/models/load", "", object{"model": "practice"}, &object{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, url := played(t, hi)
			p := newProvider(t, url, Options{})
			load(t, p, local.Loading{Window: 4096})
			m := load(t, p, local.Loading{Window: 65536, Adopt: true})
			if err := lose(p); err != nil {
				t.Fatal(err)
			}
			notice, said := "", ""
			for d, err := range m.Stream(t.Context(), long) {
				if err != nil {
					t.Fatal(err)
				}
				notice += d.Notice
				said += d.Text
			}
			if said != "hi" || !strings.Contains(notice, "loaded again with a window of 65536 tokens") {
				t.Errorf("said %q, notice %q", said, notice)
			}
			if have, _ := m.(*model).now(); have.window != 65536 {
				t.Errorf("have %+v", have)
			}
			if !strings.Contains(residents(t, p), "practice=practice 4096/4") {
				t.Errorf("somebody's instance went: %s", residents(t, p))
			}
		})
	}
	t.Run("loaded anew by a chat", func(t *testing.T) {
		_, calls, url := played(t, hi)
		p := newProvider(t, url, Options{})
		m := load(t, p, local.Loading{Window: 65536})
		if err := p.Unload(t.Context(), local.Resident{Name: "practice"}); err != nil {
			t.Fatal(err)
		}
		got, err := localtest.Collect(t.Context(), m, long)
		if err != nil || got.Text != "hi" || residents(t, p) != "practice=practice 65536/4" || calls.count("POST /api/v1/models/load") != 2 {
			t.Errorf("%+v, %v, %s", got, err, residents(t, p))
		}
	})
	t.Run("too long for the window it has", func(t *testing.T) {
		_, calls, url := played(t, hi)
		m := load(t, newProvider(t, url, Options{}), local.Loading{Window: 8192})
		_, err := localtest.Collect(t.Context(), m, long)
		if kind, failure := kindOf(t, err); kind != chat.Overflow || failure.Window != 8192 || failure.Prompt < 8192 || calls.count("POST /api/v1/models/load") != 1 {
			t.Errorf("%v", err)
		}
	})
}

func TestEffort(t *testing.T) {
	for _, test := range []struct {
		efforts     []string
		blunt       bool
		asked, want string
	}{
		{nil, true, "high", ""},
		{nil, false, "high", "high"},
		{[]string{"low", "medium", "high"}, false, "high", "high"},
		{[]string{"low", "medium", "high"}, false, "minimal", "low"},
		{[]string{"low", "medium", "high"}, false, "xhigh", "high"},
		{[]string{"low", "medium", "high"}, false, "none", ""},
		{[]string{"off", "on"}, false, "none", "none"},
		{[]string{"off", "on"}, false, "medium", ""},
		{[]string{"off", "on"}, false, "", ""},
	} {
		m := &model{efforts: test.efforts, blunt: test.blunt}
		if got := m.effort(test.asked); got != test.want {
			t.Errorf("%v asked for %q: %q, want %q", test.efforts, test.asked, got, test.want)
		}
	}
}

// lms loads with room for one conversation where it is there. When it fails the API is asked.
func TestLoadByCommand(t *testing.T) {
	_, calls, url := played(t, hi)
	var ran []string
	works := false
	api := newProvider(t, url, Options{})
	p := newProvider(t, url, Options{CLI: func(ctx context.Context, args ...string) ([]byte, error) {
		if args[0] == "link" {
			return nil, errors.New("unknown command")
		}
		ran = append(ran, strings.Join(args, " "))
		if !works {
			return nil, errors.New("it does not run")
		}
		_, err := api.loadByAPI(ctx, args[1], local.Loading{Window: 70000}) // as LM Studio does, to whom the command speaks
		return nil, err
	}})
	load(t, p, local.Loading{Window: 32768})
	if want := "load practice --context-length 32768 --parallel 1 --yes"; strings.Join(ran, ";") != want || residents(t, p) != "practice=practice 32768/4" {
		t.Errorf("ran %q, loaded %s", ran, residents(t, p))
	}
	works = true
	before := calls.count("POST /api/v1/models/load")
	got := load(t, p, local.Loading{Window: 65536, OnCPU: true}).(*model).have
	if got.window != 70000 || calls.count("POST /api/v1/models/load") != before+1 || ran[1] != "load practice --context-length 65536 --parallel 1 --yes --gpu off" {
		t.Errorf("have %+v, ran %q", got, ran)
	}
	load(t, p, local.Loading{Window: 65536})
	if len(ran) != 2 {
		t.Errorf("ran %q for what is loaded", ran)
	}
	far := newProvider(t, "http://box.lan:1234", Options{CLI: func(context.Context, ...string) ([]byte, error) { panic("asked") }})
	if far.cli() != nil {
		t.Error("the command of this machine is used for a server on another")
	}
}
