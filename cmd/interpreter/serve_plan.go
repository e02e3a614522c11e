package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"interpreter/local"
	"interpreter/local/ollama"
	"interpreter/probes"
)

// servePlan is what a server is to be told, and why.
type servePlan struct {
	local.Serving
	model    string            // what it was chosen for, in words
	why      map[string]string // by the name of a setting
	warnings []string
}

// plan chooses the settings of a server of ours: for the wanted model, else the largest installed one that fits, else
// the one that is recommended here.
func (s *settings) plan(ctx context.Context, w world, f *flags, p local.Provider, q *serveWishes) servePlan {
	machine := w.machine(ctx, s.home, false)
	own := q.kv == "" && s.LocalKVCacheType == ""
	want := local.Want{
		Window: cmp.Or(int(q.window), s.ModelContextWindow), CacheType: local.CacheType(cmp.Or(q.kv, s.LocalKVCacheType)), Own: own,
		Images: true, Provider: p.Name(), // of no version until it is started, so as the newest
	}
	var out servePlan
	j, which := s.servedModel(w, f, machine, want, &out)
	out.Window, out.CacheType = cmp.Or(want.Window, j.Fit.Window, local.Floor), cmp.Or(j.Fit.Cache, want.CacheType, "f16")
	if j.Refusal != nil {
		out.warnings = append(out.warnings, j.Refusal.Text)
		if j.Refusal.Try != "" {
			out.warnings = append(out.warnings, "for another model: "+j.Refusal.Try)
		}
		out.Window = cmp.Or(want.Window, local.Floor)
	}
	fit := j.Fit
	fit.Window, fit.Cache = out.Window, out.CacheType
	out.HostCache = local.HostCacheFor(j.Model, fit, machine)
	if which != "" {
		out.model = j.Model.Name + ", " + which
	}
	if where := w.ofTheService(p); where != "" {
		out.warnings = append(out.warnings, where)
	}
	out.explain(j, q, s)
	return out
}

// servedModel is the model to choose settings for, and who chose it. A judgement without a name is of none.
func (s *settings) servedModel(w world, f *flags, machine probes.Machine, want local.Want, out *servePlan) (local.Judgement, string) {
	name, which := f.model, "named with -m"
	if name == "" {
		name, which = s.Model, "configured "+s.Said("-m", "model")
	}
	stored := ollama.Stored(w.modelFolder("ollama"))
	if name != "" {
		for _, m := range stored {
			if !local.SameModel(m.Name, name) {
				continue
			}
			info, err := m.Info()
			if err == nil {
				return local.Judge(known(info), machine, local.Held{}, want), which
			}
			out.warnings = append(out.warnings, err.Error())
		}
		if entry, ok := local.Lookup(name); ok {
			entry.Info.Name = name
			return local.Judge(entry.Info, machine, local.Held{}, want), which
		}
		out.warnings = append(out.warnings, fmt.Sprintf("%s is neither installed nor in the catalogue: the settings are for an unknown model", name))
		return local.Judgement{}, ""
	}
	var best local.Judgement
	for _, m := range stored {
		if info, err := m.Info(); err == nil {
			if j := local.Judge(known(info), machine, local.Held{}, want); j.Passes() && j.Model.Size > best.Model.Size {
				best = j
			}
		}
	}
	if best.Model.Size > 0 {
		return best, "the largest installed one that fits"
	}
	if all := local.Recommend(machine, local.Held{}, want, 1); len(all) > 0 {
		return all[0].Judgement, "recommended for this machine"
	}
	return local.Judgement{}, ""
}

// known adds to what a file tells of a model what the catalogue knows better: the context that its vendor names, and
// whether it calls tools.
func known(m local.ModelInfo) local.ModelInfo {
	if entry, ok := local.Lookup(m.Name); ok {
		if entry.Info.Trained > 0 {
			m.Trained = min(cmp.Or(m.Trained, entry.Info.Trained), entry.Info.Trained)
		}
		if len(m.Capabilities) == 0 {
			m.Capabilities = entry.Info.Capabilities
		}
	}
	return m
}

// ofTheService warns that the models of the system's own service are not those of a server of this account.
func (w world) ofTheService(p local.Provider) string {
	const service = "/usr/share/ollama/.ollama/models"
	if p.Name() != "ollama" || w.env("OLLAMA_MODELS") != "" || there(filepath.Join(w.userHome(), ".ollama", "models")) {
		return ""
	}
	if _, err := os.Stat(service); err != nil {
		return ""
	}
	return "the models that the ollama service has are in " + service + "; this server has its own, unless it is started with OLLAMA_MODELS=" + service
}

