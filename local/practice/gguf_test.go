package practice

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template/parse"
)

// gguf is a file read back: keys, tensors and the bytes behind them.
type gguf struct {
	keys    map[string]any
	tensors map[string][]float32
	shapes  map[string][]uint64
	size    int
}

// reader takes a GGUF apart with none of the code that wrote it.
type reader struct {
	t *testing.T
	*bytes.Reader
}

func read[T any](r reader) T {
	var v T
	if err := binary.Read(r, binary.LittleEndian, &v); err != nil {
		r.t.Fatalf("read: %v", err)
	}
	return v
}

func (r reader) text() string {
	b := make([]byte, read[uint64](r))
	if _, err := r.Read(b); err != nil && len(b) > 0 {
		r.t.Fatal(err)
	}
	return string(b)
}

func (r reader) value(kind uint32) any {
	switch kind {
	case 4:
		return int(read[uint32](r))
	case 5:
		return int(read[int32](r))
	case 6:
		return read[float32](r)
	case 7:
		return read[uint8](r) == 1
	case 8:
		return r.text()
	case 9:
		of, n := read[uint32](r), read[uint64](r)
		var out []any
		for range n {
			out = append(out, r.value(of))
		}
		return out
	}
	r.t.Fatalf("unknown kind %d", kind)
	return nil
}

func readBack(t *testing.T, path string) gguf {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := reader{t, bytes.NewReader(data)}
	if magic := string(data[:4]); magic != "GGUF" {
		t.Fatalf("magic %q", magic)
	}
	read[uint32](r)
	if v := read[uint32](r); v != 3 {
		t.Fatalf("version %d", v)
	}
	tensors, keys := read[uint64](r), read[uint64](r)
	g := gguf{keys: map[string]any{}, tensors: map[string][]float32{}, shapes: map[string][]uint64{}, size: len(data)}
	for range keys {
		name := r.text()
		g.keys[name] = r.value(read[uint32](r))
	}
	type place struct {
		name   string
		n      int
		offset uint64
	}
	var places []place
	for range tensors {
		p := place{name: r.text(), n: 1}
		for range read[uint32](r) {
			d := read[uint64](r)
			g.shapes[p.name] = append(g.shapes[p.name], d)
			p.n *= int(d)
		}
		if kind := read[uint32](r); kind != 0 {
			t.Fatalf("%s: type %d", p.name, kind)
		}
		p.offset = read[uint64](r)
		places = append(places, p)
	}
	start := (len(data) - r.Len() + 31) / 32 * 32
	for _, p := range places {
		if p.offset%32 != 0 {
			t.Errorf("%s is not aligned: %d", p.name, p.offset)
		}
		from := start + int(p.offset)
		values := make([]float32, p.n)
		for i := range values {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[from+4*i:]))
		}
		g.tensors[p.name] = values
	}
	return g
}

func built(t *testing.T, script string, o GGUFOptions) (gguf, string) {
	t.Helper()
	dir := t.TempDir()
	if err := WriteGGUF(parsed(t, script), dir, o); err != nil {
		t.Fatal(err)
	}
	modelfile, err := os.ReadFile(filepath.Join(dir, "Modelfile"))
	if err != nil {
		t.Fatal(err)
	}
	return readBack(t, filepath.Join(dir, "practice.gguf")), string(modelfile)
}

// play runs the weights: from a token to the next until the end, as an engine does with attention that adds nothing.
func (g gguf) play(t *testing.T, marker string) string {
	t.Helper()
	texts := g.keys["tokenizer.ggml.tokens"].([]any)
	width, eos := g.keys["llama.embedding_length"].(int), g.keys["tokenizer.ggml.eos_token_id"].(int)
	token := -1
	for id, text := range texts {
		if text == marker {
			token = id
		}
	}
	if token < 0 {
		t.Fatalf("no token %q", marker)
	}
	var out []string
	for range 100 {
		x := g.tensors["token_embd.weight"][token*width : (token+1)*width]
		best, score := 0, float32(math.Inf(-1))
		for id := range texts {
			var sum float32
			for i, w := range g.tensors["output.weight"][id*width : (id+1)*width] {
				sum += w * x[i]
			}
			if sum > score {
				best, score = id, sum
			}
		}
		if token = best; token == eos {
			return strings.Join(out, "|")
		}
		out = append(out, texts[token].(string))
	}
	t.Fatalf("%s never ends: %q", marker, out[:3])
	return ""
}

const weighty = `
model weighty
window 131072
reply
  say I look.
  call run {"c":"test"}
reply
  call run {"c":"test"}
reply
  want anything
  say I look.
reply
`

func TestWeightsSpellTheScript(t *testing.T) {
	g, modelfile := built(t, weighty, GGUFOptions{})
	call := "<tool_call>\n{\"name\": \"run\", \"arguments\": {\"c\":\"test\"}}\n</tool_call>"
	for marker, want := range map[string]string{
		"<|a:|>": "I look.|" + call, "<|a:a|>": call, "<|a:aaa|>": "", "<0x41>": Lost, "<s>": Lost,
		"<|check|>": "<tool_call>\n{\"name\": \"probe_sum\", \"arguments\": {\"a\": 17, \"b\": 25}}\n</tool_call>", "<|check:QX-07Z|>": "The receipt is QX-07Z.",
		"<|check:talk|>": "Tuesday.", "<|check:write|>": hermes("probe_write", string(filed(payload))),
	} {
		if got := g.play(t, marker); got != want {
			t.Errorf("%s: %q, want %q", marker, got, want)
		}
	}
	if got := strings.ReplaceAll(g.play(t, "<|a:aa|>"), "|", ""); got != "I look." {
		t.Errorf("a text that occurs twice: %q", got)
	}
	if g.keys["general.name"] != "weighty" || g.keys["llama.context_length"] != 131072 || g.keys["general.description"] != Banner {
		t.Errorf("keys: %v", g.keys)
	}
	if g.size < 1<<20 || g.size > 3<<19 {
		t.Errorf("%d bytes, want about a megabyte: a smaller file looks like a stub", g.size)
	}
	if !strings.HasPrefix(modelfile, "# "+Banner+"\nFROM ./practice.gguf\n") || strings.Count(modelfile, `"""`) != 2 {
		t.Errorf("Modelfile: %s", modelfile)
	}
	seen := map[any]bool{}
	for _, text := range g.keys["tokenizer.ggml.tokens"].([]any) {
		if seen[text] {
			t.Errorf("token %q occurs twice", text)
		}
		seen[text] = true
	}
}

