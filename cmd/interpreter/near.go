package main

import (
	"cmp"
	"slices"
	"strings"

	"interpreter/local"
)

// nearNames are the other names that a slip is most likely to have meant, the nearest first, at most three. Tags count
// less than what stands before them.
func nearNames(word string, names []string) []string {
	type guess struct {
		name string
		away int
	}
	word = strings.ToLower(strings.TrimSpace(word))
	base, _, _ := strings.Cut(word, ":")
	var near []guess
	for _, name := range names {
		if local.SameModel(name, word) {
			continue
		}
		low := strings.ToLower(name)
		own, _, _ := strings.Cut(low, ":")
		own = own[strings.LastIndex(own, "/")+1:]
		away := min(slips(word, low), slips(base[strings.LastIndex(base, "/")+1:], own)+1)
		if len(base) >= 3 && (strings.HasPrefix(own, base) || strings.Contains(own, base)) {
			away = min(away, 2)
		}
		if away <= max(2, len(base)/3) {
			near = append(near, guess{name, away})
		}
	}
	slices.SortStableFunc(near, func(a, b guess) int { return cmp.Compare(a.away, b.away) })
	var out []string
	for _, g := range near {
		if !slices.Contains(out, g.name) && len(out) < 3 {
			out = append(out, g.name)
		}
	}
	return out
}

// slips counts the letters to insert, drop or replace to get from one word to another.
func slips(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := before
			if a[i-1] != b[j-1] {
				cost++
			}
			before = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
