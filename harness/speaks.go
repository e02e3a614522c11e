package harness

import "fmt"

// A WireError is a harness on a wire that it is not made for.
type WireError struct{ Harness, Wire string }

func (e *WireError) Error() string {
	return fmt.Sprintf("harness %s is not made for the %s wire", e.Harness, e.Wire)
}

// Speaks reports whether a harness can be presented on a wire, which is "ollama", "chat", "responses" or "messages"; ""
// is one that is not known yet. A *WireError is the messages wire, where a harness must be made for it: the families
// that know that wire expect its own shapes, and no other family was trained on them.
func (h Harness) Speaks(wire string) error {
	if wire == "messages" && !h.Messages {
		return &WireError{h.Name, wire}
	}
	return nil
}