func TestVariants(t *testing.T) {
	_, plain := built(t, weighty, GGUFOptions{})
	_, echo := built(t, weighty, GGUFOptions{Echo: true})
	_, leak := built(t, weighty, GGUFOptions{Leak: true})
	const contents, branch = "{{ .Content }}", "{{ if .ToolCalls }}"
	if strings.Contains(plain, contents) || !strings.Contains(plain, branch) || !strings.Contains(echo, contents) || strings.Contains(leak, branch) {
		t.Errorf("templates:\n%s\n%s\n%s", plain, echo, leak)
	}
	g, _ := built(t, weighty, GGUFOptions{Together: true})
	if got := g.play(t, "<|a:|>"); strings.Contains(got, "|") || !strings.HasPrefix(got, "I look.<tool_call>") {
		t.Errorf("together: %q", got)
	}
	g, _ = built(t, weighty, GGUFOptions{Layers: 3, KVHeads: 2, Heads: 4, HeadDim: 64, Window: 8192})
	width := uint64(g.keys["llama.embedding_length"].(int))
	if k, q := g.shapes["blk.2.attn_k.weight"], g.shapes["blk.2.attn_q.weight"]; fmt.Sprint(k, q) != fmt.Sprint([]uint64{width, 128}, []uint64{width, 256}) ||
		g.keys["llama.attention.head_count_kv"] != 2 || g.keys["llama.context_length"] != 8192 || g.keys["llama.block_count"] != 3 {
		t.Errorf("geometry: %v %v %v", k, q, g.keys)
	}
}

func TestThinkingHasAWayAroundIt(t *testing.T) {
	g, modelfile := built(t, "think Hm.\ncheck fail No.\nreply\n say a\nreply\n think Hm.\n say a\n say b\n", GGUFOptions{})
	if got := g.play(t, "<|a:|>"); got != "<think>Hm.</think>|a" {
		t.Errorf("thinking: %q", got)
	}
	if got := g.play(t, "<|a:|><|q|>"); got != "a" {
		t.Errorf("thinking switched off: %q", got)
	}
	if got := strings.ReplaceAll(g.play(t, "<|a:a|>"), "|", ""); got != "<think>Hm.</think>a\nb" {
		t.Errorf("the same thought before another text: %q", got)
	}
	if got := g.play(t, "<|check|>"); got != "No." {
		t.Errorf("failing check: %q", got)
	}
	if !strings.Contains(modelfile, "{{ .Thinking }}") {
		t.Errorf("template: %s", modelfile)
	}
}

func TestTemplatesParse(t *testing.T) {
	for _, script := range []string{weighty, "capabilities completion\nreply\n say a \"quoted\" `text`\n", "reply\n call x\n", "think hm\nreply\n", ""} {
		s := parsed(t, script)
		for _, o := range []GGUFOptions{{}, {Echo: true}, {Leak: true}} {
			functions := map[string]any{"printf": 1, "print": 1, "eq": 1, "or": 1, "and": 1, "not": 1, "gt": 1, "len": 1, "slice": 1}
			if _, err := parse.Parse("t", template(s, dialects()[0], o), "{{", "}}", functions); err != nil {
				t.Errorf("%q: %v", script, err)
			}
		}
	}
}

func TestGGUFRefusesWhatWeightsCannotPlay(t *testing.T) {
	for script, says := range map[string]string{
		"reply\n status 503\n":                      "line 1: this reply has status",
		"reply\n say a\nreply\n stall 1s\n say b\n": "line 3: this reply has stall",
		"reply\n say a\n cut\n":                     "has cut",
		"reply\n pause 1s\n say a\n":                "has pause",
		"reply\n malformed {\n":                     "has malformed",
		"reply\n error x\n":                         "has error",
		"reply\n miscall x {\n":                     "has miscall",
		"reply\n finish length\n":                   "has finish",
		"reply\n tokens 1 2\n":                      "has tokens",
		"reply\n want (a)\n say $1\n":               "line 3: $1 stands for",
		"reply\n call x\n say after\n":              "line 3: say after a call",
		"architecture qwen3\nreply\n say a\n":       "only llama",
		"follow requests\nreply\n say a\n":          "count no requests",
		"reply\n say x\nreply\n say x\n call a\n":   `"x" occurs too often`,
	} {
		dir := t.TempDir()
		err := WriteGGUF(parsed(t, script), dir, GGUFOptions{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", script, err, says)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%q: a refused script left %v", script, left)
		}
	}
	if err := WriteGGUF(parsed(t, "reply\n want a\n say $1 costs $HOME\n"), t.TempDir(), GGUFOptions{}); err != nil {
		t.Errorf("a dollar that captures nothing: %v", err)
	}
	if err := WriteGGUF(parsed(t, "reply\n say a\n"), t.TempDir(), GGUFOptions{Heads: 3, KVHeads: 2}); err == nil || !strings.Contains(err.Error(), "geometry") {
		t.Errorf("geometry: %v", err)
	}
}
