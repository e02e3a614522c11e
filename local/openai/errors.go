package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"interpreter/local"
	"interpreter/local/chat"
)

// fault is what a server says went wrong.
type fault struct {
	text           string
	status         int // what the body itself says, 0 when it does not
	prompt, window int // tokens
}

// faultIn reads the body of an error: the member "error", a text or an object; the bare object that vLLM sends; what
// FastAPI says of a request it could not read; or the body as it is.
func faultIn(body []byte) fault {
	var wrapped struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	f := fault{text: string(body)}
	if json.Unmarshal(body, &wrapped) == nil {
		switch {
		case given(wrapped.Error):
			f = faultOf(wrapped.Error)
		case given(wrapped.Detail):
			f = faultOf(wrapped.Detail)
		default:
			f = faultOf(body)
		}
	}
	f.text = oneLine(f.text)
	return f
}

func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 600 {
		text = string(runes[:600]) + "…"
	}
	return text
}

func given(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", `""`, "false", "{}", "[]":
		return false
	}
	return true
}

// statuses are what the names of errors mean, for those that come without a number.
var statuses = map[string]int{
	"invalid_request_error": 400, "BadRequestError": 400, "exceed_context_size_error": 400, "invalid_prompt": 400,
	"authentication_error": 401, "billing_error": 402, "permission_error": 403, "request_too_large": 413,
	"not_found_error": 404, "NotFoundError": 404, "rate_limit_error": 429, "rate_limit_exceeded": 429, "slow_down": 429,
	"api_error": 500, "server_error": 500, "unavailable_error": 503, "server_is_overloaded": 503, "timeout_error": 504,
	"overloaded_error": statusOverloaded,
}

// statusOverloaded is what the messages wire says for a server that has too much to do.
const statusOverloaded = 529

func faultOf(raw json.RawMessage) fault {
	var f fault
	if json.Unmarshal(raw, &f.text) == nil {
		return f
	}
	var object struct {
		Message json.RawMessage `json:"message"`
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
		Prompt  int             `json:"n_prompt_tokens"`
		Window  int             `json:"n_ctx"`
	}
	json.Unmarshal(raw, &object) // what does not fit stays zero
	if json.Unmarshal(object.Message, &f.text) != nil || f.text == "" {
		f.text = string(raw)
	}
	f.prompt, f.window = object.Prompt, object.Window
	f.status, _ = strconv.Atoi(strings.Trim(string(object.Code), `"`))
	if f.status < 400 || f.status > 599 {
		f.status = cmp.Or(statuses[object.Type], statuses[strings.Trim(string(object.Code), `"`)])
	}
	for _, name := range []string{object.Type, strings.Trim(string(object.Code), `"`)} {
		if strings.Contains(name, "context") && !strings.Contains(strings.ToLower(f.text), "context") {
			f.text += " (" + name + ")"
		}
	}
	return f
}

// refused makes an error of an answer that is none.
func (p *Provider) refused(res *http.Response, body []byte, model string) *chat.Error {
	status := res.StatusCode
	var e *chat.Error
	switch at := res.Header.Get("Location"); {
	case status/100 == 3:
		e = &chat.Error{
			Kind: chat.Invalid, Model: model, Detail: fmt.Sprintf("%s sends us on to %q, which is not followed", p.Address(), at),
			Remedy: p.addressRemedy(),
		}
	case isPage(body) && status != 401 && status != 403 && status != 407 && status != 429 && status < 500:
		e = p.stranger(res.Request.URL.Path, body, model)
	default:
		e = p.classify(status, faultIn(words(body)), model)
	}
	e.Status, e.RetryAfter = status, local.RetryAfter(res.Header)
	return e
}

// stranger is the error of an address where another kind of program answers.
func (p *Provider) stranger(address string, body []byte, model string) *chat.Error {
	what := "no answer of a " + p.options.API + " server"
	if isPage(body) {
		what = "a web page, not the answer of a " + p.options.API + " server"
	}
	if p.options.Lone {
		return &chat.Error{Kind: chat.Invalid, Model: model, Detail: "the body is " + what}
	}
	if !strings.Contains(address, "://") {
		address = p.Address() + " (" + address + ")"
	}
	return &chat.Error{Kind: chat.Invalid, Model: model, Detail: address + " gives " + what, Remedy: p.addressRemedy()}
}

func (p *Provider) addressRemedy() string {
	return "check the address " + p.Address() + ": another program answers there, or the path is missing a part"
}

