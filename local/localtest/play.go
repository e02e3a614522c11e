package localtest

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"
)

// Script is a sequence of exchanges, as in the files named *.script.json.
type Script struct {
	Exchanges []Exchange `json:"exchanges"`
}

// Exchange is one answer of a server: a status, headers, and the steps of its body.
type Exchange struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Steps   []Step            `json:"steps"`
}

// Step sends bytes, waits, or breaks the connection.
type Step struct {
	Text   string `json:"text"`
	Base64 []byte `json:"base64"`
	Sleep  int    `json:"sleep_ms"`
	Reset  bool   `json:"reset"`
}

// ReadScript reads a script file.
func ReadScript(t testing.TB, file string) Script {
	t.Helper()
	var s Script
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return s
}

// Player answers requests by a script, one exchange each; requests after the last get status 410.
type Player struct {
	Script Script
	Scale  float64 // sleeps are multiplied by this

	lock     sync.Mutex
	requests int
}

// Requests tells how many came.
func (p *Player) Requests() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.requests
}

func (p *Player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.lock.Lock()
	n := p.requests
	p.requests++
	p.lock.Unlock()
	if n >= len(p.Script.Exchanges) {
		http.Error(w, `{"error":"the script has ended"}`, http.StatusGone)
		return
	}
	exchange := p.Script.Exchanges[n]
	for name, value := range exchange.Headers {
		w.Header().Set(name, value)
	}
	sent := false
	for _, step := range exchange.Steps {
		switch {
		case step.Sleep > 0:
			time.Sleep(time.Duration(float64(step.Sleep) * p.Scale * float64(time.Millisecond)))
			continue
		case step.Reset:
			reset(w)
			return
		}
		// Nothing is sent before the first bytes exist: servers hold back even the headers.
		if !sent {
			w.WriteHeader(exchange.Status)
			sent = true
		}
		w.Write(append([]byte(step.Text), step.Base64...))
		w.(http.Flusher).Flush()
	}
	if !sent {
		w.WriteHeader(exchange.Status)
	}
}

// reset breaks the connection hard, as a server that dies does.
func reset(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}
