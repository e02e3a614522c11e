package action

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	nearEnough  = 0.3     // likeness from which a region is worth showing
	nearLines   = 12      // of an excerpt
	nearBytes   = 1200    // of an excerpt
	comparisons = 300_000 // pairs of lines compared at most
	lineFeature = 240     // bytes of a line that count
)

// region is where a file is most like a text that was looked for.
type region struct {
	at    int     // 1-based line
	score float64 // 1 is equal
}

// nearest slides the wanted lines over the file and keeps the place with the most alike lines.
func nearest(file, wanted []string) region {
	probes := probeLines(wanted, len(file))
	if len(probes) == 0 || len(file) == 0 {
		return region{}
	}
	features := make([][]uint32, len(file))
	for i, line := range file {
		features[i] = bigrams(line)
	}
	total := 0.0
	for _, p := range probes {
		total += p.weight
	}
	best := region{}
	last := max(0, len(file)-len(wanted))
	for start := range last + 1 {
		sum := 0.0
		for _, p := range probes {
			if i := start + p.index; i < len(file) {
				sum += p.weight * alike(features[i], p.features)
			}
		}
		if score := sum / total; score > best.score {
			best = region{start + 1, score}
		}
	}
	return best
}

type probe struct {
	index    int
	features []uint32
	weight   float64
}

// probeLines are the wanted lines that say something; only the longest when the file is large.
func probeLines(wanted []string, size int) []probe {
	var out []probe
	for i, line := range wanted {
		if f := bigrams(line); len(f) > 0 {
			out = append(out, probe{i, f, min(float64(len(f)), 40)})
		}
	}
	if most := max(3, comparisons/max(1, size)); len(out) > most {
		slices.SortStableFunc(out, func(a, b probe) int { return len(b.features) - len(a.features) })
		out = out[:most]
	}
	return out
}

// bigrams are the sorted distinct pairs of neighbouring bytes of a line, blanks aside.
func bigrams(line string) []uint32 {
	if len(line) > lineFeature {
		line = line[:lineFeature]
	}
	line = strings.Join(strings.Fields(line), " ")
	if len(line) == 1 {
		return []uint32{uint32(line[0])}
	}
	out := make([]uint32, 0, len(line))
	for i := 1; i < len(line); i++ {
		out = append(out, uint32(line[i-1])<<8|uint32(line[i]))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// alike is the share of features two lines have in common, from 0 to 1.
func alike(a, b []uint32) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			common, i, j = common+1, i+1, j+1
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b))
}

// excerpt gives the region's own lines and where they start. A long one starts shortly before the first difference.
func (r region) excerpt(file, wanted []string) (string, int) {
	from, to := r.at-1, min(len(file), r.at-1+max(1, len(wanted)))
	if to-from > nearLines {
		if d := firstDifference(file[from:to], wanted); d > nearLines/2 {
			from = min(from+d-nearLines/2, to-nearLines)
		}
		to = min(to, from+nearLines)
	}
	text := strings.Join(file[from:to], "\n")
	if len(text) > nearBytes {
		text = cutRunes(text, nearBytes)
		if i := strings.LastIndexByte(text, '\n'); i > 0 {
			text = text[:i]
		}
	}
	return text, from + 1
}

func firstDifference(file, wanted []string) int {
	for i := range min(len(file), len(wanted)) {
		if file[i] != wanted[i] {
			return i
		}
	}
	return min(len(file), len(wanted))
}

// blankDifference gives the first pair of lines that differ, with blanks made visible and the line's number, when
// blanks are all that differs in it.
func blankDifference(file, wanted []string, at int) (ours, theirs string, line int) {
	if at == 0 {
		return "", "", 0
	}
	region := file[at-1 : min(len(file), at-1+len(wanted))]
	i := firstDifference(region, wanted)
	if i >= len(region) || i >= len(wanted) {
		return "", "", 0
	}
	a, b := region[i], wanted[i]
	if strings.Join(strings.Fields(a), "") != strings.Join(strings.Fields(b), "") {
		return "", "", 0
	}
	return visible(a), visible(b), at + i
}

// visible shows blanks: a tab is an arrow, a space a middle dot, others are numbers.
func visible(line string) string {
	var b strings.Builder
	for _, r := range cutRunes(line, lineFeature) {
		switch {
		case r == '\t':
			b.WriteRune('→')
		case r == ' ':
			b.WriteRune('·')
		case r == '\r':
			b.WriteRune('␍')
		case r != ' ' && plainLetter(r) == " ":
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cutRunes is the longest start of text that has at most n bytes and ends between two letters.
func cutRunes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