func isPage(body []byte) bool {
	body = bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(body, []byte("<"))
}

var title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// words are what a person should read of a body: of a page, only its title.
func words(body []byte) []byte {
	if !isPage(body) {
		return body
	}
	if m := title.FindSubmatch(body); m != nil {
		return m[1]
	}
	return []byte("a web page without a title")
}

// rules tell the kind of a failure by words that servers say; the first that fits counts.
var rules = [...]struct {
	kind   chat.Kind
	remedy string
	words  *regexp.Regexp
}{
	{chat.Overflow, "", regexp.MustCompile(`context (size|length|window)[^.]{0,40}exceeded|(exceed|long|larg|great|bigger|overflow|more than)[^.]*(context|model length|max_model_len)|exceed_context_size|n_keep|(prompt|input|request) is too (long|large|big)|keep the first|maximum (context|model) length|context length (is|of) only|context_length_exceeded`)},
	{chat.NoTools, "start llama-server with --jinja, so that it reads the model's own template", regexp.MustCompile(`requires? --jinja|--jinja flag`)},
	{chat.NoTools, "start vLLM with --enable-auto-tool-choice and the --tool-call-parser of the model", regexp.MustCompile(`--enable-auto-tool-choice|--tool-call-parser`)},
	{chat.NoTools, "name a model that can call tools with -m", regexp.MustCompile(`(does not|doesn't|not) support (tool|function)`)},
	{chat.NoThinking, "set model_reasoning_effort to none", regexp.MustCompile(`(does not|doesn't|not) support (thinking|reasoning)`)},
	{chat.Memory, "free memory, or start the server with a smaller window or a smaller model", regexp.MustCompile(`out of (device )?memory|out-of-memory|requires more system memory|(cuda|hip)malloc failed|failed to allocate|allocation failed|not enough memory|insufficient (memory|system resources)|erroroutofdevicememory`)},
	{chat.Busy, "", regexp.MustCompile(`loading model|model is (still )?loading|server (is )?(busy|overloaded)|maximum pending requests|no slots? available|slot unavailable`)},
	{chat.Denied, "key", regexp.MustCompile(`(invalid|missing|incorrect|malformed|wrong)[^.]*(api[ _-]?key|token provided|lm studio api token|access token|bearer)|unauthori[sz]ed`)},
	{chat.Missing, "model", regexp.MustCompile(`model\b.*(not found|not exist|not loaded|is not served|unknown|no such)|^model: \S+$|(unknown|no such|not a valid|invalid) model\b|no models? loaded`)},
}

// crashed are words about the process that runs a model, when they are no more than that: it may have lacked memory.
var crashed = regexp.MustCompile(`process has terminated|unexpectedly stopped|has crashed|model crashed|exit code|engine( core)? (process )?(is dead|died|failed)|enginedeaderror|error was encountered while running the model`)

// classify makes an error of a status, 0 within a stream, and the server's words.
func (p *Provider) classify(status int, f fault, model string) *chat.Error {
	e := &chat.Error{Model: model, Detail: f.text, Status: status}
	status = or(f.status, status)
	lower := strings.ToLower(f.text)
	for _, rule := range rules {
		if !rule.words.MatchString(lower) || rule.kind == chat.Missing && status >= 500 {
			continue
		}
		e.Kind, e.Remedy = rule.kind, rule.remedy
		switch rule.kind {
		case chat.Overflow:
			e.Prompt, e.Window = f.prompt, f.window
			overflow(e, lower)
			e.Remedy = p.widen(e.Prompt)
		case chat.Denied:
			e.Remedy = p.keyRemedy()
		case chat.Missing:
			e.Remedy = fmt.Sprintf("name a model that the server lists, or start it with %s", model)
		}
		return e
	}
	if crashed.MatchString(lower) {
		e.Kind, e.Crash = chat.Server, true
		return e
	}
	switch {
	case status == 401 || status == 403 || status == 407:
		e.Kind, e.Remedy = chat.Denied, p.keyRemedy()
	case status == 404 || status == 405:
		e.Kind, e.Remedy = chat.Invalid, p.noSuchCall()
	case status == 429 || status == 503 || status == statusOverloaded:
		e.Kind = chat.Busy
	case status == 0 || status >= 500 || status == 499 || status == 408 || status == 409 || status == 425:
		e.Kind = chat.Server
	default:
		e.Kind = chat.Invalid
	}
	return e
}

