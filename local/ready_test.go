package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"interpreter/local/chat"
	"interpreter/probes"
)

// fake is a server in memory: models that can be loaded, pulled and asked.
type fake struct {
	address string
	version string
	down    bool
	models  []ModelInfo
	loaded  []Resident
	clamp   int             // most tokens the server loads, whatever is asked
	memory  int             // tokens above which loading fails for want of memory
	busy    int             // loads refused before one succeeds
	pulls   map[string]bool // names that can be pulled
	answer  *scripted
	loads   []int
}

func (f *fake) Name() string                 { return "fake" }
func (f *fake) Address() string              { return f.address }
func (f *fake) StartCommand() string         { return "fake serve" }
func (f *fake) PullCommand(m string) string  { return "fake pull " + m }
func (f *fake) Advise(version string) string { return map[string]string{"0.1": "too old"}[version] }

func (f *fake) Version(context.Context) (string, error) {
	if f.down {
		return "", &chat.Error{Kind: chat.Unreachable, Detail: "nobody answers at " + f.address}
	}
	return f.version, nil
}

func (f *fake) Models(context.Context) ([]ModelInfo, error) {
	var list []ModelInfo
	for _, m := range f.models {
		list = append(list, ModelInfo{Name: m.Name, Digest: m.Digest, Size: m.Size, RemoteHost: m.RemoteHost, Provider: "fake"})
	}
	return list, nil
}

func (f *fake) Show(_ context.Context, name string) (ModelInfo, error) {
	for _, m := range f.models {
		if m.Name == name {
			return m, nil
		}
	}
	return ModelInfo{}, &chat.Error{Kind: chat.Missing, Model: name}
}

func (f *fake) Pull(_ context.Context, name string) iter.Seq2[Progress, error] {
	return func(yield func(Progress, error) bool) {
		if !yield(Progress{Stage: "pulling", Done: 1e9, Total: 2e9}, nil) {
			return
		}
		if !f.pulls[name] {
			yield(Progress{}, &chat.Error{Kind: chat.Broken, Model: name, Detail: "the download is not finished"})
			return
		}
		f.models = append(f.models, able(name, 4e9))
		yield(Progress{Stage: "success", Done: 2e9, Total: 2e9}, nil)
	}
}

func (f *fake) Load(_ context.Context, m ModelInfo, l Loading) (chat.Model, error) {
	f.loads = append(f.loads, l.Window)
	if f.busy > 0 {
		f.busy--
		return nil, &chat.Error{Kind: chat.Busy, Model: m.Name}
	}
	if f.memory > 0 && l.Window > f.memory {
		return nil, &chat.Error{Kind: chat.Memory, Model: m.Name, Detail: "out of memory"}
	}
	if f.clamp > 0 {
		l.Window = min(l.Window, f.clamp)
	}
	f.loaded = []Resident{{Name: m.Name, Digest: m.Digest, Size: m.Size, VRAM: m.Size, Window: l.Window}}
	return f.answer, nil
}

func (f *fake) Loaded(context.Context) ([]Resident, error) { return f.loaded, nil }

// able is a small model that can do the work.
func able(name string, size int64) ModelInfo {
	return ModelInfo{
		Name: name, Digest: "d-" + name, Size: size, Trained: 262144, Capabilities: []string{"completion", "tools"},
		Geometry: Geometry{Layers: 8, KVHeads: []int{2}, KeyDim: 64, ValueDim: 64, Embedding: 512, Vocab: 32000},
	}
}

// obedient passes the tool check.
func obedient() *scripted {
	return &scripted{by: func(req chat.Request) reply {
		last := req.Messages[len(req.Messages)-1]
		if last.Result != nil {
			return says("The receipt is " + last.Result.Text + ".")
		}
		return reply{deltas: []chat.Delta{{Call: &chat.Call{ID: "c1", Name: "probe_sum", Args: json.RawMessage(`{"a":17,"b":25}`)}}}}
	}}
}

func server(models ...ModelInfo) *fake {
	return &fake{address: "http://127.0.0.1:9", version: "1.0", models: models, answer: obedient()}
}

