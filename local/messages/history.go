package messages

import (
	"encoding/base64"
	"strings"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/local/openai"
)

// message is one message as the wire has it: whose it is, and its blocks, each written already.
type message struct {
	role   string
	blocks [][]byte
}

// conversation is all of them.
type conversation []message

// filler stands where the wire wants a user to have spoken first.
const filler = "Begin."

// opening parts the system messages that open a conversation from the rest: they are no messages on this wire.
func opening(messages []chat.Message) (system []string, said []chat.Message) {
	at := 0
	for ; at < len(messages) && isSystem(messages[at].Role); at++ {
		if messages[at].Text != "" {
			system = append(system, messages[at].Text)
		}
	}
	return system, messages[at:]
}

func isSystem(r chat.Role) bool { return r == chat.System || r == "developer" }

// arrange writes a conversation as the turns of this wire: a user and an assistant speak one after the other, so what
// one of them says in several messages becomes the blocks of one. A later system message is said by the user, and a
// result is a block of theirs. Everything depends on what came before and on nothing that comes after, so a longer
// conversation begins with the same blocks. list knows what the server takes.
func (m *model) arrange(messages []chat.Message, list *openai.List) conversation {
	a := arranger{thoughts: list.Holds(thoughts), unsealed: !m.provider.vendor, errors: list.Holds(isError)}
	if m.provider.vendor {
		a.pairs.Form = plainWord
	}
	for _, said := range messages {
		switch {
		case said.Result != nil:
			a.put("user", a.result(said))
		case said.Role == chat.Tool: // of no call
		case said.Role == chat.Assistant:
			a.put("assistant", a.assistant(said)...)
		default:
			a.put("user", a.user(said)...)
		}
	}
	return a.out
}

type arranger struct {
	out      conversation
	pairs    local.Pairs
	thoughts bool // are given back
	unsealed bool // without a signature too
	errors   bool // are marked
}

// put adds blocks to the last message when the same one goes on speaking.
func (a *arranger) put(role string, blocks ...[]byte) {
	if len(blocks) == 0 {
		return
	}
	if len(a.out) == 0 && role == "assistant" {
		a.out = append(a.out, message{"user", [][]byte{appendText(nil, filler)}})
	}
	if last := len(a.out) - 1; last >= 0 && a.out[last].role == role {
		a.out[last].blocks = append(a.out[last].blocks, blocks...)
		return
	}
	a.out = append(a.out, message{role, blocks})
}

func (a *arranger) user(m chat.Message) (blocks [][]byte) {
	if strings.TrimSpace(m.Text) != "" { // the wire refuses a text of nothing
		blocks = append(blocks, appendText(nil, m.Text))
	}
	for _, image := range m.Images {
		blocks = append(blocks, appendImage(nil, image))
	}
	return blocks
}

func (a *arranger) assistant(m chat.Message) (blocks [][]byte) {
	if a.thoughts && m.Thinking != "" && (m.Seal != "" || a.unsealed) {
		b := append([]byte(`{"type":"thinking","thinking":`), local.AppendJSON(nil, m.Thinking)...)
		b = append(b, `,"signature":`...)
		blocks = append(blocks, append(local.AppendJSON(b, m.Seal), '}'))
	}
	if strings.TrimSpace(m.Text) != "" {
		blocks = append(blocks, appendText(nil, m.Text))
	}
	for _, call := range a.pairs.Calls(m.Calls) {
		args, _ := local.Arguments(call.Args)
		b := append([]byte(`{"type":"tool_use","id":`), local.AppendJSON(nil, call.ID)...)
		b = append(b, `,"name":`...)
		b = local.AppendJSON(b, call.Name)
		b = append(b, `,"input":`...)
		blocks = append(blocks, append(append(b, args...), '}'))
	}
	return blocks
}

// result writes what answers a call. With pictures it is a list of blocks.
func (a *arranger) result(m chat.Message) []byte {
	b := append([]byte(`{"type":"tool_result","tool_use_id":`), local.AppendJSON(nil, a.pairs.Result(m.Result.CallID))...)
	b = append(b, `,"content":`...)
	if len(m.Images) == 0 {
		b = local.AppendJSON(b, m.Result.Text)
	} else {
		b = append(b, '[')
		if m.Result.Text != "" {
			b = append(appendText(b, m.Result.Text), ',')
		}
		for i, image := range m.Images {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendImage(b, image)
		}
		b = append(b, ']')
	}
	if m.Result.Failed && a.errors {
		b = append(b, `,"is_error":true`...)
	}
	return append(b, '}')
}

func appendText(b []byte, text string) []byte {
	b = append(b, `{"type":"text","text":`...)
	return append(local.AppendJSON(b, text), '}')
}

func appendImage(b []byte, image chat.Image) []byte {
	b = append(b, `{"type":"image","source":{"type":"base64","media_type":`...)
	b = local.AppendJSON(b, image.MIME)
	b = append(b, `,"data":`...)
	b = local.AppendJSON(b, base64.StdEncoding.EncodeToString(image.Data))
	return append(b, "}}"...)
}

// plainWord is an id in the letters that the wire's vendor allows.
func plainWord(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, id)
}

func (c conversation) append(b []byte) []byte {
	for i, m := range c {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"role":`...)
		b = local.AppendJSON(b, m.role)
		b = append(b, `,"content":[`...)
		for n, block := range m.blocks {
			if n > 0 {
				b = append(b, ',')
			}
			b = append(b, block...)
		}
		b = append(b, "]}"...)
	}
	return b
}
