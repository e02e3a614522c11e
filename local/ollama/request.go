package ollama

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"strconv"

	"interpreter/local"
	"interpreter/local/chat"
)

// encode writes the body of a chat call by hand, for two reasons: arguments of earlier calls must keep the bytes that
// the model wrote, and the messages of one request must be the first bytes of those of the next. The fields of
// chat.Request.Extra have no place on this wire.
func (m *model) encode(req chat.Request) []byte {
	body, _ := m.compose(req)
	return body
}

// compose is encode, and says where in the body the messages are.
func (m *model) compose(req chat.Request) (body []byte, messages span) {
	b := []byte(`{"model":`)
	b = local.AppendJSON(b, m.info.Name)
	b = append(b, `,"messages":[`...)
	messages.from = len(b)
	for i, message := range local.OneSystem(req.Messages) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendMessage(b, message)
	}
	messages.to = len(b)
	b = append(b, ']')
	if len(req.Tools) > 0 {
		b = append(b, `,"tools":[`...)
		for i, tool := range req.Tools {
			if i > 0 {
				b = append(b, ',')
			}
			b = local.AppendTool(b, tool)
		}
		b = append(b, ']')
	}
	if think := effort(m.info, req.Effort); think != nil {
		b = append(b, `,"think":`...)
		b = local.AppendJSON(b, think)
	}
	if len(req.Format) > 0 && json.Valid(req.Format) {
		b = append(append(b, `,"format":`...), req.Format...)
	}
	b = append(b, `,"options":`...)
	b = local.AppendJSON(b, m.options(req, len(b)))
	b = append(b, `,"keep_alive":`...)
	b = local.AppendJSON(b, m.provider.options.KeepAlive)
	b = append(b, `,"stream":true,"truncate":false`...)
	if !m.how.Adopt {
		b = append(b, `,"shift":false`...)
	}
	return append(b, '}'), messages
}

// options puts together sampling and load-time options; a map is written in the order of its keys. The window is the
// one that was loaded, whatever else is said: another number would load the model again. So would any load-time option
// beside it of a model that another program has loaded, and a word on shifting; there, the answer is bounded instead,
// so that it ends before the server would begin to drop what it has read. size is the bytes of the body before them.
func (m *model) options(req chat.Request, size int) map[string]any {
	all := maps.Clone(req.Options)
	if all == nil {
		all = map[string]any{}
	}
	for _, name := range loadTime {
		delete(all, name)
	}
	if !m.how.Adopt {
		maps.Copy(all, m.provider.options.Load)
		if m.how.Batch > 0 {
			all["num_batch"] = m.how.Batch
		}
		if m.how.OnCPU {
			all["num_gpu"] = 0
		}
	}
	delete(all, "num_ctx")
	if window := m.window; window > 0 {
		all["num_ctx"] = window
	} else if req.Window > 0 {
		all["num_ctx"] = req.Window
	}
	if req.Output > 0 {
		all["num_predict"] = req.Output
	}
	if m.how.Adopt && len(req.Messages) > 0 {
		most := m.meter.room(m.window, size, images(req))
		if asked, ok := all["num_predict"].(int); !ok || asked <= 0 || asked > most {
			all["num_predict"] = most
		}
	}
	return all
}

// loadTime are the options of the API whose change loads a model again. A harness has no say in them.
var loadTime = [...]string{"num_ctx", "num_batch", "num_gpu", "main_gpu", "use_mmap", "num_thread", "draft_num_predict"}

func appendMessage(b []byte, m chat.Message) []byte {
	text := m.Text
	if m.Result != nil {
		text = m.Result.Text
	}
	b = append(b, `{"role":`...)
	b = local.AppendJSON(b, string(m.Role))
	b = append(b, `,"content":`...)
	b = local.AppendJSON(b, text)
	if m.Thinking != "" {
		b = append(b, `,"thinking":`...)
		b = local.AppendJSON(b, m.Thinking)
	}
	if len(m.Images) > 0 {
		b = append(b, `,"images":[`...)
		for i, image := range m.Images {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, '"')
			b = base64.StdEncoding.AppendEncode(b, image.Data)
			b = append(b, '"')
		}
		b = append(b, ']')
	}
	if len(m.Calls) > 0 {
		b = append(b, `,"tool_calls":[`...)
		for i, call := range m.Calls {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCall(b, i, call)
		}
		b = append(b, ']')
	}
	if m.Result != nil {
		b = append(b, `,"tool_name":`...)
		b = local.AppendJSON(b, m.Result.Name)
		b = append(b, `,"tool_call_id":`...)
		b = local.AppendJSON(b, m.Result.CallID)
	}
	return append(b, '}')
}

func appendCall(b []byte, index int, call chat.Call) []byte {
	b = append(b, `{"id":`...)
	b = local.AppendJSON(b, call.ID)
	b = append(b, `,"function":{"index":`...)
	b = strconv.AppendInt(b, int64(index), 10)
	b = append(b, `,"name":`...)
	b = local.AppendJSON(b, call.Name)
	b = append(b, `,"arguments":`...)
	if local.IsObject(call.Args) {
		b = append(b, call.Args...)
	} else {
		b = append(b, "{}"...) // the server takes nothing but an object here
	}
	return append(b, "}}"...)
}

// effort maps a reasoning effort to "think": nothing, a boolean, or for a model whose template knows levels one of those.
// A model that is known not to think is told nothing, since the server refuses the field then.
func effort(m local.ModelInfo, effort string) any {
	if effort == "" || len(m.Capabilities) > 0 && !m.Can("thinking") {
		return nil
	}
	if m.ThinksByLevel() {
		switch effort {
		case "none", "minimal", "low":
			return "low"
		case "high", "xhigh", "max", "ultra":
			return "high"
		}
		return "medium"
	}
	return effort != "none"
}
