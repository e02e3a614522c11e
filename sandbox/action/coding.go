package action

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// coding is how a file spells its text. Everything an action does to text happens on UTF-8; encode brings back the
// bytes, and decode refuses a file that would not come back the same.
type coding struct {
	bom   string           // as found, "" when there is none
	order binary.ByteOrder // of UTF-16; nil: one byte at a time
	latin bool             // some bytes are no UTF-8 and nothing else is: new letters are written in Latin-1 too
}

const (
	bomUTF8  = "\xef\xbb\xbf"
	bomLE    = "\xff\xfe"
	bomBE    = "\xfe\xff"
	sniffing = 8 << 10 // bytes that decide whether a file is text
)

// decode gives the text of a file without its byte order mark. Bytes that are no UTF-8 stay as they are.
func decode(b []byte) (string, coding, error) {
	switch {
	case bytes.HasPrefix(b, []byte(bomLE)):
		return decodeUTF16(b, coding{bom: bomLE, order: binary.LittleEndian})
	case bytes.HasPrefix(b, []byte(bomBE)):
		return decodeUTF16(b, coding{bom: bomBE, order: binary.BigEndian})
	case isBinary(b):
		return "", coding{}, ErrBinary
	}
	var c coding
	if bytes.HasPrefix(b, []byte(bomUTF8)) {
		c.bom = bomUTF8
		b = b[len(bomUTF8):]
	}
	if !utf8.Valid(b) {
		c.latin = !hasWide(b)
	}
	return string(b), c, nil
}

func decodeUTF16(b []byte, c coding) (string, coding, error) {
	body := b[2:]
	if len(body)%2 != 0 {
		return "", c, ErrBinary
	}
	units := make([]uint16, len(body)/2)
	for i := range units {
		units[i] = c.order.Uint16(body[2*i:])
	}
	text := string(utf16.Decode(units))
	if strings.IndexByte(text, 0) >= 0 || !bytes.Equal(c.encode(text), b) {
		return "", c, ErrBinary // half a surrogate pair would not survive
	}
	return text, c, nil
}

// encode spells text the way the file does.
func (c coding) encode(text string) []byte {
	if c.order == nil {
		return append([]byte(c.bom), text...)
	}
	units := utf16.Encode([]rune(text))
	out := append(make([]byte, 0, 2+2*len(units)), c.bom...)
	for _, u := range units {
		var pair [2]byte
		c.order.PutUint16(pair[:], u)
		out = append(out, pair[:]...)
	}
	return out
}

// spell puts new text into the letters of the file: in a Latin-1 file an é is one byte.
func (c coding) spell(text string) string {
	if !c.latin {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if r >= 0x80 && r <= 0xff {
			b.WriteByte(byte(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hasWide tells whether some of the bytes are a UTF-8 letter of more than one byte.
func hasWide(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if n > 1 && r != utf8.RuneError {
			return true
		}
		b = b[n:]
	}
	return false
}

// isBinary judges by what no text contains: a NUL anywhere, or many control characters near the start.
func isBinary(b []byte) bool {
	if bytes.IndexByte(b, 0) >= 0 || bytes.HasPrefix(b, []byte("%PDF-")) {
		return true
	}
	head := b[:min(len(b), sniffing)]
	odd := 0
	for _, c := range head {
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\b' && c != 0x1b {
			odd++
		}
	}
	return odd*10 > len(head)
}

// readable gives valid UTF-8: bytes that are none are read as Latin-1 letters.
func readable(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			r = rune(text[i])
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

// view is a decoded text as a model sees and quotes it: line feeds only, valid UTF-8. at leads back.
type view struct {
	text string
	back []int // offset in the decoded text of each offset here; nil when they are the same
}

func newView(decoded string) view {
	if utf8.ValidString(decoded) && !strings.Contains(decoded, "\r\n") {
		return view{text: decoded}
	}
	v := view{back: make([]int, 0, len(decoded)+1)}
	var b strings.Builder
	for i := 0; i < len(decoded); {
		r, n := utf8.DecodeRuneInString(decoded[i:])
		if r == '\r' && strings.HasPrefix(decoded[i:], "\r\n") {
			b.WriteByte('\n')
			v.back = append(v.back, i)
			i += 2
			continue
		}
		if r == utf8.RuneError && n == 1 {
			r = rune(decoded[i])
		}
		b.WriteRune(r)
		for range utf8.RuneLen(r) {
			v.back = append(v.back, i)
		}
		i += n
	}
	v.text = b.String()
	v.back = append(v.back, len(decoded))
	return v
}

// at is the offset in the decoded text of an offset in the view.
func (v view) at(i int) int {
	if v.back == nil {
		return i
	}
	return v.back[i]
}

// unix is text with line feeds only.
func unix(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// breaks writes the line feeds of new text the way old text and its surroundings end lines: the i-th as the i-th
// of the text it replaces, later ones as the last of those, and where it had none as the nearest line of the file.
func breaks(text, old, before, after string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	ends := lineEnds(old)
	if len(ends) == 0 {
		ends = []string{nearestEnd(before, after)}
	}
	var b strings.Builder
	for i := 0; ; i++ {
		line, rest, more := strings.Cut(text, "\n")
		b.WriteString(line)
		if !more {
			return b.String()
		}
		b.WriteString(ends[min(i, len(ends)-1)])
		text = rest
	}
}

func lineEnds(text string) []string {
	var ends []string
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			if i > 0 && text[i-1] == '\r' {
				ends = append(ends, "\r\n")
			} else {
				ends = append(ends, "\n")
			}
		}
	}
	return ends
}

// nearestEnd is how the line that holds a place ends, or the one above when it is the last.
func nearestEnd(before, after string) string {
	text, i := after, strings.IndexByte(after, '\n')
	if i < 0 {
		text, i = before, strings.LastIndexByte(before, '\n')
	}
	if i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineAt is the 1-based line of an offset.
func lineAt(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }

// splitLines are the lines of a text without their line feeds; a final line feed opens no further line.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
