package practice

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The eras of LM Studio's API: v1 came with its release 0.4.0 and brought loading and downloading, v0 with 0.3.6.
const (
	eraV1 = "v1"
	eraV0 = "v0"
)

const (
	lmSmall    = 4096 // the window of a model that loads because a chat names it
	lmParallel = 4    // conversations an instance keeps room for, whatever is asked
	lmBatch    = 512
)

type lmInstance struct {
	ID     string   `json:"id"`
	Config lmConfig `json:"config"`
}

type lmConfig struct {
	Window   int  `json:"context_length"`
	Batch    int  `json:"eval_batch_size,omitempty"`
	Parallel int  `json:"parallel,omitempty"`
	Flash    bool `json:"flash_attention"`
	Experts  int  `json:"num_experts,omitempty"`
	OnGPU    bool `json:"offload_kv_cache_to_gpu"`
}

// lmModel is an entry of the list since 0.4. What the server may not know is null; what an embedding model lacks is
// left out.
type lmModel struct {
	Type         string       `json:"type"`
	Publisher    string       `json:"publisher"`
	Key          string       `json:"key"`
	Display      string       `json:"display_name"`
	Architecture *string      `json:"architecture"`
	Quantization *lmQuant     `json:"quantization"`
	Size         int64        `json:"size_bytes"`
	Params       *string      `json:"params_string"`
	Instances    []lmInstance `json:"loaded_instances"`
	Window       int          `json:"max_context_length"`
	Format       *string      `json:"format"`
	Can          *lmCan       `json:"capabilities,omitempty"`
	Description  *string      `json:"description"`
	Variants     []string     `json:"variants,omitempty"`
	Selected     string       `json:"selected_variant,omitempty"`
}

type lmQuant struct {
	Name *string  `json:"name"`
	Bits *float64 `json:"bits_per_weight"`
}

type lmCan struct {
	Vision    bool         `json:"vision"`
	Tools     bool         `json:"trained_for_tool_use"`
	Reasoning *lmReasoning `json:"reasoning,omitempty"`
}

type lmReasoning struct {
	Options []string `json:"allowed_options"`
	Default string   `json:"default"`
}

// lmRoutes adds the calls that only LM Studio answers.
func (s *Server) lmRoutes(handle func(string, http.HandlerFunc)) {
	handle("GET /api/v0/models", s.lmModelsOld)
	handle("GET /api/v0/models/{id...}", s.lmModelOld)
	handle("POST /api/v0/chat/completions", s.completions)
	if s.player.script.Era != eraV0 {
		handle("GET /api/v1/models", s.lmModels)
		handle("POST /api/v1/models/load", s.lmLoad)
		handle("POST /api/v1/models/unload", s.lmUnload)
		handle("POST /api/v1/models/download", s.lmDownload)
		handle("GET /api/v1/models/download/status/{job}", s.lmDownloadStatus)
		handle("POST /api/v1/chat", s.lmChat)
	}
	handle("/api/v0/", lmUnexpected)
	handle("/api/v1/", lmUnexpected)
	if s.wire == "lmstudio" {
		handle("/", lmUnexpected)
	}
}

// lmUnexpected answers what LM Studio does not know: with status 200 and an error in the body.
func lmUnexpected(w http.ResponseWriter, r *http.Request) {
	reply(w, http.StatusOK, plainError{fmt.Sprintf("Unexpected endpoint or method. (%s %s)", r.Method, r.URL.Path)})
}

// allowed lets a request in that carries the token, and turns others away as LM Studio does.
func (s *Server) allowed(w http.ResponseWriter, r *http.Request) bool {
	token := s.player.script.Token
	if token == "" || r.Header.Get("Authorization") == "Bearer "+token || r.Header.Get("X-Api-Key") == token {
		return true
	}
	text := "the server asks for an API token, and this request has none"
	if r.Header.Get("Authorization")+r.Header.Get("X-Api-Key") != "" {
		text = "this is not an API token of this server"
	}
	reply(w, http.StatusUnauthorized, lmError("invalid_request_error", text, "invalid_api_key"))
	return false
}

// lmError is an error as the native calls since 0.4 put it; the older ones send a text alone.
func lmError(kind, text, code string) any {
	type detail struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    string `json:"code,omitempty"`
	}
	return struct {
		Error detail `json:"error"`
	}{detail{text, kind, code}}
}

// instances lists what is loaded, oldest first.
func (s *Server) instances() []lmInstance {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lm)
}

// instance finds what is loaded by its own id, or by the key of its model.
func (s *Server) instance(name string) (lmInstance, bool) {
	all := s.instances()
	for _, i := range all {
		if strings.EqualFold(i.ID, name) {
			return i, true
		}
	}
	if len(all) > 0 && s.named(name) {
		return all[0], true
	}
	return lmInstance{}, false
}

