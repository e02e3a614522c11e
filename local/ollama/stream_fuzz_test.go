package ollama

import (
	"io"
	"reflect"
	"testing"

	"interpreter/local/chat"
)

// halves is a body that arrives in two reads, or in single bytes when at is negative.
type halves struct {
	data []byte
	at   int
}

func (h *halves) Read(b []byte) (int, error) {
	if len(h.data) == 0 {
		return 0, io.EOF
	}
	n := len(h.data)
	switch {
	case h.at < 0:
		n = 1
	case h.at > 0:
		n, h.at = min(h.at, n), 0
	}
	n = copy(b, h.data[:n])
	h.data = h.data[n:]
	return n, nil
}

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

// FuzzStream reads any bytes without a panic, and however they are split the same deltas come out. A stream that ends
// well has exactly one last delta.
func FuzzStream(f *testing.F) {
	whole := wire.Thinking("hm") + wire.Text("日本 🎉") +
		wire.Calls(chat.Call{ID: "a", Name: "x", Args: []byte(`{"k":"ü\n"}`)}, chat.Call{Name: "y", Args: []byte(`"{}"`)}) + wire.End(chat.Stopped, 3, 2)
	for _, seed := range []string{whole, whole[:len(whole)-4], wire.Fault("no"), "\n\r\n{}\n", `{"done":true}`, `{"message":{"tool_calls":[{}]},"done":true}`,
		`{"message":null}`, "\x00\xff", `{"message":{"content":"\ud83d"},"done":false}` + "\n"} {
		f.Add([]byte(seed), 7)
	}
	f.Fuzz(func(t *testing.T, data []byte, at int) {
		want, failure := decodeAll(&halves{data: data, at: len(data)})
		for _, split := range []int{-1, 1, at % (len(data) + 1)} {
			got, other := decodeAll(&halves{data: data, at: split})
			if !reflect.DeepEqual(got, want) || other != failure {
				t.Fatalf("split %d: got %+v (%s), want %+v (%s)", split, got, other, want, failure)
			}
		}
		last := 0
		ids := map[string]bool{}
		for _, d := range want {
			if d.Finish != "" {
				last++
			}
			if d.Call != nil {
				if d.Call.ID == "" || ids[d.Call.ID] || !isObject(d.Call.Args) {
					t.Fatalf("call %+v", d.Call)
				}
				ids[d.Call.ID] = true
			}
		}
		if failure == "" && last != 1 || failure != "" && last != 0 {
			t.Fatalf("%d last deltas, error %q", last, failure)
		}
	})
}
