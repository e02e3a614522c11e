package ollama

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"interpreter/local"
	"interpreter/local/chat"
)

// encode writes the body of a chat call by hand, for two reasons: arguments of earlier calls must keep the bytes that
// the model wrote, and the messages of one request must be the first bytes of those of the next. The fields of
// chat.Request.Extra have no place on this wire.
func (m *model) encode(req chat.Request) []byte {
	b := []byte(`{"model":`)
	b = appendJSON(b, m.info.Name)
	b = append(b, `,"messages":[`...)
	for i, message := range req.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendMessage(b, message)
	}
	b = append(b, ']')
	if len(req.Tools) > 0 {
		b = append(b, `,"tools":[`...)
		for i, tool := range req.Tools {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendTool(b, tool)
		}
		b = append(b, ']')
	}
	if think := effort(m.info, req.Effort); think != nil {
		b = append(b, `,"think":`...)
		b = appendJSON(b, think)
	}
	if len(req.Format) > 0 && json.Valid(req.Format) {
		b = append(append(b, `,"format":`...), req.Format...)
	}
	b = append(b, `,"options":`...)
	b = appendJSON(b, m.options(req))
	b = append(b, `,"keep_alive":`...)
	b = appendJSON(b, m.provider.options.KeepAlive)
	return append(b, `,"stream":true,"truncate":false,"shift":false}`...)
}

// options puts together sampling and load-time options; a map is written in the order of its keys. The window is the
// one that was loaded, whatever else is said: another number would load the model again.
func (m *model) options(req chat.Request) map[string]any {
	all := maps.Clone(req.Options)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, m.provider.options.Load)
	delete(all, "num_ctx")
	if window := m.window; window > 0 {
		all["num_ctx"] = window
	} else if req.Window > 0 {
		all["num_ctx"] = req.Window
	}
	if req.Output > 0 {
		all["num_predict"] = req.Output
	}
	return all
}

func appendMessage(b []byte, m chat.Message) []byte {
	text := m.Text
	if m.Result != nil {
		text = m.Result.Text
	}
	b = append(b, `{"role":`...)
	b = appendJSON(b, string(m.Role))
	b = append(b, `,"content":`...)
	b = appendJSON(b, text)
	if m.Thinking != "" {
		b = append(b, `,"thinking":`...)
		b = appendJSON(b, m.Thinking)
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
		b = appendJSON(b, m.Result.Name)
		b = append(b, `,"tool_call_id":`...)
		b = appendJSON(b, m.Result.CallID)
	}
	return append(b, '}')
}

func appendCall(b []byte, index int, call chat.Call) []byte {
	b = append(b, `{"id":`...)
	b = appendJSON(b, call.ID)
	b = append(b, `,"function":{"index":`...)
	b = strconv.AppendInt(b, int64(index), 10)
	b = append(b, `,"name":`...)
	b = appendJSON(b, call.Name)
	b = append(b, `,"arguments":`...)
	if isObject(call.Args) {
		b = append(b, call.Args...)
	} else {
		b = append(b, "{}"...) // the server takes nothing but an object here
	}
	return append(b, "}}"...)
}

func appendTool(b []byte, tool chat.Spec) []byte {
	b = append(b, `{"type":"function","function":{"name":`...)
	b = appendJSON(b, tool.Name)
	b = append(b, `,"description":`...)
	b = appendJSON(b, tool.Description)
	b = append(b, `,"parameters":`...)
	if isObject(tool.Parameters) {
		b = append(b, tool.Parameters...)
	} else {
		b = append(b, `{"type":"object","properties":{}}`...)
	}
	return append(b, "}}"...)
}

func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) && json.Valid(raw)
}

// appendJSON writes a value without escaping <, > and &, which models read and write all the time.
func appendJSON(b []byte, value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return append(b, "null"...) // a NaN among the options
	}
	return append(b, bytes.TrimRight(out.Bytes(), "\n")...)
}

// effort maps a reasoning effort to "think": nothing, a boolean, or for an architecture that knows only levels one of
// those. A model that is known not to think is told nothing, since the server refuses the field then.
func effort(m local.ModelInfo, effort string) any {
	if effort == "" || len(m.Capabilities) > 0 && !m.Can("thinking") {
		return nil
	}
	if a := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(m.Architecture)); a == "gptoss" {
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
