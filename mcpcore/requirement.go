package mcpcore

import (
	"slices"

	"github.com/guildwarden/guildwarden/internal/redact"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Always is the permissions that every call of the tool needs, whatever its
// arguments: Needs, and to see the channel for a tool of [ChannelScope] that acts
// as the bot.
func (t *Tool) Always() discord.Permissions {
	if t.Scope == ChannelScope && !t.Anonymous {
		return t.Needs | discord.ViewChannel
	}
	return t.Needs
}

// NeedsLock reports whether the tool acts as the application, so that the
// operator must have locked which one.
func (t *Tool) NeedsLock() bool { return t.Scope == ApplicationScope && !t.Unlocked || t.Locked }

// TakesSecret reports whether a top-level argument holds a credential, as its
// name says.
func (t *Tool) TakesSecret() bool {
	if t.impl == nil || t.impl.input == nil {
		return false
	}
	for _, p := range t.impl.input.Properties {
		if redact.SecretKey(p.Name) {
			return true
		}
	}
	return false
}

// Preconditions are the tool's own, then those of the policies that match it.
func (t *Tool) Preconditions(policies []Policy) []Precondition {
	all := slices.Clone(t.Require)
	for _, p := range policies {
		if p.matches(t) {
			all = append(all, p.Require...)
		}
	}
	return all
}

// NeedsPerson reports whether a person must approve calls of the tool. What a
// call does through others is theirs to say: see [Call.plan].
func (t *Tool) NeedsPerson(policies []Policy) bool {
	return t.Person || t.Effect != Read && t.Steps == nil && slices.ContainsFunc(policies, func(p Policy) bool { return p.Person && p.matches(t) })
}

// Fields are the authorization fields that mean something for the tool: those of
// its gate, then those that its preconditions read.
func (t *Tool) Fields(policies []Policy) []string {
	return t.fieldsWith(t.Preconditions(policies))
}

func (t *Tool) fieldsWith(preconditions []Precondition) []string {
	fields := slices.Clone(t.EffectiveGate().fields())
	for _, p := range preconditions {
		for _, name := range p.Fields {
			if !slices.Contains(fields, name) {
				fields = append(fields, name)
			}
		}
	}
	return fields
}
