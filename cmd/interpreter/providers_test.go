package main

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"interpreter/cmd/config"
)

func TestGate(t *testing.T) {
	w := world{env: func(name string) string { return map[string]string{"KEY": " k3y ", "TEAM": "blue", "BLANK": " "}[name] }}
	for name, test := range map[string]struct {
		entry config.ModelProvider
		want  http.Header
		fault string
	}{
		"nothing asked for":        {want: http.Header{}},
		"headers":                  {entry: config.ModelProvider{HTTPHeaders: map[string]string{"x-a": "1"}}, want: http.Header{"X-A": {"1"}}},
		"headers from outside":     {entry: config.ModelProvider{EnvHTTPHeaders: map[string]string{"X-Team": "TEAM", "X-Blank": "BLANK", "X-Not": "NOSUCH"}}, want: http.Header{"X-Team": {"blue"}}},
		"a key":                    {entry: config.ModelProvider{EnvKey: "KEY"}, want: http.Header{"Authorization": {"Bearer k3y"}}},
		"a token of the file":      {entry: config.ModelProvider{ExperimentalBearerToken: "t"}, want: http.Header{"Authorization": {"Bearer t"}}},
		"a key that is not there":  {entry: config.ModelProvider{EnvKey: "NOSUCH", EnvKeyInstructions: "ask the team"}, fault: "NOSUCH"},
		"a key that is only blank": {entry: config.ModelProvider{EnvKey: "BLANK"}, fault: "BLANK"},
	} {
		got, err := gate(w, "ollama", test.entry)
		if test.fault != "" {
			if err == nil || !strings.Contains(err.Error(), test.fault) || remedyOf(err) == "" {
				t.Errorf("%s: got %v, want an error with a remedy that names %s", name, err, test.fault)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, test.want)
		}
	}
}
