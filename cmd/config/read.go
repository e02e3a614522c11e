package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode"

	"github.com/BurntSushi/toml"
)

// readFile reads one file of settings. A file that is not there is no error: found is false.
func readFile(path string) (tree map[string]any, at *places, found bool, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, false, nil
	}
	if err != nil {
		return nil, nil, false, fmt.Errorf("read settings: %w", err)
	}
	text, err := DecodeText(raw)
	if err != nil {
		return nil, nil, true, &Error{Path: path, Problem: err.Error()}
	}
	tree, at, err = parse(path, text)
	return tree, at, true, err
}

func parse(path, text string) (map[string]any, *places, error) {
	tree := map[string]any{}
	at := &places{text: text}
	_, err := toml.Decode(text, &tree)
	if err == nil {
		return tree, at, nil
	}
	var syntax toml.ParseError
	if !errors.As(err, &syntax) {
		return nil, nil, &Error{Path: path, Problem: err.Error()}
	}
	if strings.Contains(syntax.Message, "already") {
		if key, first, second, ok := at.twice(); ok {
			return nil, nil, &Error{Path: path, Line: second, Key: dotted(key),
				Problem: fmt.Sprintf("defined twice, on line %d and on line %d", first, second)}
		}
	}
	problem := strings.TrimSuffix(syntax.Message, ".")
	if first := []rune(problem); len(first) > 1 && unicode.IsLower(first[1]) {
		problem = string(unicode.ToLower(first[0])) + string(first[1:])
	}
	if strings.Contains(problem, "escape") || strings.Contains(problem, "hexadecimal digits") {
		problem += "; write a path with backslashes in single quotes"
	}
	return nil, nil, &Error{Path: path, Line: max(syntax.Position.Line, 1), Column: max(syntax.Position.Col, 1), Problem: problem}
}
