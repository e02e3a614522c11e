package action

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"interpreter/sandbox"
)

// Claim says that the work is done, after a last piece of typing. It ends nothing by itself: Ran.Claims tells how many
// answers in a row have said so, and whoever words the facts may want to hear it twice.
type Claim struct {
	Strokes []Stroke `json:",omitempty"` // typed into the terminal before
	Diff    bool     `json:",omitempty"` // the facts are what changed in the repository, not what the terminal shows
	Sure    bool     `json:",omitempty"` // counts as the last in a row that is wanted
}

// Title is the action in a line.
func (a Claim) Title() string {
	if len(a.Strokes) > 0 {
		return one("%s, and report the work as done", a.keys().Title())
	}
	return "report the work as done"
}

func (a Claim) keys() Keys { return Keys{Strokes: a.Strokes} }

// Need asks for what is typed. Looking at the repository needs nothing: it is our own look, and it changes nothing.
func (a Claim) Need() Need {
	if len(a.Strokes) == 0 {
		return Need{Effect: Thinks}
	}
	return a.keys().Need()
}

// Do types, and gives the facts of Keys. With Diff it gives the repository's changes since its last commit in Output,
// files that git does not know included, and its top folder in Dir: "" when there is no repository, or no git. Output is
// empty when nothing changed since Workspace.Baseline.
func (a Claim) Do(ctx context.Context, w *Workspace) (out Ran, err error) {
	if len(a.Strokes) > 0 || !a.Diff {
		if out, err = a.keys().Do(ctx, w); err != nil {
			return out, err
		}
	}
	claims := w.claimed(answerOf(ctx), a.Sure)
	if a.Diff {
		d := w.diff(ctx)
		if err := ctx.Err(); err != nil {
			return out, fmt.Errorf("look at what changed: %w", context.Cause(ctx))
		}
		out.Script, out.Dir, out.Took = "git diff HEAD", d.top, d.took
		if w.differs(d, claims >= enough) {
			out.Output, out.Gap = d.page.within(within(ctx, diffMost), "")
			out.Output = strings.ToValidUTF8(out.Output, "\uFFFD")
			out.Bytes, out.Lines = d.page.bytes, d.page.lines
		}
	}
	out.Claims = claims
	return out, nil
}

// claims are what a workspace knows of how the work stands.
type claims struct {
	answer int // the last one with a claim
	row    int
	before [sha256.Size]byte // of the repository's changes, when the work began
	known  bool
}

// enough is how many claims in a row end the work at most: the next one is the first of another row.
const enough = 2

// claimed counts a claim of an answer. Answers without a number follow each other.
func (w *Workspace) claimed(answer int, sure bool) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.claims
	if answer == 0 || answer != c.answer {
		if answer != 0 && answer != c.answer+1 || c.row >= enough {
			c.row = 0
		}
		c.row++
		c.answer = answer
	}
	if sure {
		c.row = enough
	}
	return c.row
}

// Baseline remembers how the repository stands, unless that is known, so that a Claim can tell whether anything was
// changed since. What was changed before then may be anybody's.
func (w *Workspace) Baseline(ctx context.Context) {
	w.mu.Lock()
	known := w.claims.known
	w.mu.Unlock()
	if known {
		return
	}
	d := w.diff(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.claims.before, w.claims.known = d.sum, ctx.Err() == nil
}

// differs reports whether the repository is not as the baseline has it. What was handed over is the next baseline.
func (w *Workspace) differs(d changes, over bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	differs := !w.claims.known || w.claims.before != d.sum
	if over {
		w.claims.before, w.claims.known = d.sum, true
	}
	return differs
}

type answerKey struct{}

// WithAnswer marks a context with the number of the model's answer that it serves, counted through the session. Answers
// with a number between them are not in a row.
func WithAnswer(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, answerKey{}, n)
}

func answerOf(ctx context.Context) int {
	n, _ := ctx.Value(answerKey{}).(int)
	return n
}

// diffFor is how long git may take, and diffMost how many bytes of its answer are given.
const (
	diffFor  = 10 * time.Second
	diffMost = 100_000
)

// diffScript tells the top folder and the changes, separated by a byte that neither has. The index is left alone. New
// files are bounded in number.
const diffScript = `top=$(g rev-parse --show-toplevel) && cd "$top" || exit 3
printf '%s\036' "$top"
base=$(g rev-parse -q --verify HEAD || g hash-object -t tree /dev/null)
g -c core.quotePath=false diff --no-color ` + sandbox.GitDiffFlags + ` "$base" --
g -c core.quotePath=false ls-files --others --exclude-standard | head -n 200 | while IFS= read -r file; do
  g -c core.quotePath=false diff --no-color ` + sandbox.GitDiffFlags + ` --no-index -- /dev/null "$file"
done
exit 0`

// changes are what a repository has beyond its last commit.
type changes struct {
	top  string
	page page
	sum  [sha256.Size]byte
	took time.Duration
}

// diff asks git, which only looks. Without an answer there are no changes, and no folder.
func (w *Workspace) diff(ctx context.Context) changes {
	var d changes
	var head []byte
	began, sum := time.Now(), sha256.New()
	command := sandbox.Command{Dir: w.Dir, Env: w.Env, Timeout: diffFor}
	command.Watch = func(chunk []byte) {
		sum.Write(chunk)
		if d.top == "" {
			head = append(head, chunk...)
			top, rest, found := strings.Cut(string(head), "\x1e")
			if !found {
				return
			}
			d.top, chunk = top, []byte(rest)
		}
		d.page.lines += strings.Count(string(chunk), "\n")
		d.page.keep(string(chunk))
	}
	process, err := sandbox.LookWithGit(ctx, w.Box, command, diffScript)
	if err != nil {
		return changes{}
	}
	<-process.Done()
	if exit := process.Exit(); exit.Code != 0 || exit.TimedOut {
		return changes{}
	}
	copy(d.sum[:], sum.Sum(nil))
	d.took = time.Since(began)
	return d
}
