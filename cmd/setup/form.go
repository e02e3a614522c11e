package setup

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

// Forms asks on a terminal that draws. Each question disappears when it is answered; what came of it stays. What was
// typed before a question is there does not answer it.
type Forms struct {
	In     io.Reader
	Out    io.Writer
	Width  int
	Height int // rows
	Colour bool
}

// Dress tells the library of styles what the terminal can show, since it would otherwise ask the terminal itself.
func Dress(colour bool) {
	profile := termenv.Ascii
	if colour {
		profile = termenv.ANSI
	}
	lipgloss.SetColorProfile(profile)
	lipgloss.SetHasDarkBackground(true)
}

// Hint tells of the keys.
func (f *Forms) Hint() string {
	return "Enter takes what is marked, Esc leaves. What was done until then is kept."
}

// Choose shows the answers to move among. Where they have no room, what there is to say of each stands above, since the
// library can only scroll answers of one line.
func (f *Forms) Choose(ctx context.Context, q Question) (string, error) {
	picked, about := q.Default, f.about(q.About)
	var options []huh.Option[string]
	rows := 0
	for _, a := range q.Answers {
		text := a.Text
		for _, more := range a.More {
			text += "\n" + indent("  ", fold(more, f.inner()-2))
		}
		rows += 1 + strings.Count(text, "\n")
		options = append(options, huh.NewOption(text, a.Key))
	}
	if needed := framing + strings.Count(about, "\n") + rows; needed > f.Height && rows > len(options) {
		fmt.Fprintln(f.Out)
		for i, a := range q.Answers {
			if len(a.More) > 0 {
				fmt.Fprintln(f.Out, indent("  ", options[i].Key))
			}
			options[i].Key = ansi.Truncate(a.Text, f.inner(), "…")
		}
	}
	field := huh.NewSelect[string]().Options(options...).Value(&picked)
	if about != "" {
		field = field.Title(q.Title).Description(about)
	} else {
		field = field.Title(q.Title + "\n")
	}
	return picked, f.run(ctx, field)
}

// framing is the rows of a form beside its answers and what is said of them: an empty one, the question, and the keys
// between two.
const framing = 5

// inner is the width of what is beside the mark of the chosen answer.
func (f *Forms) inner() int { return Screen{Width: f.Width}.width() - 4 }

// about is a text between the question and its answers, apart from both.
func (f *Forms) about(text string) string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return ""
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, " ") { // what does is to be copied as it is
			line = fold(line, f.inner()+2)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n") + "\n"
}

// Type shows a line to write in.
func (f *Forms) Type(ctx context.Context, t Field) (string, error) {
	text := ""
	field := huh.NewInput().Title(t.Title).Description(f.about(t.About)).Suggestions(t.Words).Value(&text)
	if t.Check != nil {
		field = field.Validate(t.Check)
	}
	return text, f.run(ctx, field)
}

func (f *Forms) run(ctx context.Context, field huh.Field) error {
	form := huh.NewForm(huh.NewGroup(field)).WithAccessible(false).WithTheme(theme(f.Colour)).WithKeyMap(keys())
	form = form.WithWidth(min(f.Width, widest)) // or the first picture would be that of a wider terminal
	// The form's own way to run would leave a question that was left on the screen.
	form.SubmitCmd, form.CancelCmd = tea.Quit, tea.Quit
	discard(f.In)
	_, err := tea.NewProgram(fitted{form}, tea.WithInput(f.In), tea.WithOutput(f.Out), tea.WithContext(ctx),
		tea.WithoutSignalHandler()).Run() // signals are the program's, which ends ctx
	if form.State == huh.StateAborted || ctx.Err() != nil {
		return ErrLeft
	}
	return err
}

// fitted is a form that goes along when the terminal gets another width.
type fitted struct{ *huh.Form }

func (f fitted) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		f.WithWidth(min(size.Width, widest))
		size.Height -= 2 // the row above the form, and one above its keys that the library does not count
		msg = size
	}
	_, cmd := f.Form.Update(msg)
	return f, cmd
}

func (f fitted) View() string {
	if text := f.Form.View(); text != "" {
		return "\n" + text
	}
	return ""
}

// keys are those of the library, with Esc to leave and none that a newcomer would press by mistake.
func keys() *huh.KeyMap {
	k := huh.NewDefaultKeyMap()
	k.Quit = key.NewBinding(key.WithKeys("ctrl+c", "esc"))
	k.Select.Filter.SetEnabled(false)
	k.Select.Submit.SetHelp("enter", "take it · esc leave")
	k.Input.Submit.SetHelp("enter", "take it · esc leave")
	k.Input.AcceptSuggestion = key.NewBinding(key.WithKeys("tab"), key.WithHelp("tab", "complete"))
	return k
}

// theme uses the colours that the person gave their terminal, and none to tell things apart by.
func theme(colour bool) *huh.Theme {
	t := huh.ThemeBase()
	f := &t.Focused
	t.Group.Base = lipgloss.NewStyle().PaddingLeft(2) // of the line with the keys
	f.Base = t.Group.Base
	f.Card = f.Base
	f.SelectSelector = lipgloss.NewStyle().SetString("› ")
	f.ErrorIndicator = lipgloss.NewStyle().SetString("")
	f.ErrorMessage = lipgloss.NewStyle().SetString("")
	t.Help.ShortKey, t.Help.ShortDesc, t.Help.ShortSeparator = lipgloss.NewStyle(), lipgloss.NewStyle(), lipgloss.NewStyle()
	if colour {
		accent := lipgloss.Color("6")
		f.Title = f.Title.Bold(true)
		f.SelectSelector = f.SelectSelector.Foreground(accent).Bold(true)
		f.SelectedOption = f.SelectedOption.Foreground(accent)
		f.Description = f.Description.Faint(true)
		f.ErrorMessage = f.ErrorMessage.Foreground(lipgloss.Color("1"))
		f.TextInput.Prompt = f.TextInput.Prompt.Foreground(accent)
		f.TextInput.Placeholder = f.TextInput.Placeholder.Faint(true)
		t.Help.ShortKey, t.Help.ShortDesc = t.Help.ShortKey.Faint(true), t.Help.ShortDesc.Faint(true)
		t.Help.ShortSeparator = t.Help.ShortSeparator.Faint(true)
	}
	t.Blurred = t.Focused
	return t
}
