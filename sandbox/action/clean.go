package action

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Clean makes text of what a command printed: escape sequences and control characters go, a line that was written
// over keeps its last state, backspaces are applied, UTF-16 is decoded by its mark, and what is no UTF-8 becomes
// U+FFFD. The result is valid UTF-8 with line feeds only.
func Clean(raw []byte) string {
	var c cleaner
	return c.feed(raw) + c.last()
}

// partialMost bounds what a line without an end may hold back.
const partialMost = 64 << 10

// cleaner cleans a stream. It gives whole lines as they are complete; flush gives the rest.
type cleaner struct {
	begun   bool
	order   binary.ByteOrder // of UTF-16; nil for single bytes
	odd     []byte           // half a UTF-16 unit, or the start of a stream too short to judge
	partial []byte           // a line that has not ended
}

func (c *cleaner) feed(raw []byte) string {
	held := len(c.partial) // without a line feed
	c.partial = append(c.partial, c.decode(raw)...)
	var out string
	if i := bytes.LastIndexByte(c.partial[held:], '\n'); i >= 0 {
		i += held
		out = cleanLines(string(c.partial[:i+1]))
		c.partial = append(c.partial[:0], c.partial[i+1:]...)
	}
	if len(c.partial) > partialMost {
		out += c.squeeze()
	}
	return out
}

// flush gives what is there of an unfinished line. The start of an escape sequence or letter waits for its end.
func (c *cleaner) flush() string {
	if len(c.odd) > 0 && c.order == nil {
		c.partial, c.odd, c.begun = append(c.partial, c.odd...), nil, true
	}
	keep := unfinished(c.partial)
	out := cleanLines(string(c.partial[:len(c.partial)-keep]))
	c.partial = append(c.partial[:0], c.partial[len(c.partial)-keep:]...)
	return out
}

// last gives everything that was held back, at the end of the stream.
func (c *cleaner) last() string {
	out := c.flush() + cleanLines(string(c.partial))
	c.partial = nil
	return out
}

// squeeze shortens a long unfinished line: a progress bar to its last state, anything else is given out.
func (c *cleaner) squeeze() string {
	tail := c.partial[len(c.partial)-unfinished(c.partial):]
	ends := bytes.HasSuffix(c.partial, []byte("\r"))
	out := cleanLines(string(c.partial[:len(c.partial)-len(tail)]))
	rest := append([]byte{}, tail...)
	if len(out) < partialMost/2 && bytes.IndexByte(c.partial, '\r') >= 0 {
		held := out
		if ends {
			held += "\r"
		}
		rest, out = append([]byte(held), rest...), ""
	}
	c.partial = rest
	return out
}

// decode turns UTF-16 into UTF-8 when the stream begins with its mark.
func (c *cleaner) decode(raw []byte) []byte {
	if !c.begun {
		raw = append(c.odd, raw...)
		c.odd = nil
		if len(raw) < 3 && bytes.HasPrefix([]byte(bomUTF8), raw) || len(raw) < 2 && len(raw) > 0 && (raw[0] == bomLE[0] || raw[0] == bomBE[0]) {
			c.odd = append([]byte{}, raw...)
			return nil
		}
		c.begun = len(raw) > 0
		switch {
		case bytes.HasPrefix(raw, []byte(bomLE)):
			c.order, raw = binary.LittleEndian, raw[2:]
		case bytes.HasPrefix(raw, []byte(bomBE)):
			c.order, raw = binary.BigEndian, raw[2:]
		case bytes.HasPrefix(raw, []byte(bomUTF8)):
			raw = raw[3:]
		}
	}
	if c.order == nil {
		return raw
	}
	raw = append(c.odd, raw...)
	n := len(raw) / 2
	units := make([]uint16, 0, n)
	for i := range n {
		units = append(units, c.order.Uint16(raw[2*i:]))
	}
	if n > 0 && utf16.IsSurrogate(rune(units[n-1])) && units[n-1] < 0xdc00 {
		n-- // its other half is still to come
	}
	c.odd = append([]byte{}, raw[2*n:]...)
	return []byte(string(utf16.Decode(units[:n])))
}

// unfinished is the length of an escape sequence or a letter that is cut off at the end.
func unfinished(b []byte) int {
	from := max(0, len(b)-4096)
	if i := bytes.LastIndexByte(b[from:], 0x1b); i >= 0 {
		text := string(b[from+i:])
		if n, whole := escapeLength(text); !whole && n == len(text) {
			return n
		}
	}
	for n := 1; n <= min(3, len(b)); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= 0x80 && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			break
		}
	}
	return 0
}

// escapeLength measures the escape sequence at the start of s, which begins with ESC. One that is cut by the end of
// s, or by the end of a line, is not whole.
func escapeLength(s string) (n int, whole bool) {
	if len(s) < 2 {
		return len(s), false
	}
	switch c := s[1]; {
	case c == '[':
		for i := 2; i < len(s); i++ {
			switch {
			case s[i] >= 0x40 && s[i] <= 0x7e:
				return i + 1, true
			case s[i] < 0x20 || s[i] > 0x7e:
				return i, true // broken: what interrupts it is text again
			}
		}
		return len(s), false
	case strings.IndexByte("]PX^_", c) >= 0:
		for i := 2; i < len(s); i++ {
			switch {
			case s[i] == 0x07:
				return i + 1, true
			case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
				return i + 2, true
			case s[i] == '\n':
				return i, true
			}
		}
		return len(s), false
	case c >= 0x20 && c <= 0x2f:
		for i := 2; i < len(s); i++ {
			if s[i] < 0x20 || s[i] > 0x2f {
				if s[i] >= 0x30 && s[i] <= 0x7e {
					return i + 1, true
				}
				return i, true
			}
		}
		return len(s), false
	case c >= 0x30 && c <= 0x7e:
		return 2, true
	}
	return 1, true
}

// cleanLines cleans a text that is cut at no letter and no sequence.
func cleanLines(text string) string {
	if plainOutput(text) {
		return text
	}
	var out strings.Builder
	var line []rune  // as written since the last carriage return
	var under []rune // what it has not written over yet
	end := func() {
		if len(line) == 0 {
			line = under
		}
		out.WriteString(string(line))
		line, under = line[:0], under[:0]
	}
	for i := 0; i < len(text); {
		if text[i] == 0x1b {
			n, _ := escapeLength(text[i:])
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		switch {
		case r == '\n':
			end()
			out.WriteByte('\n')
		case r == '\r':
			if len(line) > 0 {
				line, under = under[:0], line
			}
		case r == '\b':
			if len(line) > 0 {
				line = line[:len(line)-1]
			}
		case r == '\t' || r >= 0x20 && r != 0x7f && (r < 0x80 || r > 0x9f):
			line = append(line, r)
		}
	}
	end()
	return out.String()
}

// plainOutput is most output: nothing to clean.
func plainOutput(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < 0x20 && c != '\n' && c != '\t' || c == 0x7f || c == 0xc2 {
			return false
		}
	}
	return utf8.ValidString(text)
}
