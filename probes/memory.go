package probes

import (
	"context"

	"github.com/shirou/gopsutil/v3/mem"
)

// memory reads main memory and swap as the kernel reports them.
func memory(ctx context.Context) finding {
	v, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return func(m *Machine) {
			m.RAM.Source = "none"
			m.note("gopsutil", "memory is unknown: "+err.Error())
		}
	}
	ram := Memory{Physical: int64(v.Total), Total: int64(v.Total), Available: min(int64(v.Available), int64(v.Total)), Source: "gopsutil"}
	swap, err := mem.SwapMemoryWithContext(ctx)
	if err == nil {
		ram.SwapTotal, ram.SwapFree = int64(swap.Total), min(int64(swap.Free), int64(swap.Total))
	}
	return func(m *Machine) {
		m.RAM = ram
		if err != nil {
			m.note("gopsutil", "swap is unknown: "+err.Error())
		}
	}
}
