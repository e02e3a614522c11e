package practice

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"interpreter/local/chat"
)

// Wires names what Serve can be limited to. "" serves all of them.
func Wires() []string {
	return []string{"all", "ollama", "lmstudio", "chat", "responses", "messages"}
}

// Server plays a script on the wires of real model servers.
type Server struct {
	// Sleep waits for stalls and pauses. Tests put a clock of their own here.
	Sleep func(ctx context.Context, d time.Duration) error

	player  *player
	wire    string
	log     io.Writer
	routes  *http.ServeMux
	started time.Time

	mu       sync.Mutex
	window   int // of the model in memory; 0: not loaded
	expires  time.Time
	missing  bool
	received []Received

	lm      []lmInstance // what LM Studio's wire has loaded
	jobs    map[string]*lmJob
	chats   map[string][]chat.Message // conversations that LM Studio's wire keeps, by response
	answers int                       // responses of that wire so far
}

// Received is a request as it came in, and as this package understood it.
type Received struct {
	Wire    string // "native", "completions", "responses", "messages", "lmstudio"
	Path    string
	Header  http.Header
	Body    json.RawMessage
	Request chat.Request
}

// mostReceived bounds what a server remembers of its requests.
const mostReceived = 1000

// version is the Ollama release whose API the server speaks.
const version = "0.24.0"

// NewWire makes a server of a script that speaks one of Wires.
func NewWire(s *Script, wire string) (*Server, error) { return newServer(s, wire, nil) }

// NewServer makes a server of a script that speaks all wires.
func NewServer(s *Script) *Server {
	server, err := newServer(s, "all", nil)
	if err != nil {
		panic(err) // "all" is a wire
	}
	return server
}

func newServer(script *Script, wire string, log io.Writer) (*Server, error) {
	if wire == "" {
		wire = "all"
	}
	if !slices.Contains(Wires(), wire) {
		return nil, fmt.Errorf("practice: unknown wire %q; known: %s", wire, strings.Join(Wires(), ", "))
	}
	s := &Server{
		Sleep: sleep, player: newPlayer(script), wire: wire, log: log,
		started: time.Now(), window: script.Loaded, missing: script.Absent,
		jobs: map[string]*lmJob{}, chats: map[string][]chat.Message{},
	}
	if script.Loaded > 0 {
		s.addInstance(lmConfig{Window: script.Loaded})
	}
	s.route()
	return s, nil
}

// Serve plays a script on a listener until ctx ends. wire is one of Wires, log gets a line of JSON a request and may
// be nil.
func Serve(ctx context.Context, listener net.Listener, script *Script, wire string, log io.Writer) error {
	s, err := newServer(script, wire, log)
	if err != nil {
		listener.Close()
		return err
	}
	server := &http.Server{Handler: s, BaseContext: func(net.Listener) context.Context { return ctx }}
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-ctx.Done()
		server.Close()
	}()
	err = server.Serve(listener)
	if ctx.Err() != nil {
		<-done
		return nil
	}
	return fmt.Errorf("practice: serve %s: %w", listener.Addr(), err)
}

// Requests lists the chat requests received, oldest first, the last thousand of them.
func (s *Server) Requests() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Received(nil), s.received...)
}

// Failures lists the demands of the script that were not met.
func (s *Server) Failures() []string { return s.player.failed() }

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.allowed(w, r) {
		s.routes.ServeHTTP(w, r)
	}
}

func (s *Server) route() {
	s.routes = http.NewServeMux()
	serves := func(wires ...string) bool { return s.wire == "all" || slices.Contains(wires, s.wire) }
	handle := func(pattern string, h http.HandlerFunc) { s.routes.HandleFunc(pattern, h) }
	handle("GET /v1/models", s.modelsV1)
	if serves("ollama") {
		handle("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "Ollama is running") })
		handle("GET /api/version", func(w http.ResponseWriter, _ *http.Request) {
			reply(w, http.StatusOK, struct {
				Version string `json:"version"`
			}{version})
		})
		handle("GET /api/tags", s.tags)
		handle("GET /api/ps", s.ps)
		handle("POST /api/show", s.show)
		handle("POST /api/pull", s.pull)
		handle("DELETE /api/delete", s.remove)
		handle("POST /api/chat", s.chatNative)
	}
	if serves("lmstudio") {
		s.lmRoutes(handle)
	}
	if serves("chat") {
		handle("GET /health", func(w http.ResponseWriter, _ *http.Request) {
			reply(w, http.StatusOK, struct {
				Status string `json:"status"`
			}{"ok"})
		})
		handle("GET /props", s.props)
	}
	if serves("chat", "ollama", "lmstudio") {
		handle("POST /v1/chat/completions", s.completions)
	}
	if serves("responses", "ollama", "lmstudio") {
		handle("POST /v1/responses", s.responses)
	}
	if serves("messages", "ollama", "lmstudio") {
		handle("POST /v1/messages", s.messages)
	}
	if s.wire != "lmstudio" {
		handle("/", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "404 page not found", http.StatusNotFound) })
	}
}

