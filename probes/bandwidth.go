package probes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// How main memory is measured: all cores read a large block over and over for a moment, three times, and the best
// counts, since whatever else runs only takes away.
const (
	mostRead   = 512 * mib
	coreRead   = 16 * mib // for each core where there are very many: their caches hold more than mostRead
	leastRead  = 64 * mib // less would measure the cache
	readShare  = 16       // of available memory, at most one part in this many
	readTime   = 150 * time.Millisecond
	fillTime   = 400 * time.Millisecond
	readTimes  = 3
	leastAlone = 0.8     // of the processors' time; a number measured with less is not kept
	lineWords  = 8       // of 8 bytes: memory comes in lines of 64 bytes, so touching one word brings all
	pageWords  = 512     // of 8 bytes: a page is given out when one word of it is written
	stepWords  = mib / 8 // between looks at the clock
)

// toRead is how much of the memory available is read: up to 512 MiB, or 16 MiB for each core if that is more.
func toRead(available int64) int64 {
	return min(max(mostRead, coreRead*int64(runtime.GOMAXPROCS(0))), available/readShare)
}

// measure reads a block of so many bytes on all cores, each time for so long, and returns GB/s (10^9 bytes); 0 when ctx
// ends first or the block is too small to say anything. alone reports that it had the cores to itself.
func measure(ctx context.Context, bytes int64, each time.Duration) (best float64, alone bool) {
	workers := runtime.GOMAXPROCS(0)
	if bytes < leastRead || ctx.Err() != nil {
		return 0, false
	}
	share := int(bytes) / 8 / workers / stepWords * stepWords
	if share == 0 {
		return 0, false
	}
	blocks := make([][]uint64, workers)
	var wait sync.WaitGroup
	for i := range blocks {
		wait.Go(func() { blocks[i] = fill(ctx, make([]uint64, share), leastRead/8/workers) })
	}
	wait.Wait()
	for range readTimes {
		used, began := processTime(), time.Now()
		speed := readAll(ctx, blocks, each)
		if ctx.Err() != nil {
			return 0, false
		}
		used = processTime() - used
		if speed > best {
			best, alone = speed, used.Seconds() > leastAlone*time.Since(began).Seconds()*float64(workers)
		}
	}
	blocks = nil
	debug.FreeOSMemory() // the model that is loaded next needs it
	return math.Round(best*10) / 10, alone
}

// fill writes a block from the core that reads it, so that it lies near and is no shared page of zeros. Where
// memory is given out slowly, what is filled in time has to do, though never less than least.
func fill(ctx context.Context, block []uint64, least int) []uint64 {
	began := time.Now()
	at := 0
	for at < len(block) && (at < least || time.Since(began) < fillTime) && ctx.Err() == nil {
		for end := at + stepWords; at < end; at += pageWords {
			block[at] = uint64(at)
		}
	}
	return block[:at]
}

// readAll has each block read by a goroutine of its own and adds up their speeds.
func readAll(ctx context.Context, blocks [][]uint64, each time.Duration) float64 {
	var wait sync.WaitGroup
	speeds := make([]float64, len(blocks))
	sums := make([]uint64, len(blocks))
	start := make(chan struct{})
	for i, block := range blocks {
		wait.Go(func() {
			<-start
			var sum uint64
			var done, at int
			began := time.Now()
			for took := time.Duration(0); took < each && len(block) > 0 && ctx.Err() == nil; took = time.Since(began) {
				sum += touch(block[at : at+stepWords])
				done += stepWords
				if at += stepWords; at == len(block) {
					at = 0
				}
			}
			sums[i] = sum
			speeds[i] = float64(done) * 8 / time.Since(began).Seconds() / 1e9
		})
	}
	close(start)
	wait.Wait()
	total := 0.0
	for _, speed := range speeds {
		total += speed
	}
	runtime.KeepAlive(sums)
	return total
}

// touch adds up one word of each line, in four chains so that no addition waits for another.
func touch(words []uint64) uint64 {
	var a, b, c, d uint64
	for ; len(words) >= 4*lineWords; words = words[4*lineWords:] {
		a += words[0]
		b += words[lineWords]
		c += words[2*lineWords]
		d += words[3*lineWords]
	}
	return a + b + c + d
}

// bandwidth enters what ask wants to know of main memory: what was kept since the start of the machine, else
// what is measured now.
func (m *Machine) bandwidth(ctx context.Context, ask Ask) {
	now := kept{Boot: bootID(os.DirFS("/")), CPU: m.CPU.Name, Cores: m.Cores}
	if ask.Cache != "" && now.Boot != "" {
		if old, ok := readKept(ask.Cache); ok && old.Boot == now.Boot && old.CPU == now.CPU && old.Cores == now.Cores {
			m.CPU.Bandwidth, m.CPU.Source = old.Bandwidth, "measured"
			return
		}
	}
	if !ask.Bandwidth {
		return
	}
	var alone bool
	now.Bandwidth, alone = measure(ctx, toRead(m.RAM.Available), readTime)
	if now.Bandwidth == 0 {
		m.note("bandwidth", "memory bandwidth was not measured: too little memory or time")
		return
	}
	if !alone { // a number that says how busy the machine is would have every model called too slow
		m.note("bandwidth", fmt.Sprintf("memory bandwidth was not measured: other programs keep the processors busy (%.1f GB/s were left)", now.Bandwidth))
		return
	}
	m.CPU.Bandwidth, m.CPU.Source = now.Bandwidth, "measured"
	if ask.Cache == "" || now.Boot == "" {
		return
	}
	if err := now.write(ask.Cache); err != nil {
		m.note("bandwidth", "the measured bandwidth could not be kept: "+err.Error())
	}
}

// kept is a measured bandwidth and what it holds for: this start of the machine, this processor, so many cores.
type kept struct {
	Boot      string  `json:"boot"`
	CPU       string  `json:"cpu"`
	Cores     int     `json:"cores"`
	Bandwidth float64 `json:"bandwidth"`
}

func readKept(file string) (k kept, ok bool) {
	data, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(data, &k) != nil {
		return kept{}, false
	}
	return k, k.Bandwidth > 0 && k.Bandwidth < 1e5
}

// write replaces the file at once, since another run may be reading it.
func (k kept) write(file string) error {
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".bandwidth-*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
