package textcall

import "strings"

// readGemma reads the calls of Gemma 4 and FunctionGemma, and the thoughts of the first:
//
//	<|tool_call>call:NAME{key:<|"|>text<|"|>,n:20}<tool_call|>
//	<start_function_call>call:NAME{key:<escape>text<escape>}<end_function_call>
//	<|channel>thought … <channel|>
func readGemma(s *scanner, at int, l lexeme) (group, bool) {
	if l.name == "|channel" {
		end := strings.Index(s.text[l.end:], "<channel|>")
		value, after := s.text[l.end:], len(s.text)
		if end >= 0 {
			value, after = value[:end], l.end+end+len("<channel|>")
		}
		word, thought, _ := strings.Cut(value, "\n")
		if strings.TrimSpace(word) != "thought" && strings.TrimSpace(word) != "" {
			thought = value
		}
		s.unclosed = s.unclosed || end < 0
		return group{thought: strings.TrimSpace(thought), end: after}, true
	}
	var g group
	at = l.end
	for len(g.calls) < most {
		c, end, is := s.gemmaCall(at)
		if is == maybe {
			return group{cut: true}, true
		}
		if is == no {
			break
		}
		g.calls = append(g.calls, c)
		g.end = end
		if at = blanks(s.text, end); !strings.HasPrefix(s.text[at:], "call:") {
			break
		}
	}
	return g, len(g.calls) > 0
}

func (s *scanner) gemmaCall(at int) (c found, end int, is whether) {
	at = blanks(s.text, at)
	at += len(s.text[at:]) - len(strings.TrimPrefix(s.text[at:], "call:"))
	n := strings.IndexAny(s.text[at:min(len(s.text), at+100)], "{(<")
	if n < 0 {
		if len(s.text)-at < 100 {
			return c, at, maybe
		}
		return c, at, no
	}
	name := strings.TrimSpace(s.text[at : at+n])
	if !plausible(cleanName(name)) || s.text[at+n] != '{' {
		return c, at, no
	}
	d := &gemma{in: s.text, at: at + n, tidy: true}
	stop := d.stop()
	if t := s.box.find(s.box.named(name)); t.onlyString() != "" && stop >= 0 {
		inside := strings.TrimSuffix(strings.TrimSpace(s.text[d.at+1:stop]), "}")
		if inside != "" && !strings.Contains(inside, ":") { // one bare string for the only one there is
			inside = strings.Trim(delimiters.Replace(inside), `"`)
			c = s.typedCall(name, []member{{t.onlyString(), quote(inside)}}, medium)
			return c, s.gemmaEnd(stop), yes
		}
	}
	value, ok := d.value(0)
	if !ok {
		s.spend(d.at - at)
		if stop < 0 {
			return c, at, maybe
		}
		return s.call(name, "", s.text[at+n:stop], medium), s.gemmaEnd(stop), yes
	}
	c = s.call(name, "", value, high)
	end = blanks(s.text, d.at)
	for end < len(s.text) && s.text[end] == '}' {
		end++
		d.tidy = false
	}
	if next, ok := s.lexAt(blanks(s.text, end)); !d.tidy || !ok || next.name != "tool_call|" && next.name != "end_function_call" {
		c.level, c.mended = medium, c.mended || !d.tidy
	}
	return c, s.gemmaEnd(end), yes
}

// gemmaEnd steps over closing marks, one or more.
func (s *scanner) gemmaEnd(at int) int {
	for {
		l, ok := s.lexAt(blanks(s.text, at))
		if !ok || l.name != "tool_call|" && l.name != "end_function_call" {
			return at
		}
		at = l.end
	}
}

// gemma reads the literals between braces.
type gemma struct {
	in   string
	at   int
	end  int // of the call, when it was looked for; -1: there is none
	seen bool
	tidy bool
}

// stop is where the mark stands that ends the call; -1 when there is none.
func (d *gemma) stop() int {
	if !d.seen {
		d.seen, d.end = true, -1
		for _, mark := range []string{"<tool_call|>", "<end_function_call>"} {
			if n := strings.Index(d.in[d.at:], mark); n >= 0 && (d.end < 0 || d.at+n < d.end) {
				d.end = d.at + n
			}
		}
	}
	return d.end
}

