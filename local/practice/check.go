package practice

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"interpreter/local/chat"
)

// probe is the tool by which a request is known as a live tool check. The check is answered by rule and takes no
// place in the script.
const probe = "probe_sum"

// spoken reports whether a request is the check of a harness that speaks in text, and answers it: with the command of
// the script, then with the code that its result names. A script that does not say how its command would be written
// refuses: its first reply is meant for the work, and the form of the harness is not told by the request.
func (p *player) spoken(req chat.Request) (Reply, bool) {
	if len(req.Tools) > 0 || len(req.Messages) == 0 {
		return Reply{}, false
	}
	switch asked := req.Messages[len(req.Messages)-1].Text; {
	case strings.HasSuffix(asked, spokenCommand) && p.script.CheckFail != "":
		return Reply{Steps: []Step{{Kind: Say, Text: p.script.CheckFail}}}, true
	case strings.HasSuffix(asked, spokenCommand) && p.script.CheckSpoken == "":
		return Reply{Status: http.StatusBadRequest, StatusText: speechless}, true
	case strings.HasSuffix(asked, spokenCommand):
		return Reply{Steps: []Step{{Kind: Say, Text: p.script.CheckSpoken}}}, true
	case strings.Contains(asked, spokenResult):
		return Reply{Steps: []Step{{Kind: Say, Text: receipt(code.FindString(asked))}}}, true
	}
	return Reply{}, false
}

const (
	spokenCommand = "echo 17+25=$((17+25))"
	spokenResult  = "17+25=42, filed under"
	speechless    = "practice: this script needs `check spoken <<END …` for a harness that speaks in text; see interpreter help practice"
)

var code = regexp.MustCompile(`QX-\d+Z`)

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

// check answers a tool check: a call for the sum, after its result the receipt in it, a call that writes the text asked
// for, and a plain answer to a question that needs no tool.
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
	call := chat.Call{Name: probe}
	found := number.FindAllString(asked, 3)
	switch _, text, _ := strings.Cut(asked, "\n"); {
	case strings.HasPrefix(asked, writing):
		call.Name, call.Args = probeWrite, filed(text)
	case len(found) == 0 && !strings.Contains(asked, probe):
		return Reply{Steps: []Step{{Kind: Say, Text: plainAnswer}}}
	default:
		a, b := "17", "25"
		if len(found) == 2 {
			a, b = trimmed(found[0]), trimmed(found[1])
		}
		call.Args = json.RawMessage(fmt.Sprintf(`{"a":%s,"b":%s}`, a, b))
	}
	if p.script.CheckLeak {
		return Reply{Steps: []Step{{Kind: Raw, Text: hermes(call.Name, string(call.Args))}}}
	}
	return Reply{Steps: []Step{{Kind: Call, Call: call}}}
}

// How a check asks beside the sum. Weights know no text but the one below; the server takes it from the question.
const (
	probeWrite  = "probe_write"
	writing     = "Use the probe_write tool"
	plain       = "Which day"
	plainAnswer = "Tuesday."
	payload     = "say \"hi\" to 'them'\nif a < b && c > d { path = \"C:\\temp\" }\n</parameter> is not the end"
)

func filed(text string) json.RawMessage {
	return encode(struct {
		Path string `json:"path"`
		Text string `json:"text"`
	}{"probe.txt", text})
}

// trimmed takes off zeros that JSON does not allow before a number.
func trimmed(digits string) string {
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	return digits
}

func receipt(result string) string { return "The receipt is " + result + "." }
