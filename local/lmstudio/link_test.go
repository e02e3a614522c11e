package lmstudio

import (
	"context"
	"errors"
	"strings"
	"testing"

	"interpreter/local"
)

const linked = `{"status":"online","issues":[],"deviceIdentifier":"d1","deviceName":"laptop","preferredDeviceIdentifier":"d2","peers":[
	{"deviceIdentifier":"d3","deviceName":"attic","status":"disconnected","loadedModels":[]},
	{"deviceIdentifier":"d2","deviceName":"tower","status":"connected","loadedModels":["practice","other:2"]}]}`

func TestReadLink(t *testing.T) {
	for out, want := range map[string]string{
		linked:                     "tower practice,other:2",
		"I am lms 0.4.\n" + linked: "tower practice,other:2",
		strings.Replace(linked, `"preferredDeviceIdentifier":"d2"`, `"preferredDeviceIdentifier":"d1"`, 1): " practice,other:2",
		strings.Replace(linked, `"preferredDeviceIdentifier":"d2"`, `"preferredDeviceIdentifier":null`, 1): " practice,other:2",
		strings.Replace(linked, `"preferredDeviceIdentifier":"d2"`, `"preferredDeviceIdentifier":"d9"`, 1): "d9 practice,other:2",
		strings.Replace(linked, `"online"`, `"offline"`, 1):                                                " ",
		strings.Replace(linked, `[],`, `["deviceDisabled"],`, 1):                                           " ",
		`LM Link not running because you are not logged in.`:                                               " ",
		`{"status":"online","preferredDeviceIdentifier":7,"peers":3}`:                                      " ",
		``: " ", `{`: " ", `null`: " ",
	} {
		if l := readLink([]byte(out)); l.host+" "+strings.Join(l.instances, ",") != want {
			t.Errorf("%s: %+v", out, l)
		}
	}
}

// Models that LM Link runs on another machine are marked, and what is loaded there is not taken for loaded here.
func TestLink(t *testing.T) {
	_, calls, url := played(t, "loaded 65536\n"+hi)
	asked := 0
	status := linked
	cli := func(_ context.Context, args ...string) ([]byte, error) {
		if strings.Join(args, " ") != "link status --json" {
			return nil, errors.New("it does not run")
		}
		asked++
		return []byte(status), nil
	}
	p := newProvider(t, url, Options{CLI: cli})
	models, err := p.Models(t.Context())
	if err != nil || models[0].RemoteHost != "tower" {
		t.Errorf("%+v, %v", models, err)
	}
	if shown, err := p.Show(t.Context(), "practice"); err != nil || shown.RemoteHost != "tower" {
		t.Errorf("%+v, %v", shown, err)
	}
	if got := residents(t, p); got != "" {
		t.Errorf("loaded: %s", got)
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	load(t, p, local.Loading{Window: 65536, Remote: true})
	if n := calls.count("POST /api/v1/models/load"); n != 0 {
		t.Errorf("a model named to run elsewhere was loaded %d times", n)
	}
	load(t, p, local.Loading{Window: 65536})
	if n := calls.count("POST /api/v1/models/load"); n != 1 {
		t.Errorf("a model on another machine was adopted, %d loads", n)
	}
	status = strings.Replace(linked, `"d2","peers"`, `"d1","peers"`, 1)
	if models, err := newProvider(t, url, Options{CLI: cli}).Models(t.Context()); err != nil || models[0].RemoteHost != "" {
		t.Errorf("this machine is preferred: %+v, %v", models, err)
	}
}
