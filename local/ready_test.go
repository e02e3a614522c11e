package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
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
	how     []Loading // each load in full

	batch    int             // tokens read at a time above which loading fails for want of memory; 0 counts as the most
	crashes  int             // loads that end the runner before one succeeds
	share    int             // percent of a model that goes to the GPU unless it reads few tokens at a time; 0: all
	unloaded []string        // models given up
	progress []Progress      // of a pull, instead of the usual
	refuses  map[string]bool // names whose pull is refused in general: it has no downloads
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
		if f.refuses[name] {
			yield(Progress{}, &Refusal{Code: NoPull, Model: name, Text: "pull " + name + ": cannot pull"})
			return
		}
		for _, at := range f.progress {
			if !yield(at, nil) {
				return
			}
		}
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
	f.how = append(f.how, l)
	if l.Remote {
		return f.answer, nil
	}
	if f.crashes > 0 {
		f.crashes--
		return nil, &chat.Error{Kind: chat.Server, Crash: true, Model: m.Name, Detail: "the runner process has terminated"}
	}
	if f.batch > 0 && (l.Batch == 0 || l.Batch > f.batch) {
		return nil, &chat.Error{Kind: chat.Memory, Model: m.Name, Detail: "out of memory"}
	}
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
	vram := m.Size
	if f.share > 0 && l.Batch == 0 {
		vram = m.Size * int64(f.share) / 100
	}
	f.loaded = slices.DeleteFunc(f.loaded, func(r Resident) bool { return r.Name == m.Name })
	f.loaded = append(f.loaded, Resident{Name: m.Name, Digest: m.Digest, Size: m.Size, VRAM: vram, Window: l.Window})
	return f.answer, nil
}

func (f *fake) Unload(_ context.Context, r Resident) error {
	f.unloaded = append(f.unloaded, r.Name)
	f.loaded = slices.DeleteFunc(f.loaded, func(have Resident) bool { return have.Name == r.Name })
	return nil
}

func (f *fake) Share(model string, window int) []string {
	return []string{"fake stop " + model, fmt.Sprintf("FAKE_WINDOW=%d", window)}
}

func (f *fake) Relieve() string { return "FAKE_CACHE=q8_0" }
func (f *fake) Wire() string    { return "fake" }

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
	yes := func(string) bool { return true }
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
		}(), o: Options{Reload: yes}, model: "a:1b", window: 131072, loads: "[131072]", log: []string{"another program with a window of 4096 tokens; 131072 are needed here; it is loaded again with 131072"}},
		{name: "one of another digest is not the same", server: func() *fake {
			f := server(able("a:1b", 1e9))
			f.loaded = []Resident{{Name: "a:1b", Digest: "older", Window: 98304}}
			return f
		}(), model: "a:1b", window: 131072, loads: "[131072]"},
		{name: "a window that was said is enough for a model trained for it", server: server(short, mute), o: Options{Window: 32768}, model: "short:1b", window: 32768, loads: "[32768]", log: []string{"is small"}},
		{name: "an explicit window is kept", server: func() *fake {
			f := server(able("a:1b", 1e9))
			f.loaded = []Resident{{Name: "a:1b", Window: 98304}}
			return f
		}(), o: Options{Window: 8192}, model: "a:1b", window: 8192, loads: "[98304]", log: []string{"is small", "loaded already with a window of 98304 tokens; 8192 of them are used"}},
		{name: "a server that loads less: that counts", server: func() *fake { f := server(able("a:1b", 1e9)); f.clamp = 65536; return f }(),
			o: Options{Window: 131072}, model: "a:1b", window: 65536, loads: "[131072 65536]", log: []string{"asked for a window of 131072 tokens, the server loaded 65536"}},
		{name: "a server that loads too little", server: func() *fake { f := server(able("a:1b", 1e9)); f.clamp = 4096; return f }(),
			code: WrongWindow, says: []string{"131072", "4096"}},
		{name: "out of memory: a step lower", server: func() *fake { f := server(able("a:1b", 1e9)); f.memory = 70000; return f }(),
			model: "a:1b", window: 65536, loads: "[131072 131072 98304 65536]", log: []string{"out of memory with 131072 tokens; trying to read 512", "out of memory with 131072 tokens; trying 98304"}},
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
		{name: "nothing installed was trained for the window that was said", server: server(short), o: Options{Window: 49152}, code: NoModel, says: []string{"short:1b was trained for 40960 tokens, 49152 are needed"}},
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
		"a:cloud": true, "a:120b-cloud": true, "x/a:9b-CLOUD": true, "a:20b:cloud": true, "a:cloud ": true, "a": false, "cloud": false, "cloud:1b": false, "a-cloud:1b": false, "a-cloud": false, "a:cloudy": false, "host:80/a": false,
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
