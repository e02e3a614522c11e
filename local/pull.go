package local

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"interpreter/local/chat"
	"interpreter/probes"
)

// spareDisk is what a download leaves free: a disk that is full to the last byte helps nobody.
const spareDisk = 5 * gib

// CheckDisk refuses a download of size bytes that would leave less than 5 GiB free on a volume. A volume or a size
// that is not known is not judged.
func CheckDisk(volume probes.Volume, name string, size int64) error {
	if volume.Total == 0 || size <= 0 || volume.Free >= size+spareDisk {
		return nil
	}
	where := ""
	if volume.Path != "" {
		where = " in " + volume.Path
	}
	return &Refusal{
		Code: NoDisk, Model: name, Needed: size + spareDisk, Available: volume.Free,
		Text: fmt.Sprintf("pull %s: needs %s of disk and %s to spare, %s free%s", name, decimal(size), decimal(spareDisk), decimal(volume.Free), where),
		Try:  fmt.Sprintf("free %s there, or a smaller model", decimal(size+spareDisk-volume.Free)),
	}
}

// decimal writes a size of downloads and disks for people.
func decimal(n int64) string { return fmt.Sprintf("%.1f GB", float64(n)/1e9) }

// A Download is a model to pull and what is known of the place it goes to.
type Download struct {
	Provider Provider
	Name     string
	Version  string        // of the server, for a model that wants a newer one; "": not known
	Size     int64         // bytes, when they are known beforehand
	Volume   probes.Volume // where the server keeps its models; zero: not known
	Remote   bool          // a person named it for this run, so it may be a pointer to another machine
}

// Run pulls. It checks the disk before, with the size that is known, and again as soon as the server says how much it
// is; ends without an error only when the server said that it is done; and never tells of more than the whole. Its
// errors are a *Refusal, or that of a context that ended. What was downloaded stays with the server: the next pull of
// the same name goes on there.
func (d Download) Run(ctx context.Context) iter.Seq2[Progress, error] {
	return func(yield func(Progress, error) bool) {
		m := ModelInfo{Name: d.Name}
		if reason := remoteReason(m); reason != "" && !d.Remote {
			yield(Progress{}, elsewhere(m, d.Provider, reason))
			return
		}
		if err := CheckDisk(d.Volume, d.Name, d.Size); err != nil {
			yield(Progress{}, err)
			return
		}
		var last Progress
		judged := d.Size
		for at, err := range d.Provider.Pull(ctx, d.Name) {
			if err != nil {
				yield(last, d.failed(ctx, last, err))
				return
			}
			at.Done = min(at.Done, at.Total)
			if left := at.Total - at.Kept; at.Total > judged {
				if err := CheckDisk(d.Volume, d.Name, left); err != nil {
					yield(at, err)
					return
				}
				judged = at.Total
			}
			last = at
			if !yield(at, nil) {
				return
			}
		}
	}
}

// failed puts the end of a download into words: what is there already, and what helps.
func (d Download) failed(ctx context.Context, last Progress, err error) error {
	if ctx.Err() != nil {
		if last.Done > 0 {
			return fmt.Errorf("pull %s: stopped at %s of %s, the next pull goes on there: %w", d.Name, decimal(last.Done), decimal(last.Total), err)
		}
		return err
	}
	if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
		return err
	}
	refusal := &Refusal{Code: PullFailed, Model: d.Name, Err: err, Text: "pull " + d.Name, Try: "run it again: what was downloaded is kept"}
	failure := (*chat.Error)(nil)
	if !errors.As(err, &failure) {
		return refusal
	}
	switch lower := strings.ToLower(failure.Detail); {
	case failure.Kind == chat.Missing:
		return &Refusal{
			Code: PullFailed, Model: d.Name, Text: "pull " + d.Name + ": the library has no model of that name",
			Try: "check the spelling of the name and its tag",
		}
	case strings.Contains(lower, "newer version"):
		return tooOld(d.Name, answering{d.Provider, d.Version}, minServer(d.Name), err)
	case failure.Remedy != "":
		refusal.Try = failure.Remedy
	}
	return refusal
}

// pull downloads a model from the first server that can, and tells its progress.
func (r *run) pull(ctx context.Context, stocks []stock, name string) (answering, error) {
	var refused error
	for _, s := range stocks {
		d := Download{Provider: s.Provider, Name: name, Version: s.version, Size: pullSize(name), Remote: r.mayLeave(name)}
		if r.here(s.Address()) {
			d.Volume = VolumeOf(r.measured(ctx), s.Name())
		}
		err := r.told(ctx, d)
		if err == nil {
			return s.answering, nil
		}
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Code != NoPull {
			return answering{}, err
		}
		if refused == nil {
			refused = err
		}
	}
	return answering{}, refused
}

func (r *run) told(ctx context.Context, d Download) error {
	for progress, err := range d.Run(ctx) {
		if err != nil {
			return err
		}
		text := progress.Stage
		if progress.Total > 0 {
			text = fmt.Sprintf("%s: %d%% of %s", progress.Stage, progress.Done*100/progress.Total, decimal(progress.Total))
		}
		if err := r.say(Stage{Name: "pull", Text: text, Progress: &progress}); err != nil {
			return err
		}
	}
	return nil
}

// VolumeOf is where a provider keeps its models on a machine, zero when that is not known.
func VolumeOf(m probes.Machine, provider string) probes.Volume {
	for _, v := range m.Disks {
		if v.What == provider {
			return v
		}
	}
	return probes.Volume{}
}

// pullSize is the size of a download as far as the catalogue knows it.
func pullSize(name string) int64 {
	entry, _ := Lookup(name)
	return entry.Info.Size
}

// minServer is the oldest server that runs a model as far as the catalogue knows it.
func minServer(name string) string {
	entry, _ := Lookup(name)
	return entry.MinServer
}

// pullCommand is how a person installs a model by hand.
func pullCommand(p Provider, name string) string {
	if guide, ok := p.(Guide); ok {
		return guide.PullCommand(name)
	}
	return "install " + name + " on the server"
}
