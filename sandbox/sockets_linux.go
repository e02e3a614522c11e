package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// sockets are the socket files of other processes: whoever may connect to them may do what those processes may. They
// are what the kernel lists and what is known to matter, for sockets that were passed into a container.
func sockets(environ []string) []string {
	wanted := []string{"/run/docker.sock", "/var/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock",
		"/run/dbus/system_bus_socket", "/run/systemd/private", "/run/snapd.socket", "/var/run/libvirt/libvirt-sock"}
	for _, name := range []string{"SSH_AUTH_SOCK", "DOCKER_HOST", "CONTAINER_HOST", "DBUS_SESSION_BUS_ADDRESS"} {
		value := lookup(environ, name)
		value, _, _ = strings.Cut(value, ",")
		value = strings.TrimPrefix(strings.TrimPrefix(value, "unix://"), "unix:path=")
		wanted = append(wanted, value)
	}
	if dir := lookup(environ, "XDG_RUNTIME_DIR"); dir != "" {
		for _, name := range []string{"bus", "docker.sock", "podman/podman.sock", "systemd/private", "wayland-0", "gnupg/S.gpg-agent", "keyring/control", "keyring/ssh"} {
			wanted = append(wanted, filepath.Join(dir, name))
		}
	}
	if data, err := os.ReadFile("/proc/net/unix"); err == nil {
		for line := range strings.Lines(string(data)) {
			if i := strings.Index(line, " /"); i >= 0 {
				wanted = append(wanted, strings.TrimSuffix(line[i+1:], "\n"))
			}
		}
	}
	seen, found := map[string]bool{}, []string(nil)
	for _, path := range wanted {
		if !filepath.IsAbs(path) {
			continue
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil || seen[real] {
			continue
		}
		if info, err := os.Lstat(real); err == nil && info.Mode()&os.ModeSocket != 0 {
			seen[real] = true
			found = append(found, real)
		}
	}
	return found
}
