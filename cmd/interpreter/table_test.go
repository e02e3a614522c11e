package main

import (
	"slices"
	"strings"
	"testing"

	"interpreter/cmd/config"
)

func TestTable(t *testing.T) {
	rows := &table{heads: []string{"NAME", ">SIZE", "NOTE", "WHY"}}
	rows.add("a\x1b]0;title\x07\x1b[31m", "1.0 GB", "", "ä→b") // what acts on a terminal is left out
	rows.add("longer", "", "", "c\nd\u202e")                   // and what breaks a line or turns it around
	var b strings.Builder
	if err := rows.write(&b); err != nil {
		t.Fatal(err)
	}
	want := "NAME      SIZE  WHY\n" + "a       1.0 GB  ä→b\n" + "longer          c d\\u{202E}\n"
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}

func TestWindowFlag(t *testing.T) {
	for text, want := range map[string]int{
		"65536": 65536, "64k": 65536, " 128K ": 131072, "65_536": 65536, "131,072": 131072, "1": 1,
		"": 0, "k": 0, "0": 0, "-1": 0, "64m": 0, "1.5k": 0, "99999999999": 0, "9999999k": 0,
	} {
		var n windowFlag
		if err := n.Set(text); int(n) != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %d, %v; want %d", text, n, err, want)
		}
	}
}

func TestNearNames(t *testing.T) {
	names := []string{"qwen3-coder:30b", "qwen3-coder-next:q4_K_M", "qwen3.6:27b", "gpt-oss:20b", "openai/gpt-oss-20b", "gemma4:12b"}
	for word, want := range map[string]string{
		"qwen3-codr:30b": "qwen3-coder:30b", "qwen3-coder:32b": "qwen3-coder:30b", "gptoss:20b": "gpt-oss:20b", "GPT-OSS:20": "gpt-oss:20b", "coder": "qwen3-coder:30b",
	} {
		if got := nearNames(word, names); len(got) == 0 || got[0] != want || len(got) > 3 {
			t.Errorf("%s: %v, want %s first", word, got, want)
		}
	}
	if got := nearNames("Qwen3-Coder:30b", names); slices.Contains(got, "qwen3-coder:30b") {
		t.Errorf("the name itself is near: %v", got)
	}
	if got := nearNames("zzzzzz:1b", names); got != nil {
		t.Errorf("nothing is near: %v", got)
	}
}

func TestNearby(t *testing.T) {
	for base, want := range map[string]bool{
		"http://127.0.0.1:8080/v1": true, "http://[::1]:8080": true, "http://localhost:1": true, "http://box:8000/v1": true, "http://box.local": true,
		"http://192.168.1.5:8000": true, "http://10.1.2.3": true, "http://172.31.0.1": true, "http://100.100.1.1": true, "http://[fd00::1]": true,
		"http://0.0.0.0:8000": true, "http://a.b.internal.": true, "http://[fe80::1%25eth0]": true, "http://[::ffff:127.0.0.1]": true,
		"https://models.example.com/v1": false, "http://172.32.0.1": false, "http://8.8.8.8": false, "http://local.example.com": false,
		"http://127.0.0.1.example.com": false, "http://notlocal": true, "http://[2001:db8::1]": false, "": false, "::": false, "/v1": false,
	} {
		if got := nearby(base); got != want {
			t.Errorf("%s: %v", base, got)
		}
	}
}

// Without a word about its wire a server that is near speaks chat completions, and a hosted one does not.
func TestWire(t *testing.T) {
	s := settings{Config: config.Config{ModelProviders: map[string]config.ModelProvider{
		"box": {BaseURL: "http://10.0.0.7:8000/v1"}, "said": {BaseURL: "http://localhost/v1", WireAPI: "chat"}, "old": {BaseURL: "http://localhost/v1", WireAPI: "responses"},
		"far": {BaseURL: "https://models.example.com/v1", WireAPI: "chat"}, "plain": {BaseURL: "https://models.example.com/v1"}, "ollama": {BaseURL: "http://localhost:11434", WireAPI: "chat"},
	}}}
	if got := s.near(); !slices.Equal(got, []string{"box", "old", "said"}) {
		t.Errorf("near: %v", got)
	}
	if got := s.wire(s.ModelProviders["plain"]); got != "responses" {
		t.Errorf("a hosted one without a word speaks %s", got)
	}
}
