package config

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestSaid(t *testing.T) {
	s := home(t, "model = \"a\"\nharness = \"x\"\n")
	s.Overrides, s.Flags = []string{"oss_provider=lmstudio"}, map[string]any{"model": "b"}
	c, _, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.Home, "config.toml")
	for key, want := range map[string]string{
		"harness": "in " + file + ":2", "oss_provider": "on the command line", "model": "by -m", "model_provider": "",
	} {
		if got := c.Said("-m", key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	marked := c
	marked.Mark("harness", "not known")
	var out, plain bytes.Buffer
	if err := marked.Explain(&out); err != nil || !strings.Contains(out.String(), "harness = \"x\"   ← user "+file+":2\n    wrong: not known\n") {
		t.Errorf("marked: %s, %v", out.String(), err)
	}
	if err := c.Explain(&plain); err != nil || strings.Contains(plain.String(), "wrong:") {
		t.Errorf("a mark spread to another value: %s, %v", plain.String(), err)
	}
}
