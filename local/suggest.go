package local

import (
	"context"
	"time"

	"interpreter/probes"
)

// another names an installed model to try instead.
func (r *run) another(ctx context.Context, than string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var stocks []stock
	for _, s := range r.servers {
		if models, err := s.Models(ctx); err == nil {
			stocks = append(stocks, stock{s, models})
		}
	}
	found, _ := candidates(ctx, stocks)
	for _, c := range found {
		if !SameModel(c.model.Name, than) {
			return "-m " + c.model.Name + ", which is installed and says that it can call tools"
		}
	}
	if len(r.servers) == 0 {
		return "name another model with -m"
	}
	return "no other installed model can do the work; " + pullCommand(r.servers[0].Provider, suggestion(r.measured(ctx)))
}

// suggestions are models that call tools and hold the floor, by the memory that one of them needs with it.
var suggestions = [...]struct {
	bytes int64
	name  string
}{
	{27 * gib, "qwen3.6:35b"},
	{21 * gib, "qwen3.6:27b"},
	{15 * gib, "gpt-oss:20b"},
	{10 * gib, "qwen3.5:9b"},
	{0, "qwen3.5:4b"},
}

// suggestion is a model for a machine without any.
func suggestion(m probes.Machine) string {
	var most int64
	for _, r := range rooms(m, Held{}, driver) {
		most = max(most, r.bytes)
	}
	for _, s := range suggestions {
		if most >= s.bytes {
			return s.name
		}
	}
	return suggestions[len(suggestions)-1].name
}
