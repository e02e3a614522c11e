package openai

import (
	"regexp"
	"slices"
	"strings"

	"interpreter/local/chat"
)

// form is how a conversation is written for a server. It begins the same for all; a refusal that says what a server or
// a model's template cannot take changes it for the rest of the session.
type form struct {
	thinking  string // member that carries earlier thinking, "-": none
	fold      bool   // no system role: its text begins the first user message
	alternate bool   // user and assistant take turns strictly
	short     bool   // ids of calls are nine letters and digits
	plain     bool   // arguments of earlier calls are written anew, in the plainest JSON
	lax       bool   // a schema is a wish: the word strict is not known here
	stumbled  int    // answers so far that the server's own parser fell over
	without   map[string]bool
}

// The complaints of templates, and what to do about each.
var complaints = [...]struct {
	words *regexp.Regexp
	apply func(*form) *bool
}{
	{regexp.MustCompile(`roles? must alternate|alternate user|alternating|user/assistant/user`), func(f *form) *bool { return &f.alternate }},
	{regexp.MustCompile(`system (role|message|prompt)s?( is| are)? (not supported|unsupported|not allowed)|not support (the )?system|only user and assistant roles`), func(f *form) *bool { return &f.fold }},
	{regexp.MustCompile(`length 9|9 (alphanumeric )?characters`), func(f *form) *bool { return &f.short }},
	{regexp.MustCompile(`(pars(e|ing)|decod|invalid|malformed)[^.]{0,40}(tool|function)[ _]?calls?[^.]{0,40}argument|arguments[^.]{0,60}(not valid json|invalid json|pars(e|ing)|must be (a )?(valid )?json)`), func(f *form) *bool { return &f.plain }},
}

// objection are words that say that a member of the request is the trouble.
var objection = regexp.MustCompile(`support|recogni[sz]ed|unknown|unexpected|permitted|allowed|extra|invalid|not implemented|requires?\b|cannot|can't|should be|must be|conflict|either`)

// needed are members that no request can do without, or whose loss would change what it means.
var needed = []string{"stream", "max_tokens", "max_output_tokens"}

// adapt changes the form by what a server says and reports whether it did. What is dropped is named by the server and
// optional: sampling, the effort, the count of tokens, the schema (which the agent checks once more itself).
func (f *form) adapt(failure *chat.Error, sent []field) bool {
	text := strings.ToLower(failure.Detail)
	if failure.Kind == chat.Overflow || failure.Status != 400 && failure.Status != 422 && failure.Status != 500 {
		return false
	}
	for _, c := range complaints {
		if switched := c.apply(f); c.words.MatchString(text) && !*switched {
			*switched = true
			return true
		}
	}
	if failure.Status == 500 {
		return false
	}
	if failure.Kind == chat.NoThinking {
		return f.drop("reasoning_effort", sent)
	}
	if !objection.MatchString(text) {
		return false
	}
	if f.thinking != "-" && mentions(text, f.thinking) {
		f.thinking = "-"
		return true
	}
	if strings.Contains(text, "grammar") && f.drop("response_format", sent) {
		return true // llama.cpp cannot hold an answer to a schema while tools are offered
	}
	if !f.lax && mentions(text, "strict") && slices.ContainsFunc(sent, func(m field) bool { return m.name == "response_format" }) {
		f.lax = true
		return true
	}
	for _, member := range sent {
		if mentions(text, member.name) && f.drop(member.name, sent) {
			return true
		}
	}
	return false
}

// drop leaves a member out from now on, if it was sent.
func (f *form) drop(name string, sent []field) bool {
	if slices.Contains(needed, name) || !slices.ContainsFunc(sent, func(m field) bool { return m.name == name }) {
		return false
	}
	f.without = with(f.without, name)
	return true
}

func mentions(text, name string) bool {
	return regexp.MustCompile(`(^|[^a-z0-9_])` + regexp.QuoteMeta(name) + `([^a-z0-9_]|$)`).MatchString(text)
}
