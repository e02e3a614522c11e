package harness

import (
	"strings"
	"testing"

	"interpreter/local/chat"
	"interpreter/sandbox/action"
)

func pause(text string) Pause {
	return Pause{Message: chat.Message{Role: chat.Assistant, Text: text}, Finish: chat.Stopped, Calls: 1, Offered: []string{"read_file", "bash", "edit", "Read"}}
}

func TestAnnouncements(t *testing.T) {
	for _, text := range []string{
		"Now I'll run the tests.",
		"I found the cause in a.go. Let me fix it.",
		"The import is missing. Next, I will add it.",
		"I’m going to update the config file now",
		"Let's check the logs first.",
		"Here is what I will change:",
		"Now let me look at the main file...",
		"I'll now re-run the build.",
		"First, I need to read the file.",
		"Next step is to run the tests.",
		"问题在于缩进。接下来我将运行测试。",
		"让我查看一下这个文件。",
		"我将修改 main.go。",
		"Ich werde die Tests jetzt ausführen.",
		"Als Nächstes prüfe ich die Konfiguration.",
		"Je vais vérifier le fichier.",
		"Voy a ejecutar las pruebas.",
		"Сейчас я запущу тесты.",
		"Reading the file now.",
		"```go\nfunc main() {}\n```\nNow I will write this to main.go.",
	} {
		if why, ok := EarlyStop(pause(text)); !ok || why == "" {
			t.Errorf("%q passes for an end", text)
		}
	}
}

func TestEnds(t *testing.T) {
	for _, text := range []string{
		"",
		"Done.",
		"The tests pass. I fixed the typo in greet.go.",
		"Should I run the tests?",
		"I'll delete the folder. Is that what you want?",
		"If you want, I can run the tests.",
		"If you'd like, I will add a test as well.",
		"I can add more tests. Let me know.",
		"Let me know if anything else is needed.",
		"Let me explain: the loop ends one too early.",
		"I will run the tests. All 12 tests passed.",
		"I will not change the file.",
		"The function I'll-formed is fine.",
		"Let me summarise what was done: the typo is gone.",
		"需要我继续吗？",
		"如果你需要，我可以运行测试。",
		"Wenn du möchtest, werde ich die Tests ausführen.",
		"Im Ergebnis laufen alle Tests.",
		"Now the program prints the right total.",
	} {
		if why, ok := EarlyStop(pause(text)); ok {
			t.Errorf("%q: %s", text, why)
		}
	}
	p := pause("Now I'll run the tests.")
	p.Finish = chat.CutShort
	if _, ok := EarlyStop(p); ok {
		t.Error("a cut answer is another matter")
	}
	p = pause("Now I'll run the tests.")
	p.Message.Calls = []chat.Call{{Name: "bash"}}
	if _, ok := EarlyStop(p); ok {
		t.Error("it has called")
	}
}

// Before any call only a request to act makes an announcement an early stop.
func TestAnnouncementsOfTalk(t *testing.T) {
	for request, want := range map[string]bool{
		"fix the bug in main.go":               true,
		"Can you run the tests?":               true,
		"please add a flag":                    true,
		"修复这个错误":                               true,
		"Führe die Tests aus":                  true,
		"what does main.go do?":                false,
		"explain how to run the tests":         false,
		"How would you fix the parser?":        false,
		"hello":                                false,
		"":                                     false,
		strings.Repeat("x ", 5000) + "fix it!": false,
	} {
		p := pause("I'll run the tests.")
		p.Calls, p.Asked = 0, request
		if _, ok := EarlyStop(p); ok != want {
			t.Errorf("%.40q: %v", request, ok)
		}
	}
}

func TestOpenPlan(t *testing.T) {
	p := pause("The parser is changed.")
	p.Open = []action.PlanItem{{Text: "run the tests", Status: "pending"}}
	if why, ok := EarlyStop(p); !ok || !strings.Contains(why, "plan") {
		t.Errorf("got %q, %v", why, ok)
	}
	for _, text := range []string{"The parser is changed. I cannot run the tests: there is no compiler.", "Which database shall I use?", "I am blocked: the server is down."} {
		p.Message.Text = text
		if why, ok := EarlyStop(p); ok {
			t.Errorf("%q: %s", text, why)
		}
	}
}

func TestThoughtsThatEndWithATool(t *testing.T) {
	for thought, want := range map[string]string{
		"The file matters. I should call read_file on it.": "read_file",
		"We need to use the edit tool.":                    "edit",
		"Then bash(\"go test\").":                          "bash",
		"So I call `bash`":                                 "bash",
		"I have read the file and it is fine.":             "",
		"Nothing to edit here, so I answer.":               "",
		"I called read_file. The task is done.":            "",
		"Use read_file. But first answer.":                 "",
		"The bread_files are stale.":                       "",
	} {
		p := pause("The file is worth a look.")
		p.Message.Thinking = thought
		why, _ := EarlyStop(p)
		if got := strings.TrimPrefix(why, "meant to call "); got != want {
			t.Errorf("%q: %q", thought, why)
		}
	}
}

func TestAsksToVerify(t *testing.T) {
	for request, want := range map[string]bool{
		"fix it and run the tests": true, "make sure it builds": true, "then go test ./...": true, "all tests should pass": true, "verify that it works": true,
		"rename the function": false, "write a test for it": false, "explain the tests": false,
	} {
		if got := AsksToVerify(request); got != want {
			t.Errorf("%q: %v", request, got)
		}
	}
}
