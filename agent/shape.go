package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"interpreter/agent/event"
)

func compile(raw json.RawMessage) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

// shape checks the last answer against the schema. The first that does not fit is asked for again, and only that
// request carries the format: set earlier it would keep the model from calling tools, and change the requests before.
func (t *turn) shape() (done bool, err error) {
	value, err := fitting(t.schema, t.final)
	if err == nil {
		t.final = value
		return true, nil
	}
	if t.tries.shape++; t.tries.shape > 1 {
		return true, fmt.Errorf("the answer does not fit the output schema: %w", err)
	}
	if err := t.mend(event.OtherShape, err.Error()); err != nil {
		return false, err
	}
	t.format = t.cfg.Schema
	return false, t.inject("output schema", fmt.Sprintf(wordsShape, brief(err)))
}

// fitting returns the JSON value in an answer that is nothing else, a fence around it aside.
func fitting(schema *jsonschema.Resolved, text string) (string, error) {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "```"); ok && strings.HasSuffix(inner, "```") {
		if _, body, ok := strings.Cut(strings.TrimSuffix(inner, "```"), "\n"); ok {
			text = strings.TrimSpace(body)
		}
	}
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return "", errors.New("it is not JSON")
	}
	return text, schema.Validate(value)
}

func brief(err error) string {
	text := err.Error()
	const most = 300
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
