package workflows

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeInviteDelete = "DELETE /invites/{code}"

type inviteDelete struct {
	GuildID discord.GuildID `json:"guildId" jsonschema:"guild of the invite"`
	Invite  string          `json:"invite" jsonschema:"reference of list_guild_invites" pattern:"^invite_[0-9a-f]{32}$"`
	reason
}

type inviteState struct {
	Guild      guildSeen  `json:"guild"`
	Permission evidence   `json:"permission"`
	Invite     inviteSeen `json:"invite"`
	Count      int        `json:"guildInvites"`
	Others     string     `json:"otherInvites" jsonschema:"digest of all other invites"`
	Channels   string     `json:"channels" jsonschema:"digest of how all visible channels stand"`

	Code string `json:"-"` // for the request alone
}

// inviteSeen is an invite without its code, with which whoever has it can join.
type inviteSeen struct {
	Reference string            `json:"invite" jsonschema:"opaque; plan_invite_deletion and execute_invite_deletion take it"`
	Channel   discord.ChannelID `json:"channelId"`
	Inviter   discord.UserID    `json:"inviterId,omitempty"`
	Created   string            `json:"createdAt"`
	Expires   string            `json:"expiresAt,omitempty"`
	MaxAge    int               `json:"maxAge" jsonschema:"seconds; 0 for ever"`
	MaxUses   int               `json:"maxUses" jsonschema:"0 for any"`
	Temporary bool              `json:"temporary"`
	Target    int               `json:"targetType,omitempty"`
	Roles     []discord.RoleID  `json:"roleIds" jsonschema:"what whoever joins by it gets"`
}

type inviteListed struct {
	inviteSeen
	Uses int `json:"uses"`
}

type invitesListed struct {
	GuildID discord.GuildID `json:"guildId"`
	Invites []inviteListed  `json:"invites"`
}

// invite is an invite as Discord tells it to those who manage the guild.
type invite struct {
	Code    string          `json:"code"`
	GuildID discord.GuildID `json:"guild_id"`
	Guild   struct {
		ID discord.GuildID `json:"id"`
	} `json:"guild"`
	Channel struct {
		ID discord.ChannelID `json:"id"`
	} `json:"channel"`
	Inviter struct {
		ID discord.UserID `json:"id"`
	} `json:"inviter"`
	Created   string  `json:"created_at"`
	Expires   *string `json:"expires_at"`
	Uses      int     `json:"uses"`
	MaxAge    int     `json:"max_age"`
	MaxUses   int     `json:"max_uses"`
	Temporary bool    `json:"temporary"`
	Target    int     `json:"target_type"`
	Roles     []struct {
		ID discord.RoleID `json:"id"`
	} `json:"roles"`
}

func (i *invite) of(guild discord.GuildID) bool {
	return i.Code != "" && i.Channel.ID != "" && (i.GuildID == guild || i.GuildID == "" && i.Guild.ID == guild)
}

