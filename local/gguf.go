package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	parser "github.com/gpustack/gguf-parser-go"
)

// Tensor is a named array of a model's weights.
type Tensor struct {
	Name  string
	Bytes int64
}

// blocks are the bytes and the elements of a block, by the type of a tensor in GGUF.
var blocks = map[string][2]uint64{
	"F32": {4, 1}, "F16": {2, 1}, "BF16": {2, 1}, "Q4_0": {18, 32}, "Q4_1": {20, 32}, "Q5_0": {22, 32}, "Q5_1": {24, 32}, "Q8_0": {34, 32},
	"MXFP4": {17, 32}, "NVFP4": {36, 64}, "Q2_K": {84, 256}, "Q3_K": {110, 256}, "Q4_K": {144, 256}, "Q5_K": {176, 256}, "Q6_K": {210, 256},
	"IQ4_XS": {136, 256}, "IQ4_NL": {18, 32},
}

// TensorBytes is the size of a tensor by the name of its type and its shape, as servers list them; false for a type
// that is not known here.
func TensorBytes(kind string, shape []uint64) (int64, bool) {
	block, ok := blocks[strings.ToUpper(kind)]
	if !ok {
		return 0, false
	}
	elements := uint64(1)
	for _, n := range shape {
		elements *= n
	}
	return int64((elements + block[1] - 1) / block[1] * block[0]), true
}

// Weigh adds what tensors tell: the bytes of all experts, and of the embeddings that stay in main memory even when all
// layers are on a GPU. Embeddings that are the output as well are copied there, so they count in full.
func (g *Geometry) Weigh(tensors []Tensor) {
	var embedding, perLayer int64
	separate := false
	g.ExpertBytes = 0
	for _, t := range tensors {
		switch {
		case strings.Contains(t.Name, "ffn_") && strings.Contains(t.Name, "_exps"):
			g.ExpertBytes += t.Bytes
		case t.Name == "token_embd.weight":
			embedding = t.Bytes
		case t.Name == "per_layer_token_embd.weight":
			perLayer = t.Bytes
		case t.Name == "output.weight":
			separate = true
		}
	}
	g.OnCPU = perLayer
	if separate {
		g.OnCPU += embedding
	}
}

// ReadGGUF reads what a model file tells of itself: its size, dimensions, template, and the exact bytes of its
// tensors. Of a model in several files, any one may be named; all must be there. The format is that of ggml's
// gguf.md; sizes are taken from the file, not estimated.
func ReadGGUF(path string) (ModelInfo, error) {
	parts, err := ggufParts(path)
	if err != nil {
		return ModelInfo{}, err
	}
	file, err := parseGGUF(path)
	if err != nil {
		return ModelInfo{}, &Refusal{
			Code: Damaged, Model: path, Err: err, Text: "read " + path + ": it is no GGUF file, or it is damaged",
			Try: "download it again, or check that the download has ended",
		}
	}
	meta := Metadata{}
	for _, kv := range file.Header.MetadataKV {
		meta[kv.Key] = ggufValue(kv.Value)
	}
	meta = meta.Plausible()
	kind, _ := meta["general.type"].(string)
	if arch := meta.Architecture(); arch == "clip" || kind == "mmproj" || kind == "adapter" || kind == "imatrix" || meta.number("block_count") == 0 {
		what := "it holds no language model"
		if arch == "clip" || kind == "mmproj" {
			what = "it is the projector of a model that sees, not a model"
		} else if kind == "adapter" {
			what = "it is an adapter for a model, not a model"
		}
		return ModelInfo{}, &Refusal{Code: Damaged, Model: path, Text: "read " + path + ": " + what, Try: "name the file of the model itself"}
	}
	var tensors []Tensor
	var weights, parameters int64
	for _, t := range file.TensorInfos {
		n := int64(t.Bytes())
		tensors = append(tensors, Tensor{t.Name, n})
		weights, parameters = weights+n, parameters+int64(t.Elements())
	}
	if weights > int64(file.Size) {
		return ModelInfo{}, &Refusal{
			Code: Damaged, Model: path, Needed: weights, Available: int64(file.Size),
			Text: fmt.Sprintf("read %s: its tensors take %s and its files hold %s: it is cut short", path, Bytes(weights), Bytes(int64(file.Size))),
			Try:  "download it again, or check that the download has ended",
		}
	}
	g := meta.Geometry()
	g.Weigh(tensors)
	g.Parameters = parameters
	if g.Vocab == 0 {
		if t, ok := file.TensorInfos.Get("token_embd.weight"); ok && len(t.Dimensions) == 2 {
			g.Vocab = int(t.Dimensions[1])
		}
	}
	info := ModelInfo{
		Name: filepath.Base(parts[0]), Size: int64(file.Size), Architecture: meta.Architecture(), Family: meta.Architecture(),
		Parameters: fmt.Sprintf("%.1fB", float64(parameters)/1e9), Quantization: file.Metadata().FileTypeDescriptor,
		Trained: meta.Trained(), Geometry: g,
	}
	info.Template, _ = meta["tokenizer.chat_template"].(string)
	info.Capabilities = templateCapabilities(info.Template)
	return info, nil
}

// templateCapabilities reads off a chat template what a model is made for; nil without a template.
func templateCapabilities(template string) []string {
	if template == "" {
		return nil
	}
	out := []string{"completion"}
	if strings.Contains(template, "tools") || strings.Contains(template, "tool_call") {
		out = append(out, "tools")
	}
	if strings.Contains(template, "<think>") || strings.Contains(template, "enable_thinking") || strings.Contains(template, "reasoning_effort") {
		out = append(out, "thinking")
	}
	return out
}

// ggufParts lists the files of a model, and refuses when one is missing.
func ggufParts(path string) ([]string, error) {
	parts := parser.CompleteShardGGUFFilename(path)
	if parts == nil {
		parts = []string{path}
	}
	for _, part := range parts {
		info, err := os.Stat(part)
		switch {
		case errors.Is(err, fs.ErrNotExist) && len(parts) > 1:
			return nil, &Refusal{
				Code: Damaged, Model: path, Text: fmt.Sprintf("read %s: it is one of %d files, and %s is missing", path, len(parts), filepath.Base(part)),
				Try: "put all of them in one folder, under the names they were published with",
			}
		case err != nil:
			return nil, fmt.Errorf("read the model: %w", err)
		case info.IsDir():
			return nil, fmt.Errorf("read %s: it is a folder, not a model file", part)
		case !info.Mode().IsRegular(): // a pipe would be waited for, a device has no end
			return nil, fmt.Errorf("read %s: it is a device or a pipe, not a model file", part)
		}
	}
	return parts, nil
}

// parseGGUF reads the header. The parser gives up by a panic on some damage.
func parseGGUF(path string) (file *parser.GGUFFile, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, fmt.Errorf("its header makes no sense: %v", r)
		}
	}()
	file, err = parser.ParseGGUFFile(path, parser.UseMMap())
	if err == nil {
		file.TensorInfos.Bytes() // fails here rather than later on a type that is not known
	}
	return file, err
}

// ggufValue is a value in the form that Metadata has from JSON.
func ggufValue(v any) any {
	switch n := v.(type) {
	case parser.GGUFMetadataKVArrayValue:
		list := make([]any, len(n.Array))
		for i, item := range n.Array {
			list[i] = ggufValue(item)
		}
		return list
	case uint8:
		return int(n)
	case int8:
		return int(n)
	case uint16:
		return int(n)
	case int16:
		return int(n)
	case uint32:
		return int(n)
	case int32:
		return int(n)
	case float32:
		return float64(n)
	}
	return v
}
