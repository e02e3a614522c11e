package openai

import (
	"encoding/base64"
	"encoding/hex"
	"hash/fnv"
	"strings"

	"interpreter/local"
	"interpreter/local/chat"
)

// message is one message as the wire has it.
type message struct {
	role     string
	text     string
	thinking string
	images   []chat.Image
	calls    []chat.Call // with ids that occur once in a conversation
	callID   string
	name     string
}

// filler stands where a strict template wants the assistant to have spoken.
const filler = "Understood."

// arrange writes a conversation in the roles of this wire. System messages that open it become one, since strict
// templates know no second; a later one is said by the user, in its place. Ids of calls that were used before are
// rewritten, together with the result that answers each. Everything depends on what came before and on nothing that
// comes after, so a longer conversation begins with the same messages.
func (f form) arrange(messages []chat.Message) []message {
	a := arranger{form: f, pairs: local.Pairs{Form: f.short9}}
	at := 0
	var system []string
	for ; at < len(messages) && isSystem(messages[at].Role); at++ {
		if messages[at].Text != "" {
			system = append(system, messages[at].Text)
		}
	}
	opening := strings.Join(system, "\n\n")
	if opening != "" && !f.fold {
		a.put(message{role: "system", text: opening})
		opening = ""
	}
	for _, m := range messages[at:] {
		if m.Role != chat.Tool && m.Result == nil {
			a.show()
		}
		out := message{role: string(m.Role), text: m.Text, images: m.Images}
		switch {
		case m.Result != nil || m.Role == chat.Tool:
			out.role = "tool"
			if m.Result != nil {
				out.text, out.callID, out.name = m.Result.Text, a.pairs.Result(m.Result.CallID), m.Result.Name
			}
			a.seen, out.images = append(a.seen, out.images...), nil
		case m.Role == chat.Assistant:
			out.thinking, out.images, out.calls = m.Thinking, nil, a.pairs.Calls(m.Calls)
		default:
			out.role = "user"
		}
		if opening != "" {
			if out.role == "user" {
				out.text = opening + "\n\n" + out.text
			} else {
				a.put(message{role: "user", text: opening})
			}
			opening = ""
		}
		a.put(out)
	}
	a.show()
	if opening != "" {
		a.put(message{role: "user", text: opening})
	}
	return a.out
}

func isSystem(r chat.Role) bool { return r == chat.System || r == "developer" }

// arranger is the state of arrange.
type arranger struct {
	form
	out   []message
	pairs local.Pairs
	seen  []chat.Image // pictures among results, to be shown once all results are there
	spoke string       // whose turn it was last, for strict templates
}

func (a *arranger) put(m message) {
	if a.alternate {
		if m.role == "user" && a.spoke == "user" {
			a.out = append(a.out, message{role: "assistant", text: filler})
		}
		if m.role == "user" || m.role == "assistant" && len(m.calls) == 0 {
			a.spoke = m.role
		}
	}
	a.out = append(a.out, m)
}

// show gives the pictures of results to the model: on this wire only a user can show one.
func (a *arranger) show() {
	if len(a.seen) > 0 {
		a.put(message{role: "user", images: a.seen})
		a.seen = nil
	}
}

// short9 is an id of nine letters and digits where a template takes no other.
func (f form) short9(id string) string {
	if !f.short || len(id) == 9 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == "" {
		return id
	}
	sum := fnv.New64a()
	sum.Write([]byte(id))
	return hex.EncodeToString(sum.Sum(nil))[:9]
}

// append writes a message.
func (m message) append(b []byte, f form) []byte {
	b = append(b, `{"role":`...)
	b = local.AppendJSON(b, m.role)
	b = append(b, `,"content":`...)
	b = m.appendContent(b)
	if m.thinking != "" && f.thinking != "-" {
		b = append(b, ',')
		b = local.AppendJSON(b, f.thinking)
		b = append(b, ':')
		b = local.AppendJSON(b, m.thinking)
	}
	if len(m.calls) > 0 {
		b = append(b, `,"tool_calls":[`...)
		for i, call := range m.calls {
			if i > 0 {
				b = append(b, ',')
			}
			b = f.appendCall(b, call)
		}
		b = append(b, ']')
	}
	if m.role == "tool" {
		b = append(b, `,"tool_call_id":`...)
		b = local.AppendJSON(b, m.callID)
		if m.name != "" {
			b = append(b, `,"name":`...)
			b = local.AppendJSON(b, m.name)
		}
	}
	return append(b, '}')
}

// appendContent writes a text, or with pictures a list of parts.
func (m message) appendContent(b []byte) []byte {
	if len(m.images) == 0 {
		return local.AppendJSON(b, m.text)
	}
	b = append(b, '[')
	if m.text != "" {
		b = append(b, `{"type":"text","text":`...)
		b = local.AppendJSON(b, m.text)
		b = append(b, "},"...)
	}
	for i, image := range m.images {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"image_url","image_url":{"url":`...)
		b = local.AppendJSON(b, "data:"+image.MIME+";base64,"+base64.StdEncoding.EncodeToString(image.Data))
		b = append(b, "}}"...)
	}
	return append(b, ']')
}

// appendCall writes a call; its arguments are a text on this wire, with the bytes that the model wrote.
func (f form) appendCall(b []byte, call chat.Call) []byte {
	args := "{}"
	switch {
	case f.plain:
		args = string(local.PlainObject(call.Args))
	case local.IsObject(call.Args):
		args = string(call.Args)
	}
	b = append(b, `{"id":`...)
	b = local.AppendJSON(b, call.ID)
	b = append(b, `,"type":"function","function":{"name":`...)
	b = local.AppendJSON(b, call.Name)
	b = append(b, `,"arguments":`...)
	b = local.AppendJSON(b, args)
	return append(b, "}}"...)
}
