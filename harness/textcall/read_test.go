package textcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"interpreter/local/chat"
)

// spec writes a tool as "name path limit?:integer".
func spec(line string) chat.Spec {
	words := strings.Fields(line)
	var props, required []string
	for _, w := range words[1:] {
		name, kind, _ := strings.Cut(w, ":")
		if kind == "" {
			kind = "string"
		}
		bare := strings.TrimSuffix(name, "?")
		if bare == name {
			required = append(required, fmt.Sprintf("%q", name))
		}
		schema := fmt.Sprintf(`{"type":%q}`, kind)
		if kind == "array" {
			schema = `{"type":"array","items":{"type":"object"}}`
		} else if kind == "strings" {
			schema = `{"type":"array","items":{"type":"string"}}`
		}
		props = append(props, fmt.Sprintf("%q:%s", bare, schema))
	}
	return chat.Spec{Name: words[0], Parameters: json.RawMessage(`{"type":"object","properties":{` + strings.Join(props, ",") + `},"required":[` + strings.Join(required, ",") + `]}`)}
}

func specs(lines ...string) []chat.Spec {
	var all []chat.Spec
	for _, l := range lines {
		all = append(all, spec(l))
	}
	return all
}

var many = specs("read_file file_path offset?:integer limit?:integer", "bash command timeout?:integer background?:boolean", "grep pattern path?", "grep_tool pattern",
	"exec cmd", "Read path", "read path limit?:integer", "glob pattern", "write file_path content", "edit file_path old_string new_string replace_all?:boolean",
	"todo todos:array", "finish_now", "weather city days?:integer units?:strings", "ls path?", "python_exec code", "save json:object note?:number")

// wants writes calls as "name {…}".
func wants(calls []string, t *testing.T) []wantedCall {
	t.Helper()
	var all []wantedCall
	for _, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		w := wantedCall{Name: name}
		if err := json.Unmarshal([]byte(args), &w.Arguments); err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		all = append(all, w)
	}
	return all
}

type row struct {
	about, text string
	calls       []string
	said        string
	err         error
}

func check(t *testing.T, rows []row) {
	t.Helper()
	for _, tt := range rows {
		r, err := Read(Answer{Message: chat.Message{Text: tt.text}, Finish: chat.Stopped, Tools: many, Sure: func(c chat.Call) bool { return c.Name != "bash" && c.Name != "write" }})
		if !errors.Is(err, tt.err) || err != nil && tt.err == nil {
			t.Errorf("%s: error %v, want %v", tt.about, err, tt.err)
			continue
		}
		if got, want := callsOf(t, r.Message), wants(tt.calls, t); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: calls\n%v, want\n%v", tt.about, got, want)
		}
		if tt.err == nil {
			said := tt.said
			if said == "=" {
				said = tt.text
			}
			if got := strings.TrimSpace(r.Message.Text); got != strings.TrimSpace(said) {
				t.Errorf("%s: text %q, want %q", tt.about, got, said)
			}
		}
		agrees(t, tt.about, tt.text, many)
	}
}

