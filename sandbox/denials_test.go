package sandbox

import (
	"os"
	"strings"
	"testing"
)

// What programs print when a sandbox with mounts refuses, and what they print when it does not.
func TestRefusals(t *testing.T) {
	s := newScene(t)
	put(t, s.ws+"/.git/HEAD", "ref: refs/heads/main\n")
	put(t, s.ws+"/.git/config", "[core]\n")
	put(t, s.ws+"/.git/hooks/keep", "")
	put(t, s.ws+"/tool.sh", "echo\n")
	put(t, s.out+"/tool.sh", "echo\n")
	if err := os.Chmod(s.out+"/tool.sh", 0o644); err != nil {
		t.Fatal(err)
	}
	const off = "network"
	out, ws := s.out, s.ws
	tests := []struct{ name, output, path string }{ // path to open, off, or "" for an ordinary failure
		{"bash", "bash: line 1: OUT/x: Read-only file system", out + "/x"},
		{"dash", "sh: 1: cannot create OUT/x: Read-only file system", out + "/x"},
		{"zsh", "zsh:1: read-only file system: OUT/x", out + "/x"},
		{"fish", "fish: An error occurred while redirecting file 'OUT/x'\nopen: Read-only file system", ""},
		{"touch", "touch: cannot touch 'OUT/x': Read-only file system", out + "/x"},
		{"mkdir", "mkdir: cannot create directory ‘OUT/x y’: Read-only file system", out + "/x y"},
		{"cp", "cp: cannot create regular file '../out/x': Read-only file system", out + "/x"},
		{"mv", "mv: cannot move 'in.txt' to 'OUT/x': Read-only file system", out + "/x"},
		{"rm", "rm: cannot remove 'OUT/target.txt': Read-only file system", out + "/target.txt"},
		{"chmod", "chmod: changing permissions of 'OUT/target.txt': Read-only file system", out + "/target.txt"},
		{"sed", "sed: couldn't open temporary file OUT/sedA1b2C3: Read-only file system", out},
		{"tee", "tee: OUT/x: Read-only file system", out + "/x"},
		{"dd", "dd: failed to open 'OUT/x': Read-only file system", out + "/x"},
		{"tar", "tar: OUT/x: Cannot open: Read-only file system", out + "/x"},
		{"rsync", `rsync: [generator] recv_generator: mkdir "OUT/x" failed: Read-only file system (30)`, out + "/x"},
		{"curl", "Warning: Failed to open the file OUT/x: Read-only file system\ncurl: (23) Failure writing output to destination", out + "/x"},
		{"wget", "OUT/x: Read-only file system\n\nCannot write to ‘OUT/x’ (Success).", out + "/x"},
		{"ld", "/usr/bin/ld: cannot open output file OUT/x: Read-only file system\ncollect2: error: ld returned 1 exit status", out + "/x"},
		{"python", "    f = open(p, 'w')\nOSError: [Errno 30] Read-only file system: 'OUT/x'", out + "/x"},
		{"pip", "ERROR: Could not install packages due to an OSError: [Errno 30] Read-only file system: 'OUT/lib'", out + "/lib"},
		{"node", "Error: EROFS: read-only file system, open 'OUT/x'\n    at Object.openSync (node:fs:573:18) {\n  errno: -30,\n  code: 'EROFS'", out + "/x"},
		{"npm", "npm error code EROFS\nnpm error syscall mkdir\nnpm error path OUT/x\nnpm error rofs EROFS: read-only file system, mkdir 'OUT/x'", out + "/x"},
		{"go", "go: could not create module cache: mkdir OUT/mod: read-only file system", out + "/mod"},
		{"go build", "go: writing stat cache: open OUT/a.tmp: read-only file system", out + "/a.tmp"},
		{"cargo", "error: failed to create directory `OUT/registry`\n\nCaused by:\n  Read-only file system (os error 30)", out + "/registry"},
		{"anyhow", "Error: writing OUT/x\n\nCaused by:\n    0: Read-only file system (os error 30)", out + "/x"},
		{"rust", `thread 'main' panicked at src/main.rs:2:5: Os { code: 30, kind: ReadOnlyFilesystem, message: "Read-only file system" }`, ""},
		{"java", "Exception in thread \"main\" java.nio.file.FileSystemException: OUT/x: Read-only file system", out + "/x"},
		{"java io", "java.io.FileNotFoundException: OUT/x (Read-only file system)", out + "/x"},
		{"ruby", "x.rb:1:in `initialize': Read-only file system @ rb_sysopen - OUT/x (Errno::EROFS)", out + "/x"},
		{"git index", "fatal: Unable to create 'WS/.git/index.lock': Read-only file system", ws + "/.git"},
		{"git config", "error: could not lock config file .git/config: Read-only file system", ws + "/.git/config"},
		{"git fetch", "error: cannot open '.git/FETCH_HEAD': Read-only file system", ws + "/.git"},
		{"git hook", "bash: line 1: .git/hooks/pre-commit: Read-only file system", ws + "/.git/hooks/pre-commit"},
		{"git moved", "mv: cannot move '.git' to 'g2': Device or resource busy", ws + "/.git"},
		{"settings", "bash: .openinterpreter/config.toml: Read-only file system", ws + "/.openinterpreter/config.toml"},

		{"inside", "bash: line 1: ./f: Read-only file system", ""},
		{"not to be started", "bash: line 1: ./tool.sh: Permission denied", ""},
		{"not to be started outside", "bash: line 1: OUT/tool.sh: Permission denied", ""},
		{"a folder started", "bash: OUT: Permission denied", ""},
		{"somebody else's", "cat: /proc/1/cwd/x: Permission denied", ""},
		{"procfs", "bash: /proc/sys/kernel/x: Permission denied", ""},
		{"busy elsewhere", "rm: cannot remove 'OUT/x': Device or resource busy", ""},
		{"busy inside", "umount: in.txt: device or resource busy", ""},
		{"a name", "tests in OUT/sandbox failed: landlock seccomp", ""},
		{"an assertion", "--- FAIL: TestReadOnlyFilesystem\n    want EROFS", ""},
		{"a file name", "cat: OUT/erofs-notes.txt: No such file or directory", ""},
		{"a missing program", "bash: line 1: frobnicate: command not found", ""},
		{"a compiler", "main.go:3:5: undefined: syscall.EACCES", ""},
		{"a grep", "src/net.js:14:  if (err.code === 'ENOTFOUND') retry()", ""},
		{"a literal", `client.go:9: case strings.Contains(s, "could not resolve host"):`, ""},
		{"a test's words", `--- FAIL: TestDial: got "network is unreachable"`, ""},
		{"a refused port", "curl: (7) Failed to connect to localhost port 3000 after 0 ms: Connection refused", ""},
		{"a server that is not up", "curl: (7) Failed to connect to 127.0.0.1 port 3000 after 0 ms: Couldn't connect to server", ""},
		{"an http error", "curl: (22) The requested URL returned error: 404", ""},
		{"a module not found", "Error: Cannot find module 'express'\n  code: 'MODULE_NOT_FOUND'", ""},
		{"an unknown host key", "Host key verification failed.", ""},

		{"curl offline", "curl: (6) Could not resolve host: example.com", off},
		{"curl to an address", "curl: (7) Failed to connect to 198.51.100.7 port 80 after 0 ms: Couldn't connect to server", off},
		{"git offline", "fatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com", off},
		{"ssh", "ssh: Could not resolve hostname github.com: Temporary failure in name resolution", off},
		{"wget offline", "wget: unable to resolve host address ‘example.com’", off},
		{"npm again", "npm error code EAI_AGAIN\nnpm error syscall getaddrinfo", off},
		{"npm not found", "npm ERR! code ENOTFOUND\nnpm ERR! request to https://registry.example.org/x failed, reason: getaddrinfo ENOTFOUND registry.example.org", off},
		{"node fetch", "TypeError: fetch failed\n  [cause]: Error: getaddrinfo EAI_AGAIN example.com", off},
		{"node connect", "Error: connect ENETUNREACH 1.1.1.1:443 - Local (0.0.0.0:0)", off},
		{"yarn", `error Error: getaddrinfo EAI_AGAIN registry.yarnpkg.com`, off},
		{"pip offline", "WARNING: Retrying: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/x/", off},
		{"python address", "OSError: [Errno 101] Network is unreachable", off},
		{"cargo offline", "  [6] Couldn't resolve host name (Could not resolve host: index.example.org)", off},
		{"reqwest", "error trying to connect: dns error: failed to lookup address information: Temporary failure in name resolution", off},
		{"go get", "go: example.com/x@v1.0.0: Get \"https://proxy.example.org/x\": dial tcp: lookup proxy.example.org on 127.0.0.53:53: read udp 127.0.0.1:1->127.0.0.53:53: read: connection refused", off},
		{"go dial", "dial tcp 1.1.1.1:443: connect: network is unreachable", off},
		{"java offline", "java.net.UnknownHostException: repo.maven.apache.org", off},
		{"gradle", "> Could not GET 'https://x'. > repo.example.org: Temporary failure in name resolution", off},
		{"apt", "E: Failed to fetch http://deb.example.org/x  Temporary failure resolving 'deb.example.org'", off},
		{"composer", "php_network_getaddresses: getaddrinfo for x failed", off},
		{"ruby offline", "Failed to open TCP connection to rubygems.org:443 (getaddrinfo: Temporary failure in name resolution)", off},
		{"ping", "ping: socket: Operation not permitted", off},
		{"psql", "could not create socket: Operation not permitted", off},
	}
	p := s.policy(t, WorkspaceWrite)
	for _, backend := range []string{"namespace", ""} {
		for _, tt := range tests {
			text := strings.NewReplacer("OUT", out, "WS", ws).Replace(tt.output)
			got := Refusals(Exit{Code: 1, Backend: backend}, Output{Head: []byte("noise\n" + text + "\n")}, p)
			switch {
			case tt.path == "" && len(got) == 0:
			case len(got) == 1 && tt.path == off && got[0].Network && got[0].Path == "":
			case len(got) == 1 && tt.path != off && got[0].Path == tt.path && strings.Contains(got[0].Text, "writing "):
			default:
				t.Errorf("%s by %q: %+v, want %q", tt.name, backend, got, tt.path)
			}
		}
	}
	open := p
	open.Network = true
	if got := Refusals(Exit{Code: 6}, Output{Head: []byte("curl: (6) Could not resolve host: example.com")}, open); len(got) != 0 {
		t.Errorf("the network is on, and refused: %+v", got)
	}
	undone := Refusal{Text: "x was put back", Path: ws + "/.agents", Undone: true}
	if got := Refusals(Exit{Undone: []Refusal{undone}, Refused: []string{undone.Text}}, Output{}, p); len(got) != 1 || got[0] != undone {
		t.Errorf("what was undone: %+v", got)
	}
	for _, e := range []Exit{{Code: 159}, {Code: 159, Signal: "SIGSYS"}} {
		if got := Refusals(e, Output{}, p); len(got) != 1 {
			t.Errorf("%+v: %+v", e, got)
		}
	}
	if got := Denials(Exit{Code: 1, Backend: "landlock"}, Output{Head: []byte("bash: line 1: " + out + "/target.txt: Permission denied")}, p); len(got) != 1 {
		t.Errorf("Landlock alone says permission denied: %q", got)
	}
}
