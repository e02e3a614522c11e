package action

import (
	"strings"
	"unicode/utf8"
)

// An output with that many characters that are none, and a quarter of it or more, is no text.
const garbledLeast = 32

// garbledNote stands in the place of an output that is no text: nobody could read it, and a model would pay for it.
const garbledNote = "(what it printed is not UTF-8 text; file, strings, xxd or iconv make something readable of such)\n"

// garbled reports whether a cleaned output was no text.
func garbled(text string) bool {
	wrong := strings.Count(text, "\uFFFD")
	return wrong >= garbledLeast && 4*wrong >= utf8.RuneCountInString(text)
}