var qwenRows = []row{
	{"the example", "<tool_call>\n<function=read_file>\n<parameter=file_path>\n/w/a.go\n</parameter>\n<parameter=limit>\n20\n</parameter>\n</function>\n</tool_call>", []string{`read_file {"file_path":"/w/a.go","limit":20}`}, "", nil},
	{"no opening tag, prose before", "I look.\n<function=read_file>\n<parameter=file_path>\na\n</parameter>\n</function>\n</tool_call>", []string{`read_file {"file_path":"a"}`}, "I look.", nil},
	{"no closing tag", "<tool_call>\n<function=read_file>\n<parameter=file_path>\na\n</parameter>\n</function>", []string{`read_file {"file_path":"a"}`}, "", nil},
	{"no end of the function", "<tool_call>\n<function=read_file>\n<parameter=file_path>\na\n</parameter>", []string{`read_file {"file_path":"a"}`}, "", nil},
	{"no end of the function and a required one missing", "<tool_call>\n<function=write>\n<parameter=file_path>\na\n</parameter>", nil, "", ErrCut},
	{"a value cut off", "<tool_call>\n<function=write>\n<parameter=file_path>\na\n</parameter>\n<parameter=content>\nhalf", nil, "", ErrCut},
	{"the end of a parameter missing", "<function=read_file>\n<parameter=file_path> a\n<parameter=limit>\n3\n</parameter>\n</function>", []string{`read_file {"file_path":"a","limit":3}`}, "", nil},
	{"quotes around the name", `<function="read_file"><parameter name="file_path">a</parameter></function>`, []string{`read_file {"file_path":"a"}`}, "", nil},
	{"attributes", `<function name="read_file"><parameter name='file_path'>a</parameter></function>`, []string{`read_file {"file_path":"a"}`}, "", nil},
	{"JSON inside", `<function=read_file>{"file_path": "a"}</function>`, []string{`read_file {"file_path":"a"}`}, "", nil},
	{"head lost", "task\n</parameter>\n</function>\n</tool_call>", nil, "task", nil},
	{"raw markup and entities", "<tool_call>\n<function=bash>\n<parameter=command>\necho '<b>&amp;</b>' && cat <<EOF > x\n$y\nEOF\n</parameter>\n</function>\n</tool_call>", []string{`bash {"command":"echo '<b>&amp;</b>' && cat <<EOF > x\n$y\nEOF"}`}, "", nil},
	{"the closing tag in the value", "<tool_call>\n<function=write>\n<parameter=file_path>\na\n</parameter>\n<parameter=content>\nuse </parameter> here\nand </function> there\n</parameter>\n</function>\n</tool_call>\nDone.", []string{`write {"file_path":"a","content":"use </parameter> here\nand </function> there"}`}, "Done.", nil},
	{"types", "<function=bash>\n<parameter=command>\n123\n</parameter>\n<parameter=background>\nTrue\n</parameter>\n<parameter=timeout>\n20.0\n</parameter>\n</function>", []string{`bash {"command":"123","background":true,"timeout":20}`}, "", nil},
	{"an object", "<function=save>\n<parameter=json>\n{'a': 1,}\n</parameter>\n<parameter=note>\n1.5\n</parameter>\n</function>", []string{`save {"json":{"a":1},"note":1.5}`}, "", nil},
	{"only one line break goes", "<function=write>\n<parameter=file_path>\na\n</parameter>\n<parameter=content>\n\n  x\n\n</parameter>\n</function>", []string{`write {"file_path":"a","content":"\n  x\n"}`}, "", nil},
	{"two functions in one tag", "<tool_call><function=ls><parameter=path>a</parameter></function><function=ls><parameter=path>b</parameter></function></tool_call>", []string{`ls {"path":"a"}`, `ls {"path":"b"}`}, "", nil},
	{"no parameters", "<tool_call>\n<function=ls>\n</function>\n</tool_call>", []string{`ls {}`}, "", nil},
	{"a fence in a value", "<function=write>\n<parameter=file_path>\na.md\n</parameter>\n<parameter=content>\n```\ncode\n```\n</parameter>\n</function>", []string{"write {\"file_path\":\"a.md\",\"content\":\"```\\ncode\\n```\"}"}, "", nil},
	{"an unknown tool, complete", "<tool_call>\n<function=teleport>\n<parameter=to>\nx\n</parameter>\n</function>\n</tool_call>", []string{`teleport {"to":"x"}`}, "", nil},
}

