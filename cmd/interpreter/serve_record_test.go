package main

import (
	"os"
	"testing"
)

// A server of ours is known while its process lives: not after it, and not by a later process with its number.
func TestServings(t *testing.T) {
	home := t.TempDir()
	began, there := begun(os.Getpid())
	if !there {
		t.Fatal("this process is not there")
	}
	ours := serving{Provider: "ollama", Address: "http://127.0.0.1:4000", PID: os.Getpid(), Began: began, KV: "q8_0", Window: 65536}
	later, gone := ours, ours
	later.Address, later.Began = "http://127.0.0.1:4001", began+"1"
	gone.Address, gone.PID = "http://127.0.0.1:4002", 1<<30
	for _, one := range []serving{later, gone, ours} {
		if err := keepServing(home, one); err != nil {
			t.Fatal(err)
		}
	}
	if all := servings(home); len(all) != 1 || all[0].Address != ours.Address {
		t.Errorf("kept: %+v", all)
	}
	s := &settings{folders: folders{home: home}}
	s.LocalKVCacheType = "q4_0"
	for address, want := range map[string]string{
		"http://127.0.0.1:4000": "q8_0", "http://localhost:4000": "q8_0", "http://127.0.0.1:4001": "q4_0", "http://192.0.2.1:4000": "q4_0",
	} {
		if got := s.cacheAt(address); string(got) != want {
			t.Errorf("at %s: %s, want %s", address, got, want)
		}
	}
	ours.KV = "f16" // started anew
	if err := keepServing(home, ours); err != nil {
		t.Fatal(err)
	}
	if got := s.cacheAt(ours.Address); got != "f16" {
		t.Errorf("after a new start: %s", got)
	}
	if err := dropServing(home, ours.PID); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(servingsPath(home)); err == nil || s.cacheAt(ours.Address) != "q4_0" {
		t.Error("it is known after its end")
	}
	if err := os.WriteFile(servingsPath(home), []byte("{\"servers\": 7"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all := servings(home); len(all) > 0 {
		t.Errorf("in a damaged record: %+v", all)
	}
}
