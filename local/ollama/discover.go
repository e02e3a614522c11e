package ollama

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"interpreter/local"
	"interpreter/local/chat"
)

// Version asks the server for its version.
func (p *Provider) Version(ctx context.Context) (string, error) {
	var answer struct {
		Version string `json:"version"`
	}
	if err := p.ask(ctx, listFor, http.MethodGet, "/api/version", "", nil, &answer); err != nil {
		return "", err
	}
	if answer.Version == "" {
		return "", &chat.Error{
			Kind: chat.Invalid, Detail: "what answers at " + p.base + " names no version",
			Remedy: "check the address: another program answers there",
		}
	}
	return answer.Version, nil
}

// Models lists what is installed, in the server's order. The list fails while the server still reads its store, so
// it is asked for once more after half a second.
func (p *Provider) Models(ctx context.Context) ([]local.ModelInfo, error) {
	var answer api.ListResponse
	err := p.ask(ctx, listFor, http.MethodGet, "/api/tags", "", nil, &answer)
	var failure *chat.Error
	if errors.As(err, &failure) && failure.Status == http.StatusInternalServerError {
		if err := p.pause(ctx, 500*time.Millisecond); err != nil {
			return nil, err
		}
		err = p.ask(ctx, listFor, http.MethodGet, "/api/tags", "", nil, &answer)
	}
	if err != nil {
		return nil, err
	}
	var list []local.ModelInfo
	for _, m := range answer.Models {
		info := local.ModelInfo{
			Name: m.Name, Provider: p.Name(), Digest: m.Digest, Size: m.Size, Family: m.Details.Family,
			Parameters: m.Details.ParameterSize, Quantization: m.Details.QuantizationLevel,
			Trained: m.Details.ContextLength, RemoteHost: remote(m.RemoteHost, m.RemoteModel),
		}
		if info.Name == "" {
			info.Name = m.Model
		}
		for _, c := range m.Capabilities {
			info.Capabilities = append(info.Capabilities, string(c))
		}
		list = append(list, info)
	}
	return list, nil
}

// remote is the host a model runs on when that is not the server, or at least the name it has there.
func remote(host, model string) string {
	if host == "" && model != "" {
		return "another machine as " + model
	}
	return host
}

// Show tells all that costs one small request. Counts per layer come only with the whole vocabulary, which Measure
// asks for.
func (p *Provider) Show(ctx context.Context, name string) (local.ModelInfo, error) {
	return p.show(ctx, name, false)
}

func (p *Provider) show(ctx context.Context, name string, verbose bool) (local.ModelInfo, error) {
	in := map[string]any{"model": name}
	limit := listFor
	if verbose {
		in["verbose"], limit = true, measureFor
	}
	var answer api.ShowResponse
	if err := p.ask(ctx, limit, http.MethodPost, "/api/show", name, in, &answer); err != nil {
		return local.ModelInfo{}, err
	}
	metadata := local.Metadata(answer.ModelInfo)
	info := local.ModelInfo{
		Name: name, Provider: p.Name(), Family: answer.Details.Family, Architecture: metadata.Architecture(),
		Parameters: answer.Details.ParameterSize, Quantization: answer.Details.QuantizationLevel,
		Template: answer.Template, Parser: answer.Parser, Trained: metadata.Trained(),
		Configured: numCtx(answer.Parameters), RemoteHost: remote(answer.RemoteHost, answer.RemoteModel),
		Geometry: metadata.Geometry(),
	}
	for _, c := range answer.Capabilities {
		info.Capabilities = append(info.Capabilities, string(c))
	}
	return info, nil
}

// numCtx finds the window that a model file sets among its parameters, a line each of a padded name and a value.
func numCtx(parameters string) int {
	for line := range strings.Lines(parameters) {
		fields := strings.Fields(line)
		if len(fields) == 2 && fields[0] == "num_ctx" {
			n, _ := strconv.Atoi(fields[1])
			return n
		}
	}
	return 0
}

// Measure asks for the counts per layer, once for each digest: the answer holds the whole vocabulary.
func (p *Provider) Measure(ctx context.Context, m local.ModelInfo) (local.ModelInfo, error) {
	p.lock.Lock()
	known, ok := p.measured[m.Digest]
	p.lock.Unlock()
	if !ok || m.Digest == "" {
		full, err := p.show(ctx, m.Name, true)
		if err != nil {
			return m, err
		}
		known = full.Geometry
		p.lock.Lock()
		p.measured[m.Digest] = known
		p.lock.Unlock()
	}
	m.Geometry = known
	return m, nil
}

// Loaded lists what the server has in memory, with the window of each.
func (p *Provider) Loaded(ctx context.Context) ([]local.Resident, error) {
	var answer api.ProcessResponse
	if err := p.ask(ctx, listFor, http.MethodGet, "/api/ps", "", nil, &answer); err != nil {
		return nil, err
	}
	var list []local.Resident
	for _, m := range answer.Models {
		name := m.Name
		if name == "" {
			name = m.Model
		}
		list = append(list, local.Resident{
			Name: name, Digest: m.Digest, Size: m.Size, VRAM: m.SizeVRAM, Window: m.ContextLength,
		})
	}
	return list, nil
}
