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
			next + "\\builtin wait\n" // for what the profile started beside itself
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
			next + "builtin wait\n"
	},
	plain:   "setopt ",
	options: []string{"extendedglob", "nullglob", "globdots", "nomatch"},
}

// sections is how many parts an answer has.
const sections = 4

// keeper outlives a shell that is asked to end by a moment, so that what the shell started can end as well: nothing of a
// command is left once its first process is gone.
const keeper = `trap 'sleep 0.1' TERM; "$@"; exit $?`

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
	proc, err := s.o.Box.Start(context.WithoutCancel(ctx), sandbox.Command{ // it is not ended at once: see settle
		Argv: []string{"/bin/sh", "-c", keeper, "sh", s.o.Login, "-l", "-c", kind.ask(mark)}, Dir: s.o.Home, Env: given, Outside: true, Watch: answer.hear,
	})
	if err != nil {
		return err
	}
	clock := time.NewTimer(limit)
	late := false
	select {
	case <-answer.whole: // what the profile began may end in its time
		s.rest = make(chan struct{})
		go func() {
			defer close(s.rest)
			settle(ctx, proc, clock)
		}()
	case <-proc.Done():
		clock.Stop()
	case <-ctx.Done():
		settle(ctx, proc, clock)
	case <-clock.C:
		late = true
		clock.Reset(0)
		settle(ctx, proc, clock)
	}
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

// settle ends a shell and what its profile left running, once they have had their time: they are asked to end first, for
// what is killed leaves its locks behind, and a version manager then waits for such a lock in every shell of the person.
func settle(ctx context.Context, proc sandbox.Process, clock *time.Timer) {
	defer clock.Stop()
	select {
	case <-proc.Done():
		return
	case <-ctx.Done():
	case <-clock.C:
	}
	if p, ok := proc.(interface{ Terminate() }); ok {
		p.Terminate()
	}
	grace := time.NewTimer(time.Second)
	defer grace.Stop()
	select {
	case <-proc.Done():
	case <-grace.C:
		proc.Kill() // what a profile left in its group ends with it
		<-proc.Done()
	}
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
