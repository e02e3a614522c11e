package local

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// No system gives out these ports by itself: the range of Linux begins at 32768, that of the others at 49152.
const firstPort, lastPort = 20_000, 32_767

// FreePort is a port of an address of this machine that nobody listens at now, for a server that is about to be started.
// It is none of those that the system gives to whoever asks for any, so that nobody gets it by chance until then.
func FreePort(host string) (string, error) {
	for range 50 {
		port := strconv.Itoa(firstPort + rand.IntN(lastPort-firstPort+1))
		if listener, err := net.Listen("tcp", net.JoinHostPort(host, port)); err == nil {
			return port, listener.Close()
		}
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}
