package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"interpreter/local"
	"interpreter/local/openai"
	"interpreter/probes"
)

// A server that serves what it was started with, and does not say how much that is, has not loaded nothing.
func TestFindAnUntoldWindow(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"m","object":"model","owned_by":"somebody"}]}`)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	p, err := openai.New(server.URL, openai.Options{Name: "box"})
	if err != nil {
		t.Fatal(err)
	}
	all := survey(t.Context(), []local.Provider{p})
	found := findLoaded(all.servers[0], probes.Machine{})
	if len(found) != 1 || found[0].State != warning || !strings.Contains(found[0].Text, "does not tell") || !strings.Contains(found[0].Remedy, "model_context_window") {
		t.Errorf("got %+v", found)
	}
}