// finish runs Ready to its end.
func finish(t *testing.T, o Options) (*Prepared, string, error) {
	t.Helper()
	if o.Machine == nil {
		o.Machine = func(context.Context) probes.Machine { return box(32 * gib) }
	}
	var log []string
	for s, err := range Ready(t.Context(), o) {
		if err != nil {
			return nil, strings.Join(log, "\n"), err
		}
		if s.Ready != nil {
			return s.Ready, strings.Join(log, "\n"), nil
		}
		log = append(log, s.Name+": "+s.Text+s.Warning)
	}
	t.Fatal("the sequence ended without a result")
	return nil, "", nil
}

func TestReady(t *testing.T) {
	cloud := ModelInfo{Name: "big:cloud", Size: 300, RemoteHost: "https://cloud.example"}
	short := able("short:1b", 2e9)
	short.Trained = 40960
	mute := able("mute:1b", 3e9)
	mute.Capabilities = []string{"completion"}
	noProbe := func(context.Context) probes.Machine { panic("the machine was probed") }
	for _, test := range []struct {
		name   string
		server *fake
		o      Options
		model  string
		window int
		loads  string
		log    []string // must be said
		code   Code     // instead of a model
		says   []string // by the error and its remedy
	}{
		{name: "the wish", server: server(able("a:1b", 1e9), able("b:1b", 2e9)), o: Options{Model: "A:1b"}, model: "a:1b", window: 131072, loads: "[131072]",
			log: []string{"find: fake 1.0 answers", "choose: a:1b from fake, named", "window: a window of 131072", "load: loaded with 131072", "check: a:1b called"}},
		{name: "a name without a tag is the latest", server: server(able("a:latest", 1e9)), o: Options{Model: "a"}, model: "a:latest", window: 131072, loads: "[131072]"},
		{name: "the configured one", server: server(able("a:1b", 1e9), able("b:1b", 2e9)), o: Options{Configured: "a:1b"}, model: "a:1b", window: 131072, loads: "[131072]"},
		{name: "the largest when the configured one is missing", server: server(able("a:1b", 1e9), able("b:1b", 2e9)), o: Options{Configured: "c"}, model: "b:1b", window: 131072, loads: "[131072]",
			log: []string{"configured model c is not installed"}},
		{name: "the largest that fits", server: server(able("a:1b", 4e9), able("b:90b", 90e9), cloud, short, mute), model: "a:1b", window: 131072, loads: "[131072]"},
		{name: "a resident model is adopted and the machine not probed", server: func() *fake {
			f := server(able("a:1b", 1e9))
			f.loaded = []Resident{{Name: "a:1b", Digest: "d-a:1b", Size: 1, VRAM: 1, Window: 98304}}
			return f
		}(), o: Options{Model: "a:1b", Machine: noProbe}, model: "a:1b", window: 98304, loads: "[98304]", log: []string{"window: a:1b is loaded already"}},
		{name: "one with too little is loaded again", server: func() *fake {
			f := server(able("a:1b", 1e9))
			f.loaded = []Resident{{Name: "a:1b", Digest: "d-a:1b", Window: 4096}}
			return f
		}(), model: "a:1b", window: 131072, loads: "[131072]", log: []string{"window of 4096 tokens; it is loaded again with 131072"}},
		{name: "one of another digest is not the same", server: func() *fake {
			f := server(able("a:1b", 1e9))
			f.loaded = []Resident{{Name: "a:1b", Digest: "older", Window: 98304}}
			return f
		}(), model: "a:1b", window: 131072, loads: "[131072]"},
		{name: "an explicit window is kept", server: func() *fake {
			f := server(able("a:1b", 1e9))
			f.loaded = []Resident{{Name: "a:1b", Window: 98304}}
			return f
		}(), o: Options{Window: 8192}, model: "a:1b", window: 8192, loads: "[8192]", log: []string{"is small", "loaded again with 8192"}},
		{name: "a server that loads less: that counts", server: func() *fake { f := server(able("a:1b", 1e9)); f.clamp = 65536; return f }(),
			o: Options{Window: 131072}, model: "a:1b", window: 65536, loads: "[131072 65536]", log: []string{"asked for a window of 131072 tokens, the server loaded 65536"}},
		{name: "a server that loads too little", server: func() *fake { f := server(able("a:1b", 1e9)); f.clamp = 4096; return f }(),
			code: WrongWindow, says: []string{"131072", "4096"}},
		{name: "out of memory: a step lower", server: func() *fake { f := server(able("a:1b", 1e9)); f.memory = 70000; return f }(),
			model: "a:1b", window: 65536, loads: "[131072 98304 65536]", log: []string{"out of memory with 131072 tokens; trying 98304"}},
		{name: "busy while loading", server: func() *fake { f := server(able("a:1b", 1e9)); f.busy = 2; return f }(), model: "a:1b", window: 131072, loads: "[131072 131072 131072]"},
		{name: "another machine is not judged by this one", server: func() *fake { f := server(able("a:1b", 90e9)); f.address = "http://box:9"; return f }(),
			o: Options{Model: "a:1b", Machine: noProbe}, model: "a:1b", window: 65536, loads: "[65536]", log: []string{"another machine: box", "could not be judged"}},
		{name: "an old server is warned of", server: func() *fake { f := server(able("a:1b", 1e9)); f.version = "0.1"; return f }(), model: "a:1b", window: 131072, loads: "[131072]", log: []string{"too old"}},
		{name: "pull", server: func() *fake { f := server(); f.pulls = map[string]bool{"new:4b": true}; return f }(), o: Options{Model: "new:4b", Pull: true}, model: "new:4b", window: 131072, loads: "[131072]",
			log: []string{"pull: pulling: 50% of 2.0 GB"}},
		{name: "the check skipped", server: func() *fake { f := server(able("a:1b", 1e9)); f.answer = nil; return f }(), o: Options{SkipCheck: true}, model: "a:1b", window: 131072, loads: "[131072]", log: []string{"check: the tool check was skipped"}},

		{name: "no server", server: &fake{address: "http://127.0.0.1:9", down: true}, code: NoServer, says: []string{"127.0.0.1:9", "fake serve", "no answer from"}},
		{name: "no model", server: server(), code: NoModel, says: []string{"none is installed", "fake pull ", "--pull"}},
		{name: "not installed", server: server(able("a:1b", 1e9), able("b:1b", 1e9)), o: Options{Model: "c:1b"}, code: NotInstalled, says: []string{"c:1b", "a:1b, b:1b are", "fake pull c:1b", "--pull"}},
		{name: "another tag is installed", server: server(able("a:1b", 1e9)), o: Options{Model: "a"}, code: NotInstalled, says: []string{"-m a:1b"}},
		{name: "a pull that breaks off", server: server(), o: Options{Model: "new:4b", Pull: true}, code: PullFailed, says: []string{"new:4b", "not finished", "again"}},
		{name: "a cloud model by name", server: server(able("a:1b", 1e9)), o: Options{Model: "b:9b-cloud", Pull: true}, code: Elsewhere, says: []string{"b:9b-cloud", "vendor's machines", "fake pull b"}},
		{name: "an installed cloud model", server: server(cloud), o: Options{Model: "big:cloud"}, code: Elsewhere, says: []string{"cloud.example"}},
		{name: "a stub under a plain name", server: server(ModelInfo{Name: "big:1b", Size: 400}), o: Options{Model: "big:1b"}, code: Elsewhere, says: []string{"400 bytes"}},
		{name: "no tools declared", server: server(mute, able("a:1b", 1e9)), o: Options{Model: "mute:1b"}, code: NoTools, says: []string{"cannot call tools", "-m a:1b"}},
		{name: "trained for too little", server: server(short), o: Options{Model: "short:1b"}, code: TooShort, says: []string{"40960", "65536"}},
		{name: "unless a person insists", server: server(short), o: Options{Model: "short:1b", Window: 32768}, model: "short:1b", window: 32768, loads: "[32768]", log: []string{"is small"}},
		{name: "nothing installed can do the work", server: server(cloud, short, mute), code: NoModel, says: []string{"big:cloud runs on another machine", "mute:1b cannot call tools", "short:1b was trained for 40960"}},
		{name: "too big", server: server(able("b:90b", 90e9)), code: TooBig, says: []string{"b:90b", "GiB", "-m"}},
		{name: "none of several fits", server: server(able("b:90b", 90e9), able("c:80b", 80e9)), code: TooBig, says: []string{"c:80b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := test.o
			o.Providers = []Provider{test.server}
			var waits []time.Duration
			o.Patience = unhurried(o.Patience, &waits)
			p, log, err := finish(t, o)
			if test.code != "" {
				var refusal *Refusal
				if !errors.As(err, &refusal) || refusal.Code != test.code {
					t.Fatalf("got %v\n%s", err, log)
				}
				text := err.Error() + " / " + refusal.Remedy()
				for _, s := range test.says {
					if !strings.Contains(text, s) {
						t.Errorf("%q does not say %q", text, s)
					}
				}
				return
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, log)
			}
			if p.Info.Name != test.model || p.Window != test.window || fmt.Sprint(test.server.loads) != test.loads || p.Why == "" {
				t.Errorf("got %s with %d, loads %v: %s\n%s", p.Info.Name, p.Window, test.server.loads, p.Why, log)
			}
			for _, s := range test.log {
				if !strings.Contains(log, s) {
					t.Errorf("nothing says %q:\n%s", s, log)
				}
			}
		})
	}
}

