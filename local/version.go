package local

import (
	"fmt"
	"strconv"
	"strings"
)

// OlderThan reports a server's version that is known to be below another. Development builds call themselves 0.0.0,
// and what is no version of numbers is not judged.
func OlderThan(version, than string) bool {
	have, ok := numbers(version)
	want, known := numbers(than)
	if !ok || !known || have == [3]int{} {
		return false
	}
	for i := range have {
		if have[i] != want[i] {
			return have[i] < want[i]
		}
	}
	return false
}

// numbers reads up to three numbers of a version; what follows a hyphen or a plus counts for nothing.
func numbers(version string) (v [3]int, ok bool) {
	version = strings.TrimPrefix(strings.TrimSpace(version), "v")
	if i := strings.IndexAny(version, "-+"); i >= 0 {
		version = version[:i]
	}
	parts := strings.Split(version, ".")
	if len(parts) > len(v) {
		return v, false
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return v, false
		}
		v[i] = n
	}
	return v, true
}

// tooOld refuses a model that the server is too old for, with both versions as far as they are known.
func tooOld(model string, s answering, needs string, err error) error {
	newer := "a newer " + s.Name()
	if needs != "" {
		newer = s.Name() + " " + needs + " or later"
	}
	have := s.version
	if have == "" {
		have = "an unknown version"
	}
	return &Refusal{
		Code: TooOld, Model: model, Err: err,
		Text: fmt.Sprintf("use %s: it needs %s, the server at %s is %s", model, newer, s.Address(), have),
		Try:  fmt.Sprintf("update %s and start it again: a service that still runs is the old one", s.Name()),
	}
}
