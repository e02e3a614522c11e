package main

import (
	"context"
	"errors"

	"interpreter/local"
	"interpreter/local/chat"
	"interpreter/probes"
)

// stock is what the model servers of a person have, as far as they answer.
type stock struct {
	servers []*server // all that were asked, in order
	models  []have    // of all that answer, in their order
}

// server is a model server that was asked who it is.
type server struct {
	local.Server
	here    bool // on this machine
	outside bool // it answers at a loopback address, and its machine may be another one
	loaded  []local.Resident
	fault   error // it answers, but not with its models
}

// absent reports that nobody is there, not even one who answers otherwise than it should.
func (s *server) absent() bool {
	var failure *chat.Error
	return s.Err != nil && errors.As(s.Err, &failure) && failure.Kind == chat.Unreachable
}

// settled reports a server that serves what it was started with: whether that fits was seen then.
func (s *server) settled() bool {
	fixed, can := s.Provider.(local.Fixed)
	return can && fixed.FixedWindow()
}

// have is a model that a server has.
type have struct {
	local.ModelInfo
	server *server
}

// whole is all that its server can tell of a model.
func (h have) whole(ctx context.Context) (local.ModelInfo, error) {
	return local.Whole(ctx, h.server.Provider, h.ModelInfo)
}

// resident is the model in its server's memory, the one with the largest window where there are several.
func (h have) resident() (local.Resident, bool) {
	var best local.Resident
	found := false
	for _, r := range h.server.loaded {
		if local.SameModel(r.Name, h.Name) && (!found || r.Window > best.Window) {
			best, found = r, true
		}
	}
	return best, found
}

// stock asks every server that is built in or configured. Those that do not answer are part of what is found.
func (s *settings) stock(ctx context.Context, w world) stock {
	providers, err := s.allProviders(w)
	if err != nil {
		s.warnings = append(s.warnings, err.Error())
	}
	return survey(ctx, providers)
}

// survey asks servers side by side what they have.
func survey(ctx context.Context, providers []local.Provider) stock {
	var out stock
	for _, one := range local.TakeInventory(ctx, providers, probes.Forwarded) {
		s := &server{Server: one.Server, here: one.Here, outside: one.Outside, loaded: one.Loaded, fault: one.Fault}
		out.servers = append(out.servers, s)
		for _, m := range one.Models {
			out.models = append(out.models, have{m, s})
		}
	}
	return out
}

// held is what the servers of this machine hold and would give back. One that is settled gives nothing back.
func (s stock) held() local.Held {
	var total local.Held
	for _, one := range s.servers {
		if one.here && !one.settled() {
			h := local.HeldBy(one.loaded)
			total.GPU, total.RAM, total.Either = total.GPU+h.GPU, total.RAM+h.RAM, total.Either+h.Either
		}
	}
	return total
}

func (s stock) names() []string {
	var names []string
	for _, m := range s.models {
		names = append(names, m.Name)
	}
	return names
}
