package sandbox

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// splitWindows takes a command line apart as the run-time library of C does.
func splitWindows(line string) []string {
	var args []string
	for line = strings.TrimLeft(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
		var arg strings.Builder
		quoted, slashes, i := false, 0, 0
	scan:
		for ; i < len(line); i++ {
			switch c := line[i]; {
			case c == '\\':
				slashes++
				continue
			case c == '"':
				arg.WriteString(strings.Repeat(`\`, slashes/2))
				if slashes%2 == 1 {
					arg.WriteByte('"')
				} else {
					quoted = !quoted
				}
			case !quoted && (c == ' ' || c == '\t'):
				break scan
			default:
				arg.WriteString(strings.Repeat(`\`, slashes))
				arg.WriteByte(c)
			}
			slashes = 0
		}
		arg.WriteString(strings.Repeat(`\`, slashes))
		args, line = append(args, arg.String()), line[i:]
	}
	return args
}

func TestCommandLine(t *testing.T) {
	for _, argv := range [][]string{
		{`C:\a b\x.exe`, ``, `a b`, `a"b`, `a\`, `a b\`, `a\"b`, `\\s\t`, `a\\"`, "tab\there", `ü`, `"`, `\`, `'x'`},
		{`x.exe`}, {`cmd.exe`, `/c`, `echo`, `a b`}, {`x.exe`, `/c`, `a & b`},
	} {
		line, err := commandLine(argv)
		if err != nil || !slices.Equal(splitWindows(line), argv) {
			t.Errorf("%q became %s, read as %q, %v", argv, line, splitWindows(line), err)
		}
	}
	for want, argv := range map[string][]string{
		`C:\Windows\system32\cmd.exe /d /s /c "echo "a b" > x & type x"`: {`C:\Windows\system32\cmd.exe`, `/d`, `/c`, `echo "a b" > x & type x`},
		`CMD /s /C "a"`: {`CMD`, `/C`, `a`},
		`run.bat a`:     {`run.bat`, `a`},
	} {
		if got, err := commandLine(argv); got != want || err != nil {
			t.Errorf("%q became %s, not %s, %v", argv, got, want, err)
		}
	}
	for _, argv := range [][]string{nil, {"x", "a\x00b"}, {`C:\x\run.BAT`, `a"&calc`}, {`run.cmd`, `%PATH%`}, {"x.exe", strings.Repeat("a", 40000)}} {
		if line, err := commandLine(argv); err == nil {
			t.Errorf("%.40q became %.40s", argv, line)
		}
	}
}

func FuzzQuoteWindows(f *testing.F) {
	f.Add(`a\"b \`, ``)
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.ContainsRune(a+b, 0) {
			return
		}
		line := `x ` + quoteWindows(a) + ` ` + quoteWindows(b)
		if got := splitWindows(line); !slices.Equal(got, []string{"x", a, b}) {
			t.Fatalf("%q, %q became %s, read as %q", a, b, line, got)
		}
	})
}

func TestEnvironmentBlock(t *testing.T) {
	block, err := environmentBlock([]string{"b=1", "PATH=x", "Path=C:\\y", "=C:=C:\\w", "broken", "A=ü"}, `C:\Windows`)
	if err != nil {
		t.Fatal(err)
	}
	want := "=C:=C:\\w\x00A=ü\x00b=1\x00Path=C:\\y\x00SystemRoot=C:\\Windows\x00\x00"
	if got := string(utf16.Decode(block)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if block, _ := environmentBlock([]string{"systemroot=D:\\W"}, `C:\Windows`); string(utf16.Decode(block)) != "systemroot=D:\\W\x00\x00" {
		t.Errorf("got %q", string(utf16.Decode(block)))
	}
	if block, _ := environmentBlock(nil, ""); !slices.Equal(block, []uint16{0, 0}) {
		t.Errorf("the empty environment is %v", block)
	}
	if _, err := environmentBlock([]string{"a=b\x00c"}, ""); err == nil {
		t.Error("a zero byte was taken")
	}
}

func TestWindowsVariables(t *testing.T) {
	got := windowsVariables([]string{"Temp=a", "http_proxy=x", "interpreter_sandbox=none", "K=v"}, []string{"TEMP=b", "HTTP_PROXY=y"})
	if want := []string{"K=v", "TEMP=b", "HTTP_PROXY=y"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWindowsProgram(t *testing.T) {
	files := []string{`C:\Windows\system32\cmd.exe`, `C:\w\git.exe`, `C:\Git\git.exe`, `C:\Git\run`, `C:\w\tools\x.bat`, `C:\Git\note.txt`, `D:\b\node.js.exe`, `C:\Git\doc.js`}
	isFile := func(path string) bool {
		return slices.ContainsFunc(files, func(f string) bool { return strings.EqualFold(f, path) })
	}
	env := []string{`PATH=decoy`, `Path=.;;w;\w;C:;"C:\Git";C:\Windows\system32\;D:\b`, `PATHEXT=.COM;.EXE;.BAT;.JS`}
	for name, want := range map[string]string{
		"git": `C:\Git\git.exe`, "GIT.EXE": `C:\Git\GIT.EXE`, "cmd": `C:\Windows\system32\cmd.exe`, `.\git`: `C:\w\git.exe`, `tools/x`: `C:\w\tools\x.bat`,
		`C:\w\git.exe`: `C:\w\git.exe`, `\w\git`: `C:\w\git.exe`, "node.js": `D:\b\node.js.exe`,
	} {
		if got, err := windowsProgram(name, env, `C:\w`, isFile); !strings.EqualFold(got, want) || err != nil {
			t.Errorf("%s is %s, not %s, %v", name, got, want, err)
		}
	}
	for _, name := range []string{"", "x", "note", "doc", `C:git`, `\\.\pipe\x`, "nul", `C:\Git\none`, `git:stream`} {
		if got, err := windowsProgram(name, env, `C:\w`, isFile); err == nil {
			t.Errorf("%q was found at %s", name, got)
		}
	}
	if _, err := windowsProgram("x", env, `C:\w`, isFile); !errors.Is(err, ErrNoProgram) {
		t.Errorf("got %v", err)
	}
	// Only the current folder has it.
	if got, err := windowsProgram("git", []string{`PATH=C:\Windows\system32`}, `C:\w`, isFile); err == nil {
		t.Errorf("git was found at %s", got)
	}
}

func TestJobLimits(t *testing.T) {
	confined, free := limitsOf(true), limitsOf(false)
	if confined.flags != 0x2408 || confined.processes != 4096 || confined.screens != 0xff {
		t.Errorf("confined: %+v", confined)
	}
	if free.flags != confined.flags || free.screens != 0 {
		t.Errorf("free: %+v", free)
	}
	const breakaway = 0x800 | 0x1000
	if confined.flags&breakaway != 0 {
		t.Error("a process may leave its job")
	}
	if tokenFlags != 0xd {
		t.Errorf("flags of the token are %#x", tokenFlags)
	}
}

func TestRestricting(t *testing.T) {
	logon, device, who := sid("S-1-5-5-0-77"), newSID(), newSID()
	got := restricting(logon, []sid{device}, []grant{{path: "/a", who: who}, {path: "/b", who: who}})
	if !slices.Equal(got, []sid{logon, device, who}) {
		t.Errorf("got %v", got)
	}
	list, err := buildACL(defaultACL(device, "S-1-5-21-1-2-3-1001"))
	if err != nil || len(list) > 128 {
		t.Errorf("the default list has %d bytes, %v", len(list), err)
	}
	for _, e := range defaultACL(device, "S-1-5-21-1-2-3-1001") {
		if e.who == everyoneSID || e.who == logon {
			t.Error("everybody may use what a command makes")
		}
	}
}

func TestOnSystem(t *testing.T) {
	for _, c := range []struct {
		s      Settings
		system string
		mode   Mode
		lines  int
	}{
		{Settings{Mode: WorkspaceWrite}, "linux", WorkspaceWrite, 0},
		{Settings{Mode: WorkspaceWrite}, "windows", ReadOnly, 2},
		{Settings{Mode: WorkspaceWrite, Windows: WindowsUnelevated}, "windows", WorkspaceWrite, 1},
		{Settings{Mode: WorkspaceWrite, Windows: WindowsUnelevated, Network: true}, "windows", WorkspaceWrite, 1},
		{Settings{Mode: ReadOnly, Windows: WindowsUnelevated}, "windows", ReadOnly, 1},
		{Settings{Mode: FullAccess}, "windows", FullAccess, 0},
	} {
		mode, lines := onSystem(c.s, c.system)
		if mode != c.mode || len(lines) != c.lines {
			t.Errorf("%+v on %s: %s, %q", c.s, c.system, mode, lines)
		}
	}
}

func TestVerbatim(t *testing.T) {
	for path, want := range map[string]string{`C:\a`: `\\?\C:\a`, `\\s\t\a`: `\\?\UNC\s\t\a`} {
		if got := verbatim(path); got != want || unverbatim(got) != path {
			t.Errorf("%s became %s and %s", path, got, unverbatim(got))
		}
	}
}
