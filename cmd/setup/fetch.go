package setup

import (
	"context"
	"fmt"

	"interpreter/local"
)

// fetch downloads the model, if it is not there and the person agrees.
func fetch(ctx context.Context, w World, s State) (State, string, error) {
	if s.Model.Installed {
		return s, proveStep, nil
	}
	d := download(s)
	failed := local.CheckDisk(d.Volume, d.Name, d.Size)
	first := failed == nil
	for {
		key, err := w.Ask.Choose(ctx, fetchQuestion(w, s, d, failed, first))
		if err != nil {
			return s, "", err
		}
		switch key {
		case "other":
			return s, modelStep, nil
		case "skip":
			s.Unproved = true
			return s, writeStep, nil
		}
		first = false
		if failed = local.CheckDisk(d.Volume, d.Name, d.Size); failed != nil {
			s.Machine = w.Probe(ctx)
			d = download(s)
			if failed = local.CheckDisk(d.Volume, d.Name, d.Size); failed != nil {
				continue
			}
		}
		if failed = w.Download(ctx, d); failed == nil {
			return fetched(ctx, w, s), proveStep, nil
		}
		if ctx.Err() != nil {
			s.Part = d.Name
			return s, "", ErrLeft
		}
	}
}

// download is what to fetch, and what is known of the place it goes to.
func download(s State) local.Download {
	one := s.server()
	d := local.Download{Provider: one.Provider, Name: s.Model.Name, Version: one.Version, Size: s.Model.Judged.Model.Size}
	if one.Here {
		d.Volume = local.VolumeOf(s.Machine, one.Name())
	}
	return d
}

// fetched notes that the model is there now, with what its server says of it.
func fetched(ctx context.Context, w World, s State) State {
	name := s.Model.Name
	s.Pulled = append(s.Pulled[:len(s.Pulled):len(s.Pulled)], name)
	one := s.server()
	if m, err := local.Whole(ctx, one.Provider, local.ModelInfo{Name: name}); err == nil {
		if m.Size == 0 {
			m.Size = s.Model.Judged.Model.Size
		}
		all := append([]Server(nil), s.Servers...)
		all[s.Server-1].Models = append(one.Models[:len(one.Models):len(one.Models)], m)
		s.Servers = all
		if one.Here {
			s.Model.Judged = judged(s, one, m)
		}
	}
	s.Model.Installed = true
	w.Screen.done("download", name+" is here.")
	return s
}

func fetchQuestion(w World, s State, d local.Download, failed error, first bool) Question {
	size := ""
	if d.Size > 0 {
		size = ", " + gb(d.Size)
	}
	q := Question{Title: fmt.Sprintf("Download %s%s?", d.Name, size), Default: "pull"}
	begin := "download it"
	switch {
	case failed != nil:
		q.Title, begin = fmt.Sprintf("%s could not be downloaded. What now?", d.Name), "try again: it goes on where it stopped"
		if first || isDisk(failed) {
			begin = "try again"
		}
		q.About, q.Stuck = sentence(saying(failed)), failed
	case d.Volume.Total > 0:
		q.About = fmt.Sprintf("%s keeps it in %s, where %s are free. It may be stopped at any time with Ctrl-C; what came so far is kept.",
			title(s.server().Name()), d.Volume.Path, gb(d.Volume.Free))
	default:
		q.About = "It may be stopped at any time with Ctrl-C; what came so far is kept."
	}
	if refusal := s.Model.Judged.Refusal; refusal != nil && failed == nil {
		q.About = reason(refusal) + " " + q.About
		if refusal.Code != local.TooSlow { // which is no reason for a person who has chosen it all the same
			q.Default = "other"
		}
	}
	q.Answers = []Answer{
		{Key: "pull", Text: begin},
		{Key: "other", Text: "back: another model"},
		{Key: "skip", Text: "skip: I download it myself", More: []string{w.Name + " models pull " + d.Name}},
	}
	return q
}

func isDisk(err error) bool {
	refusal, ok := err.(*local.Refusal)
	return ok && refusal.Code == local.NoDisk
}
