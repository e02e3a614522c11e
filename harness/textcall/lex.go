package textcall

import "strings"

// A lexeme is a tag, a token or a word in brackets, in one spelling however a model spells it: "tool_call" and
// "/tool_call" for tags, "|tool_sep|" for tokens with bars of any kind, "|tool_call" and "tool_call|" for tokens with a
// bar on one side, "[TOOL_CALLS" for words in brackets.
type lexeme struct {
	name  string
	attrs string // of a tag, behind its name
	end   int
	full  bool // the prefix "DSML" stood before the name
}

type whether int

const (
	no    whether = iota
	maybe         // the text ends before it is clear
	yes
)

// lex reads the lexeme at a place, where the text has "<" or "[".
func lex(text string, at int) (lexeme, whether) {
	if text[at] == '[' {
		return lexBracket(text, at)
	}
	i := at + 1
	slash := i < len(text) && text[i] == '/'
	if slash {
		i++
	}
	i, bars := barsAt(text, i)
	if bars < 0 {
		return lexeme{}, maybe
	}
	if bars == 0 {
		return lexTag(text, i, slash, false)
	}
	from := i
	i, plain := tokenName(text, i)
	if i >= len(text) {
		if i-from > 64 {
			return lexeme{}, no
		}
		return lexeme{}, maybe
	}
	name := text[from:i]
	i, closing := barsAt(text, i)
	switch {
	case closing < 0:
		return lexeme{}, maybe
	case closing > 0 && strings.EqualFold(strings.TrimSpace(name), "dsml"):
		if i < len(text) && text[i] == '/' {
			slash = true
			i++
		}
		return lexTag(text, i, slash, true)
	case i >= len(text):
		return lexeme{}, maybe
	case text[i] != '>' || name == "":
		return lexeme{}, no
	case slash:
		name = "/" + name
	}
	l := lexeme{end: i + 1}
	if closing > 0 && !slash && plain && i+1-at == len(name)+4 { // <|name|>, letter by letter
		l.name = text[at+1 : i]
		return l, yes
	}
	if !plain {
		name = lowBars.Replace(strings.TrimSpace(name))
	}
	l.name = "|" + name
	if closing > 0 {
		l.name += "|"
	}
	return l, yes
}

var lowBars = strings.NewReplacer("▁", "_", " ", "_")

// tokenName steps over the name of a token; plain says it has neither blanks nor the low bar of one family.
func tokenName(text string, at int) (end int, plain bool) {
	plain = true
	for i := at; i < len(text) && i-at <= 64; {
		switch c := text[i]; {
		case isWord(c) || c == '/' || c == '-' || c == '"' || c == '.' || c == ':':
			i++
		case c == ' ':
			plain = false
			i++
		case c == 0xE2 && strings.HasPrefix(text[i:], "▁"):
			plain = false
			i += len("▁")
		case c == 0xE2 && len(text)-i < 3 && strings.HasPrefix("▁", text[i:]):
			return len(text), plain
		default:
			return i, plain
		}
		if i >= len(text) {
			return len(text), plain
		}
	}
	return at, plain
}

// barsAt steps over bars: |, ｜ and ‖. n is -1 when the text ends inside one.
func barsAt(text string, at int) (end, n int) {
	for at < len(text) {
		switch c := text[at]; {
		case c == '|':
			at++
		case c == 0xEF && strings.HasPrefix(text[at:], "｜"), c == 0xE2 && strings.HasPrefix(text[at:], "‖"):
			at += 3
		case c == 0xEF && len(text)-at < 3 && strings.HasPrefix("｜", text[at:]), c == 0xE2 && len(text)-at < 3 && strings.HasPrefix("‖", text[at:]):
			return at, -1
		default:
			return at, n
		}
		if n++; n > 4 {
			return at, n
		}
	}
	return at, n
}

// widest is how long a tag may be.
const widest = 300

