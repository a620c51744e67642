package discordtools

import (
	"context"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type permissionsAudit struct {
	guildRef
	ChannelID discord.ChannelID `json:"channel_id" jsonschema:"channel or thread"`
	Actions   []action          `json:"actions,omitempty" in:"local" jsonschema:"what to look at; all three when left out" minItems:"1" maxItems:"3" enum:"view_channel,send_messages,manage_channel"`
	offset
}

type permissionsAudited struct {
	GuildID    discord.GuildID       `json:"guild_id"`
	ChannelID  discord.ChannelID     `json:"channel_id"`
	SourceID   *discord.ChannelID    `json:"permission_source_channel_id" jsonschema:"whose overwrites count: for a thread its channel"`
	Actions    []action              `json:"requested_actions"`
	Roles      []auditedRole         `json:"roles" jsonschema:"the highest first"`
	Summary    auditSummary          `json:"summary"`
	Members    int                   `json:"member_overwrite_count"`
	Unknown    discord.PermissionSet `json:"unknown_permission_bits"`
	Warnings   []string              `json:"warnings"`
	Confidence confidence            `json:"confidence"`
	part
}

func (v *permissionsAudited) said() []string { return v.Warnings }

type auditedRole struct {
	ID       discord.RoleID   `json:"id"`
	Name     string           `json:"name"`
	Position int              `json:"position"`
	Managed  bool             `json:"managed"`
	Admin    bool             `json:"administrator"`
	Actions  map[action]*bool `json:"actions"`
}

type auditSummary struct {
	Roles    int              `json:"role_count"`
	ByAction map[action]tally `json:"by_action"`
}

// tally is how many roles an action is open to.
type tally struct {
	Allowed int `json:"allowed"`
	Denied  int `json:"denied"`
	Unknown int `json:"unknown"`
}

func (t tally) with(answer *bool) tally {
	switch {
	case answer == nil:
		t.Unknown++
	case *answer:
		t.Allowed++
	default:
		t.Denied++
	}
	return t
}

func auditChannel(ctx context.Context, a *api, in permissionsAudit) (v permissionsAudited, err error) {
	var (
		roles roleSet
		p     place
	)
	if err := together(
		func() (err error) { roles, err = readRoles(ctx, a.reading, in.GuildID); return err },
		func() (err error) { p, err = a.readPlace(ctx, in.GuildID, in.ChannelID); return err },
	); err != nil {
		return v, unsound(err)
	}
	v = permissionsAudited{GuildID: in.GuildID, ChannelID: in.ChannelID, Confidence: complete, Summary: auditSummary{ByAction: map[action]tally{}}}
	if p.source != "" {
		v.SourceID = &p.source
	}
	for _, a := range channelActions {
		if len(in.Actions) == 0 || slices.Contains(in.Actions, a) {
			v.Actions = append(v.Actions, a)
			v.Summary.ByAction[a] = tally{}
		}
	}
	var seen discord.Bits
	for _, o := range p.over {
		seen = seen.Or(o.Allow).Or(o.Deny)
		if o.Type == discord.OverwriteMember {
			v.Members++
		}
	}
	doubts := false
	for _, role := range roles.all {
		seen = seen.Or(role.bits)
		audited := p.audit(roles, role, v.Actions)
		for _, a := range v.Actions {
			v.Summary.ByAction[a] = v.Summary.ByAction[a].with(audited.Actions[a])
			doubts = doubts || audited.Actions[a] == nil
		}
		v.Roles = append(v.Roles, audited)
	}
	v.Summary.Roles, v.Unknown = len(v.Roles), seen.Unknown().Set()
	v.warn(p, seen, doubts)
	return v, nil
}

// audit says what a role by itself is allowed, nil for what cannot be told.
func (p place) audit(roles roleSet, role guildRole, actions []action) auditedRole {
	s := subject{roles: roles, held: []discord.RoleID{role.ID}}
	if role.ID == roles.everyone().ID {
		s.held = nil
	}
	r := s.rights()
	r.enter(p.over)
	v := auditedRole{
		ID: role.ID, Name: role.Name, Position: role.Position, Managed: role.Managed,
		Admin: r.unlimited, Actions: map[action]*bool{},
	}
	for _, a := range actions {
		v.Actions[a] = nil
		if !p.known && !r.unlimited || p.hidden(r) {
			continue
		}
		allowed := discord.Effective(r.may.Low(), p.Type).Has(a.takes(p.Type))
		v.Actions[a] = &allowed
	}
	return v
}

// warn says what the answer does not tell.
func (v *permissionsAudited) warn(p place, seen discord.Bits, doubts bool) {
	if p.why != "" {
		v.Warnings = append(v.Warnings, p.why)
	}
	if p.Type == discord.PrivateThread {
		v.Warnings = append(v.Warnings, "The thread is private: only those who take part in it see it, and roles do not tell who does.")
	}
	if v.Members > 0 {
		v.Warnings = append(v.Warnings, "Overwrites of members are not applied: some people may do more, or less, than their roles.")
	}
	if v.Unknown != "0" {
		v.Warnings = append(v.Warnings, "There are permissions that this version has no name for: "+strings.Join(seen.Unknown().Names(), ", ")+".")
	}
	if doubts || v.Unknown != "0" {
		v.Confidence = partial
	}
}
