package practice

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// The model's make-believe geometry: one small layer, so that any window costs next to nothing.
const (
	layers, heads, headDim, embedding, vocabSize = 1, 1, 32, 256, 512
	perToken                                     = 2 * layers * heads * headDim * 2 // bytes of KV cache
)

type details struct {
	Parent       string   `json:"parent_model"`
	Format       string   `json:"format"`
	Family       string   `json:"family"`
	Families     []string `json:"families"`
	Parameters   string   `json:"parameter_size"`
	Quantization string   `json:"quantization_level"`
}

func (s *Server) details() details {
	a := s.player.script.Architecture
	return details{Format: "gguf", Family: a, Families: []string{a}, Parameters: "262K", Quantization: "F32"}
}

type listed struct {
	Name     string     `json:"name"`
	Model    string     `json:"model"`
	Modified *time.Time `json:"modified_at,omitempty"`
	Size     int64      `json:"size"`
	Digest   string     `json:"digest"`
	Details  details    `json:"details"`
	Expires  *time.Time `json:"expires_at,omitempty"`
	VRAM     *int64     `json:"size_vram,omitempty"`
	Window   int        `json:"context_length,omitempty"`
}

type list struct {
	Models []listed `json:"models"`
}

// digest changes with everything the script says of the model, so that verdicts kept by digest stay right.
func (s *Server) digest() string {
	p := s.player.script
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %q %q %s %d", p.Name, p.Window, p.Loaded, p.Capabilities, p.CheckFail, p.Architecture, p.Size))
	return hex.EncodeToString(sum[:])
}

func (s *Server) entry() listed {
	name := tagged(s.player.script.Name)
	return listed{Name: name, Model: name, Size: s.player.script.Size, Digest: s.digest(), Details: s.details()}
}

func (s *Server) here() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.missing
}

func (s *Server) tags(w http.ResponseWriter, _ *http.Request) {
	out := list{Models: []listed{}}
	if s.here() {
		e := s.entry()
		e.Modified = &s.started
		out.Models = append(out.Models, e)
	}
	reply(w, http.StatusOK, out)
}

func (s *Server) ps(w http.ResponseWriter, _ *http.Request) {
	out := list{Models: []listed{}}
	s.mu.Lock()
	window, expires := s.window, s.expires
	s.mu.Unlock()
	if window > 0 && s.here() {
		e, none := s.entry(), int64(0)
		e.Expires, e.VRAM, e.Window = &expires, &none, window
		e.Size += int64(window) * perToken
		out.Models = append(out.Models, e)
	}
	reply(w, http.StatusOK, out)
}

// nameOf reads the name of a model from a request; servers take it under two names.
type nameOf struct {
	Model  string `json:"model"`
	Name   string `json:"name"`
	Stream *bool  `json:"stream"`
}

func (n nameOf) String() string {
	if n.Model != "" {
		return n.Model
	}
	return n.Name
}

func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	var in nameOf
	if _, ok := s.read(w, r, &in); !ok {
		return
	}
	if !s.known(in.String()) {
		s.refuse(w, r, http.StatusNotFound, fmt.Sprintf("model '%s' not found", in))
		return
	}
	p := s.player.script
	a := p.Architecture + "."
	reply(w, http.StatusOK, struct {
		License      string         `json:"license"`
		Modelfile    string         `json:"modelfile"`
		Parameters   string         `json:"parameters"`
		Template     string         `json:"template"`
		Details      details        `json:"details"`
		Info         map[string]any `json:"model_info"`
		Capabilities []string       `json:"capabilities"`
		Modified     time.Time      `json:"modified_at"`
	}{
		License: Banner, Modelfile: "# " + Banner + "\nFROM practice\n", Parameters: "temperature                    0",
		Template: template(p, dialects()[0], GGUFOptions{}), Details: s.details(),
		Info: map[string]any{
			"general.architecture": p.Architecture, "general.parameter_count": 2 * embedding * vocabSize, "general.file_type": 0,
			a + "context_length": p.Window, a + "block_count": layers, a + "embedding_length": embedding,
			a + "attention.head_count": heads, a + "attention.head_count_kv": heads, a + "attention.key_length": headDim,
			a + "attention.value_length": headDim, a + "vocab_size": vocabSize, a + "feed_forward_length": 32,
			"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": nil,
		},
		Capabilities: p.Capabilities, Modified: s.started.UTC(),
	})
}

