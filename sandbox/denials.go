package sandbox

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Bounds of what is read of an output in search of refusals.
const (
	denialBytes = 64 << 10
	denialLines = 8
)

// refusals are what programs print when the system said no.
var refusals = []string{"Read-only file system", "Permission denied", "Operation not permitted",
	"read-only file system", "permission denied", "operation not permitted"}

// quoted finds paths that programs put in quotes of some kind.
var quoted = regexp.MustCompile("'([^']+)'|\"([^\"]+)\"|‘([^’]+)’|`([^`']+)'")

// unreachable are what programs print when there is no network or nobody to resolve names.
var unreachable = []string{"could not resolve host", "temporary failure in name resolution", "network is unreachable",
	"temporary failure resolving", "eai_again", "getaddrinfo enotfound", "name resolution failed", "unable to resolve host",
	"unable to look up", "could not resolve proxy", "dns error: failed to lookup", "nodename nor servname", "name or service not known"}

// resolver is Go's complaint about a resolver on the loopback that does not answer.
var resolver = regexp.MustCompile(`(?i)lookup \S+ on \S+:53: `)

// barred is the complaint about a socket that may not be made.
var barred = regexp.MustCompile(`(?i)\b(socket|connect)[^:\n]*: operation not permitted`)

// Denials says what the sandbox refused of a command that failed, one line each. The system does not tell who
// refused, so only what the policy forbids and the person could have done counts; words in the output are no evidence
// by themselves.
func Denials(e Exit, o Output, p Policy) []string {
	found := slices.Clone(e.Refused)
	if p.Mode == FullAccess || e.Code == 0 && e.Signal == "" || e.TimedOut {
		return found
	}
	add := func(line string) {
		if !slices.Contains(found, line) && len(found) < denialLines {
			found = append(found, line)
		}
	}
	text := lastBytes(o)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, path := range candidates(line) {
			if verdict := p.denied(path); verdict != "" {
				add(verdict)
				break
			}
		}
	}
	if !p.Network {
		lower := strings.ToLower(text)
		offline := slices.ContainsFunc(unreachable, func(w string) bool { return strings.Contains(lower, w) })
		if offline || resolver.MatchString(text) || barred.MatchString(text) {
			add("the network is off for commands")
		}
	}
	if e.Signal == "SIGSYS" {
		add("a system call that commands may not make")
	}
	return found
}

// denied is the line for a path that a command was refused, "" when the policy did not do it.
func (p Policy) denied(path string) string {
	real, place, err := p.Place(path)
	if err != nil || place == Inside || strings.HasPrefix(real, "/dev/") || strings.HasPrefix(real, "/proc/") || !couldWrite(real) {
		return ""
	}
	switch place {
	case Guarded:
		return fmt.Sprintf("writing %s: it is protected", real)
	case Forbidden:
		return fmt.Sprintf("touching %s: it belongs to the agent itself", real)
	}
	if p.Mode == ReadOnly {
		return fmt.Sprintf("writing %s: commands may only read", real)
	}
	return fmt.Sprintf("writing %s: it is outside the writable folders", real)
}

// candidates are the paths that an error line may speak of.
func candidates(line string) []string {
	at, word := -1, ""
	for _, w := range refusals {
		if i := strings.LastIndex(line, w); i > at {
			at, word = i, w
		}
	}
	if at < 0 {
		return nil
	}
	before, after := strings.TrimRight(line[:at], ": "), strings.Trim(line[at+len(word):], " :.")
	var found []string
	for _, m := range quoted.FindAllStringSubmatch(line, -1) {
		for _, part := range m[1:] {
			if part != "" {
				found = append(found, part)
			}
		}
	}
	// The path stands between the last two colons, or behind a verb as in "open /x: read-only file system".
	if i := strings.LastIndex(before, ": "); i >= 0 {
		found = append(found, before[i+2:])
	}
	if i := strings.LastIndexByte(before, ' '); i >= 0 {
		found = append(found, before[i+1:])
	}
	found = append(found, before, after)
	return slices.DeleteFunc(found, func(s string) bool {
		return s == "" || len(s) > 4096 || strings.ContainsAny(s, "\x00\n") || !filepath.IsAbs(s) && strings.ContainsAny(s, " \t")
	})
}

func lastBytes(o Output) string {
	head, tail := o.Head, o.Tail
	if len(tail) > denialBytes {
		tail = tail[len(tail)-denialBytes:]
	}
	if len(head) > denialBytes {
		if len(tail) == 0 {
			head = head[len(head)-denialBytes:]
		} else {
			head = head[:denialBytes]
		}
	}
	return string(bytes.ToValidUTF8(slices.Concat(head, []byte("\n"), tail), []byte("?")))
}

// Refusals is Denials with what would have let each pass.
func Refusals(e Exit, o Output, p Policy) []Refusal {
	var found []Refusal
	for _, line := range Denials(e, o, p) {
		found = append(found, Refusal{Text: line})
	}
	return found
}
