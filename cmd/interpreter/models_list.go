package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"interpreter/local"
	"interpreter/probes"
)

// listing is what models list says, for programs.
type listing struct {
	Models  []listed   `json:"models"`
	Servers []serverOf `json:"servers"`
}

type listed struct {
	Name         string     `json:"name"`
	Provider     string     `json:"provider"`
	Size         int64      `json:"size"` // bytes
	Quantization string     `json:"quantization,omitempty"`
	Trained      int        `json:"trained,omitempty"` // tokens
	Window       int        `json:"window,omitempty"`  // tokens that fit here
	Verdict      string     `json:"verdict"`           // of fit; "elsewhere", "loaded", "unknown"
	Reason       string     `json:"reason,omitempty"`
	Tools        *bool      `json:"tools,omitempty"` // as the server declares
	Checked      *checkedOf `json:"checked,omitempty"`
	Loaded       *loadedOf  `json:"loaded,omitempty"`
	Capabilities []string   `json:"capabilities,omitempty"`
	judged       local.Judgement
}

type checkedOf struct {
	Verdict string    `json:"verdict"`
	When    time.Time `json:"when"`
}

type loadedOf struct {
	Window int   `json:"window,omitempty"` // tokens
	Size   int64 `json:"size,omitempty"`   // bytes in all memories
	VRAM   int64 `json:"vram,omitempty"`   // bytes of those on GPUs
}

type serverOf struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Version string `json:"version,omitempty"`
	Error   string `json:"error,omitempty"`
	Remedy  string `json:"remedy,omitempty"`
	Start   string `json:"start,omitempty"` // the command
	absent  bool
}

// trouble is what is wrong with a server, in one line.
func (s serverOf) trouble() string {
	switch {
	case !s.absent && s.Remedy != "":
		return fmt.Sprintf("%s at %s: %s; try: %s", s.Name, s.Address, s.Error, s.Remedy)
	case !s.absent:
		return fmt.Sprintf("%s at %s: %s", s.Name, s.Address, s.Error)
	case s.Start != "":
		return fmt.Sprintf("%s is not there: no answer at %s; start it with: %s", s.Name, s.Address, s.Start)
	}
	return fmt.Sprintf("%s is not there: no answer at %s", s.Name, s.Address)
}

// listModels shows what every reachable server has.
func (w world) listModels(ctx context.Context, f *flags, asJSON bool) error {
	s, err := w.settings(f, choices{})
	if err != nil {
		return err
	}
	var machine probes.Machine
	var measuring sync.WaitGroup
	measuring.Go(func() { machine = w.machine(ctx, s.home, false) })
	all, err := s.wanted(ctx, w, f)
	measuring.Wait()
	if err != nil {
		return err
	}
	out := s.list(ctx, all, machine)
	if err := ctx.Err(); err != nil {
		return err
	}
	if asJSON {
		if err := writeJSON(w.stdout, out); err != nil {
			return err
		}
		if all.silent() != nil {
			return exited(exitFailed)
		}
		return nil
	}
	for _, text := range s.warnings {
		fmt.Fprintln(w.stderr, "warning: "+harmless(text))
	}
	return s.tellModels(w, out, all, machine)
}

// list looks at every model, four at a time.
func (s *settings) list(ctx context.Context, all stock, machine probes.Machine) listing {
	out := listing{Models: make([]listed, len(all.models)), Servers: []serverOf{}}
	verdicts := s.verdictFile()
	var wait sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, m := range all.models {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			out.Models[i] = s.look(ctx, m, machine, verdicts)
		})
	}
	wait.Wait()
	for _, one := range all.servers {
		told := serverOf{Name: one.Name(), Address: one.Address(), Version: one.Version}
		if err := cmp.Or(one.Err, one.fault); err != nil {
			told.Error, told.Remedy = err.Error(), remedyOf(err)
		}
		if guide, ok := one.Provider.(local.Guide); ok && one.absent() && one.here {
			told.Start = guide.StartCommand()
		}
		told.absent = one.absent()
		out.Servers = append(out.Servers, told)
	}
	return out
}

// lessons are the files of what earlier runs have learnt.
func (s *settings) lessons() local.Lessons {
	return local.Lessons{Verdicts: s.verdictFile(), Loads: filepath.Join(s.home, "loads.json")}
}

