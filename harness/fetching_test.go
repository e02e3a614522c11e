package harness

import "testing"

func TestFetchAddress(t *testing.T) {
	for given, want := range map[string]string{
		"http://go.dev/doc":       "https://go.dev/doc",
		" https://go.dev ":        "https://go.dev",
		"http://localhost:80/x":   "http://localhost:80/x",
		"http://127.0.0.1/x":      "http://127.0.0.1/x",
		"http://[::1]:8080/":      "http://[::1]:8080/",
		"http://app.localhost/":   "http://app.localhost/",
		"http://localhost.evil/x": "https://localhost.evil/x",
		"http://127.evil.example": "https://127.evil.example",
	} {
		if got := (FetchParams{URL: given}).Action(10).URL; got != want {
			t.Errorf("%s becomes %s, want %s", given, got, want)
		}
	}
}
