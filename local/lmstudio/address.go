package lmstudio

import "interpreter/local"

// Addresses are the places where a person may have said where the server is, as read by whoever looks at the world.
type Addresses struct {
	Override     string // of the command line
	CodexBaseURL string // CODEX_OSS_BASE_URL
	CodexPort    string // CODEX_OSS_PORT
	Configured   string // base_url of the configuration
}

// DefaultAddress is where a server listens that nobody moved.
const DefaultAddress = "http://127.0.0.1:1234"

// Address is the base URL to use and where it was said. The first place of Addresses that says something counts.
func Address(a Addresses) (base, source string, err error) {
	base, source, err = local.FirstAddress(
		local.Said{Text: a.Override, Source: "the command line"}, local.Said{Text: a.CodexBaseURL, Source: "CODEX_OSS_BASE_URL"},
		local.Said{Text: a.CodexPort, Source: "CODEX_OSS_PORT", Port: true}, local.Said{Text: a.Configured, Source: "base_url of the configuration"},
	)
	if source == "" {
		return DefaultAddress, "the default", nil
	}
	return base, source, err
}
