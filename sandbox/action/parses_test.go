package action

import (
	"context"
	"strings"
	"testing"
)

func TestSyntaxAfterAChange(t *testing.T) {
	tests := []struct{ name, path, before, after, want string }{
		{"Go that broke", "a.go", "package a\n\nfunc f() {}\n", "package a\n\nfunc f() {\n", "a.go does not parse as Go any more: line 3:12: expected '}'"},
		{"Go that was broken", "a.go", "package a\nfunc {\n", "package a\nfunc (\n", ""},
		{"Go that is fine", "a.go", "package a\n", "package a\n\nvar x = 1\n", ""},
		{"new Go", "a.go", "", "package\n", "a.go does not parse as Go: line 1:"},
		{"JSON that broke", "a.json", "{\"a\": 1}\n", "{\"a\": 1,}\n", "a.json does not parse as JSON any more: line 1:9: invalid character"},
		{"JSON that ends", "a.json", "{\"a\": 1}\n", "{\"a\": 1\n", "line 1: it ends too early"},
		{"JSON with more", "a.json", "{}", "{}\n{}\n", "line 2"},
		{"JSON with comments", "a.json", "// x\n{}\n", "// x\n{,}\n", ""},
		{"TOML", "a.toml", "a = 1\n", "a = 1\nb = \n", "TOML any more: line 2"},
		{"XML", "a.xml", "<a><b/></a>", "<a><b></a>", "XML any more: line 1: element <b> closed by </a>"},
		{"BOM and CRLF", "a.go", "\xef\xbb\xbfpackage a\r\n", "\xef\xbb\xbfpackage a\r\n\r\nvar x = 2\r\n", ""},
		{"no language", "a.txt", "x", "{", ""},
	}
	for _, c := range tests {
		got := brokenBy(c.path, []byte(c.before), []byte(c.after))
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	w := workspace(t, map[string]string{"a.go": "package a\n\nfunc f() {}\n"})
	ctx := context.Background()
	out, err := Edit{Path: "a.go", Old: "func f() {}", New: "func f() {"}.Do(ctx, w)
	if err != nil || len(out.Notes) != 1 {
		t.Errorf("%+v, %v", out.Notes, err)
	}
	if out, err = (Write{Path: "a.go", Content: "package a\n"}).Do(ctx, w); err != nil || out.Notes != nil {
		t.Errorf("%+v, %v", out.Notes, err)
	}
	if out, err = (Patch{Text: patch(updateMark+"a.go", "@@", "-package a", "+package")}).Do(ctx, w); err != nil || len(out.Notes) != 1 {
		t.Errorf("%+v, %v", out.Notes, err)
	}
}
