package setup

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"interpreter/cmd/config"
	"interpreter/local"
	"interpreter/local/lmstudio"
	"interpreter/local/ollama"
	"interpreter/local/practice"
	"interpreter/probes"
)

var update = flag.Bool("update", false, "write the goldens")

// answers is an Asker that a test has written beforehand: each line is the key of an answer, or the text of a field.
type answers struct {
	t     *testing.T
	lines []string
	asked []string // titles, in their order
	about []string
}

func (a *answers) Hint() string { return "" }

func (a *answers) next(title, about string) (string, error) {
	a.asked, a.about = append(a.asked, title), append(a.about, about)
	if len(a.lines) == 0 {
		return "", ErrLeft
	}
	line := a.lines[0]
	a.lines = a.lines[1:]
	return line, nil
}

func (a *answers) Choose(_ context.Context, q Question) (string, error) {
	key, err := a.next(q.Title, q.About)
	if key == "*" {
		key = q.Default
	}
	if err == nil && !slices.ContainsFunc(q.Answers, func(one Answer) bool { return one.Key == key }) {
		a.t.Errorf("%q has no answer %q: %v", q.Title, key, q.Answers)
		return "", ErrLeft
	}
	return key, err
}

func (a *answers) Type(_ context.Context, f Field) (string, error) {
	text, err := a.next(f.Title, f.About)
	if err == nil && f.Check != nil {
		if wrong := f.Check(text); wrong != nil {
			a.about = append(a.about, wrong.Error())
			return a.Type(context.Background(), f)
		}
	}
	return text, err
}

func recorded(t *testing.T, name string) probes.Machine {
	t.Helper()
	var m probes.Machine
	text, err := os.ReadFile(filepath.Join("..", "..", "local", "testdata", "machines", name+".json"))
	if err = errors.Join(err, json.Unmarshal(text, &m)); err != nil {
		t.Fatal(err)
	}
	return m
}

