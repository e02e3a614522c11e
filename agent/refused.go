package agent

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"interpreter/agent/approve"
	"interpreter/agent/event"
	"interpreter/sandbox"
	"interpreter/sandbox/action"
)

// rerun asks a person whether a command that the sandbox refused something runs once more with just that allowed, and
// runs it if they say so. What it comes to then takes the place of what it came to before. The error ends the turn; the
// task has its result all the same.
func (t *turn) rerun(ctx context.Context, k *task) error {
	ran, ok := k.outcome.(action.Ran)
	if !ok || k.err != nil || len(ran.Refused) == 0 || ctx.Err() != nil || !t.offers(k, ran) {
		return nil
	}
	wider, ok := t.wider(k.need, ran)
	key := keyOfNeed(wider)
	if !ok || t.noes[key] {
		return nil
	}
	got, err := t.put(ctx, t.retrying(k, ran, wider))
	if err != nil {
		return err
	}
	if !got.decision.Grants() {
		if t.noes == nil {
			t.noes = map[string]bool{}
		}
		t.noes[key] = true
		k.said = wordsRefusedNo
		if got.note != "" {
			k.said += " They say: " + got.note
		}
		if got.decision == approve.Stop {
			return errStopped
		}
		return nil
	}
	leave := action.Leave{Outside: wider.Escalate, Opened: wider.Opens, Dir: ran.Dir}
	if got.decision == approve.ForSession {
		if t.widened == nil {
			t.widened = map[string]action.Leave{}
		}
		t.widened[keyOfNeed(k.need)] = leave
	}
	if err := t.add(event.Tried{CallID: k.call.ID, Outcome: ran}); err != nil {
		return err
	}
	first := *k
	k.leave, k.by, k.outcome, k.words = leave, event.ByPerson, nil, ""
	k.run(ctx, t.cfg.Workspace)
	if k.err != nil && ctx.Err() == nil && k.panic == "" { // it could not be started
		why := k.err
		*k = first
		k.said = "The user let it run again with more rights, which failed: " + why.Error() + "."
		return nil
	}
	k.note = "\n[a first run was refused by the sandbox: " + strings.Join(ran.Denied, "; ") + ". The user let the same command run again, and this is what came of that]"
	return nil
}

// offers reports whether a person may be asked about a refusal: the policy asks such questions, and running the command
// once more is running the same command. A shell that keeps its state is another one by then.
func (t *turn) offers(k *task, ran action.Ran) bool {
	run, single := k.step.Action.(action.Run)
	if !single || run.Keep == action.KeepShell || run.TTY || run.Background || ran.Session != 0 || !t.cfg.Interactive {
		return false
	}
	switch t.cfg.Approval {
	case approve.Untrusted:
		return true
	case approve.OnRequest: // with switches it asks what is not switched off; without, the model has to ask
		return t.cfg.Unasked != nil && !slices.Contains(t.cfg.Unasked, approve.BySandbox)
	}
	return false
}

// wider is what a command needs so that what was refused passes: just that, when all of it has a name, else to run
// outside. false: nothing a person says may let it pass.
func (t *turn) wider(need action.Need, ran action.Ran) (action.Need, bool) {
	wider := t.exact(need)
	wider.Dir = ran.Dir
	p := t.cfg.Workspace.Box.Policy()
	paths := slices.Clone(wider.Opens.Paths)
	for _, r := range ran.Refused {
		switch {
		case r.Path != "":
			if _, place, err := p.Place(r.Path); err != nil || place == sandbox.Forbidden {
				return wider, false
			}
			if !slices.Contains(paths, r.Path) {
				paths = append(paths, r.Path)
			}
		case r.Network:
			wider.Opens.Network = true
		case r.Undone, ran.Exit.Signal == "SIGSYS", ran.Exit.Code == 128+31:
			wider.Escalate = true
		default: // without a name, it is the agent's own
			return wider, false
		}
	}
	slices.Sort(paths)
	if wider.Opens.Paths = paths; wider.Escalate {
		wider.Opens = sandbox.Opened{}
	}
	return wider, true
}

