package openai

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"interpreter/local/chat"
	"interpreter/local/localtest"
)

func decodeAll(p *Provider, r io.Reader) (deltas []chat.Delta, failure string) {
	d := &decoder{
		provider: p, model: "m", calls: newCalls(chat.Request{Tools: []chat.Spec{{Name: "read_file"}, {Name: "ls"}}}), began: func() {}, ended: func() {},
		emit: func(delta chat.Delta) bool {
			deltas = append(deltas, delta)
			return true
		},
	}
	if err := d.read(r); err != nil {
		failure = err.Error()
	}
	return deltas, failure
}

func decoderOf(p *Provider) localtest.Decode {
	return func(r io.Reader) ([]chat.Delta, string) { return decodeAll(p, r) }
}

func FuzzStream(f *testing.F) {
	whole := wire.Thinking("hm") + wire.Text("日本 🎉") +
		wire.Calls(chat.Call{ID: "a", Name: "read_file", Args: []byte(`{"k":"ü\n"}`)}, chat.Call{Name: "y", Args: []byte(`"{}"`)}) + wire.End(chat.Stopped, 3, 2)
	for _, seed := range []string{
		whole, whole[:len(whole)-40], wire.Fault("no"), "\r\r\n\n:\n", "data: {}\ndata: {}\n", "data:{\ndata:}\n\ndata: [DONE]", "event: error\ndata: x\n\n", "error: {}",
		`{"choices":[{"message":{"content":[{"type":"text","text":"a"}],"tool_calls":[{}]}}]}`, "{", "<html>", "\xef\xbb\xbfdata: [DONE]\n", "\x00\xff",
		`data: {"choices":[{"delta":{"content":"\ud83d"},"finish_reason":"stop"}]}`, `data: {"choices":[{"delta":{"tool_calls":[{"index":"0","id":7,"function":{"name":"ls","arguments":{}}},{"function":{"name":"ls"}}]},"finish_reason":"length"}]}`,
	} {
		f.Add([]byte(seed), 7)
	}
	files, _ := filepath.Glob("testdata/streams/*.sse")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, len(data)/2)
	}
	p := newProvider(f, "http://127.0.0.1:1", Options{})
	localtest.FuzzSplit(f, decoderOf(p))
}

// Every case in every split says the same.
func TestAnySplit(t *testing.T) {
	p := newProvider(t, "http://127.0.0.1:1", Options{})
	files, _ := filepath.Glob("testdata/streams/*.sse")
	if len(files) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		splits := []int{}
		for at := -1; at < len(data); at++ {
			splits = append(splits, at)
		}
		localtest.SameInPieces(t, data, decoderOf(p), splits...)
	}
}
