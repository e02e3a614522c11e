package ollama

import (
	"context"
	"errors"
	"net/http"

	"interpreter/local/chat"
)

// Cloud reports whether the server may pass what it is told on to its vendor's machines. known is false for a server
// that does not say, as those before 0.16.2 do not.
func (p *Provider) Cloud(ctx context.Context) (on, known bool, err error) {
	var answer struct {
		Cloud *struct {
			Disabled bool `json:"disabled"`
		} `json:"cloud"`
	}
	err = p.ask(ctx, listFor, http.MethodGet, "/api/status", "", nil, &answer)
	var failure *chat.Error
	if errors.As(err, &failure) && failure.Status == http.StatusNotFound {
		return false, false, nil
	}
	if err != nil || answer.Cloud == nil {
		return false, false, err
	}
	return !answer.Cloud.Disabled, true, nil
}
