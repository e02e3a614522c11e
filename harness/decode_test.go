package harness

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

type sample struct {
	Path    string   `json:"path"`
	Content string   `json:"content,omitempty"`
	Offset  int      `json:"offset,omitempty" base:"0"`
	Limit   float64  `json:"limit,omitempty" default:"10" min:"1" max:"100"`
	All     bool     `json:"replace_all,omitempty"`
	Words   []string `json:"words,omitempty"`
	Files   []string `json:"files,omitempty"`
	Mode    string   `json:"mode,omitempty" enum:"in_progress,completed"`
	Wait    int      `json:"timeout,omitempty" unit:"ms"`
	Items   []struct {
		Text string `json:"step"`
		ID   string `json:"id" absent:"ok"`
	} `json:"items,omitempty"`
	Filter *struct {
		On bool `json:"on,omitempty" default:"true"`
	} `json:"filter,omitempty"`
}

func TestDecode(t *testing.T) {
	form := formOf(reflect.TypeFor[sample]())
	for _, tt := range []struct {
		args string
		want func(*sample)
	}{
		{`{"path":"a"}`, nil},
		{`"{\"path\":\"a\"}"`, nil},
		{`"a"`, nil},
		{`{"arguments":{"path":"a"}}`, nil},
		{`{"arguments":"{\"path\":\"a\"}"}`, nil},
		{`{"file_path":"a","nonsense":1}`, nil},
		{`{"path</arg_key>":"a"}`, nil},
		{`{"path":"a","offset":null}`, nil},
		{`{"path":"a","offset":"3","limit":"20.0"}`, func(s *sample) { s.Offset, s.Limit = 3, 20 }},
		{`{"path":"a","start_line":3}`, func(s *sample) { s.Offset = 2 }},
		{`{"path":"a","view_range":[3,7]}`, func(s *sample) { s.Offset, s.Limit = 2, 5 }},
		{`["a"]`, nil},
		{`[{"path":"a"}]`, nil},
		{`"{'path': 'a',}"`, nil},
		{`{"name":"t","input":{"path":"a"}}`, nil},
		{`{"tool_input":{"path":"a"}}`, nil},
		{`{"path":"a","start_line":3,"end_line":7}`, func(s *sample) { s.Offset, s.Limit = 2, 5 }},
		{`{"path":"a","start":"3","end_line":"7"}`, func(s *sample) { s.Offset, s.Limit = 3, 5 }},
		{`{"path":"a","end_line":7}`, func(s *sample) { s.Limit = 7 }},
		{`{"path":"a","offset":20.0}`, func(s *sample) { s.Offset = 20 }},
		{`{"path":"a","replace_all":1}`, func(s *sample) { s.All = true }},
		{`{"path":"a","replace_all":"no"}`, nil},
		{`{"path":"a","mode":"complete"}`, func(s *sample) { s.Mode = "completed" }},
		{`{"path":"a","items":"[{'step': 'x', 'id': '1'}]"}`, func(s *sample) {
			s.Items = append(s.Items, struct {
				Text string `json:"step"`
				ID   string `json:"id" absent:"ok"`
			}{"x", "1"})
		}},
		{`{"path":"a","items":{"step":"x"}}`, func(s *sample) {
			s.Items = append(s.Items, struct {
				Text string `json:"step"`
				ID   string `json:"id" absent:"ok"`
			}{"x", ""})
		}},
		{`{"path":"a","filter":"{\"on\":\"yes\"}"}`, func(s *sample) {
			s.Filter = &struct {
				On bool `json:"on,omitempty" default:"true"`
			}{true}
		}},
		{`{"path":"a","files":"x\ny\n"}`, func(s *sample) { s.Files = []string{"x", "y"} }},
		{`{"path":"a","words":"x\ny"}`, func(s *sample) { s.Words = []string{"x\ny"} }},
		{`{"path":"a","limit":1000}`, func(s *sample) { s.Limit = 100 }},
		{`{"path":"a","limit":0}`, nil},
		{`{"path":"a","replaceAll":"yes"}`, func(s *sample) { s.All = true }},
		{`{"path":"a","expected_replacements":2}`, func(s *sample) { s.All = true }},
		{`{"path":"a","words":"x"}`, func(s *sample) { s.Words = []string{"x"} }},
		{`{"path":"a","words":"[\"x\",\"y\"]"}`, func(s *sample) { s.Words = []string{"x", "y"} }},
		{`{"path":"a","mode":"In-Progress"}`, func(s *sample) { s.Mode = "in_progress" }},
		{`{"path":"a","mode":"done"}`, func(s *sample) { s.Mode = "completed" }},
		{`{"path":"a","timeout":5}`, func(s *sample) { s.Wait = 5000 }},
		{`{"path":"a","timeout_seconds":90}`, func(s *sample) { s.Wait = 90_000 }},
		{`{"path":"a","timeout":5000}`, func(s *sample) { s.Wait = 5000 }},
		{`{"path":7}`, func(s *sample) { s.Path = "7" }},
		{`{"path":"a","text":"x"}`, func(s *sample) { s.Content = "x" }},
		{`{"path":"a","content":{"b": 1}}`, func(s *sample) { s.Content = `{"b": 1}` }},
		{`{"path":"a","items":["x",{"task":"y","id":2}]}`, func(s *sample) {
			s.Items = append(s.Items, struct {
				Text string `json:"step"`
				ID   string `json:"id" absent:"ok"`
			}{"x", ""}, struct {
				Text string `json:"step"`
				ID   string `json:"id" absent:"ok"`
			}{"y", "2"})
		}},
	} {
		want := sample{Path: "a", Limit: 10}
		if tt.want != nil {
			tt.want(&want)
		}
		var got sample
		if _, err := form.decode("t", json.RawMessage(tt.args), reflect.ValueOf(&got).Elem()); err != nil {
			t.Errorf("%s: %v", tt.args, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", tt.args, got, want)
		}
	}
	var got sample
	if _, err := form.decode("t", json.RawMessage(`{"path":"a","filter":{}}`), reflect.ValueOf(&got).Elem()); err != nil || got.Filter == nil || !got.Filter.On {
		t.Errorf("a default inside an object: %+v, %v", got.Filter, err)
	}
}

func TestDecodeFails(t *testing.T) {
	form := formOf(reflect.TypeFor[sample]())
	for args, want := range map[string]string{
		`{}`:                                "path is missing",
		`{"path":null}`:                     "path is missing",
		`[1]`:                               "not a JSON object",
		`{"path":{"a":1}}`:                  "path must be a string",
		`{"path":"a","offset":1.5}`:         "offset must be an integer",
		`{"path":"a","offset":"many"}`:      "offset must be an integer",
		`{"path":"a","offset":1e300}`:       "offset must be an integer",
		`{"path":"a","replace_all":"hm"}`:   "replace_all must be true or false",
		`{"path":"a","mode":"x"}`:           "mode must be one of in_progress, completed",
		`{"path":"a","words":7}`:            "words must be an array",
		`{"path":"a","items":[{"id":"1"}]}`: "items[0].step is missing",
	} {
		var got sample
		_, err := form.decode("t", json.RawMessage(args), reflect.ValueOf(&got).Elem())
		var bad *ArgumentsError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want …%s…", args, err, want)
		}
	}
}

