package discordtools

import (
	"context"
	"errors"
	"slices"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// permissions explains who may do what, and why.
//
// Source: https://docs.discord.com/developers/topics/permissions.
func permissions() category {
	return category{Name: "permissions", Scope: mcpcore.GuildScope, Tools: []declaration{
		read[permissionsAudit, permissionsAudited]{
			Name:  "permissions_audit_channel",
			Title: "Audit a channel's access",
			Doc: `Tells for every role of the guild whether it alone lets somebody view a channel, send in
				it or manage it. Overwrites of members are counted, not applied: for one person use
				permissions_explain.`,
			Calls: []string{routeRoles, routeChannel},
			Scope: mcpcore.ChannelScope,
			Needs: discord.ViewChannel,
			Fence: fence.ChannelTopic,
			Run:   auditChannel,
		},
		read[permissionsExplain, permissionsExplained]{
			Name:  "permissions_explain",
			Title: "Explain permissions",
			Doc: `Computes what a member, or a role by itself, may do in a guild or channel, step by step,
				and whether an action would be allowed: view_channel, send_messages and manage_channel take
				channel_id; the others take user_id and a target.`,
			Calls: []string{routeGuild, routeRoles, routeMember, routeChannel},
			Rules: []mcpcore.Rule{exactlyOne("user_id", "role_id"), mcpcore.AnyOf("action", "requested_permissions"), {Check: fitsAction}},
			Run:   explainPermissions,
		},
	}}
}

// exactlyOne demands one of the arguments and no second.
func exactlyOne(a, b string) mcpcore.Rule {
	return mcpcore.Rule{Doc: "Give exactly one of " + a + ", " + b + ".", Check: func(call *mcpcore.Call) *mcpcore.Issue {
		switch {
		case call.Has(a) && call.Has(b):
			return contradiction(b, "excludes %s; give one of them", a)
		case !call.Has(a) && !call.Has(b):
			return contradiction("", "give one of %s, %s", a, b)
		}
		return nil
	}}
}

// action is something that somebody may want to do.
type action string

const (
	viewChannel   action = "view_channel"
	sendMessages  action = "send_messages"
	manageChannel action = "manage_channel"
	assignRole    action = "assign_role"
	removeRole    action = "remove_role"
	kickMember    action = "kick_member"
	banMember     action = "ban_member"
	timeoutMember action = "timeout_member"
)

// channelActions are those in a channel, in the order of reports.
var channelActions = []action{viewChannel, sendMessages, manageChannel}

// onRole and onMember report what the action is done to.
func (a action) onRole() bool   { return a == assignRole || a == removeRole }
func (a action) onMember() bool { return a == kickMember || a == banMember || a == timeoutMember }

// takes are the permissions that the action takes, in a channel of that type.
func (a action) takes(t discord.ChannelType) discord.Permissions {
	switch a {
	case viewChannel:
		return discord.ViewChannel
	case sendMessages:
		if t.IsThread() {
			return discord.ViewChannel | discord.SendMessagesInThreads
		}
		return discord.ViewChannel | discord.SendMessages
	case manageChannel:
		if t.IsThread() {
			return discord.ViewChannel | discord.ManageThreads
		}
		return discord.ViewChannel | discord.ManageChannels
	case assignRole, removeRole:
		return discord.ManageRoles
	case kickMember:
		return discord.KickMembers
	case banMember:
		return discord.BanMembers
	case timeoutMember:
		return discord.ModerateMembers
	}
	return 0
}

// fitsAction demands what the action is about, and nothing that it is not about.
func fitsAction(call *mcpcore.Call) *mcpcore.Issue {
	a := action(call.Text("action"))
	for _, part := range []struct {
		name   string
		wanted bool
		alone  bool // it goes with such actions only
	}{
		{"channel_id", slices.Contains(channelActions, a), false},
		{"user_id", a.onRole() || a.onMember(), false},
		{"target_role_id", a.onRole(), true},
		{"target_user_id", a.onMember(), true},
	} {
		switch given := call.Has(part.name); {
		case part.wanted && !given:
			return contradiction(part.name, "is required with action %s", a)
		case part.alone && given && !part.wanted && a == "":
			return contradiction(part.name, "goes with an action on it only")
		case part.alone && given && !part.wanted:
			return contradiction(part.name, "does not go with action %s", a)
		}
	}
	return nil
}

// unsound tells the caller which part of Discord's answer has a flaw.
func unsound(err error) error {
	if f, ok := errors.AsType[*flaw](err); ok {
		return mcpcore.Invalid(mcpcore.Issue{Path: "discord_response." + f.path, Message: f.message, Code: mcpcore.IssueRule}).
			WithHint("Discord's answer does not fit together, so nothing is computed from it. Check that the ids belong together, then call again.")
	}
	return err
}

// place is a channel in which permissions count.
type place struct {
	channelSnapshot
	known  bool              // its overwrites are
	source discord.ChannelID // where the overwrites are from, "" where nobody knows
	why    string            // why they are not known
}

// readPlace reads a channel of the guild, for a thread also its parent.
func (a *api) readPlace(ctx context.Context, guild discord.GuildID, id discord.ChannelID) (p place, err error) {
	if p.channelSnapshot, err = a.readSnapshot(ctx, guild, id); err != nil {
		return p, err
	}
	from := p.channelSnapshot
	if p.Type.IsThread() {
		if p.Parent == "" || p.Parent == id {
			p.why = "The thread does not tell its channel, whose overwrites count."
			return p, nil
		}
		from, err = a.readSnapshot(ctx, guild, p.Parent)
		switch told, ok := errors.AsType[*mcpcore.Error](err); {
		case ok && (told.Code == mcpcore.CodePermission || told.Code == mcpcore.CodeNotFound):
			p.why = "The thread's channel, whose overwrites count, cannot be read."
			return p, nil
		case err != nil:
			return p, err
		case from.Type.IsThread():
			return p, flawed("channel.parent_id", "is a thread")
		}
	}
	p.source = from.ID
	if from.Given == nil {
		p.why = "Discord did not tell the channel's overwrites."
		return p, nil
	}
	p.over, err = overwritesOf(from.Given)
	p.known = true
	return p, err
}

func (a *api) readSnapshot(ctx context.Context, guild discord.GuildID, id discord.ChannelID) (c channelSnapshot, err error) {
	err = a.reading(ctx, routeChannel, atChannel(id), &c)
	switch {
	case err != nil:
		return c, err
	case c.ID != id:
		return c, flawed("channel.id", "is another channel's")
	case c.Guild != guild:
		return c, flawed("channel.guild_id", "is not the guild asked about")
	}
	return c, nil
}

// hidden reports whether only those who take part in a private thread see it, so
// that permissions alone do not tell.
func (p place) hidden(r *rights) bool {
	return p.Type == discord.PrivateThread && !r.may.Has(discord.ManageThreads)
}

// confidence is how sure an answer is.
type confidence string

const (
	complete confidence = "complete"
	partial  confidence = "partial"
)
