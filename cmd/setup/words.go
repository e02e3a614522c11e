package setup

import (
	"fmt"
	"strings"
)

// gb writes the size of a download or of a disk, in 10^9 bytes.
func gb(bytes int64) string {
	if bytes < 1e9 {
		return fmt.Sprintf("%.0f MB", max(float64(bytes)/1e6, 1))
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}

// tokens writes a window: in thousands of 1024 where that says it exactly.
func tokens(n int) string {
	if n%1024 == 0 {
		return fmt.Sprintf("%dk", n/1024)
	}
	return fmt.Sprint(n)
}

func counted(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// listed is "a, b and c".
func listed(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

// joined puts a sign between what is there.
func joined(sign string, parts ...string) string {
	var there []string
	for _, part := range parts {
		if part != "" {
			there = append(there, part)
		}
	}
	return strings.Join(there, sign)
}

// title is a kind of server as its makers write it.
func title(provider string) string {
	switch provider {
	case "ollama":
		return "Ollama"
	case "lmstudio":
		return "LM Studio"
	}
	return provider
}