// addInstance loads the model once more. A second instance is told apart by a number.
func (s *Server) addInstance(c lmConfig) lmInstance {
	script := s.player.script
	c.Window = min(c.Window, script.Window)
	if script.Loaded > 0 {
		c.Window = script.Loaded
	}
	c.Parallel, c.Flash, c.OnGPU = lmParallel, true, true
	if c.Batch == 0 {
		c.Batch = lmBatch
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := func(id string) bool {
		return slices.ContainsFunc(s.lm, func(i lmInstance) bool { return i.ID == id })
	}
	id := script.Name
	for n := 2; taken(id); n++ {
		id = fmt.Sprintf("%s:%d", script.Name, n)
	}
	i := lmInstance{ID: id, Config: c}
	s.lm = append(s.lm, i)
	return i
}

func pointer[T any](v T) *T { return &v }

// lmModels is LM Studio's list since 0.4.
func (s *Server) lmModels(w http.ResponseWriter, _ *http.Request) {
	p := s.player.script
	out := struct {
		Models []lmModel `json:"models"`
	}{[]lmModel{}}
	if s.here() {
		m := lmModel{
			Type: "llm", Publisher: "practice", Key: p.Name, Display: p.Name, Architecture: &p.Architecture,
			Quantization: &lmQuant{pointer("F32"), pointer(32.0)}, Size: p.Size, Params: pointer("262K"),
			Instances: append([]lmInstance{}, s.instances()...), Window: p.Window, Format: pointer("gguf"),
			Can: &lmCan{Vision: p.can("vision"), Tools: p.can("tools")}, Description: pointer(Banner),
		}
		if p.can("thinking") {
			m.Can.Reasoning = &lmReasoning{[]string{"off", "on"}, "on"}
		}
		if !strings.Contains(p.Name, "@") {
			m.Selected = p.Name + "@f32"
			m.Variants = []string{m.Selected}
		}
		out.Models = append(out.Models, m)
	}
	out.Models = append(out.Models, lmModel{
		Type: "embedding", Publisher: "practice", Key: lmEmbedding, Display: "Embeddings", Quantization: &lmQuant{pointer("F32"), nil},
		Size: 1 << 20, Instances: []lmInstance{}, Window: 2048, Format: pointer("gguf"),
	})
	reply(w, http.StatusOK, out)
}

// lmEmbedding is the embedding model that LM Studio comes with; it cannot converse.
const lmEmbedding = "text-embedding-practice"

// lmOld is an entry of the list before 0.4.
type lmOld struct {
	ID           string   `json:"id"`
	Object       string   `json:"object"`
	Type         string   `json:"type"`
	Publisher    string   `json:"publisher"`
	Arch         string   `json:"arch"`
	Kind         string   `json:"compatibility_type"`
	Quantization string   `json:"quantization"`
	State        string   `json:"state"`
	Window       int      `json:"max_context_length"`
	Loaded       int      `json:"loaded_context_length,omitempty"`
	Can          []string `json:"capabilities,omitempty"`
}

func (s *Server) lmOlds() []lmOld {
	p := s.player.script
	out := []lmOld{}
	if s.here() {
		m := lmOld{
			ID: p.Name, Object: "model", Type: "llm", Publisher: "practice", Arch: p.Architecture, Kind: "gguf",
			Quantization: "F32", State: "not-loaded", Window: p.Window,
		}
		if p.can("vision") {
			m.Type = "vlm"
		}
		if p.can("tools") {
			m.Can = []string{"tool_use"}
		}
		loaded := s.instances()
		if len(loaded) == 0 {
			out = append(out, m)
		}
		for _, i := range loaded {
			m.ID, m.State, m.Loaded = i.ID, "loaded", i.Config.Window
			out = append(out, m)
		}
	}
	return append(out, lmOld{
		ID: lmEmbedding, Object: "model", Type: "embeddings", Publisher: "practice", Arch: "bert", Kind: "gguf",
		Quantization: "F32", State: "not-loaded", Window: 2048,
	})
}

// lmModelsOld is LM Studio's list before 0.4.
func (s *Server) lmModelsOld(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, struct {
		Object string  `json:"object"`
		Data   []lmOld `json:"data"`
	}{"list", s.lmOlds()})
}

func (s *Server) lmModelOld(w http.ResponseWriter, r *http.Request) {
	for _, m := range s.lmOlds() {
		if strings.EqualFold(m.ID, r.PathValue("id")) {
			reply(w, http.StatusOK, m)
			return
		}
	}
	s.refuse(w, r, http.StatusNotFound, fmt.Sprintf("model %q not found", r.PathValue("id")))
}

