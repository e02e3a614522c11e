package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"interpreter/cmd/config"
	"interpreter/local"
	"interpreter/local/lmstudio"
	"interpreter/local/messages"
	"interpreter/local/ollama"
	"interpreter/local/openai"
	"interpreter/local/responses"
)

// builtIn are the kinds of servers that need no configuration, in order of preference.
var builtIn = [...]string{"ollama", "lmstudio"}

// knockFor is how long a server may take to say who it is when a person has named none.
const knockFor = 1500 * time.Millisecond

// providers are the model servers of this run, in order of preference. One that a person chose is the only one. Of
// the built-in ones --oss needs exactly one that answers; without it all are asked, and configured ones that are near.
func (s *settings) providers(w world) ([]local.Provider, error) {
	if s.asked == nil {
		var err error
		if s.asked, err = s.selected(w); err != nil {
			return nil, err
		}
	}
	return s.asked, nil
}

func (s *settings) selected(w world) ([]local.Provider, error) {
	if s.ModelProvider != "" {
		p, err := s.provider(w, s.ModelProvider, true)
		if err != nil {
			return nil, err
		}
		return []local.Provider{p}, nil
	}
	kinds := builtIn[:]
	if w.env("CODEX_OSS_BASE_URL") != "" || w.env("CODEX_OSS_PORT") != "" {
		var err error
		if kinds, err = s.kindAt(w); err != nil {
			return nil, err
		}
	}
	known, err := s.each(w, kinds, true)
	if err != nil {
		return nil, err
	}
	if s.oss {
		return onlyOne(known)
	}
	if slices.Contains(kinds, s.OSSProvider) { // not asked for, but preferred
		slices.SortStableFunc(known, func(a, b local.Provider) int {
			return cmp.Compare(b2i(b.Name() == s.OSSProvider), b2i(a.Name() == s.OSSProvider))
		})
	}
	for _, id := range s.near() {
		p, err := s.provider(w, id, false)
		if err == nil {
			err = s.speakable(id)
		}
		if err != nil {
			s.warnings = append(s.warnings, err.Error())
			continue
		}
		known = append(known, p)
	}
	return known, nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// allProviders are the servers that a person could mean: every built-in one, every configured one that is near, and
// the chosen one wherever it is. A hosted one that is not chosen is never spoken to. What is wrong with an entry that
// is not chosen is a warning.
func (s *settings) allProviders(w world) ([]local.Provider, error) {
	var all []local.Provider
	ids := slices.Concat(builtIn[:], s.near())
	if s.ModelProvider != "" && !slices.Contains(ids, s.ModelProvider) {
		ids = append(ids, s.ModelProvider)
	}
	addressed := s.ModelProvider
	if addressed == "" {
		kinds, err := s.kindAt(w)
		if err != nil {
			return nil, err
		}
		addressed = kinds[0]
	}
	for _, id := range ids {
		p, err := s.provider(w, id, id == addressed)
		if err != nil && id == s.ModelProvider {
			return nil, err
		}
		if err != nil {
			s.warnings = append(s.warnings, err.Error())
			continue
		}
		all = append(all, p)
	}
	return all, nil
}

// near are the ids of configured servers on this machine or its network.
func (s *settings) near() []string {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(s.ModelProviders)) {
		entry := s.ModelProviders[id]
		if !slices.Contains(builtIn[:], id) && nearby(entry.BaseURL) {
			ids = append(ids, id)
		}
	}
	return ids
}

// wire is what an entry speaks. One that does not say so speaks chat completions if it is near, as servers of one's
// own do, and otherwise what hosted ones speak. --chat-completions has every one speak those.
func (s *settings) wire(entry config.ModelProvider) string {
	if s.chatWire || entry.WireAPI == "" && nearby(entry.BaseURL) {
		return "chat"
	}
	return cmp.Or(entry.WireAPI, "responses")
}

// wireOf is what a provider of an id is spoken to with, "" when there is none of that id.
func (s *settings) wireOf(id string) string {
	switch id {
	case "ollama":
		return "ollama"
	case "lmstudio":
		return "chat"
	}
	if entry, configured := s.ModelProviders[id]; configured {
		return s.wire(entry)
	}
	return ""
}

// nearby reports whether an address is on this machine or on a network of one's own.
func nearby(base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap().WithZone("")
		shared := netip.MustParsePrefix("100.64.0.0/10") // of carriers, and of overlay networks
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || shared.Contains(ip)
	}
	if !strings.Contains(host, ".") {
		return true
	}
	for _, end := range []string{".localhost", ".local", ".lan", ".internal", ".home.arpa", ".home"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}

