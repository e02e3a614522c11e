package harness

import (
	"bytes"
	"encoding/json"
	"strings"

	"interpreter/local/chat"
)

// Spread takes apart calls of the tool by which some models ask for several calls at once: {"tool_uses": [{"recipient_name":
// …, "parameters": {…}}, …]}. Each call in it stands for itself then, in its place. One that cannot be taken apart whole
// stays as it is.
func Spread(calls []chat.Call) []chat.Call {
	for i := range calls {
		inside := within(calls[i])
		if inside == nil {
			continue
		}
		out := append([]chat.Call(nil), calls[:i]...)
		return append(append(out, inside...), Spread(calls[i+1:])...)
	}
	return calls
}

// within are the calls inside a call of several; nil of any other.
func within(c chat.Call) []chat.Call {
	switch undotted(c.Name) {
	case "multi_tool_use.parallel", "multi_tool_use_parallel", "multi_tool_use", "batch":
	default:
		return nil
	}
	var all struct {
		Uses  []map[string]json.RawMessage `json:"tool_uses"`
		Calls []map[string]json.RawMessage `json:"tool_calls"` // of batch
	}
	if c.Raw != "" || json.Unmarshal(c.Args, &all) != nil {
		return nil
	}
	calls := make([]chat.Call, 0, len(all.Uses)+len(all.Calls))
	for _, use := range append(all.Uses, all.Calls...) {
		var name string
		for _, key := range []string{"recipient_name", "tool_name", "name", "tool"} {
			if json.Unmarshal(use[key], &name) == nil && name != "" {
				break
			}
		}
		if name = undotted(name); name == "" {
			return nil
		}
		args := json.RawMessage("{}")
		for _, key := range []string{"parameters", "input", "args", "arguments"} {
			if value := bytes.TrimSpace(use[key]); len(value) > 0 && string(value) != "null" {
				args = value
				break
			}
		}
		if args[0] == '"' {
			args = inner(args) // encoded once more than needed
		}
		if _, ok := object(args); !ok {
			return nil
		}
		call := chat.Call{Name: name, Args: args}
		if len(calls) == 0 {
			call.ID = c.ID
		}
		calls = append(calls, call)
	}
	if len(calls) == 0 {
		return nil
	}
	return calls
}

// undotted is a name without the namespace that models put before it.
func undotted(name string) string {
	name = strings.TrimSpace(name)
	for _, space := range []string{"functions.", "tools.", "tool."} {
		name = strings.TrimPrefix(name, space)
	}
	return name
}
