package local

import (
	"math"
	"strings"
)

// mostClaimed bounds what a file or a server may claim of a model, by the end of the key: far above every model there is,
// and low enough that no sum made of them overflows.
var mostClaimed = map[string]float64{
	".context_length": 1 << 30, ".attention.sliding_window": 1 << 30, ".vocab_size": 1 << 24, "general.parameter_count": 1 << 50,
	".block_count": 1 << 12, ".nextn_predict_layers": 1 << 12, ".attention.shared_kv_layers": 1 << 12,
	".attention.head_count": 1 << 12, ".attention.head_count_kv": 1 << 12, ".expert_count": 1 << 12,
	".attention.key_length": 1 << 14, ".attention.value_length": 1 << 14, ".attention.key_length_swa": 1 << 14, ".attention.value_length_swa": 1 << 14,
	".ssm.conv_kernel": 1 << 12, ".ssm.state_size": 1 << 12, ".ssm.group_count": 1 << 12,
}

const (
	mostOtherwise = 1 << 18
	mostPerLayer  = 1 << 12 // entries of a list
)

// Plausible is metadata without the numbers that no model has: negative ones, and those beyond all bounds. A damaged
// file or a lying server then counts as one that does not say.
func (m Metadata) Plausible() Metadata {
	out := Metadata{}
	for key, value := range m {
		if list, ok := value.([]any); ok {
			if len(list) > mostPerLayer && !strings.HasPrefix(key, "tokenizer.") {
				continue
			}
			if !believable(key, list...) {
				continue
			}
		} else if !believable(key, value) {
			continue
		}
		out[key] = value
	}
	if out.number("nextn_predict_layers") >= max(out.number("block_count"), 1) {
		delete(out, out.Architecture()+".nextn_predict_layers")
	}
	return out
}

// believable reports whether all numbers of a key are within its bounds. What is no number is not judged.
func believable(key string, values ...any) bool {
	if strings.HasPrefix(key, "tokenizer.") {
		return true
	}
	most := float64(mostOtherwise)
	for end, n := range mostClaimed {
		if strings.HasSuffix(key, end) {
			most = n
		}
	}
	for _, value := range values {
		var n float64
		switch v := value.(type) {
		case float64:
			n = v
		case int:
			n = float64(v)
		case int64:
			n = float64(v)
		case uint64:
			n = float64(v)
		default:
			continue
		}
		if math.IsNaN(n) || n < 0 || n > most {
			return false
		}
	}
	return true
}
