package local

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Entry is what the catalogue knows of a model. It is a fallback and a recommender: what a server or a file reports
// counts more, except for the smaller of two trained contexts.
type Entry struct {
	Name         string // its default tag at the Ollama library
	Status       string // "recommend", "alternative", "refuse"
	Info         ModelInfo
	Key          string   // at LM Studio, "" when it is not known
	Harness      string   // that suits its family
	MinServer    string   // oldest Ollama that runs it, "" when it is not known
	Notes        string   // for people
	Alternatives []string // names to take instead of one that is refused
	Sure         bool     // its dimensions were confirmed; otherwise they are what its relatives have

	row       string   // its name in the table, whatever it was looked up by
	also      []string // other names with the same facts; a tag "*" is any of the family
	q8, bf16  int64    // bytes of its files at 8 and at 16 bits, 0 unknown
	embedding float64  // bytes of a number of the input embedding where it is separate from the output
}

// The statuses.
const (
	Recommended = "recommend"
	Refused     = "refuse"
)

//go:embed models.tsv
var table string

var catalogue = sync.OnceValue(func() []Entry {
	lines := strings.Split(strings.TrimSpace(table), "\n")
	heads := strings.Split(lines[0], "\t")
	var all []Entry
	for _, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		r := row{}
		for i, head := range heads {
			r[head] = cells[i]
		}
		all = append(all, r.entry())
	}
	return all
})

// Catalogue lists the models that are known without a server, in the order of their table: models.tsv beside this
// file, whose sizes are decimal gigabytes and whose numbers are for the default tag.
func Catalogue() []Entry { return slices.Clone(catalogue()) }

// row is a line of the table by its heads. A cell that is empty is unknown, or none.
type row map[string]string

func (r row) number(head string) float64 {
	n, _ := strconv.ParseFloat(r[head], 64)
	return n
}

func (r row) whole(head string) int { return int(r.number(head)) }

func (r row) list(head string) []string {
	if r[head] == "" {
		return nil
	}
	return strings.Split(r[head], ",")
}

func (r row) entry() Entry {
	e := Entry{
		Name: r["name"], row: r["name"], Status: r["status"], Key: r["key"], Harness: r["harness"], MinServer: r["min_server"], Notes: r["notes"],
		Alternatives: r.list("alternatives"), Sure: r["sure"] == "yes", also: r.list("also"),
		q8: int64(r.number("q8_gb") * 1e9), bf16: int64(r.number("bf16_gb") * 1e9), embedding: r.number("embed"),
	}
	g := r.geometry()
	e.Info = ModelInfo{
		Name: e.Name, Size: int64(r.number("gb") * 1e9), Architecture: r["arch"], Parameters: r["params_b"] + "B", Quantization: r["quant"],
		Trained: r.whole("trained"), Capabilities: append([]string{"completion"}, r.list("can")...), Requires: e.MinServer, Geometry: g,
	}
	e.Info.Family, _, _ = strings.Cut(e.Name, ":")
	return e
}

// geometry reads the dimensions. Which layers see everything is "all", "every:N" (each N-th) or "count:N" (N of them,
// wherever they are); the rest have a window, a state, or "state:N": N of them have a state and the others keep nothing.
func (r row) geometry() Geometry {
	g := Geometry{
		Layers: r.whole("layers"), Embedding: r.whole("width"), Vocab: r.whole("vocab"), Heads: r.whole("heads"),
		KeyDim: r.whole("head_dim"), ValueDim: r.whole("head_dim"),
		Window: r.whole("win"), WindowKeyDim: r.whole("win_head_dim"), WindowValueDim: r.whole("win_head_dim"),
		State: int64(r.number("state_bytes")), Latent: r.whole("latent"), LatentRank: r.whole("latent_rank"), Shared: r.whole("shared"),
		Experts: r.whole("experts"), ExpertsUsed: r.whole("used"), ExpertBytes: int64(r.number("expert_gb") * 1e9),
		Parameters: int64(r.number("params_b") * 1e9),
	}
	g.OnCPU = int64(r.number("embed") * float64(g.Vocab) * float64(g.Embedding))
	if g.Window > 0 {
		g.WindowFixed = ownWindow(r["arch"])
	}
	heads := r.whole("kv_heads")
	if heads == 0 {
		return g
	}
	how, count, _ := strings.Cut(r["full"], ":")
	n, _ := strconv.Atoi(count)
	full := func(i int) bool {
		switch how {
		case "every":
			return (i+1)%n == 0
		case "count":
			return i < n
		}
		return true
	}
	rest, some, _ := strings.Cut(r["rest"], ":")
	states, err := strconv.Atoi(some)
	if err != nil {
		states = g.Layers
	}
	narrow := heads
	if k := r.whole("win_kv_heads"); k > 0 {
		narrow = k
	}
	for i := range g.Layers {
		windowed, stateful := !full(i) && rest == "window", !full(i) && rest == "state" && states > 0
		if stateful {
			states--
		}
		g.Windowed, g.Recurrent = append(g.Windowed, windowed), append(g.Recurrent, stateful)
		switch {
		case windowed:
			g.KVHeads = append(g.KVHeads, narrow)
		case full(i):
			g.KVHeads = append(g.KVHeads, heads)
		default:
			g.KVHeads = append(g.KVHeads, 0)
		}
	}
	return g
}

