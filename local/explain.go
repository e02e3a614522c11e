package local

import (
	"fmt"
	"strings"
)

// because is the sentence of a recommendation: what sets it apart among those chosen, where it runs and how fast.
func because(i int, chosen []Judgement) string {
	j := chosen[i]
	fastest, longest, largest := true, true, true
	for k, other := range chosen {
		if k == i {
			continue
		}
		fastest = fastest && j.Fit.Speed.Deep > other.Fit.Speed.Deep
		longest = longest && j.Fit.Window > other.Fit.Window
		largest = largest && j.Model.Size > other.Model.Size
	}
	lead := "Another family of models, in case the first does not suit your work"
	switch {
	case len(chosen) == 1:
		lead = "The one that can do the work here"
	case i == 0 && fastest:
		lead = "The best match for this much memory, and the fastest of these"
	case i == 0:
		lead = "The best match for this much memory"
	case largest && fastest:
		lead = "The largest and also the fastest of these"
	case fastest:
		lead = "The fastest of these"
	case largest:
		lead = "The largest of these, which often means the most able"
	case longest:
		lead = "It keeps the most of a conversation in mind"
	case family(j) == family(chosen[0]):
		lead = "A relative of the first"
	}
	where := map[string]string{
		FullGPU: "it fits your GPU", MultiGPU: "it fits your GPUs together",
		ExpertOffload:  "part of it waits in main memory, which slows this kind of model only a little",
		PartialOffload: "part of it runs on the processor, which is slow",
		CPUOnly:        "it runs on the processor alone",
	}[j.Verdict]
	switch {
	case j.Fit.Place == OnUnified:
		where = "it fits the memory that the GPU shares"
	case j.Verdict == FullGPU && j.Fit.Room-j.Fit.Need > 2*gib:
		where += " with room to spare"
	}
	words := j.Fit.Speed.Deep * 3 / 4 // a word of prose is a token and a third
	pace := fmt.Sprintf("about %.0f words a second", words)
	if words < 10 {
		pace = fmt.Sprintf("about %.0f words a second, so give it time", max(words, 1))
	}
	return fmt.Sprintf("%s: %s; it writes %s.", lead, where, pace)
}

// Explain is the sum of a judgement, line by line: what each part takes, what there is, and how fast that will be.
// Amounts are in GiB, and add up to what is needed. Nothing is said of a model that was refused before its memory was
// looked at.
func (j Judgement) Explain() []string {
	f, s := j.Fit, j.Fit.Sum
	var out []string
	if s.Weights == 0 {
		return nil
	}
	line := func(bytes int64, what string, note string, args ...any) {
		text := fmt.Sprintf("%8.2f GiB  %-18s", float64(bytes)/gib, what)
		if note != "" {
			text += fmt.Sprintf(note, args...)
		}
		out = append(out, strings.TrimRight(text, " "))
	}
	size, embeddings := j.Model.Size, j.Model.Geometry.OnCPU
	if f.Place == OnCPU {
		embeddings = 0
	}
	if embeddings > 0 {
		line(s.Weights-embeddings, "weights", "%.1f GB of files, less %.2f GiB of embeddings that stay in main memory", float64(size)/1e9, float64(embeddings)/gib)
	} else {
		line(s.Weights, "weights", "%.1f GB of files", float64(size)/1e9)
	}
	kind := f.Cache
	if kind == "" {
		kind = "f16"
	}
	line(s.Cache, "keys and values", "%s for %d tokens in %s", j.perToken(), f.Window, kind)
	if s.State > 0 {
		line(s.State, "states", "of recurrent layers, whatever the window")
	}
	line(s.Compute, "compute", "room for the arithmetic of %d tokens at a time", microBatch)
	masks := int64(0)
	if f.Place == OnCPU && s.Masks > 0 {
		masks = s.Masks
		line(masks, "masks", "which token sees which, kept by this server's own engine")
	}
	if s.Projector > 0 {
		line(s.Projector, "pictures", "the projector and its working space")
	}
	if s.Driver > 0 {
		line(s.Driver, "driver", "its own needs on the GPU")
	}
	total := s.Weights - embeddings + s.Cache + s.State + s.Compute + s.Projector + s.Driver + masks
	if off := f.Need - total; total > 0 && f.Need > 0 && (off > mib || off < -mib) {
		line(off, "correction", "earlier loads at this server took %.2f times what was predicted", float64(f.Need)/float64(total))
	}
	if f.Bound {
		line(f.Need, "needed", "at most, in %s", f.Place)
	} else {
		line(f.Need, "needed", "in %s", f.Place)
	}
	line(f.Room, "usable", "%s", j.usable())
	if f.Place != OnCPU && f.Main > 0 {
		what := "beside it: embeddings and buffers"
		if f.Place == OnBoth {
			what = "of this and beside it: what the GPU has no room for, embeddings and buffers"
		}
		line(f.Main, "main memory", "%s", what)
	}
	if s.HostCache > 0 {
		line(s.HostCache, "prompts set aside", "in main memory, by the server")
	}
	if f.Speed.Fresh > 0 {
		out = append(out, fmt.Sprintf("%8.1f tokens a second at the start, %.1f at %d tokens (%s)", f.Speed.Fresh, f.Speed.Deep, min(deep, f.Window), f.Speed.Class))
	}
	if f.Speed.First > 0 {
		out = append(out, fmt.Sprintf("%8.0f seconds until the first token of a session, a guess until it is measured (%s)", f.Speed.First, f.Speed.FirstClass()))
	}
	return append(out, "confidence: "+j.Confidence)
}

// perToken is what a token adds to keys and values.
func (j Judgement) perToken() string {
	g := j.Model.Geometry
	if !g.Known() {
		return "at most, since its layers are not known,"
	}
	const far = 1 << 20 // beyond every sliding window
	step := g.Cache(far+granule, j.Fit.Cache) - g.Cache(far, j.Fit.Cache)
	return fmt.Sprintf("%.4g KiB a token", float64(step)/granule/kib)
}

// usable says how the room came about.
func (j Judgement) usable() string {
	p := j.pool
	switch {
	case j.Fit.Place == OnBoth:
		return fmt.Sprintf("%.2f on the GPU (%s), the rest in main memory", float64(p.bytes)/gib, p.how)
	case j.Fit.Room < p.bytes:
		return p.how + ", and less what the server sets aside"
	}
	return p.how
}
