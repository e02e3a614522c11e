package shell

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"interpreter/sandbox"
)

// dialect is how a kind of shell is asked. The words after the profile separate what they tell by a mark that no
// profile can know; what the profile itself prints comes before the first.
type dialect struct {
	ask     func(mark string) string
	read    func(s *Snapshot, sections []string) // what only this kind tells: words, options, functions
	plain   string                               // a line that puts one of the options of globbing on
	options []string                             // those that may be taken over: they change what a pattern finds, nothing else
}

var dialects = map[string]*dialect{"bash": &bash, "zsh": &zsh}

var bash = dialect{
	ask: func(mark string) string {
		next := `\builtin printf '\0%s\0' ` + mark + "\n"
		return "set +eux; exec 2>/dev/null\n" +
			next + `\builtin command -p env -0` + "\n" +
			next + `\builtin compgen -b -k` + "\n" +
			next + `\builtin printf '%s:%s' "$BASHOPTS" "$SHELLOPTS"` + "\n" +
			next + `while IFS= \builtin read -r f; do \builtin declare -f -- "$f"; \builtin printf '\0'; done < <(\builtin compgen -A function)` + "\n" +
			next
	},
	plain:   "shopt -s ",
	options: []string{"extglob", "globstar", "nullglob", "dotglob", "failglob", "nocaseglob", "nocasematch"},
}

var zsh = dialect{
	ask: func(mark string) string {
		next := `builtin printf '\0%s\0' ` + mark + "\n"
		return "unsetopt errexit nounset xtrace verbose; exec 2>/dev/null\n" +
			next + `command -p env -0` + "\n" +
			next + `builtin print -rl -- ${(k)builtins} ${(k)reswords}` + "\n" +
			next + `builtin print -r -- ${(kj.:.)options[(R)on]}` + "\n" +
			next + `for f in ${(k)functions}; do builtin functions -- "$f"; builtin printf '\0'; done` + "\n" +
			next
	},
	plain:   "setopt ",
	options: []string{"extendedglob", "nullglob", "globdots", "nomatch"},
}

// sections is how many parts an answer has.
const sections = 4

// take asks the shell and reads its answer.
func (s *Snapshot) take(ctx context.Context) error {
	kind := dialects[filepath.Base(s.o.Login)]
	if kind == nil || !filepath.IsAbs(s.o.Login) {
		return errors.New("it is neither bash nor zsh")
	}
	limit := s.o.Limit
	if limit == 0 {
		limit = Limit
	}
	given := barred(s.o.Given, s.o.Barred)
	mark := "mark-" + rand.Text()
	answer := &answer{mark: []byte("\x00" + mark + "\x00"), whole: make(chan struct{})}
	proc, err := s.o.Box.Start(ctx, sandbox.Command{
		Argv: []string{s.o.Login, "-l", "-c", kind.ask(mark)}, Dir: s.o.Home, Env: given, Outside: true, Watch: answer.hear,
	})
	if err != nil {
		return err
	}
	clock := time.NewTimer(limit)
	defer clock.Stop()
	late := false
	select {
	case <-answer.whole:
	case <-proc.Done():
	case <-ctx.Done():
	case <-clock.C:
		late = true
	}
	proc.Kill() // what a profile left in its group ends with it
	<-proc.Done()
	parts := answer.parts()
	switch {
	case parts != nil:
	case late:
		return fmt.Errorf("its profile took longer than %v", limit)
	case answer.lost:
		return fmt.Errorf("it told more than %d MiB", told>>20)
	default:
		return fmt.Errorf("its profile ended before it could answer (exit code %d)", proc.Exit().Code)
	}
	s.env = merge(s.o.Environ, given, split(parts[0]))
	if s.kind = filepath.Base(s.o.Login); s.kind == filepath.Base(s.o.Runs) {
		s.learn(kind, parts[1:])
	}
	return nil
}

// answer collects what comes after the first mark.
type answer struct {
	mark  []byte
	heard []byte
	begun bool
	marks int
	seen  int // bytes of heard in which marks were counted
	lost  bool
	whole chan struct{} // closed at the last mark
	over  bool
}

// hear is called from one goroutine, which ends before the process is done.
func (a *answer) hear(chunk []byte) {
	if a.over {
		return
	}
	a.heard = append(a.heard, chunk...)
	if !a.begun {
		i := bytes.Index(a.heard, a.mark)
		if i < 0 {
			keep := min(len(a.heard), len(a.mark)-1)
			a.heard = append(a.heard[:0], a.heard[len(a.heard)-keep:]...)
			return
		}
		a.heard, a.begun = append([]byte(nil), a.heard[i+len(a.mark):]...), true
	}
	for {
		i := bytes.Index(a.heard[a.seen:], a.mark)
		if i < 0 {
			break
		}
		a.seen += i + len(a.mark)
		a.marks++
	}
	a.lost = len(a.heard) > told
	if a.lost || a.marks == sections {
		a.over = true
		close(a.whole)
	}
}

// parts are the sections of a whole answer, nil of any other.
func (a *answer) parts() []string {
	if a.lost || a.marks < sections {
		return nil
	}
	return strings.Split(string(a.heard), string(a.mark))
}

func split(text string) []string { return strings.Split(strings.TrimSuffix(text, "\x00"), "\x00") }