// noSuchCall is what to do about a server that answers and has not what was asked for.
func (p *Provider) noSuchCall() string {
	if p.options.API != chatAPI {
		return fmt.Sprintf("what answers at %s has no %s wire; set model_providers.%s.wire_api to one that it speaks", p.Address(), p.options.API, p.Name())
	}
	return "check the address " + p.Address() + ": what answers there has no such call"
}

// keyRemedy is what to do about a server that lets nobody in without a key, or not with the one it got.
func (p *Provider) keyRemedy() string {
	if p.options.Header.Get("Authorization") != "" || p.options.Header.Get("X-Api-Key") != "" {
		return "the key that was sent is not the one this server wants; " + p.options.Key
	}
	return p.options.Key
}

// or is the status a body names, unless there is none or the one of the answer says more.
func or(said, status int) int {
	if said != 0 && (status == 0 || status == http.StatusBadRequest || status == http.StatusInternalServerError) {
		return said
	}
	return status
}

// The forms in which servers tell the size of a prompt (p), of an answer (a), of both together (t), and of the window (w).
var sizes = [...]*regexp.Regexp{
	regexp.MustCompile(`(?P<p>\d+) tokens? > (?P<w>\d+)`),
	regexp.MustCompile(`(?P<p>\d+) \+ (?P<a>\d+) > (?P<w>\d+)`),
	regexp.MustCompile(`n_keep \((?P<p>\d+)\) >= n_ctx \((?P<w>\d+)\)`),
	regexp.MustCompile(`n_prompt_tokens\\*":\s*(?P<p>\d+)[^}]*n_ctx\\*":\s*(?P<w>\d+)`),
	regexp.MustCompile(`keep the first (?P<p>\d+)\D.*?context\D*(?P<w>\d+)`),
	regexp.MustCompile(`context length (?:is|of) (?P<w>\d+)\D.*?requested (?P<t>\d+) tokens? \((?P<p>\d+) in`),
	regexp.MustCompile(`context length of (?P<w>\d+) tokens?\D.*?total of (?P<t>\d+) tokens?: (?P<p>\d+)`),
	regexp.MustCompile(`passed (?P<p>\d+) input tokens\D.*?(?:length|context)\D*(?P<w>\d+)`),
	regexp.MustCompile(`(?:context|model) length\D*(?P<w>\d+)\D.*?(?:has|least|requested|have|contains|resulted in|prompt)\D*(?P<p>\d+)`),
	regexp.MustCompile(`(?P<p>\d+)\D*tokens?\D+(?:context|window|model length|limit)\D+(?P<w>\d+)`),
	regexp.MustCompile(`(?:prompt|input|request)[^\d.]*(?P<p>\d+)\D+(?:context|window|model length|limit)\D+(?P<w>\d+)`),
	regexp.MustCompile(`(?:context|window|limit)\D*(?P<w>\d+)\D+(?P<p>\d+)`),
}

var grouped = regexp.MustCompile(`(\d),(\d{3})\b`)

// overflow finds the size of the prompt and of the window in a server's words.
func overflow(e *chat.Error, text string) {
	for grouped.MatchString(text) {
		text = grouped.ReplaceAllString(text, "$1$2")
	}
	for _, form := range sizes {
		if e.Prompt > 0 && e.Window > 0 {
			break
		}
		m := form.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		var prompt, answer, total, window int
		for i, name := range form.SubexpNames() {
			switch n, _ := strconv.Atoi(m[i]); name {
			case "p":
				prompt = n
			case "t":
				total = n
			case "a":
				answer = n
			case "w":
				window = n
			}
		}
		if answer > 0 {
			total = prompt + answer
		}
		// A prompt that fits, with an answer that does not: together they are what was asked for.
		if prompt <= window && total > 0 {
			prompt = total
		}
		e.Prompt, e.Window = prompt, window
	}
}

// widen is how a person gets a window that holds a prompt, whose size may be 0 for unknown.
func (p *Provider) widen(prompt int) string {
	switch {
	case p.options.Loads && prompt > 0:
		return fmt.Sprintf("use a window of more than %d tokens with -c model_context_window=N, or start a new session", prompt)
	case p.options.Loads:
		return "use a larger window with -c model_context_window=N, or start a new session"
	case prompt > 0:
		return fmt.Sprintf("start the server with a window of more than %d tokens, or start a new session", prompt)
	}
	return "start the server with a larger window, or start a new session"
}
