package minisweagent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"interpreter/harness"
	"interpreter/harness/harnesstest"
	"interpreter/local/chat"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

func TestHarness(t *testing.T) { harnesstest.Run(t, Harness) }

func TestSize(t *testing.T) { harnesstest.Fits(t, Harness, 4000) }

// TestVariant runs the contract on testdata/text.
func TestVariant(t *testing.T) {
	t.Chdir("testdata/text")
	harnesstest.Run(t, Variant)
	harnesstest.Fits(t, Variant, 4000)
}

func TestSubmission(t *testing.T) {
	tests := []struct {
		output string
		code   int
		final  string
		ended  bool
	}{
		{submission + "\n", 0, "", true},
		{"\n  \n" + submission + " \nThe streak\nis fixed.\n", 0, "The streak\nis fixed.", true},
		{submission + "\n", 1, "", false},
		{"ok\n" + submission + "\n", 0, "", false},
		{submission + "_NOW\n", 0, "", false},
		{"", 0, "", false},
	}
	step, err := Harness.Step(chat.Call{Name: "bash", Args: json.RawMessage(`{"command":"x"}`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		final, ended := step.Ends(action.Ran{Output: tt.output, Exit: sandbox.Exit{Code: tt.code}})
		if final != tt.final || ended != tt.ended {
			t.Errorf("%q, exit %d: ends %v with %q, want %v with %q", tt.output, tt.code, ended, final, tt.ended, tt.final)
		}
	}
}

func TestLimits(t *testing.T) {
	tests := []struct {
		command    string
		limit      time.Duration
		background bool
		script     string
	}{
		{"go test", 30 * time.Second, false, "go test"},
		{"timeout 120 go test", 122 * time.Second, false, "timeout 120 go test"},
		{"cd /w && timeout -k 5 2m make", 122 * time.Second, false, "cd /w && timeout -k 5 2m make"},
		{"timeout 5 make", 30 * time.Second, false, "timeout 5 make"},
		{"timeout 9h make", 10 * time.Minute, false, "timeout 9h make"},
		{"echo timeout 900 x", 30 * time.Second, false, "echo timeout 900 x"},
		{"./serve > out.txt 2>&1 &", 0, true, "./serve > out.txt 2>&1"},
		{"cd a && ./serve &\n", 0, true, "cd a && ./serve"},
		{"./serve & sleep 1; curl x", 30 * time.Second, false, "./serve & sleep 1; curl x"},
		{"a; b &", 30 * time.Second, false, "a; b &"},
		{"a &&", 30 * time.Second, false, "a &&"},
	}
	for _, tt := range tests {
		step, err := Harness.Step(chat.Call{Name: "bash", Args: harness.JSON(bashParams{tt.command})})
		if err != nil {
			t.Fatal(err)
		}
		run := step.Action.(action.Run)
		if run.Timeout != tt.limit || run.Background != tt.background || run.Script != tt.script {
			t.Errorf("%q: %v, %v, %q; want %v, %v, %q", tt.command, run.Timeout, run.Background, run.Script, tt.limit, tt.background, tt.script)
		}
	}
}

func TestBlocks(t *testing.T) {
	ours := "```" + label + "\n"
	tests := map[string]string{
		ours + "ls\n```":                                     "ls",
		"x\n" + ours + "ls\n```\nwait":                       "ls",
		ours + "ls\n```\n" + ours + "pwd\n```":               "ls|pwd",
		ours + "ls":                                          "",
		"say ```" + label + "``` twice":                      "",
		ours + "cat > a.md <<'EOF'\n```go\nx\n```\nEOF\n```": "cat > a.md <<'EOF'\n```go\nx\n```\nEOF",
		ours + "grep '```js\n```\n":                          "grep '```js",
		ours + "echo '\n```sh\n'\n```":                       "echo '\n```sh\n'",
		ours + "a ```\n```x\n```\n" + ours + "b\n```\n":      "a ```\n```x|b",
		"  " + ours + "ls\n```  \n":                          "ls",
	}
	for text, want := range tests {
		var got []string
		for _, b := range blocks(text, label) {
			got = append(got, b.body)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q has %q, want %q", text, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range []string{"```bash\nls\n```", "<think>a</think>\n```" + label + "\nls\n```", "```" + label + "\n```x\n```\n", fence} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read, err := decode(harness.Answer{Message: chat.Message{Role: chat.Assistant, Text: text}})
		for _, c := range read.Message.Calls {
			var p bashParams
			if json.Unmarshal(c.Args, &p) != nil || err == nil && read.Message.Written != text {
				t.Errorf("%q: call %s, written %q", text, c.Args, read.Message.Written)
			}
		}
	})
}

// BenchmarkDecode is linear: a text twice as long takes twice as long.
func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 14} {
		text := strings.Repeat("```"+label+"\n```js\n", n)
		b.Run(fmt.Sprint(len(text)), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, _ = decode(harness.Answer{Message: chat.Message{Text: text}})
			}
		})
	}
}

// A call in another family's form is read when there is no block, one a reply.
func TestForeignCalls(t *testing.T) {
	one := `<tool_call>{"name":"execute_bash","arguments":{"command":"ls"}}</tool_call>`
	read, err := decode(harness.Answer{Message: chat.Message{Role: chat.Assistant, Text: "I look.\n" + one}, Finish: chat.Stopped})
	if calls := read.Message.Calls; err != nil || len(calls) != 1 || read.Message.Text != "I look." || read.Message.Written == "" {
		t.Fatalf("%+v, %v", read, err)
	}
	if step, err := Variant.Step(read.Message.Calls[0]); err != nil || step.Tool != "bash" {
		t.Errorf("%+v, %v", step, err)
	}
	two := one + "\n" + `<tool_call>{"name":"bash","arguments":{"command":"pwd"}}</tool_call>`
	if read, err = decode(harness.Answer{Message: chat.Message{Role: chat.Assistant, Text: two}, Finish: chat.Stopped}); err == nil || len(read.Message.Calls) != 0 {
		t.Errorf("two calls: %+v, %v", read, err)
	}
}
