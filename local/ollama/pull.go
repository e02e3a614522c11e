package ollama

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/ollama/ollama/api"

	"interpreter/local"
	"interpreter/local/chat"
)

// Pull downloads a model. It ends without an error only after the server's word "success"; a stream that ends before
// is an error, and asking again goes on where it stopped.
func (p *Provider) Pull(ctx context.Context, name string) iter.Seq2[local.Progress, error] {
	return func(yield func(local.Progress, error) bool) {
		ctx, silence := local.Listen(ctx, name, pullStall)
		defer silence.End()
		body, err := json.Marshal(map[string]any{"model": name, "stream": true})
		if err == nil {
			var res *http.Response
			if res, err = p.send(ctx, http.MethodPost, "/api/pull", name, body); err == nil {
				defer res.Body.Close()
				err = readPull(silence.Reader(res.Body), name, func(at local.Progress) bool {
					if strings.HasPrefix(at.Stage, "verifying") { // of a large file on a slow disk it says nothing more until it has read it
						silence.Allow(verifyFor)
					}
					return yield(at, nil)
				})
			}
		}
		switch {
		case errors.Is(err, errLeft), err == nil:
		default:
			yield(local.Progress{}, p.during(ctx, name, err))
		}
	}
}

// errLeft ends a pull whose consumer has gone.
var errLeft = errors.New("the consumer left")

// mostTotal bounds what a layer may claim to be, so that sums stay sums.
const mostTotal = 1 << 50

// layers sums a download over its layers. The total grows as layers appear, and a layer may go back when a part of it
// is fetched again.
type layers struct {
	order []string
	total map[string]int64
	done  map[string]int64
	kept  map[string]int64 // what was there when it was first told of
}

func (l *layers) add(r api.ProgressResponse) {
	if r.Digest == "" {
		return
	}
	if _, known := l.total[r.Digest]; !known {
		l.order = append(l.order, r.Digest)
	}
	l.total[r.Digest] = max(min(r.Total, mostTotal), l.total[r.Digest])
	l.done[r.Digest] = min(max(r.Completed, 0), l.total[r.Digest])
	if _, known := l.kept[r.Digest]; !known && l.total[r.Digest] > 0 {
		l.kept[r.Digest] = l.done[r.Digest]
	}
}

// progress is the sum over all layers; never more is done than there is, and what was there never more than is done.
func (l *layers) progress(stage string) local.Progress {
	p := local.Progress{Stage: stage}
	p.Done, p.Total = l.sum()
	for _, digest := range l.order {
		p.Kept += min(l.kept[digest], l.done[digest])
	}
	return p
}

func (l *layers) sum() (done, total int64) {
	for _, digest := range l.order {
		done += l.done[digest]
		total += l.total[digest]
	}
	return done, total
}

// readPull reads the lines of a download.
func readPull(body io.Reader, name string, emit func(local.Progress) bool) error {
	in := bufio.NewReader(body)
	all := &layers{total: map[string]int64{}, done: map[string]int64{}, kept: map[string]int64{}}
	for {
		line, err := readLine(in)
		if line = bytes.TrimSpace(line); len(line) > 0 {
			var at struct {
				api.ProgressResponse
				Error json.RawMessage `json:"error"`
			}
			if err := json.Unmarshal(line, &at); err != nil {
				return &chat.Error{Kind: chat.Broken, Model: name, Detail: fmt.Sprintf("a line of the download is no answer: %.120q", line), Err: err}
			}
			if len(at.Error) > 0 && string(at.Error) != "null" {
				return pullFailure(name, said(line), all)
			}
			all.add(at.ProgressResponse)
			if !emit(all.progress(at.Status)) {
				return errLeft
			}
			if at.Status == "success" {
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			done, total := all.sum()
			return &chat.Error{
				Kind: chat.Broken, Model: name, Err: io.ErrUnexpectedEOF,
				Detail: fmt.Sprintf("the download is not finished: it stopped at %.1f of %.1f GB", float64(done)/1e9, float64(total)/1e9),
				Remedy: "run it again: it goes on where it stopped",
			}
		}
		if err != nil {
			return err
		}
	}
}

// pullFailure puts into words what a person can do about a failed download.
func pullFailure(name, text string, all *layers) error {
	e := classify(0, text, name)
	done, total := all.sum()
	switch lower := strings.ToLower(text); {
	case strings.Contains(lower, "no space left"):
		e.Kind = chat.Invalid
		e.Detail = text
		if left := total - done; left > 0 {
			e.Detail += fmt.Sprintf("; another %.1f GB are needed", float64(left)/1e9)
		}
		e.Remedy = "free disk space where the server keeps its models, then run it again"
	case strings.Contains(lower, "digest mismatch"):
		e.Kind, e.Remedy = chat.Broken, "run it again: the damaged file is fetched anew"
	case strings.Contains(lower, "file does not exist"):
		e.Kind, e.Remedy = chat.Missing, "check the name and tag of the model"
	case strings.Contains(lower, "dial tcp"):
		e.Remedy = "check the network: the server cannot reach the place that models come from"
	case strings.Contains(lower, "manifest: 412") || strings.Contains(lower, "newer version"): // a digest may have 412 in it
		e.Kind, e.Remedy = chat.Invalid, "update the server: this model needs a newer one"
	}
	return e
}
