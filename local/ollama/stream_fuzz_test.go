package ollama

import (
	"io"
	"testing"

	"interpreter/local/chat"
	"interpreter/local/localtest"
)

func decodeAll(r io.Reader) (deltas []chat.Delta, failure string) {
	err := newDecoder("m", nil).read(r, func(d chat.Delta) bool {
		deltas = append(deltas, d)
		return true
	})
	if err != nil {
		failure = err.Error()
	}
	return deltas, failure
}

func FuzzStream(f *testing.F) {
	whole := wire.Thinking("hm") + wire.Text("日本 🎉") +
		wire.Calls(chat.Call{ID: "a", Name: "x", Args: []byte(`{"k":"ü\n"}`)}, chat.Call{Name: "y", Args: []byte(`"{}"`)}) + wire.End(chat.Stopped, 3, 2)
	for _, seed := range []string{whole, whole[:len(whole)-4], wire.Fault("no"), "\n\r\n{}\n", `{"done":true}`, `{"message":{"tool_calls":[{}]},"done":true}`,
		`{"message":null}`, "\x00\xff", `{"message":{"content":"\ud83d"},"done":false}` + "\n"} {
		f.Add([]byte(seed), 7)
	}
	localtest.FuzzSplit(f, decodeAll)
}
