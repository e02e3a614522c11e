package sandbox

import (
	"slices"
	"strings"
	"testing"
)

// The example of the specification: core names and what is set, without what is excluded.
func TestEnvironExample(t *testing.T) {
	parent := []string{"PATH=/bin", "HOME=/h", "AWS_KEY=1", "GH_TOKEN=2", "FOO=3"}
	got := Environ(parent, EnvPolicy{Inherit: "core", Exclude: []string{"AWS_*", "*_TOKEN"}, Set: map[string]string{"CI": "1"}})
	got = slices.DeleteFunc(got, func(entry string) bool { return slices.Contains(fixed, entry) })
	if want := []string{"CI=1", "HOME=/h", "PATH=/bin"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestEnvironOrder(t *testing.T) {
	parent := []string{"Path=/bin", "home=/h", "MODEL_ACCESS=1", "CODEX_THREAD_ID=2", "INTERPRETER_THREAD_ID=3", "INTERPRETER_SANDBOX=namespace", "BASH_FUNC_x%%=() { :; }",
		"SHELLSHOCK=() { :; }; x", "noequals", "=::=x", "EDITOR=vim", "npm_config_token=4", "DATABASE_PASSWD=5", "CREDENTIALS_FILE=6", "GH_PAT=7", "MONKEY=8", "dyld_library_path=9"}
	for _, tt := range []struct {
		name   string
		policy EnvPolicy
		want   string // names, of what is not set for every command
	}{
		{"names in any case", EnvPolicy{}, "MODEL_ACCESS Path home"},
		{"core in any case", EnvPolicy{Inherit: "core"}, "Path home"},
		{"a key of a provider, though secrets pass", EnvPolicy{Secrets: true, Keys: []string{"model_access"}}, "CREDENTIALS_FILE DATABASE_PASSWD GH_PAT MONKEY Path home npm_config_token"},
		{"set is stronger than what is removed", EnvPolicy{Inherit: "none", Set: map[string]string{"MY_TOKEN": "x", "LD_PRELOAD": "y"}}, "LD_PRELOAD MY_TOKEN"},
		{"only what is included, what was set as well", EnvPolicy{Set: map[string]string{"CI": "1", "KEEP": "2"}, IncludeOnly: []string{"k?ep", "HO*"}}, "KEEP home"},
	} {
		var names []string
		for _, entry := range Environ(parent, tt.policy) {
			name, _, _ := strings.Cut(entry, "=")
			if !slices.Contains(fixed, entry) {
				names = append(names, name)
			}
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: %s; want %s", tt.name, got, tt.want)
		}
	}
	for _, entry := range []string{"EDITOR=true", "VISUAL=true", "GIT_EDITOR=true", "GIT_PAGER=cat", "PAGER=cat", "TERM=dumb", "COLORTERM=", "GIT_TERMINAL_PROMPT=0"} {
		if !slices.Contains(Environ(parent, EnvPolicy{Inherit: "none", Set: map[string]string{"EDITOR": "vim"}}), entry) {
			t.Errorf("no %s", entry)
		}
	}
}

// No name that looks like a secret, a loader or the agent's own survives, whatever its case and its neighbours.
func FuzzEnviron(f *testing.F) {
	for _, seed := range [][2]string{{"AWS_SECRET_ACCESS_KEY", "all"}, {"my_token_x", "core"}, {"BASH_FUNC_ls%%", ""}, {"Ld_Preload", "none"}, {"GIT_CONFIG_COUNT", ""}, {"PATH", "core"}, {"é_PAT", ""}} {
		f.Add(seed[0], "value", seed[1])
	}
	f.Fuzz(func(t *testing.T, name, value, inherit string) {
		for _, entry := range Environ([]string{name + "=" + value}, EnvPolicy{Inherit: inherit}) {
			if slices.Contains(fixed, entry) {
				continue
			}
			got, _, _ := strings.Cut(entry, "=")
			upper := strings.ToUpper(got)
			for _, part := range []string{"KEY", "SECRET", "TOKEN", "PASSWORD", "PASSWD", "CREDENTIAL"} {
				if strings.Contains(upper, part) {
					t.Errorf("%q survives", entry)
				}
			}
			for _, start := range []string{"LD_", "DYLD_", "BASH_FUNC_", "GIT_SSH", "GIT_CONFIG", "CODEX_INTERNAL_"} {
				if strings.HasPrefix(upper, start) {
					t.Errorf("%q survives", entry)
				}
			}
			if strings.HasSuffix(upper, "_PAT") || inherit == "none" || slices.Contains([]string{"ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND"}, upper) {
				t.Errorf("%q survives", entry)
			}
		}
	})
}
