package action

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Keys types into the session's terminal, a screen of 160 by 40 with a shell in it, which starts with the first Keys.
type Keys struct {
	Strokes []Stroke // in order
}

// Stroke is one piece of typing, and how long to wait after it.
type Stroke struct {
	Text string        // as it is typed, line ends included; "C-c" and the like, alone, are keys
	Wait time.Duration // at most a minute
}

// Bounds of Stroke.Wait.
const (
	strokeLeast = 100 * time.Millisecond
	strokeMost  = time.Minute
)

// Title is the action in a line.
func (a Keys) Title() string {
	if text := a.script(); text != "" {
		return one("type %q", text)
	}
	if len(a.Strokes) > 0 && a.Strokes[0].Text != "" {
		return one("press %s", a.Strokes[0].Text)
	}
	return "look at the terminal"
}

// Need asks to run what is typed, with each key that may change what a line means on a line of its own. Waiting and
// interrupting need nothing.
func (a Keys) Need() Need {
	script := a.script()
	if script == "" {
		return Need{Effect: Thinks, TTY: true, Typed: a.typed()}
	}
	return Need{Effect: Runs, Script: script, TTY: true, Keep: KeepShell, Typed: a.typed()}
}

// typed is what is typed as a person reads it.
func (a Keys) typed() string {
	var lines []string
	for _, s := range a.Strokes {
		switch text := strings.TrimRight(strings.ReplaceAll(s.Text, "\r", "\n"), "\n"); {
		case text != "":
			lines = append(lines, text)
		case s.Text != "":
			lines = append(lines, "Enter")
		}
	}
	return strings.Join(lines, "\n")
}

// script is what is typed, as a shell would see it.
func (a Keys) script() string {
	var b strings.Builder
	alone := func(key string) {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(key + "\n")
	}
	for _, s := range a.Strokes {
		switch s.Text {
		case "C-c", "C-d", "C-l":
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			continue
		case "Enter", "C-m", "C-j":
			b.WriteByte('\n')
			continue
		case "Space":
			b.WriteByte(' ')
			continue
		}
		if _, isKey := keyBytes(s.Text, false); isKey {
			alone(s.Text)
			continue
		}
		for _, r := range s.Text {
			switch {
			case r == '\r' || r == '\n' || r == 3 || r == 4:
				b.WriteByte('\n')
			case r < ' ' && r != '\t' || r == 0x7f:
				alone(fmt.Sprintf("C-%c", r^0x40))
			default:
				b.WriteRune(r)
			}
		}
	}
	if strings.TrimSpace(b.String()) == "" && !a.enters() {
		return ""
	}
	return b.String()
}

// enters tells whether a line end is typed: it runs what stands on the line already.
func (a Keys) enters() bool {
	for _, s := range a.Strokes {
		switch s.Text {
		case "Enter", "C-m", "C-j":
			return true
		}
		if strings.ContainsAny(s.Text, "\r\n") {
			return true
		}
	}
	return false
}

// Do types and gives what the terminal printed since the last look, and its screen. Ran.Output is empty when nothing is
// new, and when it cannot be told what is: after the screen was cleared or drawn over. Ran.Session is not zero while the
// shell lives; when it has ended, Exit says how, what was left to type is not typed, and the next Keys start another
// one, with a note. A shell is confined, whatever was approved for single commands. Ending ctx ends the waiting and
// leaves the terminal alone. There are no terminals on Windows: the error says so.
func (a Keys) Do(ctx context.Context, w *Workspace) (Ran, error) {
	w.typing.Lock()
	defer w.typing.Unlock()
	began := time.Now()
	t, notes, err := w.openTerminal(ctx)
	if err != nil {
		return Ran{}, fmt.Errorf("open a terminal: %w", err)
	}
	for i, s := range a.Strokes {
		if t.ended() {
			notes = append(notes, fmt.Sprintf("the shell ended before %d of %d strokes were typed", len(a.Strokes)-i, len(a.Strokes)))
			break
		}
		if err = t.stroke(ctx, s); err != nil {
			break
		}
	}
	out := t.report()
	out.Script, out.Took, out.Notes = a.script(), time.Since(began), append(notes, out.Notes...)
	if err != nil {
		return out, fmt.Errorf("type into the terminal: %w", err)
	}
	return out, nil
}

// keyBytes is what a terminal sends for a key by its name, as tmux names them. Cursor keys have another form while a
// program wants that.
func keyBytes(name string, application bool) (string, bool) {
	cursor := "\x1b["
	if application {
		cursor = "\x1bO"
	}
	switch name {
	case "Up":
		return cursor + "A", true
	case "Down":
		return cursor + "B", true
	case "Right":
		return cursor + "C", true
	case "Left":
		return cursor + "D", true
	case "Home":
		return cursor + "H", true
	case "End":
		return cursor + "F", true
	case "Enter":
		return "\r", true
	case "Tab":
		return "\t", true
	case "BTab":
		return "\x1b[Z", true
	case "Escape":
		return "\x1b", true
	case "Space":
		return " ", true
	case "BSpace":
		return "\x7f", true
	case "IC", "Insert":
		return "\x1b[2~", true
	case "DC", "Delete":
		return "\x1b[3~", true
	case "PPage", "PageUp", "PgUp":
		return "\x1b[5~", true
	case "NPage", "PageDown", "PgDn":
		return "\x1b[6~", true
	case "F1", "F2", "F3", "F4":
		return "\x1bO" + string('P'+rune(name[1]-'1')), true
	case "F5":
		return "\x1b[15~", true
	case "F6", "F7", "F8":
		return fmt.Sprintf("\x1b[%d~", 17+int(name[1]-'6')), true
	case "F9", "F10":
		return map[string]string{"F9": "\x1b[20~", "F10": "\x1b[21~"}[name], true
	case "F11", "F12":
		return map[string]string{"F11": "\x1b[23~", "F12": "\x1b[24~"}[name], true
	case "C-Space":
		return "\x00", true
	}
	if rest, ok := strings.CutPrefix(name, "M-"); ok && rest != "" {
		if text, isKey := keyBytes(rest, application); isKey {
			return "\x1b" + text, true
		}
		if len(rest) == 1 && rest[0] > ' ' && rest[0] < 0x7f {
			return "\x1b" + rest, true
		}
	}
	if rest, ok := strings.CutPrefix(name, "C-"); ok && len(rest) == 1 {
		switch c := rest[0]; {
		case c == '?':
			return "\x7f", true
		case c >= '@' && c <= '_', c >= 'a' && c <= 'z':
			return string(rune(c & 0x1f)), true
		}
	}
	return "", false
}
