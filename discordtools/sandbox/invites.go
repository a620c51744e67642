package sandbox

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Invite is an invite to a channel of a guild.
//
// Source: https://docs.discord.com/developers/resources/invite.
type Invite struct {
	Code      string
	Channel   discord.ChannelID
	Inviter   discord.UserID // "" is nobody
	MaxAge    int            // seconds; 0 never ends
	MaxUses   int            // 0 is unlimited
	Uses      int
	Temporary bool
	Created   time.Time // zero: when it was added
	Target    int       // 1 a stream, 2 an activity; 0 is none
	User      discord.UserID
	App       discord.ApplicationID
	Roles     []discord.RoleID
	Users     []discord.UserID // who alone can accept it; none: everybody

	asked bool // whether somebody asked what became of the users' file
}

// inviteRoutes make, read and revoke invites.
var inviteRoutes = []route{
	{method: "POST", path: "/channels/{channel_id}/invites", handle: inChannel(discord.CreateInstantInvite, createInvite)},
	{method: "GET", path: "/channels/{channel_id}/invites", handle: inChannel(discord.ManageChannels, listChannelInvites)},
	{method: "GET", path: "/guilds/{guild_id}/invites", handle: inGuild(0, listGuildInvites)},
	{method: "GET", path: "/invites/{code}", handle: getInvite, open: true},
	{method: "DELETE", path: "/invites/{code}", handle: deleteInvite},
	{method: "GET", path: "/invites/{code}/target-users", handle: onInviteUsers(getInviteUsers)},
	{method: "GET", path: "/invites/{code}/target-users/job-status", handle: onInviteUsers(getInviteJob)},
}

const (
	auditInviteCreate = 40
	auditInviteDelete = 42

	mostInvites = 1000 // of a guild
	dayOfInvite = 86400
)

var (
	errUnknownInvite  = notFound(10006, "Unknown Invite")
	errTooManyInvites = badRequest(30016, "Maximum number of invites reached (1000)")
)

// AddInvite adds an invite and returns its code, which it makes where there is
// none.
func (d *Discord) AddInvite(i Invite) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	known(d.world.channels, i.Channel)
	if i.Code == "" {
		i.Code = inviteCode()
	}
	if d.world.invites[i.Code] != nil {
		panic(fmt.Sprintf("sandbox: invite %s exists", i.Code))
	}
	if i.Created.IsZero() {
		i.Created = d.world.clock()
	}
	d.world.keepInvite(&i)
	return i.Code
}

func (w *world) keepInvite(i *Invite) {
	if w.invites == nil {
		w.invites = map[string]*Invite{}
	}
	w.invites[i.Code] = i
}

func inviteCode() string { return rand.Text()[:8] }

// over is when an invite ends, zero for never.
func (i *Invite) over() time.Time {
	if i.MaxAge == 0 {
		return time.Time{}
	}
	return i.Created.Add(time.Duration(i.MaxAge) * time.Second)
}

// invite finds an invite that is still good, with its channel and guild. A
// guild's vanity code leads to its first channel that everyone sees.
func (x *exchange) invite(code string) (*Invite, *channel, *guild) {
	if i := x.invites[code]; i != nil && x.good(i) {
		c := x.channels[i.Channel]
		return i, c, x.guilds[c.Guild]
	}
	for _, g := range x.guilds {
		if g.Vanity == "" || g.Vanity != code {
			continue
		}
		for _, c := range x.guildChannels(g.ID) {
			if c.Type != discord.GuildCategory && x.inChannel(c, x.actor).Has(discord.ViewChannel) {
				return &Invite{Code: code, Channel: c.ID, Created: x.now}, c, g
			}
		}
	}
	return nil, nil, nil
}

// good reports whether an invite still lets someone in.
func (x *exchange) good(i *Invite) bool {
	end := i.over()
	return x.channels[i.Channel] != nil && (end.IsZero() || x.now.Before(end)) && (i.MaxUses == 0 || i.Uses < i.MaxUses)
}

// goodInvites are the invites that match, the oldest first.
func (x *exchange) goodInvites(match func(*Invite, *channel) bool) []*Invite {
	var all []*Invite
	for _, i := range x.invites {
		if x.good(i) && match(i, x.channels[i.Channel]) {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b *Invite) int {
		if n := a.Created.Compare(b.Created); n != 0 {
			return n
		}
		if a.Code < b.Code {
			return -1
		}
		return 1
	})
	return all
}

type inviteForm struct {
	MaxAge    opt[int]                   `json:"max_age" minimum:"0" maximum:"5184000"`
	MaxUses   opt[int]                   `json:"max_uses" minimum:"0" maximum:"100"`
	Temporary opt[bool]                  `json:"temporary"`
	Unique    opt[bool]                  `json:"unique"`
	Target    opt[int]                   `json:"target_type" enum:"1,2"`
	User      opt[discord.UserID]        `json:"target_user_id"`
	App       opt[discord.ApplicationID] `json:"target_application_id"`
	Roles     opt[[]discord.RoleID]      `json:"role_ids" maxItems:"250"`
}

