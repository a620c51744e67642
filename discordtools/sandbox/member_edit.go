package sandbox

import (
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// memberForm is what can be changed of a member.
//
// Source: https://docs.discord.com/developers/resources/guild#modify-guild-member.
type memberForm struct {
	Nick    opt[string]            `json:"nick" maxLength:"32"`
	Roles   opt[[]discord.RoleID]  `json:"roles" maxItems:"350"`
	Mute    opt[bool]              `json:"mute"`
	Deaf    opt[bool]              `json:"deaf"`
	Channel opt[discord.ChannelID] `json:"channel_id"`
	Timeout opt[time.Time]         `json:"communication_disabled_until"`
	Flags   opt[int]               `json:"flags"`
}

const (
	// maxTimeout is how long a member can be timed out.
	maxTimeout = 28 * 24 * time.Hour
	// bypassesVerification is the member flag that can be set.
	bypassesVerification = 1 << 2
)

var errNotInVoice = badRequest(40032, "Target user is not connected to voice.")

// editMember changes a member. Everything is checked before anything changes.
func editMember(x *exchange, g *guild, m *Member) (answer, error) {
	var f memberForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	edited := *m
	for _, part := range []func(*guild, *Member, memberForm) error{x.editNick, x.editRoles, x.editVoice, x.editTimeout, x.editFlags} {
		if err := part(g, &edited, f); err != nil {
			return refuse(err)
		}
	}
	old := *m
	*m = edited
	x.auditMember(g, &old, m)
	x.move(g, m, f.Channel)
	return ok(x.member(m))
}

func (x *exchange) editNick(g *guild, m *Member, f memberForm) error {
	if !f.Nick.sent {
		return nil
	}
	if err := x.needInGuild(g, discord.ManageNicknames); err != nil {
		return err
	}
	if m.User != x.actor && !g.outranks(x.actor, m.User) {
		return errMissingPermissions
	}
	f.Nick.into(&m.Nick)
	return nil
}

// editRoles demands of each role that comes or goes that the bot may assign it.
func (x *exchange) editRoles(g *guild, m *Member, f memberForm) error {
	if !f.Roles.has() {
		return nil
	}
	if err := x.needInGuild(g, discord.ManageRoles); err != nil {
		return err
	}
	for _, id := range append(without(f.Roles.value, m.Roles), without(m.Roles, f.Roles.value)...) {
		r := g.roles[id]
		if r == nil {
			return errUnknownRole
		}
		if err := x.mayAssign(g, r); err != nil {
			return err
		}
	}
	m.Roles = slices.Clone(f.Roles.value)
	return nil
}

// without lists the items of a that b lacks.
func without[T comparable](a, b []T) []T {
	return slices.DeleteFunc(slices.Clone(a), func(item T) bool { return slices.Contains(b, item) })
}

// editVoice mutes and deafens who is in a voice channel, and checks where they
// are to be moved; move does that.
func (x *exchange) editVoice(g *guild, m *Member, f memberForm) error {
	for _, part := range []struct {
		sent bool
		need discord.Permissions
	}{
		{f.Mute.has(), discord.MuteMembers}, {f.Deaf.has(), discord.DeafenMembers}, {f.Channel.sent, discord.MoveMembers},
	} {
		switch {
		case !part.sent:
			continue
		case g.voice[m.User] == nil:
			return errNotInVoice
		}
		if err := x.needInGuild(g, part.need); err != nil {
			return err
		}
	}
	m.Mute, m.Deaf = f.Mute.or(m.Mute), f.Deaf.or(m.Deaf)
	if !f.Channel.has() {
		return nil
	}
	c := x.channels[f.Channel.value]
	switch {
	case c == nil || c.Guild != g.ID:
		return errUnknownChannel
	case c.Type != discord.GuildVoice && c.Type != discord.GuildStageVoice:
		return errChannelType
	}
	return x.need(c, discord.Connect|discord.MoveMembers)
}

// move disconnects a member, or moves them to another voice channel.
func (x *exchange) move(g *guild, m *Member, to opt[discord.ChannelID]) {
	state := g.voice[m.User]
	switch {
	case !to.sent || state == nil:
	case to.null:
		delete(g.voice, m.User)
		x.audit(g.ID, auditMemberDisconnect, "", AuditOptions{Count: "1"})
	default:
		state.Channel = to.value
		x.audit(g.ID, auditMemberMove, "", AuditOptions{Channel: to.value, Count: "1"})
	}
}

// editTimeout takes a higher role; neither the owner nor an administrator can be
// timed out.
func (x *exchange) editTimeout(g *guild, m *Member, f memberForm) error {
	if !f.Timeout.sent {
		return nil
	}
	if f.Timeout.value.After(x.now.Add(maxTimeout)) {
		return invalid("communication_disabled_until", "INVALID_COMMUNICATION_DISABLED_TIMESTAMP", "Invalid communication disabled timestamp")
	}
	if err := x.needInGuild(g, discord.ModerateMembers); err != nil {
		return err
	}
	if !g.outranks(x.actor, m.User) || f.Timeout.has() && g.base(m).Has(discord.Administrator) {
		return errMissingPermissions
	}
	m.TimeoutUntil = f.Timeout.value
	return nil
}

// editFlags takes one of three sets of permissions.
func (x *exchange) editFlags(g *guild, m *Member, f memberForm) error {
	if !f.Flags.has() {
		return nil
	}
	held := x.world.inGuild(g, x.actor)
	if !held.Has(discord.ManageGuild) && !held.Has(discord.ManageRoles) &&
		!held.Has(discord.ModerateMembers|discord.KickMembers|discord.BanMembers) {
		return errMissingPermissions
	}
	m.Flags = m.Flags&^bypassesVerification | f.Flags.value&bypassesVerification
	return nil
}

// auditMember records a change of a member under the actions that it is.
func (x *exchange) auditMember(g *guild, old, now *Member) {
	if changes := diffMember(old, now); len(changes) > 0 {
		x.audit(g.ID, auditMemberUpdate, string(now.User), AuditOptions{}, changes...)
	}
	x.auditRoles(g, now.User, without(now.Roles, old.Roles), without(old.Roles, now.Roles))
}

// diffMember lists what changed, under the keys of the audit log.
func diffMember(old, now *Member) []AuditChange {
	all := changed("nick", textOrNull(old.Nick), textOrNull(now.Nick))
	all = append(all, changed("mute", old.Mute, now.Mute)...)
	all = append(all, changed("deaf", old.Deaf, now.Deaf)...)
	all = append(all, changed("flags", old.Flags, now.Flags)...)
	all = append(all, changed("communication_disabled_until", stampOrNull(old.TimeoutUntil), stampOrNull(now.TimeoutUntil))...)
	return append(all, changed("avatar_hash", textOrNull(old.Avatar), textOrNull(now.Avatar))...)
}
