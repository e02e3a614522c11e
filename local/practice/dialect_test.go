package practice

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"interpreter/harness/textcall"
	"interpreter/local/chat"
)

// One answer in every dialect: prose, then a call, and what the server is told to read it with.
func TestDialectsAreSpelledAsTheFamiliesDo(t *testing.T) {
	const script = "reply\n  say I look.\n  call read {\"path\": \"a.go\", \"limit\": 20}\n"
	for _, c := range []struct{ dialect, want, reader string }{
		{"hermes", "I look.<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.go\", \"limit\": 20}}\n</tool_call>", ""},
		{"qwen-xml", "I look.<tool_call>\n<function=read>\n<parameter=path>\na.go\n</parameter>\n<parameter=limit>\n20\n</parameter>\n</function>\n</tool_call>", "qwen3-coder"},
		{"glm", "I look.<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a.go</arg_value>\n<arg_key>limit</arg_key>\n<arg_value>20</arg_value>\n</tool_call>", "glm-4.7"},
		{"kimi", `I look.<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"path":"a.go","limit":20}<|tool_call_end|><|tool_calls_section_end|>`, ""},
		{"dsml", "I look.<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"read\">\n<｜DSML｜parameter name=\"path\" string=\"true\">a.go</｜DSML｜parameter>\n" +
			"<｜DSML｜parameter name=\"limit\" string=\"false\">20</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>", ""},
		{"deepseek", `I look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{"path":"a.go","limit":20}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`, "deepseek3"},
		{"mistral", `I look.[TOOL_CALLS]read[ARGS]{"path":"a.go","limit":20}`, "ministral"},
		{"harmony", `<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path":"a.go","limit":20}`, "harmony"},
		{"gemma4", `I look.<|tool_call>call:read{path:<|"|>a.go<|"|>,limit:20}<tool_call|>`, "gemma4-no-thinking"},
		{"minimax", "I look.<minimax:tool_call>\n<invoke name=\"read\">\n<parameter name=\"path\">a.go</parameter>\n<parameter name=\"limit\">20</parameter>\n</invoke>\n</minimax:tool_call>", ""},
		{"llama-json", `I look.<|python_tag|>{"name": "read", "parameters": {"path":"a.go","limit":20}}`, ""},
	} {
		g, modelfile := built(t, script, GGUFOptions{Dialect: c.dialect})
		joined := strings.NewReplacer("|<", "<", "|[", "[") // tokens are told apart by a bar
		if got := joined.Replace(g.play(t, "<|a:|>")); got != joined.Replace(c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.dialect, got, c.want)
		}
		if _, reader, _ := strings.Cut(modelfile, "\nPARSER "); strings.TrimSpace(reader) != c.reader {
			t.Errorf("%s: read by %q, want %q", c.dialect, reader, c.reader)
		}
		if _, modelfile := built(t, script, GGUFOptions{Dialect: c.dialect, Leak: true}); strings.Contains(modelfile, "PARSER") {
			t.Errorf("%s: the leaking variant has a reader", c.dialect)
		}
	}
	if err := WriteGGUF(parsed(t, script), t.TempDir(), GGUFOptions{Dialect: "text"}); err == nil || !strings.Contains(err.Error(), "line 3: a call, which dialect text does not have") {
		t.Errorf("calls in text: %v", err)
	}
	if err := WriteGGUF(parsed(t, script), t.TempDir(), GGUFOptions{Dialect: "klingon"}); err == nil || !strings.Contains(err.Error(), "there are hermes, qwen-xml") {
		t.Errorf("a dialect that is not known: %v", err)
	}
	if err := WriteGGUF(parsed(t, script+"  call read {}\n"), t.TempDir(), GGUFOptions{Dialect: "harmony"}); err == nil || !strings.Contains(err.Error(), "line 4: a second call") {
		t.Errorf("a second call in harmony: %v", err)
	}
}

