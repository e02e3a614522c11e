// Package config knows the home folder and what a person chose: it reads every layer of settings, says where each
// value came from, and writes the few that the program may write. It refuses to act on them: it starts nothing,
// talks to no server, and hands plain values to whoever asks.
package config

import "time"

// Config is what is in force after all layers. A zero value means "not chosen" unless defaults says otherwise; IsSet
// tells a chosen zero from none. A key tagged "later" is read and checked, and waits for the part that acts on it.
type Config struct {
	Model                      string        `toml:"model"`
	ModelProvider              string        `toml:"model_provider"`
	OSSProvider                string        `toml:"oss_provider"`
	ReviewModel                string        `toml:"review_model" later:"true"`
	Harness                    string        `toml:"harness"`
	HarnessGuidance            bool          `toml:"harness_guidance"`
	HarnessTools               []string      `toml:"harness_tools"`
	ModelContextWindow         int           `toml:"model_context_window" min:"1" max:"1073741824"`
	ModelAutoCompactTokenLimit int           `toml:"model_auto_compact_token_limit" min:"1"`
	ModelReasoningEffort       string        `toml:"model_reasoning_effort"`
	LocalKVCacheType           string        `toml:"local_kv_cache_type" one:"f16 q8_0 q5_1 q5_0 q4_1 q4_0"`
	ReloadLoadedModels         bool          `toml:"reload_loaded_models"`
	ToolCheck                  bool          `toml:"tool_check"`
	ModelCatalogJSON           string        `toml:"model_catalog_json" later:"true" path:"file"`
	ModelInstructionsFile      string        `toml:"model_instructions_file" path:"file"`
	DeveloperInstructions      string        `toml:"developer_instructions"`
	CompactPrompt              string        `toml:"compact_prompt"`
	CompactPromptFile          string        `toml:"experimental_compact_prompt_file" path:"file"`
	OpenAIBaseURL              string        `toml:"openai_base_url" later:"true" word:"true"`
	ToolOutputTokenLimit       int           `toml:"tool_output_token_limit" later:"true" min:"1"`
	BackgroundTerminalTimeout  time.Duration `toml:"background_terminal_max_timeout" later:"true" unit:"ms"`

	ModelProviders map[string]ModelProvider `toml:"model_providers"`

	ApprovalPolicy         Approval           `toml:"approval_policy"`
	SandboxMode            string             `toml:"sandbox_mode" one:"read-only workspace-write danger-full-access"`
	LinuxSandbox           string             `toml:"linux_sandbox" one:"auto namespace bubblewrap landlock"`
	WindowsSandbox         string             `toml:"windows_sandbox" one:"off unelevated"`
	BuildCacheMaxBytes     int                `toml:"build_cache_max_bytes" min:"1"`
	SandboxWorkspaceWrite  WorkspaceWrite     `toml:"sandbox_workspace_write"`
	AllowLoginShell        bool               `toml:"allow_login_shell"`
	ShellEnvironmentPolicy ShellEnvironment   `toml:"shell_environment_policy"`
	Projects               map[string]Project `toml:"projects"`
	Features               map[string]Feature `toml:"features"`

	MCPServers map[string]MCPServer `toml:"mcp_servers" later:"true"`

	ProjectDocMaxBytes          int            `toml:"project_doc_max_bytes" min:"0"`
	ProjectDocFallbackFilenames []string       `toml:"project_doc_fallback_filenames"`
	ProjectRootMarkers          []string       `toml:"project_root_markers"`
	Skills                      Skills         `toml:"skills" later:"true"`
	Hooks                       map[string]any `toml:"hooks" later:"true"`
	WebSearch                   string         `toml:"web_search" later:"true" one:"disabled cached indexed live"`

	Notify                  []string `toml:"notify" later:"true" word:"true"`
	History                 History  `toml:"history" later:"true"`
	Sessions                Sessions `toml:"sessions"`
	SqliteHome              string   `toml:"sqlite_home" later:"true" path:"dir"`
	LogDir                  string   `toml:"log_dir" later:"true" path:"dir"`
	HideAgentReasoning      bool     `toml:"hide_agent_reasoning"`
	ShowRawAgentReasoning   bool     `toml:"show_raw_agent_reasoning" later:"true"`
	CheckForUpdateOnStartup bool     `toml:"check_for_update_on_startup" later:"true"`
	TUI                     TUI      `toml:"tui" later:"true"`

	Profile  string         `toml:"profile"`
	Profiles map[string]any `toml:"profiles"`

	found
}

