package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestSetTrust(t *testing.T) {
	rows := []struct{ name, before, after string }{
		{"no file", "", "[projects.\"/r\"]\ntrust_level = \"trusted\"\n"},
		{"appended", "# mine\nmodel = \"m\" # keep\n", "# mine\nmodel = \"m\" # keep\n\n[projects.\"/r\"]\ntrust_level = \"trusted\"\n"},
		{"no final newline", "model = \"m\"", "model = \"m\"\n\n[projects.\"/r\"]\ntrust_level = \"trusted\"\n"},
		{"changed in place", "[projects.'/r'] # c\ntrust_level = \"untrusted\" # why\n[tui]\n", "[projects.'/r'] # c\ntrust_level = \"trusted\" # why\n[tui]\n"},
		{"header without the key", "[projects.\"/r\"]\n# nothing yet\n[tui]\n", "[projects.\"/r\"]\ntrust_level = \"trusted\"\n# nothing yet\n[tui]\n"},
		{"inline", "[projects]\n\"/r\" = { trust_level = \"untrusted\" }\n", "[projects]\n\"/r\" = { trust_level = \"trusted\" }\n"},
		{"inline, empty", "projects.\"/r\" = {}\n", "projects.\"/r\" = { trust_level = \"trusted\" }\n"},
		{"dotted", "projects.\"/r\".trust_level = 'untrusted'\n", "projects.\"/r\".trust_level = \"trusted\"\n"},
		{"CRLF", "model = \"m\"\r\n", "model = \"m\"\r\n\r\n[projects.\"/r\"]\r\ntrust_level = \"trusted\"\r\n"},
		{"BOM", "\ufeffmodel = \"m\"\n", "\ufeffmodel = \"m\"\n\n[projects.\"/r\"]\ntrust_level = \"trusted\"\n"},
	}
	for _, row := range rows {
		dir := filepath.Join(t.TempDir(), "home")
		if row.before != "" {
			write(t, UserPath(dir), row.before)
		}
		if err := SetTrust(dir, "/r", Trusted); err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		got, err := os.ReadFile(UserPath(dir))
		if err != nil || string(got) != row.after {
			t.Errorf("%s:\n%q\nwant\n%q, %v", row.name, got, row.after, err)
		}
		if info, err := os.Stat(UserPath(dir)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", row.name, info.Mode(), err)
		}
	}
}

func TestSet(t *testing.T) {
	const lines = "model_provider = \"ollama\"\nmodel = \"q:1\"\n"
	rows := []struct{ name, before, after string }{
		{"no file", "", lines},
		{"a comment alone", "# mine", "# mine\n" + lines},
		{"below the last key", "# mine\nharness = \"native\" # keep\n\n[tui]\n", "# mine\nharness = \"native\" # keep\n" + lines + "\n[tui]\n"},
		{"below a long value", "notify = [\n  \"a\", # one\n]\n[tui]\n", "notify = [\n  \"a\", # one\n]\n" + lines + "[tui]\n"},
		{"no final newline", "harness = \"native\"", "harness = \"native\"\n" + lines},
		{"above a table and its comment", "# mine\n\n# screen\n[tui]\nx = 1\n", "# mine\n\nmodel_provider = \"ollama\"\nmodel = \"q:1\"\n\n# screen\n[tui]\nx = 1\n"},
		{"in place", "model = 'old' # why\nmodel_provider = \"lmstudio\"\n[tui]\n", "model = \"q:1\" # why\nmodel_provider = \"ollama\"\n[tui]\n"},
		{"not the one of a profile", "[profiles.x]\nmodel = \"m\"\n", lines + "\n[profiles.x]\nmodel = \"m\"\n"},
		{"CRLF", "harness = \"native\"\r\n", "harness = \"native\"\r\nmodel_provider = \"ollama\"\r\nmodel = \"q:1\"\r\n"},
	}
	for _, row := range rows {
		dir := filepath.Join(t.TempDir(), "home")
		if row.before != "" {
			write(t, UserPath(dir), row.before)
		}
		if err := Set(dir, Value{Key: "model_provider", Text: "ollama"}, Value{Key: "model", Text: "q:1"}); err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		if got, err := os.ReadFile(UserPath(dir)); err != nil || string(got) != row.after {
			t.Errorf("%s:\n%q\nwant\n%q, %v", row.name, got, row.after, err)
		}
	}
	s := home(t, "model_context_window = 4096\n")
	if err := Set(s.Home, Value{Key: "model_context_window", Number: 65536}); err != nil {
		t.Fatal(err)
	}
	if c, _, err := Load(s); err != nil || c.ModelContextWindow != 65536 {
		t.Errorf("a number: %d, %v", c.ModelContextWindow, err)
	}
	broken := t.TempDir()
	write(t, UserPath(broken), "model = = 1\n")
	if err := Set(broken, Value{Key: "model", Text: "m"}); err == nil {
		t.Error("a broken file was edited")
	}
	if line := (Value{Key: "model", Text: `a"b`}).Line(); line != `model = "a\"b"` {
		t.Error(line)
	}
}