// read decodes the body of a request into v; a false result has been answered already.
func (s *Server) read(w http.ResponseWriter, r *http.Request, v any) (json.RawMessage, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 256<<20))
	if err == nil {
		err = json.Unmarshal(body, v)
	}
	if err != nil {
		s.refuse(w, r, http.StatusBadRequest, "the body of the request cannot be read: "+err.Error())
		return nil, false
	}
	return body, true
}

// take records a chat request, checks that the model is here and can do what is asked, and picks the answer.
func (s *Server) take(w http.ResponseWriter, r *http.Request, got Received, model string) (answer, bool) {
	got.Path, got.Header = r.URL.Path, r.Header.Clone()
	s.mu.Lock()
	if len(s.received) == mostReceived {
		s.received = s.received[1:]
	}
	s.received = append(s.received, got)
	s.mu.Unlock()
	script := s.player.script
	switch {
	case !s.known(model):
		s.refuse(w, r, http.StatusNotFound, fmt.Sprintf("model '%s' not found", model))
	case len(got.Request.Tools) > 0 && !script.can("tools"):
		s.refuse(w, r, http.StatusBadRequest, fmt.Sprintf("%q does not support tools", script.Name))
	case got.Wire != "messages" && got.Request.Effort != "" && got.Request.Effort != "none" && !script.can("thinking"):
		s.refuse(w, r, http.StatusBadRequest, fmt.Sprintf("%q does not support thinking", script.Name))
	default:
		failures := len(s.Failures())
		a := s.player.answer(got.Request)
		s.note(got, a, s.Failures()[failures:])
		return a, true
	}
	s.note(got, answer{position: -1, status: http.StatusBadRequest}, nil)
	return answer{}, false
}

// note writes the log line of a request.
func (s *Server) note(got Received, a answer, failures []string) {
	if s.log == nil {
		return
	}
	line := encode(struct {
		Wire     string   `json:"wire"`
		Messages int      `json:"messages"`
		Tools    int      `json:"tools"`
		Bytes    int      `json:"bytes"`
		Window   int      `json:"window,omitempty"`
		Reply    int      `json:"reply"` // counts from 1; 0: a tool check or a refusal
		Status   int      `json:"status,omitempty"`
		Failures []string `json:"failures,omitempty"`
	}{got.Wire, len(got.Request.Messages), len(got.Request.Tools), len(got.Body), got.Request.Window, a.position + 1, a.status, failures})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Write(append(line, '\n'))
}

// known reports whether a request names this model, or an instance of it.
func (s *Server) known(name string) bool {
	_, loaded := s.instance(name)
	return s.named(name) || loaded && s.here()
}

// named reports whether a request names this model. A name without a tag means its latest.
func (s *Server) named(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.missing && strings.EqualFold(tagged(name), tagged(s.player.script.Name))
}

func tagged(name string) string {
	if strings.Contains(name[strings.LastIndex(name, "/")+1:], ":") {
		return name
	}
	return name + ":latest"
}

// load makes the model resident with a window and returns the one it really has.
func (s *Server) load(window int, keep time.Duration) int {
	script := s.player.script
	window = min(window, script.Window)
	if script.Loaded > 0 {
		window = script.Loaded
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.window, s.expires = window, time.Now().Add(keep)
	return window
}

func (s *Server) unload() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.window = 0
}

// jit is the window of wires that cannot ask for one, and whether it is one of LM Studio.
func (s *Server) jit(model string) (window int, lm bool) {
	const small = 4096 // what Ollama loads when nobody says more
	if s.wire == "chat" {
		return s.load(s.player.script.Window, time.Hour), false
	}
	i, loaded := s.instance(model)
	if !loaded && s.wire == "lmstudio" {
		i, loaded = s.addInstance(lmConfig{Window: lmSmall}), true
	}
	if loaded {
		return i.Config.Window, true
	}
	return s.load(small, 5*time.Minute), false
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	w.Write(encode(v))
}

// refuse answers with an error in the shape of the wire that was asked.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, text string) {
	switch {
	case r.URL.Path == "/v1/messages":
		reply(w, status, messagesError(status, text))
	case strings.HasPrefix(r.URL.Path, "/api/v1/"):
		kind := "invalid_request"
		if status == http.StatusNotFound {
			kind = "not_found"
		} else if status >= http.StatusInternalServerError {
			kind = "internal_error"
		}
		reply(w, status, lmError(kind, text, ""))
	case strings.HasPrefix(r.URL.Path, "/v1/") && s.wire != "lmstudio":
		reply(w, status, completionsError(status, text))
	default:
		reply(w, status, plainError{text})
	}
}

type plainError struct {
	Error string `json:"error"`
}