// ModelProvider is one entry of [model_providers.ID].
type ModelProvider struct {
	Name                    string            `toml:"name"`
	BaseURL                 string            `toml:"base_url" word:"true"`
	WireAPI                 string            `toml:"wire_api" one:"responses chat messages"`
	EnvKey                  string            `toml:"env_key" word:"true"`
	EnvKeyInstructions      string            `toml:"env_key_instructions"`
	ExperimentalBearerToken string            `toml:"experimental_bearer_token" secret:"true"`
	Auth                    TokenCommand      `toml:"auth"`
	HTTPHeaders             map[string]string `toml:"http_headers" secret:"true"`
	EnvHTTPHeaders          map[string]string `toml:"env_http_headers"`
	QueryParams             map[string]string `toml:"query_params" secret:"true"`
	RequestMaxRetries       int               `toml:"request_max_retries" min:"0"`
	StreamMaxRetries        int               `toml:"stream_max_retries" min:"0"`
	StreamIdleTimeout       time.Duration     `toml:"stream_idle_timeout_ms" unit:"ms"`
	RequiresOpenAIAuth      bool              `toml:"requires_openai_auth"`
}

// TokenCommand is a program that prints a token.
type TokenCommand struct {
	Command         string        `toml:"command" word:"true"`
	Args            []string      `toml:"args" word:"true"`
	Cwd             string        `toml:"cwd" path:"dir"`
	Timeout         time.Duration `toml:"timeout_ms" unit:"ms"`
	RefreshInterval time.Duration `toml:"refresh_interval_ms" unit:"ms"`
}

// WorkspaceWrite widens or narrows the workspace-write sandbox.
type WorkspaceWrite struct {
	WritableRoots       []string `toml:"writable_roots" path:"dir"`
	NetworkAccess       bool     `toml:"network_access"`
	ExcludeTmpdirEnvVar bool     `toml:"exclude_tmpdir_env_var"`
	ExcludeSlashTmp     bool     `toml:"exclude_slash_tmp"`
}

// ShellEnvironment says what child commands see of the environment.
type ShellEnvironment struct {
	Inherit               string            `toml:"inherit" one:"all core none"`
	IgnoreDefaultExcludes bool              `toml:"ignore_default_excludes"`
	Exclude               []string          `toml:"exclude"`
	Set                   map[string]string `toml:"set" secret:"true"`
	IncludeOnly           []string          `toml:"include_only"`
	Filters               map[string]string `toml:"filters"` // by pattern, "include" or "exclude": another way to write the two lists
}

// Project is what a person decided about a folder.
type Project struct {
	TrustLevel string `toml:"trust_level" one:"trusted untrusted"`
}

// MCPServer is one entry of [mcp_servers.NAME]: a program on stdio, or an address.
type MCPServer struct {
	Command                   string             `toml:"command" word:"true"`
	Args                      []string           `toml:"args" word:"true"`
	Cwd                       string             `toml:"cwd" path:"dir"`
	Env                       map[string]string  `toml:"env" secret:"true"`
	EnvVars                   []EnvVar           `toml:"env_vars"`
	URL                       string             `toml:"url" word:"true"`
	BearerToken               string             `toml:"bearer_token" secret:"true"`
	BearerTokenEnvVar         string             `toml:"bearer_token_env_var" word:"true"`
	HTTPHeaders               map[string]string  `toml:"http_headers" secret:"true"`
	EnvHTTPHeaders            map[string]string  `toml:"env_http_headers"`
	Enabled                   bool               `toml:"enabled"`
	Required                  bool               `toml:"required"`
	StartupTimeout            time.Duration      `toml:"startup_timeout_sec" unit:"s"`
	StartupTimeoutMS          time.Duration      `toml:"startup_timeout_ms" unit:"ms"`
	ToolTimeout               time.Duration      `toml:"tool_timeout_sec" unit:"s"`
	EnabledTools              []string           `toml:"enabled_tools"`
	DisabledTools             []string           `toml:"disabled_tools"`
	DefaultToolsApprovalMode  string             `toml:"default_tools_approval_mode" one:"auto prompt writes approve"`
	Tools                     map[string]MCPTool `toml:"tools"`
	SupportsParallelToolCalls bool               `toml:"supports_parallel_tool_calls"`
}

