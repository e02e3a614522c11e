package config

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// home makes a home folder that holds one config.toml.
func home(t testing.TB, text string) Source {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "home", "config.toml"), text)
	work := filepath.Join(dir, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	return Source{Home: filepath.Join(dir, "home"), Dir: work, Cwd: work, UserHome: dir}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// said is all that a person reads of an error.
func said(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Try != "" {
		return err.Error() + "\n" + e.Try
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

type expectation struct {
	Effective struct {
		Model   *string
		Harness *string
	}
	EffectiveMustNot struct {
		ApprovalPolicy string `json:"approval_policy"`
	} `json:"effective_must_not"`
	Errors   []string `json:"errors_mention"`
	Warnings []string `json:"warnings_mention"`
	AnyOf    []struct {
		Effective struct{ Model *string }
	} `json:"any_of"`
	RequestURL string `json:"request_url"`
	Runs       []struct {
		Args  []string
		Model string
	}
}

func TestCases(t *testing.T) {
	dirs, _ := filepath.Glob("testdata/cf-*")
	if len(dirs) != 9 {
		t.Fatalf("found %d cases, want 9", len(dirs))
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join(dir, "expected.json"))
			if err != nil {
				t.Fatal(err)
			}
			var want expectation
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(dir, "config.toml"))
			if err != nil {
				t.Fatal(err)
			}
			s := home(t, string(text))
			c, warnings, err := Load(s)
			if len(want.Errors) > 0 {
				for _, word := range want.Errors {
					if !strings.Contains(said(err), word) {
						t.Errorf("error %q does not mention %q", said(err), word)
					}
				}
				s.IgnoreUser = true
				if _, _, err := Load(s); err != nil {
					t.Errorf("with the user's file left out: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var news strings.Builder
			for _, w := range warnings {
				news.WriteString(w.String() + "\n")
			}
			for _, word := range want.Warnings {
				if !strings.Contains(news.String(), word) {
					t.Errorf("warnings do not mention %q:\n%s", word, news.String())
				}
			}
			if len(want.Warnings) == 0 && news.Len() > 0 {
				t.Errorf("unexpected warnings:\n%s", news.String())
			}
			if bad := want.EffectiveMustNot.ApprovalPolicy; bad != "" && c.ApprovalPolicy.Policy == bad {
				t.Errorf("approval policy is %q", bad)
			}
			model := want.Effective.Model
			if len(want.AnyOf) > 0 {
				model = want.AnyOf[0].Effective.Model
			}
			if model != nil && c.Model != *model {
				t.Errorf("model = %q, want %q", c.Model, *model)
			}
			if want.Effective.Harness != nil {
				if id, chosen := c.HarnessChoice(); c.Harness != *want.Effective.Harness || id != "native" || !chosen {
					t.Errorf("harness = %q, choice %q, %t", c.Harness, id, chosen)
				}
			}
			if want.RequestURL != "" {
				if got := c.ModelProviders[c.ModelProvider].BaseURL + "/chat/completions"; got != want.RequestURL {
					t.Errorf("request goes to %q, want %q", got, want.RequestURL)
				}
			}
			for _, run := range want.Runs {
				s := s
				for i := 0; i < len(run.Args); i += 2 {
					switch run.Args[i] {
					case "--profile":
						s.Profile = run.Args[i+1]
					case "-c":
						s.Overrides = append(s.Overrides, run.Args[i+1])
					default:
						t.Fatalf("unknown argument %q", run.Args[i])
					}
				}
				if c, _, err := Load(s); err != nil || c.Model != run.Model {
					t.Errorf("%v: model = %q, %v; want %q", run.Args, c.Model, err, run.Model)
				}
			}
		})
	}
}

func TestWindowIsAsWritten(t *testing.T) { // cf-04: what a server can hold caps it later, not here
	text, _ := os.ReadFile("testdata/cf-04/config.toml")
	c, _, err := Load(home(t, string(text)))
	if err != nil || c.ModelContextWindow != 1000000 {
		t.Errorf("window = %d, %v", c.ModelContextWindow, err)
	}
}
