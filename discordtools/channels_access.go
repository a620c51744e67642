package discordtools

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// rightsIn is what the bot holds in a guild, nil where its member or the roles
// cannot be read, or a role of the bot is not among them. That the bot owns the
// guild is not considered: Discord lets no bot own one.
func (a *api) rightsIn(ctx context.Context, guild discord.GuildID) *subject {
	var (
		roles    roleSet
		rolesErr error
		member   memberView
		reading  sync.WaitGroup
	)
	reading.Go(func() { roles, rolesErr = readRoles(ctx, a.reading, guild) })
	bot, err := a.botID(ctx)
	if err == nil {
		member, err = readMemberOf(ctx, a.reading, guild, bot)
	}
	reading.Wait()
	if err != nil || rolesErr != nil || member.Roles == nil {
		return nil
	}
	s := roles.member(member, "", a.now())
	if !s.known() {
		return nil
	}
	return &s
}

// channelGrants is what a channel says about who may do what in it.
type channelGrants struct {
	Type       discord.ChannelType `json:"type"`
	Overwrites []overwriteView     `json:"permission_overwrites"`
}

// reads tells whether the bot can view a channel and read what was written
// there before, nil for unknown. A timeout takes away nothing of it.
func (s *subject) reads(c channelGrants) (view, history *bool) {
	over, err := overwritesOf(c.Overwrites)
	if s == nil || err != nil {
		return nil, nil
	}
	r := s.rights()
	r.enter(over)
	need := discord.ViewChannel | discord.ReadMessageHistory
	if c.Type == discord.GuildVoice || c.Type == discord.GuildStageVoice {
		need |= discord.Connect // reading the text of a voice channel takes it
	}
	sees, reads := r.may.Has(discord.ViewChannel), r.may.Has(need)
	return &sees, &reads
}

// listChannels lists channels and marks what the bot cannot read: Discord gives
// bots hidden channels as well, and answers reads of channels without history as
// if nothing had been written.
func listChannels(ctx context.Context, a *api, in channelsList) (v channelsPage, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		rights  *subject
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
	if rights == nil {
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
