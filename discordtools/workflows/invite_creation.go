package workflows

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeInvite       = "GET /invites/{code}"
	routeInviteUsers  = "GET /invites/{code}/target-users"
	routeInviteJob    = "GET /invites/{code}/target-users/job-status"
	routeInviteCreate = "POST /channels/{channel_id}/invites"
)

type inviteCreate struct {
	ChannelID  discord.ChannelID `json:"channelId" jsonschema:"channel to invite to"`
	MaxAge     int               `json:"maxAge" jsonschema:"seconds until it ends: a minute to a week" minimum:"60" maximum:"604800"`
	MaxUses    int               `json:"maxUses" jsonschema:"how many can join by it" minimum:"1" maximum:"100"`
	Acceptance string            `json:"acceptance" jsonschema:"who can join by it: whoever has it, or the users of userIds alone" enum:"bearer,exact-users"`
	UserIDs    []discord.UserID  `json:"userIds,omitempty" jsonschema:"with exact-users" minItems:"1" maxItems:"100" uniqueItems:"true"`
	RoleIDs    []discord.RoleID  `json:"roleIds,omitempty" jsonschema:"roles for whoever joins by it" minItems:"1" maxItems:"25" uniqueItems:"true"`
	Bearer     bool              `json:"acknowledgeBearerCapability,omitempty" jsonschema:"true, with bearer: whoever gets hold of it can join"`
	Grants     bool              `json:"acknowledgePersistentGrants,omitempty" jsonschema:"true, with roleIds: members keep the roles when the invite has ended"`
	reason
}

type inviteCreateState struct {
	placeSeen
	Users []discord.UserID `json:"userIds"`
	Roles []discord.RoleID `json:"roleIds"`
	Gives []string         `json:"gives" jsonschema:"permissions of the roles"`

	code *string `json:"-"` // as the answer says, for the read-back alone
}

type inviteBody struct {
	MaxAge    int              `json:"max_age"`
	MaxUses   int              `json:"max_uses"`
	Temporary bool             `json:"temporary"`
	Unique    bool             `json:"unique"`
	Roles     []discord.RoleID `json:"role_ids,omitempty"`
}

// inviteTypes are the channels that people can be invited to.
var inviteTypes = []discord.ChannelType{
	discord.GuildText, discord.GuildAnnouncement, discord.GuildVoice, discord.GuildStageVoice, discord.GuildForum, discord.GuildMedia,
}

// inviteRule demands the users of an invite for some, and the acknowledgement that
// goes with each kind.
var inviteRule = mcpcore.Rule{Check: func(c *mcpcore.Call) *mcpcore.Issue {
	bearer := c.Text("acceptance") == "bearer"
	switch {
	case bearer == c.Has("userIds"):
		return issue("userIds", "goes with the acceptance exact-users, which needs it")
	case bearer != argument[bool](c, "acknowledgeBearerCapability"):
		return issue("acknowledgeBearerCapability", "must be true with the acceptance bearer, and goes with no other")
	case c.Has("roleIds") != argument[bool](c, "acknowledgePersistentGrants"):
		return issue("acknowledgePersistentGrants", "must be true with roleIds, and goes with nothing else")
	}
	return nil
}}

// inviteCreation makes an invite and tells nobody its code.
func inviteCreation(rest discordtools.REST) mcpcore.Workflow {
	return change[inviteCreate, inviteCreateState]{
		Name: "invite-creation", Category: "invites", Title: "Create an invite",
		Doc: `Makes a new invite to a channel that ends, for whoever has it or for exact users. Its code is in no answer and no record: the
			answer names it by the reference that list_guild_invites has for it, and people take the link from Discord, in the guild's
			settings under Invites.`,
		Effect: mcpcore.Write, Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel | discord.CreateInstantInvite,
		Scopes: []mcpcore.PolicyScope{
			{Name: "channels", Arg: "channelId", Doc: "channels that people may be invited to"}, {Name: "roles", Arg: "roleIds", Doc: "roles that invites may give"},
		},
		Rules: []mcpcore.Rule{inviteRule},
		Reads: append(slices.Clone(placeRoutes), routeInvite, routeInviteUsers, routeInviteJob), Write: []string{routeInviteCreate},
		Plan: planInvite,
		Targets: func(in inviteCreate, s inviteCreateState) []mcpcore.Target {
			claims := []mcpcore.Target{theChannel(in.ChannelID), all("invites", s.Guild.ID)}
			for _, id := range s.Roles {
				claims = append(claims, theRole(id))
			}
			return claims
		},
		Apply: func(ctx context.Context, w *write, in inviteCreate, s inviteCreateState) (done mcpcore.Written, err error) {
			var made invite
			if err := w.sendWith(ctx, routeInviteCreate, s.request(w, in), inviteBody{in.MaxAge, in.MaxUses, false, true, s.Roles}, &made); err != nil {
				return done, err
			}
			if made.Code == "" {
				return done, errors.New("the answer has no invite")
			}
			*s.code, done.ID = made.Code, w.Call.Reference("invite", made.Code)
			if made.MaxAge != in.MaxAge || made.MaxUses != in.MaxUses || made.Temporary || made.Uses != 0 || made.Inviter.ID != s.Permission.Bot {
				err = errors.New("the answer is of another invite than was asked for")
			}
			return done, errors.Join(err, s.is(&made))
		},
		ReadBack: func(ctx context.Context, r *reads, in inviteCreate, s inviteCreateState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			var now invite
			if err := r.get(ctx, routeInvite, path{"code": *s.code}, &now); err != nil {
				return found, err
			}
			if err := s.is(&now); err != nil {
				return found, err
			}
			return found, r.accepts(ctx, *s.code, s.Users)
		},
	}.on(rest)
}

