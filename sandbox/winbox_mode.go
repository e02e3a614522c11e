package sandbox

// WindowsUnelevated is the value of Settings.Windows by which a person lets the sandbox of Windows put entries into the
// access lists of writable folders, without which there is no writable workspace.
const WindowsUnelevated = "unelevated"

// onSystem is the mode that can be kept on a system, and what a person should know.
func onSystem(s Settings, system string) (Mode, []string) {
	if system != "windows" || s.Mode == FullAccess {
		return s.Mode, nil
	}
	var warnings []string
	if s.Mode == WorkspaceWrite && s.Windows != WindowsUnelevated {
		s.Mode = ReadOnly
		warnings = append(warnings, `workspace-write became read-only: on Windows it writes entries into the access lists of your folders, which you have not allowed; set windows_sandbox = "unelevated" in the config to allow it`)
	}
	text := "on Windows commands are kept from writing to what you have, and from little else: the network is open to them, they read what you can read, the agent's credentials too, and may delete what lies in folders that are wholly yours"
	if s.Mode == ReadOnly || !s.Network {
		text += "; since the network is off by their good will only, those not known to only read need your approval"
	}
	return s.Mode, append(warnings, text)
}
