package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// flags are those that every command that runs an agent shares. They may stand before or after the command's name;
// for single values the last one wins, lists add up.
type flags struct {
	overrides, enable, disable []string

	model, provider, profile, harness   string
	oss, pull, strict, chatWire, reload bool
	cd                                  string
	addDirs, images                     []string
	approval                            string
	confinement                         confinement
}

// confinement is the person's choice of a sandbox: a mode, or --yolo. The last one given counts.
type confinement struct {
	mode string
	yolo bool
	auto bool // --full-auto
}

func (f *flags) addTo(set *pflag.FlagSet) {
	set.StringArrayVarP(&f.overrides, "config", "c", nil, "set one configuration `key=value` for this run (repeatable)")
	set.StringArrayVar(&f.enable, "enable", nil, "turn a `feature` on (repeatable)")
	set.StringArrayVar(&f.disable, "disable", nil, "turn a `feature` off (repeatable)")
	set.StringVarP(&f.model, "model", "m", "", "`model` to use, as its server names it")
	set.BoolVar(&f.oss, "oss", false, "use a local provider; the one that answers when none is named")
	set.StringVar(&f.provider, "local-provider", "", "which local `provider`: ollama, lmstudio, or the id of a configured one")
	set.StringVarP(&f.profile, "profile", "p", "", "configuration `profile`")
	set.StringVar(&f.harness, "harness", "", "`harness` to present to the model; see: interpreter harness list")
	set.BoolVar(&f.pull, "pull", false, "download the model when it is missing")
	set.BoolVar(&f.chatWire, "chat-completions", false, "force wire_api = \"chat\" on the selected provider")
	set.BoolVar(&f.reload, "reload", false, "load a model again that another program has loaded with too small a window")
	set.BoolVar(&f.strict, "strict-config", false, "unknown configuration keys are errors")
	set.StringVarP(&f.cd, "cd", "C", "", "work in `dir`")
	set.StringArrayVar(&f.addDirs, "add-dir", nil, "a further writable `dir` (repeatable)")
	set.StringArrayVarP(&f.images, "image", "i", nil, "attach image `files` to the prompt (comma list, repeatable)")
	set.StringVarP(&f.approval, "ask-for-approval", "a", "", "when to ask: untrusted, on-request, never")
	set.VarP(modeFlag{&f.confinement}, "sandbox", "s", "what commands may do: read-only, workspace-write, danger-full-access")
	yolo(set, &f.confinement, "dangerously-bypass-approvals-and-sandbox", "no sandbox, no questions")
	yolo(set, &f.confinement, "yolo", "short for --dangerously-bypass-approvals-and-sandbox")
	set.VarPF(switchFlag{func() { f.confinement = confinement{mode: "workspace-write", auto: true} }}, "full-auto", "", "").NoOptDefVal = "true"
	_ = set.MarkHidden("full-auto")
}

func yolo(set *pflag.FlagSet, c *confinement, name, usage string) {
	set.VarPF(switchFlag{func() { *c = confinement{yolo: true} }}, name, "", usage).NoOptDefVal = "true"
}

// check refuses combinations that contradict each other, and takes lists apart.
func (f *flags) check() error {
	if f.confinement.yolo && f.approval != "" {
		return usageError{fmt.Errorf("--yolo and --ask-for-approval exclude each other")}
	}
	switch f.approval {
	case "", "untrusted", "on-request", "on-failure", "never":
	default:
		return usageError{fmt.Errorf("--ask-for-approval %s: want untrusted, on-request or never", f.approval)}
	}
	var images []string
	for _, list := range f.images {
		for path := range strings.SplitSeq(list, ",") {
			if path != "" {
				images = append(images, path)
			}
		}
	}
	f.images = images
	if f.provider == "ollama-chat" {
		return usageError{fmt.Errorf("--local-provider ollama-chat is gone: ollama always speaks its native chat; use --local-provider ollama")}
	}
	return nil
}

// modeFlag is --sandbox.
type modeFlag struct{ c *confinement }

func (m modeFlag) String() string {
	if m.c == nil {
		return ""
	}
	return m.c.mode
}
func (m modeFlag) Type() string { return "mode" }
func (m modeFlag) Set(v string) error {
	switch v {
	case "read-only", "workspace-write", "danger-full-access":
		*m.c = confinement{mode: v}
		return nil
	}
	return fmt.Errorf("want one of: %s", strings.Join([]string{"read-only", "workspace-write", "danger-full-access"}, ", "))
}

// switchFlag does something when it is given.
type switchFlag struct{ on func() }

func (s switchFlag) String() string   { return "" }
func (s switchFlag) Type() string     { return "bool" }
func (s switchFlag) IsBoolFlag() bool { return true }
func (s switchFlag) Set(v string) error {
	switch v {
	case "true":
		s.on()
	case "false":
	default:
		return fmt.Errorf("want true or false")
	}
	return nil
}
