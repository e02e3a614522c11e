package sweagent

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"interpreter/harness"
	"interpreter/sandbox/action"
)

const (
	patience = 30 * time.Second // of a command
	longest  = 100_000          // bytes of what a command printed that are shown
)

type bashParams struct {
	Command string `json:"command"`
}

// bash runs a command in the shell that the one before left, unless it is a command of the harness's own. One that
// cannot be read, or would wait for a person, does not run.
func bash(p bashParams) (harness.Step, error) {
	command := bare(p.Command)
	switch what := meaning(command); {
	case what.err != nil:
		return harness.Step{}, what.err
	case what.edit != nil:
		return edit(*what.edit)
	case what.submit:
		return submit(submitParams{Force: what.force})
	case what.leave:
		return leave(), nil
	}
	all, err := action.Simples(command)
	if err != nil {
		return harness.Step{}, badSyntax(err)
	}
	for _, s := range all {
		if err := refused(s); err != nil {
			return harness.Step{}, err
		}
	}
	run := action.Run{Script: command, Timeout: patience, Limit: longest, Keep: action.KeepShell}
	if script, ok := harness.Apart(command); ok {
		run.Script, run.Timeout, run.Background = script, 0, true
	}
	return harness.Do(run, sayRan), nil
}

// meant is a command that no shell knows.
type meant struct {
	edit          *editParams
	submit, force bool
	leave         bool  // without handing anything in
	err           error // a *harness.RefusedError
}

// meaning finds out whether a command is one of the harness's own.
func meaning(command string) meant {
	words := strings.Fields(command)
	if len(words) == 0 {
		return meant{}
	}
	switch words[0] {
	case "submit":
		force := len(words) == 2 && (words[1] == "-f" || words[1] == "--force")
		if len(words) == 1 || force {
			return meant{submit: true, force: force}
		}
	case "exit", "exit_forfeit":
		return meant{leave: len(words) == 1}
	case editor:
		if p, alone, err := editorLine(command); alone || err != nil {
			return meant{edit: p, err: err}
		}
	}
	return meant{}
}

func badSyntax(err error) error {
	var e *action.SyntaxError
	why := err.Error()
	if errors.As(err, &e) {
		why = fmt.Sprintf("line %d: %s", e.Line, e.Text)
	}
	return &harness.RefusedError{Words: "The command was not run, bash cannot read it: " + why + ".\n\n" +
		"Nothing of it has happened. Reply again with one discussion and the corrected command in a fenced block. Mind quotes that are not closed, and here-documents whose end is not alone on its line."}
}

// refused is why a command of a script does not run; nil when it may.
func refused(s action.Simple) error {
	name := s.Words[0].Text
	if name == editor || name == "submit" {
		return &harness.RefusedError{Words: fmt.Sprintf("The command was not run: %s is no program of the shell and stands alone in its block. Reply again with it alone, and with the rest in another reply.", name)}
	}
	if program := waits(s.Words, s.Fed); program != "" {
		return &harness.RefusedError{Words: fmt.Sprintf("Operation '%s' is not supported: %s waits for a person to type, and nobody can. Nothing was run. %s", line(s), program, instead(program))}
	}
	return nil
}

func line(s action.Simple) string {
	words := make([]string, len(s.Words))
	for i, w := range s.Words {
		words[i] = w.Text
	}
	text, _, _ := strings.Cut(strings.Join(words, " "), "\n")
	if runes := []rune(text); len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return text
}

// programs wait for a person, unless one of the words beside them says otherwise.
var programs = map[string][]string{
	"vim": {"-es", "-Es", "--version", "--help"}, "vi": {"-es", "-Es", "--version", "--help"}, "nano": {"--version", "--help"},
	"emacs": {"--batch", "-batch", "--script", "--version", "--help"},
	"gdb":   {"--batch", "-batch", "--version", "--help"},
	"less":  {"--version", "--help"},
	"r2":    {"-c", "-v", "-h"}, "radare2": {"-c", "-v", "-h"},
}

// shells wait for a person when nothing is said to them: no word, and nothing at their input.
var shells = []string{"python", "python3", "ipython", "bash", "sh", "su"}

