package probes

import (
	"encoding/xml"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// migSlices lists the instances of partitioned cards. A process sees one instance, so each is a GPU of its own and the
// card itself is left out. The listing has the names; the full report has the memory but no names.
func migSlices(run func(args ...string) (string, error), cards []GPU) ([]GPU, []Note) {
	list, err := run("-L")
	if err != nil {
		return nil, []Note{{"nvidia-smi", "no instance of a partitioned card is counted: the driver tool stopped with " + err.Error()}}
	}
	found := parseMIG(list, cards)
	var notes []Note
	if len(found) == 0 {
		return nil, []Note{{"nvidia-smi", "a card is partitioned (MIG) and has no instance yet, so it is not counted"}}
	}
	report, err := run("-q", "-x")
	sizes := map[string][]migMemory{}
	if err == nil {
		sizes = parseMIGReport([]byte(report))
	}
	var all []GPU
	for _, s := range found {
		known := sizes[s.card.ID]
		if s.place < len(known) && known[s.place].total > 0 {
			s.gpu.Total, s.gpu.Free = known[s.place].total, known[s.place].free
		} else {
			notes = append(notes, Note{"nvidia-smi", "memory of " + s.gpu.Name + " is taken from its profile name; all of it is counted as free"})
		}
		// An eighth of a card's memory comes with an eighth of its bandwidth (NVIDIA's guide to MIG).
		if s.card.Total > 0 {
			eighths := math.Round(float64(s.gpu.Total) / float64(s.card.Total) * 8)
			s.gpu.Bandwidth = s.card.Bandwidth * min(eighths, 8) / 8
		}
		all = append(all, s.gpu)
	}
	return all, notes
}

// slice is an instance, the card it is part of, and its place among the instances of that card.
type slice struct {
	gpu   GPU
	card  GPU
	place int
}

var (
	migCard     = regexp.MustCompile(`^GPU +\d+: *(.*?) *\(UUID: *([^)\s]+) *\)`)
	migInstance = regexp.MustCompile(`^MIG +(\S+) +Device +\d+: *\(UUID: *([^)\s]+) *\)`)
	// The g counts compute slices, gb is memory; a c before it is a part of the compute of an instance, and what
	// follows a plus or a minus are engines for video.
	migProfile = regexp.MustCompile(`(?:^|\.)\d+g\.(\d+)gb`)
)

// parseMIG reads `nvidia-smi -L`: a line for each card, and indented below it a line for each instance.
//
//	GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-…)
//	  MIG 3g.20gb     Device  0: (UUID: MIG-…)
func parseMIG(text string, cards []GPU) (found []slice) {
	var card GPU
	place := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if match := migCard.FindStringSubmatch(line); match != nil {
			card, place = GPU{Name: match[1], Vendor: "nvidia", ID: match[2], Source: "nvidia-smi"}, 0
			for _, known := range cards {
				if known.ID == card.ID || known.ID == "" && known.Name == card.Name {
					card = known
				}
			}
			continue
		}
		match := migInstance.FindStringSubmatch(line)
		if match == nil || card.Name == "" {
			continue
		}
		gpu := GPU{Name: card.Name + " MIG " + match[1], Vendor: "nvidia", Compute: card.Compute, Driver: card.Driver,
			ID: match[2], Slice: true, Source: "nvidia-smi"}
		if profile := migProfile.FindStringSubmatch(match[1]); profile != nil {
			// Real instances are a little larger than this many 10^9 bytes and smaller than this many GiB.
			if gb, err := strconv.ParseInt(profile[1], 10, 64); err == nil && gb < 1<<20 {
				gpu.Total = gb * 1_000_000_000
				gpu.Free = gpu.Total
			}
		}
		if gpu.Total > 0 {
			found = append(found, slice{gpu, card, place})
		}
		place++
	}
	return found
}

type migMemory struct{ total, free int64 }

// parseMIGReport reads the memory of instances from `nvidia-smi -q -x`, by the card's UUID, in the order of the listing.
func parseMIGReport(report []byte) map[string][]migMemory {
	var log struct {
		Cards []struct {
			UUID      string `xml:"uuid"`
			Instances []struct {
				Total string `xml:"fb_memory_usage>total"`
				Used  string `xml:"fb_memory_usage>used"`
				Free  string `xml:"fb_memory_usage>free"`
			} `xml:"mig_devices>mig_device"`
		} `xml:"gpu"`
	}
	found := map[string][]migMemory{}
	if xml.Unmarshal(report, &log) != nil {
		return found
	}
	for _, card := range log.Cards {
		for _, instance := range card.Instances {
			total, _ := mebibytes(instance.Total)
			free, ok := mebibytes(instance.Free)
			if used, known := mebibytes(instance.Used); !ok && known {
				free, ok = total-used, true
			}
			if !ok {
				free = total
			}
			uuid := strings.TrimSpace(card.UUID)
			found[uuid] = append(found[uuid], migMemory{total, max(min(free, total), 0)})
		}
	}
	return found
}
