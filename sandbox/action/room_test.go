package action

import (
	"context"
	"strings"
	"testing"
)

// Where there is room for less than a reading may have, it ends with a whole line and says so.
func TestReadKeepsToTheRoom(t *testing.T) {
	w := workspace(t, map[string]string{"long": strings.Repeat("123456789\n", 1000), "wide": strings.Repeat("x", 9000) + "\nnext\n"})
	for _, c := range []struct {
		read        Read
		room        int
		first, last int
		cut         bool
	}{
		{Read{Path: "long"}, 0, 1, 1000, false},
		{Read{Path: "long"}, 2100, 1, 100, true},                // 10 bytes of text and 7 of the number, 400 left for the words around
		{Read{Path: "long", Tail: 500}, 2100, 901, 1000, false}, // the end was asked for
		{Read{Path: "long", Limit: 20}, 2100, 1, 20, true},
		{Read{Path: "long", Columns: -1}, 2100, 1, 1000, false}, // whoever wants whole lines shortens the text
		{Read{Path: "wide", Columns: 9000}, 2100, 1, 1, true},
	} {
		out, err := c.read.Do(WithRoom(context.Background(), c.room), w)
		if err != nil || out.First != c.first || out.Last != c.last || out.Cut != c.cut {
			t.Errorf("%+v in %d: lines %d-%d, cut %t, %v", c.read, c.room, out.First, out.Last, out.Cut, err)
		}
		if c.room > 0 && c.read.Columns >= 0 && len(out.Text) > c.room {
			t.Errorf("%+v in %d: %d bytes", c.read, c.room, len(out.Text))
		}
	}
}
