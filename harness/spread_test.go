package harness

import (
	"encoding/json"
	"strings"
	"testing"

	"interpreter/local/chat"
)

func TestSpread(t *testing.T) {
	const both = `{"tool_uses":[{"recipient_name":"functions.read","parameters":{"path":"a"}},{"name":"tools.ls","arguments":"{\"path\":\"b\"}"}]}`
	tests := []struct{ name, args, want string }{
		{"multi_tool_use.parallel", both, `read {"path":"a"} first|ls {"path":"b"} `},
		{"functions.multi_tool_use_parallel", both, `read {"path":"a"} first|ls {"path":"b"} `},
		{"multi_tool_use.parallel", `{"tool_uses":[{"tool":"ls"}]}`, `ls {} first`},
		{"batch", `{"tool_calls":[{"tool":"read","parameters":{"path":"a"}},{"tool":"ls","parameters":{}}]}`, `read {"path":"a"} first|ls {} `},
		{"batch", `{"file":"jobs.txt"}`, `batch {"file":"jobs.txt"} first`},
		{"multi_tool_use.parallel", `{"tool_uses":[]}`, `multi_tool_use.parallel {"tool_uses":[]} first`},
		{"multi_tool_use.parallel", `{"tool_uses":[{"parameters":{}}]}`, `multi_tool_use.parallel {"tool_uses":[{"parameters":{}}]} first`},
		{"multi_tool_use.parallel", `{"tool_uses":[{"name":"ls","input":[1]}]}`, `multi_tool_use.parallel {"tool_uses":[{"name":"ls","input":[1]}]} first`},
		{"multi_tool_use.parallel", `{"tool_uses":"ls"}`, `multi_tool_use.parallel {"tool_uses":"ls"} first`},
		{"parallel", both, "parallel " + both + " first"},
	}
	for _, tt := range tests {
		calls := []chat.Call{{ID: "0", Name: "x", Args: json.RawMessage("{}")}, {ID: "first", Name: tt.name, Args: json.RawMessage(tt.args)}, {ID: "2", Name: "y", Args: json.RawMessage("{}")}}
		var got []string
		for _, c := range Spread(calls) {
			got = append(got, c.Name+" "+string(c.Args)+" "+c.ID)
		}
		if text, want := strings.Join(got, "|"), "x {} 0|"+tt.want+"|y {} 2"; text != want {
			t.Errorf("%s %s becomes\n%s, want\n%s", tt.name, tt.args, text, want)
		}
		if calls[1].Name != tt.name {
			t.Errorf("%s was changed in place", tt.name)
		}
	}
}
