package probes

import (
	"context"

	"github.com/shirou/gopsutil/v3/mem"
)

// memory reads main memory as the kernel reports it.
func memory(ctx context.Context) (Memory, []Note) {
	v, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return Memory{Source: "none"}, []Note{{"gopsutil", "memory is unknown: " + err.Error()}}
	}
	return Memory{
		Physical: int64(v.Total), Total: int64(v.Total), Available: int64(v.Available), Source: "gopsutil",
	}, nil
}
