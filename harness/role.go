package harness

import (
	"encoding/json"
	"strings"
)

// roles are what tools are for, each with the names that models call such a tool by.
var roles = map[string]string{
	"shell":  "bash shell sh cmd exec exec_shell run run_command run_shell_command run_terminal_cmd run_terminal_command execute_command execute_bash terminal local_shell container.exec exec_command shell_command",
	"read":   "read read_file view view_file open open_file cat get_file",
	"write":  "write write_file create_file create_new_file save_file write_to_file",
	"edit":   "edit edit_file replace str_replace StrReplaceFile search_replace replace_in_file replace_string_in_file str_replace_editor str_replace_based_edit_tool MultiEdit",
	"patch":  "apply_patch patch apply_diff",
	"list":   "ls list list_dir list_directory list_files dir",
	"grep":   "grep grep_search grep_files search rg ripgrep search_files search_file_content codebase_search",
	"glob":   "glob find find_files file_search",
	"plan":   "todo_write TodoList SetTodoList update_plan todo checklist_write",
	"fetch":  "fetch web_fetch FetchURL fetch_url",
	"ask":    "ask_user AskUserQuestion ask_user_question ask_followup_question request_user_input",
	"input":  "write_stdin send_input",
	"image":  "view_image read_image open_image",
	"finish": "finish done complete attempt_completion submit task_complete final_answer",
}

// roleOf names what a tool of this name would be for; "" when nobody knows. A tool that does several things at once is
// what its arguments ask of it.
func roleOf(name string, args json.RawMessage) string {
	want := folded(name)
	if strings.HasPrefix(want, "strreplace") && want != "strreplace" && want != "strreplacefile" {
		var a struct {
			Command string `json:"command"`
		}
		if json.Unmarshal(args, &a) == nil {
			switch a.Command {
			case "view":
				return "read"
			case "create":
				return "write"
			}
		}
		return "edit"
	}
	for role, names := range roles {
		for _, n := range strings.Fields(names) {
			if folded(n) == want {
				return role
			}
		}
	}
	return ""
}

// Finishing reports whether a call of this name says that the work is done, and with what last word: the text among
// its arguments. It is for names that no offered tool has; which those are the caller knows.
func Finishing(name string, args json.RawMessage) (text string, ok bool) {
	if roleOf(CleanName(name), nil) != "finish" {
		return "", false
	}
	var only string
	if json.Unmarshal(args, &only) == nil {
		return strings.TrimSpace(only), true
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(args, &members) != nil {
		return "", true
	}
	for _, key := range strings.Fields("result message answer final_answer summary text response content output task_result") {
		if json.Unmarshal(members[key], &only) == nil && strings.TrimSpace(only) != "" {
			return strings.TrimSpace(only), true
		}
	}
	if len(members) == 1 {
		for _, value := range members {
			if json.Unmarshal(value, &only) == nil {
				return strings.TrimSpace(only), true
			}
		}
	}
	return "", true
}