// The first provider that has the model counts; one that does not answer is passed over.
func TestSeveralServers(t *testing.T) {
	down, other := &fake{address: "http://127.0.0.1:8", down: true}, server(able("a:1b", 1e9))
	p, _, err := finish(t, Options{Providers: []Provider{down, server(able("b:1b", 1e9)), other}, Model: "a:1b"})
	if err != nil || p.Info.Name != "a:1b" || len(other.loads) != 1 {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestReadyLeft(t *testing.T) {
	f := server(able("a:1b", 1e9))
	for range Ready(t.Context(), Options{Providers: []Provider{f}}) {
		break
	}
	if len(f.loads) > 0 {
		t.Error("it went on after the consumer left")
	}
}

func call(name, args string) reply {
	return reply{deltas: []chat.Delta{{Call: &chat.Call{ID: "c1", Name: name, Args: json.RawMessage(args)}}}}
}

func TestToolCheck(t *testing.T) {
	good := call("probe_sum", `{"b":25,"a":17}`)
	leak := `<tool_call>{"name":"probe_sum","arguments":{"a":17,"b":25}}</tool_call>`
	rescue := func(m chat.Message) (chat.Message, error) {
		if m.Text == leak {
			return chat.Message{Role: chat.Assistant, Calls: []chat.Call{{Name: "probe_sum", Args: json.RawMessage(`{"a":17,"b":25}`)}}}, nil
		}
		return m, nil
	}
	for _, test := range []struct {
		name    string
		replies []reply
		rescue  bool
		verdict Verdict
		says    string
		asked   int
	}{
		{"right", []reply{good, says("It is QX-07Z.")}, false, Native, "", 2},
		{"right at the second try", []reply{says("42"), good, says("QX-07Z")}, false, Native, "", 3},
		{"a broken stream in between", []reply{fails(chat.Broken, 0, "half"), good, says("QX-07Z")}, false, Native, "", 3},
		{"text only", []reply{says("42"), says("It is 42.")}, false, "", `no call, but the text "It is 42."`, 2},
		{"a leaked call", []reply{says(leak), says(leak)}, false, "", "a call written as text: \"<tool_call>", 2},
		{"a leaked call that can be read", []reply{says(leak), says("QX-07Z")}, true, Rescued, "", 2},
		{"a leak in the thoughts", times(2, reply{deltas: []chat.Delta{{Thinking: `probe_sum(a=17, b=25)`}}}), false, "", "a call written as text", 2},
		{"naming the tool is no leak", times(2, says("I would use probe_sum for this.")), false, "", "no call, but", 2},
		{"the decoy", times(2, call("lookup_city", `{"name":"x"}`)), false, "", `a call of "lookup_city"`, 2},
		{"wrong numbers", times(2, call("probe_sum", `{"a":1,"b":41}`)), false, "", "wrong arguments", 2},
		{"numbers as text", times(2, call("probe_sum", `{"a":"17","b":"25"}`)), false, "", "wrong arguments", 2},
		{"two calls", times(2, reply{deltas: append(good.deltas, good.deltas...)}), false, "", "2 calls", 2},
		{"nothing", times(2, reply{}), false, "", "an empty answer and no call", 2},
		{"a call instead of an answer", []reply{good, good}, false, "", "another call", 2},
		{"the result ignored", []reply{good, says("The sum is 42.")}, false, "", `"The sum is 42."`, 2},
		{"no answer to the result", []reply{good, {}}, false, "", "an empty answer", 2},
		{"the server refuses tools", []reply{fails(chat.NoTools, 0, "")}, false, "", "a refusal by the server", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var waits []time.Duration
			model := &scripted{replies: test.replies}
			c := checker{model: Retry(model, unhurried(Patience{}, &waits)), info: able("a:1b", 1), receipt: "QX-07Z"}
			if test.rescue {
				c.rescue = rescue
			}
			verdict, err := c.check(t.Context())
			if len(model.asked) != test.asked {
				t.Errorf("%d requests, want %d", len(model.asked), test.asked)
			}
			if test.says == "" {
				if err != nil || verdict != test.verdict {
					t.Fatalf("got %s, %v", verdict, err)
				}
				last := model.asked[len(model.asked)-1]
				result := last.Messages[len(last.Messages)-1].Result
				calls := last.Messages[len(last.Messages)-2].Calls
				if result == nil || result.Text != "QX-07Z" || result.CallID != calls[0].ID || result.CallID == "" {
					t.Errorf("the result does not answer the call: %+v, %+v", result, calls)
				}
				return
			}
			var wrong *CheckError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), "asked: ") {
				t.Errorf("got %v, want it to say %q", err, test.says)
			}
		})
	}
}