// createInvite makes an invite, or gives a like one of the bot's back unless
// `unique` is true.
func createInvite(x *exchange, c *channel) (answer, error) {
	var f inviteForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if c.Guild == "" || c.Thread != nil || c.Type == discord.GuildCategory {
		return refuse(errChannelType)
	}
	g := x.guilds[c.Guild]
	made := &Invite{
		Channel: c.ID, Inviter: x.actor, MaxAge: f.MaxAge.or(dayOfInvite), MaxUses: f.MaxUses.value, Temporary: f.Temporary.value,
		Created: x.now, Target: f.Target.value, User: f.User.value, App: f.App.value, Roles: f.Roles.value,
	}
	if err := x.aims(g, c, made); err != nil {
		return refuse(err)
	}
	if err := x.inviteUsers(g, made); err != nil {
		return refuse(err)
	}
	if !f.Unique.value {
		same := x.goodInvites(func(i *Invite, _ *channel) bool {
			return i.Channel == c.ID && i.Inviter == x.actor && i.MaxAge == made.MaxAge && i.MaxUses == made.MaxUses &&
				i.Temporary == made.Temporary && i.Target == made.Target && i.User == made.User && i.App == made.App &&
				slices.Equal(i.Roles, made.Roles) && slices.Equal(i.Users, made.Users)
		})
		if len(same) > 0 {
			return ok(x.viewInvite(same[len(same)-1], c, g, true))
		}
	}
	if len(x.goodInvites(func(_ *Invite, in *channel) bool { return in.Guild == g.ID })) >= mostInvites {
		return refuse(errTooManyInvites)
	}
	made.Code = inviteCode()
	x.keepInvite(made)
	x.audit(g.ID, auditInviteCreate, "", AuditOptions{}, changed("code", nil, &made.Code)...)
	return ok(x.viewInvite(made, c, g, true))
}

// aims checks what an invite leads to: a stream or an activity in a voice
// channel, and roles that the bot may give.
func (x *exchange) aims(g *guild, c *channel, i *Invite) error {
	var bad form
	if i.Target != 0 && c.Type != discord.GuildVoice {
		bad.add("target_type", "GUILD_INVITE_INVALID_TARGET_TYPE", "Invalid target type")
	}
	if i.Target == 1 && x.users[i.User] == nil {
		bad.add("target_user_id", "GUILD_INVITE_INVALID_TARGET_USER", "Invalid target user")
	}
	if i.Target == 2 && i.App == "" {
		bad.add("target_application_id", "GUILD_INVITE_INVALID_APPLICATION", "Invalid target application")
	}
	if err := bad.err(); err != nil {
		return err
	}
	if len(i.Roles) > 0 && !x.world.inGuild(g, x.actor).Has(discord.ManageRoles) {
		return errMissingPermissions
	}
	for _, id := range i.Roles {
		switch r := g.roles[id]; {
		case r == nil:
			return errUnknownRole
		case !g.above(x.actor, r):
			return errMissingPermissions
		}
	}
	return nil
}

func listChannelInvites(x *exchange, c *channel) (answer, error) {
	if c.Guild == "" {
		return refuse(errChannelType)
	}
	all := x.goodInvites(func(i *Invite, _ *channel) bool { return i.Channel == c.ID })
	return ok(mapped(all, func(i *Invite) inviteView { return x.viewInvite(i, c, x.guilds[c.Guild], true) }))
}

// listGuildInvites takes MANAGE_GUILD or VIEW_AUDIT_LOG.
func listGuildInvites(x *exchange, g *guild) (answer, error) {
	if held := x.world.inGuild(g, x.actor); held&(discord.ManageGuild|discord.ViewAuditLog) == 0 {
		return refuse(errMissingPermissions)
	}
	all := x.goodInvites(func(_ *Invite, c *channel) bool { return c.Guild == g.ID })
	return ok(mapped(all, func(i *Invite) inviteView { return x.viewInvite(i, x.channels[i.Channel], g, true) }))
}

func getInvite(x *exchange) (answer, error) {
	counts, err := x.flag("with_counts")
	if err != nil {
		return refuse(err)
	}
	if _, err := x.flag("with_expiration"); err != nil {
		return refuse(err)
	}
	event, err := x.cursor("guild_scheduled_event_id")
	if err != nil {
		return refuse(err)
	}
	i, c, g := x.invite(x.params["code"])
	if i == nil {
		return refuse(errUnknownInvite)
	}
	v := x.viewInvite(i, c, g, false)
	if e := g.events[discord.EventID(event)]; e != nil {
		shown := x.viewEvent(g, e, false).eventBase
		v.Event = &shown
	}
	if counts {
		all, online := g.counts()
		v.Members, v.Online = &all, &online
	}
	return ok(v)
}

// deleteInvite takes MANAGE_CHANNELS in the invite's channel, or MANAGE_GUILD.
func deleteInvite(x *exchange) (answer, error) {
	i := x.invites[x.params["code"]]
	if i == nil || !x.good(i) {
		return refuse(errUnknownInvite)
	}
	c := x.channels[i.Channel]
	g, err := x.guild(c.Guild)
	if err != nil {
		return refuse(err)
	}
	if !x.allowed(c, discord.ManageChannels) && !x.world.inGuild(g, x.actor).Has(discord.ManageGuild) {
		return refuse(errMissingPermissions)
	}
	v := x.viewInvite(i, c, g, true)
	delete(x.invites, i.Code)
	x.audit(g.ID, auditInviteDelete, "", AuditOptions{}, changed("code", &i.Code, nil)...)
	return answer{status: http.StatusOK, body: v}, nil
}
