package action

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
)

// strange is what other dialects of regular expressions have and RE2 has not.
var strange = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`\(\?=`), "look-ahead is not supported"},
	{regexp.MustCompile(`\(\?!`), "negative look-ahead is not supported"},
	{regexp.MustCompile(`\(\?<=`), "look-behind is not supported"},
	{regexp.MustCompile(`\(\?<!`), "negative look-behind is not supported"},
	{regexp.MustCompile(`\(\?>`), "atomic groups are not supported"},
	{regexp.MustCompile(`\(\?\(`), "conditions are not supported"},
	{regexp.MustCompile(`\(\?#[^)]*\)`), "comments are not supported"},
	{regexp.MustCompile(`\\[1-9]|\\k[<{'][^>}']*[>}']|\(\?P=\w+\)|\\g\{?-?\d+\}?`), "back-references are not supported"},
	{regexp.MustCompile(`\\[KGXRhHZ]`), "this escape is not supported"},
	{regexp.MustCompile(`[*+?}]\+`), "possessive repetition is not supported"},
}

// patternError says which part of a pattern cannot be read, and offers the nearest pattern that can.
func patternError(pattern string, err error) *PatternError {
	e := &PatternError{Pattern: pattern, Why: err.Error()}
	var se *syntax.Error
	if errors.As(err, &se) {
		e.At, e.Why = se.Expr, se.Code.String()
	}
	bare := unescapedOnly(pattern)
	for _, s := range strange {
		at := s.pattern.FindStringIndex(bare)
		if at == nil {
			continue
		}
		e.At, e.Why = pattern[at[0]:at[1]], s.why
		break
	}
	if near := nearestPattern(pattern); near != pattern && near != "" {
		if _, err := regexp.Compile(near); err == nil {
			e.Instead = near
		}
	}
	if e.Instead == "" && errors.As(err, &se) {
		if near := regexp.QuoteMeta(pattern); near != pattern {
			e.Instead = near // unbalanced brackets are mostly meant as plain text
		}
	}
	return e
}

// unescapedOnly blanks escaped backslashes, so that what follows them is not taken for an escape.
func unescapedOnly(pattern string) string { return strings.ReplaceAll(pattern, `\\`, "\x00\x00") }

// nearestPattern takes out what RE2 has not: a look-around that demands something becomes that something, one that
// forbids goes, a back-reference becomes the group it repeats.
func nearestPattern(pattern string) string {
	var b strings.Builder
	var groups []string // the expression of each capture, as far as it is closed
	type open struct {
		at      int // in b, behind the bracket
		capture int // index into groups, -1: none
		drop    bool
	}
	var stack []open
	class := false
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case c == '\\' && i+1 < len(pattern):
			next := pattern[i+1]
			switch {
			case !class && next >= '1' && next <= '9':
				if n := int(next - '1'); n < len(groups) && groups[n] != "" {
					b.WriteString("(?:" + groups[n] + ")")
				} else {
					b.WriteString(".*")
				}
			case next == 'Z':
				b.WriteString(`\z`)
			case next == 'h':
				if class {
					b.WriteString(` \t`)
				} else {
					b.WriteString(`[ \t]`)
				}
			case next == 'R' && !class:
				b.WriteString(`\r?\n`)
			case next == 'K' || next == 'G':
			default:
				b.WriteString(pattern[i : i+2])
			}
			i += 2
			continue
		case class:
			class = c != ']'
		case c == '[':
			class = true
			b.WriteByte(c)
			i++
			for i < len(pattern) && (pattern[i] == '^' || pattern[i] == ']') { // a bracket in the first place is plain
				b.WriteByte(pattern[i])
				i++
				if pattern[i-1] == ']' {
					break
				}
			}
			continue
		case c == '(':
			o, skip, put := open{capture: -1}, 1, "("
			rest := pattern[i:]
			switch {
			case strings.HasPrefix(rest, "(?="), strings.HasPrefix(rest, "(?>"):
				skip, put = 3, "(?:"
			case strings.HasPrefix(rest, "(?<="):
				skip, put = 4, "(?:"
			case strings.HasPrefix(rest, "(?!"):
				skip, put, o.drop = 3, "", true
			case strings.HasPrefix(rest, "(?<!"):
				skip, put, o.drop = 4, "", true
			case strings.HasPrefix(rest, "(?P=") || strings.HasPrefix(rest, "(?#"):
				end := strings.IndexByte(rest, ')')
				if end < 0 {
					return ""
				}
				if rest[2] == 'P' {
					b.WriteString(".*")
				}
				i += end + 1
				continue
			case !strings.HasPrefix(rest, "(?"), strings.HasPrefix(rest, "(?P<"), strings.HasPrefix(rest, "(?<"):
				o.capture = len(groups)
				groups = append(groups, "")
			}
			b.WriteString(put)
			o.at = b.Len()
			stack = append(stack, o)
			i += skip
			continue
		case c == ')' && len(stack) > 0:
			o := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			text := b.String()
			if o.drop {
				b.Reset()
				b.WriteString(text[:o.at])
				i++
				continue
			}
			if o.capture >= 0 {
				groups[o.capture] = text[o.at:]
			}
		case c == '+' && i > 0 && strings.IndexByte("*+?}", pattern[i-1]) >= 0 && (i < 2 || pattern[i-2] != '\\'):
			i++
			continue
		}
		b.WriteByte(c)
		i++
	}
	return b.String()
}
