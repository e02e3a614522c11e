package main

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// Servers that are put into the record at the same time are all in it.
func TestServingsTogether(t *testing.T) {
	home := t.TempDir()
	pid := os.Getpid()
	began, there := begun(pid)
	if !there {
		t.Skip("this system does not tell when a process began")
	}
	const many = 24
	var wait sync.WaitGroup
	for port := range many {
		wait.Go(func() {
			address := fmt.Sprintf("http://127.0.0.1:%d", 1000+port)
			if err := keepServing(home, serving{Provider: "ollama", Address: address, PID: pid, Began: began, When: time.Now()}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := len(servings(home)); n != many {
		t.Errorf("%d servers of %d are in the record", n, many)
	}
	if err := dropServing(home, pid); err != nil || len(servings(home)) != 0 {
		t.Errorf("dropped: %v, %v", servings(home), err)
	}
}