// lexTag reads <name attributes> from behind its "<" and "/".
func lexTag(text string, at int, slash, full bool) (lexeme, whether) {
	from, colon := at, -1
	for at < len(text) && (isWord(text[at]) || text[at] == ':' || text[at] == '.' || text[at] == '-') && at-from <= 80 {
		if text[at] == ':' {
			colon = at
		}
		at++
	}
	if at >= len(text) && at-from <= 80 {
		return lexeme{}, maybe
	}
	if at == from || at-from > 80 || text[from] >= '0' && text[from] <= '9' || text[from] == '-' {
		return lexeme{}, no
	}
	l := lexeme{name: text[from:at], full: full}
	if slash && !full {
		l.name = text[from-1 : at]
	} else if slash {
		l.name = "/" + l.name
	}
	if colon > from && colon+1 < at { // a prefix of a product: minimax:tool_call
		l.name = text[colon+1 : at]
		if slash {
			l.name = "/" + l.name
		}
	}
	if next, bars := barsAt(text, at); bars != 0 {
		if bars < 0 || next >= len(text) {
			return lexeme{}, maybe
		}
		if text[next] != '>' {
			return lexeme{}, no
		}
		l.name += "|"
		l.end = next + 1
		return l, yes
	}
	if text[at] == '>' {
		l.end = at + 1
		return l, yes
	}
	if c := text[at]; c != ' ' && c != '=' && c != '/' && c != '\n' && c != '\t' {
		return lexeme{}, no
	}
	start := at
	for ; at < len(text) && at-start < widest; at++ {
		switch text[at] {
		case '>':
			l.attrs, l.end = text[start:at], at+1
			return l, yes
		case '<':
			return lexeme{}, no
		case '\n':
			if strings.TrimSpace(text[start:at]) != "" {
				return lexeme{}, no
			}
		}
	}
	if at >= len(text) && at-start < widest {
		return lexeme{}, maybe
	}
	return lexeme{}, no
}

// lexBracket reads [WORD] or [word: .
func lexBracket(text string, at int) (lexeme, whether) {
	i := at + 1
	for ; i < len(text) && i-at < 24; i++ {
		switch c := text[i]; {
		case c == ']':
			if i == at+1 {
				return lexeme{}, no
			}
			return lexeme{name: text[at:i], end: i + 1}, yes
		case c == ':':
			return lexeme{name: text[at : i+1], end: i + 1}, yes
		case !isWord(c) && c != ' ' && c != '/':
			return lexeme{}, no
		}
	}
	if i >= len(text) && i-at < 24 {
		return lexeme{}, maybe
	}
	return lexeme{}, no
}

// attribute reads one attribute of a tag: =NAME, ="NAME" or key="NAME".
func attribute(attrs, key string) (string, bool) {
	rest := strings.TrimLeft(attrs, " \t\n")
	if after, ok := strings.CutPrefix(rest, "="); ok { // <function=NAME>
		if key != "name" {
			return "", false
		}
		return strings.Trim(strings.TrimRight(strings.TrimSpace(after), "/"), `"'`), true
	}
	for rest != "" {
		at := strings.IndexByte(rest, '=')
		if at < 0 {
			return "", false
		}
		k, value := strings.TrimSpace(rest[:at]), strings.TrimLeft(rest[at+1:], " ")
		if value == "" {
			return "", false
		}
		end := strings.IndexAny(value, " \t\n")
		next := end
		if q := value[0]; q == '"' || q == '\'' {
			if end = strings.IndexByte(value[1:], q); end < 0 {
				return "", false
			}
			value, next = value[1:], end+2
		}
		if end < 0 {
			end, next = len(value), len(value)
			value = strings.TrimRight(value, "/")
			end = min(end, len(value))
		}
		if k == key {
			return value[:end], true
		}
		rest = strings.TrimLeft(rest[at+1:], " ")
		rest = strings.TrimLeft(rest[min(next, len(rest)):], " \t\n/")
	}
	return "", false
}
