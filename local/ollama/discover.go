package ollama

import (
	"cmp"
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
			Parameters: m.Details.ParameterSize, Quantization: m.Details.QuantizationLevel, Format: strings.ToLower(m.Details.Format),
			Trained: believed(m.Details.ContextLength), RemoteHost: remote(m.RemoteHost, m.RemoteModel),
		}
		if info.Name == "" {
			info.Name = m.Model
		}
		if info.Name == "" {
			continue // nobody could ask for it
		}
		info.Size = min(max(info.Size, 0), mostTotal)
		for _, c := range m.Capabilities {
			info.Capabilities = append(info.Capabilities, string(c))
		}
		if !info.Can("tools") {
			info.Capabilities = nil // the list does not look into a file for its template; Show does
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
	metadata := local.Metadata(answer.ModelInfo).Plausible()
	info := local.ModelInfo{
		Name: name, Provider: p.Name(), Family: answer.Details.Family, Architecture: metadata.Architecture(),
		Parameters: answer.Details.ParameterSize, Quantization: answer.Details.QuantizationLevel, Format: strings.ToLower(answer.Details.Format),
		Template: answer.Template, Parser: cmp.Or(answer.Parser, directive(answer.Modelfile, "PARSER")), Trained: metadata.Trained(),
		Configured: numCtx(answer.Parameters), RemoteHost: remote(answer.RemoteHost, answer.RemoteModel),
		Requires: answer.Requires, Geometry: metadata.Geometry(),
	}
	weigh(&info.Geometry, answer.Tensors)
	for _, c := range answer.Capabilities {
		info.Capabilities = append(info.Capabilities, string(c))
	}
	return info, nil
}

// weigh adds the bytes of experts and embeddings, as the server lists the tensors. A type whose size is not known here
// leaves it all open, rather than counting a part.
func weigh(g *local.Geometry, listed []api.Tensor) {
	tensors := make([]local.Tensor, len(listed))
	for i, t := range listed {
		size, ok := local.TensorBytes(t.Type, t.Shape)
		if !ok {
			return
		}
		tensors[i] = local.Tensor{Name: t.Name, Bytes: size}
	}
	g.Weigh(tensors)
}

// numCtx finds the window that a model file sets among its parameters, a line each of a padded name and a value.
func numCtx(parameters string) int {
	for line := range strings.Lines(parameters) {
		fields := strings.Fields(line)
		if len(fields) == 2 && fields[0] == "num_ctx" {
			n, _ := strconv.Atoi(fields[1])
			return believed(n)
		}
	}
	return 0
}

// believed is a number of tokens that a server tells, 0 for one that no model has.
func believed(tokens int) int {
	if tokens < 0 || tokens > 1<<30 {
		return 0
	}
	return tokens
}

// directive finds a one-line entry of a Modelfile, "" when there is none. Servers, of which none yet fills the field for
// it, tell the name of a model's parser there alone. What stands within triple quotes is a text and no entry.
func directive(modelfile, name string) string {
	text := false
	for line := range strings.Lines(modelfile) {
		if word, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !text && word == name {
			return strings.Trim(strings.TrimSpace(rest), `"`)
		}
		if strings.Count(line, `"""`)%2 == 1 {
			text = !text
		}
	}
	return ""
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
		if name == "" {
			continue
		}
		list = append(list, local.Resident{
			Name: name, Digest: m.Digest, Size: max(m.Size, 0), VRAM: max(m.SizeVRAM, 0), Window: believed(m.ContextLength), Until: m.ExpiresAt,
		})
	}
	return list, nil
}
