package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"interpreter/local"
)

// answer is a judgement for programs. The first eight keys are a promise, in this order; what follows may grow.
type answer struct {
	Model        string   `json:"model"`
	Window       int      `json:"window"` // tokens
	KV           string   `json:"kv"`
	Verdict      string   `json:"verdict"`
	Bytes        int64    `json:"bytes"` // predicted need
	Speed        string   `json:"speed"` // class at 32k tokens
	Reason       string   `json:"reason,omitempty"`
	Alternatives []string `json:"alternatives,omitempty"`

	Size       int64        `json:"size,omitempty"`   // bytes of the files
	Place      string       `json:"place,omitempty"`  // where it goes
	Usable     int64        `json:"usable,omitempty"` // bytes there
	Rate       *local.Speed `json:"rate,omitempty"`
	Sum        *local.Sum   `json:"sum,omitempty"`
	Confidence string       `json:"confidence,omitempty"`
	Bound      bool         `json:"bound,omitempty"` // bytes is an upper bound and no prediction
	Notes      []string     `json:"notes,omitempty"`
	Remedy     string       `json:"remedy,omitempty"`
}

type answered struct {
	Models []answer `json:"models"`
}

func answers(all []local.Judgement) answered {
	out := answered{Models: []answer{}}
	for _, j := range all {
		a := answer{
			Model: j.Model.Name, Window: j.Fit.Window, KV: kvOf(j), Verdict: j.Verdict, Bytes: j.Fit.Need, Speed: speedOf(j),
			Reason: reasonOf(j), Alternatives: j.Alternatives,
			Size: j.Model.Size, Place: string(j.Fit.Place), Usable: j.Fit.Room, Confidence: j.Confidence, Bound: j.Fit.Bound, Notes: j.Reasons,
		}
		if r := j.Refusal; r != nil {
			a.Remedy = r.Try
			if r.Code == local.TooBig {
				a.Bytes, a.Usable = cmp.Or(a.Bytes, r.Needed), cmp.Or(a.Usable, r.Available)
			}
		}
		if j.Fit.Speed != (local.Speed{}) {
			a.Rate = &local.Speed{
				Fresh: tenths(j.Fit.Speed.Fresh), Deep: tenths(j.Fit.Speed.Deep), First: tenths(j.Fit.Speed.First), Class: j.Fit.Speed.Class,
			}
		}
		if j.Fit.Sum != (local.Sum{}) {
			a.Sum = &j.Fit.Sum
		}
		out.Models = append(out.Models, a)
	}
	return out
}

// tenths drops digits that no prediction has.
func tenths(n float64) float64 { return math.Round(n*10) / 10 }

func kvOf(j local.Judgement) string    { return cmp.Or(string(j.Fit.Cache), "f16") }
func speedOf(j local.Judgement) string { return cmp.Or(j.Fit.Speed.Class, "unknown") }

// reasonOf is why a model is refused, or what is odd about one that is not.
func reasonOf(j local.Judgement) string {
	if j.Refusal != nil {
		return j.Refusal.Text
	}
	return strings.Join(j.Fit.Warnings, "; ")
}

