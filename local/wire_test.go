package local

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"interpreter/local/chat"
)

func TestAppendJSON(t *testing.T) {
	for _, test := range []struct {
		value any
		want  string
	}{
		{"<b> & \u2028", `"<b> & \u2028"`}, {map[string]any{"b": 1, "a": true}, `{"a":true,"b":1}`}, {math.NaN(), "null"},
	} {
		if got := string(AppendJSON([]byte("x"), test.value)); got != "x"+test.want {
			t.Errorf("%v: got %s", test.value, got)
		}
	}
}

func TestAppendTool(t *testing.T) {
	for schema, want := range map[string]string{
		`{"z":1, "a":2}`: `{"z":1, "a":2}`, ``: `{"type":"object","properties":{}}`, `[]`: `{"type":"object","properties":{}}`, `{`: `{"type":"object","properties":{}}`,
	} {
		got := string(AppendTool(nil, chat.Spec{Name: "n", Description: "<d>", Parameters: json.RawMessage(schema)}))
		if got != `{"type":"function","function":{"name":"n","description":"<d>","parameters":`+want+`}}` {
			t.Errorf("%s: got %s", schema, got)
		}
	}
}

// A character whose halves come in two pieces is whole, wherever its escapes or its bytes are cut.
func TestSplice(t *testing.T) {
	for _, test := range []struct {
		pieces []string
		want   string
	}{
		{[]string{`"ok \ud83d"`, `"\ude00 end"`}, "ok 😀 end"},
		{[]string{`"ok \uD83D"`, `null`, ``, `""`, `"\uDE00"`}, "ok 😀"},
		{[]string{`"\\ud83d"`, `"x"`}, `\ud83dx`},
		{[]string{`"\\\ud83d"`, `"\ude00"`}, `\😀`},
		{[]string{"\"a\xf0\x9f\"", "\"\x98\x80b\""}, "a😀b"},
		{[]string{"\"\xe6\"", "\"\x97\"", "\"\xa5\""}, "日"},
		{[]string{`"ü"`, `"日"`, `"😀"`, `""`}, "ü日😀"},
		{[]string{"\"\xff\"", `"x"`}, "\uFFFDx"},
	} {
		var s Splice
		var got strings.Builder
		for _, piece := range test.pieces {
			text, err := s.Add(json.RawMessage(piece))
			if err != nil {
				t.Fatalf("%q: %v", test.pieces, err)
			}
			got.WriteString(text)
		}
		if got.String() != test.want {
			t.Errorf("%q: got %q, want %q", test.pieces, got.String(), test.want)
		}
	}
	var s Splice
	if _, err := s.Add(json.RawMessage(`{"a":1}`)); err == nil {
		t.Error("an object is no text")
	}
}

func TestIDs(t *testing.T) {
	ids := NewIDs([]chat.Message{{Calls: []chat.Call{{ID: "a"}, {ID: "call_3"}}}, {Result: &chat.Result{CallID: "b"}}})
	var got []string
	for _, id := range []string{"a", "b", "c", "c", ""} {
		got = append(got, ids.Name(id))
	}
	if want := "call_4 call_5 c call_6 call_7"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestRetryAfter(t *testing.T) {
	for _, test := range []struct {
		value, date string
		want        time.Duration
	}{
		{"2", "", 2 * time.Second}, {" 0.5 ", "", 500 * time.Millisecond}, {"", "", 0}, {"-1", "", 0}, {"soon", "", 0}, {"1e9", "", 0},
		{"Mon, 02 Jan 2006 15:04:35 GMT", "Mon, 02 Jan 2006 15:04:05 GMT", 30 * time.Second},
		{"Mon, 02 Jan 2006 15:04:05 GMT", "Mon, 02 Jan 2006 15:04:35 GMT", 0}, {"Mon, 02 Jan 2006 15:04:05 GMT", "", 0},
	} {
		if got := RetryAfter(http.Header{"Retry-After": {test.value}, "Date": {test.date}}); got != test.want {
			t.Errorf("%q, %q: got %s, want %s", test.value, test.date, got, test.want)
		}
	}
}
