package harness

import "strings"

// concepts are the things a parameter can stand for, each with the spellings models use for it. A spelling is taken
// for a parameter only when the parameter itself is absent and no other parameter has that name.
var concepts = map[string]string{
	"path":      "path file_path filePath filepath file filename file_name target_file relative_workspace_path absolute_path notebook_path uri",
	"directory": "path dir directory dir_path folder cwd workdir working_dir working_directory",
	"content":   "content contents text file_text file_content code data body",
	"old":       "old_string oldString old_str old_text oldText old search find target original before",
	"new":       "new_string newString new_str new_text newText new replace replacement after",
	"all":       "replace_all replaceAll all global",
	"offset":    "offset line_offset start_line start from line",
	"limit":     "limit n_lines max_lines num_lines count lines max_results",
	"command":   "command cmd script code bash shell_command input keystrokes",
	"timeout":   "timeout timeout_ms timeout_sec timeout_seconds",
	"pattern":   "pattern query regex regexp search q glob_pattern",
	"include":   "include glob file_pattern includes",
	"list":      "todos items tasks plan list",
	"todo":      "content title step task text activeForm",
	"url":       "url link uri address",
	"question":  "question text prompt",
	"session":   "session_id sessionId session id",
	"fold":      "ignoreCase ignore_case case_insensitive",
}

// conceptOrder fixes which spelling wins when a name belongs to several concepts.
var conceptOrder = strings.Fields("path directory old new all offset limit command timeout pattern include list url session fold question content todo")

// meanings names the concepts a parameter may stand for, given whether it sits in a list of items.
func meanings(name string, nested bool) []string {
	var all []string
	for _, c := range conceptOrder {
		if (c == "todo") != nested && (c == "todo" || c == "content") {
			continue
		}
		for _, s := range strings.Fields(concepts[c]) {
			if s == name {
				all = append(all, c)
			}
		}
	}
	return all
}

// spellings lists other names for a parameter, likeliest first.
func (fd *field) spellings(nested bool) []string {
	all := append([]string(nil), fd.also...)
	for _, c := range meanings(fd.name, nested) {
		for _, s := range strings.Fields(concepts[c]) {
			if s != fd.name {
				all = append(all, s)
			}
		}
	}
	return all
}

func (fd *field) means(concept string) bool {
	for _, c := range meanings(fd.name, false) {
		if c == concept {
			return true
		}
	}
	return false
}
