package probes

// appleFacts is what the kernel of an Apple machine tells; present is false elsewhere and on Intel Macs.
type appleFacts struct {
	present      bool
	chip         string
	wiredLimitMB int64
}

// workingSet is the part of RAM that the GPU of an Apple machine may wire: what the person set, else two thirds up
// to 32 GB and three quarters from 36 GB, as public start-up logs of llama.cpp show.
func workingSet(total, wiredLimitMB int64) int64 {
	if wiredLimitMB > 0 {
		return min(wiredLimitMB*mib, total)
	}
	if total < 36_000_000_000 {
		return total / 3 * 2
	}
	return total / 4 * 3
}
