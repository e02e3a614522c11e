package main

import (
	"fmt"
	"path/filepath"

	"interpreter/agent/approve/rules"
	"interpreter/cmd/config"
	"interpreter/harness"
	"interpreter/local"
	"interpreter/sandbox"
)

// settings is what a run works with once flags, files and folders have been read.
type settings struct {
	folders
	config.Config
	warnings []string
	mode     sandbox.Mode
	approval string
	prefix   func(local.ModelInfo, int) (local.Prefix, error) // how the session to come begins; nil: there is none
	oss      bool                                             // a local provider was asked for, and the configuration names none
	strict   bool                                             // --strict-config
	chatWire bool                                             // --chat-completions
	asked    []local.Provider                                 // the servers of this run, once they are known
	rules    *rules.Set                                       // about commands; nil until loadRules
	status   func() harness.GitStatus                         // of the repository; git is asked once, and only if someone asks
}

// choices are what a command adds to the shared flags.
type choices struct {
	ignoreUser bool
}

// settings reads every layer of configuration for one run.
func (w world) settings(f *flags, c choices) (settings, error) {
	at, err := w.folders(f.cd)
	if err != nil {
		return settings{}, err
	}
	dedicated := map[string]any{}
	set := func(key, value string) {
		if value != "" {
			dedicated[key] = value
		}
	}
	set("model", f.model)
	set("harness", f.harness)
	set("approval_policy", f.approval)
	set("sandbox_mode", f.confinement.mode)
	set("model_provider", f.provider)
	switch {
	case f.confinement.yolo:
		dedicated["sandbox_mode"], dedicated["approval_policy"] = string(sandbox.FullAccess), "never"
	case f.confinement.auto && f.approval == "":
		dedicated["approval_policy"] = "on-request"
	}
	conf, warnings, err := config.Load(config.Source{
		Home: at.home, Dir: at.dir, Cwd: at.cwd, UserHome: at.user, System: w.systemConfig,
		Profile: f.profile, Overrides: f.overrides, Enable: f.enable, Disable: f.disable,
		Strict: f.strict, IgnoreUser: c.ignoreUser, Flags: dedicated,
	})
	if err != nil {
		return settings{}, err
	}
	s := settings{folders: at, Config: conf}
	for _, warning := range warnings {
		s.warnings = append(s.warnings, warning.String())
	}
	mode, approval := conf.Permissions()
	s.mode, s.approval = sandbox.Mode(mode), approval
	s.chatWire, s.strict = f.chatWire, f.strict
	if f.oss && f.provider == "" {
		s.ModelProvider = s.OSSProvider
		s.oss = s.OSSProvider == ""
	}
	return s, nil
}

// thereAll refuses a harness or a file that is named and not there, before a model is loaded for it.
func (s *settings) thereAll() error {
	if err := s.checkHarness(); err != nil {
		return err
	}
	if err := s.speakable(s.ModelProvider); err != nil {
		return err
	}
	if _, err := readOptional("model_instructions_file", s.ModelInstructionsFile); err != nil {
		return err
	}
	_, err := s.summary()
	return err
}

// policy resolves the sandbox a run works in.
func (s *settings) policy(w world, f *flags) (sandbox.Policy, error) {
	roots := append([]string(nil), s.SandboxWorkspaceWrite.WritableRoots...)
	for _, dir := range f.addDirs {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return sandbox.Policy{}, fmt.Errorf("--add-dir %s: %w", dir, err)
		}
		roots = append(roots, abs)
	}
	if s.mode == sandbox.ReadOnly && len(f.addDirs) > 0 {
		s.warnings = append(s.warnings, "--add-dir has no effect in a read-only sandbox; add -s workspace-write")
	}
	policy, warnings, err := sandbox.Resolve(sandbox.Settings{
		Mode: s.mode, Dir: s.dir, Writable: roots,
		Network:    s.SandboxWorkspaceWrite.NetworkAccess,
		ExcludeTmp: s.SandboxWorkspaceWrite.ExcludeSlashTmp, ExcludeTMPDIR: s.SandboxWorkspaceWrite.ExcludeTmpdirEnvVar,
		TMPDIR: w.env("TMPDIR"), Home: s.home, UserHome: s.user, Environ: w.environ, Backend: s.LinuxSandbox, Windows: s.WindowsSandbox,
		CacheLimit: int64(s.BuildCacheMaxBytes),
	})
	s.warnings = append(s.warnings, warnings...)
	if err == nil {
		s.mode = policy.Mode // Windows may not keep what was asked for
	}
	if w.bar != nil && err == nil {
		w.bar(append([]string{policy.Dir}, policy.Roots...)...)
	}
	return policy, err
}
