package textcall

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// The ladder, row by row.
func TestRepair(t *testing.T) {
	for _, tt := range []struct{ about, in, want, step string }{
		{"1 none", ` {"a": 1} `, `{"a":1}`, ""},
		{"2 a byte order mark", "\ufeff{\"a\":1}", `{"a":1}`, "junk around it"},
		{"2 a fence", "```json\n{\"a\":1}\n```", `{"a":1}`, "junk around it"},
		{"2 a semicolon", `{"a":1};`, `{"a":1}`, "junk around it"},
		{"2 a token", `{"a":1}<|im_end|>`, `{"a":1}`, "junk around it"},
		{"2 tags of thinking", `<think>so</think>{"a":1}`, `{"a":1}`, "junk around it"},
		{"2 words", `Here it is: {"a":1}. Done.`, `{"a":1}`, "junk around it"},
		{"3 a line break", "{\"a\":\"x\ny\tz\r\"}", `{"a":"x\ny\tz\r"}`, "control characters"},
		{"3 others are dropped", "{\"a\":\"x\x00\x07y\"}", `{"a":"xy"}`, "control characters"},
		{"4 trailing commas", `{"a":[1,2,],}`, `{"a":[1,2]}`, "trailing comma"},
		{"4 not inside strings", `{"a":",}",}`, `{"a":",}"}`, "trailing comma"},
		{"5 literals", `{"a":True,"b":False,"c":None,"d":undefined,"e":NaN}`, `{"a":true,"b":false,"c":null,"d":null,"e":null}`, "foreign literals"},
		{"5 comments", "{\"a\":1, // one\n/* two */ \"b\":\"//x\"}", `{"a":1,"b":"//x"}`, "foreign literals"},
		{"6 single quotes", `{'a': 'it\'s', "b": "it's"}`, `{"a":"it's","b":"it's"}`, "invalid escapes"},
		{"6 an apostrophe", `{'a': 'it's so', 'b': 'x "y"'}`, `{"a":"it's so","b":"x \"y\""}`, "inner quotes"},
		{"6 typographic quotes", `{“a”: “b”}`, `{"a":"b"}`, "single quotes"},
		{"7 bare keys", `{a: 1, b-c: "x"}`, `{"a":1,"b-c":"x"}`, "bare keys"},
		{"7 other signs", `{"a" = 1, b => 2}`, `{"a":1,"b":2}`, "bare keys"},
		{"7 no colon", `{"a" "x"}`, `{"a":"x"}`, "bare keys"},
		{"8 inner quotes", `{"command":"echo "hi" > f"}`, `{"command":"echo \"hi\" > f"}`, "inner quotes"},
		{"8 inner quotes and a key behind", `{"content":"<a href="x">y</a>, "z"","path":"a"}`, `{"content":"<a href=\"x\">y</a>, \"z\"","path":"a"}`, "inner quotes"},
		{"8 a list", `{"a":["say "x"","y"]}`, `{"a":["say \"x\"","y"]}`, "inner quotes"},
		{"9 escapes", `{"re":"\d+\s\.go","c":"it\'s"}`, `{"re":"\\d+\\s\\.go","c":"it's"}`, "invalid escapes"},
		{"9 half a code", `{"a":"\u12"}`, `{"a":"\\u12"}`, "invalid escapes"},
		{"10 missing commas", "{\"a\":1\n\"b\":[1 ,{\"c\":2}{\"d\":3}]}", `{"a":1,"b":[1,{"c":2},{"d":3}]}`, "missing comma"},
		{"10 between strings", `{"a":"x" "b":"y"}`, `{"a":"x","b":"y"}`, "missing comma"},
		{"11 missing closers", `{"a":{"b":[1`, `{"a":{"b":[1]}}`, "missing closer"},
		{"11 in the middle", `{"a":[1,2}`, `{"a":[1,2]}`, "missing closer"},
		{"12 extra closers", `{"a":1}}]`, `{"a":1}`, "extra closer"},
		{"13 an empty one first", `{}{"a":1}`, `{"a":1}`, "concatenated"},
		{"14 doubled", `{"a":1}{"a":1}`, `{"a":1}`, "doubled"},
		{"15 encoded twice", `"{\"a\":1}"`, `{"a":1}`, "encoded twice"},
		{"15 three times", `"\"{\\\"a\\\":1}\""`, `{"a":1}`, "encoded twice"},
		{"16 a list of one", `[{"a":1}]`, `{"a":1}`, "list for object"},
		{"16 a list of pairs", `[{"a":1},{"b":2}]`, `{"a":1,"b":2}`, "list for object"},
		{"a doubled beginning", `{"{"a": 1}`, `{"a":1}`, "doubled"},
		{"no-break spaces", "{\u00a0\"a\":\u202f\"x\u00a0y\"}", "{\"a\":\"x\u00a0y\"}", "control characters"},
	} {
		got, step, ok := Repair([]byte(tt.in))
		if !ok {
			t.Errorf("%s: refused", tt.about)
			continue
		}
		var have, want any
		if err := json.Unmarshal(got, &have); err != nil {
			t.Errorf("%s: %s: %v", tt.about, got, err)
			continue
		}
		if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(have, want) || step != tt.step {
			t.Errorf("%s: %s (%s), want %s (%s)", tt.about, got, step, tt.want, tt.step)
		}
	}
}

