//go:build unix

// Command confine prints what confining one command costs: how often the time of /bin/true it takes to run /bin/true
// confined, by our back ends within this process (what the agent pays), by `interpreter sandbox`, and by other programs
// for the same job where they are given; then a shell's command the way the agent runs it. The runs of all rows take
// turns, so that a busy machine spoils none alone, and medians are printed. It refuses to judge by wall time, which a
// neighbour changes; the processor time of our usual back end is judged.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// most is how often the processor time of /bin/true the agent may pay to run it confined.
const most = 8

func main() {
	sandbox.AsHelper()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "confine:", err)
		os.Exit(1)
	}
}

// A row is one way to run a command.
type row struct {
	label string
	base  string // the label of what it is compared with; "" for none
	start func() error
	why   string // it cannot be run here

	wall, cpu []time.Duration
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("confine", flag.ContinueOnError)
	runs := flags.Int("runs", 200, "runs of each row")
	binary := flags.String("interpreter", "", "the built program")
	codex := flags.String("codex", "", "a Codex CLI, to compare with")
	judge := flags.Bool("judge", true, "fail when the usual back end takes too long")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *runs < 1 {
		return fmt.Errorf("-runs %d: want at least one", *runs)
	}
	work, err := os.MkdirTemp("/var/tmp", "interpreter-confine-") // not /tmp, which workspace-write may write
	if err != nil {
		return err
	}
	rows, err := scene(ctx, work, *binary, *codex)
	if err == nil {
		err = measure(ctx, rows, *runs)
	}
	if err = errors.Join(err, os.RemoveAll(work)); err != nil {
		return err
	}
	ratio := report(rows)
	if *judge && ratio > most {
		return fmt.Errorf("confined /bin/true takes %.1f times the processor time of /bin/true, more than %d", ratio, most)
	}
	return nil
}

const (
	plain  = "/bin/true"
	usual  = "our sandbox, workspace-write"
	script = "bash -c true"
)

// scene makes the rows, with a workspace that has a repository like any other.
func scene(ctx context.Context, work, binary, codex string) ([]*row, error) {
	dir, home := filepath.Join(work, "repo"), filepath.Join(work, "home")
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, ".git", "hooks"), 0o755), os.Mkdir(home, 0o700),
		os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o644),
		os.WriteFile(filepath.Join(dir, ".git", "config"), nil, 0o644)); err != nil {
		return nil, err
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + work, "LANG=C.UTF-8", "INTERPRETER_HOME=" + home, "CODEX_HOME=" + home}
	program := func(argv ...string) func() error {
		return func() error {
			c := exec.CommandContext(ctx, argv[0], argv[1:]...)
			c.Dir, c.Env = dir, env
			return c.Run()
		}
	}
	box := func(mode sandbox.Mode, backend string) (sandbox.Box, error) {
		policy, _, err := sandbox.Resolve(sandbox.Settings{Mode: mode, Dir: dir, Home: home, UserHome: work, Environ: env, Backend: backend})
		if err != nil {
			return nil, err
		}
		return sandbox.New(policy)
	}
	rows := []*row{{label: plain, start: func() error {
		p, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{Dir: dir, Env: env, Files: []*os.File{nil, nil, nil}})
		if err != nil {
			return err
		}
		_, err = p.Wait()
		return err
	}}}
	within := func(label string, mode sandbox.Mode, backend string) {
		r := &row{label: label, base: plain}
		rows = append(rows, r)
		b, err := box(mode, backend)
		if err != nil {
			r.why, _, _ = strings.Cut(err.Error(), "\n")
			return
		}
		r.start = func() error {
			p, err := b.Start(ctx, sandbox.Command{Argv: []string{"/bin/true"}, Env: env})
			if err != nil {
				return err
			}
			<-p.Done()
			if e := p.Exit(); e.Code != 0 {
				return fmt.Errorf("%s: exit code %d", label, e.Code)
			}
			return nil
		}
	}
	within("our sandbox, read-only", sandbox.ReadOnly, "")
	within(usual, sandbox.WorkspaceWrite, "")
	within("ours on bubblewrap", sandbox.WorkspaceWrite, "bubblewrap")
	within("ours, Landlock alone", sandbox.ReadOnly, "landlock")
	within("nothing confined", sandbox.FullAccess, "")

	other := func(label, path, missing string, argv ...string) {
		r := &row{label: label, base: plain}
		rows = append(rows, r)
		if path == "" {
			r.why = missing
			return
		}
		r.start = program(append([]string{path}, argv...)...)
	}
	other("interpreter sandbox", binary, "-interpreter names none", "sandbox", "-s", "workspace-write", "--", "/bin/true")
	bwrap, _ := exec.LookPath("bwrap")
	other("bwrap by itself", bwrap, "there is no bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--die-with-parent",
		"--ro-bind", "/", "/", "--bind", dir, dir, "--dev", "/dev", "--proc", "/proc", "--chdir", dir, "/bin/true")
	other("codex sandbox, workspace-write", codex, "-codex names none", "sandbox", "-c", `sandbox_mode="workspace-write"`, "--", "/bin/true")
	other("codex sandbox, read-only", codex, "-codex names none", "sandbox", "-c", `sandbox_mode="read-only"`, "--", "/bin/true")

	shell, err := exec.LookPath("bash")
	if err != nil {
		return nil, err
	}
	rows = append(rows, &row{label: script, base: plain, start: program(shell, "-c", "true")})
	for _, mode := range []sandbox.Mode{sandbox.FullAccess, sandbox.ReadOnly, sandbox.WorkspaceWrite} {
		r := &row{label: "the agent runs it, " + string(mode), base: script}
		rows = append(rows, r)
		b, err := box(mode, "")
		if err != nil {
			r.why = err.Error()
			continue
		}
		w := &action.Workspace{Dir: dir, Box: b, Env: env, Shell: shell}
		r.start = func() error {
			ran, err := action.Run{Script: "true"}.Do(ctx, w)
			if err == nil && ran.Exit.Code != 0 {
				err = fmt.Errorf("%s: exit code %d", r.label, ran.Exit.Code)
			}
			return err
		}
	}
	return rows, nil
}

