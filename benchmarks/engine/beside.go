package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"

	"interpreter/local"
)

// From 0.30 on Ollama runs models in llama-server, a program beside it, and lists what that program logs of its buffers.

// fewTokens and manyTokens are what such a server reads at a time: few where memory is tight, for which a fit is judged,
// and many for windows above 32,768 tokens where there is plenty, as on the machine that measures.
const fewTokens, manyTokens = 512, 2048

// buffers are what llama-server has logged of one load, in bytes.
type buffers struct {
	compute int64
	hidden  int64 // caches that are not in the server's account
}

var bufferSize = regexp.MustCompile(`([A-Za-z_]\w*:\s+\S+)\s+(KV|compute)\s+buffer size\s*=\s*([\d.]+)\s*MiB`)

// buffers reads the log since a position. The server keeps one size for each component, device and kind
// (updateRunnerMemoryLocked in llm/llama_server.go): of two caches the later one.
func (s *server) buffers(since int64) buffers {
	text, err := os.ReadFile(s.log)
	if err != nil || int64(len(text)) < since {
		return buffers{}
	}
	var b buffers
	caches := map[string]int64{}
	for _, found := range bufferSize.FindAllStringSubmatch(string(text[since:]), -1) {
		size, err := strconv.ParseFloat(found[3], 64)
		if err != nil {
			continue // not a size
		}
		switch bytes, who := int64(size*mib), found[1]; found[2] {
		case "compute":
			b.compute = bytes
		case "KV":
			b.hidden += caches[who]
			caches[who] = bytes
		}
	}
	return b
}

// besideRules are those of llama-server, with the reason why a fit's formulas differ.
var besideRules = [...]rule{
	{"batch", "2048 tokens are read at a time instead of the 512 of a fit: a larger compute buffer, more cells of sliding windows"},
	{"logits", "of the probabilities of all tokens one row is reserved, not one for each token that is read"},
	{"graph", "the compute buffer that is logged, less the one predicted for 2048 tokens and one row: up to 64 MiB"},
	{"hidden", "of two caches the server lists the later one; resident shows that both are there"},
	{"own", "the program's code, threads and heap, and what it has used of its compute buffer: up to 64 MiB"},
}

// beside fills in the rules that lead from what a fit reckons with to what the server lists and its runner holds.
func (l *load) beside(many local.Sum) {
	l.many = kept(many) + many.Compute
	add(&l.listedWhy, "batch", l.many-l.predicted())
	logits := l.logits(manyTokens)
	add(&l.listedWhy, "logits", logits)
	add(&l.listedWhy, "graph", within(l.logged.compute-many.Compute-logits))
	add(&l.listedWhy, "hidden", -l.logged.hidden)
	add(&l.pagesWhy, "batch", kept(many)-l.held())
	if left := l.left(l.pages, l.held(), l.pagesWhy); left > 0 {
		add(&l.pagesWhy, "own", within(left))
	}
}

// modern reports a server that runs models in llama-server.
func modern(version string) bool { return !local.OlderThan(version, "0.30.0") }

// within bounds what a rule without a formula may explain.
func within(bytes int64) int64 { return min(max(bytes, -overhead), overhead) }

var besideHeading = fmt.Sprintf("%-13s %-20s %4s %-4s %9s %9s %9s %6s %6s %9s %9s %6s %6s %8s  %s", "architecture", "geometry", "win", "kv",
	"at 512", "at 2048", "listed", "diff", "left", "predicted", "resident", "diff", "left", "need", "explained by (MiB)")

// besideRow is row for a model in llama-server: predictions for few and for many tokens at a time; the first difference
// is that of many.
func (l *load) besideRow(name string) string {
	return fmt.Sprintf("%-13s %-20s %3dk %-4s %9s %9s %9s %6s %6s %9s %9s %6s %6s %8s  %s", l.shape.Architecture, name, l.window>>10, l.used,
		inMiB(l.predicted()), inMiB(l.many), inMiB(l.listed), percent(l.listed-l.many, l.listed), percent(l.left(l.listed, l.predicted(), l.listedWhy), l.listed),
		inMiB(l.held()), inMiB(l.pages), percent(l.pages-l.held(), l.pages), percent(l.left(l.pages, l.held(), l.pagesWhy), l.pages),
		inMiB(l.need), l.because())
}
