package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// choose finds the grants that a person names: by numbers of the list, by the words of a rule, by a folder, or by a host.
func choose(all []grant, args []string, userHome string) ([]grant, error) {
	const look = "interpreter approvals list"
	if numbers, ok := numbersOf(args); ok {
		var chosen []grant
		for _, n := range numbers {
			if n < 1 || n > len(all) {
				return nil, try(fmt.Errorf("there is no number %d in the list, which has %s", n, entries(len(all))), look)
			}
			if g := all[n-1]; !slices.ContainsFunc(chosen, func(c grant) bool { return c.Number == g.Number }) {
				chosen = append(chosen, g)
			}
		}
		return chosen, nil
	}
	var named, own []grant
	for _, g := range all {
		if g.named(args, userHome) {
			named = append(named, g)
			if g.own {
				own = append(own, g)
			}
		}
	}
	if len(own) == 0 {
		own = named
	}
	switch len(own) {
	case 0:
		return nil, try(fmt.Errorf("nothing in the list is called %q", strings.Join(args, " ")), look)
	case 1:
		return own, nil
	}
	var numbers []string
	for _, g := range own {
		numbers = append(numbers, strconv.Itoa(g.Number))
	}
	return nil, try(fmt.Errorf("%s names %d entries of the list: %s", strings.Join(args, " "), len(own), strings.Join(numbers, ", ")),
		"interpreter approvals remove "+numbers[0])
}

func numbersOf(args []string) ([]int, bool) {
	var numbers []int
	for _, a := range args {
		n, err := strconv.Atoi(a)
		if err != nil {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	return numbers, true
}

// named reports whether a person's words mean this grant.
func (g grant) named(args []string, userHome string) bool {
	text := strings.Join(args, " ")
	if text == g.Words {
		return true
	}
	switch g.Kind {
	case "rule":
		words := args
		if len(words) == 1 {
			words = strings.Fields(words[0])
		}
		return slices.EqualFunc(g.Pattern, words, func(place []string, word string) bool { return len(place) == 1 && place[0] == word })
	case "host":
		return strings.EqualFold(text, g.Words)
	}
	return len(args) == 1 && samePlace(text, g.Words, userHome)
}

// samePlace compares a folder as a person types it with one as a file spells it, which may begin with ~.
func samePlace(typed, written, userHome string) bool {
	if rest, ok := strings.CutPrefix(written, "~/"); ok {
		written = filepath.Join(userHome, rest)
	}
	abs, err := filepath.Abs(typed)
	if err != nil {
		return false
	}
	if abs == filepath.Clean(written) {
		return true
	}
	one, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return false
	}
	two, err := filepath.EvalSymlinks(written)
	return err == nil && one == two
}

func entries(n int) string {
	switch n {
	case 0:
		return "no entries"
	case 1:
		return "1 entry"
	}
	return strconv.Itoa(n) + " entries"
}