// provider makes the server of an id. CODEX_OSS_BASE_URL and CODEX_OSS_PORT move the one that is addressed.
func (s *settings) provider(w world, id string, addressed bool) (local.Provider, error) {
	switch id {
	case "ollama":
		return s.ollama(w, addressed)
	case "lmstudio":
		return s.lmstudio(w, addressed)
	}
	entry, configured := s.ModelProviders[id]
	if !configured {
		ids := s.ids()
		remedy := "--local-provider with one of: " + strings.Join(ids, ", ")
		if near := nearNames(id, ids); len(near) > 0 {
			remedy = "--local-provider " + near[0] + ", or a table [model_providers." + id + "] in config.toml"
		}
		return nil, try(fmt.Errorf("model provider %q is neither built in nor configured; there are: %s", id, strings.Join(ids, ", ")), remedy)
	}
	if entry.BaseURL == "" {
		return nil, try(fmt.Errorf("use model provider %s: it has no address", id), fmt.Sprintf("set model_providers.%s.base_url in config.toml", id))
	}
	header, err := gate(w, id, entry)
	if err != nil {
		return nil, err
	}
	o := openai.Options{
		Name: id, Header: header, Query: query(entry), Idle: entry.StreamIdleTimeout, Window: s.ModelContextWindow,
	}
	switch s.wire(entry) {
	case "messages":
		o.Header = keyed(header, entry)
		return orNil(messages.New(entry.BaseURL, o))
	case "responses":
		return orNil(responses.New(entry.BaseURL, o))
	}
	return orNil(openai.New(entry.BaseURL, o))
}

