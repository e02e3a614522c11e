package localtest

import (
	"io"
	"reflect"
	"testing"

	"interpreter/local"
	"interpreter/local/chat"
)

// Pieces is a body that arrives in two reads, the first up to At, or in single bytes when At is negative.
type Pieces struct {
	Data []byte
	At   int
}

func (p *Pieces) Read(b []byte) (int, error) {
	if len(p.Data) == 0 {
		return 0, io.EOF
	}
	n := len(p.Data)
	switch {
	case p.At < 0:
		n = 1
	case p.At > 0:
		n, p.At = min(p.At, n), 0
	}
	n = copy(b, p.Data[:n])
	p.Data = p.Data[n:]
	return n, nil
}

// Decode makes deltas of a body, and says how it failed, "" for not at all.
type Decode func(io.Reader) (deltas []chat.Delta, failure string)

// SameInPieces reads a body whole and in other splits, and fails when they do not say the same. It returns what was read.
func SameInPieces(t testing.TB, data []byte, decode Decode, splits ...int) ([]chat.Delta, string) {
	t.Helper()
	want, failure := decode(&Pieces{data, len(data)})
	for _, at := range splits {
		if got, other := decode(&Pieces{data, at}); !reflect.DeepEqual(got, want) || other != failure {
			t.Fatalf("split at %d: got %+v (%s), want %+v (%s)", at, got, other, want, failure)
		}
	}
	return want, failure
}

// FuzzSplit has a decoder read any bytes: it does not panic, and however they are split the same deltas come out. A
// stream that ends well has exactly one last delta, and each call an id of its own and an object as arguments.
func FuzzSplit(f *testing.F, decode Decode) {
	f.Fuzz(func(t *testing.T, data []byte, at int) {
		deltas, failure := SameInPieces(t, data, decode, -1, 1, at%(len(data)+1))
		last := 0
		ids := map[string]bool{}
		for _, d := range deltas {
			if d.Finish != "" {
				last++
			}
			if d.Call == nil {
				continue
			}
			if d.Call.ID == "" || ids[d.Call.ID] || !local.IsObject(d.Call.Args) {
				t.Fatalf("call %+v", d.Call)
			}
			ids[d.Call.ID] = true
		}
		if failure == "" && last != 1 || failure != "" && last != 0 {
			t.Fatalf("%d last deltas, error %q", last, failure)
		}
	})
}