// tellFits prints judgements for people: what fits, then what does not. Of models that were asked for by name, the
// reasons are told as well.
func tellFits(w io.Writer, machine string, all []local.Judgement, explain, named bool) error {
	fits := &table{heads: []string{"MODEL", ">SIZE", ">WINDOW", "KV", "WHERE", ">NEEDS / HAS GiB", ">TOK/S", "SPEED", "VERDICT"}}
	refused := &table{heads: []string{"NOT HERE", ">SIZE", ">NEEDS / HAS GiB", "WHY", "INSTEAD"}}
	var quantised, timed, bound bool
	for _, j := range all {
		bound = bound || j.Fit.Bound
		if j.Refusal != nil {
			rather := ""
			if len(j.Alternatives) > 0 {
				rather = j.Alternatives[0]
			}
			if named {
				rather = strings.Join(j.Alternatives[:min(len(j.Alternatives), 3)], ", ")
			}
			refused.add(j.Model.Name, gb(j.Model.Size), needs(j), why(j), rather)
			continue
		}
		fits.add(j.Model.Name, gb(j.Model.Size), kTokens(j.Fit.Window), kvOf(j), where(j.Fit.Place), needs(j), rates(j.Fit.Speed), speedOf(j), j.Verdict)
		quantised = quantised || kvOf(j) != "f16"
		timed = timed || j.Fit.Speed.Fresh > 0
	}
	var b strings.Builder
	fmt.Fprintln(&b, machine)
	for _, t := range []*table{fits, refused} {
		if len(t.rows) > 0 {
			fmt.Fprintln(&b)
			_ = t.write(&b)
		}
	}
	for _, j := range all {
		if named || explain {
			told(&b, j, explain)
		}
	}
	if timed || quantised || bound {
		fmt.Fprintln(&b)
	}
	if timed {
		fmt.Fprintln(&b, "TOK/S is predicted: with an empty window → at 32k tokens. KV is the number format of keys and values.")
	}
	if bound {
		fmt.Fprintln(&b, "≤ is a bound and no prediction: the layers of the model are not known, only about how large its files are.")
	}
	if quantised {
		fmt.Fprintln(&b, "KV other than f16 is for a server that keeps keys and values so: OLLAMA_KV_CACHE_TYPE=q8_0 where Ollama is started,")
		fmt.Fprintln(&b, "and local_kv_cache_type = \"q8_0\" in config.toml, so that this program knows.")
	}
	_, err := io.WriteString(w, harmless(b.String()))
	return err
}

// where is a place in the width of a table.
func where(p local.Place) string {
	switch p {
	case local.OnGPU:
		return "GPU"
	case local.OnGPUs:
		return "GPUs"
	case local.OnUnified:
		return "unified"
	case local.OnBoth:
		return "GPU + RAM"
	case local.OnCPU:
		return "RAM"
	}
	return string(p)
}

// short says a refusal in the width of a table.
func short(r *local.Refusal) string {
	switch r.Code {
	case local.TooShort:
		return "trained for " + kTokens(int(r.Available))
	case local.TooBig:
		if r.Needed == 0 {
			return "size unknown"
		}
		return "too big"
	case local.NoTools:
		return "calls no tools"
	case local.Elsewhere:
		return "runs elsewhere"
	}
	return strings.ReplaceAll(string(r.Code), "-", " ")
}

// why is the refusal of a judgement in the width of a table. What a bound refuses may fit all the same.
func why(j local.Judgement) string {
	if j.Fit.Bound && (j.Refusal.Code == local.TooBig || j.Refusal.Code == local.TooSlow) {
		return "may be " + short(j.Refusal)
	}
	return short(j.Refusal)
}

func needs(j local.Judgement) string {
	need, room := j.Fit.Need, j.Fit.Room
	if r := j.Refusal; r != nil && r.Code == local.TooBig {
		need, room = r.Needed, r.Available
	}
	if need <= 0 {
		return ""
	}
	const gib = 1 << 30
	most := ""
	if j.Fit.Bound {
		most = "≤ "
	}
	if room <= 0 {
		return fmt.Sprintf("%s%.1f /    ?", most, float64(need)/gib)
	}
	return fmt.Sprintf("%s%.1f / %4.1f", most, float64(need)/gib, float64(room)/gib)
}

func rates(s local.Speed) string {
	if s.Fresh <= 0 {
		return ""
	}
	if s.Deep <= 0 {
		return rate(s.Fresh)
	}
	return rate(s.Fresh) + " → " + fmt.Sprintf("%3s", rate(s.Deep))
}

func rate(tokens float64) string {
	if tokens < 10 {
		return fmt.Sprintf("%.1f", tokens)
	}
	return fmt.Sprintf("%.0f", tokens)
}

// told is what a row has no room for.
func told(b *strings.Builder, j local.Judgement, explain bool) {
	var lines []string
	if j.Refusal != nil {
		lines = append(lines, j.Refusal.Text, "try: "+j.Refusal.Try)
	}
	lines = append(append(lines, j.Fit.Warnings...), j.Reasons...)
	if len(lines) == 0 && !explain {
		return
	}
	fmt.Fprintf(b, "\n%s\n", j.Model.Name)
	for i, line := range lines {
		if !slices.Contains(lines[:i], line) {
			fmt.Fprintln(b, "  "+line)
		}
	}
	if explain {
		for _, line := range j.Explain() {
			fmt.Fprintln(b, "    "+line)
		}
	}
}
