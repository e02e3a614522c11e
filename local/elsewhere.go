package local

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// OnThisMachine reports whether an address is loopback, or the one that means all addresses of this machine. In WSL2, in a
// container or through a tunnel loopback may lead to another machine; what is loaded is looked at in any case.
func OnThisMachine(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// leadsOut reports a server that answers at a loopback address, and whose machine may be another one all the same, so
// that nothing measured here is known to be the server's.
func leadsOut(address string, forwarded func(port int) bool) bool {
	if forwarded == nil || !OnThisMachine(address) {
		return false
	}
	port, err := strconv.Atoi(PortOf(address))
	return err == nil && forwarded(port)
}

// PortOf is the port of a base URL, "" when it has none.
func PortOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if port := u.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// here reports whether the server at an address has the machine that is measured. Of one that has not, memory is not
// judged; what it loads is looked at afterwards.
func (r *run) here(address string) bool {
	return OnThisMachine(address) && !leadsOut(address, r.Forwarded)
}

// warnElsewhere says once why the server decides alone.
func (r *run) warnElsewhere(c choice) error {
	if !leadsOut(c.Address(), r.Forwarded) {
		return nil
	}
	return r.warn("choose", fmt.Sprintf("%s answers at %s, but no process of this system listens there: its machine may be another one, "+
		"so what is measured here does not count; the server decides what fits", c.Name(), c.Address()))
}
