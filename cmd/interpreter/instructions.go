package main

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// readOptional is the text of a file that a key names, "" when it names none.
func readOptional(key, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", key, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// summary is what a person has a long conversation summed up with, "" for the harness's own words.
func (s *settings) summary() (string, error) {
	if s.CompactPrompt != "" {
		return s.CompactPrompt, nil
	}
	return readOptional("experimental_compact_prompt_file", s.CompactPromptFile)
}

// ownSummary is the prose of a harness with another request for a summary.
type ownSummary struct {
	fs.FS
	text string
}

func (o ownSummary) ReadFile(name string) ([]byte, error) {
	if name == "compact.md" {
		return []byte(o.text), nil
	}
	return fs.ReadFile(o.FS, name)
}
