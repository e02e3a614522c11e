package harness

import "slices"

// OnRequest lists the tools that are advertised only when a person has switched them on by name, in their order. When is
// a function, so each is tried with and without its name, in every environment that can make a difference.
func (h Harness) OnRequest() []string {
	var names []string
	for _, t := range h.Tools {
		if t.When == nil || t.Hidden || slices.Contains(names, t.Spec.Name) {
			continue
		}
		const switches = 5
		for set := range 1 << switches {
			on := func(bit int) bool { return set>>bit&1 == 1 }
			env := Environment{Interactive: on(0), Background: on(1), Fetch: on(2), Vision: on(3), Large: on(4)}
			without := t.When(env)
			env.Requested = []string{t.Spec.Name}
			if t.When(env) != without {
				names = append(names, t.Spec.Name)
				break
			}
		}
	}
	return names
}
