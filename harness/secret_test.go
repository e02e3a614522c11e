package harness

import (
	"testing"

	"interpreter/sandbox/action"
)

func TestSecret(t *testing.T) {
	for file, want := range map[string]bool{
		".env": true, "/w/.env.local": true, ".ENV": true, "a/.env.example": false, ".env.sample": false, ".env.template": false,
		".envrc": false, "env": false, "/h/.ssh/id_rsa": true, "id_ed25519.pub": false, "id_ecdsa": true, "/h/.aws/credentials": true,
		"credentials.go": false, "main.go": false,
	} {
		if Secret(file) != want {
			t.Errorf("%s: secret must be %v", file, want)
		}
	}
	f, hidden := Public(action.Found{Total: 5, Hits: []action.Hit{{Path: "/w/.env", Count: 2}, {Path: "/w/a", Count: 3}, {Path: "/w/.env"}}})
	if hidden != 1 || len(f.Hits) != 1 || f.Total != 3 {
		t.Errorf("%+v, %d hidden", f, hidden)
	}
	for file, want := range map[string]bool{"..": true, "../a": true, "a/../../b": true, "a/../b": false, "..a": false, "/etc": false, "": false} {
		if Escapes(file) != want {
			t.Errorf("%s: escapes must be %v", file, want)
		}
	}
}
