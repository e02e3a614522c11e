package harness

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"interpreter/sandbox/action"
)

// FetchParams are the parameters of WebFetch, which several families share. Here the page comes as it is: no second
// model reads it, so Prompt only tells the model itself what it was looking for.
type FetchParams struct {
	URL    string `json:"url"`
	Prompt string `json:"prompt" absent:"ok"`
}

// Action gets the page as Markdown, over https where http was written, and at most so many bytes of it.
func (p FetchParams) Action(most int) action.Fetch {
	return action.Fetch{URL: Secure(p.URL), Format: "markdown", Limit: most}
}

// Secure is an address over https where http was written, unless it is one of this machine.
func Secure(address string) string {
	address = strings.TrimSpace(address)
	if rest, ok := strings.CutPrefix(address, "http://"); ok && !local(rest) {
		return "https://" + rest
	}
	return address
}

// local reports an address on this machine, where nothing answers to https.
func local(rest string) bool {
	u, err := url.Parse("http://" + rest)
	if err != nil {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// FetchWords give the page, or say where it went.
func FetchWords(f action.Fetched) string {
	if f.Moved != "" {
		return fmt.Sprintf("%s sends its readers to another host: %s. Nothing was fetched from there; call WebFetch with that address if it is the page you want.", f.URL, f.Moved)
	}
	text := strings.TrimSpace(f.Text)
	if text == "" {
		text = "(The page has no text)"
	}
	if f.Cut {
		text += fmt.Sprintf("\n\n[The page goes on; this is the beginning of %d bytes.]", f.Bytes)
	}
	return text
}
