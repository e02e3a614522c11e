package lmstudio

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
)

// download is what the server tells of a download.
type download struct {
	Job    text   `json:"job_id"`
	Status text   `json:"status"`
	Total  number `json:"total_size_bytes"`
	Done   number `json:"downloaded_bytes"`
	Speed  number `json:"bytes_per_second"`
}

// The states of a download.
const (
	loading  = "downloading"
	paused   = "paused"
	complete = "completed"
	present  = "already_downloaded"
	failed   = "failed"
)

// Pull has the server download a model and looks at it until the server says that it is there. name is an id of
// LM Studio's catalogue, perhaps with @quantization, or a link to a model. The download is the server's: it goes on
// when ctx ends or the consumer leaves, and asking again goes on watching it.
func (p *Provider) Pull(ctx context.Context, name string) iter.Seq2[local.Progress, error] {
	return func(yield func(local.Progress, error) bool) {
		at, err := p.begin(ctx, name)
		if err != nil && isUnexpected(err) {
			p.pullByCommand(ctx, name, yield)
			return
		}
		if err != nil {
			yield(local.Progress{}, err)
			return
		}
		w := watch{name: name, total: int64(at.Total)}
		for {
			over, err := w.see(at)
			if err == nil && !yield(w.progress(at), nil) {
				return
			}
			if err == nil && !over {
				at, err = p.next(ctx, &w, at)
			}
			if err != nil {
				yield(local.Progress{}, err)
				return
			}
			if over {
				return
			}
		}
	}
}

// begin asks for a download.
func (p *Provider) begin(ctx context.Context, name string) (download, error) {
	in := struct {
		Model        string `json:"model"`
		Quantization string `json:"quantization,omitempty"`
	}{Model: name}
	if u, err := url.Parse(name); err == nil && u.Scheme != "" && u.Host != "" {
		if model, quantization, ok := strings.Cut(name[len(u.Scheme)+3:], "@"); ok {
			in.Model, in.Quantization = u.Scheme+"://"+model, quantization
		}
	}
	var at download
	err := p.tell(ctx, listFor*6, http.MethodPost, "/api/v1/models/download", name, in, &at)
	var failure *chat.Error
	if errors.As(err, &failure) && failure.Kind == chat.Missing {
		failure.Remedy = "check the spelling of the name; LM Studio's catalogue lists models as owner/name"
		if known, ok := local.Lookup(name); ok && known.Key != "" && !strings.EqualFold(known.Key, name) {
			failure.Remedy = "LM Studio's name for it is " + known.Key
		}
	}
	return at, err
}

func isUnexpected(err error) bool {
	var failure *chat.Error
	return errors.As(err, &failure) && (strings.HasPrefix(strings.ToLower(failure.Detail), unexpected) || failure.Kind == chat.Invalid && failure.Status == http.StatusNotFound)
}

// mostMisses is how many looks in a row may fail: a download outlives a short silence of the server.
const mostMisses = 5

// next waits and looks at a download again.
func (p *Provider) next(ctx context.Context, w *watch, at download) (download, error) {
	if at.Job == "" {
		return at, &chat.Error{
			Kind: chat.Broken, Model: w.name, Detail: fmt.Sprintf("LM Studio says %q and names no download to look at", at.Status),
			Remedy: "look in LM Studio whether it goes on there",
		}
	}
	for misses := 1; ; misses++ {
		if err := p.pause(ctx, lookAfter); err != nil {
			return at, w.left(ctx, err)
		}
		w.still += lookAfter
		var now download
		err := p.tell(ctx, listFor, http.MethodGet, "/api/v1/models/download/status/"+url.PathEscape(string(at.Job)), w.name, nil, &now)
		if err == nil {
			if now.Job == "" {
				now.Job = at.Job
			}
			return now, nil
		}
		if ctx.Err() != nil {
			return at, w.left(ctx, err)
		}
		var failure *chat.Error
		if !errors.As(err, &failure) || !failure.Retryable() || misses == mostMisses {
			return at, fmt.Errorf("look at the download of %s: %w", w.name, err)
		}
	}
}