type pulling struct {
	Status    string `json:"status"`
	Digest    string `json:"digest,omitempty"`
	Total     int64  `json:"total,omitempty"`
	Completed int64  `json:"completed,omitempty"`
}

// pull plays a download of the script's own model; no other name can be had here.
func (s *Server) pull(w http.ResponseWriter, r *http.Request) {
	var in nameOf
	if _, ok := s.read(w, r, &in); !ok {
		return
	}
	streamed := in.Stream == nil || *in.Stream
	out := stream{w}
	if !strings.EqualFold(tagged(in.String()), tagged(s.player.script.Name)) {
		const absent = "pull model manifest: file does not exist"
		if !streamed {
			s.refuse(w, r, http.StatusInternalServerError, absent)
			return
		}
		out.open("application/x-ndjson")
		out.send(string(encode(pulling{Status: "pulling manifest"})) + "\n" + string(encode(plainError{absent})) + "\n")
		return
	}
	if streamed {
		out.open("application/x-ndjson")
		digest, size := s.digest(), s.player.script.Size
		layer := pulling{Status: "pulling " + digest[:12], Digest: "sha256:" + digest, Total: size}
		out.send(string(encode(pulling{Status: "pulling manifest"})) + "\n")
		for quarter := range int64(5) {
			layer.Completed = size * quarter / 4
			out.send(string(encode(layer)) + "\n")
		}
		for _, status := range []string{"verifying sha256 digest", "writing manifest"} {
			out.send(string(encode(pulling{Status: status})) + "\n")
		}
	}
	s.mu.Lock()
	s.missing = false
	s.mu.Unlock()
	if streamed {
		out.send(string(encode(pulling{Status: "success"})) + "\n")
		return
	}
	reply(w, http.StatusOK, pulling{Status: "success"})
}

// remove deletes the script's own model; it can be pulled again.
func (s *Server) remove(w http.ResponseWriter, r *http.Request) {
	var in nameOf
	if _, ok := s.read(w, r, &in); !ok {
		return
	}
	if !s.known(in.String()) {
		s.refuse(w, r, http.StatusNotFound, fmt.Sprintf("model '%s' not found", in))
		return
	}
	s.mu.Lock()
	s.missing, s.window = true, 0
	s.mu.Unlock()
	w.WriteHeader(http.StatusOK)
}

func (s *Server) modelsV1(w http.ResponseWriter, _ *http.Request) {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		Owner   string `json:"owned_by"`
		Window  int    `json:"max_model_len,omitempty"`
	}
	out := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", []model{}}
	if s.here() {
		m := model{ID: s.player.script.Name, Object: "model", Created: s.started.Unix(), Owner: "library"}
		if s.wire == "all" || s.wire == "ollama" {
			m.ID = tagged(m.ID)
		}
		if s.wire == "lmstudio" {
			m.Owner = "organization_owner"
		}
		if s.wire == "chat" {
			m.Window = s.player.script.Window
			if s.player.script.Loaded > 0 {
				m.Window = s.player.script.Loaded
			}
		}
		out.Data = append(out.Data, m)
	}
	reply(w, http.StatusOK, out)
}

// props is what llama-server tells of itself.
func (s *Server) props(w http.ResponseWriter, _ *http.Request) {
	type settings struct {
		Window int `json:"n_ctx"`
	}
	window, _ := s.jit(s.player.script.Name)
	reply(w, http.StatusOK, struct {
		Settings settings `json:"default_generation_settings"`
		Slots    int      `json:"total_slots"`
		Model    string   `json:"model_alias"`
	}{settings{window}, 1, s.player.script.Name})
}
