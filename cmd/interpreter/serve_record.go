package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"interpreter/local"
)

// A serving is a model server that this program started, and what it was told. It is kept in servers.json of the home
// folder, so that later runs know what no server tells: the number format of its keys and values.
type serving struct {
	Provider  string          `json:"provider"`
	Address   string          `json:"address"` // base URL
	PID       int             `json:"pid"`
	Began     string          `json:"began"`            // of the process; a number is given out again
	Window    int             `json:"window,omitempty"` // tokens, for programs that name none
	KV        local.CacheType `json:"kv,omitempty"`
	HostCache int64           `json:"host_cache,omitempty"` // bytes
	Log       string          `json:"log,omitempty"`
	When      time.Time       `json:"when"`
	Detached  bool            `json:"detached,omitempty"`
}

// runs reports whether the process that was started is there still.
func (s serving) runs() bool {
	began, there := begun(s.PID)
	return there && began == s.Began
}

// servings are the servers in the record of a home folder that still run. A damaged record is an empty one.
func servings(home string) []serving {
	var kept struct {
		Servers []serving `json:"servers"`
	}
	text, err := os.ReadFile(servingsPath(home))
	if err != nil || json.Unmarshal(text, &kept) != nil {
		return nil
	}
	return slices.DeleteFunc(kept.Servers, func(s serving) bool { return !s.runs() })
}

func servingsPath(home string) string { return filepath.Join(home, "servers.json") }

// servingAt finds the server of ours at an address.
func servingAt(home, address string) (serving, bool) {
	for _, s := range servings(home) {
		if sameAddress(s.Address, address) {
			return s, true
		}
	}
	return serving{}, false
}

// sameAddress compares base URLs; the names of this machine's loopback are one.
func sameAddress(a, b string) bool {
	one, err := url.Parse(a)
	other, wrong := url.Parse(b)
	if err != nil || wrong != nil {
		return a == b
	}
	here := func(u *url.URL) string {
		if local.OnThisMachine(u.String()) {
			return "loopback"
		}
		return u.Hostname()
	}
	port := func(u *url.URL) string {
		return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	return here(one) == here(other) && port(one) == port(other)
}

// keepServing puts a server into the record, in place of what was at its address. It replaces the file in one step.
func keepServing(home string, s serving) error {
	return changeServings(home, func(all []serving) []serving {
		return append(slices.DeleteFunc(all, func(old serving) bool { return sameAddress(old.Address, s.Address) }), s)
	})
}

// dropServing takes a process out of the record.
func dropServing(home string, pid int) error {
	return changeServings(home, func(all []serving) []serving {
		return slices.DeleteFunc(all, func(old serving) bool { return old.PID == pid })
	})
}

func changeServings(home string, change func([]serving) []serving) error {
	err := local.Rewriting(servingsPath(home), func() error {
		all := change(servings(home))
		if len(all) == 0 {
			if err := os.Remove(servingsPath(home)); !errors.Is(err, os.ErrNotExist) {
				return err
			}
			return nil
		}
		text, err := json.MarshalIndent(map[string]any{"servers": all}, "", "  ")
		if err != nil {
			return err
		}
		return local.ReplaceFile(servingsPath(home), append(text, '\n'))
	})
	if err != nil {
		return fmt.Errorf("keep the record of servers: %w", err)
	}
	return nil
}

// cacheAt is the number format of keys and values of the server at an address: what we told it when we started it, else
// what a person says of it. "" is unknown, and counts as f16.
func (s *settings) cacheAt(address string) local.CacheType {
	if ours, ok := servingAt(s.home, address); ok && ours.KV != "" {
		return ours.KV
	}
	return local.CacheType(s.LocalKVCacheType)
}