// measure runs every row in turn, once without looking and then as often as asked. A row that fails the first time is
// left out with the reason.
func measure(ctx context.Context, rows []*row, runs int) error {
	for _, r := range rows {
		if r.why != "" {
			continue
		}
		if err := r.start(); err != nil {
			if r.label == plain || r.label == usual {
				return err
			}
			r.why = err.Error()
		}
	}
	for range runs {
		for _, r := range rows {
			if r.why != "" {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			used, began := spent(), time.Now()
			if err := r.start(); err != nil {
				return fmt.Errorf("%s: %w", r.label, err)
			}
			r.wall = append(r.wall, time.Since(began))
			r.cpu = append(r.cpu, spent()-used)
		}
	}
	return nil
}

// report prints the rows and gives the ratio that is judged: processor time of the usual back end to that of /bin/true.
func report(rows []*row) (ratio float64) {
	type pair struct{ wall, cpu time.Duration }
	medians := map[string]pair{}
	const layout = "%-36s %9s %8s %9s %8s\n"
	fmt.Printf(layout, "one command, median", "wall ms", "× base", "cpu ms", "× base")
	for _, r := range rows {
		if r.why != "" {
			fmt.Printf("%-36s NOT RUN: %s\n", r.label, r.why)
			continue
		}
		m := pair{median(r.wall), median(r.cpu)}
		medians[r.label] = m
		wall, cpu := "", ""
		if b, ok := medians[r.base]; ok {
			wall, cpu = times(m.wall, b.wall), times(m.cpu, b.cpu)
			if r.label == usual {
				ratio = float64(m.cpu) / float64(max(b.cpu, 1))
			}
		}
		fmt.Printf(layout, r.label, ms(m.wall), wall, ms(m.cpu), cpu)
	}
	fmt.Printf("base is %s, for the agent's runs %s; the processor time is that of this program and of what it started\n", plain, script)
	return ratio
}

func times(d, base time.Duration) string {
	return fmt.Sprintf("%.1f", float64(d)/float64(max(base, 1)))
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond)) }

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	if n := len(all); n%2 == 0 {
		return (all[n/2-1] + all[n/2]) / 2
	}
	return all[len(all)/2]
}

// spent is the processor time of this process and of its children that ended.
func spent() time.Duration {
	var sum int64
	for _, who := range [...]int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if syscall.Getrusage(who, &r) == nil {
			sum += r.Utime.Nano() + r.Stime.Nano()
		}
	}
	return time.Duration(sum)
}