func TestSetTrustRefuses(t *testing.T) {
	for _, before := range []string{"projects = { \"/x\" = { trust_level = \"trusted\" } }\n", "model = = 1\n", "\xff\xfem\x00", "projects = 3\n"} {
		dir := t.TempDir()
		write(t, UserPath(dir), before)
		if err := SetTrust(dir, "/r", Trusted); err == nil {
			t.Errorf("%q: no error", before)
		}
		entries, _ := os.ReadDir(dir)
		if got, _ := os.ReadFile(UserPath(dir)); string(got) != before || len(entries) != 1 {
			t.Errorf("%q became %q, %d files", before, got, len(entries))
		}
	}
	if err := SetTrust(t.TempDir(), "/r", "maybe"); err == nil {
		t.Error("maybe is no decision")
	}
}

func TestSetTrustThenLoad(t *testing.T) {
	s := home(t, "model = \"m\"\n")
	for _, level := range []Trust{Trusted, Untrusted, Trusted} {
		if err := SetTrust(s.Home, s.Dir, level); err != nil {
			t.Fatal(err)
		}
		if c, _, err := Load(s); err != nil || c.Trust != level || c.Model != "m" {
			t.Errorf("trust %q, %v; want %q", c.Trust, err, level)
		}
	}
	odd := filepath.Join(s.UserHome, `a "b" \c`)
	if err := os.MkdirAll(odd, 0o755); err != nil {
		t.Skip(err)
	}
	s.Dir = odd
	if err := SetTrust(s.Home, odd, Trusted); err != nil {
		t.Fatal(err)
	}
	if c, _, err := Load(s); err != nil || c.Trust != Trusted {
		t.Errorf("odd name: %q, %v", c.Trust, err)
	}
}

func TestExplain(t *testing.T) {
	s := home(t, strings.Join([]string{
		`model = "m"`, `harness_guidance = true`, `personality = "x"`,
		`[model_providers.lab]`, `base_url = "http://bob:hush@h/v1"`, `experimental_bearer_token = "hush"`, `http_headers = { X-Key = "hush" }`,
		`env_key = "LAB_KEY"`,
		`[mcp_servers.d]`, `command = "d"`, `args = ["--api-key", "hush", "--token=hush", "--fast"]`, `env = { A = "hush" }`,
		`[shell_environment_policy]`, `set = { B = "hush" }`,
		`[features]`, `unified_exec = false`, `shell_tool = true`,
	}, "\n"))
	s.Overrides = []string{"model_providers.lab.experimental_bearer_token=hush2", "web_search=live"}
	s.System = filepath.Join(s.UserHome, "none.toml")
	s.Flags = map[string]any{"sandbox_mode": "read-only"}
	c, _, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	var text, object bytes.Buffer
	if err := c.Explain(&text); err != nil {
		t.Fatal(err)
	}
	if err := c.ExplainJSON(&object); err != nil {
		t.Fatal(err)
	}
	user := UserPath(s.Home)
	for _, want := range []string{
		"1. system " + s.System + " (disabled)\n     there is no such file\n",
		"2. user " + user + " (enabled)\n     known, but without effect here: mcp_servers, personality\n",
		"3. command line (enabled)\n", "     web_search = \"live\"\n", "4. flags (enabled)\n     sandbox_mode = \"read-only\"\n",
		"  model = \"m\"   ← user " + user + ":1\n",
		"  model_providers.lab.base_url = \"http://bob:*****@h/v1\"   ← user " + user + ":5\n",
		"  model_providers.lab.env_key = \"LAB_KEY\"   ← user " + user + ":8\n",
		"  model_providers.lab.experimental_bearer_token = \"*****\"   ← command line\n",
		"  mcp_servers.d.args = [\"--api-key\", \"*****\", \"--token=*****\", \"--fast\"]   ← user " + user + ":11\n",
		"  features.unified_exec = false ", "  sandbox_mode = \"read-only\"   ← flags\n", "Requirements\n  <none>\n",
		"Trust    undecided: sandbox read-only, approval on-request\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	for _, never := range []string{"hush", "harness_guidance", "shell_tool"} {
		if strings.Contains(text.String(), never) || strings.Contains(object.String(), never) {
			t.Errorf("%q is in\n%s\n%s", never, text.String(), object.String())
		}
	}
	var decoded struct {
		Layers []Layer
		Values []Entry
	}
	if err := json.Unmarshal(object.Bytes(), &decoded); err != nil || len(decoded.Layers) != 4 || len(decoded.Values) != len(c.Origins()) {
		t.Errorf("%v: %s", err, object.String())
	}
}

