package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"interpreter/cmd/exec"
	"interpreter/local"
)

// pulled is what came of a download, for programs.
type pulled struct {
	Model    string `json:"model"`
	Provider string `json:"provider"`
	Size     int64  `json:"size,omitempty"` // bytes
	Next     string `json:"next"`
}

// pullModel downloads a model and shows how it goes.
func (w world) pullModel(ctx context.Context, f *flags, name string, asJSON bool) error {
	s, err := w.settings(f, choices{})
	if err != nil {
		return err
	}
	if strings.TrimSpace(name) == "" {
		return usageError{errors.New("pull: the name of a model is missing")}
	}
	if local.LooksRemote(name) {
		base, _, _ := strings.Cut(name, ":")
		return try(fmt.Errorf("pull %s: its name says that it runs on the vendor's machines: there is nothing to download but a pointer", name),
			"a local tag of the same family; interpreter fit "+base+" shows what fits")
	}
	p, err := s.puller(ctx, w)
	if err != nil {
		return err
	}
	d := local.Download{Provider: p.Provider, Version: p.Version, Name: name}
	if e, ok := local.Lookup(name); ok {
		d.Size = e.Info.Size
	}
	if p.here {
		if d.Volume = local.VolumeOf(w.machine(ctx, s.home, false), p.Name()); d.Volume.Total == 0 {
			fmt.Fprintf(w.stderr, "where %s keeps its models is not known: free disk space is not checked\n", p.Name())
		}
	}
	about := name
	if d.Size > 0 {
		about += ", about " + gb(d.Size)
	}
	fmt.Fprintf(w.stderr, "pulling %s with %s at %s\n", harmless(about), p.Name(), harmless(p.Address()))
	size, err := w.download(ctx, d)
	if err != nil {
		return err
	}
	done := pulled{Model: name, Provider: p.Name(), Size: size, Next: "interpreter models check " + name}
	if asJSON {
		return writeJSON(w.stdout, done)
	}
	if _, err := fmt.Fprintf(w.stdout, "pulled %s", harmless(name)); err != nil {
		return err
	}
	if size > 0 {
		fmt.Fprintf(w.stdout, " (%s)", gb(size))
	}
	_, err = fmt.Fprintf(w.stdout, "\nnext: %s, then interpreter exec -m %s \"…\"\n", harmless(done.Next), harmless(name))
	return err
}

// puller is the server that downloads: the chosen one, or the first that answers.
func (s *settings) puller(ctx context.Context, w world) (*server, error) {
	providers, err := s.providers(w)
	if err != nil {
		return nil, err
	}
	all := survey(ctx, providers)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := all.silent(); err != nil {
		return nil, err
	}
	for _, one := range all.servers {
		if one.Err == nil {
			return one, nil
		}
	}
	return nil, all.silent()
}

// download shows how a download goes and returns how much it was, in bytes.
func (w world) download(ctx context.Context, d local.Download) (int64, error) {
	show := exec.Download{Out: w.stderr, Terminal: w.stderrTerminal}
	var seen local.Progress
	for progress, err := range d.Run(ctx) {
		if err == nil {
			seen = progress
			show.Show(progress)
			continue
		}
		show.End(false)
		if ctx.Err() != nil {
			far := ""
			if seen.Total > 0 {
				far = fmt.Sprintf(" at %s of %s", gb(max(seen.Done, 1)), gb(seen.Total))
			}
			return 0, try(fmt.Errorf("pull %s: interrupted%s", d.Name, far), "run it again: what was downloaded is kept: interpreter models pull "+d.Name)
		}
		var refusal *local.Refusal
		if near := nearNames(d.Name, catalogueNames()); errors.As(err, &refusal) && refusal.Err == nil && refusal.Code == local.PullFailed && len(near) > 0 {
			return 0, try(err, "check the spelling of the name and its tag; known ones are near: "+strings.Join(near, ", "))
		}
		return 0, err
	}
	show.End(true)
	return seen.Total, ctx.Err()
}

// verdictFile is where is kept which models have shown that they call tools.
func (s *settings) verdictFile() string { return filepath.Join(s.home, "verdicts.json") }
