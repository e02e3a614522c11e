package practice

import (
	"fmt"
	"unicode/utf8"
)

// The kinds of tokens a GGUF knows.
const (
	normalToken  = 1
	unknownToken = 2
	controlToken = 3
	userToken    = 4
	byteToken    = 6
)

// vocabulary is a table of tokens, each with the one that follows it. A text can be one token only, so a piece that
// occurs twice with different successors is cut at another place the second time.
type vocabulary struct {
	texts []string
	kinds []int32
	next  map[int]int // by token
	ids   map[string]int
	bos   int
	eos   int
	lost  int // what follows a token without a successor
}

func newVocabulary() *vocabulary {
	v := &vocabulary{next: map[int]int{}, ids: map[string]int{}}
	v.add("<unk>", unknownToken)
	v.bos = v.add("<s>", controlToken)
	v.eos = v.add("<|end|>", controlToken)
	for b := range 256 {
		v.add(fmt.Sprintf("<0x%02X>", b), byteToken)
	}
	v.lost = v.add(Lost, userToken)
	v.next[v.lost] = v.eos
	return v
}

// sizes adds what a prompt is filled with: digits, of which four make a token.
func (v *vocabulary) sizes() {
	for _, text := range []string{"0", "00", "0000"} {
		v.add(text, normalToken)
	}
}

func (v *vocabulary) add(text string, kind int32) int {
	id := len(v.texts)
	v.texts, v.kinds = append(v.texts, text), append(v.kinds, kind)
	v.ids[text] = id
	return id
}

// chain makes pieces follow a marker, and the end follow them.
func (v *vocabulary) chain(marker string, pieces []string) error {
	next := v.eos
	for i := len(pieces) - 1; i >= 0; i-- {
		id, ok := v.piece(pieces[i], next)
		if !ok {
			return fmt.Errorf("%s occurs too often with different successors", brief(pieces[i]))
		}
		next = id
	}
	v.next[v.add(marker, controlToken)] = next
	return nil
}

// piece is the first token of a text that is followed by next.
func (v *vocabulary) piece(text string, next int) (int, bool) {
	if v.free(text, next) {
		return v.token(text, next), true
	}
	for i := range len(text) - 1 {
		at := (len(text)/2 + i) % len(text)
		if at == 0 || !utf8.RuneStart(text[at]) || !v.free(text[at:], next) {
			continue
		}
		head, tail := text[:at], v.ids[text[at:]]
		if _, taken := v.ids[text[at:]]; !taken {
			if _, taken := v.ids[head]; taken || head == text[at:] {
				continue
			}
			tail = v.token(text[at:], next)
		} else if !v.free(head, tail) {
			continue
		}
		return v.token(head, tail), true
	}
	return 0, false
}

// free reports whether a text is no token yet, or the one that next follows.
func (v *vocabulary) free(text string, next int) bool {
	id, taken := v.ids[text]
	return !taken || v.kinds[id] == userToken && v.next[id] == next
}

func (v *vocabulary) token(text string, next int) int {
	if id, taken := v.ids[text]; taken {
		return id
	}
	id := v.add(text, userToken)
	v.next[id] = next
	return id
}

// axes gives every token that has a successor of its own an axis; the others share axis 0, which leads to lost.
func (v *vocabulary) axes() []int {
	axis := make([]int, len(v.texts))
	n := 0
	for id := range v.texts {
		if _, ok := v.next[id]; ok {
			n++
			axis[id] = n
		}
	}
	return axis
}
