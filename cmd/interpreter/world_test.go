package main

import (
	"path/filepath"
	"testing"
)

// A HOME that is missing or relative must not make a home folder of the root or of the working directory.
func TestHomeThatNamesNoPlace(t *testing.T) {
	for _, home := range []string{"", "relative", "."} {
		t.Setenv("HOME", home)
		if got := (world{}).userHome(); got != "" && !filepath.IsAbs(got) || got == "/" {
			t.Errorf("HOME=%q: %q", home, got)
		}
	}
	want := t.TempDir()
	t.Setenv("HOME", want)
	if got := (world{}).userHome(); got != want {
		t.Errorf("HOME=%s: %s", want, got)
	}
}
