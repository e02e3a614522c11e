package probes

import (
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Forwarded reports a loopback port that leads out of this system: in WSL2 or in a container, and nobody here
// listens at it. Whoever answers there is Windows itself, the host of the container or a machine beyond, so what
// is measured here is not what the server has.
func Forwarded(port int) bool {
	return runtime.GOOS == "linux" && forwarded(os.DirFS("/"), port)
}

func forwarded(root fs.FS, port int) bool {
	listening, known := listens(root, port)
	if !known || listening {
		return false
	}
	kind := linuxVirtual(root)
	return kind == "wsl2" || kind == "container"
}

// listens reports whether a process of this system listens at a TCP port, as the kernel's own tables of both kinds of
// addresses tell; a kernel without IPv6 has only one. known is false where there is no such table to read.
func listens(root fs.FS, port int) (listening, known bool) {
	for _, name := range []string{"proc/net/tcp", "proc/net/tcp6"} {
		table, err := fs.ReadFile(root, name)
		if err != nil {
			continue
		}
		open, ok := parseListeners(string(table))
		known = known || ok
		listening = listening || open[port]
	}
	return listening, known
}

// parseListeners reads a table of sockets: a line of heads, then a socket a line with its local address ADDRESS:PORT and
// its state, both in hexadecimal; 0A is one that listens (proc_net_tcp.rst of the kernel). ok is false for a text
// that is no such table.
func parseListeners(table string) (ports map[int]bool, ok bool) {
	ports = map[int]bool{}
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && fields[0] == "sl" {
			ok = true
			continue
		}
		if len(fields) < 4 || fields[3] != "0A" {
			continue
		}
		at := strings.LastIndexByte(fields[1], ':')
		if port, err := strconv.ParseUint(fields[1][at+1:], 16, 16); at > 0 && err == nil {
			ports[int(port)] = true
		}
	}
	return ports, ok
}
