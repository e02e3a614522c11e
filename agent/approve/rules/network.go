package rules

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

func (b *builder) networkRule(t thread, f builtin, a args, given pairs) (starlark.Value, error) {
	got, err := arguments(f, a, given, 3, "host", "protocol", "decision", "justification")
	if err != nil {
		return nil, err
	}
	n := Network{Place: b.here(t)}
	host, err := text(f, got, "host")
	if err != nil {
		return nil, err
	}
	if n.Host, err = bareHost(host); err != nil {
		return nil, err
	}
	if n.Protocol, err = text(f, got, "protocol"); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"http", "https", "socks5_tcp", "socks5_udp"}, n.Protocol) {
		return nil, &Error{Text: "network_rule: protocol " + literal(n.Protocol) + " is none of http, https, socks5_tcp, socks5_udp"}
	}
	decision, err := text(f, got, "decision")
	if err != nil {
		return nil, err
	}
	if n.Decision = Decision(decision); !slices.Contains([]Decision{Allow, Prompt, Deny}, n.Decision) {
		return nil, &Error{Text: "network_rule: decision " + literal(decision) + " is none of allow, prompt, deny"}
	}
	if n.Why, err = justification(f, got); err != nil {
		return nil, err
	}
	if err := b.spend(64 + len(host) + len(n.Why)); err != nil {
		return nil, err
	}
	b.loading.set.networks = append(b.loading.set.networks, n)
	return starlark.None, nil
}

// bareHost is the name or address of one host: lower case, without port and brackets.
func bareHost(host string) (string, error) {
	wrong := func(text string) (string, error) {
		return "", &Error{Text: "network_rule: host " + literal(host) + " " + text, Try: `name one host: host="example.org"`}
	}
	switch {
	case host == "":
		return wrong("is empty")
	case strings.Contains(host, "://"):
		return wrong("has a scheme")
	case strings.ContainsAny(host, "/\\?#"):
		return wrong("has a path")
	case strings.Contains(host, "*"):
		return wrong("has a wildcard")
	case strings.ContainsAny(host, " \t\r\n"):
		return wrong("has a blank in it")
	}
	name := strings.ToLower(host)
	if inner, ok := strings.CutPrefix(name, "["); ok {
		address, port, closed := strings.Cut(inner, "]")
		if port, named := strings.CutPrefix(port, ":"); !closed || named && !isPort(port) || !named && port != "" {
			return wrong("has brackets that do not fit")
		}
		if at, err := netip.ParseAddr(address); err != nil || !at.Is6() || at.Zone() != "" {
			return wrong("has no address in its brackets")
		}
		return address, nil
	}
	if at, err := netip.ParseAddr(name); err == nil {
		if at.Zone() != "" {
			return wrong("has a zone")
		}
		return name, nil
	}
	name, port, ported := strings.Cut(name, ":")
	if ported && !isPort(port) {
		return wrong("has a port that is none")
	}
	name = strings.TrimSuffix(name, ".") // the root of all names, which means the same
	for label := range strings.SplitSeq(name, ".") {
		if label == "" {
			return wrong("is no name of a host")
		}
	}
	if at := strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r))
	}); at >= 0 {
		return wrong("is no name of a host")
	}
	return name, nil
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}
