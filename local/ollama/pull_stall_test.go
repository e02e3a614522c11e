package ollama

import (
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"interpreter/local"
)

type carrier func(*http.Request) (*http.Response, error)

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// A server that reads a large file to verify it says nothing meanwhile; one that says nothing while it downloads stalls.
func TestPullVerifiesInSilence(t *testing.T) {
	for stage, fine := range map[string]bool{"verifying sha256 digest": true, "pulling abc": false} {
		synctest.Test(t, func(t *testing.T) {
			p := newProvider(t, "http://127.0.0.1:1", Options{})
			p.client = &http.Client{Transport: carrier(func(r *http.Request) (*http.Response, error) {
				body, server := io.Pipe()
				context.AfterFunc(r.Context(), func() { server.CloseWithError(r.Context().Err()) })
				go func() {
					io.WriteString(server, `{"status":"`+stage+`"}`+"\n")
					time.Sleep(7 * time.Minute)
					io.WriteString(server, `{"status":"success"}`+"\n")
				}()
				return &http.Response{StatusCode: 200, Body: body, Header: http.Header{}}, nil
			})}
			err := last(p.Pull(t.Context(), "m"))
			if (err == nil) != fine {
				t.Errorf("%s: %v", stage, err)
			}
			time.Sleep(8 * time.Minute)
		})
	}
}

func last(all func(func(local.Progress, error) bool)) (err error) {
	for _, err = range all {
	}
	return err
}
