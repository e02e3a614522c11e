package local

import (
	"fmt"
	"strings"
	"testing"

	"interpreter/probes"
)

// The largest windows in thousands of tokens that classes of machines hold, f16/q8_0, or one number when they are
// equal; - where not even the floor fits. A card has 97% of its memory free; of an Apple machine the GPU may use two
// thirds of up to 32 GB, and three quarters of more.
const ladderTables = `
cards                8     12      16      24      32       48       80   96
qwen3-coder:30b      -     -       -       -/64    96/192   256      256  256
devstral-small-2:24b -     -       -       -/64    96/128   192/256  256  256
gpt-oss:20b          -     -       64/96   128     128      128      128  128
gpt-oss:120b         -     -       -       -       -        -        128  128
qwen3.5:9b           -     96/192  192/256 256     256      256      256  256
qwen3.6:27b          -     -       -       64/128  192/256  256      256  256
qwen3.6:35b          -     -       -       -       256      256      256  256
qwen3-coder-next     -     -       -       -       -        -        256  256
glm-4.7-flash        -     -       -       64/128  198      198      198  198
gemma4:12b           -     96/192  256     256     256      256      256  256
gemma4:26b           -     -       -       192/256 256      256      256  256
gemma4:31b           -     -       -       -       96/192   256      256  256
granite4:small-h     -     -       -       128     128      128      128  128
granite4.1:8b        -     -       -/96    96/128  128      128      128  128
nemotron-3-nano:30b  -     -       -       -       256      256      256  256
ministral-3:3b       -     64/128  96/192  128/256 192/256  256      256  256
ministral-3:8b       -     -       -/96    96/192  128/256  256      256  256
ministral-3:14b      -     -       -/64    64/128  128/192  192/256  256  256
laguna-xs-2.1        -     -       -       64/128  256      256      256  256

apple                16     24      32      36      48       64       96   128
qwen3-coder:30b      -      -       -       64/128  128/256  256      256  256
devstral-small-2:24b -      -       -/64    64/128  96/192   192/256  256  256
gpt-oss:20b          -      96/128  128     128     128      128      128  128
gpt-oss:120b         -      -       -       -       -        -        128  128
qwen3.5:9b           64/128 192/256 256     256     256      256      256  256
qwen3.6:27b          -      -       64/96   128/256 256      256      256  256
qwen3.6:35b          -      -       -       128/192 256      256      256  256
qwen3-coder-next     -      -       -       -       -        -        256  256
gemma4:12b           64/128 256     256     256     256      256      256  256
gemma4:26b           -      -       96/192  256     256      256      256  256
nemotron-3-nano:30b  -      -       -       256     256      256      256  256
ministral-3:8b       -      64/128  96/192  128/256 192/256  256      256  256
`

func classMachine(kind string, gb int64) probes.Machine {
	if kind == "cards" {
		return box(1024*gib, probes.GPU{Vendor: "nvidia", Total: gb * gib, Free: gb * gib * 97 / 100})
	}
	unified := gb * gib * 2 / 3
	if gb >= 36 {
		unified = gb * gib * 3 / 4
	}
	return probes.Machine{
		RAM: probes.Memory{Physical: gb * gib, Total: gb * gib, Available: gb * gib}, Unified: unified,
		GPUs: []probes.GPU{{Vendor: "apple", Total: unified, Free: unified, Unified: true}},
	}
}

// step is the largest window of a model wholly on the GPU, and how near the next step up and this one are to the limit,
// as a part of it.
func step(m ModelInfo, machine probes.Machine, kind CacheType) (k string, near float64) {
	p := pools(machine, Held{})[0]
	want := Want{Largest: true, CacheType: kind}
	b, _ := bound(m, want)
	var d decision
	near = 1
	for _, n := range append(ladder[:], b.ceiling) {
		t := p.take(sum(m, n, want.serving(kind, p)), want)
		off := float64(t.need-t.room) / float64(t.room)
		near = min(near, max(off, -off))
	}
	if !d.hold(p, m, b, want) {
		return "-", near
	}
	return fmt.Sprint(d.fit.Window / 1024), near
}

// Cells of the tables that lie within 1% of the limit may differ by a step; these do, by our formulas.
func TestLadderTables(t *testing.T) {
	cells, off := 0, 0
	for _, part := range strings.Split(strings.TrimSpace(ladderTables), "\n\n") {
		lines := strings.Split(part, "\n")
		heads := strings.Fields(lines[0])
		for _, line := range lines[1:] {
			words := strings.Fields(line)
			e, ok := Lookup(words[0])
			if !ok {
				t.Fatalf("%s: not in the catalogue", words[0])
			}
			for i, cell := range words[1:] {
				var gb int64
				fmt.Sscan(heads[i+1], &gb)
				first, second, both := strings.Cut(cell, "/")
				if !both {
					second = first
				}
				machine := classMachine(heads[0], gb)
				for kind, want := range map[CacheType]string{"f16": first, "q8_0": second} {
					cells++
					got, near := step(e.Info, machine, kind)
					if got == want {
						continue
					}
					off++
					if near > 0.01 {
						t.Errorf("%s on %s %d in %s: %s, want %s (%.1f%% from the limit)", words[0], heads[0], gb, kind, got, want, 100*near)
					} else {
						t.Logf("%s on %s %d in %s: %s, the table has %s (%.1f%% from the limit)", words[0], heads[0], gb, kind, got, want, 100*near)
					}
				}
			}
		}
	}
	t.Logf("%d cells, %d differ", cells, off)
}
