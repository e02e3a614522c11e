package harness

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"interpreter/local/chat"
)

// EarlyStop reports whether an answer without a call stops before the work is done, and in what way, for people: it
// announces what it does not do, leaves steps of the plan open, or decided in its thoughts to call a tool. A question
// to the person, an offer, and a report of what stands in the way are ends. It reads the languages models answer in
// most; in others only a colon at the end and the plan tell.
func EarlyStop(p Pause) (why string, ok bool) {
	text := strings.TrimSpace(p.Message.Text)
	if len(p.Message.Calls) > 0 || p.Finish != chat.Stopped || p.Calls == 0 && !AsksToAct(p.Asked) {
		return "", false
	}
	last := lastSentences(text, 2)
	if asks(last) || offers.MatchString(last) {
		return "", false
	}
	if announced := announces(last); announced != "" || strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：") {
		return "announced what it did not do", true
	}
	if len(p.Open) > 0 && p.Calls > 0 && !blocked.MatchString(text) {
		return "left steps of its plan open", true
	}
	if tool := decided(p.Message.Thinking, p.Offered); tool != "" {
		return "meant to call " + tool, true
	}
	return "", false
}

// AsksToAct reports whether a request wants something done, as far as its words tell.
func AsksToAct(request string) bool {
	request = strings.TrimSpace(request)
	if len(request) > 4000 {
		request = request[:4000]
	}
	return orders.MatchString(request) && !wonders.MatchString(request)
}

// AsksToVerify reports whether a request wants the work to be checked: by tests, a build, a run.
func AsksToVerify(request string) bool { return checks.MatchString(request) }

// RunsCommands reports whether a tool of this name runs commands, or talks to one that runs.
func RunsCommands(tool string) bool { return commands(tool) }

const (
	acts = `(?:run|re-?run|check|look|read|re-?read|open|edit|fix|update|create|write|add|implement|start|search|find|examine|inspect|test|verify|` +
		`make|modify|explore|apply|execute|build|install|remove|delete|rename|replace|refactor|list|grep|use|call|try|continue|proceed|begin|` +
		`review|analy[sz]e|investigate|change|move|set|configure|debug|view|get|fetch|compile|commit|locate|trace|scan|identify|` +
		`adjust|correct|patch|convert|extract|generate|do|handle|go|take|see)`
	adverbs = `(?:(?:now|then|next|first|also|just|quickly|simply|go ahead and|start by|begin by|proceed to|try to|have to|need to|be|again|directly|carefully|immediately)\s+)*`
)

// Announcements: the first person, what is about to happen, a verb of doing.
var (
	announcements = regexp.MustCompile(`(?i)` + strings.Join([]string{
		`\b(?:i['’]ll|i will|i shall|i['’]m going to|i am going to|i['’]m about to|i need to|i should|let me|let['’]s|let us)\s+` + adverbs + acts + `(?:ing)?\b`,
		`\b(?:next|now|then|first)\s*,?\s+(?:step\s+is\s+to\s+|i\s+|i['’]ll\s+|i will\s+|i['’]m going to\s+|let me\s+|let['’]s\s+|we\s+|to\s+)` + adverbs + acts + `\b`,
		`\b(?:running|checking|reading|editing|fixing|creating|writing|updating|searching|looking)\b[^.!?]{0,60}\bnow\b`,
		`(?:接下来|现在我|让我|我将|我会|下一步|我来|我先|我要)[^。！？\n]{0,20}(?:运行|执行|检查|查看|读取|阅读|修改|编辑|更新|创建|添加|实现|修复|测试|搜索|查找|分析|开始|继续|看看|看一下|写入|编写|删除|打开|验证|安装|构建|重构|使用|调用|处理)`,
		`\b(?:ich werde|als nächstes|nun|jetzt|dann)\s[^.!?\n]{0,80}(?:ausführe|ausführ|führe|prüf|überprüf|les|änder|anpass|passe|erstell|schreib|füg|hinzufüg|beheb|korrigier|test|such|anseh|anschau|schau|öffn|bearbeit|start|untersuch|implementier|aktualisier|lösch|entfern|umbenenn|seh)\w*`,
		`\b(?:je vais|maintenant,?\s+je|laissez-moi|ensuite,?\s+je)\s[^.!?\n]{0,60}(?:exécut|lanc|vérifi|li[rs]|modifi|cré|écri|ajout|corrig|test|cherch|regard|ouvr|examin|mettre à jour|supprim|analys|commenc|continu)`,
		`\b(?:voy a|ahora (?:voy a|vamos a)|vamos a|permíteme|déjame)\s[^.!?\n]{0,60}(?:ejecut|revis|le[ey]|modific|crea|escrib|añad|agreg|corr[ie]g|arregl|prob|busc|abr|edit|actualiz|examin|comprob|verific|elimin|mir|continu)`,
		`(?:сейчас я|теперь я|я сейчас|далее я|давайте)\s[^.!?\n]{0,60}(?:запу|провер|проч|измен|исправ|созда|напи|добав|посмотр|откр|найд|обнов|выполн|протестир|удал)`,
	}, "|"))
	finished = regexp.MustCompile(`(?i)\b(?:done|completed?|finished|fixed|passed|passes|succeeded|successful(?:ly)?|all set|no further|nothing (?:else|more)|fertig|erledigt|abgeschlossen|terminé|listo|completado)\b|完成|已经|成功|готово|завершен`)
	offers   = regexp.MustCompile(`(?i)\bif you(?:'d| would)? (?:want|like|need|prefer|wish)|\bif you(?:'d|’d) |\bwould you like\b|\blet me know\b|\bfeel free\b|\bhappy to\b|\bi can (?:also )?\w+ (?:it|that|this)?.*\bif\b|\bonce you\b|\bwhenever you\b|` +
		`\bwenn (?:du|sie) (?:möchte|willst|wollen)|\bfalls (?:du|sie)\b|\bsag (?:mir )?bescheid|\bsi vous (?:voulez|souhaitez)|\bsi (?:quieres|desea|lo desea)|如果你|如果您|如需|需要我|если (?:хотите|нужно)`)
	blocked = regexp.MustCompile(`(?i)\b(?:block(?:ed|er)|cannot|can['’]t|could not|couldn['’]t|unable|not (?:able|possible|allowed|permitted|available)|permission|denied|waiting for|need(?:s)? (?:your|more|a|the user)|missing|fails?\b|failed|stuck|impossible|` +
		`kann nicht|nicht möglich|impossible|ne peux pas|no puedo|no es posible)\b|无法|不能|没有权限|не могу|невозможно`)
	orders = regexp.MustCompile(`(?i)\b(?:fix|add|write|create|implement|run|change|refactor|update|remove|delete|rename|make|build|install|test|edit|move|replace|convert|migrate|port|set up|apply|debug|solve|repair|clean|check|find|search|generate|optimi[sz]e|improve|continue|go on|proceed|` +
		`behebe?|erstelle?|schreibe?|ändere?|füge?|führe?|teste?|korrigiere?|corrige[rz]?|ajoute[rz]?|crée[rz]?|exécute[rz]?|lance[rz]?|modifie[rz]?|arregla|corrige|añade|agrega|crea|ejecuta|escribe|cambia)\b|修复|添加|实现|运行|创建|修改|更新|删除|编写|测试|重构|исправ|добав|созда|запуст|напиш|измени`)
	wonders = regexp.MustCompile(`(?i)^(?:what|why|how|when|who|where|which|explain|describe|summari[sz]e|is|are|does|do|was|were|tell me|was|wie|warum|wer|wo|erkläre?|pourquoi|comment|quel|qu['’]|por qué|cómo|qué|cuál)\b|^(?:什么|为什么|怎么|如何|解释)`)
	checks  = regexp.MustCompile(`(?i)\b(?:run|pass(?:es|ing)?|execute)\b[^.\n]{0,40}\b(?:tests?|test suite|build|linter|lint)\b|\btests?\b[^.\n]{0,40}\b(?:pass|green|succeed|run)|\b(?:verify|validate|make sure|ensure|double-check)\b|\bcheck (?:that|it|if|whether)\b|` +
		`\b(?:go test|go vet|pytest|npm (?:run )?test|yarn test|pnpm test|cargo test|make (?:test|check)|ctest|mvn test|gradle test)\b|\btests? (?:laufen|grün)|\bstelle? sicher|\bteste? (?:es|das)\b|运行测试|测试通过|确保|验证|passent|asegúrate|проверь|запусти тест`)
)

