package event

import (
	"testing"

	"interpreter/local/chat"
)

// What a server sealed goes back to it after a resume as well.
func TestSealSurvives(t *testing.T) {
	line, err := Encode(Event{Body: Said{Message: chat.Message{Role: chat.Assistant, Text: "x", Thinking: "hm", Seal: "EqRk=="}}})
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(line)
	if err != nil {
		t.Fatal(err)
	}
	if said, ok := back.Body.(Said); !ok || said.Message.Seal != "EqRk==" {
		t.Errorf("got %+v", back.Body)
	}
}
