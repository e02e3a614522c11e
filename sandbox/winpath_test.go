package sandbox

import (
	"strings"
	"testing"
)

func TestWindowsPath(t *testing.T) {
	good := []string{
		`C:\src\a.go`, `c:/src/a.go`, `C:\`, `C:`, `src\a.go`, `..\a`, `.\.git\config`, `\\server\share\a`, `C:\console\company.txt`, `C:\a\com10`,
		`C:\a\nullable`, `C:\.hidden`, `C:\a\auxiliary.c`, `C:\a\PROGRA~1\b`, `C:\a\lpt`, `C:\a\ü ö.txt`, `a..b`, ``,
	}
	for _, path := range good {
		if err := windowsPath(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	bad := []string{
		`\\.\PhysicalDrive0`, `//./NUL`, `\\?\C:\work`, `\/?\C:\work`, `\??\C:\work`, `\\.`, `\\?`, `C:foo`, `c:..\x`, `C:\a:stream`, `a.txt::$DATA`, `C:\.git:x\config`,
		`C:\.git.\config`, `C:\.git \config`, `C:\.git. . \config`, `...`, `NUL`, `C:\a\nul`, `nul.txt`, `C:\a\CON .txt`, `com1`, `COM0.log`, `lpt9`, `com¹`, `LPT³.x`, `CONIN$`,
		`conout$`, `AUX.tar.gz`, `prn/x`, `C:\a<b`, `C:\a|b`, "C:\\a\nb", `C:\what?`, `C:\*`, `a"b`, "a\x00b",
	}
	for _, path := range bad {
		if windowsPath(path) == nil {
			t.Errorf("%s was taken", path)
		}
	}
}

func TestWindowsShare(t *testing.T) {
	for _, c := range []struct {
		path, dir string
		ok        bool
	}{
		{`C:\a`, `C:\b`, true}, {`a`, `\\s\t\b`, true}, {`\\s\t\a`, `\\S\T\b`, true}, {`//s/t/a`, `\\s\t`, true},
		{`\\s\t\a`, `C:\b`, false}, {`\\s\other\a`, `\\s\t\b`, false}, {`\\s`, `C:\`, false},
	} {
		if err := windowsShare(c.path, c.dir); (err == nil) != c.ok {
			t.Errorf("%s from %s: %v", c.path, c.dir, err)
		}
	}
}

func TestShortName(t *testing.T) {
	for _, name := range []string{"GIT~1", "PROGRA~1", "AB~12.TXT", "git~2"} {
		if !shortName(name) {
			t.Errorf("%s was not seen", name)
		}
	}
	for _, name := range []string{"git", "~1", "a~b", "a~", "file.txt~", "verylongname~1", "A~1.html", "main.go~1"} {
		if shortName(name) {
			t.Errorf("%s was taken for one", name)
		}
	}
	if !hasShortName(`C:\Users\RUNNER~1\x`) || hasShortName(`C:\Users\runner\x`) {
		t.Error("a path with a short name, or one without, was taken for the other")
	}
}

// canonical is what Win32 makes of a name: it drops dots and blanks at the end and reads on after a colon elsewhere.
func canonical(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return strings.ToUpper(strings.TrimRight(name, ". "))
}

func FuzzWindowsPath(f *testing.F) {
	for _, seed := range []string{`C:\w\.git`, `C:\w\.git.`, `\\.\x`, `C:x`, `a:b`, `nul.x`, `//?/C:/`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if windowsPath(path) != nil {
			return
		}
		rest := strings.ReplaceAll(path, "/", `\`)
		if strings.HasPrefix(rest, `\\.\`) || strings.HasPrefix(rest, `\\?\`) || strings.HasPrefix(rest, `\??\`) {
			t.Fatalf("%q names a device", path)
		}
		if len(rest) > 1 && rest[1] == ':' {
			if rest = rest[2:]; rest != "" && rest[0] != '\\' {
				t.Fatalf("%q depends on a current folder", path)
			}
		}
		for part := range strings.SplitSeq(rest, `\`) {
			if part == "." || part == ".." {
				continue
			}
			if canonical(part) != strings.ToUpper(part) {
				t.Fatalf("%q: the system reads %q as %q", path, part, canonical(part))
			}
			if base, _, _ := strings.Cut(canonical(part), "."); base == "NUL" || base == "CON" {
				t.Fatalf("%q: %q is a device", path, part)
			}
		}
	})
}
