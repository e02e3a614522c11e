package ollama

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"interpreter/local/chat"
)

// said takes the server's words out of an error body: the member "error", a text or an object with a message, or
// the body as it is. A server from 0.30 on hands the body of its engine's error on as that text, with what the engine
// printed behind it.
func said(body []byte) string {
	var wrapped struct {
		Error json.RawMessage `json:"error"`
	}
	text := string(body)
	if json.Unmarshal(body, &wrapped) == nil && len(wrapped.Error) > 0 {
		text = errorText(wrapped.Error)
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	wrapped.Error = nil
	if decoder.Decode(&wrapped) == nil && len(wrapped.Error) > 0 {
		text = errorText(wrapped.Error) + text[decoder.InputOffset():]
	}
	return strings.Join(strings.Fields(text), " ")
}

func errorText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &object) == nil && object.Message != "" {
		return object.Message
	}
	return string(raw)
}

// rules tell the kind of a failure by words that the server says; the first that fits counts.
var rules = [...]struct {
	kind   chat.Kind
	remedy string
	words  []string
}{
	{chat.Overflow, "", []string{"longer than the context length", "exceeds the context length", "exceed the context length", "exceeds the available context size", "exceed_context_size", "n_keep"}},
	{chat.NoTools, "name a model that can call tools with -m", []string{"does not support tools"}},
	{chat.NoThinking, "set model_reasoning_effort to none", []string{"does not support thinking"}},
	{chat.Remote, "use a local tag of the same family", []string{"cloud is disabled"}},
	{chat.Memory, "free memory, or ask for a smaller window with -c model_context_window=N", []string{
		"requires more system memory", "out-of-memory during startup", "out of memory", "out of device memory", "cudamalloc failed",
		"hipmalloc failed", "failed to allocate", "unable to allocate", "bad_alloc", "allocation failed", "not enough memory", "insufficient memory", "erroroutofdevicememory",
	}},
	{chat.Invalid, "update the server, or pull the model again", []string{"error loading model", "unknown model architecture"}},
	{chat.Invalid, "install ollama again: the program that runs models is missing beside it", []string{"llama-server binary not found"}},
	{chat.Busy, "", []string{"server busy", "maximum pending requests", "loading model", "model is loading", "server loading model"}},
	{chat.Missing, "check the spelling of the name and its tag", []string{"pull model manifest: file does not exist"}},
	{chat.Idle, "free memory and disk bandwidth for the load, raise OLLAMA_LOAD_TIMEOUT of the server, or take a smaller model", []string{"timed out waiting for"}},
	{chat.Invalid, "update the server, or pull the model again", []string{"incompatible with your version", "requires a newer version"}},
	{chat.Invalid, "", []string{"no user query found in messages", "invalid model name", "does not support chat", "does not support generate"}},
}

// crashed are words about the process that runs a model, when they are no more than that: it may have lacked memory.
var crashed = [...]string{"process has terminated", "unexpectedly stopped", "error was encountered while running the model"}

// classify makes an error of a status, 0 within a stream, and the server's words.
func classify(status int, text, model string) *chat.Error {
	e := &chat.Error{Model: model, Status: status, Detail: text}
	lower := strings.ToLower(text)
	for _, rule := range rules {
		for _, words := range rule.words {
			if strings.Contains(lower, words) {
				e.Kind, e.Remedy = rule.kind, rule.remedy
				if e.Kind == chat.Overflow {
					overflow(e, lower)
				}
				return e
			}
		}
	}
	for _, words := range crashed {
		if strings.Contains(lower, words) {
			e.Kind, e.Crash = chat.Server, true
			return e
		}
	}
	switch {
	case status/100 == 3:
		e.Kind, e.Remedy = chat.Invalid, "the server sends on to another address; set that one, since this program follows none by itself"
	case status == 404 && strings.Contains(lower, "page not found"):
		e.Kind, e.Remedy = chat.Invalid, "check the address: what answers there has no such call"
	case status == 404 && (strings.Contains(lower, "not found") || strings.Contains(lower, "no such model")):
		e.Kind, e.Remedy = chat.Missing, "ollama pull "+model
	case status == 401 || status == 402:
		e.Kind, e.Remedy = chat.Denied, "this model runs on the vendor's machines; name a local one with -m"
	case status == 403:
		e.Kind, e.Remedy = chat.Denied, "the server refuses this address; use 127.0.0.1 or a name it knows"
	case status == 429 || status == 503:
		e.Kind = chat.Busy
	case status == 0 || status >= 500 || status == 499 || status == 408:
		e.Kind = chat.Server
	default:
		e.Kind = chat.Invalid
	}
	return e
}

// overflow finds the size of the prompt and of the window in the words of the several engines.
func overflow(e *chat.Error, text string) {
	for _, form := range []string{
		`n_keep \((\d+)\) >= n_ctx \((\d+)\)`,
		`n_prompt_tokens\\*":\s*(\d+)[^}]*n_ctx\\*":\s*(\d+)`,
		`\((\d+) tokens\) exceeds the available context size \((\d+) tokens\)`,
		`(\d+) tokens?\D+(?:context|window)\D+(\d+)`,
	} {
		if m := regexp.MustCompile(form).FindStringSubmatch(text); m != nil {
			e.Prompt, _ = strconv.Atoi(m[1])
			e.Window, _ = strconv.Atoi(m[2])
			break
		}
	}
	e.Remedy = "use a larger window with -c model_context_window=N, or start a new session"
	if e.Prompt > 0 {
		e.Remedy = fmt.Sprintf("use a window of more than %d tokens with -c model_context_window=N, or start a new session", e.Prompt)
	}
}
