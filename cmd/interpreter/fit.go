package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"interpreter/local"
	"interpreter/probes"
)

// cacheTypes are the number formats of keys and values that servers know.
var cacheTypes = [...]string{"f16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0"}

// question is what fit is asked, but for the names of models.
type question struct {
	window  windowFlag
	machine string
	kv      string
	json    bool
	explain bool
}

// newFit says what a machine can run.
func newFit(w world, f *flags) *cobra.Command {
	q := &question{}
	c := &cobra.Command{
		Use:   "fit [MODEL…]",
		Short: "Which models fit a machine, with how large a window, and how fast",
		Long: "fit predicts the memory and the speed of models. MODEL is a name of the catalogue, an installed model, or the path\n" +
			"of a .gguf file; without one the whole catalogue is ranked. It needs no server and loads nothing.",
		Example: "  interpreter fit\n" +
			"  interpreter fit qwen3-coder:30b --window 128k --explain\n" +
			"  interpreter probe --json | ssh other interpreter fit --machine -",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return catalogueNames(), cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if q.kv != "" && !slices.Contains(cacheTypes[:], q.kv) {
				return usageError{fmt.Errorf("--kv %s: want one of: %s", q.kv, strings.Join(cacheTypes[:], ", "))}
			}
			return w.fit(cmd.Context(), f, q, args)
		},
	}
	set := c.Flags()
	set.Var(&q.window, "window", "exactly this window, in `tokens`: 65536, or 64k")
	set.StringVar(&q.machine, "machine", "", "judge the machine of this `file`, which interpreter probe --json wrote; - is standard input")
	set.StringVar(&q.kv, "kv", "", "number `format` of keys and values: f16, q8_0; without it q8_0 where f16 holds too little")
	set.BoolVar(&q.json, "json", false, "as JSON")
	set.BoolVar(&q.explain, "explain", false, "with the sum behind each number")
	_ = c.RegisterFlagCompletionFunc("kv", cobra.FixedCompletions(cacheTypes[:], cobra.ShellCompDirectiveNoFileComp))
	return c
}

func catalogueNames() []string {
	var names []string
	for _, e := range local.Catalogue() {
		names = append(names, e.Name)
	}
	return names
}

// windowFlag is a number of tokens, in thousands of 1024 with a final k.
type windowFlag int

func (n *windowFlag) String() string {
	if *n == 0 {
		return ""
	}
	return strconv.Itoa(int(*n))
}
func (n *windowFlag) Type() string { return "tokens" }
func (n *windowFlag) Set(text string) error {
	digits, thousands := strings.CutSuffix(strings.ToLower(strings.TrimSpace(text)), "k")
	value, err := strconv.Atoi(strings.NewReplacer("_", "", ",", "").Replace(digits))
	if err != nil || value < 1 || value > 1<<30 || thousands && value > 1<<20 {
		return errors.New("want a number of tokens, such as 65536 or 64k")
	}
	if thousands {
		value *= 1024
	}
	*n = windowFlag(value)
	return nil
}

