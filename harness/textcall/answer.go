package textcall

import (
	"encoding/json"

	"interpreter/local/chat"
)

// Answer is what came from a model, and what is needed to judge it.
type Answer struct {
	Message chat.Message
	Finish  chat.Finish
	Tools   []chat.Spec                                    // offered, and those that are understood without being offered
	Means   func(name string, args json.RawMessage) string // the tool another product's name stands for; "" and nil: none
	Spells  func(tool, key string) bool                    // the key is another spelling of a parameter of the tool; nil: none is
	Sure    func(chat.Call) bool                           // harmless enough to be called on weak evidence; nil: none is
	Shown   []string                                       // texts the model was given in this turn: a call that repeats one of them is a quotation
	Forms   []string                                       // forms of calls as text seen before in this session, one entry each time
}

// Reading is what was made of an Answer.
type Reading struct {
	Message chat.Message
	Form    string   // the form in which calls were written as text; "" when none was found
	Notice  string   // what a person should know: "tool_call_truncated", "unclosed_think"; "" when nothing
	Lost    string   // the tool of a call behind the others that was cut off and does not run; "" when there is none or nobody can tell
	Whole   bool     // the answer was cut off, but behind its calls: they may run, and Message.Written ends where they do
	Mended  []string // ids of calls in whose values something was mended: a person who would be asked should be
}