var hermesRows = []row{
	{"the example", "<tool_call>\n{\"name\": \"grep\", \"arguments\": {\"pattern\": \"TODO\", \"path\": \"src\"}}\n</tool_call>", []string{`grep {"pattern":"TODO","path":"src"}`}, "", nil},
	{"other keys", `<tool_call>{"tool": "grep", "args": {"pattern": "a"}}</tool_call><tool_call>{"tool_name": "grep", "tool_input": {"pattern": "b"}}</tool_call><tool_call>{"recipient_name":"functions.grep","parameters":{"pattern":"c"}}</tool_call>`,
		[]string{`grep {"pattern":"a"}`, `grep {"pattern":"b"}`, `grep {"pattern":"c"}`}, "", nil},
	{"the form of the wire", `<tool_call>{"type":"function","function":{"name":"grep","arguments":"{\"pattern\":\"a\"}"}}</tool_call>`, []string{`grep {"pattern":"a"}`}, "", nil},
	{"a list in one tag", `<tool_call>[{"name":"ls","arguments":{"path":"a"}},{"name":"ls","arguments":{"path":"b"}}]</tool_call>`, []string{`ls {"path":"a"}`, `ls {"path":"b"}`}, "", nil},
	{"several objects in one tag", "<tool_call>\n{\"name\":\"ls\",\"arguments\":{\"path\":\"a\"}}\n{\"name\":\"ls\",\"arguments\":{\"path\":\"b\"}}\n</tool_call>", []string{`ls {"path":"a"}`, `ls {"path":"b"}`}, "", nil},
	{"other tags", `<tools>{"name":"ls","arguments":{"path":"a"}}</tools> <function_call>{"name":"ls","arguments":{"path":"b"}}</function_call>`, []string{`ls {"path":"a"}`, `ls {"path":"b"}`}, "", nil},
	{"opened twice", "<tool_call>\n<tool_call>\n{\"name\":\"ls\",\"arguments\":{}}\n</tool_call>", []string{`ls {}`}, "", nil},
	{"no closing tag", "<tool_call>\n{\"name\":\"ls\",\"arguments\":{}}", []string{`ls {}`}, "", nil},
	{"a brace missing", "<tool_call>\n{\"name\":\"ls\",\"arguments\":{\"path\":\"a\"}\n</tool_call>", []string{`ls {"path":"a"}`}, "", nil},
	{"a brace too many", "<tool_call>\n{\"name\":\"ls\",\"arguments\":{\"path\":\"a\"}}}\n</tool_call>", []string{`ls {"path":"a"}`}, "", nil},
	{"quotes not escaped", "<tool_call>\n{\"name\": \"write\", \"arguments\": {\"file_path\": \"a.html\", \"content\": \"<a href=\"x\">y</a>\"}}\n</tool_call>", []string{`write {"file_path":"a.html","content":"<a href=\"x\">y</a>"}`}, "", nil},
	{"cut off", `<tool_call>{"name":"write","arguments":{"file_path":"a","content":"half`, nil, "", ErrCut},
	{"an invented result", "<tool_call>{\"name\":\"ls\",\"arguments\":{}}</tool_call>\n<tool_call>{\"name\":\"ls\",\"arguments\":{\"path\":\"b\"}}</tool_call>\n<tool_response>x</tool_response>\n<tool_call>{\"name\":\"ls\",\"arguments\":{\"path\":\"c\"}}</tool_call>", []string{`ls {}`, `ls {"path":"b"}`}, "", nil},
	{"the same twice", `<tool_call>{"name":"ls","arguments":{}}</tool_call><tool_call>{"name":"ls","arguments":{}}</tool_call>`, []string{`ls {}`}, "", nil},
	{"a name and nothing else", `<tool_call>{"name":"finish_now"}</tool_call>`, []string{`finish_now {}`}, "", nil},
	{"arguments beside the name", `<tool_call>{"name":"grep","pattern":"x"}</tool_call>`, []string{`grep {"pattern":"x"}`}, "", nil},
	{"the tag in a value", `<tool_call>{"name":"write","arguments":{"file_path":"a","content":"<tool_call>{}</tool_call>"}}</tool_call>`, []string{`write {"file_path":"a","content":"<tool_call>{}</tool_call>"}`}, "", nil},
	{"prose around", "One.\n<tool_call>{\"name\":\"ls\",\"arguments\":{}}</tool_call>\nTwo.", []string{`ls {}`}, "One.\nTwo.", nil},
	{"an XML call in the same tag", "<tool_call>\n<function=ls>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>", []string{`ls {"path":"a"}`}, "", nil},
}

var glmRows = []row{
	{"the example", "<tool_call>bash\n<arg_key>command</arg_key>\n<arg_value>go vet ./...</arg_value>\n</tool_call>", []string{`bash {"command":"go vet ./..."}`}, "", nil},
	{"no line breaks", "<tool_call>read_file<arg_key>file_path</arg_key><arg_value>a</arg_value><arg_key>limit</arg_key><arg_value>3</arg_value></tool_call>", []string{`read_file {"file_path":"a","limit":3}`}, "", nil},
	{"the tag of the key missing", "<tool_call>grep_toolpattern</arg_key><arg_value>x</arg_value></tool_call>", []string{`grep_tool {"pattern":"x"}`}, "", nil},
	{"and no tag before the name", "bashcommand</arg_key><arg_value>ls</arg_value></tool_call>", []string{`bash {"command":"ls"}`}, "", nil},
	{"a blank between", "<tool_call>bash command</arg_key><arg_value>ls</arg_value></tool_call>", []string{`bash {"command":"ls"}`}, "", nil},
	{"doubled", "<tool_call>bash<arg_key><arg_key>command</arg_key></arg_key><arg_value>ls</arg_value></tool_call>", []string{`bash {"command":"ls"}`}, "", nil},
	{"nothing to say", "<tool_call>finish_now</arg_value></tool_call>", []string{`finish_now {}`}, "", nil},
	{"nothing at all", "<tool_call>finish_now</tool_call>", []string{`finish_now {}`}, "", nil},
	{"the last tag missing", "<tool_call>bash<arg_key>command</arg_key><arg_value>ls</arg_value>", []string{`bash {"command":"ls"}`}, "", nil},
	{"a value cut", "<tool_call>bash<arg_key>command</arg_key><arg_value>rm -r", nil, "", ErrCut},
	{"a wrong tag", "<tool_call>bash<arg_key>command</arg_value><arg_value>ls</arg_key></tool_call>", []string{`bash {"command":"ls"}`}, "", nil},
	{"the tag in a value", "<tool_call>bash<arg_key>command</arg_key><arg_value>echo </arg_value> x</arg_value></tool_call>", []string{`bash {"command":"echo </arg_value> x"}`}, "", nil},
	{"an undeclared number", "<tool_call>bash<arg_key>command</arg_key><arg_value>ls</arg_value><arg_key>n</arg_key><arg_value>3</arg_value></tool_call>", []string{`bash {"command":"ls","n":3}`}, "", nil},
	{"no opening tag", "I run it.\nbash\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>\n</tool_call>", []string{`bash {"command":"ls"}`}, "I run it.", nil},
}

