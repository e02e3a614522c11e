package zcode

import (
	"fmt"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

func read(p harness.ReadParams) (harness.Step, error) {
	a := p.Action()
	a.Repeat = p.Offset <= 1 && p.Limit <= 0
	return p.Step(a, tokens, saySeen, func(err error) string { return fault("Read", err) }), nil
}

// tokens is a rough count: three letters make one, where a Chinese character counts as two letters.
func tokens(text string) int {
	n := 0
	for _, r := range text {
		if n++; r >= 0x4E00 && r <= 0x9FFF {
			n++
		}
	}
	return (n + 2) / 3
}

func saySeen(s action.Seen, limit int) string {
	if s.Unchanged {
		return fmt.Sprintf("%s has not changed since you read its %d lines; that result still holds.", s.Path, s.Total)
	}
	return harness.ReadWords(s, limit)
}

func fetch(p harness.FetchParams) action.Fetch { return p.Action(pageMost) }

// pageMost bounds a page, in bytes: about 8000 tokens.
const pageMost = 32_000
