package action

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
)

const parseMost = 1 << 20 // bytes of a file that is checked

// languages are those that can be checked without a program, by the extension of a file.
var languages = map[string]struct {
	name  string
	check func(string) error
}{
	".go":   {"Go", parseGo},
	".json": {"JSON", parseJSON},
	".toml": {"TOML", parseTOML},
	".xml":  {"XML", parseXML},
	".svg":  {"XML", parseXML},
}

// brokenBy tells what a change did to the syntax of a file: "" when it parses, could not be parsed before either, or is
// in a language that cannot be checked. before is nil of a new file. Both are the bytes of the file.
func brokenBy(path string, before, after []byte) string {
	language, ok := languages[strings.ToLower(filepath.Ext(path))]
	if !ok || len(after) > parseMost || len(bytes.TrimSpace(after)) == 0 {
		return ""
	}
	text, _, err := decode(after)
	if err != nil {
		return ""
	}
	wrong := language.check(text)
	if wrong == nil {
		return ""
	}
	if len(bytes.TrimSpace(before)) == 0 {
		return fmt.Sprintf("%s does not parse as %s: %v", path, language.name, wrong)
	}
	if text, _, err := decode(before); err != nil || language.check(text) != nil {
		return ""
	}
	return fmt.Sprintf("%s does not parse as %s any more: %v", path, language.name, wrong)
}

// withSyntax adds a note for every file that a change broke.
func (c Changed) withSyntax(path string, before, after []byte) Changed {
	if note := brokenBy(path, before, after); note != "" {
		c.Notes = append(c.Notes, note)
	}
	return c
}

func parseGo(text string) error {
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return fmt.Errorf("line %d:%d: %s", list[0].Pos.Line, list[0].Pos.Column, list[0].Msg)
	}
	return err
}

func parseJSON(text string) error {
	d := json.NewDecoder(strings.NewReader(text))
	var v json.RawMessage
	err := d.Decode(&v)
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return nil
		}
		return fmt.Errorf("line %d: something follows the value", lineAt(text, int(d.InputOffset())))
	}
	var se *json.SyntaxError
	if errors.As(err, &se) {
		at := max(0, min(int(se.Offset)-1, len(text)))
		return fmt.Errorf("line %d:%d: %w", lineAt(text, at), at-strings.LastIndexByte(text[:at], '\n'), err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("line %d: it ends too early", len(splitLines(text)))
	}
	return err
}

func parseTOML(text string) error {
	var v map[string]any
	_, err := toml.Decode(text, &v)
	var pe toml.ParseError
	if errors.As(err, &pe) {
		return fmt.Errorf("line %d: %s", pe.Position.Line, pe.Message)
	}
	return err
}

func parseXML(text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 already
	for {
		_, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return xmlError(err)
		}
	}
}

func xmlError(err error) error {
	var se *xml.SyntaxError
	if errors.As(err, &se) {
		return fmt.Errorf("line %d: %s", se.Line, se.Msg)
	}
	return err
}