// inviteDeletion revokes an invite.
func inviteDeletion(rest discordtools.REST) mcpcore.Workflow {
	return change[inviteDelete, inviteState]{
		Name: "invite-deletion", Category: "invites", Title: "Revoke an invite",
		Doc: `Revokes one invite of the guild for good, named by the reference that list_guild_invites gives it: its link
			stops working everywhere it was posted. Whoever joined by it stays.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope, Needs: discord.ManageGuild,
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds whose invites may be revoked")},
		Audits: []mcpcore.Tool{companion(rest, mcpcore.Tool{
			Name: "list_guild_invites", Title: "List a guild's invites", Category: "invites",
			Doc:   "Lists the invites of a guild by references, which plan_invite_deletion takes and execute_invite_creation gives: the codes are not told.",
			Scope: mcpcore.GuildScope, Needs: discord.ManageGuild, Routes: []string{routeInvites},
		}, listInvites)},
		Reads: append(slices.Clone(standingRoutes), routeChannels, routeInvites),
		Write: []string{routeInviteDelete},
		Plan:  planInviteDeletion,
		Targets: func(in inviteDelete, _ inviteState) []mcpcore.Target {
			return []mcpcore.Target{all("invites", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in inviteDelete, s inviteState) (done mcpcore.Written, err error) {
			var was invite
			if err := w.send(ctx, routeInviteDelete, path{"code": s.Code}, nil, &was); err != nil {
				return done, err
			}
			if !was.of(in.GuildID) || was.Code != s.Code || was.Channel.ID != s.Invite.Channel {
				err = errors.New("the answer is of another invite than was revoked")
			}
			return mcpcore.Written{ID: in.Invite}, err
		},
		ReadBack: func(ctx context.Context, r *reads, in inviteDelete, s inviteState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			left, err := r.invites(ctx, in.GuildID)
			if err != nil {
				return found, err
			}
			i, others := withoutInvite(r.Call, left, in.Invite)
			if i >= 0 {
				return found, errors.New("the invite is still there")
			}
			var d drift
			d.unless(snapshot(others) == s.Others, "other_invites")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

func planInviteDeletion(ctx context.Context, r *reads, in inviteDelete) (plan mcpcore.Change[inviteState], err error) {
	bot, err := r.able(ctx, in.GuildID, discord.ManageGuild)
	if err != nil {
		return plan, err
	}
	list, err := r.invites(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	i, others := withoutInvite(r.Call, list, in.Invite)
	if i < 0 {
		return plan, refused("invite-missing", "the guild has no invite of that reference; list_guild_invites tells those that it has")
	}
	channels, err := r.channels(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	s := inviteState{
		Guild: bot.Guild, Permission: bot.evidence(), Invite: list[i].seen(r.Call), Count: len(list), Others: snapshot(others),
		Channels: snapshot(layout(channels)), Code: list[i].Code,
	}
	at := indexOf(channels, s.Invite.Channel)
	if at < 0 {
		return plan, incomplete("the channel of the invite")
	}
	facts := mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "to the channel", Value: string(s.Invite.Channel)}, {Name: "made by", Value: string(s.Invite.Inviter)}, {Name: "made", Value: s.Invite.Created}}
	for _, id := range s.Invite.Roles {
		given, known := bot.role(id)
		if !known {
			return plan, incomplete("the roles that the invite gives")
		}
		facts = append(facts, mcpcore.Fact{Name: "gives the role", Value: given.Name})
	}
	return mcpcore.Change[inviteState]{
		Action: "revoke", State: s, Facts: facts, Risks: []string{"irreversible"},
		Unbound:  mcpcore.Facts{{Name: "channel", Value: channels[at].Name}, {Name: "uses", Value: strconv.Itoa(list[i].Uses)}},
		Warnings: []string{"Members who joined by it stay, with the roles that it gave them."},
	}, nil
}

func listInvites(ctx context.Context, r *reads, in guildOnly) (all invitesListed, err error) {
	list, err := r.invites(ctx, in.GuildID)
	all.GuildID = in.GuildID
	for _, i := range list {
		all.Invites = append(all.Invites, inviteListed{i.seen(r.Call), i.Uses})
	}
	return all, err
}

// invites reads all invites of the guild.
func (r *reads) invites(ctx context.Context, guild discord.GuildID) (list []invite, err error) {
	if err := r.get(ctx, routeInvites, inGuild(guild), &list); err != nil {
		return nil, err
	}
	for _, i := range list {
		if !i.of(guild) {
			return nil, incomplete("the invites of the guild")
		}
	}
	slices.SortFunc(list, func(a, b invite) int { return strings.Compare(a.Code, b.Code) })
	return list, nil
}

// withoutInvite is the index of the invite that a reference names, -1 for none, and all
// others as plans bind them: how often they were used changes by itself.
func withoutInvite(c *mcpcore.Call, list []invite, reference string) (at int, others []inviteSeen) {
	at = -1
	for i, each := range list {
		if seen := each.seen(c); seen.Reference == reference {
			at = i
		} else {
			others = append(others, seen)
		}
	}
	return at, others
}

// seen is the invite as it may be told.
func (i *invite) seen(c *mcpcore.Call) inviteSeen {
	s := inviteSeen{
		Reference: c.Reference("invite", i.Code), Channel: i.Channel.ID, Inviter: i.Inviter.ID, Created: i.Created,
		MaxAge: i.MaxAge, MaxUses: i.MaxUses, Temporary: i.Temporary, Target: i.Target,
	}
	if i.Expires != nil {
		s.Expires = *i.Expires
	}
	for _, role := range i.Roles {
		s.Roles = append(s.Roles, role.ID)
	}
	slices.Sort(s.Roles)
	return s
}
