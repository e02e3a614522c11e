package exec

import (
	"bytes"
	"encoding/json"
)

// The lines of --json and the items in them. Field order is part of what we promise to ourselves, not of the contract:
// the same run gives the same bytes.

type (
	threadStarted struct {
		Type     string `json:"type"`
		ThreadID string `json:"thread_id"`
	}
	turnStarted struct {
		Type string `json:"type"`
	}
	itemLine struct {
		Type string `json:"type"`
		Item any    `json:"item"`
	}
	turnCompleted struct {
		Type      string         `json:"type"`
		Usage     usage          `json:"usage"`
		Recovered map[string]int `json:"recovered,omitempty"` // slips of the model that were mended, by kind
	}
	turnFailed struct {
		Type      string         `json:"type"`
		Error     problem        `json:"error"`
		Recovered map[string]int `json:"recovered,omitempty"`
	}
	errorLine struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
)

type usage struct {
	Input      int `json:"input_tokens"`
	Cached     int `json:"cached_input_tokens"`
	CacheWrite int `json:"cache_write_input_tokens"`
	Output     int `json:"output_tokens"`
	Reasoning  int `json:"reasoning_output_tokens"`
}

type problem struct {
	Message string `json:"message"`
}

// head begins every item.
type head struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

type (
	textItem struct { // agent_message, reasoning
		head
		Text string `json:"text"`
	}
	errorItem struct {
		head
		Message string `json:"message"`
	}
	commandItem struct {
		head
		Command string `json:"command"`
		Output  string `json:"aggregated_output"`
		Exit    *int   `json:"exit_code"`
		Status  string `json:"status"`

		typed bool // Command is what was typed into a terminal
	}
	fileItem struct {
		head
		Changes []fileEntry `json:"changes"`
		Status  string      `json:"status"`
	}
	searchItem struct {
		head
		Query  string     `json:"query"`
		Action pageAction `json:"action"`
	}
	todoItem struct {
		head
		Items []todo `json:"items"`
	}
)

type fileEntry struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
	Move string `json:"move_path,omitempty"`
}

type pageAction struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

type todo struct {
	Text      string `json:"text"`
	Completed bool   `json:"completed"`
}

// encode makes one line of JSON, its newline included.
func encode(line any) ([]byte, error) {
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	err := out.Encode(line)
	return b.Bytes(), err
}
