package local

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"interpreter/local/chat"
)

// pull downloads a model and tells its progress. Names that run elsewhere are refused before: pulling one would
// only write a stub.
func (r *run) pull(ctx context.Context, p answering, name string) error {
	if err := refuseRemote(ModelInfo{Name: name}, p.Provider); err != nil {
		return err
	}
	for progress, err := range p.Pull(ctx, name) {
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			if failure := (*chat.Error)(nil); errors.As(err, &failure) && failure.Kind == chat.Missing {
				return &Refusal{Code: PullFailed, Model: name, Text: "pull " + name + ": the library has no model of that name",
					Try: "check the spelling of the name and its tag"}
			}
			return &Refusal{
				Code: PullFailed, Model: name, Err: err,
				Text: "pull " + name, Try: "run it again: what was downloaded is kept",
			}
		}
		text := progress.Stage
		if progress.Total > 0 {
			text = fmt.Sprintf("%s: %d%% of %.1f GB", progress.Stage, progress.Done*100/progress.Total, float64(progress.Total)/1e9)
		}
		if err := r.say(Stage{Name: "pull", Text: text, Progress: &progress}); err != nil {
			return err
		}
	}
	return nil
}

// pullCommand is how a person installs a model by hand.
func pullCommand(p Provider, name string) string {
	if guide, ok := p.(Guide); ok {
		return guide.PullCommand(name)
	}
	return "install " + name + " on the server"
}

// LooksRemote reports a name that by custom runs on the vendor's machines: the tag is "cloud" or ends in "-cloud".
func LooksRemote(name string) bool {
	slash := strings.LastIndex(name, "/")
	_, tag, tagged := strings.Cut(name[slash+1:], ":")
	tag = strings.ToLower(tag)
	return tagged && (tag == "cloud" || strings.HasSuffix(tag, "-cloud"))
}

// stubSize is what the file of a model of any use passes by far, and the stub of a remote one never reaches.
const stubSize = 64 << 10

// refuseRemote refuses a model that would run on another machine than the server's.
func refuseRemote(m ModelInfo, p Provider) error {
	switch {
	case m.RemoteHost != "":
		return elsewhere(m, p, "it runs on "+m.RemoteHost)
	case LooksRemote(m.Name):
		return elsewhere(m, p, "its name says that it runs on the vendor's machines")
	case m.Size > 0 && m.Size < stubSize:
		return elsewhere(m, p, fmt.Sprintf("its file of %d bytes is only a pointer to a model on another machine", m.Size))
	}
	return nil
}

func elsewhere(m ModelInfo, p Provider, why string) error {
	base, _, _ := strings.Cut(m.Name, ":")
	return &Refusal{
		Code: Elsewhere, Model: m.Name, Text: fmt.Sprintf("choose %s: %s, and only local models are used", m.Name, why),
		Try: "use a local tag of the same family, for example: " + pullCommand(p, base),
	}
}
