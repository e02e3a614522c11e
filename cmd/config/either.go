package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// either is a value that a file may write in more than one form.
type either interface {
	set(value any) error
	forms() string // for a person, after "want"
}

// Approval is when a person is asked. Granular is set when classes of questions were switched one by one.
type Approval struct {
	Policy   string // "untrusted", "on-request", "never"; "" when nothing was chosen
	Granular *Granular
}

// Granular switches classes of questions: false means refused without asking.
type Granular struct {
	SandboxApproval, Rules, MCPElicitations, SkillApproval, RequestPermissions bool
}

func (a *Approval) forms() string { return "untrusted, on-request, never or a granular table" }

func (a *Approval) set(value any) error {
	switch v := value.(type) {
	case string:
		switch v {
		case "untrusted", "on-request", "never":
			a.Policy = v
		case "on-failure":
			a.Policy = "on-request"
		default:
			return fmt.Errorf("%q is not one of untrusted, on-request, never", v)
		}
		return nil
	case map[string]any:
		table, ok := v["granular"].(map[string]any)
		if !ok || len(v) != 1 {
			return errors.New("a table here holds granular = { … } and nothing else")
		}
		g := &Granular{}
		switches := map[string]*bool{
			"sandbox_approval": &g.SandboxApproval, "rules": &g.Rules, "mcp_elicitations": &g.MCPElicitations,
			"skill_approval": &g.SkillApproval, "request_permissions": &g.RequestPermissions,
		}
		for key, value := range table {
			target, known := switches[key]
			if !known {
				return fmt.Errorf("granular has no switch %s", key)
			}
			if *target, ok = value.(bool); !ok {
				return fmt.Errorf("granular.%s: want true or false", key)
			}
		}
		for _, key := range []string{"sandbox_approval", "rules", "mcp_elicitations"} {
			if _, ok := table[key]; !ok {
				return fmt.Errorf("granular lacks %s", key)
			}
		}
		a.Policy, a.Granular = "on-request", g
		return nil
	}
	return errForm
}

// errForm says that the value has none of the forms; the caller words it.
var errForm = errors.New("another form")

// Notifications says which events reach the desktop: all, none, or those named.
type Notifications struct {
	On   bool
	Only []string
}

func (n *Notifications) forms() string { return "true, false or a list of event names" }

func (n *Notifications) set(value any) error {
	switch v := value.(type) {
	case bool:
		n.On, n.Only = v, nil
		return nil
	case []any:
		names, ok := texts(v)
		if !ok {
			return errForm
		}
		n.On, n.Only = len(names) > 0, names
		return nil
	}
	return errForm
}

// Feature is a switch; some carry a table of their own.
type Feature struct {
	On    bool
	Table map[string]any
}

func (f *Feature) forms() string { return "true, false or a table" }

func (f *Feature) set(value any) error {
	switch v := value.(type) {
	case bool:
		f.On = v
	case map[string]any:
		f.On, f.Table = true, v
		if on, ok := v["enabled"].(bool); ok {
			f.On = on
		}
	default:
		return errForm
	}
	return nil
}

// EnvVar names a variable handed on to a server; Source is where it is read from, "" for our own environment.
type EnvVar struct{ Name, Source string }

func (e *EnvVar) forms() string { return "a variable name or { name = …, source = … }" }

func (e *EnvVar) set(value any) error {
	switch v := value.(type) {
	case string:
		e.Name = v
		return nil
	case map[string]any:
		name, named := v["name"].(string)
		source, _ := v["source"].(string)
		if !named {
			return errForm
		}
		e.Name, e.Source = name, source
		return nil
	}
	return errForm
}

func texts(values []any) ([]string, bool) {
	out := make([]string, 0, len(values))
	for _, v := range values {
		s, ok := v.(string)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// switches are the features this program knows, with what holds when nobody chose.
var switches = map[string]bool{
	"shell_tool": true, "unified_exec": true, "view_image": true, "shell_snapshot": true, "hooks": true,
	"unbounded_connection_retries": false, "undo": false,
	"multi_agent": false, "plugins": false, "goals": false, "personality": false, "skill_search": false,
	"tool_suggest": false, "mentions_v2": false, "apps": false, "fast_mode": false, "guardian_approval": false,
	"enable_request_compression": false, "image_generation": false, "memories": false, "code_mode": false,
	"network_proxy": false, "exec_permission_approvals": false, "request_permissions_tool": false,
}

// FeatureNames lists the known features, sorted.
func FeatureNames() []string {
	names := make([]string, 0, len(switches))
	for name := range switches {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Feature reports whether a feature is on, chosen or by default.
func (c Config) Feature(name string) bool {
	if f, ok := c.Features[name]; ok {
		return f.On
	}
	return switches[name]
}

// featureTree turns --enable and --disable into what -c would have set.
func featureTree(enable, disable []string) (map[string]any, error) {
	features := map[string]any{}
	for i, names := range [][]string{enable, disable} {
		flag := [...]string{"--enable", "--disable"}[i]
		for _, name := range names {
			if _, known := switches[name]; !known {
				text := fmt.Sprintf("%s %q: no such feature", flag, name)
				if near := nearest(name, FeatureNames()); near != "" {
					text += "; the nearest is " + near
				}
				return nil, &Error{Problem: text, Try: "known features: " + strings.Join(FeatureNames(), ", ")}
			}
			features[name] = i == 0
		}
	}
	return features, nil
}