// Lookup finds a model by a name that people and servers use: a tag in any case, a family alone, a tag that ends in
// a quantization, a key of LM Studio, the path of a repository. The entry bears the name that was asked for and is
// sized for its quantization. A name that runs elsewhere is not found.
func Lookup(name string) (Entry, bool) {
	e, _, ok := lookup(name)
	return e, ok
}

// lookup also tells whether the name is just the entry's, and not one of a relative.
func lookup(name string) (e Entry, exact, ok bool) {
	asked := strings.TrimSpace(name)
	if asked == "" || LooksRemote(asked) {
		return Entry{}, false, false
	}
	for _, e := range catalogue() {
		if strings.EqualFold(e.Name, asked) || e.Key != "" && strings.EqualFold(e.Key, asked) {
			if e.Key != "" && strings.EqualFold(e.Key, asked) {
				e.Info.Name = asked
			}
			return e, true, true
		}
	}
	words, quant := spell(asked)
	best, most := Entry{}, 0
	for _, e := range catalogue() {
		for _, own := range append([]string{e.Name, e.Key}, e.also...) {
			if own == "" {
				continue
			}
			if n := e.answers(own, words, own == e.Name || own == e.Key); n > most {
				best, most = e, n
			}
		}
	}
	if most == 0 {
		return Entry{}, false, false
	}
	return best.as(asked, words, quant)
}

// plainWords are parts of names that change nothing of what the catalogue tells.
var plainWords = regexp.MustCompile(`^(a\d+(\.\d+)?b|instruct|it|chat|\d{4}|gguf|ud|latest|coding|text|qat)$`)

// versioned is a name that ends in a number.
var versioned = regexp.MustCompile(`^([a-z]+)(\d+(?:\.\d+)*)$`)

// quants are the names of quantizations, and the bits that a parameter takes in files of each.
var quants = map[string]float64{
	"q2_k": 3.1, "q3_k_s": 3.6, "q3_k_m": 4.0, "q3_k_l": 4.3, "q3_k": 4.0, "iq3_xxs": 3.2, "iq3_m": 3.8, "iq4_xs": 4.4, "iq4_nl": 4.6,
	"q4_0": 4.6, "q4_1": 5.0, "q4_k_s": 4.6, "q4_k_m": 4.85, "q4_k": 4.85, "q4_k_xl": 4.95, "q5_0": 5.6, "q5_1": 6.0, "q5_k_s": 5.6, "q5_k_m": 5.75, "q5_k": 5.75,
	"q5_k_xl": 5.8, "q6_k": 6.6, "q6_k_xl": 6.9, "q8_0": 8.5, "q8_k_xl": 9.2, "bf16": 16, "f16": 16, "fp16": 16, "mxfp4": 4.3, "nvfp4": 4.6, "mxfp8": 8.3,
	"4bit": 4.6, "6bit": 6.6, "8bit": 8.6,
}

// spell takes a name apart into its words, without publisher and quantization.
func spell(name string) (words []string, quant string) {
	name = strings.ToLower(name)
	name, at, _ := strings.Cut(name, "@")
	if slash := strings.LastIndex(name, "/"); slash >= 0 {
		name = name[slash+1:]
	}
	name = strings.TrimSuffix(name, ".gguf")
	for _, word := range strings.FieldsFunc(name+":"+at, func(r rune) bool { return r == '-' || r == ':' || r == '@' }) {
		if _, ok := quants[word]; ok {
			quant = word
			continue
		}
		if parts := versioned.FindStringSubmatch(word); parts != nil { // gemma4 and gemma-4 are one
			words = append(words, parts[1], parts[2])
			continue
		}
		words = append(words, word)
	}
	return words, quant
}

