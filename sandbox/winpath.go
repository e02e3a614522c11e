package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
)

// deviceNames are files on Windows in every folder, whatever stands behind their first dot.
var deviceNames = []string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"}

// acceptable refuses paths that mean something else to the system than they say. Only Windows has such.
func acceptable(path string) error {
	if runtime.GOOS != "windows" {
		return nil
	}
	return windowsPath(path)
}

// ownVolume refuses a share of another machine than the one that dir lies on: to look at it is to log in there.
func ownVolume(path, dir string) error {
	if runtime.GOOS != "windows" {
		return nil
	}
	return windowsShare(path, dir)
}

// isLink reports whether an entry names another. A junction of Windows is one, and no symbolic link to Go.
func isLink(info fs.FileInfo) bool {
	return info.Mode()&fs.ModeSymlink != 0 || runtime.GOOS == "windows" && info.Mode()&fs.ModeIrregular != 0
}

// windowsPath refuses paths that Windows reads in another way than by their components, so that comparing components
// would judge the wrong file: devices, streams, names it shortens silently. The forms are those of
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file.
func windowsPath(path string) error {
	path = strings.ReplaceAll(path, "/", `\`)
	rest := path
	switch {
	case strings.HasPrefix(path, `\\.`) && (len(path) == 3 || path[3] == '\\'):
		return errors.New(`it names a device; write the path of a file, as in C:\folder\file`)
	case strings.HasPrefix(path, `\\?`) && (len(path) == 3 || path[3] == '\\'), strings.HasPrefix(path, `\??`):
		return errors.New(`it begins with \\?\, which switches off the rules for names; write it without`)
	case strings.HasPrefix(path, `\\`):
		rest = path[2:]
	case len(path) > 1 && path[1] == ':' && letter(path[0]):
		if rest = path[2:]; rest != "" && rest[0] != '\\' {
			return fmt.Errorf(`it depends on the current folder of drive %s; write it as %s\%s`, path[:2], path[:2], rest)
		}
	}
	for part := range strings.SplitSeq(rest, `\`) {
		if err := windowsName(part); err != nil {
			return err
		}
	}
	return nil
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// windowsName refuses a component of a path.
func windowsName(name string) error {
	if name == "" || name == "." || name == ".." {
		return nil
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune(`<>"|?*`, r) }); i >= 0 {
		return fmt.Errorf("the name %q holds %q, which Windows does not allow in names", name, name[i:i+1])
	}
	if strings.Contains(name, ":") {
		return fmt.Errorf("the name %q holds a colon, which would name a stream within a file", name)
	}
	if last := name[len(name)-1]; last == '.' || last == ' ' {
		return fmt.Errorf("the name %q ends in a dot or a blank, which Windows drops", name)
	}
	if windowsDevice(name) {
		return fmt.Errorf("the name %q is a device of Windows in every folder", name)
	}
	return nil
}

// windowsDevice reports whether a name stands for a device.
func windowsDevice(name string) bool {
	name, _, _ = strings.Cut(name, ".")
	name = strings.ToUpper(strings.TrimRight(name, " "))
	if slices.Contains(deviceNames, name) {
		return true
	}
	if number, ok := strings.CutPrefix(name, "COM"); ok || strings.HasPrefix(name, "LPT") {
		if !ok {
			number = name[3:]
		}
		return len(number) > 0 && strings.Contains("0123456789¹²³", number) && len([]rune(number)) == 1
	}
	return false
}

// windowsShare refuses \\server\share\… unless dir lies on the same share.
func windowsShare(path, dir string) error {
	share := shareOf(path)
	if share == "" || strings.EqualFold(share, shareOf(dir)) {
		return nil
	}
	return fmt.Errorf("it lies on another machine (%s), and looking there would log in to it", share)
}

// shareOf is the \\server\share that a path begins with, "" for none.
func shareOf(path string) string {
	path = strings.ReplaceAll(path, "/", `\`)
	if !strings.HasPrefix(path, `\\`) {
		return ""
	}
	parts := strings.SplitN(path[2:], `\`, 3)
	return `\\` + strings.Join(parts[:min(len(parts), 2)], `\`)
}

// shortName reports whether a name may be the short form that Windows keeps of a longer one: GIT~1 is .git there.
func shortName(name string) bool {
	base, ext, _ := strings.Cut(name, ".")
	head, number, ok := strings.Cut(base, "~")
	if !ok || number == "" || len(base) > 8 || len(ext) > 3 || head == "" {
		return false
	}
	return strings.Trim(number, "0123456789") == ""
}

// hasShortName reports whether a component of a path may be a short form.
func hasShortName(path string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(path, func(r rune) bool { return r == '\\' || r == '/' }), shortName)
}
