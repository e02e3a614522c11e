package deepseektui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"interpreter/harness"

	"interpreter/sandbox/action"
)

// fault begins with "Error: " and the class of the error.
func fault(tool string, err error) string {
	var offset *action.OffsetError
	if errors.As(err, &offset) { // to these models an empty page is no error
		return fmt.Sprintf("<file path=\"%s\" total_lines=\"%d\" shown_lines=\"none\" truncated=\"false\">\n(no content: line %d is past the end)\n</file>", offset.Path, offset.Total, offset.Offset)
	}
	return "Error: " + class(tool, err)
}

func class(tool string, err error) string {
	var (
		unknown  *harness.UnknownToolError
		bad      *harness.ArgumentsError
		refused  *harness.RefusedError
		match    *action.MatchError
		unfit    *action.PatchError
		missing  *action.MissingError
		folder   *action.IsDirectoryError
		denied   *action.DeniedError
		declined *harness.DeclinedError
		aborted  *harness.AbortedError
	)
	switch {
	case errors.As(err, &unknown):
		text := fmt.Sprintf("not available: there is no tool %q.", unknown.Name)
		if other, ok := instead[unknown.Name]; ok {
			text += " " + other
		}
		if len(unknown.Suggest) > 0 {
			text += " Closest: " + strings.Join(unknown.Suggest, ", ") + "."
		}
		return text + " Offered: " + strings.Join(unknown.Known, ", ") + "."
	case errors.As(err, &bad):
		return sayArguments(bad)
	case errors.As(err, &refused):
		return "invalid input: " + refused.Words
	case errors.As(err, &match) && errors.Is(err, action.ErrAbsent):
		return fmt.Sprintf("invalid input: search is nowhere in %s. Nothing was changed.%s", match.Path, harness.Nearest(match))
	case errors.As(err, &match) && errors.Is(err, action.ErrAmbiguous):
		return fmt.Sprintf("invalid input: the search text is in %d places of %s%s. Nothing was changed. Add lines around the one you mean.", match.Count, match.Path, harness.Places(match))
	case errors.Is(err, action.ErrSame):
		return "invalid input: search and replace are identical. Nothing was changed."
	case errors.Is(err, action.ErrEmptyOld):
		return "invalid input: search is empty. Nothing was changed; write_file makes a new file."
	case errors.As(err, &unfit):
		return "invalid input: " + sayUnfit(unfit)
	case errors.As(err, &missing):
		text := fmt.Sprintf("not available: %s does not exist.", missing.Path)
		switch {
		case len(missing.Similar) > 0:
			text += " There is: " + strings.Join(missing.Similar, ", ") + "."
		case missing.What != "edit":
			text += " Look for its name with file_search."
		}
		if missing.What == "edit" {
			text += " Nothing was changed; write_file makes a new file."
		}
		return text
	case errors.As(err, &folder):
		return fmt.Sprintf("invalid input: %s is a folder, not a file; list_dir shows what is in it.", folder.Path)
	case errors.Is(err, action.ErrNoSession):
		return "not available: no such task runs. It has ended and its end was told, or the task_id is wrong."
	case errors.Is(err, action.ErrNoTask):
		return "invalid input: the checklist has no such item. Nothing was changed; checklist_write sends the whole list."
	case errors.Is(err, action.ErrNoStdin):
		return "invalid input: this task takes no input. Start it with tty true, or give its input as stdin at the start."
	case errors.As(err, &denied) && denied.Outside():
		return fmt.Sprintf("path escape: %s %s: %s. Nothing was done; work inside the workspace, or tell the user what is needed.", denied.What, denied.Path, denied.Why)
	case errors.As(err, &denied):
		return fmt.Sprintf("denied: %s %s: %s. Nothing was done.", denied.What, denied.Path, denied.Why)
	case errors.As(err, &declined):
		return "denied: " + strings.TrimPrefix(harness.PlainDeclined(declined), "Rejected: ")
	case errors.As(err, &aborted):
		return fmt.Sprintf("cancelled by the user after %.1f seconds; what was done until then is done.", aborted.After.Seconds())
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("timeout: %v", err)
	case errors.Is(err, action.ErrNobody):
		return "not available: nobody can be asked in this session. Decide by yourself and say what you assumed."
	}
	return harness.Plain(tool, err)
}

// instead says what does the work of tools that these models know and that are not there.
var instead = func() map[string]string {
	const byShell = "exec_shell does this: give it the command."
	all := map[string]string{
		"run_tests":            "exec_shell does this: give it the project's own test command.",
		"retrieve_tool_result": "Long results name the file that holds all of them: read_file it.",
		"load_skill":           "There are no skills in this session.",
		"web_search":           "There is no search in this session.",
		"project_map":          "list_dir and file_search show what there is.",
		"revert_turn":          "git, run by exec_shell, takes changes back.",
		"fim_edit":             "edit_file does this.",
		"note":                 "Say it in your answer instead.",
	}
	for _, name := range strings.Fields("code_execution js_execution pandoc_convert validate_data diagnostics github_close_issue github_close_pr github_comment github_issue_context github_pr_context") {
		all[name] = byShell
	}
	for _, name := range strings.Fields("agent_open agent_eval agent_close tool_agent task_create") {
		all[name] = "There are no sub-agents in this session: do the work yourself."
	}
	return all
}()

// sayArguments names what is missing, or what does not fit.
func sayArguments(e *harness.ArgumentsError) string {
	var gone, wrong []string
	for _, p := range e.Problems {
		if p.What == "is missing" {
			gone = append(gone, p.Field)
		} else {
			wrong = append(wrong, strings.TrimSpace(p.Field+" "+p.What))
		}
	}
	var parts []string
	if gone != nil {
		parts = append(parts, "missing field: "+strings.Join(gone, ", "))
	}
	if wrong != nil {
		parts = append(parts, "invalid input: "+strings.Join(wrong, "; "))
	}
	text := strings.Join(parts, "; ") + "\n" + e.Tool + " expects: " + strings.Join(e.Expected, ", ")
	if e.Received != nil {
		text += "\nreceived: " + cmp.Or(strings.Join(e.Names(), ", "), "nothing")
	}
	return text
}

// sayUnfit says which hunk does not fit, what it expects and what the file has.
func sayUnfit(e *action.PatchError) string {
	text := strings.TrimPrefix(e.Error(), "patch: ")
	if e.Hunk > 0 {
		text = fmt.Sprintf("hunk %d/%d does not fit %s: %s", e.Hunk, e.Hunks, e.Path, text)
		if e.Hint > 0 {
			text += fmt.Sprintf("\nExpected at line %d.", e.Hint)
			if e.NearAt > 0 {
				text += fmt.Sprintf(" The most similar lines begin at line %d (offset %+d).", e.NearAt, e.NearAt-e.Hint)
			}
		}
	}
	if e.Kind == action.NoLines && e.Block != "" {
		lines := strings.Split(strings.TrimSuffix(e.Block, "\n"), "\n")
		text += "\nExpected lines:\n" + strings.Join(lines[:min(4, len(lines))], "\n")
		if len(lines) > 4 {
			text += fmt.Sprintf("\n… %d more", len(lines)-4)
		}
	}
	if e.Near != "" {
		text += "\nThe file has:\n" + strings.TrimSuffix(harness.Numbered(e.Near, e.NearAt, "%6d│ "), "\n")
	}
	return text + "\nNothing was changed. Read the lines again, or use edit_file for this change."
}
