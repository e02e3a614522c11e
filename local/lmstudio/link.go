package lmstudio

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// link is what LM Link does to the word "local": it can run a model on another machine of the person while the API
// stays here.
type link struct {
	host      string   // the machine that models are run on, "" when it is this one
	instances []string // ids of what is loaded on other machines
}

func (l link) has(id string) bool {
	return slices.ContainsFunc(l.instances, func(far string) bool { return strings.EqualFold(far, id) })
}

// link asks lms, once, where models are run. Without lms, or when it knows no links, nothing is known of any.
func (p *Provider) link(ctx context.Context) link {
	run := p.cli()
	if run == nil {
		return link{}
	}
	p.lock.Lock()
	known := p.linked
	p.lock.Unlock()
	if known != nil {
		return *known
	}
	asking, cancel := context.WithTimeout(ctx, listFor)
	defer cancel()
	out, err := run(asking, "link", "status", "--json")
	if ctx.Err() != nil {
		return link{} // nothing was learnt; one that hangs is not asked again
	}
	var l link
	if err == nil {
		l = readLink(out)
	}
	p.lock.Lock()
	p.linked = &l
	p.lock.Unlock()
	return l
}

// readLink reads what lms says of a link. Peers that are not connected, and a link that is off, run nothing.
func readLink(out []byte) link {
	var status struct {
		Status    text           `json:"status"`
		Issues    lenient[[]any] `json:"issues"`
		Own       text           `json:"deviceIdentifier"`
		Preferred text           `json:"preferredDeviceIdentifier"`
		Peers     lenient[[]struct {
			ID     text            `json:"deviceIdentifier"`
			Name   text            `json:"deviceName"`
			Status text            `json:"status"`
			Loaded lenient[[]text] `json:"loadedModels"`
		}] `json:"peers"`
	}
	at := strings.IndexByte(string(out), '{') // what lms says about itself may come before
	if at < 0 || json.Unmarshal(out[at:], &status) != nil || status.Status != "online" || len(status.Issues.value) > 0 {
		return link{}
	}
	var l link
	if status.Preferred != "" && status.Preferred != status.Own {
		l.host = string(status.Preferred)
	}
	for _, peer := range status.Peers.value {
		if peer.ID != "" && peer.ID == status.Preferred && l.host != "" {
			l.host = cmp.Or(string(peer.Name), l.host)
		}
		for _, id := range peer.Loaded.value {
			l.instances = append(l.instances, string(id))
		}
	}
	return l
}
