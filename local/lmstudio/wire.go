package lmstudio

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
)

// longest bounds an answer that is read whole.
const longest = 64 << 20

// answer is what a server sent back, whatever it is.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask makes a small request and reads the answer. An error means that there was none.
func (p *Provider) ask(ctx context.Context, limit time.Duration, method, path string, in any) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var body []byte
	if in != nil {
		body = local.AppendJSON(nil, in)
	}
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, bytes.NewReader(body))
	if err != nil {
		return answer{}, fmt.Errorf("ask LM Studio at %s: %w", p.base, err)
	}
	maps.Copy(req.Header, p.options.Header)
	if len(p.options.Query) > 0 {
		req.URL.RawQuery = url.Values(p.options.Query).Encode()
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := p.client.Do(req)
	if err != nil {
		return answer{}, p.transport(ctx, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, longest))
	if err != nil {
		return answer{}, p.transport(ctx, err)
	}
	return answer{res.StatusCode, res.Header, data}, nil
}

// tell makes a request that changes something and decodes its answer. A body with an error in it is one, whatever its
// status: LM Studio answers what it does not know with status 200.
func (p *Provider) tell(ctx context.Context, limit time.Duration, method, path, model string, in, out any) error {
	got, err := p.ask(ctx, limit, method, path, in)
	if err != nil {
		return local.ForModel(err, model)
	}
	if failure := p.refused(got, model); failure != nil {
		return failure
	}
	if err := json.Unmarshal(got.body, out); err != nil {
		return &chat.Error{
			Kind: chat.Invalid, Model: model, Status: got.status, Err: err,
			Detail: fmt.Sprintf("%s%s gives no answer of LM Studio", p.base, path), Remedy: p.addressRemedy(),
		}
	}
	return nil
}

func (p *Provider) addressRemedy() string {
	return "check the address " + p.base + ": another program may answer there"
}

// refused makes an error of an answer that is one, nil when it is none.
func (p *Provider) refused(got answer, model string) error {
	text, isError := said(got.body)
	if got.status/100 == 2 && !isError {
		return nil
	}
	e := classify(got.status, text, model)
	if e.Kind == chat.Denied {
		e.Remedy = tokenRemedy
	}
	e.RetryAfter = local.RetryAfter(got.header)
	return e
}

// said takes the server's words out of a body, and reports whether they are an error: the member "error", a text or an
// object with a message.
func said(body []byte) (text string, isError bool) {
	var wrapped struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &wrapped) != nil || len(wrapped.Error) == 0 || string(wrapped.Error) == "null" {
		return oneLine(string(body)), false
	}
	var object struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    string `json:"code"`
	}
	switch {
	case json.Unmarshal(wrapped.Error, &text) == nil:
	case json.Unmarshal(wrapped.Error, &object) == nil && object.Message != "":
		text = object.Message
	case object.Code != "" || object.Type != "":
		text = object.Type + " " + object.Code
	default:
		text = string(wrapped.Error)
	}
	return oneLine(text), true
}

func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if runes := []rune(text); len(runes) > 600 {
		text = string(runes[:600]) + "…"
	}
	return text
}

// unexpected begins what LM Studio says, with status 200, of a path that it does not know.
const unexpected = "unexpected endpoint"

// rules tell the kind of a failure by words that the server says; the first that fits counts. The words of the
// guardrails that refuse a load are not documented.
var rules = [...]struct {
	kind   chat.Kind
	remedy string
	words  []string
}{
	{chat.Memory, "free memory, or ask for a smaller window with -c model_context_window=N", []string{
		"insufficient system resources", "insufficient memory", "not enough memory", "out of memory", "out-of-memory", "guardrail",
		"failed to allocate", "allocation failed", "requires more memory", "overload your system",
	}},
	{chat.Invalid, "update LM Studio to 0.4.0 or later", []string{unexpected}},
	{chat.Denied, tokenRemedy, []string{"api token", "invalid_api_key", "unauthorized"}},
	{chat.Missing, "", []string{"not found", "no such model", "no model", "does not exist", "unknown model"}},
}

// classify makes an error of a status and the server's words.
func classify(status int, text, model string) *chat.Error {
	e := &chat.Error{Model: model, Status: status, Detail: text}
	lower := strings.ToLower(text)
	for _, rule := range rules {
		for _, words := range rule.words {
			if !strings.Contains(lower, words) || rule.kind == chat.Missing && status >= 500 {
				continue
			}
			e.Kind, e.Remedy = rule.kind, rule.remedy
			if e.Kind == chat.Missing && model != "" {
				e.Remedy = "lms get " + quoted(model)
			}
			return e
		}
	}
	switch {
	case status == 401 || status == 403:
		e.Kind, e.Remedy = chat.Denied, tokenRemedy
	case status == 404 && model != "":
		e.Kind, e.Remedy = chat.Missing, "lms get "+quoted(model)
	case status == 429 || status == 503:
		e.Kind = chat.Busy
	case status >= 500:
		e.Kind = chat.Server
		e.Crash = strings.Contains(lower, "crash") || strings.Contains(lower, "exit code") || strings.Contains(lower, "exited")
	default:
		e.Kind = chat.Invalid
	}
	return e
}

// transport says what a failure below HTTP means.
func (p *Provider) transport(ctx context.Context, err error) error {
	return local.NoAnswer(ctx, err, p.base, startRemedy)
}
