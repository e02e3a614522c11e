package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestOverrides(t *testing.T) {
	rows := []struct {
		raw  string
		path []string
		want any
	}{
		{`model=qwen3:8b`, []string{"model"}, "qwen3:8b"},
		{`model_context_window=32768`, []string{"model_context_window"}, int64(32768)},
		{`shell_environment_policy.exclude=["AWS_*"]`, []string{"shell_environment_policy", "exclude"}, []any{"AWS_*"}},
		{`sandbox_workspace_write.network_access=true`, []string{"sandbox_workspace_write", "network_access"}, true},
		{`web_search=live`, []string{"web_search"}, "live"},
		{`web_search="live"`, []string{"web_search"}, "live"},
		{`tui={}`, []string{"tui"}, map[string]any{}},
		{` model = 'a b' `, []string{"model"}, "a b"},
		{`model="half`, []string{"model"}, `"half`},
		{`model="it's "so""`, []string{"model"}, `it's "so"`},
		{`model=`, []string{"model"}, ""},
		{`query=a=b`, []string{"query"}, "a=b"},
		{"model=1\nharness = 2", []string{"model"}, "1\nharness = 2"},
		{`a.b.c={d = 1}`, []string{"a", "b", "c"}, map[string]any{"d": int64(1)}},
	}
	for _, row := range rows {
		path, value, err := parseOverride(row.raw)
		if err != nil || !reflect.DeepEqual(path, row.path) || !reflect.DeepEqual(value, row.want) {
			t.Errorf("-c %q = %q %#v, %v; want %q %#v", row.raw, path, value, err, row.path, row.want)
		}
	}
	for _, raw := range []string{"=x", "foo", "", " = x", "a..b=1", ".a=1"} {
		if path, value, err := parseOverride(raw); err == nil {
			t.Errorf("-c %q = %q %v, want an error", raw, path, value)
		}
	}
}

func TestOverrideOrder(t *testing.T) {
	s := home(t, "model = \"file\"\n")
	s.Overrides = []string{"model=one", "model=two", "sandbox_workspace_write=3", "sandbox_workspace_write.network_access=true"}
	c, _, err := Load(s)
	if err != nil || c.Model != "two" || !c.SandboxWorkspaceWrite.NetworkAccess {
		t.Errorf("model = %q, network %t, %v", c.Model, c.SandboxWorkspaceWrite.NetworkAccess, err)
	}
	s.Flags = map[string]any{"model": "flag", "sandbox_workspace_write.writable_roots": []string{"sub"}}
	c, _, err = Load(s)
	if err != nil || c.Model != "flag" {
		t.Errorf("with a flag: model = %q, %v", c.Model, err)
	}
	if want := []string{filepath.Join(s.Cwd, "sub")}; !reflect.DeepEqual(c.SandboxWorkspaceWrite.WritableRoots, want) {
		t.Errorf("roots = %q, want %q", c.SandboxWorkspaceWrite.WritableRoots, want)
	}
}

// The SDK passes all of these; none may be an error, and none of them is news.
func TestForeignOverridesAreAccepted(t *testing.T) {
	s := home(t, "")
	s.Overrides = []string{
		`model_provider="mock"`, `model_providers.mock.name="M"`, `model_providers.mock.base_url="http://127.0.0.1:1/v1"`,
		`model_providers.mock.wire_api="responses"`, `model_providers.mock.supports_websockets=false`,
		`features.plugins=false`, `features.something_new=true`, `zzz_unheard_of_setting.deep=1`,
		`model_reasoning_effort="xhigh"`, `approval_policy="on-failure"`, `web_search="disabled"`, `openai_base_url="http://x/"`,
	}
	c, warnings, err := Load(s)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v, warnings %v", err, warnings)
	}
	if c.ApprovalPolicy.Policy != "on-request" || c.OpenAIBaseURL != "http://x" || c.ModelProviders["mock"].RequestMaxRetries != 4 {
		t.Errorf("%+v", c.ModelProviders)
	}
	s.Strict = true
	if _, _, err := Load(s); err == nil || !strings.Contains(err.Error(), "zzz_unheard_of_setting") {
		t.Errorf("strict: %v", err)
	}
	s.Strict, s.Overrides = false, []string{"aproval_policy=never"}
	if _, warnings, _ = Load(s); len(warnings) != 1 || !strings.Contains(warnings[0].String(), "approval_policy") {
		t.Errorf("a slip on the command line: %v", warnings)
	}
}