// answers counts the words that a name of an entry shares with the one asked for, 0 when it is another model's. A
// family alone is answered for only by the entry's proper name.
func (e Entry) answers(own string, words []string, proper bool) int {
	mine, _ := spell(own)
	family, _, _ := strings.Cut(own, ":")
	base, _ := spell(family)
	if mine[len(mine)-1] == "*" { // any of the family, whatever follows
		if len(words) >= len(base) && slices.Equal(words[:len(base)], base) {
			return len(base)
		}
		return 0
	}
	if len(words) >= len(mine) && slices.Equal(words[:len(mine)], mine) && harmless(words[len(mine):]) {
		return 2*len(mine) + 1
	}
	if proper && len(words) >= len(base) && slices.Equal(words[:len(base)], base) && harmless(words[len(base):]) {
		return 2 * len(base) // the family alone: its first entry
	}
	return 0
}

func harmless(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !plainWords.MatchString(w) })
}

// as is an entry under another name: of a quantization, or of a relative in a family that is judged as one.
func (e Entry) as(name string, words []string, quant string) (Entry, bool, bool) {
	mine, _ := spell(e.Name)
	family, _, _ := strings.Cut(e.Name, ":")
	base, _ := spell(family)
	e.Name, e.Info.Name = name, name
	same := slices.Equal(words, mine) || slices.Equal(words, base)
	for _, own := range append(slices.Clone(e.also), e.Key) {
		alias, _ := spell(own)
		same = same || own != "" && slices.Equal(words, alias)
	}
	if e.Status == Refused && !same && len(words) > len(base) && words[len(base)] != mine[len(mine)-1] && !strings.Contains(e.Key, words[len(base)]) {
		e.Info.Size, e.Info.Geometry, e.Info.Parameters, e.Sure = 0, Geometry{}, "", false // the family's verdict, another size
		return e, false, true
	}
	if quant != "" {
		e.requantize(quant)
	}
	return e, same, true
}

// requantize sizes an entry for another quantization: by the size that is known of it, else by its bits.
func (e *Entry) requantize(quant string) {
	own := strings.ToLower(e.Info.Quantization)
	if quant == own || own == "mxfp4" && quants[quant] < 16 { // a model made in 4 bits is not stored in more
		return
	}
	before := e.Info.Size
	switch {
	case quant == "q8_0" && e.q8 > 0:
		e.Info.Size = e.q8
	case quants[quant] == 16 && e.bf16 > 0:
		e.Info.Size = e.bf16
	default:
		e.Info.Size = int64(float64(before) * quants[quant] / quants[own])
		e.Sure = false
	}
	e.Info.Quantization = strings.ToUpper(quant)
	if before > 0 {
		e.Info.Geometry.ExpertBytes = int64(float64(e.Info.Geometry.ExpertBytes) * float64(e.Info.Size) / float64(before))
	}
	if e.embedding > 0 && e.embedding < 2 {
		each := 9.0 / 16 // embeddings are kept at 4 bits and more
		switch bits := quants[quant]; {
		case bits == 16:
			each = 2
		case bits > 8:
			each = 34.0 / 32
		case bits > 6:
			each = 210.0 / 256
		}
		e.Info.Geometry.OnCPU = int64(each * float64(e.Info.Geometry.Vocab) * float64(e.Info.Geometry.Embedding))
	}
}

// completed adds what the catalogue knows to what a server or a file told of a model: dimensions that were left out,
// and the trained context of its maker where a file claims more.
func completed(m ModelInfo) ModelInfo {
	e, exact, ok := lookup(m.Name)
	if !ok {
		return m
	}
	if exact && e.Info.Trained > 0 && (m.Trained == 0 || e.Info.Trained < m.Trained) {
		m.Trained = e.Info.Trained
	}
	if !exact && m.Size > 0 && e.Info.Size > 0 && (m.Size > e.Info.Size*5/4 || m.Size < e.Info.Size*4/5) {
		return m
	}
	if m.Size == 0 {
		m.Size = e.Info.Size
	}
	if m.Architecture != "" && e.Info.Architecture != "" && plain(m.Architecture) != plain(e.Info.Architecture) {
		return m
	}
	g, own := &m.Geometry, e.Info.Geometry
	if !g.Known() && own.Known() {
		told := *g
		*g = own
		g.Vocab, g.OnCPU, g.ExpertBytes = cmp.Or(told.Vocab, own.Vocab), cmp.Or(told.OnCPU, own.OnCPU), told.ExpertBytes
	}
	if g.Experts > 0 && g.ExpertBytes == 0 && own.Experts == g.Experts && e.Info.Size > 0 {
		g.ExpertBytes = int64(float64(own.ExpertBytes) * float64(m.Size) / float64(e.Info.Size))
	}
	return m
}