func TestRepairRefuses(t *testing.T) {
	for about, in := range map[string]string{
		"17 nothing":              "",
		"17 prose":                "no object here",
		"a string cut off":        `{"command":"rm -rf /tmp/x`,
		"cut behind inner quotes": `{"command":"echo "hi`,
		"cut behind an end":       `{"command":"echo "hi" > f`,
		"cut in a key":            `{"comm`,
		"cut behind a colon":      `{"command":`,
		"two different objects":   `{"a":1}{"b":2}`,
		"a number":                `17`,
		"a list of numbers":       `[1,2]`,
		"a bare word":             `{"a": banana}`,
		"more than a megabyte":    `{'a':'` + strings.Repeat("x", 1<<20) + `'}`,
	} {
		if got, step, ok := Repair([]byte(in)); ok {
			t.Errorf("%s: %s (%s)", about, got, step)
		}
	}
	if _, _, ok := Repair([]byte(`{"a":"` + strings.Repeat("x", 2<<20) + `"}`)); !ok {
		t.Error("strict JSON may be of any length")
	}
}

// span and the standard library agree on what JSON is.
func FuzzSpan(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e+3,"\u00e9\n",true,null,{}]}`, `[]`, `{"a"}`, "\"\x01\"", `01`, `1.`, `"\x"`, ` {} `, `{"a":1,}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := isJSON(text), json.Valid([]byte(text)); got != want && strings.Count(text, "[")+strings.Count(text, "{") < deepest {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		if isObject(text) && utf8.ValidString(text) {
			var m map[string]json.RawMessage
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				t.Fatal(err)
			}
			all := members(text)
			for key, value := range m {
				if got := pick(all, key); got != strings.TrimSpace(string(value)) {
					t.Errorf("%q: %q is %q, want %q", text, key, got, value)
				}
			}
		}
	})
}

func FuzzRepair(f *testing.F) {
	for _, s := range []string{`{'a': 'it's', b: [1,2,],}`, `{"a":"x"y"}`, `"{\"a\":1}"`, `{}{"a":1}`, "{\"a\" => True // x\n}", `[{"a":1},{"b":2}]`, `{"{"a":"\d"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, _, ok := Repair([]byte(text))
		if ok && (!json.Valid(got) || got[0] != '{') {
			t.Fatalf("%q became %q", text, got)
		}
		again, step, fine := Repair(got)
		if ok && (!fine || step != "" || string(again) != string(got)) {
			t.Fatalf("%q became %q and then %q", text, got, again)
		}
	})
}