// retrying is the question whether a command runs again.
func (t *turn) retrying(k *task, ran action.Ran, wider action.Need) event.Asked {
	q := event.Asked{
		CallID: k.call.ID, Title: k.step.Title(), Need: wider, Why: "the sandbox refused a part of what it does",
		Class: string(approve.BySandbox), Dir: ran.Dir,
		Would: "the same command runs again, outside the sandbox: it may write wherever you may, and use the network",
		Choices: []event.Choice{choiceOnce, {Decision: string(approve.ForSession),
			Text: "yes, and the same command in this folder, with the same rights, until this session ends"}, choiceNo, choiceStop},
	}
	if !wider.Escalate {
		q.Would = "the same command runs again in the sandbox, and " + opening(wider.Opens)
	}
	for _, r := range ran.Refused {
		text := r.Text
		if r.Undone && !strings.Contains(text, "put back") && !strings.Contains(text, "undone") {
			text += " (it was done, and put back)"
		}
		q.Blocked = append(q.Blocked, text)
	}
	return q
}

// keyOfNeed names a command with all it asks for: the same key is the same question.
func keyOfNeed(need action.Need) string {
	const sep = "\x00"
	argv := strings.Join(need.Argv, sep)
	if len(need.Argv) == 0 {
		argv = need.Script
	}
	opens := strings.Join(need.Opens.Paths, sep)
	return strings.Join([]string{string(need.Effect), argv, filepath.Clean(need.Dir), strconv.FormatBool(need.Escalate),
		strconv.FormatBool(need.TTY), strconv.FormatBool(need.Opens.Network), opens}, sep+sep)
}

// tell words what the sandbox refused a command for the model, in one line: what, and how to ask for it. It goes where
// the harness puts such things.
func (t *turn) tell(k *task, ran action.Ran) string {
	if len(ran.Denied) == 0 {
		return k.words
	}
	line := strings.TrimSuffix(strings.Join(ran.Denied, "; "), ".") + ". " + t.howTo(k, ran)
	if k.step.Say == nil {
		return k.words + wordsRefusedBy(line)
	}
	told, bare := ran, ran
	told.Denied, bare.Denied = []string{line}, nil
	words, ok := k.step.Say(told)
	if without, same := k.step.Say(bare); !ok || !same || words == without {
		return strings.TrimSuffix(k.words, "\n") + wordsRefusedBy(line)
	}
	return words
}

// howTo says what can be done about a refusal, a sentence: by the model, or else by the person.
func (t *turn) howTo(k *task, ran action.Ran) string {
	if k.said != "" {
		return k.said
	}
	_, possible := t.wider(k.need, ran)
	switch by := t.cfg.Harness.Escalates; {
	case !possible:
		return wordsRefusedAlways
	case by.Set != "" && t.cfg.Interactive && t.cfg.Approval != approve.Never:
		return "To ask the user for it, " + by.Ask() + "."
	}
	if flags := remedyOf(ran.Refused, t.cfg.Workspace.Box.Policy()); flags != "" {
		return "Only the user can allow it, by starting with " + flags + "."
	}
	return wordsRefusedStays
}

// remedyOf is what a person starts the program with so that what was refused passes, "" when no setting does that but the
// one that takes the sandbox away.
func remedyOf(refused []sandbox.Refusal, p sandbox.Policy) string {
	var flags, folders []string
	network := false
	open := p
	if p.Mode == sandbox.ReadOnly {
		open.Mode, open.Roots = sandbox.WorkspaceWrite, []string{p.Dir}
	}
	for _, r := range refused {
		if r.Path == "" {
			network = network || r.Network
			continue
		}
		real, place, err := open.Place(r.Path)
		if err != nil || place == sandbox.Guarded || place == sandbox.Forbidden {
			return ""
		}
		if place == sandbox.Inside {
			continue
		}
		if info, err := os.Stat(real); err != nil || !info.IsDir() {
			real = filepath.Dir(real)
		}
		if rel, err := filepath.Rel(real, p.UserHome); p.UserHome != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return "" // the whole home folder is more than anybody means to open, and its start-up files would stay closed
		}
		if real != filepath.Dir(real) && !slices.Contains(folders, real) {
			folders = append(folders, real)
		}
	}
	if p.Mode == sandbox.ReadOnly {
		flags = append(flags, "-s "+string(sandbox.WorkspaceWrite))
	}
	for _, dir := range folders[:min(len(folders), 3)] {
		flags = append(flags, "--add-dir "+shellWord(dir))
	}
	if network {
		flags = append(flags, "-c sandbox_workspace_write.network_access=true")
	}
	if p.Mode == sandbox.ReadOnly && len(flags) == 1 && !slices.ContainsFunc(refused, func(r sandbox.Refusal) bool { return r.Path != "" }) {
		return ""
	}
	return strings.Join(flags, " ")
}

// shellWord is a word as a person types it.
func shellWord(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+=:,./-", r))
	}) {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}
