package action

import "testing"

func TestInBackground(t *testing.T) {
	tests := []struct {
		script, command string
		whole, some     bool
	}{
		{"go test", "", false, false},
		{"./serve > out 2>&1 &", "./serve > out 2>&1", true, true},
		{"cd a && ./serve &\n", "cd a && ./serve", true, true},
		{"(while true; do date; sleep 1; done) > log 2>&1 &", "(while true; do date; sleep 1; done) > log 2>&1", true, true},
		{"sleep 1; echo x > y &", "", false, true},
		{"./serve & sleep 1; curl x", "", false, true},
		{"a & b & wait", "", false, false},
		{"echo 'a &'", "", false, false},
		{"a &&", "", false, false},
		{"cat <<E\na &\nE", "", false, false},
		{"", "", false, false},
	}
	for _, tt := range tests {
		command, whole, some := InBackground(tt.script)
		if command != tt.command || whole != tt.whole || some != tt.some {
			t.Errorf("%q: %q, %v, %v; want %q, %v, %v", tt.script, command, whole, some, tt.command, tt.whole, tt.some)
		}
	}
}
