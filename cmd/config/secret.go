package config

import (
	"reflect"
	"regexp"
	"strings"
)

// hidden stands where a secret was.
const hidden = "*****"

var (
	assignment = regexp.MustCompile(`(?i)(-{0,2}[a-z0-9_-]*(?:api[_-]?key|access[_-]?key|token|secret|passw(?:or)?d))("?\s*[=:]\s*|\s+)("[^"]*"|'[^']*'|[^\s"']+)`)
	bearer     = regexp.MustCompile(`(?i)\b(bearer\s+)[a-z0-9._~+/=-]{8,}`)
	wellKnown  = regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}|AKIA[A-Z0-9]{16}|hf_[A-Za-z0-9]{20,})`)
	query      = regexp.MustCompile(`(?i)([?&](?:key|auth|code|sig|signature|[a-z_-]*[_-]key|access)=)[^&#\s"']+`)
	login      = regexp.MustCompile(`(://[^/\s:@]*:)[^@\s/]+@`)
)

// Redact hides what looks like a secret in a line that is shown or recorded outside the session: keys of known shapes,
// bearer tokens, passwords in addresses, and values assigned to a name that says so.
func Redact(text string) string {
	text = wellKnown.ReplaceAllString(text, hidden)
	text = bearer.ReplaceAllString(text, "${1}"+hidden)
	text = query.ReplaceAllString(text, "${1}"+hidden)
	text = login.ReplaceAllString(text, "${1}"+hidden+"@")
	return assignment.ReplaceAllStringFunc(text, func(found string) string {
		parts := assignment.FindStringSubmatch(found)
		// "--token value" is an option with a value; "token value" may be any prose.
		if strings.TrimSpace(parts[2]) == "" && !strings.HasPrefix(parts[1], "--") || strings.HasPrefix(parts[3], "$") {
			return found
		}
		return parts[1] + parts[2] + hidden
	})
}

// mask hides a value whose key holds secrets, and secrets in others.
func mask(path []string, value any) any {
	if secretKey(path) {
		return hidden
	}
	switch v := value.(type) {
	case string:
		return Redact(v)
	case []any:
		masked := make([]any, len(v))
		for i := range v {
			masked[i] = mask(path, v[i])
			if before, ok := v[max(i-1, 0)].(string); ok && i > 0 && secretFlag(before) {
				masked[i] = hidden
			}
		}
		return masked
	case map[string]any:
		masked := make(map[string]any, len(v))
		for key := range v {
			masked[key] = mask(append(path[:len(path):len(path)], key), v[key])
		}
		return masked
	}
	return value
}

// secretFlag reports whether an argument announces that the next one is secret.
func secretFlag(arg string) bool {
	return strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") && secretName.MatchString(arg)
}

var secretName = regexp.MustCompile(`(?i)(api[_-]?key|token|secret|passw(or)?d|credential)`)

// secretKey looks for the tag along the path, and where the schema ends, for a telling name.
func secretKey(path []string) bool {
	at := reflect.TypeFor[Config]()
	for i, part := range path {
		for at.Kind() == reflect.Slice {
			at = at.Elem()
		}
		switch at.Kind() {
		case reflect.Map:
			at = at.Elem()
			continue
		case reflect.Struct:
			if field, ok := fieldFor(at, part); ok {
				if field.Tag.Get("secret") != "" {
					return true
				}
				at = field.Type
				continue
			}
		}
		return secretName.MatchString(strings.Join(path[i:], ".")) && !strings.HasSuffix(path[len(path)-1], "_limit")
	}
	return false
}