func planInvite(ctx context.Context, r *reads, in inviteCreate) (plan mcpcore.Change[inviteCreateState], err error) {
	at, err := r.place(ctx, in.ChannelID)
	if err != nil {
		return plan, err
	}
	if !slices.Contains(inviteTypes, at.kind) {
		return plan, refused("no-invites", "nobody can be invited to %s", in.ChannelID)
	}
	if err := at.needs(discord.ViewChannel | discord.CreateInstantInvite); err != nil {
		return plan, err
	}
	if len(in.UserIDs) > 0 {
		if err := at.bot.needs(discord.ManageGuild); err != nil {
			return plan, err
		}
	}
	s := inviteCreateState{
		placeSeen: at.placeSeen, Users: slices.SortedFunc(slices.Values(in.UserIDs), discord.CompareIDs),
		Roles: slices.SortedFunc(slices.Values(in.RoleIDs), discord.CompareIDs), code: new(string),
	}
	plan = mcpcore.Change[inviteCreateState]{Action: "create", Facts: mcpcore.Facts{
		{Name: "guild", Value: s.Guild.Name}, {Name: "channel", Value: s.Channel.Name}, {Name: "ends after", Value: (time.Duration(in.MaxAge) * time.Second).String()},
		{Name: "can be used", Value: strconv.Itoa(in.MaxUses) + " times"},
	}}
	if in.Acceptance == "bearer" {
		plan.Risks, plan.Warnings = []string{"bearer-credential"}, []string{"Whoever gets hold of the invite can join, until it ends or is revoked."}
	}
	for _, user := range s.Users {
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "for the user", Value: string(user)})
	}
	if err := at.bot.invitesTo(&s, &plan); err != nil {
		return plan, err
	}
	plan.State = s
	return plan, nil
}

// invitesTo refuses roles that the bot may not give, and notes what they are.
func (s *standing) invitesTo(state *inviteCreateState, plan *mcpcore.Change[inviteCreateState]) error {
	if len(state.Roles) == 0 {
		return nil
	}
	if err := s.needs(discord.ManageRoles); err != nil {
		return err
	}
	var all discord.Bits
	for _, id := range state.Roles {
		role, err := s.known(id)
		if err != nil {
			return err
		}
		if err := s.standard(role); err != nil {
			return err
		}
		gives, err := role.Permissions.Bits()
		if err != nil {
			return incomplete("the permissions of the role " + string(id))
		}
		if err := s.gives(gives); err != nil {
			return err
		}
		all = all.Or(gives)
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "gives the role", Value: role.Name})
	}
	state.Gives = all.Names()
	plan.Risks = append(plan.Risks, "persistent-grants")
	plan.Warnings = append(plan.Warnings, "Whoever joins by it keeps the roles when it has ended or is revoked.")
	return nil
}

// request is where the invite is made, with the file of the users who can accept
// it.
func (s *inviteCreateState) request(w *write, in inviteCreate) discordtools.Request {
	r := discordtools.Request{Path: inChannel(in.ChannelID), Reason: w.reason}
	if len(s.Users) > 0 {
		r.Form = []discordtools.Part{{Name: "target_users_file", Filename: "users.csv", ContentType: "text/csv", Data: userFile(s.Users)}}
	}
	return r
}

// is refuses an invite that leads elsewhere or gives other roles than was planned.
func (s *inviteCreateState) is(i *invite) error {
	roles := []discord.RoleID{}
	for _, r := range i.Roles {
		roles = append(roles, r.ID)
	}
	slices.SortFunc(roles, discord.CompareIDs)
	if !i.of(s.Guild.ID) || i.Code != *s.code || i.Channel.ID != s.Channel.ID || i.Expires == nil || i.Target != 0 || !slices.Equal(roles, s.Roles) {
		return errors.New("the invite leads elsewhere, never ends, or gives other roles than was planned")
	}
	return nil
}