// rehearsed is a world with a practice server and a configuration in a folder of the test's.
func rehearsed(t *testing.T, machine, script string, lines ...string) (World, *answers, *strings.Builder, string) {
	t.Helper()
	parsed, err := practice.Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(practice.NewServer(parsed))
	t.Cleanup(server.Close)
	home, out := t.TempDir(), &strings.Builder{}
	ask := &answers{t: t, lines: lines}
	return World{
		Screen: Screen{Out: out, Width: 80}, Ask: ask, OS: "linux", Name: "interpreter", Path: "config.toml",
		Probe: func(context.Context) probes.Machine { return recorded(t, machine) },
		Providers: func() ([]local.Provider, error) {
			p, err := ollama.New(server.URL, ollama.Options{})
			return []local.Provider{p}, err
		},
		Startable: func(local.Provider) bool { return false },
		Cache:     func(string) local.CacheType { return "" },
		Download: func(ctx context.Context, d local.Download) error {
			for _, err := range d.Run(ctx) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		Ready: func(ctx context.Context, wish Wish) (*local.Prepared, error) {
			for stage, err := range local.Ready(ctx, local.Options{
				Providers: []local.Provider{wish.Provider}, Model: wish.Model, Window: wish.Window, Reload: wish.Consent,
				Machine: func(context.Context) probes.Machine { return recorded(t, machine) },
			}) {
				if err != nil {
					return nil, err
				}
				if wish.Stage(stage); stage.Ready != nil {
					return stage.Ready, nil
				}
			}
			return nil, errors.New("no end")
		},
		Save: func(values ...config.Value) error { return config.Set(home, values...) },
	}, ask, out, home
}

const absent = "model qwen3.5:9b\nabsent\nsize 6600000000\nreply\n  say Hello.\n"

func TestFromNothingToAModel(t *testing.T) {
	w, ask, out, home := rehearsed(t, "rtx-3060-12", absent, "*", "*", "*", "*")
	before := "# mine\n[tui]\n"
	if err := os.WriteFile(config.UserPath(home), []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Which model?", "Download qwen3.5:9b, 6.6 GB?", "Load qwen3.5:9b and see whether it can call tools?", "Write this to config.toml?",
	}
	if !slices.Equal(ask.asked, want) {
		t.Errorf("asked %q", ask.asked)
	}
	got, err := os.ReadFile(config.UserPath(home))
	if want := "model_provider = \"ollama\"\nmodel = \"qwen3.5:9b\"\n\n" + before; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, want := range []string{"machine: AMD Ryzen", "server: Ollama 0.24.0", "download: qwen3.5:9b is here", "calls tools", "written: config.toml (2 lines)", "interpreter exec"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
}

// Every question can be left, and what is kept until there is said.
func TestLeaving(t *testing.T) {
	kept := []string{"Nothing was changed.", "Nothing was changed.", "qwen3.5:9b is downloaded.", "qwen3.5:9b is downloaded and qwen3.5:9b has passed the check."}
	for n, want := range kept {
		w, _, out, home := rehearsed(t, "rtx-3060-12", absent, []string{"*", "*", "*"}[:n]...)
		if err := Run(t.Context(), w); !errors.Is(err, ErrLeft) {
			t.Errorf("after %d answers: %v", n, err)
		}
		if text := strings.ReplaceAll(out.String(), "\n", " "); !strings.Contains(text, want) || !strings.Contains(text, "interpreter setup") {
			t.Errorf("after %d answers, %q is not in:\n%s", n, want, out)
		}
		if _, err := os.Stat(config.UserPath(home)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("after %d answers: a configuration was written", n)
		}
	}
}

// Every step leads back, and every step can be skipped.
func TestBackAndSkip(t *testing.T) {
	w, ask, out, home := rehearsed(t, "rtx-3060-12", absent,
		"servers:", "machine", "take:gemma4:12b", "other", // back to the servers and the machine, a model and back
		"*", "pull", "window", "64q", "64k", "other", "*", "skip", "*")
	if err := Run(t.Context(), w); err != nil {
		t.Fatal(err, ask.asked)
	}
	got, _ := os.ReadFile(config.UserPath(home))
	if want := "model_provider = \"ollama\"\nmodel = \"qwen3.5:9b\"\nmodel_context_window = 65536\n"; string(got) != want {
		t.Errorf("%q\n%s", got, out)
	}
	if n := strings.Count(out.String(), "machine: "); n != 2 {
		t.Errorf("the machine was looked at %d times", n)
	}
	if !slices.Contains(ask.about, "a whole number of tokens, such as 65536 or 64k") || !strings.Contains(out.String(), "not checked yet") {
		t.Errorf("%q\n%s", ask.about, out)
	}
	for _, lines := range [][]string{{"skip:"}, {"servers:", "skip"}, {"*", "skip", "skip"}} {
		w, _, out, home := rehearsed(t, "rtx-3060-12", absent, lines...)
		if err := Run(t.Context(), w); err != nil {
			t.Error(lines, err)
		}
		if _, err := os.Stat(config.UserPath(home)); err == nil || !strings.Contains(out.String(), "Nothing was") {
			t.Errorf("%v:\n%s", lines, out)
		}
	}
}

// A model that answers in prose is not handed over; what it was asked and said is shown, and the next one is offered.
func TestModelThatDoesNotCallTools(t *testing.T) {
	w, ask, out, home := rehearsed(t, "rtx-3060-12", "model qwen3.5:9b\nsize 6600000000\ncheck fail It is 42, I think.\nreply\n  say Hello.\n",
		"*", "*", "*", "other", "skip:")
	if err := Run(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if want := "Download gemma4:12b, 7.6 GB?"; !slices.Contains(ask.asked, want) {
		t.Errorf("asked %q, want %q", ask.asked, want)
	}
	about := strings.Join(ask.about, "\n")
	for _, want := range []string{"It was asked: \"Use the probe_sum tool", "It is 42, I think."} {
		if !strings.Contains(about, want) {
			t.Errorf("%q is not in:\n%s", want, about)
		}
	}
	if !strings.Contains(out.String(), "check: qwen3.5:9b did not pass.") {
		t.Error(out)
	}
	if _, err := os.Stat(config.UserPath(home)); err == nil {
		t.Error("a model that failed was written")
	}
}

// A download that fails can be tried again; a disk without room is seen before it begins.
func TestDownloadFails(t *testing.T) {
	w, ask, _, _ := rehearsed(t, "rtx-3060-12", absent, "take:gemma4:12b", "pull", "pull", "other", "*", "pull", "skip", "*")
	tries, pull := 0, w.Download
	w.Download = func(ctx context.Context, d local.Download) error {
		if tries++; tries == 1 {
			return fmt.Errorf("pull %s: the line went dead", d.Name)
		}
		return pull(ctx, d)
	}
	if err := Run(t.Context(), w); err != nil {
		t.Fatal(err, ask.asked)
	}
	about := strings.Join(ask.about, "\n")
	for _, want := range []string{"the line went dead", "the library has no model of that name"} {
		if !strings.Contains(about, want) {
			t.Errorf("%q is not in:\n%s", want, about)
		}
	}
	w, ask, out, _ := rehearsed(t, "rtx-3060-12", absent, "*", "pull", "other")
	w.Probe = func(context.Context) probes.Machine {
		m := recorded(t, "rtx-3060-12")
		m.Disks = []probes.Volume{{What: "ollama", Path: "/m", Total: 100e9, Free: 8e9}}
		return m
	}
	w.Download = func(context.Context, local.Download) error { t.Error("downloaded without room"); return nil }
	if err := Run(t.Context(), w); !errors.Is(err, ErrLeft) {
		t.Error(err)
	}
	if about := strings.Join(ask.about, "\n"); !strings.Contains(about, "needs 6.6 GB of disk") || !strings.Contains(about, "8.0 GB free in /m") {
		t.Errorf("%s\n%s", about, out)
	}
}

// A download that is stopped by Ctrl-C leaves, and says that the next one goes on.
func TestDownloadIsStopped(t *testing.T) {
	w, _, out, _ := rehearsed(t, "rtx-3060-12", absent, "*", "*")
	ctx, stop := context.WithCancel(t.Context())
	w.Download = func(ctx context.Context, _ local.Download) error { stop(); return ctx.Err() }
	if err := Run(ctx, w); !errors.Is(err, ErrLeft) {
		t.Error(err)
	}
	if text := strings.ReplaceAll(out.String(), "\n", " "); !strings.Contains(text, "What was done stays: what came of qwen3.5:9b (the next download goes on there).") {
		t.Error(text)
	}
}

// Without a server the wizard says how to get one, and never installs it.
func TestNoServer(t *testing.T) {
	w, ask, _, _ := rehearsed(t, "rtx-3060-12", absent, "again", "skip")
	w.Providers = func() ([]local.Provider, error) {
		a, err := ollama.New("http://127.0.0.1:1", ollama.Options{})
		b, wrong := lmstudio.New("http://127.0.0.1:1", lmstudio.Options{})
		return []local.Provider{a, b}, errors.Join(err, wrong)
	}
	if err := Run(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if len(ask.about) != 2 || !strings.Contains(ask.about[0], "  Ollama:    curl -fsSL https://ollama.com/install.sh | sh\n  LM Studio: curl") {
		t.Errorf("%q", ask.about)
	}
	w.Ask = Unattended{w.Screen}
	var refusal *local.Refusal
	if err := Run(t.Context(), w); !errors.As(err, &refusal) || !strings.Contains(refusal.Try, "install.sh") {
		t.Errorf("unattended: %v", err)
	}
	// One that is installed is started when the person agrees, and used.
	started := false
	with, _, out, _ := rehearsed(t, "rtx-3060-12", absent)
	there, nowhere := with.Providers, w.Providers
	w.Providers = func() ([]local.Provider, error) {
		if started {
			return there()
		}
		return nowhere()
	}
	w.Startable = func(p local.Provider) bool { return p.Name() == "ollama" }
	w.Start = func(context.Context, local.Provider) (Started, error) {
		started = true
		return Started{PID: 77, Log: "/home/ollama.log", End: "interpreter serve --stop", Warnings: []string{"the service has other models"}}, nil
	}
	w.Ask, w.Screen.Out = &answers{t: t, lines: []string{"*"}}, out
	if err := Run(t.Context(), w); !errors.Is(err, ErrLeft) || !started {
		t.Error(started, err)
	}
	if text := out.String(); !strings.Contains(text, "Ollama (process 77) keeps running") || !strings.Contains(text, "interpreter serve --stop") || !strings.Contains(text, "The service has other models.") {
		t.Error(text)
	}
}

func TestUnattended(t *testing.T) {
	w, _, out, home := rehearsed(t, "rtx-3060-12", absent)
	w.Ask = Unattended{w.Screen}
	if err := Run(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(config.UserPath(home))
	if want := "model_provider = \"ollama\"\nmodel = \"qwen3.5:9b\"\n"; string(got) != want {
		t.Errorf("%q\n%s", got, out)
	}
}

// Goldens: what each recorded machine is said to be, and which models it is offered, by a server that has none.
func TestScreens(t *testing.T) {
	small := probes.Machine{
		OS: "linux", Arch: "amd64", Cores: 4, RAM: probes.Memory{Physical: 8 << 30, Total: 8 << 30, Available: 6 << 30},
		CPU: probes.CPU{Name: "Intel N100", Bandwidth: 22},
	}
	machines := map[string]probes.Machine{"small-8": small}
	for _, name := range []string{"rtx-3060-12", "m1-max-64", "m4-16", "cpu-24", "two-3090", "amd-apu-32"} {
		machines[name] = recorded(t, name)
	}
	p, err := ollama.New("http://127.0.0.1:1", ollama.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range machines {
		s := State{Machine: m, Servers: []Server{{Server: local.Server{Provider: p, Version: "0.34.0"}, Here: true}}, Server: 1}
		var out strings.Builder
		for _, width := range []int{80, 60} {
			w := World{Screen: Screen{Out: &out, Width: width, Moves: true}, Name: "interpreter"}
			w.Screen.done("machine", describe(m))
			best, others := choices(s)
			q := modelQuestion(w, s, best, others)
			fmt.Fprintf(&out, "\n%s\n%s\n", q.Title, fold(q.About, w.Screen.width()-2))
			for _, a := range q.Answers {
				mark := "  "
				if a.Key == q.Default {
					mark = "› "
				}
				fmt.Fprintln(&out, mark+a.Text)
				for _, more := range a.More {
					fmt.Fprintln(&out, indent("    ", fold(more, w.Screen.width()-6)))
				}
			}
			fmt.Fprintln(&out, "--")
			for line := range strings.SplitSeq(out.String(), "\n") {
				if n := len([]rune(line)); n > 80 {
					t.Errorf("%s: %d columns: %s", name, n, line)
				}
			}
		}
		golden := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(want) != out.String() {
			t.Errorf("%s: %v, got\n%s", name, err, out.String())
		}
	}
}

// Models that are there already come first, and one line is left for a download.
func TestChoices(t *testing.T) {
	p, err := lmstudio.New("http://127.0.0.1:1", lmstudio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := ollama.New("http://127.0.0.1:1", ollama.Options{})
	if err != nil {
		t.Fatal(err)
	}
	model := func(name string) local.ModelInfo {
		e, ok := local.Lookup(name)
		if !ok {
			t.Fatal(name)
		}
		e.Info.Name = name
		return e.Info
	}
	server := func(p local.Provider, here bool, models ...local.ModelInfo) State {
		return State{Machine: recorded(t, "rtx-3060-12"), Servers: []Server{{Server: local.Server{Provider: p}, Here: here, Models: models}}, Server: 1}
	}
	keyed := model("gemma4:12b")
	keyed.Name = "google/gemma-4-12b@q4_k_m"
	rows := []struct {
		name         string
		state        State
		best, others string
	}{
		{"nothing installed", server(o, true), "qwen3.5:9b, gemma4:12b, gpt-oss:20b", ""},
		{"the second is there", server(o, true, model("gemma4:12b")), "gemma4:12b*, qwen3.5:9b, gpt-oss:20b", ""},
		{"others are there", server(o, true, model("ministral-3:8b"), model("qwen3:8b"), model("ministral-3:3b")),
			"ministral-3:3b*, qwen3.5:9b, gemma4:12b", "ministral-3:8b, qwen3:8b"},
		{"LM Studio's names", server(p, true, keyed), "google/gemma-4-12b@q4_k_m*, qwen/qwen3.5-9b, openai/gpt-oss-20b", ""},
		{"another machine", server(o, false, model("qwen3-coder:30b"), model("qwen3:8b")), "qwen3-coder:30b*", "qwen3:8b"},
	}
	for _, row := range rows {
		best, others := choices(row.state)
		if got := names(best); got != row.best {
			t.Errorf("%s: %s, want %s", row.name, got, row.best)
		}
		if got := strings.ReplaceAll(names(others), "*", ""); got != row.others {
			t.Errorf("%s: others %s, want %s", row.name, got, row.others)
		}
	}
}

func names(all []Choice) string {
	var out []string
	for _, c := range all {
		name := c.Name
		if c.Installed {
			name += "*"
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// Line by line over a pipe, with answers that are typed long before they are asked for, and an end that comes too early.
func TestPlain(t *testing.T) {
	Dress(false)
	w, _, out, home := rehearsed(t, "rtx-3060-12", absent)
	in, typed := io.Pipe()
	go func() {
		_, _ = io.WriteString(typed, "9\n\n1\n\n1\n1\n")
		typed.Close()
	}()
	w.Ask = &Plain{In: in, Screen: w.Screen}
	if err := Run(t.Context(), w); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got, _ := os.ReadFile(config.UserPath(home)); !strings.Contains(string(got), "qwen3.5:9b") {
		t.Errorf("%q", got)
	}
	for _, want := range []string{"Which model? (recommended: 1) \n1. qwen3.5:9b · 6.6 GB to download", "Invalid: must be a number between 1 and 7", "7. leave"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("there are escape sequences in %q", out)
	}
	for _, early := range []string{"", "9\n", "1", "1\n4\n", "4\n", "4\nhas blanks\n", "7\n"} {
		w, _, out, home := rehearsed(t, "rtx-3060-12", absent)
		w.Ask = &Plain{In: strings.NewReader(early), Screen: w.Screen}
		if err := Run(t.Context(), w); !errors.Is(err, ErrLeft) {
			t.Errorf("%q: %v\n%s", early, err, out)
		}
		if _, err := os.Stat(config.UserPath(home)); err == nil {
			t.Errorf("%q: something was written", early)
		}
	}
}

// A stage that takes long shows how long on a screen that moves, and is heard of now and then on one that does not.
func TestWaiting(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(1e9+seconds), 0) }
	for _, moves := range []bool{true, false} {
		var out strings.Builder
		l := &waiting{screen: Screen{Out: &out, Width: 60, Moves: moves}}
		l.now("loading m", at(0))
		for s := range 100 {
			l.tick(at(s))
		}
		l.aside(func() { l.tick(at(101)); fmt.Fprintln(&out, "aside") })
		l.now("", at(102))
		l.tick(at(103))
		want := "loading m …\nstill at it after 30 s\nstill at it after 1 min 0 s\nstill at it after 1 min 30 s\naside\n"
		got := out.String()
		if moves {
			want = "\r  loading m … 1 min 39 s\x1b[K\r\x1b[Kaside\n\r\x1b[K"
			got = got[max(strings.LastIndex(got, "\r  "), 0):]
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFold(t *testing.T) {
	for _, row := range []struct {
		text  string
		width int
		want  string
	}{
		{"one two three", 7, "one two\nthree"},
		{"pull qwen3-coder:30b", 12, "pull\nqwen3-coder:\n30b"},
		{"a b\n\n  c d", 4, "a b\n\n  c\nd"},
		{"", 4, ""},
		{"größer ist gut", 7, "größer\nist gut"},
		{"x /a/very-long/path.d/x", 40, "x /a/very-long/path.d/x"},
	} {
		if got := fold(row.text, row.width); got != row.want {
			t.Errorf("%q at %d: %q, want %q", row.text, row.width, got, row.want)
		}
	}
}

func TestManual(t *testing.T) {
	w, _, out, _ := rehearsed(t, "rtx-3060-12", absent)
	if err := Manual(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1. Get a model. qwen3.5:9b fits best here", "     interpreter models pull qwen3.5:9b\n", "2. Put these lines at the top of config.toml:\n     model_provider = \"ollama\"\n     model = \"qwen3.5:9b\"\n", "setup --yes"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
}
