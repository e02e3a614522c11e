package local

import (
	"fmt"
	"regexp"
	"strings"
	"text/template/parse"
)

// parserClass is who makes calls of what a model writes, as far as its template tells.
type parserClass string

const (
	unseen        parserClass = "there is no template to look at"
	namedParser   parserClass = "the server has a parser of its own for this family"
	grammarParser parserClass = "a Jinja template: the server derives the grammar of calls from it"
	genericParser parserClass = "a template with calls: the server looks for them by their opening tag"
	noParser      parserClass = "the template has no place for calls: they arrive as text"
)

// inspection is the second level of a tool check: what can be told of a model without asking it.
type inspection struct {
	class parserClass
	name  string   // of the parser, where it has one
	tag   string   // that opens a call, of a generic parser
	risks []string // whole sentences
}

func (i inspection) String() string {
	switch {
	case i.name != "":
		return fmt.Sprintf("%s (%s)", i.class, i.name)
	case i.tag != "":
		return fmt.Sprintf("%s (%s)", i.class, i.tag)
	}
	return string(i.class)
}

// inspect reads the parser and the template of a model. The rules are those of the servers: Ollama takes a named parser
// first, leaves Jinja templates to llama.cpp, and otherwise looks in what the model writes for the text that follows
// the condition or loop over calls in its Go template, or for a brace when there is none.
func inspect(m ModelInfo) inspection {
	var i inspection
	text := m.Template
	switch {
	case m.Parser != "" && m.Parser != "passthrough":
		return inspection{class: namedParser, name: m.Parser}
	case strings.TrimSpace(text) == "":
		i.class = unseen
		return i
	case strings.Contains(text, "{%"):
		i.class = grammarParser
		if !mentions(text, "tools") && !mentions(text, "tool_calls") {
			i.class = noParser
		}
	default:
		i.class = noParser
		if tag, ok := openingTag(text); ok && mentions(text, ".Tools") {
			i.class, i.tag = genericParser, tag
		}
	}
	if i.tag == "{" || i.tag == "[" {
		i.risks = append(i.risks, "calls open with "+i.tag+" alone: the server misses one that follows prose in the same answer")
	}
	switch {
	case i.class == noParser:
		i.risks = append(i.risks, "the template has no place for calls, so the server passes them on as text")
	case !takesResults(text):
		i.risks = append(i.risks, "the template has no place for what a tool returns, so the model may not see it")
	}
	return i
}

// mentions reports whether a template names a variable, as a whole word.
func mentions(text, name string) bool {
	for rest := text; ; {
		at := strings.Index(rest, name)
		if at < 0 {
			return false
		}
		end := rest[at+len(name):]
		if end == "" || !letter(end[0]) {
			return true
		}
		rest = end
	}
}

// ThinksByLevel reports a chat template that writes how hard to think, in the words of servers' Go templates or of
// Jinja ones. Such a model takes low, medium or high, and most of them cannot be told not to think.
func (m ModelInfo) ThinksByLevel() bool {
	return mentions(m.Template, ".ThinkLevel") || mentions(m.Template, "reasoning_effort")
}

func letter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }

// resultRole finds the signs that a template writes results of tools: the role by name, the field that only results
// have, or the role of whatever message it writes.
var resultRole = regexp.MustCompile(`["']tool["']|\.ToolName|tool_response|\{\{-?\s*\.Role\s*-?\}\}|\{\{-?[^}]*\+\s*message(\.role|\[["']role["']\])`)

func takesResults(text string) bool { return resultRole.MatchString(text) }

// openingTag is the text by which a server knows a call: what follows the first condition or loop over calls, up to
// the brace of the call itself. ok is false of a template without such a place.
func openingTag(text string) (tag string, ok bool) {
	tree := parse.New("template")
	tree.Mode = parse.SkipFuncCheck
	tree, err := tree.Parse(text, "", "", map[string]*parse.Tree{})
	if err != nil || tree.Root == nil {
		return "", false
	}
	body := overCalls(tree.Root)
	if body == nil {
		return "", false
	}
	tag, _, _ = strings.Cut(firstText(body), "{")
	if tag = strings.TrimSpace(tag); tag == "" {
		tag = "{"
	}
	return tag, true
}

// overCalls finds the body of the first condition or loop over the calls of a message.
func overCalls(list *parse.ListNode) *parse.ListNode {
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		branch := branchOf(node)
		if branch == nil {
			continue
		}
		if mentions(branch.Pipe.String(), ".ToolCalls") {
			return branch.List
		}
		for _, inner := range []*parse.ListNode{branch.List, branch.ElseList} {
			if found := overCalls(inner); found != nil {
				return found
			}
		}
	}
	return nil
}

func branchOf(node parse.Node) *parse.BranchNode {
	switch n := node.(type) {
	case *parse.IfNode:
		return &n.BranchNode
	case *parse.RangeNode:
		return &n.BranchNode
	case *parse.WithNode:
		return &n.BranchNode
	}
	return nil
}

// firstText is the first text below a place in a template that is more than white space.
func firstText(list *parse.ListNode) string {
	if list == nil {
		return ""
	}
	for _, node := range list.Nodes {
		if text, ok := node.(*parse.TextNode); ok && strings.TrimSpace(string(text.Text)) != "" {
			return string(text.Text)
		}
		if branch := branchOf(node); branch != nil {
			for _, inner := range []*parse.ListNode{branch.List, branch.ElseList} {
				if text := firstText(inner); text != "" {
					return text
				}
			}
		}
	}
	return ""
}
