package main

import (
	"fmt"
	"slices"
	"strings"

	"interpreter/local"
	"interpreter/probes"
)

// term is a rule of the engine that our formulas do not follow, and the bytes it adds to what we predicted.
type term struct {
	rule  string
	bytes int64
}

// rule is a name and what it says.
type rule struct{ name, text string }

// rules are those of Ollama 0.24, read from its sources (llm/server.go, fs/ggml/ggml.go, kvcache, runner), with the
// reason why our formulas differ.
var rules = [...]rule{
	{"logits", "the engine's own runner reserves one row of the probabilities of all tokens, not one for each token it reads"},
	{"graph", "the compute buffer that it says it reserves, less the one that we predict with one row: up to 64 MiB"},
	{"embedding", "llama.cpp's runner does not list the input embedding"},
	{"tied", "an output that is the embedding is kept twice"},
	{"q8=1", "for llama.cpp's runner q8_0 is listed as 1 byte a number; it takes 34/32, as the resident bytes show"},
	{"own", "the runner's code, threads and heap, and what it has used of its compute buffer: up to 64 MiB"},
}

const (
	overhead  = 64 * mib
	tolerance = 0.05
)

// predict fills in what our formulas say, and how the engine's rules lead from there to what it lists and holds.
func (l *load) predict() error {
	fit, err := l.fit(0)
	if err != nil {
		return err
	}
	l.sum, l.need, l.used = fit.Sum, fit.Need, fit.Cache
	if l.own != (fit.Sum.Masks > 0) {
		return fmt.Errorf("predict %s: we take its runner for another one: the engine's own: %v", l.model.Name, l.own)
	}
	if modern(l.version) {
		many, err := l.fit(manyTokens)
		if err != nil {
			return err
		}
		l.beside(many.Sum)
		return nil
	}
	if !l.own {
		add(&l.listedWhy, "embedding", -l.embedding())
		if l.kind == "q8_0" {
			add(&l.listedWhy, "q8=1", -l.sum.Cache/17) // 1 instead of 17/16
		}
	} else {
		if l.shape.Architecture == "lfm2" {
			add(&l.listedWhy, "tied", l.embedding())
			add(&l.pagesWhy, "tied", l.embedding())
		}
		logits := l.logits(fewTokens)
		add(&l.listedWhy, "logits", logits)
		add(&l.listedWhy, "graph", within(l.graph-l.sum.Compute-logits))
	}
	if left := l.left(l.pages, l.held(), l.pagesWhy); left > 0 {
		add(&l.pagesWhy, "own", within(left))
	}
	return nil
}

// fit is the one of this program for what was loaded, for a server that reads batch tokens at a time.
func (l *load) fit(batch int) (local.Fit, error) {
	machine := probes.Machine{RAM: probes.Memory{Physical: 1 << 40, Total: 1 << 40, Available: 1 << 40}} // room is not the question
	fit, err := local.ChooseWindow(l.model, machine, local.Held{}, local.Want{
		Window: l.window, CacheType: l.kind, Provider: "ollama", Version: l.version, Slow: true, Batch: batch,
	})
	if err == nil && fit.Window != l.window {
		err = fmt.Errorf("predict %s: asked for %d tokens, got %d", l.model.Name, l.window, fit.Window)
	}
	return fit, err
}

// logits is what the compute buffer lacks of our prediction: rows for all but one of the tokens read at a time.
func (l *load) logits(batch int64) int64 { return -int64(l.model.Geometry.Vocab) * (batch - 1) * 4 }

// add puts a rule on a list, if it adds anything.
func add(to *[]term, rule string, bytes int64) {
	if bytes != 0 {
		*to = append(*to, term{rule, bytes})
	}
}

// predicted is what the engine should list: its own runner and llama-server list their compute buffer too.
func (l *load) predicted() int64 {
	if l.own || modern(l.version) {
		return kept(l.sum) + l.sum.Compute
	}
	return kept(l.sum)
}

// held is what the runner should have written right after the load: the masks of one batch, where it will hold those of
// two, and of its compute buffer next to nothing.
func (l *load) held() int64 { return kept(l.sum) + l.sum.Masks/2 }

func kept(s local.Sum) int64 { return s.Weights + s.Cache + s.State }