func TestLayers(t *testing.T) {
	s := home(t, "")
	root := filepath.Join(s.UserHome, "repo")
	s.Dir = filepath.Join(root, "a", "b")
	s.Cwd = s.Dir
	s.System = filepath.Join(s.UserHome, "etc", "config.toml")
	for _, dir := range []string{filepath.Join(root, ".git"), s.Dir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, s.System, "model = \"system\"\nreview_model = \"system\"\nlog_dir = \"logs\"\n")
	user := "model = \"user\"\ndeveloper_instructions = \"user\"\n[profiles.p]\nmodel = \"table\"\nharness = \"table\"\nmodel_instructions_file = \"x.md\"\n" +
		"[projects.\"" + filepath.ToSlash(root) + "\"]\ntrust_level = \"trusted\"\n"
	write(t, UserPath(s.Home), user)
	write(t, filepath.Join(s.Home, "p.config.toml"), "harness = \"file\"\n")
	write(t, filepath.Join(root, ".openinterpreter", "config.toml"), "model = \"root\"\ndeveloper_instructions = \"root\"\nmodel_instructions_file = \"i.md\"\nmodel_provider = \"evil\"\n[hooks.state]\nx = 1\n")
	write(t, filepath.Join(s.Dir, ".openinterpreter", "config.toml"), "model = \"near\"\n")

	steps := []struct {
		name string
		do   func()
		want string
	}{
		{"project folders win over the user's file", func() {}, "near"},
		{"a profile over projects", func() { s.Profile = "p" }, "table"},
		{"-c over the profile", func() { s.Overrides = []string{"model=cli"} }, "cli"},
		{"a flag over -c", func() { s.Flags = map[string]any{"model": "flag"} }, "flag"},
	}
	for _, step := range steps {
		step.do()
		c, warnings, err := Load(s)
		if err != nil || c.Model != step.want {
			t.Fatalf("%s: model = %q, %v; want %q", step.name, c.Model, err, step.want)
		}
		if len(warnings) != 2 || warnings[0].Line != 4 && warnings[1].Line != 4 {
			t.Errorf("%s: warnings %v", step.name, warnings)
		}
	}
	c, _, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	if c.ModelProvider != "" || c.Trust != Trusted || c.Root != root || c.Chosen != "p" {
		t.Errorf("provider %q, trust %q, root %q, profile %q", c.ModelProvider, c.Trust, c.Root, c.Chosen)
	}
	if c.ReviewModel != "system" || c.DeveloperInstructions != "root" || c.Harness != "file" {
		t.Errorf("review %q, instructions %q, harness %q", c.ReviewModel, c.DeveloperInstructions, c.Harness)
	}
	if want := filepath.Join(s.Home, "x.md"); c.ModelInstructionsFile != want {
		t.Errorf("a profile's path = %q, want %q", c.ModelInstructionsFile, want)
	}
	if want := filepath.Join(filepath.Dir(s.System), "logs"); c.LogDir != want {
		t.Errorf("the system's path = %q, want %q", c.LogDir, want)
	}
	if got := c.Origin("developer_instructions"); !strings.HasSuffix(got, filepath.Join(".openinterpreter", "config.toml")+":2") || !strings.HasPrefix(got, "project ") {
		t.Errorf("origin = %q", got)
	}

	s.Profile, s.Overrides, s.Flags = "", nil, nil
	write(t, UserPath(s.Home), "profile = \"p\"\n"+user)
	if c, _, err := Load(s); err != nil || c.Model != "table" {
		t.Errorf("default profile: model = %q, %v", c.Model, err)
	}
	write(t, UserPath(s.Home), strings.Replace(user, "trust_level = \"trusted\"", "trust_level = \"untrusted\"", 1))
	write(t, filepath.Join(root, ".openinterpreter", "config.toml"), "not toml at all")
	c, _, err = Load(s)
	if err != nil || c.Model != "user" || c.Trust != Untrusted {
		t.Errorf("untrusted: model = %q, trust %q, %v", c.Model, c.Trust, err)
	}
	disabled := 0
	for _, layer := range c.Layers {
		if layer.Name == "project" && !layer.Enabled && strings.Contains(layer.Reason, "not trusted") {
			disabled++
		}
	}
	if disabled != 2 {
		t.Errorf("layers: %+v", c.Layers)
	}
}

