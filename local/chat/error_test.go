package chat

import (
	"strings"
	"testing"
)

// Errors are told in words, not in the names that kinds have in here.
func TestErrorsInWords(t *testing.T) {
	for kind, want := range map[Kind]string{Broken: "m: the connection broke off (HTTP 400): x", Invalid: "m: the server refused the request (HTTP 400): x",
		Missing: "m: the server does not have this model (HTTP 400): x", Server: "m: the server failed (HTTP 400): x"} {
		if got := (&Error{Kind: kind, Model: "m", Status: 400, Detail: "x"}).Error(); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	for _, kind := range []Kind{Unreachable, Broken, Idle, Busy, Server, Overflow, Missing, NoTools, NoThinking, Memory, Denied, Invalid, Remote} {
		if words := kind.words(); words == string(kind) || !strings.Contains(words, " ") {
			t.Errorf("%s has no words", kind)
		}
	}
	if got := (&Error{Kind: Invalid, Detail: "a web page"}).Error(); got != "no usable answer: a web page" {
		t.Errorf("got %q", got)
	}
}
