package setup

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"interpreter/local"
	"interpreter/probes"
)

// lookAtMachine measures the machine and says what matters of it.
func lookAtMachine(ctx context.Context, w World, s State) (State, string, error) {
	w.Screen.busy("looking at this machine", func() { s.Machine = w.Probe(ctx) })
	if ctx.Err() != nil {
		return s, "", ErrLeft
	}
	w.Screen.done("machine", describe(s.Machine))
	return s, serverStep, nil
}

// describe is a machine in a few sentences for somebody who has never thought of it as a place for models.
func describe(m probes.Machine) string {
	var text strings.Builder
	name := unmarked.Replace(cmp.Or(m.Chip, m.CPU.Name, m.OS+"/"+m.Arch))
	fmt.Fprintf(&text, "%s, %s, %s of memory", name, counted(m.Cores, "processor"), local.Bytes(m.RAM.Total))
	if m.RAM.Available > 0 && m.RAM.Available < m.RAM.Total {
		fmt.Fprintf(&text, " (%s of it free now)", local.Bytes(m.RAM.Available))
	}
	text.WriteString(". ")
	text.WriteString(graphics(m))
	for _, d := range m.Disks {
		if d.Total > 0 {
			fmt.Fprintf(&text, " On disk %s are free for models", gb(d.Free))
			if d.What != "" && len(m.Disks) > 1 {
				text.WriteString(" of " + title(d.What))
			}
			text.WriteString(".")
		}
	}
	return text.String()
}

// unmarked drops what makers put into the names of processors for their lawyers.
var unmarked = strings.NewReplacer("(R)", "", "(TM)", "", "(tm)", "")

// graphics says what a model may use beside the processor.
func graphics(m probes.Machine) string {
	if m.Unified > 0 {
		return fmt.Sprintf("Its graphics part shares the memory: a model may use up to %s of it.", local.Bytes(m.Unified))
	}
	var cards []string
	for _, g := range m.GPUs {
		name := cmp.Or(g.Name, g.Vendor)
		switch {
		case g.Unified && g.SharedTotal > 0:
			cards = append(cards, fmt.Sprintf("%s, which shares the memory (up to %s)", name, local.Bytes(g.Total+g.SharedTotal)))
		case g.Unified:
			cards = append(cards, name+", which shares the memory")
		case g.Total > 0 && g.Free < g.Total:
			cards = append(cards, fmt.Sprintf("%s with %s (%s of it free)", name, local.Bytes(g.Total), local.Bytes(g.Free)))
		case g.Total > 0:
			cards = append(cards, fmt.Sprintf("%s with %s", name, local.Bytes(g.Total)))
		}
	}
	switch len(cards) {
	case 0:
		return "No graphics card that a model could use was found: models run on the processor, which is slower."
	case 1:
		return "Graphics: " + cards[0] + "."
	}
	return fmt.Sprintf("%d graphics cards: %s.", len(cards), listed(cards))
}