// orNil is a provider of any kind, nil when it could not be made.
func orNil[P local.Provider](p P, err error) (local.Provider, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

// keyed is the header with the key of the environment where the messages wire has it. Servers of one's own look where
// their other wires have it as well, and get it in both places.
func keyed(header http.Header, entry config.ModelProvider) http.Header {
	token, bearer := strings.CutPrefix(header.Get("Authorization"), "Bearer ")
	if entry.EnvKey == "" || !bearer || header.Get("X-Api-Key") != "" {
		return header
	}
	header = header.Clone()
	header.Set("X-Api-Key", token)
	if !nearby(entry.BaseURL) {
		header.Del("Authorization")
	}
	return header
}

// ids are the providers that a person can name.
func (s *settings) ids() []string {
	ids := slices.Clone(builtIn[:])
	for _, id := range slices.Sorted(maps.Keys(s.ModelProviders)) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// each makes the servers of several ids.
func (s *settings) each(w world, ids []string, addressed bool) ([]local.Provider, error) {
	var out []local.Provider
	for _, id := range ids {
		p, err := s.provider(w, id, addressed)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// kindAt finds out which kind of server is at the address of CODEX_OSS_BASE_URL or CODEX_OSS_PORT when nobody has said:
// the first that answers there; all of them when none does, and when neither variable is set.
func (s *settings) kindAt(w world) ([]string, error) {
	if w.env("CODEX_OSS_BASE_URL") == "" && w.env("CODEX_OSS_PORT") == "" {
		return builtIn[:], nil
	}
	known, err := s.each(w, builtIn[:], true)
	if err != nil {
		return nil, err
	}
	if up := answering(known); len(up) > 0 {
		return []string{up[0].Name()}, nil
	}
	return builtIn[:], nil
}

// answering are those of some servers that say who they are.
func answering(all []local.Provider) []local.Provider {
	ctx, cancel := context.WithTimeout(context.Background(), knockFor)
	defer cancel()
	var up []local.Provider
	for _, found := range local.Survey(ctx, all) {
		if found.Err == nil {
			up = append(up, found.Provider)
		}
	}
	return up
}

// onlyOne settles --oss: the server that answers, if it is one. When none does, all of them are named in the error
// that comes of it.
func onlyOne(all []local.Provider) ([]local.Provider, error) {
	up := answering(all)
	switch len(up) {
	case 0:
		return all, nil
	case 1:
		return up, nil
	}
	var names, where []string
	for _, p := range up {
		names, where = append(names, p.Name()), append(where, p.Name()+" at "+p.Address())
	}
	return nil, try(fmt.Errorf("choose a local provider: %d answer, %s", len(up), strings.Join(where, " and ")),
		fmt.Sprintf("--local-provider %s, or for good: oss_provider = %q in config.toml", strings.Join(names, " or "), names[0]))
}

// said is the base URL that an entry names, apart by whether it was said on the command line.
func (s *settings) said(id string) (override, configured string) {
	base := s.ModelProviders[id].BaseURL
	if s.Origin("model_providers", id, "base_url") == "command line" {
		return base, ""
	}
	return "", base
}

// ollama is the server of that kind that a person points at.
func (s *settings) ollama(w world, addressed bool) (local.Provider, error) {
	at := ollama.Addresses{OllamaHost: w.env("OLLAMA_HOST")}
	if at.Override, at.Configured = s.said("ollama"); addressed {
		at.CodexBaseURL, at.CodexPort = w.env("CODEX_OSS_BASE_URL"), w.env("CODEX_OSS_PORT")
	}
	base, _, err := ollama.Address(at)
	if err != nil {
		return nil, err
	}
	entry := s.ModelProviders["ollama"]
	header, err := gate(w, "ollama", entry)
	if err != nil {
		return nil, err
	}
	return ollama.New(base, ollama.Options{Idle: entry.StreamIdleTimeout, Header: header, Query: query(entry)})
}

// lmstudio is the server of that kind that a person points at. Its own variable for a token counts where the
// configuration names none.
func (s *settings) lmstudio(w world, addressed bool) (local.Provider, error) {
	var at lmstudio.Addresses
	if at.Override, at.Configured = s.said("lmstudio"); addressed {
		at.CodexBaseURL, at.CodexPort = w.env("CODEX_OSS_BASE_URL"), w.env("CODEX_OSS_PORT")
	}
	at.Configured = cmp.Or(at.Configured, w.lmstudio)
	base, _, err := lmstudio.Address(at)
	if err != nil {
		return nil, err
	}
	entry := s.ModelProviders["lmstudio"]
	header, err := gate(w, "lmstudio", entry)
	if err != nil {
		return nil, err
	}
	o := lmstudio.Options{Idle: entry.StreamIdleTimeout, Header: header, Query: query(entry)}
	if header.Get("Authorization") == "" {
		o.Token = strings.TrimSpace(w.env("LM_API_TOKEN"))
	}
	if local.OnThisMachine(base) {
		o.CLI, o.Files = w.lms(), w.modelFolder("lmstudio")
	}
	return lmstudio.New(base, o)
}

// query is what a person wants added to each address of a server.
func query(entry config.ModelProvider) url.Values {
	values := url.Values{}
	for name, value := range entry.QueryParams {
		values.Set(name, value)
	}
	return values
}

// gate is the header that a person wants each request to a server to carry. A key that is named but not there is an
// error; without any of it nothing is sent.
func gate(w world, id string, p config.ModelProvider) (http.Header, error) {
	header := http.Header{}
	for name, value := range p.HTTPHeaders {
		header.Set(name, value)
	}
	for name, variable := range p.EnvHTTPHeaders {
		if value := strings.TrimSpace(w.env(variable)); value != "" {
			header.Set(name, value)
		}
	}
	token := p.ExperimentalBearerToken
	if p.EnvKey != "" {
		if token = strings.TrimSpace(w.env(p.EnvKey)); token == "" {
			return nil, try(fmt.Errorf("use model provider %s: the environment has no %s, which model_providers.%s.env_key names", id, p.EnvKey, id),
				cmp.Or(p.EnvKeyInstructions, "export "+p.EnvKey+"=…"))
		}
	}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	for name, values := range header { // such a request would be refused unsent, as a broken connection
		if strings.ContainsFunc(values[0], unicode.IsControl) || name == "" || strings.ContainsAny(name, " :\r\n\t") {
			return nil, try(fmt.Errorf("use model provider %s: what is to be sent as the header %q has a line break or another character that no header may have", id, name),
				"take it out of the variable or of model_providers."+id+" in config.toml")
		}
	}
	return header, nil
}

// patience is how often a person wants a failing request repeated; a 0 that they wrote means not at all. What counts
// is the entry of the provider that was chosen, or of the first one.
func (s *settings) patience(w world) local.Patience {
	p := w.patience
	entry, known := s.ModelProviders[cmp.Or(s.ModelProvider, s.OSSProvider, builtIn[0])]
	if !known {
		return p
	}
	if p.Requests = entry.RequestMaxRetries; p.Requests == 0 {
		p.Requests = -1
	}
	if p.Streams = entry.StreamMaxRetries; p.Streams == 0 {
		p.Streams = -1
	}
	return p
}