// announces gives the announcement that nothing after it takes back.
func announces(text string) string {
	all := announcements.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return ""
	}
	at := all[len(all)-1]
	if finished.MatchString(text[at[1]:]) {
		return ""
	}
	return text[at[0]:at[1]]
}

// asks reports whether the end of an answer puts a question to the person.
func asks(last string) bool {
	return strings.ContainsAny(last, "?？") && !strings.Contains(last, "://")
}

// decided gives the tool that thoughts end with, when they end with one.
func decided(thinking string, offered []string) string {
	last := lastSentences(strings.TrimSpace(thinking), 1)
	if last == "" || finished.MatchString(last) {
		return ""
	}
	for _, name := range offered {
		at := wordAt(last, name)
		if at < 0 {
			continue
		}
		before, after := strings.ToLower(last[:at]), last[at+len(name):]
		named := strings.ContainsAny(name, "_-") || strings.IndexFunc(name[min(1, len(name)):], unicode.IsUpper) >= 0
		called := strings.HasPrefix(after, "(") || strings.HasPrefix(strings.ToLower(after), " tool") || strings.HasPrefix(strings.TrimLeft(after, "`'\""), " tool")
		for _, verb := range []string{"call ", "calling ", "use ", "using ", "invoke "} {
			rest := strings.TrimRight(before, "`'\" ")
			rest = strings.TrimSuffix(rest, " the") + " "
			called = called || strings.HasSuffix(rest, verb)
		}
		if named || called {
			return name
		}
	}
	return ""
}

// wordAt is where a name stands in a text by itself, -1 when nowhere.
func wordAt(text, name string) int {
	part := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for from := 0; name != ""; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			return -1
		}
		at += from
		before := []rune(text[max(0, at-4):at])
		after := []rune(text[at+len(name) : min(len(text), at+len(name)+4)])
		if (len(before) == 0 || !part(before[len(before)-1])) && (len(after) == 0 || !part(after[0])) {
			return at
		}
		from = at + len(name)
	}
	return -1
}

// lastSentences are the last n sentences of a text; lines end sentences too. Code and lists count as they stand.
func lastSentences(text string, n int) string {
	const most = 1000
	if len(text) > most {
		text = strings.ToValidUTF8(text[len(text)-most:], "")
	}
	runes := []rune(text)
	end := len(runes)
	for i := end - 1; i > 0; i-- {
		ends := slices.Contains([]rune(".!?。！？\n"), runes[i-1]) && (unicode.IsSpace(runes[i]) || runes[i-1] == '\n' || runes[i-1] > 0x2000)
		if !ends || strings.TrimSpace(string(runes[i:end])) == "" {
			continue
		}
		if n--; n == 0 {
			return strings.TrimSpace(string(runes[i:]))
		}
		end = i
	}
	return strings.TrimSpace(text)
}
