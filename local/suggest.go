package local

import (
	"context"
	"time"

	"interpreter/probes"
)

// another names an installed model to try instead: one that this machine runs well before one that it can bear.
func (r *run) another(ctx context.Context, than string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	found, _ := candidates(ctx, r.installed(ctx), r.leastTrained())
	bearable := ""
	for _, c := range found {
		if SameModel(c.model.Name, than) {
			continue
		}
		name := "-m " + c.model.Name + ", which is installed and says that it can call tools"
		if !r.here(c.Address()) || judge(c.model, r.measured(ctx), Held{}, r.want()).Passes() {
			return name
		}
		if bearable == "" {
			bearable = name
		}
	}
	if len(r.servers) == 0 {
		return "name another model with -m"
	}
	if bearable != "" {
		return bearable
	}
	return pullCommand(r.servers[0].Provider, suggestion(r.measured(ctx))) + ", since no other installed model can do the work"
}

// installed lists what the servers have, as far as they say.
func (r *run) installed(ctx context.Context) []stock {
	var stocks []stock
	for _, s := range r.servers {
		if models, err := s.Models(ctx); err == nil {
			stocks = append(stocks, stock{s, models})
		}
	}
	return stocks
}

// suggestion is a model for a machine without any: the best that the catalogue has for it, or the smallest.
func suggestion(m probes.Machine) string {
	if best := Recommend(m, Held{}, Want{}, 1); len(best) > 0 {
		return best[0].Model.Name
	}
	smallest := catalogue()[0].Info
	for _, e := range catalogue() {
		if e.Status != Refused && e.Info.Size > 0 && e.Info.Size < smallest.Size {
			smallest = e.Info
		}
	}
	return smallest.Name
}