func (l *load) embedding() int64 { return int64(l.model.Geometry.Vocab) * int64(l.shape.Width) * 2 }

func sum(terms []term) int64 {
	var n int64
	for _, t := range terms {
		n += t.bytes
	}
	return n
}

var heading = fmt.Sprintf("%-13s %-20s %-9s %4s %-4s %9s %9s %6s %6s %9s %9s %6s %6s %8s  %s", "architecture", "geometry", "runner", "win", "kv",
	"predicted", "listed", "diff", "left", "predicted", "resident", "diff", "left", "need", "explained by (MiB)")

func header(version string) string {
	if modern(version) {
		return besideHeading
	}
	return heading
}

// row is a line of the table: sizes in MiB, each found one after its prediction, with their difference in percent, and
// what is left of it after the rules named at the end.
func (l *load) row(name string) string {
	if modern(l.version) {
		return l.besideRow(name)
	}
	runner := "llama.cpp"
	if l.own {
		runner = "own"
	}
	m := inMiB
	return fmt.Sprintf("%-13s %-20s %-9s %3dk %-4s %9s %9s %6s %6s %9s %9s %6s %6s %8s  %s", l.shape.Architecture, name, runner, l.window>>10, l.used,
		m(l.predicted()), m(l.listed), percent(l.listed-l.predicted(), l.listed), percent(l.left(l.listed, l.predicted(), l.listedWhy), l.listed),
		m(l.held()), m(l.pages), percent(l.pages-l.held(), l.pages), percent(l.left(l.pages, l.held(), l.pagesWhy), l.pages), m(l.need), l.because())
}

func percent(part, whole int64) string {
	return fmt.Sprintf("%+.1f%%", 100*float64(part)/float64(whole))
}

func inMiB(n int64) string { return fmt.Sprintf("%.1f", float64(n)/mib) }

// left is what the rules do not explain of a size that was found.
func (l *load) left(found, predicted int64, why []term) int64 { return found - predicted - sum(why) }

// because names the rules behind the differences: those of both sizes first.
func (l *load) because() string {
	var both, listed, pages []string
	say := func(t term) string { return fmt.Sprintf("%s %+.1f", t.rule, float64(t.bytes)/mib) }
	for _, t := range l.listedWhy {
		if slices.Contains(l.pagesWhy, t) {
			both = append(both, say(t))
		} else {
			listed = append(listed, say(t))
		}
	}
	for _, t := range l.pagesWhy {
		if !slices.Contains(l.listedWhy, t) {
			pages = append(pages, say(t))
		}
	}
	var parts []string
	for _, p := range []struct {
		of    string
		terms []string
	}{{"both", both}, {"listed", listed}, {"resident", pages}} {
		if len(p.terms) > 0 {
			parts = append(parts, p.of+": "+strings.Join(p.terms, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// wrong lists the differences that neither the tolerance nor the rules cover.
func (l *load) wrong(name string) []string {
	var out []string
	judge := func(what string, found, predicted int64, why []term) {
		if left := l.left(found, predicted, why); float64(max(left, -left)) > tolerance*float64(found) {
			out = append(out, fmt.Sprintf("%s %s %dk %s: predicted %d, %s %d, %+d left", l.shape.Architecture, name, l.window>>10, l.kind,
				predicted, what, found, left))
		}
	}
	judge("listed", l.listed, l.predicted(), l.listedWhy)
	judge("resident", l.pages, l.held(), l.pagesWhy)
	return out
}

// legend explains the table of an engine.
func legend(version string) string {
	var b strings.Builder
	of := "predicted: weights, keys, values and states; of the engine's own runner also what it lists for computing, or holds for the masks of one batch;\n"
	list := rules[:]
	if modern(version) {
		of = "at 512, at 2048: predicted weights, keys, values, states and compute buffer for so many tokens at a time; predicted: without that buffer;\n"
		list = besideRules[:]
	}
	b.WriteString(of + "listed: /api/ps; resident: pages the runner has written, right after the load; left: of a difference, after the rules below;\n" +
		"need: what a fit reckons with; kv: the format that is used, which may be another than the one asked for\n")
	for _, r := range list {
		fmt.Fprintf(&b, "  %-12s %s\n", r.name, r.text)
	}
	return b.String()
}
