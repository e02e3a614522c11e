package action

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"interpreter/sandbox"
)

// Keep says what one command leaves to the next, though each is a process of its own. A command leaves something when
// it ends within its own action and by itself: one that is killed, runs in the background, outlives Run.Yield, replaces
// its shell by exec, or sets a trap for EXIT of its own leaves what was there before. Of several at the same time the
// last to end counts. Shells other than bash, zsh and sh leave nothing; on Windows none does.
//
// Run.Dir wins over a folder that was kept. It is itself not kept, but a folder that its command changes to is.
type Keep string

// What can be kept.
const (
	KeepNothing Keep = ""
	KeepDir     Keep = "dir"   // the working folder, as long as it is inside the workspace
	KeepShell   Keep = "shell" // that, and variables, functions, aliases, umask and options of the shell
)

// keptMost bounds what a shell leaves, in bytes.
const keptMost = 256 << 10

// kept is what the next command finds.
type kept struct {
	dir    string // real and absolute; "" is the workspace's
	family family // whose words text is in
	text   string // makes a shell what the last one was; "" when there is nothing to say
}

// keeping is one command's part in that.
type keeping struct {
	what   Keep
	family family
	file   *os.File // where the shell writes what it leaves
	free   bool     // nothing confines the command, though others are confined
	lost   string   // folder that was kept and is gone
	tells  string   // the words that make the shell tell what it leaves; one that is verbose prints them
}

// keepDir is the folder that a command starts in.
func (w *Workspace) keptDir() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kept.dir == "" {
		return w.Dir
	}
	return w.kept.dir
}

// remembers tells whether a shell of an earlier command left anything that may change what the words of a script mean.
func (w *Workspace) remembers() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.kept.text != ""
}

// beginKeeping prepares a command. Its argv may change, its environment and files grow; the caller ends the keeping, or
// closes it when the command did not start. It is nil when nothing is kept.
//
// A command that nothing confines neither gets nor leaves words of a shell: what a confined one wrote must not run
// outside, under the name of something that was allowed.
func (w *Workspace) beginKeeping(a Run, c *sandbox.Command) (*keeping, error) {
	if a.Keep == KeepNothing || runtime.GOOS == "windows" {
		return nil, nil
	}
	k := &keeping{what: a.Keep, family: familyOf(c.Argv[0])}
	if k.family == "" {
		return nil, nil
	}
	k.free = c.Outside && w.Box.Policy().Mode != sandbox.FullAccess
	if k.free {
		k.what = KeepDir
	}
	w.mu.Lock()
	before := ""
	if k.what == KeepShell && w.kept.family == k.family {
		before = w.kept.text
	}
	w.mu.Unlock()
	k.tells = k.family.tells(k.what)
	start, out, err := keepFiles(k.family.prelude(k.what, before, k.tells, c.Env))
	if err != nil {
		return nil, fmt.Errorf("prepare what is kept of the shell: %w", reason(err))
	}
	k.file = out
	k.family.enter(c)
	c.Extra = []*os.File{start, out}
	return k, nil
}

// started lets go of what only the command needs.
func (k *keeping) started(c sandbox.Command, lost string) {
	if k != nil {
		k.lost = lost
		c.Extra[0].Close()
	}
}

func (k *keeping) close() {
	if k != nil && k.file != nil {
		k.file.Close()
		k.file = nil
	}
}

// endKeeping takes what a command that ended left, and tells of it.
func (w *Workspace) endKeeping(k *keeping, out *Ran) {
	if k == nil {
		return
	}
	if k.lost != "" {
		out.Notes = append(out.Notes, fmt.Sprintf("the working folder %s is gone; this ran in %s", k.lost, out.Dir))
	}
	out.Output = strings.Replace(out.Output, k.tells+"\n", "", 1)
	defer k.close()
	if out.Exit.TimedOut || out.Exit.Signal != "" || k.file == nil {
		return
	}
	left, err := k.family.read(k.file, k.what)
	if left.dir != "" {
		w.moveTo(left.dir, out)
	} else if changesFolder.MatchString(out.Script) {
		out.Notes = append(out.Notes, fmt.Sprintf("the shell did not tell where it ended (because of exec or a trap for EXIT); the next command starts in %s", w.keptDir()))
	}
	if k.what != KeepShell {
		return
	}
	if err == nil && len(left.text) > keptMost {
		err = fmt.Errorf("they are more than %d KiB", keptMost>>10)
	}
	if err != nil {
		out.Notes = append(out.Notes, fmt.Sprintf("variables, functions and options of the shell were not kept, those before stay: %v", err))
		return
	}
	w.mu.Lock()
	w.kept.family, w.kept.text = k.family, left.text
	w.mu.Unlock()
}

// changesFolder finds words that may have taken a shell elsewhere.
var changesFolder = regexp.MustCompile(`\b(cd|pushd|popd)\b`)

