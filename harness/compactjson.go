package harness

// Compact is a value as JSON without spaces, without HTML escapes and without a final line break. The value is one of
// ours: that it cannot be encoded is a broken invariant.
func Compact(v any) string { return string(quoted(v)) }
