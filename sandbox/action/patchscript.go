package action

import (
	"regexp"
	"strings"
)

var (
	patchCommand = regexp.MustCompile(`\Aapply_?patch[ \t]*<<-?[ \t]*(?:'(\w+)'|"(\w+)"|(\w+))[ \t]*\r?\n`)
	changeFolder = regexp.MustCompile(`\Acd[ \t]+(?:'([^'\n]+)'|"([^"$` + "`" + `\\\n]+)"|([^\s'"$` + "`" + `\\;&|<>(){}*?~#]+))[ \t]*&&[ \t]*`)
)

// PatchInScript tells whether a shell script is nothing but a patch handed to apply_patch in a here-document, perhaps
// after one cd. It gives the patch and the folder, "" without a cd. Anything before or after makes it a command.
func PatchInScript(script string) (text, dir string, ok bool) {
	script = strings.TrimSpace(script)
	if m := changeFolder.FindStringSubmatch(script); m != nil {
		dir = m[1] + m[2] + m[3]
		script = script[len(m[0]):]
	}
	if patchCommand.FindStringIndex(script) == nil {
		return "", "", false
	}
	body, ok := unquoteHeredoc(script)
	if !ok {
		return "", "", false
	}
	m := patchCommand.FindStringSubmatch(script)
	word := m[1] + m[2] + m[3]
	for line := range strings.SplitSeq(body, "\n") {
		if strings.TrimRight(line, "\r") == word {
			return "", "", false // the document ends before the script does
		}
	}
	return body + "\n", dir, true
}

// IsPatch tells whether a text is a patch as such, without the command that would apply it.
func IsPatch(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), beginMark)
}
