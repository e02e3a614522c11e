package practice

import (
	"encoding/json"
	"fmt"
	"regexp"

	"interpreter/local/chat"
)

// probe is the tool by which a request is known as a live tool check. The check is answered by rule and takes no
// place in the script.
const probe = "probe_sum"

// probed reports whether a request is a tool check.
func probed(req chat.Request) bool {
	for _, t := range req.Tools {
		if t.Name == probe {
			return true
		}
	}
	return false
}

var number = regexp.MustCompile(`\d+`)

// check answers a tool check: a call for the sum, and after its result the receipt in it.
func (p *player) check(req chat.Request) Reply {
	if p.script.CheckFail != "" {
		return Reply{Steps: []Step{{Kind: Say, Text: p.script.CheckFail}}}
	}
	asked := ""
	for i := len(req.Messages) - 1; i >= 0; i-- {
		m := req.Messages[i]
		if m.Result != nil {
			return Reply{Steps: []Step{{Kind: Say, Text: receipt(m.Result.Text)}}}
		}
		if m.Role == chat.User {
			asked = m.Text
			break
		}
	}
	a, b := "17", "25"
	if found := number.FindAllString(asked, 3); len(found) == 2 {
		a, b = trimmed(found[0]), trimmed(found[1])
	}
	args := json.RawMessage(fmt.Sprintf(`{"a":%s,"b":%s}`, a, b))
	return Reply{Steps: []Step{{Kind: Call, Call: chat.Call{Name: probe, Args: args}}}}
}

// trimmed takes off zeros that JSON does not allow before a number.
func trimmed(digits string) string {
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	return digits
}

func receipt(result string) string { return "The receipt is " + result + "." }