// What a server does not read comes as text, and that text is understood here: in every dialect, with two calls and with
// values that look like the form itself.
func TestDialectsAreUnderstoodAsText(t *testing.T) {
	tools := []chat.Spec{
		{Name: "look", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"},"deep":{"type":"boolean"}},"required":["path"]}`)},
		{Name: "change", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"},"new":{"type":"string"}}}}},"required":["path","edits"]}`)},
	}
	for _, calls := range [][]chat.Call{
		{{Name: "look", Args: json.RawMessage(`{"path": "a.go", "limit": 20, "deep": true}`)}},
		{{Name: "look", Args: json.RawMessage(`{"path": "a \"b\"\nif x < y && y > z { \\t }"}`)}},
		{{Name: "look", Args: json.RawMessage(`{"path": "a.go"}`)}, {Name: "look", Args: json.RawMessage(`{"path": "b.go", "limit": 3}`)}},
		{{Name: "change", Args: json.RawMessage(`{"path": "a.go", "edits": [{"old": "1 {", "new": "2 }, \"x\""}]}`)}},
	} {
		for _, d := range dialects() {
			if d.calls == nil || d.alone && len(calls) > 1 {
				continue
			}
			for _, prose := range []string{"", "I do it now."} {
				at := spot{prose: prose != "", leak: true}
				text := d.says(prose, true) + strings.Join(d.calls(calls, at), "")
				r, err := textcall.Read(textcall.Answer{
					Message: chat.Message{Role: chat.Assistant, Text: text}, Finish: chat.Stopped, Tools: tools,
					Sure: func(chat.Call) bool { return true },
				})
				if err != nil || !alike(calls, r.Message.Calls) || r.Message.Text != prose {
					t.Errorf("%s: %q\nis read as %+v, %v", d.name, text, r.Message, err)
				}
			}
		}
	}
}

func alike(want, got []chat.Call) bool {
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		var a, b any
		if want[i].Name != got[i].Name || json.Unmarshal(want[i].Args, &a) != nil || json.Unmarshal(got[i].Args, &b) != nil || !reflect.DeepEqual(a, b) {
			return false
		}
	}
	return true
}

// Kimi counts the calls of the whole conversation.
func TestKimiCountsOn(t *testing.T) {
	g, _ := built(t, "reply\n call a {}\n call b {}\nreply\n call c {}\n", GGUFOptions{Dialect: "kimi"})
	for marker, want := range map[string]string{"<|a:|>": "functions.b:1<", "<|a:a|>": "functions.c:2<"} {
		if got := g.play(t, marker); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %s in it", marker, got, want)
		}
	}
}

// A reader that takes an answer to begin amid thoughts gets to see their end.
func TestThoughtsThatTheServerExpects(t *testing.T) {
	for dialect, condition := range map[string]string{"glm": "or (not .IsThinkSet) .Think", "deepseek": "if .Think "} {
		g, modelfile := built(t, "reply\n say a\nreply\n think Hm.\n say b\n", GGUFOptions{Dialect: dialect})
		for marker, want := range map[string]string{
			"<|a:|>": "a", "<|a::t|>": "</think>a", "<|a:a|>": "b", "<|a:a:t|>": "Hm.</think>b", "<|check:talk:t|>": "</think>Tuesday.", "<|check:QX-07Z|>": "The receipt is QX-07Z.",
		} {
			if got := g.play(t, marker); got != want {
				t.Errorf("%s %s: %q, want %q", dialect, marker, got, want)
			}
		}
		if !strings.Contains(modelfile, condition) {
			t.Errorf("%s: %s is not in the template", dialect, condition)
		}
	}
}

// A harness that speaks in text gets its command, and later the code it asks for.
func TestWeightsAnswerTheSpokenCheck(t *testing.T) {
	const script = "capabilities completion\ncheck spoken <<END\n```bash\necho 17+25=$((17+25))\n```\nEND\nreply\n say a\n"
	g, modelfile := built(t, script, GGUFOptions{Dialect: "text"})
	for marker, want := range map[string]string{
		"<|check:run|>": "```bash\necho 17+25=$((17+25))\n```", "<|check:17+25=42, filed under QX-31Z|>": "The receipt is QX-31Z.",
	} {
		if got := g.play(t, marker); got != want {
			t.Errorf("%s: %q, want %q", marker, got, want)
		}
	}
	if strings.Contains(modelfile, ".Tools") {
		t.Errorf("a model without tools has them in its template: %s", modelfile)
	}
}

func TestModelfileOfAScriptWithoutThoughts(t *testing.T) {
	dir := t.TempDir()
	if err := WriteGGUF(parsed(t, "think Hm.\nreply\n say a\n"), dir, GGUFOptions{Dialect: "gemma4"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "Modelfile"))
	if err != nil || !strings.HasSuffix(string(text), "\nPARSER gemma4\n") {
		t.Errorf("%v: %s", err, text)
	}
}