// explain words why each setting is as it is.
func (p *servePlan) explain(j local.Judgement, q *serveWishes, s *settings) {
	window := "the least that an agent needs"
	switch {
	case q.window > 0:
		window = "as you said"
	case s.ModelContextWindow > 0:
		window = "said " + s.Said("", "model_context_window")
	case j.Passes() && j.Model.Name != "":
		window = fmt.Sprintf("fits %s: %s of %s", cmp.Or(string(j.Fit.Place), "this machine"), local.Bytes(j.Fit.Need), local.Bytes(j.Fit.Room))
	}
	if j.Passes() && j.Model.Name != "" && j.Fit.Window < p.Window && j.Fit.Window > 0 {
		p.warnings = append(p.warnings, fmt.Sprintf("%s does not fit with %d tokens here, but with %d", j.Model.Name, p.Window, j.Fit.Window))
	}
	kind := "the most exact one, and it holds all that is wanted"
	switch {
	case q.kv != "":
		kind = "as you said"
	case s.LocalKVCacheType != "":
		kind = "said " + s.Said("", "local_kv_cache_type")
	case p.CacheType != "f16":
		kind = "half the memory: with f16 less than 128k tokens fit"
	case j.Fit.Place == local.OnCPU:
		kind = "q8_0 would slow the processor down"
	}
	p.why = map[string]string{
		"OLLAMA_HOST":              "where it listens",
		"OLLAMA_CONTEXT_LENGTH":    window + "; for programs that name no window",
		"OLLAMA_KV_CACHE_TYPE":     kind,
		"OLLAMA_FLASH_ATTENTION":   "a long window takes far less memory with it",
		"OLLAMA_NUM_PARALLEL":      "each further conversation would take a window of its own",
		"OLLAMA_MAX_LOADED_MODELS": "a second model would take the memory of the first",
		"OLLAMA_NO_CLOUD":          "nothing leaves this machine",
		"LLAMA_ARG_CACHE_RAM":      "MiB of main memory for prompts set aside, two of this window at most (Ollama from 0.30)",
	}
}

// tellServing says what runs, with what, why, and how to use it.
func (s *settings) tellServing(ctx context.Context, w world, p local.Provider, plan servePlan, started local.Started) error {
	version := ""
	if now, err := s.built(w, p.Name(), started.Address); err == nil {
		version, _ = now.Version(ctx)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s serves at %s\n", strings.TrimSpace(p.Name()+" "+version), started.Address)
	t := &table{heads: []string{"", "", ""}}
	if plan.model != "" {
		t.add("  for", plan.model)
	}
	_ = t.write(&b)
	t = &table{heads: []string{"", ""}}
	for _, name := range slices.Sorted(maps.Keys(started.Environ)) {
		why := plan.why[name]
		if was := w.env(name); was != "" && was != started.Environ[name] {
			why += fmt.Sprintf(" (your environment has %s)", unlocked(was))
		}
		t.add("  "+name+"="+started.Environ[name], why)
	}
	_ = t.write(&b)
	if len(started.Environ) == 0 {
		fmt.Fprintf(&b, "  %s keeps the window and the number format of keys and values in its own settings; nothing was told to it\n", p.Name())
	}
	if len(started.Environ) > 0 {
		fmt.Fprintf(&b, "  process id %d, log %s\n", started.PID, plan.Log)
	}
	fmt.Fprintf(&b, "use it: %s\n", s.useLine(w, p, started.Address))
	stop := "lms server stop"
	if p.Name() == "ollama" {
		stop = "interpreter serve --stop"
		if len(servings(s.home)) > 1 {
			stop += " --port " + local.PortOf(started.Address)
		}
	}
	if plan.Detach {
		fmt.Fprintf(&b, "it runs on; end it: %s\n", stop)
	} else {
		fmt.Fprintln(&b, "Ctrl-C ends it")
	}
	_, err := fmt.Fprint(w.stdout, harmless(b.String()))
	return err
}

// useLine is what a person types to use a server.
func (s *settings) useLine(w world, p local.Provider, address string) string {
	const command = `interpreter exec "your task"`
	usual, err := s.provider(w, p.Name(), true)
	switch {
	case err == nil && sameAddress(usual.Address(), address):
		return command
	case p.Name() == "ollama" && s.Origin("model_providers", "ollama", "base_url") == "" && w.env("CODEX_OSS_BASE_URL")+w.env("CODEX_OSS_PORT") == "":
		return "OLLAMA_HOST=" + strings.TrimPrefix(address, "http://") + " " + command
	}
	return fmt.Sprintf(`interpreter exec -c model_providers.%s.base_url=%s "your task"`, p.Name(), address)
}
