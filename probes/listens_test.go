package probes

import (
	"net"
	"os"
	"runtime"
	"testing"
	"testing/fstest"
)

const (
	tcpHead = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	// 127.0.0.1:11434 listens; a connection from 127.0.0.1:1234 is established.
	tcp4 = tcpHead +
		"   0: 0100007F:2CAA 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 24810 1 0000000000000000 100 0 0 10 0\n" +
		"   1: 0100007F:04D2 0100007F:2CAA 01 00000000:00000000 02:000005DC 00000000  1000        0 24911 2 0000000000000000 20 4 30 10 -1\n"
	// [::]:8080 listens.
	tcp6 = tcpHead +
		"   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 25044 1 0000000000000000 100 0 0 10 0\n"
	wslKernel = "5.15.167.4-microsoft-standard-WSL2\n"
)

func TestForwarded(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		port  int
		want  bool
	}{
		{"WSL2, a server of its own", map[string]string{"proc/sys/kernel/osrelease": wslKernel, "proc/net/tcp": tcp4}, 11434, false},
		{"WSL2, Windows' server", map[string]string{"proc/sys/kernel/osrelease": wslKernel, "proc/net/tcp": tcpHead}, 11434, true},
		{"WSL2, a port that is only connected from", map[string]string{"proc/sys/kernel/osrelease": wslKernel, "proc/net/tcp": tcp4}, 1234, true},
		{"a container, by the other table", map[string]string{".dockerenv": "", "proc/net/tcp": tcp4, "proc/net/tcp6": tcp6}, 8080, false},
		{"a container, IPv6 alone", map[string]string{".dockerenv": "", "proc/net/tcp6": tcp6}, 11434, true},
		{"a container that hides its tables", map[string]string{".dockerenv": ""}, 11434, false},
		{"a container with something else in their place", map[string]string{".dockerenv": "", "proc/net/tcp": "nothing\n"}, 11434, false},
		{"bare metal behind a tunnel", map[string]string{"proc/net/tcp": tcpHead}, 11434, false},
	} {
		root := fstest.MapFS{}
		for name, text := range test.files {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := forwarded(root, test.port); got != test.want {
			t.Errorf("%s: got %v", test.name, got)
		}
	}
}

func TestListeners(t *testing.T) {
	for _, broken := range []string{"", "sl", tcpHead + " 0: 0100007F:ZZZZ 00000000:0000 0A\n 1: 2CAA 00000000:0000 0A\n 2: 0100007F:12CAA 0:0 0A\n 3:\n"} {
		if ports, _ := parseListeners(broken); len(ports) != 0 {
			t.Errorf("%q: got %v", broken, ports)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if listening, known := listens(os.DirFS("/"), port); known && !listening {
		t.Errorf("port %d is ours", port)
	}
	listener.Close()
	if listening, _ := listens(os.DirFS("/"), port); listening {
		t.Errorf("port %d is closed", port)
	}
}
