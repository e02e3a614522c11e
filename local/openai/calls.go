package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"interpreter/local"
	"interpreter/local/chat"
)

// fragment is a piece of a tool call as it comes.
type fragment struct {
	Index    json.RawMessage `json:"index"`
	ID       json.RawMessage `json:"id"`
	Function struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// slot is a call that is being put together.
type slot struct {
	index  int // -1: the server does not number its calls
	id     string
	name   string
	splice local.Splice
	args   []byte
	before int // where the last but one piece of args begins
	last   int // where the last piece begins
	shape  shape
}

// shape follows the braces of arguments as they come, so that it is known at every piece whether they are closed.
type shape struct {
	depth            int
	text, escaped    bool // within a string; after a backslash there
	opened, trailing bool // a brace was seen; something but white space stands after the last one
}

func (s *shape) add(piece string) {
	for i := range len(piece) {
		switch c := piece[i]; {
		case s.escaped:
			s.escaped = false
		case s.text:
			s.escaped, s.text = c == '\\', c != '"'
		case c == '"':
			s.text, s.trailing = true, s.opened && s.depth == 0 || s.trailing
		case c == '{' || c == '[':
			s.trailing = s.opened && s.depth == 0 || s.trailing
			s.depth, s.opened = s.depth+1, true
		case c == '}' || c == ']':
			s.depth--
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			s.trailing = s.opened && s.depth == 0 || s.trailing
		}
	}
}

func (s *shape) whole() bool { return s.opened && s.depth == 0 && !s.text && !s.trailing }

// calls puts calls together from fragments. A server may number them, name them by an id, do both, or neither; it may
// use a number twice, repeat a name in every fragment, or send all of a call once more at the end.
type calls struct {
	slots []*slot
	tools map[string]bool // names that are known
	ids   *local.IDs
}

func newCalls(req chat.Request) *calls {
	c := &calls{tools: map[string]bool{}, ids: local.NewIDs(req.Messages)}
	for _, t := range req.Tools {
		c.tools[t.Name] = true
	}
	return c
}

// add takes a list of fragments that came together. Those of one list that have neither number nor id are calls of
// their own. All of it is whole when apart is set.
func (c *calls) add(list []fragment, apart bool) error {
	for i, f := range list {
		index, id := numberOf(f.Index), textOf(f.ID)
		var s *slot
		switch {
		case apart, i > 0 && index < 0 && id == "" && f.Function.Name != "":
			s = c.begin(index)
		default:
			s = c.find(index, id, f)
		}
		if s == nil {
			s = c.begin(index)
		}
		if s.id == "" {
			s.id = id
		}
		c.join(s, f.Function.Name)
		if err := s.extend(f.Function.Args); err != nil {
			return err
		}
	}
	return nil
}

func (c *calls) begin(index int) *slot {
	s := &slot{index: index}
	c.slots = append(c.slots, s)
	return s
}

// find is the call that a fragment continues, nil when it begins one.
func (c *calls) find(index int, id string, f fragment) *slot {
	for i := len(c.slots) - 1; i >= 0 && id != ""; i-- {
		if s := c.slots[i]; s.id == id && (index < 0 || s.index < 0 || s.index == index) {
			return s
		}
	}
	var s *slot
	for i := len(c.slots) - 1; i >= 0 && s == nil; i-- {
		if index < 0 || c.slots[i].index == index {
			s = c.slots[i]
		}
	}
	switch {
	case s == nil:
		return nil
	case id != "" && s.id != "": // a new id is a new call, whatever its number
		return nil
	case f.Function.Name != "" && c.another(s, f):
		return nil
	}
	return s
}

// another reports whether a fragment that names a tool, and says nothing else of which call it belongs to, begins a new
// call rather than continuing s.
func (c *calls) another(s *slot, f fragment) bool {
	name, args := f.Function.Name, pieceOf(f.Function.Args)
	whole := s.shape.whole()
	switch {
	case s.name == "":
		return false
	case name == s.name:
		return whole && strings.TrimSpace(args) != "" && args != string(s.args)
	case whole:
		return true
	case strings.HasPrefix(name, s.name) && !(c.tools[name] && c.tools[s.name]):
		return false // the name so far, once more and longer
	case len(s.args) > 0:
		return true
	case c.tools[s.name+name]:
		return false
	case c.tools[s.name]:
		return c.tools[name]
	}
	return args != ""
}

// join adds to the name of a call. Names come whole, in pieces, or again and again.
func (c *calls) join(s *slot, name string) {
	switch {
	case name == "" || name == s.name:
	case s.name == "" || strings.HasPrefix(name, s.name) && !c.tools[s.name+name]:
		s.name = name
	case c.tools[s.name] && !c.tools[s.name+name]:
	default:
		s.name += name
	}
}

// extend adds a piece of the arguments: a text, or an object that is all of them.
func (s *slot) extend(raw json.RawMessage) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if raw[0] != '"' {
		s.args, s.before, s.last, s.shape = bytes.Clone(raw), 0, 0, shape{}
		s.shape.add(string(raw))
		return nil
	}
	text, err := s.splice.Add(raw)
	if err != nil {
		return err
	}
	if text != "" {
		s.before, s.last = s.last, len(s.args)
		s.args = append(s.args, text...)
		s.shape.add(text)
	}
	return nil
}

