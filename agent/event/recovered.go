package event

import (
	"sort"
	"strconv"
	"strings"
)

// The kinds of slips that are mended.
const (
	CallAsText      = "call written as text"
	UnreadableCall  = "unreadable call"
	EmptyAnswer     = "empty answer"
	EndlessAnswer   = "endless answer"
	GarbledAnswer   = "garbled answer"
	LongThoughts    = "thought without end"
	EarlyStop       = "early stop"
	UncheckedChange = "unchecked change"
	OtherShape      = "answer in another shape"
	FinishCalled    = "finish called as a tool"
	CutAnswer       = "cut answer"
	FullWindow      = "full window"
	OtherSpelling   = "call spelled another way"
	LooseEdit       = "edit matched loosely"
	Repetition      = "repeated call"
)

// plural is a kind of which there are several.
func plural(kind string) string {
	switch kind {
	case OtherShape:
		return "answers in another shape"
	case LongThoughts:
		return "thoughts without end"
	case FinishCalled:
		return kind
	}
	for _, noun := range []string{"call", "answer", "stop", "change", "edit", "window"} {
		if strings.HasPrefix(kind, noun+" ") {
			return noun + "s" + strings.TrimPrefix(kind, noun)
		}
		if strings.HasSuffix(kind, " "+noun) {
			return kind + "s"
		}
	}
	return kind
}

// Tally writes counts by kind for a person: "2 calls written as text, 1 early stop". Most frequent first.
func Tally(counts map[string]int) string {
	kinds := make([]string, 0, len(counts))
	for kind, n := range counts {
		if n > 0 {
			kinds = append(kinds, kind)
		}
	}
	sort.Slice(kinds, func(i, j int) bool {
		if counts[kinds[i]] != counts[kinds[j]] {
			return counts[kinds[i]] > counts[kinds[j]]
		}
		return kinds[i] < kinds[j]
	})
	for i, kind := range kinds {
		n := counts[kind]
		if n > 1 {
			kind = plural(kind)
		}
		kinds[i] = strconv.Itoa(n) + " " + kind
	}
	return strings.Join(kinds, ", ")
}