// moveTo makes the folder a command ended in the one the next starts in, if it is inside the workspace.
func (w *Workspace) moveTo(dir string, out *Ran) {
	dir = filepath.Clean(dir)
	if dir != out.Dir {
		out.Left = dir
	} else if dir != w.keptDir() {
		return // it stayed where Run.Dir had put it
	}
	next := dir
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || !w.keeps(dir) {
		next = w.Dir
		why := "is outside the workspace"
		if errors.Is(err, fs.ErrNotExist) {
			why = "is not there for the next command"
		}
		out.Notes = append(out.Notes, fmt.Sprintf("the working folder was reset to %s: %s %s", w.Dir, dir, why))
	}
	w.mu.Lock()
	w.kept.dir = next
	w.mu.Unlock()
}

// keeps tells whether a folder, by its real path, is inside the workspace: below its folder, or below another one the
// person added. Folders for scratch are not.
func (w *Workspace) keeps(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	if below(w.Dir, real) {
		return true
	}
	p := w.Box.Policy()
	tmp, _ := filepath.EvalSymlinks("/tmp")
	for _, root := range p.Roots {
		if root != tmp && root != p.TMPDIR && below(root, real) {
			return true
		}
	}
	return false
}

// family is a kind of shell that is spoken to in the same way.
type family string

const (
	bashShell family = "bash"
	zshShell  family = "zsh"
	sh        family = "sh"
)

func familyOf(shell string) family {
	switch filepath.Base(shell) {
	case "bash":
		return bashShell
	case "zsh":
		return zshShell
	case "sh", "dash", "ash", "ksh", "mksh":
		return sh
	}
	return ""
}

// Descriptors a shell finds the words to begin with and the place for what it leaves at. It moves the second one out of
// the way of scripts, bash further than the others can.
const (
	beginFD = "3"
	leaveFD = "4"
)

// enter makes the shell read its first words from beginFD. Bash does that by itself and runs the very same script;
// others are told to.
func (f family) enter(c *sandbox.Command) {
	if f == bashShell {
		env := make([]string, 0, len(c.Env)+1)
		for _, v := range c.Env {
			if !strings.HasPrefix(v, "BASH_ENV=") {
				env = append(env, v)
			}
		}
		c.Env = append(env, "BASH_ENV=/dev/fd/"+beginFD)
		return
	}
	script := c.Argv[len(c.Argv)-1]
	words := `[ -r /dev/fd/3 ] && . /dev/fd/3; eval "shift; $1"`
	c.Argv = append(c.Argv[:len(c.Argv)-1:len(c.Argv)-1], words, c.Argv[0], script)
}

// leaves is the descriptor that a shell moved leaveFD to.
func (f family) leaves() string {
	if f == bashShell {
		return "198"
	}
	return "9"
}

// prelude are the words a shell begins with: it says what it starts from, becomes what the last one was, and promises
// to tell at its end.
func (f family) prelude(what Keep, before, tells string, env []string) []byte {
	var b strings.Builder
	to := f.leaves()
	if f == bashShell {
		b.WriteString("unset -v BASH_ENV\n")
		for _, v := range env {
			if file, ok := strings.CutPrefix(v, "BASH_ENV="); ok && file != "" {
				fmt.Fprintf(&b, "export BASH_ENV=%s\n. \"$BASH_ENV\"\n", quoteWord(file))
			}
		}
	}
	fmt.Fprintf(&b, "exec %s>&%s %s<&- %s>&-\n", to, leaveFD, beginFD, leaveFD)
	if what == KeepShell {
		show := shShow
		if f == bashShell {
			show = bashShow
			b.WriteString("shopt -s expand_aliases\n")
		}
		fmt.Fprintf(&b, "{ %s; } >&%s 2>/dev/null\n", show, to)
		b.WriteString(before)
	}
	fmt.Fprintf(&b, "\\trap -- %s EXIT\n", quoteWord(tells))
	return []byte(f.own(b.String()))
}

// tells are the words of the trap. The options that a script set must neither show nor stop what is done there.
func (f family) tells(what Keep) string {
	options, all := "$-", ""
	switch {
	case what == KeepShell && f == bashShell:
		options, all = "$SHELLOPTS", bashShow+"; "+bashShowNames+"; "
	case what == KeepShell:
		all = shShow + "; " + shShowNames + "; "
	}
	return f.own(fmt.Sprintf(`{ \command printf '%%s\0' "%s"; \set +eux; \command pwd -P; \command printf '\0'; %s\command printf 'end\0'; } >&%s 2>/dev/null`,
		options, all, f.leaves()))
}

// own words a text for zsh, where command looks for a program and not for what is built in.
func (f family) own(words string) string {
	if f == zshShell {
		return strings.ReplaceAll(words, `\command `, `\builtin `)
	}
	return words
}

// quoteWord makes one word of a text for any of the shells.
func quoteWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
