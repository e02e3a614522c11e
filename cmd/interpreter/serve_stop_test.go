package main

import (
	"os/exec"
	"runtime"
	"testing"
)

// Of several servers of ours none is ended by a guess, when the one that is meant cannot be one of them.
func TestStopServingGuessesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sleep")
	}
	home := t.TempDir()
	for _, port := range []string{"4000", "4001"} {
		c := exec.Command("sleep", "60")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill(); c.Wait() })
		began, _ := begun(c.Process.Pid)
		if err := keepServing(home, serving{Provider: "ollama", Address: "http://127.0.0.1:" + port, PID: c.Process.Pid, Began: began}); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"INTERPRETER_HOME": home, "OLLAMA_HOST": "http://box.lan:11434"}
	w := world{env: func(name string) string { return env[name] }, stdout: t.Output(), stderr: t.Output()}
	if err := w.stopServing(&flags{}, &serveWishes{port: -1, stop: true}); err == nil || len(servings(home)) != 2 {
		t.Errorf("%v; %d servers run on", err, len(servings(home)))
	}
}
