package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"interpreter/cmd/config"
	"interpreter/local"
	"interpreter/probes"
)

// newProbe tells what this machine has.
func newProbe(w world) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "probe",
		Short: "What this machine has: memory, GPUs, disks, and where each number comes from",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, _ := config.Home(w.env, w.userHome()) // without one nothing is remembered
			m := w.machine(cmd.Context(), home, true)
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if asJSON {
				return writeJSON(w.stdout, m)
			}
			return tellMachine(w.stdout, m)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON, which interpreter fit --machine reads")
	return c
}

// writeJSON prints a value for programs: indented, and with no character replaced.
func writeJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// tellMachine prints a machine for people: a line for each thing, and in brackets where the number comes from.
func tellMachine(w io.Writer, m probes.Machine) error {
	t := &table{heads: []string{"", ""}}
	from := func(text, source string) string {
		if source == "" {
			return text
		}
		return text + " (" + source + ")"
	}
	t.add("machine", joined(m.OS+"/"+m.Arch, m.Chip, m.Virtual))
	memory := fmt.Sprintf("%s, %s available", local.Bytes(m.RAM.Total), local.Bytes(m.RAM.Available))
	if m.RAM.Physical > m.RAM.Total {
		memory += fmt.Sprintf(" (%s built in)", local.Bytes(m.RAM.Physical))
	}
	t.add("memory", from(memory, m.RAM.Source))
	if m.RAM.SwapTotal > 0 {
		t.add("swap", fmt.Sprintf("%s, %s free", local.Bytes(m.RAM.SwapTotal), local.Bytes(m.RAM.SwapFree)))
	}
	if m.Unified > 0 {
		t.add("unified", local.Bytes(m.Unified)+" of it for the GPU")
	}
	cores := counted(m.Cores, "processor")
	if m.CPU.Physical > 0 {
		cores += ", " + counted(m.CPU.Physical, "core")
	}
	t.add("processor", joined(m.CPU.Name, cores, strings.Join(m.CPU.Features, " ")))
	if m.CPU.Bandwidth > 0 {
		t.add("bandwidth", from(fmt.Sprintf("%.0f GB/s of main memory", m.CPU.Bandwidth), m.CPU.Source))
	}
	for _, g := range m.GPUs {
		t.add("GPU", from(tellGPU(g), g.Source))
	}
	if len(m.GPUs) == 0 {
		t.add("GPU", "none found")
	}
	for _, d := range m.Disks {
		t.add("disk", from(fmt.Sprintf("%s free of %s at %s", gb(d.Free), gb(d.Total), d.Path), d.What))
	}
	if err := t.write(w); err != nil {
		return err
	}
	for _, n := range m.Notes {
		if _, err := fmt.Fprintf(w, "note: %s: %s\n", n.Source, harmless(n.Text)); err != nil {
			return err
		}
	}
	return nil
}

func tellGPU(g probes.GPU) string {
	memory := ""
	if g.Total > 0 {
		memory = fmt.Sprintf("%s, %s free", local.Bytes(g.Total), local.Bytes(g.Free))
	}
	if g.SharedTotal > 0 {
		memory = joined(memory, local.Bytes(g.SharedTotal)+" of main memory beside it")
	}
	bandwidth := ""
	if g.Bandwidth > 0 {
		bandwidth = fmt.Sprintf("%.0f GB/s", g.Bandwidth)
	}
	kind := ""
	switch {
	case g.Unified:
		kind = "shares main memory"
	case g.Slice:
		kind = "one slice of a card"
	}
	driver := ""
	if g.Driver != "" {
		driver = "driver " + g.Driver
	}
	return joined(cmp.Or(g.Name, g.Vendor), memory, kind, bandwidth, g.Compute, driver)
}

// joined puts commas between what is there.
func joined(parts ...string) string {
	var there []string
	for _, part := range parts {
		if part != "" {
			there = append(there, part)
		}
	}
	return strings.Join(there, ", ")
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// thisMachine names a machine in one line.
func thisMachine(m probes.Machine, from string) string {
	name := "this machine"
	if from != "" {
		name = "the machine of " + from
	}
	memory := local.Bytes(m.RAM.Total)
	if m.RAM.Available > 0 {
		memory += " (" + local.Bytes(m.RAM.Available) + " available)"
	}
	var gpus []string
	for _, g := range m.GPUs {
		text := cmp.Or(g.Name, g.Vendor)
		switch {
		case g.Unified && m.Unified > 0:
			text += " sharing " + local.Bytes(m.Unified) + " of it"
		case g.Unified:
			text += " sharing it"
		case g.Total > 0:
			text += fmt.Sprintf(" with %s (%s free)", local.Bytes(g.Total), local.Bytes(g.Free))
		}
		gpus = append(gpus, text)
	}
	if len(gpus) == 0 {
		gpus = []string{"no GPU"}
	}
	var parts []string // what a file written by hand leaves out is not told
	if system := strings.Trim(m.OS+"/"+m.Arch, "/"); system != "" {
		parts = append(parts, joined(system, m.Virtual))
	}
	if m.Cores > 0 {
		parts = append(parts, counted(m.Cores, "processor"))
	}
	return name + ": " + printable(strings.Join(append(append(parts, memory+" of memory"), gpus...), ", "))
}