func TestHomeIsNoProject(t *testing.T) {
	user := t.TempDir()
	write(t, filepath.Join(user, ".openinterpreter", "config.toml"), "model = \"m\"\n[projects.\""+filepath.ToSlash(user)+"\"]\ntrust_level = \"trusted\"\n")
	s := Source{Home: filepath.Join(user, ".openinterpreter"), Dir: user, UserHome: user}
	c, warnings, err := Load(s)
	if err != nil || len(warnings) > 0 || c.Model != "m" {
		t.Fatalf("%q, %v, %v", c.Model, warnings, err)
	}
	for _, layer := range c.Layers {
		if layer.Name == "project" {
			t.Errorf("the home folder is a project layer: %+v", layer)
		}
	}
}

func TestTrust(t *testing.T) {
	base := t.TempDir()
	main, linked, forged := filepath.Join(base, "main"), filepath.Join(base, "linked"), filepath.Join(base, "forged")
	state := filepath.Join(main, ".git", "worktrees", "linked")
	write(t, filepath.Join(state, "commondir"), "../..\n")
	write(t, filepath.Join(state, "gitdir"), filepath.Join(linked, ".git")+"\n")
	write(t, filepath.Join(linked, ".git"), "gitdir: "+state+"\n")
	write(t, filepath.Join(forged, ".git"), "gitdir: "+state+"\n")
	if err := os.Mkdir(filepath.Join(main, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	projects := map[string]any{main: map[string]any{"trust_level": "trusted"}}
	rows := []struct {
		dir  string
		want Trust
	}{
		{main, Trusted},
		{filepath.Join(main, "sub"), Trusted},
		{linked, Trusted},
		{forged, Undecided},
		{base, Undecided},
	}
	for _, row := range rows {
		root := ProjectRoot(row.dir, []string{".git"})
		if got := trustOf(projects, "", row.dir, root, mainCheckout(root)); got != row.want {
			t.Errorf("trust of %s = %q, want %q", row.dir, got, row.want)
		}
	}
	projects[filepath.Join(main, "sub")] = map[string]any{"trust_level": "untrusted"}
	if got := trustOf(projects, "", filepath.Join(main, "sub"), main); got != Untrusted {
		t.Errorf("the folder itself counts first, got %q", got)
	}
	if err := os.Symlink(main, filepath.Join(base, "alias")); err == nil {
		aliased := map[string]any{filepath.Join(base, "alias"): map[string]any{"trust_level": "trusted"}}
		if got := trustOf(aliased, "", main); got != Trusted {
			t.Errorf("through a link: %q", got)
		}
	}
	if got := trustOf(map[string]any{"~/main": map[string]any{"trust_level": "trusted"}}, base, main); got != Trusted {
		t.Errorf("~: %q", got)
	}
}

func TestProjectRoot(t *testing.T) {
	base := t.TempDir()
	deep := filepath.Join(base, "r", "x", "y")
	write(t, filepath.Join(base, "r", "go.mod"), "")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := ProjectRoot(deep, []string{"nothing", "go.mod"}); got != filepath.Join(base, "r") {
		t.Errorf("root = %q", got)
	}
	if got := ProjectRoot(deep, nil); got != deep {
		t.Errorf("without markers the root is the folder, got %q", got)
	}
	if got := between(base, deep); len(got) != 4 || got[0] != base || got[3] != deep {
		t.Errorf("between = %q", got)
	}
}

func TestPermissions(t *testing.T) {
	rows := []struct {
		trust        Trust
		system       string
		mode, policy string
	}{
		{Trusted, "linux", "workspace-write", "on-request"},
		{Untrusted, "linux", "workspace-write", "untrusted"},
		{Undecided, "linux", "read-only", "on-request"},
		{Trusted, "windows", "read-only", "on-request"},
		{Untrusted, "windows", "read-only", "untrusted"},
	}
	for _, row := range rows {
		if mode, policy := permissions(row.trust, row.system); mode != row.mode || policy != row.policy {
			t.Errorf("%q on %s = %s, %s", row.trust, row.system, mode, policy)
		}
	}
	for sandbox, want := range map[string]string{"": "read-only", "off": "read-only", "unelevated": "workspace-write"} {
		if mode, _ := (Config{WindowsSandbox: sandbox, found: found{Trust: Trusted}}).permissionsOn("windows"); mode != want {
			t.Errorf("windows_sandbox %q: %s, want %s", sandbox, mode, want)
		}
	}
	s := home(t, "sandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"\n")
	c, _, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	if mode, policy := c.Permissions(); mode != "danger-full-access" || policy != "never" {
		t.Errorf("chosen: %s, %s", mode, policy)
	}
}

func TestBadSettings(t *testing.T) {
	rows := []struct {
		name, text string
		mention    []string
	}{
		{"syntax", "model = \"a\"\nharness = = 1\n", []string{"config.toml", "line 2, column 11"}},
		{"unclosed", "model = \"a\n", []string{"line 1"}},
		{"list element", "notify = [\"a\", 3]\n", []string{"line 1", "notify[1]", "a string"}},
		{"choice", "\nsandbox_mode = \"none\"\n", []string{"line 2", "sandbox_mode", "workspace-write"}},
		{"approval", "approval_policy = \"maybe\"\n", []string{"line 1", "maybe", "on-request"}},
		{"granular", "approval_policy = { granular = { rules = true } }\n", []string{"granular lacks"}},
		{"table wanted", "tui = 3\n", []string{"tui", "a table", "integer 3"}},
		{"in an array of tables", "[[skills.config]]\nname = \"a\"\n[[skills.config]]\nenabled = \"no\"\n", []string{"line 4", "skills.config[1].enabled"}},
		{"negative", "model_context_window = -1\n", []string{"line 1", "at least 1"}},
		{"beyond all models", "model_context_window = 99999999999\n", []string{"line 1", "at most 1073741824"}},
		{"escape", "model_catalog_json = \"C:\\Users\\x\"\n", []string{"line 1", "single quotes"}},
		{"duplicate key", "model = \"a\"\n\nmodel = \"b\"\n", []string{"model", "line 1", "line 3"}},
		{"duplicate in inline table", "tui = { theme = \"a\", theme = \"b\" }\n", []string{"tui.theme", "line 1"}},
		{"not UTF-8", "model = \"a\"\nx = \"\xff\"\n", []string{"line 2", "0xff"}},
		{"mixed server", "[mcp_servers.a]\ncommand = \"x\"\nhttp_headers = { a = \"b\" }\n", []string{"line 3", "http_headers"}},
		{"mixed server, url", "[mcp_servers.a]\nurl = \"http://x\"\nargs = [\"b\"]\n", []string{"line 3", "args"}},
		{"empty server", "[mcp_servers.a]\nenabled = true\n", []string{"mcp_servers.a", "command or url"}},
		{"server name", "[mcp_servers.\"a b\"]\ncommand = \"x\"\n", []string{"line 1", "letters"}},
		{"inline token", "[mcp_servers.a]\nurl = \"http://x\"\nbearer_token = \"hush\"\n", []string{"line 3", "bearer_token_env_var"}},
		{"secret not repeated", "[model_providers.a]\nexperimental_bearer_token = 12345\n", []string{"line 2", "want a string, got an integer"}},
	}
	for _, row := range rows {
		_, _, err := Load(home(t, row.text))
		if err == nil {
			t.Errorf("%s: no error", row.name)
			continue
		}
		for _, word := range append(row.mention, "config.toml") {
			if !strings.Contains(said(err), word) {
				t.Errorf("%s: %q does not mention %q", row.name, said(err), word)
			}
		}
		if strings.Contains(said(err), "12345") || strings.Contains(said(err), "hush") {
			t.Errorf("%s: the secret is in %q", row.name, said(err))
		}
	}
}

func TestUnknownKeys(t *testing.T) {
	s := home(t, "[tui]\nthme = \"x\"\nsandbox_mode = \"read-only\"\n[model_providers.a]\nbase_ulr = \"x\"\n[tui.keymap]\na = 1\n")
	c, warnings, err := Load(s)
	if err != nil || len(warnings) != 3 {
		t.Fatalf("%v, %v", warnings, err)
	}
	for i, words := range [][]string{{"line 2", "tui.thme", "tui.theme"}, {"line 3", "top of the file"}, {"line 5", "model_providers.a.base_url"}} {
		for _, word := range words {
			if !strings.Contains(warnings[i].String(), word) {
				t.Errorf("warning %q does not mention %q", warnings[i], word)
			}
		}
	}
	if c.SandboxMode != "" {
		t.Errorf("sandbox mode = %q from a wrong table", c.SandboxMode)
	}
	s.Strict = true
	if _, _, err := Load(s); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("strict: %v", err)
	}
}

func TestProfilesUnknown(t *testing.T) {
	s := home(t, "[profiles.b]\nmodel = \"x\"\nprofile = \"loop\"\n")
	write(t, filepath.Join(s.Home, "a.config.toml"), "")
	s.Profile = "c"
	if _, _, err := Load(s); err == nil || !strings.Contains(err.Error(), "a, b") {
		t.Errorf("unknown profile: %v", err)
	}
	s.Profile = "../home/a"
	if _, _, err := Load(s); err == nil {
		t.Error("a profile's name reaches out of the home folder")
	}
	s.Profile = "b"
	if _, warnings, err := Load(s); err != nil || len(warnings) != 1 || warnings[0].Line != 3 {
		t.Errorf("%v, %v", warnings, err)
	}
	if _, _, err := Load(func() Source { s := home(t, ""); s.Profile = "x"; return s }()); err == nil || !strings.Contains(said(err), "[profiles.x]") {
		t.Errorf("no profile at all: %v", said(err))
	}
}

func TestFeatures(t *testing.T) {
	s := home(t, "[features]\nunified_exec = false\nbrand_new = true\n")
	s.Enable, s.Disable = []string{"undo"}, []string{"hooks"}
	c, warnings, err := Load(s)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	for name, want := range map[string]bool{"unified_exec": false, "undo": true, "hooks": false, "shell_tool": true, "brand_new": true, "plugins": false} {
		if c.Feature(name) != want {
			t.Errorf("feature %s = %t", name, !want)
		}
	}
	s.Enable = []string{"undoo"}
	if _, _, err := Load(s); err == nil || !strings.Contains(err.Error(), `"undoo"`) || !strings.Contains(err.Error(), "nearest is undo") {
		t.Errorf("unknown feature: %v", err)
	}
}

func TestDefaultsAndUnits(t *testing.T) {
	c, _, err := Load(home(t, "tui.notifications = [\"approval-requested\"]\n[model_providers.a]\nstream_idle_timeout_ms = 1500\nrequest_max_retries = 900\n[mcp_servers.s]\ncommand = \"x\"\nstartup_timeout_ms = 10\nenv_vars = [\"A\", { name = \"B\", source = \"C\" }]\ntool_timeout_sec = 1.5\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, m := c.ModelProviders["a"], c.MCPServers["s"]
	if p.StreamIdleTimeout != 1500*time.Millisecond || p.RequestMaxRetries != 100 || p.StreamMaxRetries != 5 || p.Name != "a" {
		t.Errorf("provider %+v", p)
	}
	if m.StartupTimeout != 10*time.Millisecond || m.ToolTimeout != 1500*time.Millisecond || !m.Enabled || len(m.EnvVars) != 2 || m.EnvVars[1].Source != "C" {
		t.Errorf("server %+v", m)
	}
	if c.BackgroundTerminalTimeout != 5*time.Minute || !c.HarnessGuidance || c.ProjectDocMaxBytes != 32768 || !c.TUI.Notifications.On || len(c.TUI.Notifications.Only) != 1 {
		t.Errorf("%+v", c)
	}
	if _, chosen := c.HarnessChoice(); chosen {
		t.Error("no harness was chosen")
	}
}

func BenchmarkLoad(b *testing.B) {
	s := home(b, "model = \"qwen3-coder:30b\"\nmodel_provider = \"ollama\"\n[profiles.review]\nsandbox_mode = \"read-only\"\n[mcp_servers.docs]\ncommand = \"docs\"\nargs = [\"--fast\"]\n[tui]\ntheme = \"dark\"\n")
	s.Profile = "review"
	for b.Loop() {
		if _, _, err := Load(s); err != nil {
			b.Fatal(err)
		}
	}
}