func TestRedact(t *testing.T) {
	rows := []struct{ in, want string }{
		{"go test ./...", "go test ./..."},
		{"curl -H 'Authorization: Bearer abcdefgh12345678' x", "curl -H 'Authorization: Bearer *****' x"},
		{"API_KEY=abc run", "API_KEY=***** run"},
		{"API_KEY=$API_KEY run", "API_KEY=$API_KEY run"},
		{"login --password hunter2 me", "login --password ***** me"},
		{"reset the password now", "reset the password now"},
		{"max_tokens=100", "max_tokens=100"},
		{"sk-abcdefghijklmnop1234", "*****"},
		{"AWS_SECRET_ACCESS_KEY=abc/def", "AWS_SECRET_ACCESS_KEY=*****"},
		{`{"token": "abc"}`, `{"token": *****}`},
		{"http://h/v1?key=abc", "http://h/v1?key=*****"},
		{"http://h/v1?a=b&key=abc&c=d#e", "http://h/v1?a=b&key=*****&c=d#e"},
		{"http://h/v1?subscription-key=abc&sig=x", "http://h/v1?subscription-key=*****&sig=*****"},
		{"https://h/find?monkey=a&keys=b", "https://h/find?monkey=a&keys=b"},
		{"sort --key=2 x && y", "sort --key=2 x && y"},
		{"git clone https://u:pw@host/r", "git clone https://u:*****@host/r"},
	}
	for _, row := range rows {
		if got := Redact(row.in); got != row.want {
			t.Errorf("Redact(%q) = %q, want %q", row.in, got, row.want)
		}
	}
}

func TestHome(t *testing.T) {
	base := t.TempDir()
	base, _ = filepath.EvalSymlinks(base)
	file := filepath.Join(base, "file")
	write(t, file, "")
	link := filepath.Join(base, "link")
	if err := os.Symlink(base, link); err != nil {
		link = base
	}
	env := func(value string) func(string) string {
		return func(name string) string {
			return map[string]string{HomeVariable: value, "CODEX_HOME": "/elsewhere"}[name]
		}
	}
	if got, err := Home(env(""), base); err != nil || got != filepath.Join(base, ".openinterpreter") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := Home(env(link), "/nobody"); err != nil || got != base {
		t.Errorf("through a link: %q, %v", got, err)
	}
	for _, bad := range []string{file, filepath.Join(base, "none")} {
		if got, err := Home(env(bad), base); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %q, %v", bad, got, err)
		}
	}
	if _, err := Home(env(""), ""); err == nil {
		t.Error("nothing known, no error")
	}
}

func TestDecodeText(t *testing.T) {
	rows := []struct{ in, want, problem string }{
		{"abc", "abc", ""},
		{"\xef\xbb\xbfabc", "abc", ""},
		{"\xff\xfea\x00\xe9\x00", "aé", ""},
		{"\xfe\xff\x00a\xd8\x3d\xde\x00", "a😀", ""},
		{"\xff\xfe\x00\xd8a\x00", "", "UTF-16"},
		{"\xff\xfea", "", "UTF-16"},
		{"\xff\xfe\x00\x00a\x00\x00\x00", "", "UTF-32"},
		{"\x00\x00\xfe\xff", "", "UTF-32"},
		{"a\nb\xffc", "", "line 2: byte 0xff"},
		{"", "", ""},
	}
	for _, row := range rows {
		got, err := DecodeText([]byte(row.in))
		if got != row.want || (err != nil) != (row.problem != "") || err != nil && !strings.Contains(err.Error(), row.problem) {
			t.Errorf("DecodeText(%q) = %q, %v", row.in, got, err)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{"a = 1", "[a.b]\nc = [{d = '''x'''}, 2]", "[[a]]\nb.\"c\\u00e9\" = \"\"\"\"x\"\"\"\"", "{[\"'", "a = [[[[", "x = {y = {z", "\"a\\"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range scan(text) {
			if m.at < 0 || m.at > len(text) || m.from > m.to || m.to > len(text) || len(m.path) == 0 {
				t.Fatalf("mark %+v of %q", m, text)
			}
		}
		tree, at, err := parse("f", text)
		if err != nil {
			return
		}
		// Whatever the library reads at the top level has a place.
		for key := range tree {
			if at.line([]string{key}) == 0 {
				t.Fatalf("no place for %q in %q", key, text)
			}
		}
	})
}
