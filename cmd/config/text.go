package config

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// DecodeText reads text the way people's editors save it: UTF-8 with or without a byte order mark, or UTF-16 when a
// mark says so. Anything else is an error that says what it looks like.
func DecodeText(b []byte) (string, error) {
	switch {
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE, 0, 0}), bytes.HasPrefix(b, []byte{0, 0, 0xFE, 0xFF}):
		return "", errors.New("the text is UTF-32; save it as UTF-8")
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		return wide(b[2:], 0, 1)
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		return wide(b[2:], 1, 0)
	}
	b = bytes.TrimPrefix(b, []byte{0xEF, 0xBB, 0xBF})
	if !utf8.Valid(b) {
		at := 0
		for at < len(b) {
			r, size := utf8.DecodeRune(b[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
		line := 1 + bytes.Count(b[:at], []byte{'\n'})
		return "", fmt.Errorf("line %d: byte 0x%02x is not UTF-8; save the text as UTF-8", line, b[at])
	}
	return string(b), nil
}

// wide decodes UTF-16 whose low and high bytes stand at the given places of each pair.
func wide(b []byte, low, high int) (string, error) {
	if len(b)%2 != 0 {
		return "", errors.New("the text is UTF-16 by its first bytes, but has an odd number of bytes; save it as UTF-8")
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = uint16(b[2*i+low]) | uint16(b[2*i+high])<<8
	}
	for i := 0; i < len(units); i++ {
		if !utf16.IsSurrogate(rune(units[i])) {
			continue
		}
		if i+1 == len(units) || utf16.DecodeRune(rune(units[i]), rune(units[i+1])) == utf8.RuneError {
			return "", fmt.Errorf("the text is UTF-16 by its first bytes, but unit %d is half a character; save it as UTF-8", i+1)
		}
		i++
	}
	return string(utf16.Decode(units)), nil
}