// watch is what was seen of a download so far.
type watch struct {
	name  string
	state text
	total int64
	done  int64
	still time.Duration // since the last byte
}

// see takes in a state. over means that the model is there.
func (w *watch) see(at download) (over bool, err error) {
	if int64(at.Done) > w.done || at.Status != w.state {
		w.still = 0
	}
	w.state, w.total = at.Status, max(w.total, int64(at.Total))
	w.done = int64(at.Done)
	if w.total > 0 {
		w.done = min(w.done, w.total)
	}
	switch at.Status {
	case complete, present:
		if w.total > 0 {
			w.done = w.total
		}
		return true, nil
	case failed:
		return false, &chat.Error{
			Kind: chat.Server, Model: w.name, Detail: "LM Studio says that the download failed" + w.reached(),
			Remedy: "look in LM Studio for the reason, free disk space if that is it, and run it again",
		}
	case paused:
		if w.still >= pullStall {
			return false, &chat.Error{
				Kind: chat.Idle, Model: w.name, Detail: "the download is paused in LM Studio" + w.reached(),
				Remedy: "let it go on in LM Studio, then run this again",
			}
		}
		return false, nil
	case loading:
		if w.still >= pullStall {
			return false, &chat.Error{
				Kind: chat.Idle, Model: w.name, Detail: fmt.Sprintf("the download stood still for %s%s", pullStall, w.reached()),
				Remedy: "look in LM Studio, or run it again: it goes on where it stopped",
			}
		}
		return false, nil
	}
	return false, &chat.Error{Kind: chat.Invalid, Model: w.name, Detail: fmt.Sprintf("LM Studio says %q of the download, which we do not know", at.Status)}
}

func (w *watch) reached() string {
	if w.total == 0 {
		return ""
	}
	return fmt.Sprintf(", at %.1f of %.1f GB", float64(w.done)/1e9, float64(w.total)/1e9)
}

func (w *watch) progress(at download) local.Progress {
	stage := string(at.Status)
	switch at.Status {
	case loading:
		if at.Speed > 0 && w.total > w.done {
			left := time.Duration(float64(w.total-w.done)/float64(at.Speed)*1000) * time.Millisecond
			stage = fmt.Sprintf("downloading at %.1f MB/s, %s left", float64(at.Speed)/1e6, left.Round(time.Second))
		}
	case paused:
		stage = "paused in LM Studio; it can be let go on there"
	case present:
		stage = "already downloaded"
	}
	return local.Progress{Stage: stage, Done: w.done, Total: w.total}
}

// left is the end of our watching, not of the download.
func (w *watch) left(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return fmt.Errorf("watch the download of %s, which goes on in LM Studio: %w", w.name, err)
}

// pullByCommand downloads with lms where the server has no call for it.
func (p *Provider) pullByCommand(ctx context.Context, name string, yield func(local.Progress, error) bool) {
	run := p.cli()
	if run == nil {
		yield(local.Progress{}, &local.Refusal{
			Code: local.PullFailed, Model: name, Text: "pull " + name + ": LM Studio before release 0.4.0 has no call for it",
			Try: p.PullCommand(name) + ", or download it in LM Studio",
		})
		return
	}
	if !yield(local.Progress{Stage: "downloading with lms, which tells nothing until it is done"}, nil) {
		return
	}
	out, err := run(ctx, "get", name, "--yes")
	switch {
	case ctx.Err() != nil:
		yield(local.Progress{}, context.Cause(ctx))
	case err != nil:
		yield(local.Progress{}, &chat.Error{Kind: chat.Server, Model: name, Detail: oneLine("lms get: " + string(out)), Err: err})
	default:
		yield(local.Progress{Stage: complete}, nil)
	}
}