func (d *gemma) value(depth int) (string, bool) {
	if d.at = blanks(d.in, d.at); d.at >= len(d.in) || depth > deepest {
		return "", false
	}
	rest := d.in[d.at:]
	switch {
	case rest[0] == '{':
		return d.object(depth)
	case rest[0] == '[':
		d.at++
		var all []string
		for {
			d.at = blanks(d.in, d.at)
			if d.at >= len(d.in) {
				return "", false
			}
			switch d.in[d.at] {
			case ']':
				d.at++
				return "[" + strings.Join(all, ",") + "]", true
			case ',':
				d.at++
				continue
			}
			v, ok := d.value(depth + 1)
			if !ok {
				return "", false
			}
			all = append(all, v)
		}
	case strings.HasPrefix(rest, `<|"|>`):
		return d.text(`<|"|>`)
	case strings.HasPrefix(rest, "<escape>"):
		return d.text("<escape>")
	case rest[0] == '"' || rest[0] == '\'':
		d.tidy = false
		for i := 1; i < len(rest); i++ {
			if rest[i] == '\\' {
				i++
			} else if next := blanks(rest, i+1); rest[i] == rest[0] && next < len(rest) && strings.IndexByte(",}]", rest[next]) >= 0 {
				d.at += i + 1
				return quote(plainEscapes.Replace(rest[1:i])), true
			}
		}
		return "", false
	}
	n := strings.IndexAny(rest, ",}]\n<")
	if n < 0 {
		return "", false
	}
	word := strings.TrimSpace(rest[:n])
	d.at += n
	switch word {
	case "true", "false", "null":
		return word, true
	case "True", "False":
		return strings.ToLower(word), true
	case "None", "":
		return "null", word != ""
	}
	if end, ok := spanNumber(word, 0); ok && end == len(word) {
		return word, true
	}
	d.tidy = false
	d.at += d.loose(d.in[d.at:])
	return quote(strings.TrimSpace(rest[:len(rest)-len(d.in[d.at:])])), true
}

var delimiters = strings.NewReplacer(`<|"|>`, "", "<escape>", "")

var plainEscapes = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, "'", `\\`, `\`)

// text reads a string between two equal delimiters. Where the second is missing, the string ends before the next key
// or the end of the call.
func (d *gemma) text(mark string) (string, bool) {
	from := d.at + len(mark)
	n := strings.Index(d.in[from:], mark)
	stop := d.stop()
	if n >= 0 && (stop < 0 || from+n < stop || strings.IndexByte(",}]", d.in[min(len(d.in)-1, blanks(d.in, from+n+len(mark)))]) >= 0) {
		if value := d.in[from : from+n]; !keyEnds(value) {
			d.at = from + n + len(mark)
			return quote(value), true
		}
	}
	if stop < 0 {
		return "", false
	}
	d.tidy = false
	n = d.loose(d.in[from:])
	d.at = from + n
	return quote(d.in[from : from+n]), true
}

// keyEnds reports whether what was taken for a string ends with the beginning of the next pair: its own end is missing.
func keyEnds(value string) bool {
	if !strings.HasSuffix(value, ":") {
		return false
	}
	at := strings.LastIndexByte(value, ',')
	return at >= 0 && len(value)-at < 60 && plausible(strings.TrimSpace(value[at+1:len(value)-1]))
}

// loose is how far a string without an end goes: to the next ,key: or the last brace of the call.
func (d *gemma) loose(rest string) int {
	limit := len(rest)
	if stop := d.stop(); stop >= 0 {
		limit = max(0, min(limit, stop-(len(d.in)-len(rest))))
	}
	for i := 0; i < limit; i++ {
		if rest[i] != ',' {
			continue
		}
		n := i + 1
		for n < limit && isWord(rest[n]) {
			n++
		}
		if n > i+1 && n < limit && rest[n] == ':' {
			return i
		}
	}
	for i := limit - 1; i >= 0; i-- {
		if c := rest[i]; c == '}' {
			return i
		} else if c != ' ' && c != '\n' {
			return i + 1
		}
	}
	return limit
}

func (d *gemma) object(depth int) (string, bool) {
	d.at++
	var all []member
	for {
		d.at = blanks(d.in, d.at)
		if d.at >= len(d.in) {
			return "", false
		}
		switch c := d.in[d.at]; {
		case c == '}':
			d.at++
			return objectOf(all), true
		case c == ',':
			d.at++
			continue
		case d.at == d.stop() && depth == 0: // the brace is missing
			d.tidy = false
			return objectOf(all), true
		}
		n := strings.IndexByte(d.in[d.at:min(len(d.in), d.at+100)], ':')
		if n <= 0 {
			return "", false
		}
		key := strings.Trim(strings.TrimSpace(delimiters.Replace(d.in[d.at:d.at+n])), `"'`)
		if key == "" || strings.ContainsAny(key, "{}<\n") {
			return "", false
		}
		d.at += n + 1
		v, ok := d.value(depth + 1)
		if !ok {
			return "", false
		}
		all = append(all, member{key, v})
	}
}