// A failed check names what was asked, what came back, and an installed model to try. It is made again each time.
func TestFailedCheck(t *testing.T) {
	f := server(able("a:1b", 2e9), able("b:1b", 1e9))
	f.answer = &scripted{by: func(chat.Request) reply { return says("I cannot call tools.") }}
	path := filepath.Join(t.TempDir(), "verdicts.json")
	for range 2 {
		_, _, err := finish(t, Options{Providers: []Provider{f}, Model: "a:1b", Verdicts: path})
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Code != Unproven || !strings.Contains(err.Error(), "I cannot call tools.") ||
			!strings.Contains(err.Error(), "probe_sum") || !strings.Contains(refusal.Remedy(), "-m b:1b") {
			t.Errorf("got %v / %v", err, refusal)
		}
	}
	if len(f.answer.asked) != 4 {
		t.Errorf("%d requests", len(f.answer.asked))
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a failed verdict was kept")
	}
}

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
	check("no digest again", 2)
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
	p, log, err := finish(t, Options{Providers: []Provider{loadsOther{f, hang}}, CheckFor: time.Millisecond})
	if err != nil || p.Verdict != NotKnown || !strings.Contains(log, "unproven") {
		t.Errorf("got %+v, %v\n%s", p, err, log)
	}
}

type hanging struct{}

