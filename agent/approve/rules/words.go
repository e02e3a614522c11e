package rules

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// split takes an example apart as a shell takes apart a line of plain words: quotes and backslashes count, nothing is
// expanded, and a word that begins with # starts a comment.
func split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inside, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '\'':
			if c == '\'' {
				quote = 0
			} else {
				word.WriteByte(c)
			}
		case quote == '"':
			switch {
			case c == '"':
				quote = 0
			case c == '\\' && i+1 < len(line) && strings.IndexByte("$`\"\\\n", line[i+1]) >= 0:
				if i++; line[i] != '\n' {
					word.WriteByte(line[i])
				}
			default:
				word.WriteByte(c)
			}
		case c == ' ' || c == '\t' || c == '\n':
			if inside {
				words = append(words, word.String())
				word.Reset()
				inside = false
			}
		case c == '#' && !inside:
			if end := strings.IndexByte(line[i:], '\n'); end >= 0 {
				i += end
			} else {
				i = len(line)
			}
		case c == '\'' || c == '"':
			quote, inside = c, true
		case c == '\\':
			if i++; i == len(line) {
				return nil, errors.New("it ends in a backslash")
			}
			if line[i] != '\n' {
				word.WriteByte(line[i])
				inside = true
			}
		default:
			word.WriteByte(c)
			inside = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if inside {
		words = append(words, word.String())
	}
	return words, nil
}

// literal writes a text as a string of a rules file, on one line.
func literal(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' || r >= 0x7f && r < 0xa0 || hides(r):
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// hides reports whether a character would make a line look like another one to who reads the file.
func hides(r rune) bool {
	return r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x2069 || r == 0xfeff || r == utf8.RuneError
}

func list(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = literal(w)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// shellWord is a word as one would type it in a shell.
func shellWord(word string) string {
	plain := strings.IndexFunc(word, func(r rune) bool {
		return !(r > 127 || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+=,", r))
	}) < 0
	if plain && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
