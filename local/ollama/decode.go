package ollama

import (
	"io"
	"iter"

	"interpreter/local/chat"
)

// Decode reads the body of one answer of the native chat as a model of this package does.
func Decode(body io.Reader) iter.Seq2[chat.Delta, error] {
	return func(yield func(chat.Delta, error) bool) {
		gone := false
		err := newDecoder("", nil).read(body, func(d chat.Delta) bool {
			gone = !yield(d, nil)
			return !gone
		})
		if err != nil && !gone {
			yield(chat.Delta{}, err)
		}
	}
}
