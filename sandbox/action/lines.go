package action

import (
	"path/filepath"
	"slices"
	"strings"
)

// bracedNames are extensions of languages in which indentation says nothing.
var bracedNames = strings.Fields(`.go .c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm .java .js .jsx .mjs .cjs .ts .tsx .mts .cts .rs .cs .php .css .scss .less
	.json .jsonc .html .htm .xml .svg .vue .svelte .kt .kts .swift .scala .dart .lua .rb .sh .bash .zsh .sql .proto .pl .pm .r .jl .ex .exs .erl .zig .toml
	.ini .tf .groovy .gradle .graphql .sol .clj .lisp .el`)

// bracedFile tells whether a file is of such a language. Python, YAML, a Makefile and what is not known are not.
func bracedFile(path string) bool {
	return slices.Contains(bracedNames, strings.ToLower(filepath.Ext(path)))
}

// lostIndent tells whether a Python text opens a block and does not indent it: then no line of it can be trusted.
func lostIndent(path, text string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".py", ".pyi":
	default:
		return false
	}
	open, depth := false, 0
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimSpace(line)
		if bare == "" || bare[0] == '#' {
			continue
		}
		at := columns(indentOf(line), tabColumns)
		if open && at <= depth {
			return true
		}
		open, depth = strings.HasSuffix(bare, ":"), at
	}
	return false
}

// commonLines pairs the lines of a with lines of b in order, as many as can be; -1 is a line without a partner.
func commonLines(a, b []string) []int {
	out := make([]int, len(a))
	for i := range out {
		out[i] = -1
	}
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		out[head] = head
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		out[len(a)-1-tail] = len(b) - 1 - tail
		tail++
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(x) == 0 || len(y) == 0 || len(x)*len(y) > 1<<20 {
		return out
	}
	width := len(y) + 1
	longest := make([]int32, (len(x)+1)*width)
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			out[head+i] = head + j
			i, j = i+1, j+1
		case longest[(i+1)*width+j] >= longest[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return out
}
