package practice

import (
	"fmt"
	"net/http"
)

type lmInstance struct {
	ID     string `json:"id"`
	Config struct {
		Window   int `json:"context_length"`
		Parallel int `json:"parallel"`
	} `json:"config"`
}

type lmModel struct {
	Type         string       `json:"type"`
	Publisher    string       `json:"publisher"`
	Key          string       `json:"key"`
	Display      string       `json:"display_name"`
	Architecture string       `json:"architecture"`
	Quantization lmQuant      `json:"quantization"`
	Size         int64        `json:"size_bytes"`
	Params       string       `json:"params_string"`
	Instances    []lmInstance `json:"loaded_instances"`
	Window       int          `json:"max_context_length"`
	Format       string       `json:"format"`
	Can          lmCan        `json:"capabilities"`
	Description  string       `json:"description"`
}

type lmQuant struct {
	Name string `json:"name"`
	Bits int    `json:"bits_per_weight"`
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

func (s *Server) resident() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.window
}

// lmModels is LM Studio's list since 0.4.
func (s *Server) lmModels(w http.ResponseWriter, _ *http.Request) {
	p := s.player.script
	out := struct {
		Models []lmModel `json:"models"`
	}{[]lmModel{}}
	if s.here() {
		m := lmModel{
			Type: "llm", Publisher: "practice", Key: p.Name, Display: p.Name, Architecture: p.Architecture,
			Quantization: lmQuant{"F32", 32}, Size: p.Size, Params: "262K", Instances: []lmInstance{}, Window: p.Window,
			Format: "gguf", Can: lmCan{Vision: p.can("vision"), Tools: p.can("tools")}, Description: Banner,
		}
		if p.can("thinking") {
			m.Can.Reasoning = &lmReasoning{[]string{"off", "on"}, "on"}
		}
		if window := s.resident(); window > 0 {
			i := lmInstance{ID: p.Name}
			i.Config.Window, i.Config.Parallel = window, 1
			m.Instances = append(m.Instances, i)
		}
		out.Models = append(out.Models, m)
	}
	reply(w, http.StatusOK, out)
}

// lmModelsOld is LM Studio's list before 0.4.
func (s *Server) lmModelsOld(w http.ResponseWriter, _ *http.Request) {
	type model struct {
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
	p := s.player.script
	out := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", []model{}}
	if s.here() {
		m := model{
			ID: p.Name, Object: "model", Type: "llm", Publisher: "practice", Arch: p.Architecture, Kind: "gguf",
			Quantization: "F32", State: "not-loaded", Window: p.Window,
		}
		if m.Loaded = s.resident(); m.Loaded > 0 {
			m.State = "loaded"
		}
		if p.can("tools") {
			m.Can = []string{"tool_use"}
		}
		out.Data = append(out.Data, m)
	}
	reply(w, http.StatusOK, out)
}

func (s *Server) lmLoad(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model  string `json:"model"`
		Window int    `json:"context_length"`
		Echo   bool   `json:"echo_load_config"`
	}
	if _, ok := s.read(w, r, &in); !ok {
		return
	}
	if !s.known(in.Model) {
		s.refuse(w, r, http.StatusNotFound, fmt.Sprintf("model %q not found", in.Model))
		return
	}
	if in.Window == 0 {
		in.Window = 4096
	}
	type config struct {
		Window int `json:"context_length"`
	}
	out := struct {
		Type     string  `json:"type"`
		Instance string  `json:"instance_id"`
		Seconds  float64 `json:"load_time_seconds"`
		Status   string  `json:"status"`
		Config   *config `json:"load_config,omitempty"`
	}{"llm", s.player.script.Name, 0.001, "loaded", nil}
	window := s.load(in.Window, keepAlive(nil))
	if in.Echo {
		out.Config = &config{window}
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
	if !s.known(in.Instance) || s.resident() == 0 {
		s.refuse(w, r, http.StatusNotFound, fmt.Sprintf("no loaded instance %q", in.Instance))
		return
	}
	s.unload()
	reply(w, http.StatusOK, struct {
		Instance string `json:"instance_id"`
	}{in.Instance})
}
