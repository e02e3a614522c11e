package config

import (
	"fmt"
	"reflect"
	"strings"
)

// nearest is the candidate that a typing slip is most likely to have meant, "" when none is close.
func nearest(word string, candidates []string) string {
	best, least := "", max(2, len(word)/2)+1
	for _, c := range candidates {
		if d := distance(word, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance counts the letters to insert, drop, replace or swap with a neighbour.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		rows[2][0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[2][j] = min(rows[1][j]+1, rows[2][j-1]+1, rows[1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[2][j] = min(rows[2][j], rows[0][j-2]+1)
			}
		}
		rows[0], rows[1], rows[2] = rows[1], rows[2], rows[0]
	}
	return rows[1][len(b)]
}

// suggestion words an unknown key of a table of type t. A key that exists elsewhere is the usual slip of a TOML file:
// it was written below a header.
func suggestion(t reflect.Type, path []string) string {
	name := path[len(path)-1]
	if len(path) > 1 {
		if _, ok := fieldFor(reflect.TypeFor[Config](), name); ok {
			return "unknown key here; it belongs to the top of the file, before the first [table]"
		}
	}
	if near := nearest(name, keysOf(t)); near != "" {
		return fmt.Sprintf("unknown key; the nearest known one is %s", dotted(append(path[:len(path)-1:len(path)-1], near)))
	}
	return "unknown key"
}

// inert are keys of this family of programs that this one reads past: a file that serves both stays free of warnings.
var inert = []string{
	"model_auto_compact_token_limit_scope", "plan_mode_reasoning_effort", "model_reasoning_summary",
	"model_supports_reasoning_summaries", "model_verbosity", "instructions", "personality", "service_tier",
	"chatgpt_base_url", "approvals_reviewer", "auto_review", "default_permissions", "permissions", "memories", "agents",
	"plugins", "marketplaces", "tools", "file_opener", "analytics", "feedback", "otel", "ghost_snapshot",
	"suppress_unstable_features_warning", "disable_paste_burst", "cli_auth_credentials_store",
	"mcp_oauth_credentials_store", "include_permissions_instructions", "include_environment_context",
	"include_collaboration_mode_instructions", "include_apps_instructions", "apps_mcp_product_sku",
	"responses_api_metadata", "experimental_realtime_*",
	"shell_environment_policy.experimental_use_profile",
	"model_providers.*.websocket_connect_timeout_ms", "model_providers.*.supports_websockets",
	"model_providers.*.supports_standalone_web_search", "model_providers.*.aws",
	"mcp_servers.*.http_headers_helper", "mcp_servers.*.oauth", "mcp_servers.*.oauth_resource", "mcp_servers.*.scopes",
	"mcp_servers.*.auth", "tui.animations", "tui.show_tooltips", "tui.vim_mode_default", "tui.raw_output_mode",
	"tui.status_line", "tui.terminal_title", "tui.pet", "tui.keymap", "tui.session_picker_view",
}

func isInert(path []string) bool {
	for _, pattern := range inert {
		parts := strings.Split(pattern, ".")
		fits := len(parts) == len(path)
		for i := 0; fits && i < len(parts); i++ {
			prefix, open := strings.CutSuffix(parts[i], "*")
			fits = parts[i] == path[i] || open && strings.HasPrefix(path[i], prefix)
		}
		if fits {
			return true
		}
	}
	return false
}
