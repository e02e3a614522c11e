package agent

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"interpreter/sandbox/action"
)

// failures notices commands that fail the same way although nothing changed. The zero value is ready.
type failures struct {
	last  map[string]failure
	signs map[string]int // failures of any command, by what they printed
	slow  map[string]int // how often a command ran out of time
}

// failure is how a command failed, and how often like that.
type failure struct {
	sign  string
	tail  string
	count int
}

var (
	lookAway = regexp.MustCompile(`(\s*2>&1|\s*\|\s*(tail|head)(\s+-\S+)*(\s+\d+)?|\s*;\s*echo\s+"?\$\?"?)+\s*$`)
	blanks   = regexp.MustCompile(`\s+`)
	varying  = regexp.MustCompile(`0x[0-9a-fA-F]+|\d+(\.\d+)*`)
)

// commandKey names a command however its output is looked at.
func commandKey(need action.Need) string {
	script := blanks.ReplaceAllString(strings.TrimSpace(need.Script), " ")
	for prev := ""; prev != script; {
		prev, script = script, lookAway.ReplaceAllString(script, "")
	}
	return need.Dir + "\x00" + strconv.FormatBool(need.Escalate) + "\x00" + script
}

// again gives what is said in place of running a command that failed twice in the same way, or ran out of time twice
// and would again be waited for; "" when it may run.
func (f *failures) again(need action.Need, lasting bool) string {
	if need.Effect != action.Runs {
		return ""
	}
	key := commandKey(need)
	if f.slow[key] >= 2 && !lasting {
		return wordsSlow
	}
	if last := f.last[key]; last.count >= 2 {
		return fmt.Sprintf(wordsFailed, last.tail)
	}
	return ""
}

// after takes in the end of a command. end tells that the same failure came five times, under whatever command.
func (f *failures) after(need action.Need, ran action.Ran) (note string, end bool) {
	key := commandKey(need)
	if ran.Session != 0 {
		return "", false
	}
	if ran.Exit.TimedOut {
		if f.slow == nil {
			f.slow = map[string]int{}
		}
		f.slow[key]++
	}
	if ran.Exit.Code == 0 && !ran.Exit.TimedOut {
		delete(f.last, key)
		delete(f.slow, key)
		if !readsOnly(need) {
			*f = failures{} // it may have mended what the others failed on
		}
		return "", false
	}
	if f.last == nil {
		f.last, f.signs = map[string]failure{}, map[string]int{}
	}
	sign := strconv.Itoa(ran.Exit.Code) + varying.ReplaceAllString(ran.Output, "#")
	now := failure{sign: sign, tail: lastLines(ran.Output, 5, 800), count: 1}
	if was := f.last[key]; was.sign == sign {
		now.count = was.count + 1
	}
	f.last[key] = now
	if strings.TrimSpace(ran.Output) != "" {
		f.signs[sign]++
		end = f.signs[sign] >= 5
	}
	if now.count >= 2 {
		note = wordsFailing
	}
	return note, end
}

func lastLines(text string, lines, size int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	text = strings.Join(all[max(0, len(all)-lines):], "\n")
	if len(text) > size {
		text = strings.ToValidUTF8(text[len(text)-size:], "")
	}
	if text == "" {
		return "(it printed nothing)"
	}
	return text
}
