package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/probes"
)

// clouded is a server that says whether it may pass on what it is told.
type clouded interface {
	Cloud(ctx context.Context) (on, known bool, err error)
}

// up are the servers that answer.
func (s stock) up() []*server {
	var up []*server
	for _, one := range s.servers {
		if one.Err == nil {
			up = append(up, one)
		}
	}
	return up
}

// findServers is who answers, in which version, and what is in its memory now.
func (s *settings) findServers(ctx context.Context, w world, all stock, machine probes.Machine) []finding {
	var found []finding
	up := all.up()
	anyInstalled := slices.ContainsFunc(all.servers, func(one *server) bool { return one.here && w.installed(one.Name()) })
	for i, one := range all.servers {
		if one.Err != nil {
			found = append(found, s.silent(w, one, up, i == 0 && !anyInstalled || one.Name() == s.ModelProvider))
			continue
		}
		found = append(found, s.findServer(one, all))
		found = append(found, findLoaded(one, machine)...)
		found = append(found, s.findCache(one))
		if cloudy, can := one.Provider.(clouded); can {
			on, known, err := cloudy.Cloud(ctx)
			switch name := one.Name() + " cloud"; {
			case err != nil || !known:
			case on:
				found = append(found, warn(name, "OLLAMA_NO_CLOUD=1 in the environment of the server; a server of interpreter serve has it",
					"not switched off: the server can pass on what a model on its vendor's machines is told; a run uses one only when it is named"))
			default:
				found = append(found, ok(name, "switched off at the server"))
			}
		}
	}
	if len(all.servers) == 0 {
		found = append(found, fail("server", "set oss_provider in config.toml, or name one with --local-provider", "no model server is configured"))
	}
	return found
}

// silent is about a server that does not answer. It matters when no other one does, or when it is the chosen one; first
// is the one to install when none is.
func (s *settings) silent(w world, one *server, up []*server, first bool) finding {
	var failure *chat.Error
	if !errors.As(one.Err, &failure) || failure.Kind != chat.Unreachable {
		text := fmt.Sprintf("something answers at %s, but not as it should: %v", one.Address(), one.Err)
		if len(up) == 0 || one.Name() == s.ModelProvider {
			return fail(one.Name(), orElse(remedyOf(one.Err), "check the address"), "%s", text)
		}
		return warn(one.Name(), orElse(remedyOf(one.Err), "check the address"), "%s", text)
	}
	text := "not running at " + one.Address()
	if len(up) > 0 && one.Name() != s.ModelProvider {
		return ok(one.Name(), "%s; %s answers", text, up[0].Name())
	}
	guide, can := one.Provider.(local.Guide)
	starter, starts := one.Provider.(local.Starter)
	switch {
	case !can || !one.here:
		return fail(one.Name(), "check the address", "%s", text)
	case !starts || w.installed(one.Name()) || starter.Install(runtime.GOOS) == "":
		remedy := guide.StartCommand()
		if one.Name() == "ollama" {
			remedy = "interpreter serve, or " + remedy
		}
		return fail(one.Name(), remedy, "%s", text)
	case first:
		return fail(one.Name(), "install it: "+starter.Install(runtime.GOOS), "%s; its program is not installed", text)
	}
	return ok(one.Name(), "not installed")
}

// installed reports whether the program of a built-in server is on this machine.
func (w world) installed(id string) bool {
	switch id {
	case "ollama":
		_, err := exec.LookPath(id)
		return err == nil || w.ollamaProgram() != ""
	case "lmstudio":
		return w.lms() != nil
	}
	return false
}

// findServer is a server that answers.
func (s *settings) findServer(one *server, all stock) finding {
	installed := 0
	for _, m := range all.models {
		if m.server == one {
			installed++
		}
	}
	text := fmt.Sprintf("%s at %s, %s", one.Version, one.Address(), counted(installed, "model"))
	switch {
	case one.outside:
		text += "; no process of this system listens there, so its machine may be another one and what fits it cannot be judged here"
	case !one.here:
		text += ", on another machine: what fits it cannot be judged here"
	}
	if one.fault != nil {
		return fail(one.Name(), orElse(remedyOf(one.fault), "look at the server's log"), "%s answers at %s, but does not tell its models: %v", one.Version, one.Address(), one.fault)
	}
	if guide, can := one.Provider.(local.Guide); can {
		if advice := guide.Advise(one.Version); advice != "" {
			remedy := "update it"
			if starter, can := one.Provider.(local.Starter); can && one.here && starter.Install(runtime.GOOS) != "" {
				remedy = "update it: " + starter.Install(runtime.GOOS) + "; then start it again"
			}
			return warn(one.Name(), remedy, "%s; %s", text, advice)
		}
	}
	return ok(one.Name(), "%s", text)
}

// mostOnCPU is the share of a model on the processor from which the GPU is wasted on it.
const mostOnCPU = 0.2