func TestSchema(t *testing.T) {
	form := formOf(reflect.TypeFor[struct {
		A string `json:"a"`
		B []struct {
			C string `json:"c" enum:"x,y"`
		} `json:"b,omitempty" min:"1" max:"3"`
		D *struct {
			E bool `json:"e,omitempty" default:"true"`
		} `json:"d,omitempty"`
	}]())
	want := `{"type":"object","properties":{"a":{"type":"string","description":"A <b> & c."},"b":{"type":"array","items":{"type":"object","properties":{"c":{"type":"string","description":"C.","enum":["x","y"]}},"required":["c"]},"minItems":1,"maxItems":3},"d":{"description":"D.","type":"object","properties":{"e":{"type":"boolean","default":true}}}},"required":["a"]}`
	if got := string(form.schema(map[string]string{"a": "A <b> & c.", "b.c": "C.", "d": "D."})); got != want {
		t.Errorf("schema\n%s\nwant\n%s", got, want)
	}
}

func TestScript(t *testing.T) {
	for want, argv := range map[string][]string{
		"ls | wc":         {"bash", "-lc", "ls | wc"},
		"ls -a":           {"ls", "-a"},
		"echo 'a b' '$x'": {"echo", "a b", "$x"},
		"echo 'it'\\''s'": {"echo", "it's"},
		"go test ./...":   {"go test ./..."},
	} {
		if got := Script(argv); got != want {
			t.Errorf("%q: %s, want %s", argv, got, want)
		}
	}
}

func FuzzDecodeArguments(f *testing.F) {
	for _, s := range []string{`{"path":"a","view_range":[3,7]}`, `"{}"`, `{"items":[null,"x",{}]}`, `{"path":"a","filter":"{}"}`, `{"words":""}`} {
		f.Add(s)
	}
	form := formOf(reflect.TypeFor[sample]())
	f.Fuzz(func(t *testing.T, args string) {
		var got sample
		_, err := form.decode("t", json.RawMessage(args), reflect.ValueOf(&got).Elem())
		var bad *ArgumentsError
		if err != nil && (!errors.As(err, &bad) || len(bad.Problems) == 0 || len(bad.Expected) == 0) {
			t.Errorf("%q: %v", args, err)
		}
		if err == nil && (got.Limit < 1 || got.Limit > 100) {
			t.Errorf("%q: limit %v", args, got.Limit)
		}
	})
}
