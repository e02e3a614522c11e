package ollama

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
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
	for _, place := range []struct{ text, source string }{
		{a.Override, "the command line"}, {a.CodexBaseURL, "CODEX_OSS_BASE_URL"}, {a.CodexPort, "CODEX_OSS_PORT"},
		{a.Configured, "base_url of the configuration"}, {a.OllamaHost, "OLLAMA_HOST"},
	} {
		text := strings.TrimSpace(place.text)
		if text == "" {
			continue
		}
		switch place.source {
		case "OLLAMA_HOST":
			return hostAddress(text), place.source, nil
		case "CODEX_OSS_PORT":
			port, err := strconv.Atoi(text)
			if err != nil || port < 1 || port > 65535 {
				return "", place.source, fmt.Errorf("read %s: %q is no port", place.source, text)
			}
			return "http://127.0.0.1:" + text, place.source, nil
		}
		if !strings.Contains(text, "://") {
			text = "http://" + text
		}
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
			return "", place.source, fmt.Errorf("read %s: %q is no http or https URL", place.source, place.text)
		}
		u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1")
		return u.String(), place.source, nil
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
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	address := scheme + "://" + net.JoinHostPort(host, port)
	if path = strings.TrimRight(path, "/"); path != "" {
		address += "/" + path
	}
	return address
}