// findLoaded is what a server has in memory, with the window that it really has.
func findLoaded(one *server, machine probes.Machine) []finding {
	name := one.Name() + " loaded"
	if len(one.loaded) == 0 && one.fault == nil {
		if one.settled() { // it has what it was started with, and some do not say how
			return []finding{warn(name, "-c model_context_window=N, with the window that it was started with", "the server does not tell with what window it serves its models")}
		}
		return []finding{ok(name, "nothing")}
	}
	var found []finding
	for _, r := range one.loaded {
		var parts []string
		if r.Window > 0 {
			parts = append(parts, fmt.Sprintf("a window of %d tokens", r.Window))
		} else {
			parts = append(parts, "a window that the server does not tell")
		}
		if r.Slots > 0 {
			parts = append(parts, counted(r.Slots, "slot"))
		}
		slow := false
		if r.Size > 0 {
			parts = append(parts, local.Bytes(r.Size))
			rest := float64(r.Size-r.VRAM) / float64(r.Size)
			if !r.Guessed {
				switch {
				case rest <= 0:
					parts = append(parts, "all of it on the GPU")
				case r.VRAM == 0:
					parts = append(parts, "all of it on the processor")
				default:
					parts = append(parts, fmt.Sprintf("%.0f%% of it on the processor", 100*rest))
				}
				slow = rest > mostOnCPU && (r.VRAM > 0 || one.here && len(machine.GPUs) > 0)
			}
		}
		if left := time.Until(r.Until); !r.Until.IsZero() && left > 0 {
			if left > 365*24*time.Hour {
				parts = append(parts, "kept for good")
			} else {
				parts = append(parts, "kept for another "+roughly(left))
			}
		}
		text := r.Name + ": " + strings.Join(parts, ", ")
		switch {
		case r.Window > 0 && r.Window < local.Floor:
			ways := []string{"--reload in the next run"}
			if counsel, can := one.Provider.(local.Counsel); can {
				ways = append(ways, counsel.Share(r.Name, local.Floor)...)
			}
			found = append(found, warn(name, strings.Join(ways, ", or "), "%s; an agent needs %d", text, local.Floor))
		case slow:
			found = append(found, warn(name, "a smaller model or window: interpreter fit shows what is wholly on the GPU", "%s, which is slow", text))
		case r.Slots > 1:
			found = append(found, warn(name, "load it with one slot: the window may be paid for each", "%s", text))
		default:
			found = append(found, ok(name, "%s", text))
		}
	}
	return found
}

// roughly is a time for people.
func roughly(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f seconds", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
	return fmt.Sprintf("%.0f hours", d.Hours())
}

// findCache is the number format of keys and values, which no server tells.
func (s *settings) findCache(one *server) finding {
	name := one.Name() + " kv"
	said := local.CacheType(s.LocalKVCacheType)
	ours, own := servingAt(s.home, one.Address())
	switch {
	case own && said != "" && said != ours.KV:
		return warn(name, "take local_kv_cache_type out of the configuration", "%s, as interpreter serve told it (process id %d); %s, said %s, counts for other servers", ours.KV, ours.PID, said, s.Said("", "local_kv_cache_type"))
	case own:
		return ok(name, "%s, as interpreter serve told it (process id %d), with one slot, and %d tokens for programs that name none", ours.KV, ours.PID, ours.Window)
	case said != "":
		return ok(name, "%s, as said %s; it cannot be read from the server", said, s.Said("", "local_kv_cache_type"))
	}
	return ok(name, "cannot be read from the server, assumed f16; local_kv_cache_type in config.toml says otherwise")
}

// findModel is the model that a run would take: whether it fits, how, and whether it has called a tool.
func (s *settings) findModel(ctx context.Context, f *flags, all stock, machine probes.Machine) []finding {
	name, who := f.model, "named with -m"
	if name == "" {
		name, who = s.Model, "configured "+s.Said("-m", "model")
	}
	if name == "" {
		return s.findBest(ctx, all, machine)
	}
	m, err := s.ofRun(all, name)
	switch {
	case err == nil:
		return s.judged(ctx, m, who, machine)
	case len(all.up()) > 0:
		remedy := "interpreter models pull " + name
		if _, known := local.Lookup(name); !known {
			remedy = orElse(remedyOf(err), remedy)
		}
		return []finding{fail("model", remedy, "%s, %s: not installed on any server that answers", name, who)}
	}
	entry, known := local.Lookup(name)
	if !known {
		return []finding{warn("model", "start its server, and ask again", "%s, %s: nothing is known of it while no server answers", name, who)}
	}
	return []finding{fits(local.Judge(entry.Info, machine, local.Held{}, s.want("")), who+", by the catalogue")}
}

// want is what a session would ask of a server at an address, with room for pictures, as a run leaves it.
func (s *settings) want(address string) local.Want {
	return local.Want{Window: s.ModelContextWindow, CacheType: s.cacheAt(address), Images: true}
}

