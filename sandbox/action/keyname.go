package action

// IsKey reports whether the text of a Stroke is the name of a key, and not typed as it stands.
func IsKey(text string) bool {
	_, ok := keyBytes(text, false)
	return ok
}