func (s *Server) lmLoad(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model  string `json:"model"`
		Window int    `json:"context_length"`
		Batch  int    `json:"eval_batch_size"`
		Echo   bool   `json:"echo_load_config"`
	}
	if _, ok := s.read(w, r, &in); !ok {
		return
	}
	if !s.named(in.Model) {
		s.refuse(w, r, http.StatusNotFound, fmt.Sprintf("model %q not found", in.Model))
		return
	}
	if in.Window == 0 {
		in.Window = lmSmall
	}
	out := struct {
		Type     string    `json:"type"`
		Instance string    `json:"instance_id"`
		Seconds  float64   `json:"load_time_seconds"`
		Status   string    `json:"status"`
		Config   *lmConfig `json:"load_config,omitempty"`
	}{"llm", "", 0.001, "loaded", nil}
	i := s.addInstance(lmConfig{Window: in.Window, Batch: in.Batch})
	out.Instance = i.ID
	if in.Echo {
		i.Config.Parallel = 0 // the call has no such setting, and so does not name it
		out.Config = &i.Config
	}
	reply(w, http.StatusOK, out)
}

func (s *Server) lmUnload(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Instance string `json:"instance_id"`
	}
	if _, ok := s.read(w, r, &in); !ok {
		return
	}
	s.mu.Lock()
	before := len(s.lm)
	s.lm = slices.DeleteFunc(s.lm, func(i lmInstance) bool { return i.ID == in.Instance })
	gone := len(s.lm) < before
	s.mu.Unlock()
	if !gone {
		s.refuse(w, r, http.StatusNotFound, fmt.Sprintf("no loaded instance %q", in.Instance))
		return
	}
	reply(w, http.StatusOK, struct {
		Instance string `json:"instance_id"`
	}{in.Instance})
}

// lmJob is a download. Each look at it moves it on by a quarter; one of a link that leads nowhere fails.
type lmJob struct {
	started time.Time
	looks   int64
	fails   bool
}

type lmDownload struct {
	Job       string     `json:"job_id,omitempty"`
	Status    string     `json:"status"`
	Total     int64      `json:"total_size_bytes,omitempty"`
	Done      int64      `json:"downloaded_bytes,omitempty"`
	Speed     int64      `json:"bytes_per_second,omitempty"`
	Estimate  *time.Time `json:"estimated_completion,omitempty"`
	Started   *time.Time `json:"started_at,omitempty"`
	Completed *time.Time `json:"completed_at,omitempty"`
}

func (s *Server) lmDownload(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model        string `json:"model"`
		Quantization string `json:"quantization"`
	}
	if _, ok := s.read(w, r, &in); !ok {
		return
	}
	link := strings.Contains(in.Model, "://")
	own := strings.EqualFold(strings.TrimSuffix(in.Model, "@f32"), s.player.script.Name)
	switch {
	case in.Quantization != "" && !link:
		s.refuse(w, r, http.StatusBadRequest, "quantization goes with a link to a model alone")
		return
	case own && s.here():
		reply(w, http.StatusOK, lmDownload{Status: "already_downloaded"})
		return
	case !own && !link:
		s.refuse(w, r, http.StatusNotFound, fmt.Sprintf("the catalogue has no model %q", in.Model))
		return
	}
	s.mu.Lock()
	id := fmt.Sprintf("job_%d", len(s.jobs)+1)
	job := &lmJob{started: time.Now().UTC(), fails: !own}
	s.jobs[id] = job
	s.mu.Unlock()
	reply(w, http.StatusOK, lmDownload{Job: id, Status: "downloading", Total: s.player.script.Size, Started: &job.started})
}

func (s *Server) lmDownloadStatus(w http.ResponseWriter, r *http.Request) {
	id, size := r.PathValue("job"), s.player.script.Size
	s.mu.Lock()
	job, ok := s.jobs[id]
	if !ok {
		s.mu.Unlock()
		s.refuse(w, r, http.StatusNotFound, fmt.Sprintf("no download job %q", id))
		return
	}
	job.looks++
	out := lmDownload{Job: id, Status: "downloading", Total: size, Done: size * min(job.looks, 4) / 4, Started: &job.started}
	now := time.Now().UTC()
	switch {
	case job.fails && job.looks > 1:
		out.Status = "failed"
	case job.looks < 4:
		out.Speed, out.Estimate = size/4, &now
	default:
		out.Status, out.Completed, s.missing = "completed", &now, false
	}
	s.mu.Unlock()
	reply(w, http.StatusOK, out)
}