// judge is what this machine makes of a model at its server, which gives up what it holds itself and nothing of another's.
func (s *settings) judge(m local.ModelInfo, at *server, machine probes.Machine) local.Judgement {
	want := s.want(at.Address()).OnServer(at.Server, m, at.loaded, s.lessons())
	return local.Judge(m, machine, local.HeldBy(at.loaded), want)
}

// ofRun is an installed model of a name: at the chosen server, else at the first that has it, as in a run.
func (s *settings) ofRun(all stock, name string) (have, error) {
	for _, m := range all.models {
		if local.SameModel(m.Name, name) && (s.ModelProvider == "" || m.server.Name() == s.ModelProvider) {
			return m, nil
		}
	}
	return all.find(name)
}

// judged is an installed model.
func (s *settings) judged(ctx context.Context, m have, who string, machine probes.Machine) []finding {
	whole, err := m.whole(ctx)
	if err != nil {
		return []finding{fail("model", orElse(remedyOf(err), "interpreter models pull "+m.Name), "%s, %s: %v", m.Name, who, err)}
	}
	if whole.RemoteHost != "" || local.LooksRemote(m.Name) {
		return []finding{warn("model", "a model of this machine: interpreter fit", "%s, %s: runs on %s, not on this machine", m.Name, who, cmp.Or(whole.RemoteHost, "its vendor's machines"))}
	}
	at := m.server
	if !at.here || at.settled() {
		return []finding{ok("model", "%s, %s: its server decides whether it fits", m.Name, who), s.proven(whole, at)}
	}
	return []finding{fits(s.judge(whole, at, machine), who), s.proven(whole, at)}
}

// fits is a judgement in one line.
func fits(j local.Judgement, who string) finding {
	if r := j.Refusal; r != nil {
		found := fail("model", orElse(r.Try, "interpreter fit"), "%s, %s: %s", j.Model.Name, who, r.Text)
		if bearable(j) {
			found.State, found.Text = warning, found.Text+"; a run takes it all the same"
		}
		return found
	}
	text := fmt.Sprintf("%s, %s: %s", j.Model.Name, who, j.Verdict)
	most := ""
	if j.Fit.Bound {
		most = "at most "
	}
	text += fmt.Sprintf(", %s with keys and values in %s: %s%s of %s", windowOf(j.Fit.Window), kvOf(j), most, local.Bytes(j.Fit.Need), local.Bytes(j.Fit.Room))
	if speed := j.Fit.Speed; speed.Fresh > 0 {
		text += fmt.Sprintf("; about %s tokens a second (%s)", rate(speed.Fresh), speedOf(j))
	}
	if len(j.Fit.Warnings) > 0 {
		return warn("model", "interpreter fit shows what suits this machine better", "%s; %s", text, strings.Join(j.Fit.Warnings, "; "))
	}
	return ok("model", "%s", text)
}

// bearable reports a model that a run takes: one that has room, however slow it is.
func bearable(j local.Judgement) bool { return j.Passes() || j.Refusal.Code == local.TooSlow }

// proven is what a tool check has shown of a model.
func (s *settings) proven(m local.ModelInfo, at *server) finding {
	verdict, when, kept := local.Kept(s.verdictFile(), at.Name(), m, time.Now())
	if !kept {
		return warn("tool check", "interpreter models check "+m.Name, "%s is not checked yet: the first run does it, and takes longer", m.Name)
	}
	return ok("tool check", "%s, on %s", says(verdict), when.Local().Format("2 January 2006"))
}

// findBest is what a run would choose when nobody has named a model: the largest installed one that calls tools and
// fits. Without any it is what to download.
func (s *settings) findBest(ctx context.Context, all stock, machine probes.Machine) []finding {
	const who = "the largest installed one that fits"
	var best have
	var refusals int
	for _, m := range all.models {
		whole, err := m.whole(ctx)
		if err != nil || whole.RemoteHost != "" || local.LooksRemote(m.Name) || s.ModelProvider != "" && m.server.Name() != s.ModelProvider {
			continue
		}
		if m.server.here && !m.server.settled() && !bearable(s.judge(whole, m.server, machine)) || len(whole.Capabilities) > 0 && !whole.Can("tools") {
			refusals++
			continue
		}
		if best.server == nil || m.Size > best.Size {
			best = m
		}
	}
	if best.server != nil {
		return s.judged(ctx, best, who, machine)
	}
	text, remedy := "none is configured and none is installed", "interpreter fit shows what this machine can run"
	if refusals > 0 {
		text = fmt.Sprintf("none is configured, and of %s installed none fits or calls tools", counted(refusals, "model"))
	}
	if len(all.up()) == 0 {
		text = "none is configured, and no server answers that would have one"
	}
	if r := local.Recommend(machine, all.held(), s.want(""), 1); len(r) > 0 {
		remedy = fmt.Sprintf("interpreter models pull %s, %s: the best for this machine", r[0].Model.Name, gb(r[0].Model.Size))
	}
	return []finding{fail("model", remedy, "%s", text)}
}
