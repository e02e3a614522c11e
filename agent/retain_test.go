package agent_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// A file that was shown whole stands behind a summary as it is by then, and is not read again in vain.
func TestFilesAreShownAgainBehindASummary(t *testing.T) {
	for _, c := range []struct{ harness, want string }{
		{"zcode", "has not changed since you read its 1 lines"}, {"claude-code", "1\tpackage greet // hullo"}, {"claude-code-bare", "1\tpackage greet // hullo"},
	} {
		t.Run(c.harness, func(t *testing.T) {
			t.Parallel()
			s := onStage(t, c.harness, false)
			long := strings.Repeat("a line of some length, many times over\n", 1000)
			write(t, filepath.Join(s.dir, "long.txt"), long)
			read := called(`Read {"file_path":"$dir/greet.go"}`)
			s.turn("Look.", called(`Read {"file_path":"$dir/long.txt"}`), called(`Read {"file_path":"$dir/greet.go","limit":1}`), read)
			write(t, filepath.Join(s.dir, "greet.go"), "package greet // hullo\n")
			if err := s.session.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.check(s.turn("Again.", read), []one{{Tool: "read", Want: c.want}})
			var shown []string
			for _, m := range s.model.asked[len(s.model.asked)-1].Messages {
				if m.Result == nil && strings.Contains(m.Text, "before the summary") {
					shown = append(shown, m.Text)
				}
			}
			if len(shown) != 1 || !strings.Contains(shown[0], "{\"file_path\":\""+s.dir+"/greet.go\"}") || !strings.Contains(shown[0], "1\tpackage greet // hullo") {
				t.Errorf("shown again: %.400q", shown)
			}
		})
	}
}