// waits names the program that would wait for a person; "" when none does.
func waits(words []action.Word, fed bool) string {
	for len(words) > 1 && slices.Contains([]string{"sudo", "command", "exec", "nohup", "time"}, words[0].Text) {
		words = words[1:]
	}
	name := path.Base(words[0].Text)
	given := func(options ...string) bool {
		return slices.ContainsFunc(words[1:], func(w action.Word) bool { return slices.Contains(options, w.Text) })
	}
	options, known := programs[name]
	switch {
	case known && !given(options...):
		return name
	case name == "tail" && (given("-f", "-F", "--follow") || slices.ContainsFunc(words[1:], follows)):
		return "tail -f"
	case slices.Contains(shells, name) && len(words) == 1 && !fed:
		return name
	}
	return ""
}

// follows finds -f among letters that stand together, as in -fn5 and -5f.
func follows(w action.Word) bool {
	letters, ok := strings.CutPrefix(w.Text, "-")
	return ok && !strings.HasPrefix(letters, "-") && strings.ContainsAny(letters, "fF") && strings.Trim(letters, "fFnq0123456789") == ""
}

// instead says what serves in place of a program.
func instead(program string) string {
	switch program {
	case "vim", "vi", "nano", "emacs":
		return "Change files with str_replace_editor."
	case "less":
		return "Look at files with str_replace_editor view, cat, or head and tail."
	case "tail -f":
		return "Look at the end of the file with tail, again later if need be."
	case "gdb":
		return "Give its commands in advance: gdb -batch -ex COMMAND PROGRAM."
	case "r2", "radare2":
		return "Give its commands in advance: " + program + " -q -c COMMANDS FILE."
	case "python", "python3", "ipython":
		return "Write a script and run it, or use " + program + " -c."
	}
	return "Give it a command: " + program + " -c COMMAND."
}

// sayRan words the end of a command. Its exit code is told when something went wrong: the output does not always show.
func sayRan(r action.Ran) string {
	notes := notesOf(r)
	switch {
	case r.Session != 0:
		text := fmt.Sprintf("The command goes on in the background, as number %d, until the session ends.", r.Session)
		if r.Full != "" {
			text += " What it prints without a redirection goes to " + r.Full + "."
		}
		return observation(noted(text, notes...))
	case r.Exit.TimedOut:
		text := fmt.Sprintf("The command '%s' was stopped because it ran for more than %.0f seconds.", first(r.Script), patience.Seconds()) +
			" Nobody can type into a program: if it asked for something, run it in a way that asks nothing. One that needs longer goes to the background, with > FILE 2>&1 & behind it."
		if out := strings.TrimSpace(r.Output); out != "" {
			text += "\nIt printed until then:\n" + clipped(r)
		}
		return observation(noted(text, notes...))
	}
	if r.Exit.Code != 0 {
		notes = append([]string{fmt.Sprintf("exit code %d", r.Exit.Code)}, notes...)
	}
	return observation(noted(clipped(r), notes...))
}

func first(script string) string {
	text, more, _ := strings.Cut(strings.TrimSpace(script), "\n")
	if runes := []rune(text); len(runes) > 120 || more != "" {
		return string(runes[:min(len(runes), 120)]) + "…"
	}
	return text
}

// clipped is what a command printed. Where its middle is missing stands a mark, and a note tells how much that is.
func clipped(r action.Ran) string {
	g := r.Gap
	if g == nil || g.At+g.Mark > len(r.Output) {
		return r.Output
	}
	note := fmt.Sprintf("<NOTE>%d of %d bytes are left out, lines %d to %d of %d.", g.Bytes, r.Bytes, g.First, g.Last, g.Total)
	if r.Full != "" {
		note += " All of it is in " + r.Full + "."
	}
	note += " Print less: pick lines with grep, head, tail or sed -n, or send the output to a file and look at parts of it.</NOTE>"
	return strings.TrimSuffix(r.Output[:g.At], "\n") + "\n<response clipped>\n" + strings.TrimSuffix(r.Output[g.At+g.Mark:], "\n") + "\n" + note
}
