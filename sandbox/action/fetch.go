package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"interpreter/sandbox"
)

// Fetch gets one page, by GET and without cookies, credentials or a proxy.
type Fetch struct {
	URL     string        // http or https; without a scheme it is https
	Format  string        // "markdown", "text", "html"; "" is markdown
	Timeout time.Duration // 0 is 60 s
	Limit   int           // bytes of Text; 0 is 100 000, and room for less lowers it
}

// Bounds of Fetch.
const (
	fetchTimeout   = 60 * time.Second
	fetchLimit     = 100_000
	fetchMost      = 10 << 20 // bytes read of a page
	fetchRedirects = 10
)

// ErrNotText is a page that is a picture, an archive or the like.
var ErrNotText = errors.New("the page is not text")

// StatusError is a page that a server refuses, or does not have.
type StatusError struct {
	URL    string
	Status int
	Text   string // its first lines, as text
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("fetch %s: the server answers %d %s", e.URL, e.Status, strings.ToLower(http.StatusText(e.Status)))
	if first, _, _ := strings.Cut(e.Text, "\n"); first != "" {
		text += ": " + cutRunes(first, 200)
	}
	return strings.TrimSpace(text)
}

// Title is the action in a line.
func (a Fetch) Title() string { return one("fetch %s", a.URL) }

// Need asks for the network.
func (a Fetch) Need() Need { return Need{Effect: Connect, Paths: []string{a.URL}} }

// Do gets the page. Redirects are followed on the same host; Fetched.Moved is where it would go on another. HTML becomes
// Markdown, or plain text; other text is given as it is, in UTF-8. A status of 400 and more is a *StatusError, a page
// that is no text wraps ErrNotText. Whether the network may be used is asked of Need; addresses of this machine and of
// private networks are only reached with full access, else the error is a *DeniedError.
func (a Fetch) Do(ctx context.Context, w *Workspace) (Fetched, error) {
	at, err := pageURL(a.URL)
	if err != nil {
		return Fetched{}, fmt.Errorf("fetch %s: %w", cutRunes(a.URL, 200), err)
	}
	switch a.Format {
	case "", "markdown", "text", "html":
	default:
		return Fetched{}, fmt.Errorf("fetch %s: the format %q is not one of markdown, text, html", at, a.Format)
	}
	if a.Limit <= 0 {
		a.Limit = fetchLimit
	}
	a.Limit = within(ctx, a.Limit)
	timeout := a.Timeout
	if timeout <= 0 {
		timeout = fetchTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no whole answer within %v", timeout))
	defer cancel()
	out, err := a.get(ctx, w, at)
	if err == nil {
		return out, nil
	}
	var status *StatusError
	var denied *DeniedError
	switch {
	case errors.As(err, &status):
		return out, status
	case errors.As(err, &denied):
		return Fetched{}, denied
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return Fetched{}, fmt.Errorf("fetch %s: %w", at, err)
}

// pageURL reads an address.
func pageURL(text string) (*url.URL, error) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	at, err := url.Parse(text)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, err
	}
	switch {
	case at.Scheme != "http" && at.Scheme != "https":
		return nil, fmt.Errorf("the scheme %s is not http or https", at.Scheme)
	case at.Hostname() == "":
		return nil, errors.New("it names no host")
	case at.User != nil:
		return nil, errors.New("it holds a user name or password; addresses with credentials are not fetched")
	}
	return at, nil
}

func (a Fetch) get(ctx context.Context, w *Workspace, at *url.URL) (Fetched, error) {
	dialer := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error { return w.mayConnect(at.String(), address) }}
	transport := &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableKeepAlives: true,
		MaxResponseHeaderBytes: 256 << 10,
	}
	defer transport.CloseIdleConnections()
	moved := ""
	client := http.Client{Transport: transport, CheckRedirect: func(next *http.Request, before []*http.Request) error {
		if !sameHost(before[len(before)-1].URL, next.URL) {
			moved = next.URL.String()
			return http.ErrUseLastResponse
		}
		if len(before) > fetchRedirects {
			return fmt.Errorf("more than %d redirects", fetchRedirects)
		}
		return nil
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return Fetched{}, err
	}
	request.Header.Set("User-Agent", "interpreter")
	request.Header.Set("Accept", "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5")
	answer, err := client.Do(request)
	if err != nil {
		return Fetched{}, err
	}
	defer answer.Body.Close()
	out := Fetched{URL: answer.Request.URL.String(), Status: answer.StatusCode, Moved: moved}
	if moved != "" {
		return out, nil
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, fetchMost+1))
	if err != nil {
		return Fetched{}, fmt.Errorf("read the answer: %w", err)
	}
	out.Bytes = len(body)
	if len(body) > fetchMost {
		body, out.Bytes, out.Cut = body[:fetchMost], fetchMost, true
	}
	return a.worded(out, body, answer)
}

// worded makes text of a page.
func (a Fetch) worded(out Fetched, body []byte, answer *http.Response) (Fetched, error) {
	p := webPage{kind: answer.Header.Get("Content-Type"), body: body, at: answer.Request.URL}
	var isText bool
	if out.MIME, isText = p.media(); !isText {
		if out.Status >= http.StatusBadRequest {
			return out, &StatusError{URL: out.URL, Status: out.Status}
		}
		return out, fmt.Errorf("%w: %s, %d bytes", ErrNotText, out.MIME, out.Bytes)
	}
	if out.Status >= http.StatusBadRequest {
		lines := splitLines(strings.TrimSpace(p.as("text")))
		text := strings.Join(lines[:min(len(lines), 10)], "\n")
		return out, &StatusError{URL: out.URL, Status: out.Status, Text: strings.TrimSpace(cutRunes(text, 1000))}
	}
	out.Text = p.as(a.Format)
	if len(out.Text) > a.Limit {
		out.Text, out.Cut = cutRunes(out.Text, a.Limit), true
	}
	return out, nil
}

// sameHost tells whether a redirect stays where it is: same name, and same port unless both are the usual ones. One that
// gives up encryption does not.
func sameHost(from, to *url.URL) bool {
	if from.Scheme == "https" && to.Scheme != "https" || !strings.EqualFold(from.Hostname(), to.Hostname()) {
		return false
	}
	usual := func(u *url.URL) bool {
		return u.Port() == "" || u.Scheme == "http" && u.Port() == "80" || u.Scheme == "https" && u.Port() == "443"
	}
	return from.Port() == to.Port() && from.Scheme == to.Scheme || usual(from) && usual(to)
}

// mayConnect judges an address that a name was found to have, when it is dialled: a name may change its mind.
func (w *Workspace) mayConnect(at, address string) error {
	if w.Box.Policy().Mode == sandbox.FullAccess {
		return nil
	}
	host, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", address, err)
	}
	private := w.private
	if private == nil {
		private = privateAddress
	}
	if private(host.Addr()) {
		return &DeniedError{What: "fetch", Path: at, Place: sandbox.Outside,
			Why: fmt.Sprintf("%s belongs to this machine or a private network, which only full access may reach", host.Addr())}
	}
	return nil
}

// specialNets are networks that are not the public internet, beside those that netip knows.
var specialNets = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"),
	netip.MustParsePrefix("fec0::/10"),
}

// privateAddress tells whether an address is none of the public internet.
func privateAddress(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() {
		return true
	}
	for _, n := range specialNets {
		if n.Contains(a) {
			return true
		}
	}
	return false
}
