package responses

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/openai"
)

// What the items of a request can do without, where a server does not know it.
const (
	sealed   = "encrypted" // thoughts in the form that the server gave
	thoughts = "reasoning" // thoughts at all
	strict   = "strict"    // whether a call must keep to its schema
)

var parts = []string{"encrypted_content", sealed, thoughts, strict}

// encode writes the body of a request by hand, for two reasons: arguments of earlier calls keep the bytes that the
// model wrote, and a longer conversation begins with the bytes of the shorter one. What can change from request to
// request therefore stands behind the input.
func (m *model) encode(req chat.Request) ([]byte, *openai.List) {
	list := m.members.List()
	b := []byte(`{"model":`)
	b = local.AppendJSON(b, m.id)
	instructions, said := opening(req.Messages)
	if instructions != "" {
		b = append(b, `,"instructions":`...)
		b = local.AppendJSON(b, instructions)
	}
	b = append(b, `,"input":[`...)
	w := writer{b: b, first: len(b), list: list, vendor: m.provider.vendor}
	w.write(said)
	b = append(w.b, ']')
	if len(req.Tools) > 0 {
		b = append(b, `,"tools":[`...)
		for i, tool := range req.Tools {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendTool(b, tool, list.Holds(strict))
		}
		b = append(b, ']')
	}
	m.add(list, req)
	return append(list.Append(b), '}'), list
}

// opening parts the system messages that open a conversation, which are one text on this wire, from the rest.
func opening(messages []chat.Message) (instructions string, said []chat.Message) {
	var all []string
	at := 0
	for ; at < len(messages) && isSystem(messages[at].Role); at++ {
		if messages[at].Text != "" {
			all = append(all, messages[at].Text)
		}
	}
	return strings.Join(all, "\n\n"), messages[at:]
}

func isSystem(r chat.Role) bool { return r == chat.System || r == "developer" }

// writer writes the items of a conversation, one behind the other.
type writer struct {
	b      []byte
	first  int // where they begin
	list   *openai.List
	vendor bool
	pairs  local.Pairs
	seen   []chat.Image // pictures among results, to be shown once all results are there
}

// write writes a conversation. A later system message is said by the user, and so are the pictures of results: not
// every server takes them elsewhere. Everything depends on what came before and on nothing that comes after.
func (w *writer) write(messages []chat.Message) {
	for _, m := range messages {
		if m.Result == nil && m.Role != chat.Tool {
			w.show()
		}
		switch {
		case m.Result != nil:
			w.item(`{"type":"function_call_output","call_id":`, w.pairs.Result(m.Result.CallID))
			w.member(`,"output":`, m.Result.Text)
			w.b = append(w.b, '}')
			w.seen = append(w.seen, m.Images...)
		case m.Role == chat.Tool: // of no call
		case m.Role == chat.Assistant:
			w.assistant(m)
		default:
			w.user(m.Text, m.Images)
		}
	}
	w.show()
}

func (w *writer) show() {
	if len(w.seen) > 0 {
		w.user("", w.seen)
		w.seen = nil
	}
}

// item begins an item with its first member.
func (w *writer) item(head, value string) {
	if len(w.b) > w.first {
		w.b = append(w.b, ',')
	}
	w.member(head, value)
}

func (w *writer) member(head, value string) {
	w.b = local.AppendJSON(append(w.b, head...), value)
}

func (w *writer) user(text string, images []chat.Image) {
	if text == "" && len(images) == 0 {
		return
	}
	w.item(`{"type":"message","role":`, "user")
	w.b = append(w.b, `,"content":[`...)
	if text != "" {
		w.member(`{"type":"input_text","text":`, text)
		w.b = append(w.b, '}')
	}
	for i, image := range images {
		if i > 0 || text != "" {
			w.b = append(w.b, ',')
		}
		w.member(`{"type":"input_image","detail":"auto","image_url":`, "data:"+image.MIME+";base64,"+base64.StdEncoding.EncodeToString(image.Data))
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, "]}"...)
}

func (w *writer) assistant(m chat.Message) {
	w.reasoning(m)
	if m.Text != "" {
		w.item(`{"type":"message","role":`, "assistant")
		w.member(`,"content":[{"type":"output_text","text":`, m.Text)
		w.b = append(w.b, `,"annotations":[]}],"status":"completed"}`...)
	}
	for _, call := range w.pairs.Calls(m.Calls) {
		args, _ := local.Arguments(call.Args)
		w.item(`{"type":"function_call","call_id":`, call.ID)
		w.member(`,"name":`, call.Name)
		w.member(`,"arguments":`, string(args))
		w.b = append(w.b, '}')
	}
}

