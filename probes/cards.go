package probes

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// A card is a row of the table of memory bandwidths: vendors' figures in GB/s (10^9 bytes) for the words of a name.
// bits is the width of the bus where the tool's memory clock gives the figure more exactly. gib tells
// two cards of one name apart by their memory.
type card struct {
	name string
	gbs  float64
	bits float64
	gib  int
}

// cards in no particular order: the longest name that matches wins. Names of parts for laptops end in "laptop" or
// "max q" and match such names alone.
var cards = []card{
	{"rtx 5090", 1792, 512, 0}, {"rtx 5080", 960, 256, 0}, {"rtx 5070 ti", 896, 256, 0}, {"rtx 5070", 672, 192, 0},
	{"rtx 5060 ti", 448, 128, 0}, {"rtx 5060", 448, 128, 0}, {"rtx 5050", 320, 128, 0}, {"rtx 5090 d", 1792, 512, 0},
	{"rtx 4090", 1008, 384, 0}, {"rtx 4090 d", 1008, 384, 0}, {"rtx 4080 super", 736, 256, 0}, {"rtx 4080", 717, 256, 0},
	{"rtx 4070 ti super", 672, 256, 0}, {"rtx 4070 ti", 504, 192, 0}, {"rtx 4070 super", 504, 192, 0}, {"rtx 4070", 504, 192, 0},
	{"rtx 4060 ti", 288, 128, 0}, {"rtx 4060", 272, 128, 0},
	{"rtx 3090 ti", 1008, 384, 0}, {"rtx 3090", 936, 384, 0}, {"rtx 3080 ti", 912, 384, 0}, {"rtx 3080", 760, 320, 0},
	{"rtx 3080", 912, 384, 12}, {"rtx 3070 ti", 608, 256, 0}, {"rtx 3070", 448, 256, 0}, {"rtx 3060 ti", 448, 256, 0},
	{"rtx 3060", 360, 192, 0}, {"rtx 3060", 240, 128, 8}, {"rtx 3050", 224, 128, 0}, {"rtx 3050", 168, 96, 6},
	{"rtx 2080 ti", 616, 352, 0}, {"rtx 2080 super", 496, 256, 0}, {"rtx 2080", 448, 256, 0}, {"rtx 2070 super", 448, 256, 0},
	{"rtx 2070", 448, 256, 0}, {"rtx 2060 super", 448, 256, 0}, {"rtx 2060", 336, 192, 0},
	{"gtx 1660 ti", 288, 192, 0}, {"gtx 1660 super", 336, 192, 0}, {"gtx 1660", 192, 192, 0}, {"gtx 1650 super", 192, 128, 0},
	{"gtx 1650", 128, 128, 0}, {"gtx 1080 ti", 484, 352, 0}, {"gtx 1080", 320, 256, 0}, {"gtx 1070 ti", 256, 256, 0},
	{"gtx 1070", 256, 256, 0}, {"gtx 1060", 192, 192, 0}, {"gtx 1050 ti", 112, 128, 0}, {"gtx 1050", 112, 128, 0},
	{"titan rtx", 672, 384, 0}, {"titan v", 653, 0, 0}, {"titan xp", 548, 384, 0},

	{"rtx 5090 laptop", 896, 256, 0}, {"rtx 5080 laptop", 896, 256, 0}, {"rtx 5070 ti laptop", 672, 192, 0},
	{"rtx 5070 laptop", 384, 128, 0}, {"rtx 5060 laptop", 384, 128, 0}, {"rtx 5050 laptop", 384, 128, 0},
	{"rtx 4090 laptop", 576, 256, 0}, {"rtx 4080 laptop", 432, 192, 0}, {"rtx 4070 laptop", 256, 128, 0},
	{"rtx 4060 laptop", 256, 128, 0}, {"rtx 4050 laptop", 192, 96, 0},
	{"rtx 3080 ti laptop", 512, 256, 0}, {"rtx 3080 laptop", 448, 256, 0}, {"rtx 3070 ti laptop", 448, 256, 0},
	{"rtx 3070 laptop", 448, 256, 0}, {"rtx 3060 laptop", 336, 192, 0}, {"rtx 3050 ti laptop", 192, 128, 0}, {"rtx 3050 laptop", 192, 128, 0},
	{"rtx 2080 super max q", 352, 256, 0}, {"rtx 2080 max q", 384, 256, 0}, {"rtx 2070 super max q", 352, 256, 0},
	{"rtx 2070 max q", 384, 256, 0}, {"rtx 2060 max q", 264, 192, 0}, {"gtx 1660 ti max q", 288, 192, 0}, {"gtx 1650 max q", 112, 128, 0},

	{"rtx pro 6000 blackwell", 1792, 512, 0}, {"rtx pro 6000 blackwell max q", 1792, 512, 0}, {"rtx pro 5000 blackwell", 1344, 384, 0},
	{"rtx pro 4500 blackwell", 896, 256, 0}, {"rtx pro 4000 blackwell", 672, 192, 0}, {"rtx pro 2000 blackwell", 288, 128, 0},
	{"rtx 6000 ada", 960, 384, 0}, {"rtx 5000 ada", 576, 256, 0}, {"rtx 4500 ada", 432, 192, 0}, {"rtx 4000 ada", 360, 160, 0},
	{"rtx 4000 sff ada", 280, 160, 0}, {"rtx 2000 ada", 224, 128, 0},
	{"rtx a6000", 768, 384, 0}, {"a6000", 768, 384, 0}, {"rtx a5500", 768, 384, 0}, {"rtx a5000", 768, 384, 0}, {"rtx a4500", 640, 320, 0},
	{"rtx a4000", 448, 256, 0}, {"rtx a2000", 288, 192, 0}, {"quadro rtx 8000", 672, 384, 0}, {"quadro rtx 6000", 672, 384, 0},
	{"quadro rtx 5000", 448, 256, 0}, {"quadro rtx 4000", 416, 256, 0},
	{"l4", 300, 192, 0}, {"l40", 864, 384, 0}, {"l40s", 864, 384, 0}, {"t4", 320, 256, 0}, {"a10", 600, 384, 0}, {"a10g", 600, 384, 0},
	{"a16", 200, 128, 0}, {"a2", 200, 128, 0}, {"a30", 933, 3072, 0}, {"a40", 696, 384, 0},
	{"a100", 1555, 5120, 0}, {"a100", 2039, 5120, 80}, {"a100 pcie", 1555, 5120, 0}, {"a100 pcie", 1935, 5120, 80},
	{"a100 80gb pcie", 1935, 5120, 0}, {"a800", 1555, 5120, 0}, {"a800", 2039, 5120, 80},
	{"h100", 2039, 5120, 0}, {"h100 pcie", 2039, 5120, 0}, {"h100 80gb hbm3", 3350, 5120, 0}, {"h100 sxm5", 3350, 5120, 0}, {"h100 nvl", 3938, 0, 0},
	{"h800", 2039, 5120, 0}, {"h20", 4000, 0, 0}, {"h200", 4800, 0, 0}, {"gh200", 4000, 0, 0}, {"b200", 8000, 0, 0}, {"gb200", 8000, 0, 0},
	{"b300", 8000, 0, 0}, {"gb300", 8000, 0, 0}, {"v100", 900, 4096, 0}, {"v100s", 1134, 4096, 0}, {"p100", 732, 4096, 0},
	{"p40", 346, 384, 0}, {"p4", 192, 256, 0}, {"m40", 288, 384, 0},
	{"gb10", 273, 0, 0}, {"jetson agx thor", 273, 0, 0}, {"jetson agx orin", 204.8, 0, 0}, {"jetson orin nx", 102.4, 0, 0},
	{"jetson orin nano", 68, 0, 0}, {"jetson orin nano super", 102, 0, 0}, {"jetson agx xavier", 136.5, 0, 0}, {"jetson xavier nx", 59.7, 0, 0},

	{"rx 9070 xt", 624, 0, 0}, {"rx 9070", 624, 0, 0}, {"rx 9070 gre", 432, 0, 0}, {"rx 9060 xt", 320, 0, 0},
	{"rx 7900 xtx", 960, 0, 0}, {"rx 7900 xt", 800, 0, 0}, {"rx 7900 gre", 576, 0, 0}, {"rx 7900m", 576, 0, 0}, {"rx 7800 xt", 624, 0, 0},
	{"rx 7700 xt", 432, 0, 0}, {"rx 7600 xt", 288, 0, 0}, {"rx 7600", 288, 0, 0}, {"rx 6950 xt", 576, 0, 0}, {"rx 6900 xt", 512, 0, 0},
	{"rx 6800 xt", 512, 0, 0}, {"rx 6800", 512, 0, 0}, {"rx 6800m", 384, 0, 0}, {"rx 6750 xt", 432, 0, 0}, {"rx 6700 xt", 384, 0, 0},
	{"rx 6650 xt", 280, 0, 0}, {"rx 6600 xt", 256, 0, 0}, {"rx 6600", 224, 0, 0}, {"rx 6500 xt", 144, 0, 0}, {"rx 5700 xt", 448, 0, 0},
	{"rx 5700", 448, 0, 0}, {"rx vega 64", 484, 0, 0}, {"rx vega 56", 410, 0, 0}, {"radeon vii", 1024, 0, 0}, {"rx 580", 256, 0, 0}, {"rx 570", 224, 0, 0}, {"rx 560", 112, 0, 0},
	{"pro w7900", 864, 0, 0}, {"pro w7800", 576, 0, 0}, {"pro w6800", 512, 0, 0}, {"ai pro r9700", 640, 0, 0},
	{"mi50", 1024, 0, 0}, {"mi60", 1024, 0, 0}, {"mi100", 1229, 0, 0}, {"mi210", 1638, 0, 0}, {"mi250", 1638, 0, 0}, {"mi250x", 1638, 0, 0},
	{"mi300x", 5300, 0, 0}, {"mi300a", 5300, 0, 0}, {"mi325x", 6000, 0, 0}, {"mi350x", 8000, 0, 0}, {"mi355x", 8000, 0, 0},
	{"radeon 8060s", 256, 0, 0}, {"radeon 8050s", 256, 0, 0}, {"radeon 8040s", 256, 0, 0}, {"strix halo", 256, 0, 0},

	{"arc a770", 560, 0, 0}, {"arc a770", 512, 0, 8}, {"arc a750", 512, 0, 0}, {"arc a580", 512, 0, 0}, {"arc a380", 186, 0, 0}, {"arc a310", 124, 0, 0},
	{"arc b580", 456, 0, 0}, {"arc b570", 380, 0, 0}, {"arc pro b60", 456, 0, 0}, {"arc pro b50", 224, 0, 0},
}

