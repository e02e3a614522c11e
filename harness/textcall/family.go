package textcall

// family is how the calls of some models look: the marks they begin with, as lexemes, and what reads them from there.
// A reader reports false when a mark begins no call; what it looked at in vain it pays for with spend.
type family struct {
	name  string
	marks []string
	read  func(s *scanner, at int, l lexeme) (group, bool)
}

// families are all those with marks. Forms without any are in loose.go.
func families() []family {
	return []family{
		{"tagged", []string{"tool_call", "tools", "function_call", "tool_calls", "function_calls", "TOOLCALL", "|tool_call|", "|tool_call_start|",
			"|action_start|", "|START_ACTION|", "[TOOL_CALL"}, readTagged},
		{"function", []string{"function"}, readFunctions},
		{"glm", []string{"arg_key", "/arg_key"}, readHeadless},
		{"tokens", []string{"|tool_calls_section_begin|", "|tool_call_section_begin|", "|tool_call_begin|", "|tool_calls_begin|", "|tool_sep|"}, readTokens},
		{"xtml", []string{"|open|", "|close|"}, readElements},
		{"invoke", []string{"invoke", "tool_invoke"}, readInvokes},
		{"mistral", []string{"[TOOL_CALLS"}, readMistral},
		{"llama", []string{"|python_tag|", "|python_start|"}, readPythonTag},
		{"harmony", []string{"|channel|", "|start|"}, readHarmony},
		{"gemma", []string{"|tool_call", "start_function_call", "|channel"}, readGemma},
		{"imitation", []string{"[tool_call:", "[Tool Call:", "[tool call:", "[Tool call:"}, readImitation},
		{"openhands", []string{"execute_bash", "execute_ipython"}, readElement},
	}
}

// shown are the forms as people know them, those without marks included.
var labels = map[string]string{
	"tagged":       "in Hermes tags",
	"function":     "in the function tags of Qwen coders and Llama",
	"glm":          "in the key and value tags of GLM",
	"tokens":       "in the section tokens of Kimi and DeepSeek",
	"xtml":         "in the open and close marks of Kimi K3",
	"invoke":       "in the invoke tags of Claude and MiniMax",
	"mistral":      "behind the [TOOL_CALLS] mark of Mistral",
	"llama":        "behind the Python mark of Llama",
	"harmony":      "in the channels of gpt-oss",
	"gemma":        "in the call marks of Gemma",
	"imitation":    "in square brackets, as in a transcript",
	"openhands":    "in the tags of OpenHands",
	"tag per tool": "in a tag named like the tool",
	"functools":    "as a functools list",
	"list":         "as a tool_calls list",
	"react":        "as Action and Action Input",
	"code":         "as a function call in code",
	"object":       "as a JSON object",
	"arguments":    "as a JSON object of arguments alone",
	"fence":        "in a fenced block",
}

// Shown is a form as a person knows it: "in Hermes tags", "as a JSON object". ok is false of a form that Read does not
// know, as the own ones of harnesses that speak in text.
func Shown(form string) (words string, ok bool) {
	words, ok = labels[form]
	return words, ok
}

// closers end calls; where one stands alone it is no part of an answer.
var closers = set("/tool_call", "/tools", "/function_call", "/tool_calls", "/function_calls", "/TOOLCALL", "/function", "/parameter", "/invoke",
	"/arg_key", "/arg_value", "tool_call|", "|/tool_call|", "|tool_call_end|", "|action_end|", "|END_ACTION|", "[/TOOL_CALL", "/tool_invoke",
	"end_function_call", "|python_end|", "|tool_calls_section_end|", "|tool_call_section_end|", "|tool_calls_end|", "/think")

// tokens are of templates; a server that shows them failed to take them out.
var tokens = set("|im_start|", "|im_end|", "|endoftext|", "|eot_id|", "|eom_id|", "|eom|", "|end_of_msg|", "|end|", "|call|", "|return|", "|start|", "|channel|",
	"|message|", "|constrain|", "|python_tag|", "|python_start|", "|python_end|", "|end_of_sentence|", "|begin_of_sentence|", "|end_of_turn|", "|eos|",
	"|tool_calls_section_begin|", "|tool_call_section_begin|", "|tool_calls_section_end|", "|tool_call_section_end|", "|tool_call_begin|", "|tool_call_end|",
	"|tool_call_argument_begin|", "|tool_calls_begin|", "|tool_calls_end|", "|tool_sep|", "|close|", "|open|", "|sep|", "|tool_call_start|", "|plugin|",
	"|action_start|", "|action_end|", "/s", "end_of_turn", "start_of_turn", "channel|", "tool_call|", "|END_OF_TURN_TOKEN|", "|START_RESPONSE|", "|END_RESPONSE|")

func set(names ...string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[n] = true
	}
	return m
}