// arguments are the object that the pieces make; what is none is kept as the text it is beside an empty object. A
// server that sends everything once more at the end, or with every piece, has sent it once.
func (s *slot) arguments() (args json.RawMessage, raw string) {
	text := bytes.TrimSpace(s.args)
	switch last := s.args[s.last:]; {
	case len(text) == 0 || string(text) == "null":
		return json.RawMessage("{}"), ""
	case local.IsObject(text):
		return json.RawMessage(text), ""
	case local.IsObject(last) && s.replayed(last):
		return json.RawMessage(bytes.TrimSpace(last)), ""
	}
	return json.RawMessage("{}"), strings.ToValidUTF8(string(s.args), "\uFFFD")
}

func (s *slot) replayed(last []byte) bool {
	earlier := s.args[:s.last]
	return bytes.Equal(earlier, last) || string(bytes.TrimSpace(earlier)) == "{}" ||
		s.last > s.before && bytes.HasPrefix(last, s.args[s.before:s.last])
}

// torn reports whether a call has arguments that are no object, as when its end is missing.
func (c *calls) torn() bool {
	for _, s := range c.slots {
		if _, raw := s.arguments(); raw != "" {
			return true
		}
	}
	return false
}

// all are the calls, in the order in which they began.
func (c *calls) all() []chat.Call {
	var out []chat.Call
	for _, s := range c.slots {
		call := chat.Call{Name: cleanName(s.name)}
		if call.Args, call.Raw = s.arguments(); call.Name == "" && len(s.args) == 0 {
			continue
		}
		call.ID = c.ids.Name(s.id)
		out = append(out, call)
	}
	return out
}

// cleanName cuts a name where the tokens of a template begin that a server's parser left in it. The wire allows
// letters, digits, _ and - in this member, so nothing that a tool is called is lost.
func cleanName(name string) string {
	name, _, _ = strings.Cut(name, "<")
	return strings.TrimSpace(name)
}

func numberOf(raw json.RawMessage) int {
	n, err := strconv.Atoi(strings.Trim(string(raw), `"`))
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// textOf is a text, or a number as a text.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil && len(raw) > 0 && raw[0] != '{' && raw[0] != '[' {
		return string(raw)
	}
	return text
}

// pieceOf is the text of a piece of arguments, "" when there is none.
func pieceOf(raw json.RawMessage) string {
	if len(raw) > 0 && raw[0] == '{' {
		return string(raw)
	}
	return textOf(raw)
}
