package textcall

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"interpreter/local/chat"
)

const prose = "The parser reads each line once, and what it finds is kept in order (see `scan.go`, lines 40-80).\nIt returns an error when \"nothing\" fits; a < b && c > d holds for all of them.\n\n- one\n- two\n\n"

// adversarial are pieces that cost too much when repeated, if anything does.
var adversarial = []string{
	"<tool_call>", "<tool_call>{\"a\":", "<tool_call>{x}", "<tool_call>{\"name\":\"read_file\",\"arguments\":{\"a\":\"", "{\"a\":\n", "{", "{\"name\":", "[{", "[", "[[", "<function=read_file>",
	"<function=read_file><parameter=file_path>", "```\n", "```json\n{\"a\":\n", "~~~\n", "`", "`<tool_call>`", "<function=read_file>{x}", "</parameter> ", "</arg_key>", "<arg_key>", "read_file</arg_key>",
	"<function=write_file>\n<parameter=content>\n<parameter=file_path>", "<|tool_call_begin|>", "<|tool_calls_section_begin|>", "<｜tool▁sep｜>", "<|channel|>analysis<|message|>", "<|channel|>commentary to=a<|message|>{",
	"<|start|>assistant", "<|tool_call>call:read_file{", "<|tool_call>call:read_file{a:<|\"|>", "<|channel>", "[TOOL_CALLS]", "[TOOL_CALLS]read_file[ARGS]{\"a\":", "read_file[ARGS]{\n", "read_file(\n", "read_file({\"a\":\n", "<!--", "<!-- x ", "</think>\n", "</think>", "<think>", "\n<think>",
	"Action: read_file\nAction Input: {\n", "<invoke name=\"read_file\">", "<read_file><file_path>", "<read_file>", "<|open|>think<|sep|>", "<|open|>call tool=\"a\"<|sep|>", "tool_calls: [", "functools[", "[tool_call: read_file {", "\"", "'", "<", "<|", "<｜", "|", "assistantfinal", "{\"{\"", "\"\"\"", "{'a':'",
	"{\"name\":\"read_file\",\"arguments\":{\"file_path\":\"a\"}}\n", "<tool_call>{\"name\":\"read_file\",\"arguments\":{\"file_path\":\"a\"}}</tool_call>\n", " ", "\n", "<tool_call>\n{\"name\":\"a\",\"arguments\":\"{\\\"", "print(", "analysis",
}

// quickest is the time something takes on a machine that does nothing else: when it took long, of three tries the best.
func quickest(do func()) time.Duration {
	best := time.Hour
	for range 3 {
		start := time.Now()
		do()
		if best = min(best, time.Since(start)); best < 100*time.Millisecond {
			break
		}
	}
	return best
}

func readsAll(chat.Call) bool { return true }

// Half a megabyte of each takes a time that grows with the text and no faster: eight times as much takes less than thirty
// times as long, and never more than a moment.
func TestLinear(t *testing.T) {
	tools := caseTools(t)
	took := func(text string) time.Duration {
		return quickest(func() {
			_, _ = Read(Answer{Message: chat.Message{Text: text, Thinking: text}, Finish: chat.Stopped, Tools: tools, Sure: readsAll})
		})
	}
	for _, piece := range adversarial {
		for _, before := range []string{"", "analysisX", "<think>"} {
			size := 1 << 19
			if before != "" {
				size = 1 << 17
			}
			text := before + strings.Repeat(piece, size/len(piece))
			part := took(text[:size/8])
			if testing.Verbose() {
				t.Logf("%q behind %q: %v for an eighth", piece, before, part)
			}
			if part > 300*time.Millisecond {
				t.Errorf("%q behind %q: %v for an eighth", piece, before, part)
				continue
			}
			if whole := took(text); whole > 2*time.Second || whole > 30*max(part, 20*time.Millisecond) {
				t.Errorf("%q behind %q: %v for all, %v for an eighth", piece, before, whole, part)
			}
		}
	}
}

// A screen looks at each byte a bounded number of times, however small the pieces.
func TestScreenIsLinear(t *testing.T) {
	tools := caseTools(t)
	for _, piece := range append([]string{prose}, adversarial...) {
		text := strings.Repeat(piece, 1<<17/len(piece))
		took := quickest(func() {
			s := NewScreen(tools)
			for at := 0; at < len(text); at += 8 {
				s.Show(text[at:min(at+8, len(text))])
			}
			s.Rest()
		})
		if took > 2*time.Second {
			t.Errorf("%q repeated: %v", piece, took)
		}
	}
}

func benchmark(b *testing.B, text string) {
	tools := caseTools(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		_, _ = Read(Answer{Message: chat.Message{Text: text}, Finish: chat.Stopped, Tools: tools, Sure: readsAll})
	}
}

func repeated(piece string) string { return strings.Repeat(piece, 1+(1<<20)/len(piece)) }

func BenchmarkProse(b *testing.B) { benchmark(b, repeated(prose)) }

func BenchmarkCode(b *testing.B) {
	benchmark(b, repeated("```go\nfunc f(a []int) map[string]any {\n\tif x < y {\n\t\treturn map[string]any{\"name\": a[0]}\n\t}\n}\n```\nAnd then:\n"))
}

// A file of a megabyte, written by one call.
func BenchmarkCalls(b *testing.B) {
	code := repeated("func f(a []int) map[string]any {\n\tif x < y {\n\t\treturn nil // <b>\n\t}\n}\n")
	for name, text := range map[string]string{
		"XML":     "I write it.\n<tool_call>\n<function=write_file>\n<parameter=file_path>\na.go\n</parameter>\n<parameter=content>\n" + code + "\n</parameter>\n</function>\n</tool_call>",
		"Hermes":  "I write it.\n<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"file_path\": \"a.go\", \"content\": " + quote(code) + "}}\n</tool_call>",
		"GLM":     "<tool_call>write_file\n<arg_key>file_path</arg_key>\n<arg_value>a.go</arg_value>\n<arg_key>content</arg_key>\n<arg_value>" + code + "</arg_value>\n</tool_call>",
		"bare":    "{\"name\": \"write_file\", \"arguments\": {\"file_path\": \"a.go\", \"content\": " + quote(code) + "}}",
		"Harmony": "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.write_file <|constrain|>json<|message|>{\"file_path\": \"a.go\", \"content\": " + quote(code) + "}<|call|>",
		"Kimi":    "<|tool_calls_section_begin|><|tool_call_begin|>functions.write_file:0<|tool_call_argument_begin|>{\"file_path\": \"a.go\", \"content\": " + quote(code) + "}<|tool_call_end|><|tool_calls_section_end|>",
		"mixed":   strings.Repeat(prose, 30) + "<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"file_path\": \"a.go\"}}\n</tool_call>\n" + strings.Repeat(prose, 30),
	} {
		b.Run(name, func(b *testing.B) { benchmark(b, text) })
	}
}

func BenchmarkAdversarial(b *testing.B) {
	for i, piece := range []string{"<tool_call>{\"a\":", "{\"name\":\n", "```\n", "`", "{", "<function=read_file><parameter=file_path>", "<|tool_call_begin|>"} {
		b.Run(fmt.Sprint(i, " ", strings.TrimSpace(piece)), func(b *testing.B) { benchmark(b, repeated(piece)) })
	}
}

func BenchmarkScreen(b *testing.B) {
	text := repeated(prose)
	tools := caseTools(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s := NewScreen(tools)
		for at := 0; at < len(text); at += 16 {
			s.Show(text[at:min(at+16, len(text))])
		}
		s.Rest()
	}
}