// reasoning gives thoughts back. Servers read them in three places, each its own: the summary, the content, or the
// sealed form that the server gave beside them. The wire's own vendor takes only what it sealed.
func (w *writer) reasoning(m chat.Message) {
	seals := w.list.Holds(sealed) && w.list.Holds("encrypted_content")
	switch {
	case !w.list.Holds(thoughts), m.Thinking == "" && !w.vendor, w.vendor && (m.Seal == "" || !seals):
		return
	case m.Thinking == "" && m.Seal == "":
		return
	}
	w.item(`{"type":`, "reasoning")
	w.b = append(w.b, `,"summary":[`...)
	if m.Thinking != "" {
		w.member(`{"type":"summary_text","text":`, m.Thinking)
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, ']')
	if !w.vendor {
		w.member(`,"content":[{"type":"reasoning_text","text":`, m.Thinking)
		w.b = append(w.b, "}]"...)
	}
	if m.Seal != "" && seals {
		w.member(`,"encrypted_content":`, m.Seal)
	}
	w.b = append(w.b, '}')
}

// appendTool writes a tool, its schema in the bytes it came in. Where nobody says otherwise, this wire holds calls to
// their schema strictly, which few schemas are made for.
func appendTool(b []byte, tool chat.Spec, strictly bool) []byte {
	b = append(b, `{"type":"function","name":`...)
	b = local.AppendJSON(b, tool.Name)
	b = append(b, `,"description":`...)
	b = local.AppendJSON(b, tool.Description)
	if strictly {
		b = append(b, `,"strict":false`...)
	}
	b = append(b, `,"parameters":`...)
	if local.IsObject(tool.Parameters) {
		b = append(b, tool.Parameters...)
	} else {
		b = append(b, `{"type":"object","properties":{}}`...)
	}
	return append(b, '}')
}

// sampling are the options that servers know on this wire, in the order they are written in.
var sampling = []string{
	"temperature", "top_p", "top_k", "min_p", "typical_p", "repeat_penalty", "repeat_last_n", "presence_penalty", "frequency_penalty", "seed",
}

// ours are members that are nobody else's to change.
var ours = []string{"model", "input", "instructions", "tools", "stream", "stream_options", "store", "previous_response_id", "conversation", "background"}

// add adds the members beside model, instructions, input and tools.
func (m *model) add(list *openai.List, req chat.Request) {
	if len(req.Tools) > 0 {
		list.Add("parallel_tool_calls", true)
	}
	for _, name := range sampling {
		if value, ok := req.Options[name]; ok && value != nil {
			list.Add(name, value)
		}
	}
	if n := output(req); n > 0 {
		list.Add("max_output_tokens", n)
	}
	if effort := m.effort(req.Effort); effort != "" {
		list.Add("reasoning", json.RawMessage(fmt.Sprintf(`{"effort":%q}`, effort)))
	}
	if len(req.Format) > 0 && json.Valid(req.Format) {
		schema := append([]byte(`{"format":{"type":"json_schema","name":"answer","strict":true,"schema":`), req.Format...)
		list.Add("text", json.RawMessage(append(schema, "}}"...)))
	}
	for _, name := range slices.Sorted(maps.Keys(req.Extra)) {
		if !slices.Contains(ours, name) {
			list.Add(name, req.Extra[name])
		}
	}
	if !m.provider.here { // servers of one's own give what they have without being asked
		list.Add("include", json.RawMessage(`["reasoning.encrypted_content"]`))
	}
	list.Add("store", false)
	list.Add("stream", true)
}

// output is the number of tokens that an answer may have, 0 when nobody says.
func output(req chat.Request) int {
	if n, ok := req.Options["num_predict"].(int); ok && n > 0 && req.Output <= 0 {
		return n
	}
	return max(req.Output, 0)
}

// effort is a reasoning effort in the words that all servers know. A model that is known not to think is told nothing.
func (m *model) effort(effort string) string {
	if effort == "" || len(m.info.Capabilities) > 0 && !m.info.Can("thinking") {
		return ""
	}
	switch effort {
	case "minimal":
		return "low"
	case "xhigh", "max", "ultra":
		return "high"
	}
	return effort
}