// look judges one installed model for this machine, or for its server's when that is another one.
func (s *settings) look(ctx context.Context, have have, machine probes.Machine, verdicts string) listed {
	m, err := have.whole(ctx)
	if err != nil {
		m = have.ModelInfo
	}
	row := listed{
		Name: m.Name, Provider: have.server.Name(), Size: m.Size, Quantization: m.Quantization, Trained: m.Trained,
		Verdict: "unknown", Capabilities: m.Capabilities,
	}
	if len(m.Capabilities) > 0 {
		tools := m.Can("tools")
		row.Tools = &tools
	}
	if r, ok := have.resident(); ok {
		row.Loaded = &loadedOf{Window: r.Window, Size: r.Size, VRAM: r.VRAM}
	}
	if kept, when, ok := local.Kept(verdicts, have.server.Name(), m, time.Now()); ok {
		row.Checked = &checkedOf{string(kept), when}
	}
	switch {
	case err != nil:
		row.Reason = err.Error()
	case m.RemoteHost != "" || local.LooksRemote(m.Name):
		row.Verdict, row.Reason = "elsewhere", "it runs on "+cmp.Or(m.RemoteHost, "the vendor's machines")
	case !have.server.here:
		row.Reason = "its server is on another machine"
	default:
		row.judged = s.judge(m, have.server, machine)
		row.Verdict, row.Reason, row.Window = row.judged.Verdict, reasonOf(row.judged), row.judged.Fit.Window
		if row.judged.Refusal != nil {
			row.Window = 0
		}
		row.proven()
	}
	return row
}

// proven lets a model that is in memory with a window to work with stand against a prediction that it does not fit.
func (m *listed) proven() {
	refusal := m.judged.Refusal
	if refusal == nil || m.Loaded == nil || m.Loaded.Window < local.NearFloor {
		return
	}
	if refusal.Code != local.TooBig && refusal.Code != local.TooSlow {
		return
	}
	m.Verdict, m.Window, m.judged = "loaded", m.Loaded.Window, local.Judgement{}
	m.Reason = fmt.Sprintf("it is in memory with a window of %d tokens", m.Window)
}

// tellModels is the list at a glance.
func (s *settings) tellModels(w world, out listing, all stock, machine probes.Machine) error {
	t := &table{heads: []string{"NAME", "PROVIDER", ">SIZE", "QUANT", ">TRAINED", ">FITS HERE", "VERDICT", "LOADED", "TOOLS"}}
	for _, m := range out.Models {
		t.add(m.Name, m.Provider, gb(m.Size), m.Quantization, kTokens(m.Trained), kTokens(m.Window), m.verdict(), m.loaded(), m.tools())
	}
	if len(out.Models) > 0 {
		if err := t.write(w.stdout); err != nil {
			return err
		}
	}
	if err := all.silent(); err != nil {
		return err
	}
	for _, one := range out.Servers {
		if one.Error != "" {
			fmt.Fprintln(w.stderr, harmless(one.trouble()))
		}
	}
	if len(out.Models) == 0 && !slices.ContainsFunc(out.Servers, func(one serverOf) bool { return one.Error == "" }) {
		return exited(exitFailed) // a server that is there did not list its models: nobody knows what is installed
	}
	if len(out.Models) == 0 {
		remedy := "interpreter models pull NAME"
		if best := local.Recommend(machine, all.held(), s.want(""), 1); len(best) > 0 {
			remedy = fmt.Sprintf("interpreter models pull %s, which fits this machine; interpreter fit shows more", best[0].Model.Name)
		}
		_, err := fmt.Fprintf(w.stdout, "no model is installed\n  try: %s\n", remedy)
		return err
	}
	return nil
}

func (m listed) verdict() string {
	if r := m.judged.Refusal; r != nil {
		return m.Verdict + ": " + short(r)
	}
	return m.Verdict
}

func (m listed) loaded() string {
	switch {
	case m.Loaded == nil:
		return ""
	case m.Loaded.Window == 0:
		return "yes"
	}
	text := kTokens(m.Loaded.Window)
	if m.Loaded.Size > 0 && m.Loaded.VRAM < m.Loaded.Size && m.Loaded.VRAM > 0 {
		text += fmt.Sprintf(", %d %% on the GPU", m.Loaded.VRAM*100/m.Loaded.Size)
	}
	return text
}

func (m listed) tools() string {
	var text []string
	switch {
	case m.Tools == nil:
	case *m.Tools:
		text = append(text, "declared")
	default:
		text = append(text, "none")
	}
	if m.Checked != nil {
		text = append(text, m.Checked.Verdict+" on "+m.Checked.When.Local().Format("2 Jan"))
	}
	return strings.Join(text, ", ")
}
