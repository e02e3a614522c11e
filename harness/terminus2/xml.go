package terminus2

import (
	"fmt"
	"regexp"
	"strings"
)

const (
	responseOpen, responseShut = "<response>", "</response>"
	commandsShut               = "</commands>"
	keysShut                   = "</keystrokes>"
)

var (
	commandsOpen = regexp.MustCompile(`<commands\s*(/?)>`)
	keysOpen     = regexp.MustCompile(`<keystrokes(?:\s+duration\s*=\s*(?:"([^"]*)"|'([^']*)'))?\s*(/?)>`)
	entity       = regexp.MustCompile(`&(?:lt|gt|amp|quot|apos|#\d+);`)
)

// elements reads a reply in elements. Of one that the length limit cut, what stands before its last whole list of
// commands counts.
func elements(text string, short bool) (*reply, error) {
	r := &reply{xml: true}
	if short {
		at := strings.LastIndex(text, commandsShut)
		if at < 0 {
			return nil, errLimit
		}
		r.end = at + len(commandsShut)
		text = text[:r.end]
		r.warn("the reply was cut off at its length limit behind the commands; they were typed, and the rest does not count")
	}
	body := r.response(text, short)
	open := commandsOpen.FindStringSubmatchIndex(body)
	before, list, behind := body, "", ""
	if open != nil {
		before, list = body[:open[0]], body[open[1]:]
		switch at := strings.LastIndex(list, commandsShut); {
		case open[2] < open[3]: // <commands/>
			list, behind = "", list
		case at >= 0:
			list, behind = list[:at], list[at+len(commandsShut):]
		default:
			if end := strings.LastIndex(list, keysShut); end >= 0 {
				list, behind = list[:end+len(keysShut)], list[end+len(keysShut):]
			}
			r.warn("</commands> is missing")
		}
	}
	r.analysis, r.plan = r.section("analysis", before, behind), r.section("plan", before, behind)
	if a, p := strings.Index(before, "<analysis>"), strings.Index(before, "<plan>"); a > p && p >= 0 {
		r.warn("analysis comes before plan")
	}
	r.params.Complete = r.complete(before, behind)
	switch err := r.keys(list); {
	case open == nil && !r.params.Complete:
		return nil, r.fail("<commands> is missing")
	case err != nil && r.params.Complete:
		r.warn(err.(*ParseError).What) // it is what keys gives
		r.params.Commands = nil
	case err != nil:
		return nil, err
	case len(r.params.Commands) == 0 && !r.params.Complete:
		r.warn("there are no keystrokes: nothing was typed")
	}
	return r, nil
}

// response is what stands in the first <response>.
func (r *reply) response(text string, short bool) string {
	before, body, found := strings.Cut(text, responseOpen)
	if !found {
		r.warn("<response> is missing")
		return text
	}
	if strings.TrimSpace(before) != "" {
		r.warn("there is text before <response>; it does not count")
	}
	body, behind, closed := strings.Cut(body, responseShut)
	switch {
	case !closed && !short:
		r.warn("</response> is missing")
	case strings.Contains(behind, responseOpen):
		r.warn("there is more than one <response>; only the first counts")
	case strings.TrimSpace(behind) != "":
		r.warn("there is text behind </response>; it does not count")
	}
	return body
}

// section is the text of an element, which stands before the commands.
func (r *reply) section(name, before, behind string) string {
	open, shut := "<"+name+">", "</"+name+">"
	if strings.Count(before, open) > 1 {
		r.warn("there is more than one <" + name + ">; only the first counts")
	}
	_, rest, found := strings.Cut(before, open)
	if !found {
		if _, rest, found = strings.Cut(behind, open); !found {
			r.warn("<" + name + "> is missing")
			return ""
		}
		r.warn("<" + name + "> comes before <commands>")
	}
	text, _, closed := strings.Cut(rest, shut)
	if !closed {
		r.warn(shut + " is missing")
		if at := strings.IndexByte(text, '<'); at >= 0 {
			text = text[:at]
		}
	}
	return text
}

func (r *reply) complete(before, behind string) bool {
	const open, shut = "<task_complete>", "</task_complete>"
	_, rest, found := strings.Cut(behind, open)
	if !found {
		if _, rest, found = strings.Cut(before, open); !found {
			return false
		}
		if behind != "" {
			r.warn("<task_complete> comes behind <commands>")
		}
	}
	word, _, _ := strings.Cut(rest, shut)
	yes, ok := meansTrue(strings.ToLower(strings.TrimSpace(word)))
	if !ok {
		r.warn("task_complete is neither true nor false; it counts as false")
	}
	return yes
}

// keys reads the elements with keystrokes. Their text is typed as it stands.
func (r *reply) keys(list string) error {
	for n := 1; ; n++ {
		open := keysOpen.FindStringSubmatchIndex(list)
		if open == nil {
			if strings.TrimSpace(list) != "" {
				r.warn("there is text in <commands> outside of keystrokes; it does not count")
			}
			r.lines()
			return nil
		}
		if strings.TrimSpace(list[:open[0]]) != "" {
			r.warn("there is text in <commands> outside of keystrokes; it does not count")
		}
		word := ""
		for _, group := range []int{2, 4} {
			if open[group] >= 0 {
				word = list[open[group]:open[group+1]]
			}
		}
		alone := open[6] < open[7]
		list = list[open[1]:]
		text := ""
		if !alone {
			var closed bool
			if text, list, closed = strings.Cut(list, keysShut); !closed {
				return r.fail(fmt.Sprintf("keystrokes %d have no end", n))
			}
		}
		if entity.MatchString(text) {
			r.warn(fmt.Sprintf("the text of keystrokes %d is typed as it stands: %s stays what it is", n, entity.FindString(text)))
		}
		s := stroke{Keys: text, Duration: usual}
		if strings.TrimSpace(word) == "" {
			r.warn(fmt.Sprintf("command %d has no duration; it is 1.0", n))
		} else {
			s.Duration = r.seconds(n, word)
		}
		r.params.Commands = append(r.params.Commands, s)
	}
}