var tokenRows = []row{
	{"kimi", `<|tool_calls_section_begin|><|tool_call_begin|>functions.Read:4<|tool_call_argument_begin|>{"path":"a.go"}<|tool_call_end|><|tool_calls_section_end|>`, []string{`Read {"path":"a.go"}`}, "", nil},
	{"kimi, two, singular", `<|tool_call_section_begin|><|tool_call_begin|>functions.ls:0<|tool_call_argument_begin|>{"path":"a"}<|tool_call_end|><|tool_call_begin|>functions.ls:1<|tool_call_argument_begin|>{"path":"b"}<|tool_call_end|><|tool_call_section_end|>`, []string{`ls {"path":"a"}`, `ls {"path":"b"}`}, "", nil},
	{"kimi, no section", `Now.<|tool_call_begin|>functions.ls:0<|tool_call_argument_begin|>{}<|tool_call_end|>`, []string{`ls {}`}, "Now.", nil},
	{"kimi, the id without a prefix", `<|tool_call_begin|>ls:0<|tool_call_argument_begin|>{}<|tool_call_end|>`, []string{`ls {}`}, "", nil},
	{"kimi, no punctuation", `<|tool_call_begin|>functionsexec5<|tool_call_argument_begin|>{"cmd":"ls"}<|tool_call_end|>`, []string{`exec {"cmd":"ls"}`}, "", nil},
	{"kimi, no colon", `<|tool_call_begin|>functions.exec5<|tool_call_argument_begin|>{"cmd":"ls"}<|tool_call_end|>`, []string{`exec {"cmd":"ls"}`}, "", nil},
	{"kimi, a number", `<|tool_call_begin|>3<|tool_call_argument_begin|>{"cmd":"ls"}<|tool_call_end|>`, []string{`exec {"cmd":"ls"}`}, "", nil},
	{"kimi, a made-up id", `<|tool_call_begin|>call12345<|tool_call_argument_begin|>{"cmd":"ls"}<|tool_call_end|>`, []string{`exec {"cmd":"ls"}`}, "", nil},
	{"kimi, a number that fits several", `<|tool_call_begin|>3<|tool_call_argument_begin|>{"path":"a"}<|tool_call_end|>`, nil, "3\n{\"path\":\"a\"}", nil},
	{"kimi, no end of a call", `<|tool_calls_section_begin|><|tool_call_begin|>functions.ls:0<|tool_call_argument_begin|>{}<|tool_call_begin|>functions.exec:1<|tool_call_argument_begin|>{"cmd":"a"}<|tool_calls_section_end|>`, []string{`ls {}`, `exec {"cmd":"a"}`}, "", nil},
	{"kimi, cut", `<|tool_calls_section_begin|><|tool_call_begin|>functions.exec:0<|tool_call_argument_begin|>{"cmd":"a"}`, nil, "", ErrCut},
	{"kimi, marks alone", "Done.<|tool_calls_section_end|>", nil, "Done.", nil},
	{"deepseek 3.1", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ls<｜tool▁sep｜>{\"path\": \"a\"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>ls<｜tool▁sep｜>{\"path\": \"b\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", []string{`ls {"path":"a"}`, `ls {"path":"b"}`}, "", nil},
	{"deepseek r1", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>ls\n```json\n{\"path\": \"a\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", []string{`ls {"path":"a"}`}, "", nil},
	{"deepseek, ASCII", `<|tool_calls_begin|><|tool call begin|>ls<|tool_sep|>{"path": "a"}<|tool_call_end|><|tool_calls_end|>`, []string{`ls {"path":"a"}`}, "", nil},
	{"deepseek, no beginning", "ls<｜tool▁sep｜>{\"path\": \"a\"}<｜tool▁call▁end｜>", []string{`ls {"path":"a"}`}, "", nil},
	{"deepseek, no end of the section", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ls<｜tool▁sep｜>{}<｜tool▁call▁end｜>", []string{`ls {}`}, "", nil},
	{"deepseek, an invented output", "<｜tool▁call▁begin｜>ls<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁output▁begin｜>a.go<｜tool▁output▁end｜>So there is a.go.", []string{`ls {}`}, "", nil},
	{"dsml", "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"read\">\n<｜DSML｜parameter name=\"path\" string=\"true\">a.go</｜DSML｜parameter>\n<｜DSML｜parameter name=\"limit\" string=\"false\">50</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>", []string{`read {"path":"a.go","limit":50}`}, "", nil},
	{"dsml, the other block, not closed", "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"read\">\n<｜DSML｜parameter name=\"path\" string=\"true\">a.go</｜DSML｜parameter>\n</｜DSML｜invoke>", []string{`read {"path":"a.go"}`}, "", nil},
	{"dsml, no block", "<｜DSML｜invoke name=\"read\"><｜DSML｜parameter name=\"path\" string=\"true\">a.go</｜DSML｜parameter></｜DSML｜invoke>", []string{`read {"path":"a.go"}`}, "", nil},
	{"dsml, JSON", "<｜DSML｜tool_calls><｜DSML｜invoke name=\"read\">{\"path\":\"a\"}</｜DSML｜invoke></｜DSML｜tool_calls>", []string{`read {"path":"a"}`}, "", nil},
	{"dsml, last one open", "<｜DSML｜tool_calls><｜DSML｜invoke name=\"read\"><｜DSML｜parameter name=\"path\">a</｜DSML｜parameter>", []string{`read {"path":"a"}`}, "", nil},
	{"dsml, closed in itself", "<｜DSML｜tool_calls><｜DSML｜invoke name=\"ls\"/></｜DSML｜tool_calls>", []string{`ls {}`}, "", nil},
	{"dsml, bars of other kinds", "<||DSML||tool_calls><‖DSML‖invoke name=\"read\"><|DSML|parameter name=\"path\" string=\"true\">a</|DSML|parameter></‖DSML‖invoke></||DSML||tool_calls>", []string{`read {"path":"a"}`}, "", nil},
	{"dsml, no string attribute", "<｜DSML｜invoke name=\"read\"><｜DSML｜parameter name=\"path\">1</｜DSML｜parameter><｜DSML｜parameter name=\"limit\">2</｜DSML｜parameter></｜DSML｜invoke>", []string{`read {"path":"1","limit":2}`}, "", nil},
	{"dsml, a copied wrapper", "<｜DSML｜invoke name=\"read\">{\"name\":\"read\",\"input\":{\"path\":\"a\"}}</｜DSML｜invoke>", []string{`read {"path":"a"}`}, "", nil},
	{"xtml", `<|open|>tools<|sep|><|open|>call tool="read" index="0"<|sep|><|open|>argument key="path" type="string"<|sep|>a "b" & c<|close|>argument<|sep|><|open|>argument key="limit" type="number"<|sep|>3<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>`, []string{`read {"path":"a \"b\" & c","limit":3}`}, "", nil},
	{"xtml, JSON, a response", `<|open|>response<|sep|>I look.<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="read" index="0"<|sep|><|open|>json type="object"<|sep|>{"path":"a"}<|close|>json<|sep|><|close|>call<|sep|><|close|>tools<|sep|>`, []string{`read {"path":"a"}`}, "I look.", nil},
	{"xtml, cut", `<|open|>tools<|sep|><|open|>call tool="read" index="0"<|sep|><|open|>argument key="path" type="string"<|sep|>a`, nil, "", ErrCut},
}

var otherRows = []row{
	{"mistral", `[TOOL_CALLS]read[ARGS]{"path":"/w/a.go"}[TOOL_CALLS]glob[ARGS]{"pattern":"*.go"}`, []string{`read {"path":"/w/a.go"}`, `glob {"pattern":"*.go"}`}, "", nil},
	{"mistral, an id", `[TOOL_CALLS]read[CALL_ID]abcdEF123[ARGS]{"path":"a"}`, []string{`read {"path":"a"}`}, "", nil},
	{"mistral, old", `[TOOL_CALLS] [{"name": "read", "arguments": {"path": "a"}, "id": "abcdEF123"}, {"name":"ls","arguments":{}}]`, []string{`read {"path":"a"}`, `ls {}`}, "", nil},
	{"mistral, old, single quotes", `[TOOL_CALLS] [{'name': 'read', 'arguments': {'path': 'a'}}]`, []string{`read {"path":"a"}`}, "", nil},
	{"mistral, no mark", `read[ARGS]{"path":"a"}`, []string{`read {"path":"a"}`}, "", nil},
	{"mistral, less than that", "I look.\nread{\"path\":\"a\"}", []string{`read {"path":"a"}`}, "I look.", nil},
	{"mistral, a list alone", `[{"name":"read","arguments":{"path":"a"}}]`, []string{`read {"path":"a"}`}, "", nil},
	{"mistral, cut", `[TOOL_CALLS]write[ARGS]{"file_path":"a","content":"ha`, nil, "", ErrCut},
	{"llama", `<|python_tag|>{"name": "read", "parameters": {"path": "a"}}; {"name": "ls", "parameters": {}}<|eom_id|>`, []string{`read {"path":"a"}`, `ls {}`}, "", nil},
	{"llama, no tag", `{"type":"function","name": "read", "parameters": {"path": "a", "limit": "3"}}`, []string{`read {"path":"a","limit":3}`}, "", nil},
	{"llama, lines", "{\"name\": \"ls\", \"parameters\": {\"path\":\"a\"}}\n{\"name\": \"ls\", \"parameters\": {\"path\":\"b\"}}", []string{`ls {"path":"a"}`, `ls {"path":"b"}`}, "", nil},
	{"llama, built in", `<|python_tag|>weather.call(city="Bonn", days=3)`, []string{`weather {"city":"Bonn","days":3}`}, "", nil},
	{"llama, pythonic", `[read(path="a", limit=3), ls()]`, []string{`read {"path":"a","limit":3}`, `ls {}`}, "", nil},
	{"llama 4", `<|python_start|>[weather(city='Bonn', units=["c", 'f'], days=None)]<|python_end|>`, []string{`weather {"city":"Bonn","units":["c","f"]}`}, "", nil},
	{"llama, pythonic in prose", `Use [read(path="a")] for it.`, nil, "=", nil},
	{"llama, no expressions", `[read(path="a" + "b")]`, nil, "=", nil},
	{"llama, a wrapper of the schema", `{"name": "read", "parameters": {"properties": {"path": "a"}}}`, []string{`read {"path":"a"}`}, "", nil},
	{"harmony", `<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{"cmd":"ls"}<|call|>`, []string{`exec {"cmd":"ls"}`}, "", nil},
	{"harmony, recipient first", `<|start|>assistant to=functions.exec<|channel|>commentary json<|message|>{"cmd":"ls"}<|call|>`, []string{`exec {"cmd":"ls"}`}, "", nil},
	{"harmony, in the analysis", `<|channel|>analysis to=functions.exec<|message|>{"cmd":"ls"}<|call|>`, []string{`exec {"cmd":"ls"}`}, "", nil},
	{"harmony, a preamble and a final", `<|channel|>commentary<|message|>First this.<|end|><|start|>assistant<|channel|>final<|message|>Done.<|return|>`, nil, "First this.\nDone.", nil},
	{"harmony, no recipient, one tool fits", `<|channel|>commentary<|message|>{"pattern":"*.go","path":"x"}<|call|>`, []string{`grep {"pattern":"*.go","path":"x"}`}, "", nil},
	{"harmony, tokens at the end", "Done.<|end|><|start|>assistant", nil, "Done.", nil},
	{"harmony, doubled beginning", `<|channel|>commentary to=functions.exec<|message|>{"{"cmd": "ls"}<|call|>`, []string{`exec {"cmd":"ls"}`}, "", nil},
	{"harmony, no-break spaces", "<|channel|>commentary to=functions.exec<|message|>{\u00a0\"cmd\":\u202f\"a\u00a0b\"}<|call|>", []string{"exec {\"cmd\":\"a\u00a0b\"}"}, "", nil},
	{"harmony, code", "<|channel|>analysis to=python_exec code<|message|>print(1)\n<|call|>", []string{`python_exec {"code":"print(1)\n"}`}, "", nil},
	{"harmony, words alone", `analysisNeed the list.assistantcommentary to=functions.exec json{"cmd":"ls"}`, []string{`exec {"cmd":"ls"}`}, "", nil},
	{"harmony, cut", `<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{"cmd":"l`, nil, "", ErrCut},
	{"gemma 4", `<|tool_call>call:read{path:<|"|>a.go<|"|>,limit:20}<tool_call|>`, []string{`read {"path":"a.go","limit":20}`}, "", nil},
	{"gemma 4, nested", `<|tool_call>call:save{json:{a:[1,true,<|"|>x, y<|"|>],b:{}},note:-1.5}<tool_call|>`, []string{`save {"json":{"a":[1,true,"x, y"],"b":{}},"note":-1.5}`}, "", nil},
	{"gemma 4, a delimiter missing", `<|tool_call>call:read{path:<|"|>a.go,limit:20}<tool_call|>`, []string{`read {"path":"a.go","limit":20}`}, "", nil},
	{"gemma 4, a brace missing", `<|tool_call>call:read{path:<|"|>a.go<|"|><tool_call|>`, []string{`read {"path":"a.go"}`}, "", nil},
	{"gemma 4, ordinary quotes", `<|tool_call>call:read{"path":"a.go",limit:20}<tool_call|><tool_call|>`, []string{`read {"path":"a.go","limit":20}`}, "", nil},
	{"gemma 4, a bare string", `<|tool_call>call:exec{ls -la}<tool_call|>`, []string{`exec {"cmd":"ls -la"}`}, "", nil},
	{"gemma 4, an invented response", `<|tool_call>call:ls{}<tool_call|><|tool_response>response:ls{a}<tool_response|>`, []string{`ls {}`}, "", nil},
	{"gemma 4, a prefix", `<|tool_call>call:default_api.ls{}<tool_call|>`, []string{`ls {}`}, "", nil},
	{"gemma 4, every value a string", `<|tool_call>call:read{path:<|"|>a<|"|>,limit:<|"|>20<|"|>}<tool_call|>`, []string{`read {"path":"a","limit":20}`}, "", nil},
	{"functiongemma", `<start_function_call>call:read{path:<escape>a.go<escape>,limit:3}<end_function_call>`, []string{`read {"path":"a.go","limit":3}`}, "", nil},
	{"gemma 3, code", "```tool_code\nprint(read(path=\"a\"))\n```", []string{`read {"path":"a"}`}, "", nil},
	{"gemma 3, JSON", "```json\n{\"name\":\"read\",\"parameters\":{\"path\":\"a\"}}\n```", []string{`read {"path":"a"}`}, "", nil},
	{"minimax", "<minimax:tool_call>\n<invoke name=\"read\">\n<parameter name=\"path\">a.go</parameter>\n<parameter name=\"limit\">3</parameter>\n</invoke>\n</minimax:tool_call>", []string{`read {"path":"a.go","limit":3}`}, "", nil},
	{"minimax, no quotes, two", "<minimax:tool_call><invoke name=ls></invoke><invoke name=read><parameter name=path>a</parameter></invoke></minimax:tool_call>", []string{`ls {}`, `read {"path":"a"}`}, "", nil},
	{"minimax, opened instead of closed", "<minimax:tool_call><invoke name=\"ls\"></invoke><minimax:tool_call>", []string{`ls {}`}, "", nil},
	{"minimax, no namespace", "<tool_call><invoke name=\"ls\"></invoke></tool_call>", []string{`ls {}`}, "", nil},
	{"invoke", "<function_calls>\n<invoke name=\"read\">\n<parameter name=\"path\">a</parameter>\n</invoke>\n</function_calls>", []string{`read {"path":"a"}`}, "", nil},
	{"invoke alone, a prefix", `<x:invoke name="read"><x:parameter name="path">a</x:parameter></x:invoke>`, []string{`read {"path":"a"}`}, "", nil},
	{"deepseek:tool_call", `<deepseek:tool_call><invoke name="read"><parameter name="path">a</parameter></invoke></deepseek:tool_call>`, []string{`read {"path":"a"}`}, "", nil},
	{"tool_invoke", "<tool_invoke><name>exec</name><code>ls -la</code></tool_invoke>", []string{`exec {"cmd":"ls -la"}`}, "", nil},
	{"a tag for the tool", "I look.\n<read><path>a.go</path><limit>3</limit></read>", []string{`read {"path":"a.go","limit":3}`}, "I look.", nil},
	{"a tag for the tool, a part it has not", "<read><stone>a.go</stone></read>", nil, "=", nil},
	{"openhands", "<function=execute_bash>\n<parameter=command>ls</parameter>\n</function>", []string{`execute_bash {"command":"ls"}`}, "", nil},
	{"openhands, short", "<execute_bash>ls</execute_bash>", []string{`execute_bash {"command":"ls"}`}, "", nil},
	{"muse", `<|start|>assistant to=read<|message|><atem:function_calls><atem:invoke name="read"><atem:parameter name="path">a</atem:parameter></atem:invoke></atem:function_calls><|eom|>`, []string{`read {"path":"a"}`}, "", nil},
	{"olmo", "<function_calls>\nread(path=\"a\", limit=3)\nls()\n</function_calls>", []string{`read {"path":"a","limit":3}`, `ls {}`}, "", nil},
	{"lfm2", `<|tool_call_start|>[read(path="a")]<|tool_call_end|>`, []string{`read {"path":"a"}`}, "", nil},
	{"seed", "<seed:tool_call><function=read><parameter=path>a</parameter></function></seed:tool_call>", []string{`read {"path":"a"}`}, "", nil},
	{"command r", `<|START_ACTION|>[{"tool_call_id":"0","tool_name":"read","parameters":{"path":"a"}}]<|END_ACTION|>`, []string{`read {"path":"a"}`}, "", nil},
	{"granite", `<|tool_call|>[{"name":"read","arguments":{"path":"a"}}]`, []string{`read {"path":"a"}`}, "", nil},
	{"phi", `<|tool_call|>[{"name":"read","arguments":{"path":"a"}}]<|/tool_call|>`, []string{`read {"path":"a"}`}, "", nil},
	{"phi, functools", `functools[{"name":"read","arguments":{"path":"a"}}]`, []string{`read {"path":"a"}`}, "", nil},
	{"nemotron", `<TOOLCALL>[{"name":"read","arguments":{"path":"a"}}]</TOOLCALL>`, []string{`read {"path":"a"}`}, "", nil},
	{"hunyuan", `<tool_calls>[{"name":"read","arguments":{"path":"a"}}]</tool_calls>`, []string{`read {"path":"a"}`}, "", nil},
	{"internlm", `<|action_start|><|plugin|>{"name":"read","parameters":{"path":"a"}}<|action_end|>`, []string{`read {"path":"a"}`}, "", nil},
	{"brackets", `[TOOL_CALL]{"name":"read","arguments":{"path":"a"}}[/TOOL_CALL]`, []string{`read {"path":"a"}`}, "", nil},
	{"brackets, arrows", "[TOOL_CALL]\n{tool => \"read\", args => {\n  --path \"a\"\n  --limit 3\n}}\n[/TOOL_CALL]", []string{`read {"path":"a","limit":3}`}, "", nil},
	{"an imitation", `[tool_call: read {"path":"a"}]`, []string{`read {"path":"a"}`}, "", nil},
	{"an imitation, code", `[Tool Call: read(path="a")]`, []string{`read {"path":"a"}`}, "", nil},
	{"react", "Thought: I look.\nAction: read\nAction Input: {\"path\": \"a\"}", []string{`read {"path":"a"}`}, "Thought: I look.", nil},
	{"react, an observation", "Action: read\nAction Input: {\"path\": \"a\"}\nObservation: it says x\nThought: so it does", []string{`read {"path":"a"}`}, "", nil},
	{"react, more prose", "Action: read\nAction Input: {\"path\": \"a\"}\nThat is how.", nil, "=", nil},
	{"a list with a name", `tool_calls: [{"name":"read","arguments":{"path":"a"}}]`, []string{`read {"path":"a"}`}, "", nil},
	{"an object with a list", `{"tool_calls":[{"name":"read","arguments":{"path":"a"}}]}`, []string{`read {"path":"a"}`}, "", nil},
	{"an empty list", "All is done.\n{\"tool_calls\":[]}", nil, "All is done.", nil},
	{"a line of code", "I look.\nread(path=\"a\")", []string{`read {"path":"a"}`}, "I look.", nil},
	{"a line of code with an object", "I look.\nread({\"path\": \"a\"})", []string{`read {"path":"a"}`}, "I look.", nil},
	{"arguments alone", `{"pattern":"x","path":"y"}`, []string{`grep {"pattern":"x","path":"y"}`}, "", nil},
	{"several at once", `{"name":"multi_tool_use.parallel","arguments":{"tool_uses":[{"recipient_name":"functions.ls","parameters":{"path":"a"}},{"recipient_name":"functions.ls","parameters":{"path":"b"}}]}}`, []string{`ls {"path":"a"}`, `ls {"path":"b"}`}, "", nil},
	{"an object behind prose in its line", `I read it: {"name":"read","arguments":{"path":"a"}}`, []string{`read {"path":"a"}`}, "I read it:", nil},
	{"two fences", "```json\n{\"name\":\"ls\",\"arguments\":{\"path\":\"a\"}}\n```\n```json\n{\"name\":\"ls\",\"arguments\":{\"path\":\"b\"}}\n```", []string{`ls {"path":"a"}`, `ls {"path":"b"}`}, "", nil},
	{"a mutating call in a fence", "```json\n{\"name\":\"bash\",\"arguments\":{\"command\":\"rm x\"}}\n```", nil, "", ErrText},
	{"todos as text", `{"name":"todo","arguments":{"todos":"[{\"content\":\"a\",\"status\":\"pending\"}]"}}`, []string{`todo {"todos":[{"content":"a","status":"pending"}]}`}, "", nil},
	{"unescaped quotes in a command", `{"name":"bash","arguments":{"command":"echo "hi" > f"}}`, []string{`bash {"command":"echo \"hi\" > f"}`}, "", nil},
	{"other case and separators", `{"name":"ReadFile","arguments":{"file_path":"a"}}`, []string{`read_file {"file_path":"a"}`}, "", nil},
}

func TestFamilies(t *testing.T) {
	t.Run("qwen", func(t *testing.T) { check(t, qwenRows) })
	t.Run("hermes", func(t *testing.T) { check(t, hermesRows) })
	t.Run("glm", func(t *testing.T) { check(t, glmRows) })
	t.Run("tokens", func(t *testing.T) { check(t, tokenRows) })
	t.Run("others", func(t *testing.T) { check(t, otherRows) })
}
