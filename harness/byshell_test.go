package harness

import (
	"encoding/json"
	"errors"
	"testing"

	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

// Where there is a shell alone, a look into files by another product's name is made with it.
func TestLookingByShell(t *testing.T) {
	type params struct {
		Command string `json:"command"`
		About   string `json:"about,omitempty"`
	}
	h := Harness{Tools: []Tool{Row("bash", func(p params) action.Run { return action.Run{Script: p.Command} }, func(r action.Ran) string { return r.Output })}}
	tests := []struct{ name, args, want string }{
		{"Read_File", `{"file":"a.go"}`, "cat -- a.go"},
		{"read", `{"file_path":"my file.go","offset":10,"limit":"5"}`, "sed -n 10,14p -- 'my file.go'"},
		{"view_file", `{"path":"a.go","start_line":3,"end_line":9}`, "sed -n 3,9p -- a.go"},
		{"read_file", `{"path":"a.go","offset":7}`, "sed -n '7,$p' -- a.go"},
		{"list_dir", `{}`, "ls -AF -- ."},
		{"LS", `{"path":"/w/it's"}`, `ls -AF -- '/w/it'\''s'`},
		{"grep_search", `{"query":"a|b","include":"*.go"}`, "grep -rnE --exclude-dir=.git --exclude-dir=node_modules '--include=*.go' -e 'a|b' -- ."},
		{"Glob", `{"pattern":"src/**/*.ts"}`, "find src -type f -name '*.ts' -not -path '*/.git/*'"},
		{"glob", `{"pattern":"/w/*.ts"}`, "find /w -type f -name '*.ts' -not -path '*/.git/*'"},
		{"glob", `{"pattern":"**/*.{a,b}"}`, ""},
		{"read_file", `{}`, ""},
		{"write_file", `{"path":"a","content":"b"}`, ""},
		{"frobnicate", `{"path":"a"}`, ""},
	}
	for _, tt := range tests {
		step, err := h.Step(chat.Call{Name: tt.name, Args: json.RawMessage(tt.args)})
		if tt.want == "" {
			var unknown *UnknownToolError
			if !errors.As(err, &unknown) {
				t.Errorf("%s %s: %+v, %v; want no such tool", tt.name, tt.args, step.Action, err)
			}
			continue
		}
		if run, ok := step.Action.(action.Run); err != nil || !ok || run.Script != tt.want {
			t.Errorf("%s %s: %+v, %v; want %s", tt.name, tt.args, step.Action, err, tt.want)
		}
		if len(step.Note) != 1 {
			t.Errorf("%s: it is not told: %q", tt.name, step.Note)
		}
	}
}
