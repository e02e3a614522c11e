package local

import (
	"context"
	"errors"
	"sync"
)

// Inventory is a server that was asked who it is and what it has.
type Inventory struct {
	Server
	Here    bool // it has this machine, as far as can be told
	Outside bool // it answers at a loopback address, and its machine may be another one; not Here then
	Models  []ModelInfo
	Loaded  []Resident
	Fault   error // it answers, but not with its models
}

// TakeInventory asks all servers side by side what they have and tells of all in their order, those without an answer
// as well. A server that answers under two names is there once, under the first. forwarded tells of a loopback port
// whether another machine may be behind it (probes.Forwarded); nil: none is.
func TakeInventory(ctx context.Context, providers []Provider, forwarded func(port int) bool) []Inventory {
	var all []Inventory
	seen := map[string]bool{}
	for _, found := range Survey(ctx, providers) {
		if found.Err == nil && seen[found.Address()] {
			continue
		}
		seen[found.Address()] = found.Err == nil
		one := Inventory{Server: found, Here: OnThisMachine(found.Address())}
		if found.Err == nil && leadsOut(found.Address(), forwarded) {
			one.Here, one.Outside = false, true
		}
		all = append(all, one)
	}
	var wait sync.WaitGroup
	for i := range all {
		one := &all[i]
		if one.Err != nil {
			continue
		}
		wait.Go(func() {
			var listing, loading error
			one.Models, listing = one.Provider.Models(ctx)
			one.Loaded, loading = one.Provider.Loaded(ctx)
			one.Fault = errors.Join(listing, loading)
		})
	}
	wait.Wait()
	return all
}
