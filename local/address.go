package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"interpreter/local/chat"
)

// Said is what one place says about where a server is.
type Said struct {
	Text   string
	Source string // the place, for people
	Port   bool   // it names a port of this machine alone
}

// FirstAddress is the base URL that the first place names which says something, without a final /v1, and that place; ""
// when none does.
func FirstAddress(places ...Said) (base, source string, err error) {
	for _, place := range places {
		text := strings.TrimSpace(place.Text)
		if text == "" {
			continue
		}
		if place.Port {
			port, err := strconv.Atoi(text)
			if err != nil || port < 1 || port > 65535 {
				return "", place.Source, fmt.Errorf("read %s: %q is no port", place.Source, text)
			}
			return fmt.Sprintf("http://127.0.0.1:%d", port), place.Source, nil
		}
		if !strings.Contains(text, "://") {
			text = "http://" + text
		}
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
			return "", place.Source, fmt.Errorf("read %s: %q is no http or https URL", place.Source, place.Text)
		}
		u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1")
		if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsUnspecified() {
			u.Host = strings.Replace(u.Host, u.Hostname(), Loopback(ip), 1)
		}
		return u.String(), place.Source, nil
	}
	return "", "", nil
}

// Loopback is where to dial an address that a server binds to all interfaces with.
func Loopback(all net.IP) string {
	if all != nil && all.To4() == nil {
		return "::1"
	}
	return "127.0.0.1"
}

// Client speaks to a model server: without a proxy, and without a limit on the whole answer, since reading a long prompt
// may take many minutes. connect bounds the connection alone.
func Client(connect time.Duration) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:        (&net.Dialer{Timeout: connect}).DialContext,
			DisableCompression: true,
			MaxIdleConns:       4,
			IdleConnTimeout:    time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Gate moves a name and a password out of an address, where they would be printed with it, into the headers. These are
// a copy, and never nil.
func Gate(u *url.URL, headers http.Header) http.Header {
	gate := http.Request{Header: headers.Clone()}
	if gate.Header == nil {
		gate.Header = http.Header{}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		gate.SetBasicAuth(u.User.Username(), password)
		u.User = nil
	}
	return gate.Header
}

// NoAnswer says what a failure below HTTP means, of a server at an address. start is what to do when nobody is there.
func NoAnswer(ctx context.Context, err error, address, start string) error {
	if cause := context.Cause(ctx); cause != nil {
		var failure *chat.Error
		if errors.As(cause, &failure) || errors.Is(cause, context.Canceled) {
			return cause
		}
		return &chat.Error{Kind: chat.Idle, Detail: "no answer from " + address + " in time", Err: cause}
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return &chat.Error{Kind: chat.Unreachable, Detail: "nobody answers at " + address, Err: err, Remedy: start}
	}
	return &chat.Error{Kind: chat.Broken, Detail: "the connection broke off", Err: err}
}

// ForModel adds the model to an error that happened below it.
func ForModel(err error, model string) error {
	var failure *chat.Error
	if errors.As(err, &failure) && failure.Model == "" {
		failure.Model = model
	}
	return err
}
