package preconditions

import "github.com/guildwarden/guildwarden/mcpcore"

// PersonForGated has a person approve every call of a tool that has a gate. It
// adds to the gate and replaces nothing of it.
func PersonForGated() mcpcore.Policy {
	return mcpcore.Policy{
		Name:   "person_for_gated",
		Match:  func(t *mcpcore.Tool) bool { return t.EffectiveGate() != mcpcore.NoGate },
		Person: true,
	}
}

// PersonForWrites has a person approve every call that is not read-only.
func PersonForWrites() mcpcore.Policy {
	return mcpcore.Policy{
		Name:   "person_for_writes",
		Match:  func(t *mcpcore.Tool) bool { return t.Effect != mcpcore.Read },
		Person: true,
	}
}
