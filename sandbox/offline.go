package sandbox

import (
	"net/netip"
	"regexp"
	"strings"
)

// unreachable are what programs print when there is no network or nobody to resolve names. They are looked for in
// single lines; a literal in source code, which stands right behind a quote, does not count.
var unreachable = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`could(n't| not) resolve (host|proxy)`, `temporary failure in name resolution`, `temporary failure resolving`, `name resolution failed`,
	`(unable|failed) to resolve host`, `unable to look ?up`, `failed to lookup address`, `\bname or service not known`, `nodename nor servname`,
	`\bnetwork (is|was) unreachable`, `\bno route to host\b`, `\bunknown ?host(exception)?\b[: ]+\S*\w\.\w`,
	`\b(getaddrinfo|queryA|code:?|errno:?|error:?) '?(EAI_AGAIN|ENOTFOUND|ENETUNREACH)\b`, `\bconnect ENETUNREACH\b`, `\bEAI_AGAIN\b.*\w\.\w`,
	`php_network_getaddresses: `, `\(host not found\)`, `\bnxdomain\b`,
	// Go, when the resolver on the loopback does not answer or there is no way out.
	`lookup \S+ on \S+:53: `, `lookup \S+: (no such host|server misbehaving|temporary failure)`, `dial (tcp|udp)\S* .*: connect: (network is unreachable|permission denied|operation not permitted)`,
	// A socket that may not be made or connected.
	`\b(socket|connect|sendto|bind)\b[^:'"\n]{0,80}: (operation not permitted|permission denied)`,
	`(creating|create|open|opening) (a )?(network )?socket[^:\n]{0,40}: (operation not permitted|permission denied)`,
}, `|`))

// noServer is what curl, and git with it, says of an address that no packet reaches, in versions that do not tell why. On
// the loopback, which a command has for itself, it is only a server that is not there.
var noServer = regexp.MustCompile(`(?i)failed to connect to (\S+) port \d+[^:]*: couldn(?:'t| not) connect to server`)

// offline reports whether a line is the complaint of a program that found no network.
func offline(line string) bool {
	if len(line) > 8<<10 {
		return false
	}
	for _, at := range unreachable.FindAllStringIndex(line, 4) {
		if at[0] == 0 || !strings.ContainsRune("\"'`/", rune(line[at[0]-1])) {
			return true
		}
	}
	if found := noServer.FindStringSubmatch(line); found != nil {
		host := strings.Trim(found[1], "[]")
		ip, err := netip.ParseAddr(host)
		return host != "localhost" && (err != nil || !ip.IsLoopback())
	}
	return false
}