// variants are words that make another card of a name: a row must have them when they follow where it matched.
var variants = []string{"ti", "super", "d", "xt", "xtx", "gre", "ada", "sff", "nvl", "max", "ultra", "blackwell"}

// cardBandwidth is a card's memory bandwidth in GB/s, 0 when nothing is known. total is its memory in bytes, clock the
// highest memory clock in MHz as the driver tells it; 0 is unknown. With a clock it is NVML's way: two transfers a
// clock, times the width of the bus.
func cardBandwidth(name string, total int64, clock float64) float64 {
	if strings.Contains(name, "/") {
		return 0 // a list of cards that share a number
	}
	words := nameWords(name)
	mobile := slices.Contains(words, "laptop") || slices.Contains(words, "q") && slices.Contains(words, "max")
	memory := int(math.Round(float64(total) / gib))
	var best card
	for _, row := range cards {
		want := strings.Fields(row.name)
		last := want[len(want)-1]
		if mobile != (last == "laptop" || last == "q") || row.gib > 0 && row.gib != memory || !within(words, want) {
			continue
		}
		if len(row.name) > len(best.name) || row.name == best.name && row.gib > 0 {
			best = row
		}
	}
	if exact := 2 * clock * best.bits / 8 / 1000; exact > best.gbs*0.65 && exact < best.gbs*1.35 {
		return math.Round(exact)
	}
	return best.gbs
}

// nameWords splits a name at everything that is neither a letter nor a digit, without the words that only some
// tools write and with one word for parts made for laptops.
func nameWords(name string) []string {
	name = strings.NewReplacer("(r)", " ", "(tm)", " ", "®", " ", "™", " ").Replace(strings.ToLower(name))
	var words []string
	for _, w := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		switch w {
		case "gpu", "with", "graphics", "geforce", "generation":
		case "mobile", "notebook":
			words = append(words, "laptop")
		default:
			words = append(words, w)
		}
	}
	return words
}

// within reports whether want is a run of words, and no variant of it is meant.
func within(words, want []string) bool {
	for i := 0; i+len(want) <= len(words); i++ {
		if !slices.Equal(words[i:i+len(want)], want) {
			continue
		}
		if rest := words[i+len(want):]; len(rest) == 0 || !slices.Contains(variants, rest[0]) {
			return true
		}
	}
	return false
}