func (*hanging) Stream(ctx context.Context, _ chat.Request) iter.Seq2[chat.Delta, error] {
	return func(yield func(chat.Delta, error) bool) {
		<-ctx.Done()
		yield(chat.Delta{}, ctx.Err())
	}
}

type loadsOther struct {
	*fake
	model chat.Model
}

func (l loadsOther) Load(ctx context.Context, m ModelInfo, how Loading) (chat.Model, error) {
	if _, err := l.fake.Load(ctx, m, how); err != nil {
		return nil, err
	}
	return l.model, nil
}

func TestLooksRemote(t *testing.T) {
	for name, want := range map[string]bool{
		"a:cloud": true, "a:120b-cloud": true, "x/a:9b-CLOUD": true, "a": false, "cloud": false, "cloud:1b": false, "a-cloud:1b": false, "a-cloud": false, "a:cloudy": false, "host:80/a": false,
	} {
		if got := LooksRemote(name); got != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestOnThisMachine(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:11434": true, "http://localhost": true, "http://[::1]:5": true, "http://127.9.9.9": true, "http://a.localhost:1": true,
		"http://192.168.0.2:1": false, "http://box": false, "https://localhost.example.org": false, "": false,
	} {
		if got := OnThisMachine(address); got != want {
			t.Errorf("%s: got %v", address, got)
		}
	}
}