// fit answers a question about some models, or about all that are known.
func (w world) fit(ctx context.Context, f *flags, q *question, names []string) error {
	s, err := w.settings(f, choices{})
	if err != nil {
		return err
	}
	b := bench{settings: &s, here: q.machine == "", kv: local.CacheType(q.kv), stock: func() stock { return s.stock(ctx, w) }}
	if b.here {
		b.machine = w.machine(ctx, s.home, false)
	} else if b.machine, err = w.readMachine(q.machine); err != nil {
		return err
	}
	kind := q.kv
	window := int(q.window)
	if b.here { // as it would be for a session on this machine
		kind = cmp.Or(kind, s.LocalKVCacheType)
		window = cmp.Or(window, s.ModelContextWindow)
	}
	b.want = local.Want{Window: window, CacheType: local.CacheType(kind), Own: kind == "", Largest: !b.here, Images: b.here}
	var all []local.Judgement
	if len(names) == 0 {
		all = local.Rank(b.machine, b.held(), b.want)
	}
	var failed error
	for _, name := range names {
		j, err := b.judge(ctx, name)
		if err != nil && ctx.Err() == nil && q.json { // whoever reads it gets an answer for each name
			failed = exited(exitFailed)
			j = local.Judgement{Model: local.ModelInfo{Name: name}, Verdict: local.RefuseVerdict, Refusal: &local.Refusal{
				Code: local.NotInstalled, Model: name, Text: err.Error(), Try: remedyOf(err),
			}}
		} else if err != nil {
			return err
		}
		all = append(all, j)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if q.json {
		return cmp.Or(writeJSON(w.stdout, answers(all)), failed)
	}
	from := q.machine
	if from == "-" {
		from = "standard input"
	}
	return tellFits(w.stdout, thisMachine(b.machine, from), all, q.explain, len(names) > 0)
}

// readMachine reads what probe --json has written, here or elsewhere.
func (w world) readMachine(path string) (probes.Machine, error) {
	const made = "write one with: interpreter probe --json > machine.json"
	read := func() ([]byte, error) { return os.ReadFile(path) }
	if path == "-" {
		path = "standard input"
		read = func() ([]byte, error) { return io.ReadAll(w.stdin) }
	}
	text, err := read()
	if err != nil {
		return probes.Machine{}, try(fmt.Errorf("read the machine: %w", err), made)
	}
	m, err := probes.Read(text)
	if err != nil {
		return m, try(fmt.Errorf("fit for %s: %w", path, err), made)
	}
	if m.RAM.Available == 0 { // said by a person who knows what is built in
		m.RAM.Available = m.RAM.Total
	}
	m.RAM.Physical = max(m.RAM.Physical, m.RAM.Total)
	return m, nil
}

// bench is what models are judged on: a machine, and what the servers of this one have.
type bench struct {
	machine probes.Machine
	here    bool // it is this machine
	want    local.Want
	stock   func() stock // asked at most once
	asked   *stock

	settings *settings
	kv       local.CacheType // that a person named
}

func (b *bench) stocked() stock {
	if b.asked == nil {
		found := b.stock()
		b.asked = &found
	}
	return *b.asked
}

// held is what the servers of this machine hold and would give back.
func (b *bench) held() local.Held {
	if !b.here {
		return local.Held{}
	}
	return b.stocked().held()
}

// judge finds a model by its name and judges it.
func (b *bench) judge(ctx context.Context, name string) (local.Judgement, error) {
	if strings.HasSuffix(strings.ToLower(name), ".gguf") {
		m, err := local.ReadGGUF(name)
		if err != nil {
			return local.Judgement{}, err
		}
		m.Name = cmp.Or(m.Name, filepath.Base(name))
		return local.Judge(m, b.machine, b.held(), b.want), nil
	}
	entry, known := local.Lookup(name)
	if b.here || !known {
		if m, at, err := b.installed(ctx, name); at != nil || err != nil {
			return b.installedAt(m, at, entry), err
		}
	}
	switch {
	case local.LooksRemote(name):
		return b.elsewhere(name), nil
	case known:
		return local.Judge(entry.Info, b.machine, b.held(), b.want), nil
	}
	near := nearNames(name, append(catalogueNames(), b.stocked().names()...))
	remedy := "interpreter fit lists the models that are known; the path of a .gguf file works too"
	if len(near) > 0 {
		remedy = "interpreter fit " + strings.Join(near, ", or ") + "; the path of a .gguf file works too"
	}
	return local.Judgement{}, try(fmt.Errorf("fit %s: no model of that name is known: it is neither in the catalogue nor installed on a server that answers", name), remedy)
}

// installed finds a model that a server has.
func (b *bench) installed(ctx context.Context, name string) (local.ModelInfo, *server, error) {
	for _, have := range b.stocked().models {
		if !local.SameModel(have.Name, name) {
			continue
		}
		m, err := have.whole(ctx)
		if err != nil {
			return m, nil, err
		}
		if m.RemoteHost != "" || local.LooksRemote(m.Name) {
			continue
		}
		return m, have.server, nil
	}
	return local.ModelInfo{}, nil, nil
}

// installedAt judges a model of a server: on this machine as a run there would, with that server's number format and
// memory. Of a server elsewhere nothing counts here. What the vendor says of the trained context counts on another
// machine, where it is less than what the file says.
func (b *bench) installedAt(m local.ModelInfo, at *server, entry local.Entry) local.Judgement {
	if !b.here || at == nil || !at.here {
		if b.here { // this machine is not the one that runs it, and has measured nothing
			m.Provider = ""
		}
		if entry.Info.Trained > 0 && entry.Info.Trained < m.Trained {
			m.Trained = entry.Info.Trained
		}
		return local.Judge(m, b.machine, b.held(), b.want)
	}
	want := b.want
	want.Own, want.CacheType = false, cmp.Or(b.kv, b.settings.cacheAt(at.Address()))
	return local.Judge(m, b.machine, local.HeldBy(at.loaded), want.OnServer(at.Server, m, at.loaded, b.settings.lessons()))
}

// elsewhere is the judgement of a model that needs nothing of this machine, and does not stay on it. What takes its
// place are local tags of its family, and what else fits.
func (b *bench) elsewhere(name string) local.Judgement {
	j := local.Judgement{Model: local.ModelInfo{Name: name}, Verdict: local.RefuseVerdict, Refusal: &local.Refusal{
		Code: local.Elsewhere, Model: name, Text: "fit " + name + ": its name says that it runs on the vendor's machines, not on yours",
	}}
	base, _, _ := strings.Cut(strings.ToLower(name), ":")
	for _, e := range local.Catalogue() {
		if own, _, _ := strings.Cut(e.Name, ":"); own == base && local.Judge(e.Info, b.machine, b.held(), b.want).Refusal == nil {
			j.Alternatives = append(j.Alternatives, e.Name)
		}
	}
	for _, r := range local.Recommend(b.machine, b.held(), b.want, 3) {
		if !slices.Contains(j.Alternatives, r.Model.Name) && len(j.Alternatives) < 3 {
			j.Alternatives = append(j.Alternatives, r.Model.Name)
		}
	}
	j.Refusal.Try = "a local tag of the same family"
	if len(j.Alternatives) > 0 {
		j.Refusal.Try = "interpreter models pull " + strings.Join(j.Alternatives, ", or interpreter models pull ")
	}
	return j
}
