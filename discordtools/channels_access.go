package discordtools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// botRights is what the bot holds in a guild before any channel is looked at.
// The zero value knows nothing.
type botRights struct {
	known bool
	guild discord.GuildID
	bot   discord.UserID
	roles []discord.RoleID
	base  discord.Permissions
}

// rightsIn reads the bot's member and the roles of the guild that the call names. Where one cannot be
// read, or a role of the bot is not among them, nothing is known. That the bot
// owns the guild is not considered: Discord lets no bot own one. A timeout takes
// away nothing that [botRights.reads] tells.
func (a *api) rightsIn(ctx context.Context, guild discord.GuildID) botRights {
	var (
		roles []struct {
			ID          discord.RoleID        `json:"id"`
			Permissions discord.PermissionSet `json:"permissions"`
		}
		rolesErr error
		reading  sync.WaitGroup
	)
	reading.Go(func() {
		rolesErr = a.do(ctx, routeRoles, sub{}, &roles)
	})
	var member struct {
		Roles []discord.RoleID `json:"roles"`
	}
	bot, err := a.botID(ctx)
	if err == nil {
		err = a.do(ctx, routeMember, sub{Path: map[string]string{"user_id": string(bot)}}, &member)
	}
	reading.Wait()
	if err != nil || rolesErr != nil {
		return botRights{}
	}
	held := append(slices.Clone(member.Roles), discord.RoleID(guild)) // @everyone
	var sets []discord.Permissions
	for _, r := range roles {
		if !slices.Contains(held, r.ID) {
			continue
		}
		p, err := r.Permissions.Permissions()
		if err != nil {
			return botRights{}
		}
		sets = append(sets, p)
	}
	if len(sets) != len(held) {
		return botRights{}
	}
	return botRights{known: true, guild: guild, bot: bot, roles: member.Roles, base: discord.Base(false, sets...)}
}

// channelGrants is what a channel says about who may do what in it.
type channelGrants struct {
	Type       discord.ChannelType `json:"type"`
	Overwrites []overwriteView     `json:"permission_overwrites"`
}

// reads tells whether the bot can view a channel and read what was written
// there before, nil for unknown.
func (r botRights) reads(c channelGrants) (view, history *bool) {
	over, err := overwritesOf(c.Overwrites)
	if !r.known || err != nil {
		return nil, nil
	}
	p := discord.InChannel(r.base, r.guild, r.bot, r.roles, over)
	need := discord.ViewChannel | discord.ReadMessageHistory
	if c.Type == discord.GuildVoice || c.Type == discord.GuildStageVoice {
		need |= discord.Connect // reading the text of a voice channel takes it
	}
	sees, reads := p.Has(discord.ViewChannel), p.Has(need)
	return &sees, &reads
}

// listChannels lists channels and marks what the bot cannot read: Discord gives
// bots hidden channels as well, and answers reads of channels without history as
// if nothing had been written.
func listChannels(ctx context.Context, a *api, in channelsList) (v channelsPage, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		rights  botRights
		reading sync.WaitGroup
	)
	reading.Go(func() { rights = a.rightsIn(ctx, in.GuildID) })
	reply, err := a.send(ctx)
	if err != nil {
		cancel()
	}
	reading.Wait()
	if err != nil {
		return v, err
	}
	var all struct {
		Channels []channelItem `json:"channels" from:"@reply"`
	}
	if err := a.project(reply, &all); err != nil {
		return v, err
	}
	var grants []channelGrants
	if err := json.Unmarshal(reply.Body, &grants); err != nil {
		return v, fmt.Errorf("read overwrites: %w", err)
	}
	closed := 0
	for i, c := range all.Channels {
		if in.Type != nil && c.Type != *in.Type || in.ParentID != "" && (c.ParentID == nil || *c.ParentID != in.ParentID) {
			continue
		}
		c.CanView, c.CanReadHistory = rights.reads(grants[i])
		if c.CanReadHistory != nil && !*c.CanReadHistory {
			closed++
		}
		v.Channels = append(v.Channels, c)
	}
	if !rights.known {
		v.Warnings = append(v.Warnings, "What the bot can read here is unknown: its member or the guild's roles could not be read.")
	}
	if closed > 0 {
		v.Warnings = append(v.Warnings, fmt.Sprintf("The bot cannot read %d of these. What is not found there may still have been written.", closed))
	}
	return v, nil
}

// listActiveThreads lists a guild's active threads, of one channel if asked.
func listActiveThreads(ctx context.Context, a *api, in threadsActive) (v threadsActivePage, err error) {
	reply, err := a.send(ctx)
	if err != nil {
		return v, err
	}
	var all struct {
		Threads []activeThread `json:"threads"`
	}
	if err := a.project(reply, &all); err != nil {
		return v, err
	}
	v.GuildID = in.GuildID
	for _, t := range all.Threads {
		if in.ParentID == "" || t.ParentID != nil && *t.ParentID == in.ParentID {
			v.Threads = append(v.Threads, t)
		}
	}
	return v, nil
}
