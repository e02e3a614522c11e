package ollama

import (
	"net"
	"strconv"
	"strings"

	"interpreter/local"
)

// Addresses are the places where a person may have said where the server is, as read by whoever looks at the world.
type Addresses struct {
	Override     string // of the command line
	CodexBaseURL string // CODEX_OSS_BASE_URL
	CodexPort    string // CODEX_OSS_PORT
	Configured   string // base_url of the configuration
	OllamaHost   string // OLLAMA_HOST
}

// DefaultAddress is where a server listens that nobody moved.
const DefaultAddress = "http://127.0.0.1:11434"

// Address is the base URL to use and where it was said. The first place of Addresses that says something counts.
func Address(a Addresses) (base, source string, err error) {
	base, source, err = local.FirstAddress(
		local.Said{Text: a.Override, Source: "the command line"}, local.Said{Text: a.CodexBaseURL, Source: "CODEX_OSS_BASE_URL"},
		local.Said{Text: a.CodexPort, Source: "CODEX_OSS_PORT", Port: true}, local.Said{Text: a.Configured, Source: "base_url of the configuration"},
	)
	switch {
	case source != "":
		return base, source, err
	case strings.TrimSpace(a.OllamaHost) != "":
		return hostAddress(a.OllamaHost), "OLLAMA_HOST", nil
	}
	return DefaultAddress, "the default", nil
}

// hostAddress reads OLLAMA_HOST as Ollama's own client does: blanks and quotes around it go; scheme, host and port are
// optional; a scheme without a port means that scheme's port; a port that makes no sense means the default. An address
// that a server binds to all interfaces with is dialled by loopback.
func hostAddress(text string) string {
	text = strings.Trim(strings.TrimSpace(text), `"'`)
	text = strings.TrimSpace(text)
	scheme, rest, found := strings.Cut(text, "://")
	port := "11434"
	switch {
	case !found:
		scheme, rest = "http", text
		if text == "ollama.com" {
			scheme, port = "https", "443"
		}
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	}
	rest, path, _ := strings.Cut(rest, "/")
	host, given, err := net.SplitHostPort(rest)
	if err != nil {
		host, given = strings.Trim(rest, "[]"), ""
	}
	if n, err := strconv.Atoi(given); err == nil && n >= 0 && n <= 65535 {
		port = given
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = local.Loopback(ip)
	}
	address := scheme + "://" + net.JoinHostPort(host, port)
	if path = strings.TrimRight(path, "/"); path != "" {
		address += "/" + path
	}
	return address
}