// MCPTool is a setting for one tool of a server.
type MCPTool struct {
	ApprovalMode string `toml:"approval_mode" one:"auto prompt writes approve"`
}

// Skills says which skills the model is told of.
type Skills struct {
	Bundled             Bundled     `toml:"bundled"`
	IncludeInstructions bool        `toml:"include_instructions"`
	Config              []SkillRule `toml:"config"`
}

// Bundled switches the skills that come with the program.
type Bundled struct {
	Enabled bool `toml:"enabled"`
}

// SkillRule switches one skill, by path or by name.
type SkillRule struct {
	Path    string `toml:"path" path:"file"`
	Name    string `toml:"name"`
	Enabled bool   `toml:"enabled"`
}

// History governs the file of typed prompts.
type History struct {
	Persistence string `toml:"persistence" one:"save-all none"`
	MaxBytes    int    `toml:"max_bytes" min:"0"`
}

// Sessions governs the transcripts.
type Sessions struct {
	Persistence string `toml:"persistence" one:"save-all none"`
}

// TUI is what the terminal screen reads.
type TUI struct {
	Notifications         Notifications `toml:"notifications"`
	NotificationMethod    string        `toml:"notification_method" one:"auto osc9 bel"`
	NotificationCondition string        `toml:"notification_condition" one:"unfocused always"`
	AlternateScreen       string        `toml:"alternate_screen" one:"auto always never"`
	Theme                 string        `toml:"theme"`
	ResumeCwd             string        `toml:"resume_cwd" one:"current session prompt"`
}

// defaults is the lowest layer.
func defaults() Config {
	return Config{
		HarnessGuidance:             true,
		ToolCheck:                   true,
		BackgroundTerminalTimeout:   5 * time.Minute,
		LinuxSandbox:                "auto",
		BuildCacheMaxBytes:          5 << 30,
		AllowLoginShell:             true,
		ShellEnvironmentPolicy:      ShellEnvironment{Inherit: "all"},
		ProjectDocMaxBytes:          32 << 10,
		ProjectDocFallbackFilenames: []string{"CLAUDE.md"},
		ProjectRootMarkers:          []string{".git"},
		Skills:                      Skills{Bundled: Bundled{Enabled: true}, IncludeInstructions: true},
		History:                     History{Persistence: "save-all"},
		Sessions:                    Sessions{Persistence: "save-all"},
		TUI: TUI{
			Notifications: Notifications{On: true}, NotificationMethod: "auto", NotificationCondition: "unfocused",
			AlternateScreen: "auto", ResumeCwd: "prompt",
		},
	}
}

// prepared is an entry of a map that has defaults of its own.
type prepared interface{ prepare() }

func (p *ModelProvider) prepare() {
	p.RequestMaxRetries, p.StreamMaxRetries, p.StreamIdleTimeout = 4, 5, 5*time.Minute
	p.Auth.Timeout, p.Auth.RefreshInterval = 5*time.Second, 5*time.Minute
}

func (s *MCPServer) prepare() {
	s.Enabled, s.StartupTimeout, s.ToolTimeout, s.DefaultToolsApprovalMode = true, 30*time.Second, 5*time.Minute, "auto"
}

func (r *SkillRule) prepare() { r.Enabled = true }
