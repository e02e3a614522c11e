package approve

import "interpreter/sandbox"

// reachesOut says why a command needs a person although the sandbox confines it: the network is to be off and nothing
// keeps it off, as on Windows, so the sandbox is no boundary for what leaves the machine. "" when that is not so, or
// the command only reads.
func reachesOut(box sandbox.Policy, onlyReads bool) string {
	if onlyReads || !box.NetworkOpen || box.Network || box.Mode == sandbox.FullAccess {
		return ""
	}
	return "it is not known to only read, and nothing on this system keeps it off the network"
}
