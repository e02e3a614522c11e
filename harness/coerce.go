package harness

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"interpreter/harness/textcall"
)

// inner opens a JSON string.
func inner(raw json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	return json.RawMessage(strings.TrimSpace(s))
}

// mended is a text as JSON when nearly JSON is what it is; else the text.
func mended(text json.RawMessage) json.RawMessage {
	if len(text) == 0 || text[0] != '[' && text[0] != '{' || json.Valid(text) {
		return text
	}
	if value, ok := textcall.Mend(text); ok {
		return value
	}
	return text
}

// lines are the elements of a list of strings that came as one: one, or one a line where paths are listed.
func (fd *field) lines(raw json.RawMessage) []json.RawMessage {
	switch fd.name {
	case "paths", "files", "file_paths", "filePaths", "filenames":
		var text string
		if json.Unmarshal(raw, &text) != nil || !strings.Contains(text, "\n") {
			break
		}
		var all []json.RawMessage
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, quoted(line))
			}
		}
		return all
	}
	return []json.RawMessage{raw}
}

// text reads a string. A number becomes its digits; the words of a command become a shell line; an object given as
// the content of a file stays as it was written.
func (fd *field) text(raw json.RawMessage) (string, bool) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, true
	}
	switch c := raw[0]; {
	case c == '-' || c >= '0' && c <= '9' || string(raw) == "true" || string(raw) == "false":
		return string(raw), true
	case c == '[' && fd.means("command"):
		var words []string
		if json.Unmarshal(raw, &words) == nil {
			return Script(words), true
		}
	case (c == '{' || c == '[') && fd.means("content"):
		return string(raw), true
	}
	return "", false
}

// Script turns an argument list into a shell line; what a shell was told to run with -c stays as it is.
func Script(argv []string) string {
	if len(argv) == 3 && (argv[1] == "-c" || argv[1] == "-lc") {
		switch argv[0][strings.LastIndexByte(argv[0], '/')+1:] {
		case "bash", "sh", "zsh", "dash":
			return argv[2]
		}
	}
	if len(argv) == 1 {
		return argv[0]
	}
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = shellWord(w)
	}
	return strings.Join(words, " ")
}

func shellWord(w string) string {
	plain := w != "" && !strings.ContainsFunc(w, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-./:=@%+,", c))
	})
	if plain {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

func truth(raw json.RawMessage) (value, ok bool) {
	word := strings.ToLower(strings.Trim(string(raw), `" `))
	switch word {
	case "true", "yes", "1":
		return true, true
	case "false", "no", "0", "":
		return false, true
	}
	return false, false
}

func number(raw json.RawMessage) (float64, bool) {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `" `), 64)
	return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
}

// oneOf finds the declared value a model meant.
func (fd *field) oneOf(text string) (string, bool) {
	want := folded(text)
	for _, v := range fd.enum {
		if folded(v) == want {
			return v, true
		}
	}
	synonyms := map[string]string{"todo": "pending", "open": "pending", "done": "completed", "complete": "completed", "finished": "completed", "doing": "inprogress", "active": "inprogress"}
	meant := func(word string) string {
		if other, ok := synonyms[word]; ok {
			return other
		}
		return word
	}
	for _, v := range fd.enum {
		if meant(folded(v)) == meant(want) {
			return v, true
		}
	}
	var near []string // of which one is the beginning of the other: count, count_matches
	for _, v := range fd.enum {
		if have := folded(v); min(len(want), len(have)) >= 4 && (strings.HasPrefix(have, want) || strings.HasPrefix(want, have)) {
			near = append(near, v)
		}
	}
	if len(near) == 1 {
		return near[0], true
	}
	return "", false
}

// folded takes case and separators out of a name.
func folded(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '-' || c == '_' || c == ' ' || c == '.':
			return -1
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		}
		return c
	}, name)
}
