package localtest

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Serve starts a server for the time of a test, and returns where it is.
func Serve(t testing.TB, h http.Handler) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}
