package workflows

import (
	"context"
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeInvites        = "GET /guilds/{guild_id}/invites"
	routeActiveThreads  = "GET /guilds/{guild_id}/threads/active"
	routePublicArchive  = "GET /channels/{channel_id}/threads/archived/public"
	routePrivateArchive = "GET /channels/{channel_id}/threads/archived/private"
	routeOnboarding     = "GET /guilds/{guild_id}/onboarding"
	routeWelcome        = "GET /guilds/{guild_id}/welcome-screen"
	routeAutomod        = "GET /guilds/{guild_id}/auto-moderation/rules"
	routeStage          = "GET /stage-instances/{channel_id}"
	routeGrants         = "GET /applications/{application_id}/guilds/{guild_id}/commands/permissions"
)

// channelUsesRoutes are the places of a guild that can name a channel or be in
// one.
var channelUsesRoutes = []string{
	routeChannel, routeChannels, routeChannelWebhooks, routeInvites, routeActiveThreads, routePublicArchive, routePrivateArchive,
	routeOnboarding, routeWelcome, routeAutomod, routeEvents, routeStage, routeApplication, routeGrants,
}

// channelHolds is what is in a channel beside its messages.
type channelHolds struct {
	Threads  int                 `json:"activeThreads"`
	Archived int                 `json:"archivedThreads"`
	All      string              `json:"threads" jsonschema:"digest of all its threads"`
	Webhooks []discord.WebhookID `json:"webhooks"`
	Invites  int                 `json:"invites"`
}

func (h *channelHolds) String() string {
	return fmt.Sprintf("its messages, %d active and %d archived threads, %d webhooks, %d invites", h.Threads, h.Archived, len(h.Webhooks), h.Invites)
}

// channelUses is what in a guild names a channel.
type channelUses struct {
	Children   []discord.ChannelID `json:"children"`
	Settings   []string            `json:"settings"`
	Onboarding []string            `json:"onboarding"`
	Welcome    int                 `json:"welcomeScreen"`
	Automod    []discord.RuleID    `json:"automodRules"`
	Events     []discord.EventID   `json:"events"`
	Stages     int                 `json:"liveStages"`
	Commands   []discord.CommandID `json:"commands"`
}

// read looks at what is in a channel.
func (h *channelHolds) read(ctx context.Context, r *reads, guild discord.GuildID, c channel) error {
	var invites []struct {
		Channel struct {
			ID discord.ChannelID `json:"id"`
		} `json:"channel"`
	}
	if err := r.get(ctx, routeInvites, inGuild(guild), &invites); err != nil {
		return err
	}
	for _, i := range invites {
		if i.Channel.ID == c.ID {
			h.Invites++
		}
	}
	if slices.Contains(contentKinds, c.Type) {
		var hooks []struct {
			ID discord.WebhookID `json:"id"`
		}
		if err := r.get(ctx, routeChannelWebhooks, inChannel(c.ID), &hooks); err != nil {
			return err
		}
		for _, hook := range hooks {
			h.Webhooks = append(h.Webhooks, hook.ID)
		}
		slices.Sort(h.Webhooks)
	}
	if slices.Contains(textKinds, c.Type) {
		return h.readThreads(ctx, r, guild, c)
	}
	return nil
}

// threadPage is a page of threads.
type threadPage struct {
	Threads []struct {
		ID     discord.ChannelID `json:"id"`
		Parent discord.ChannelID `json:"parent_id"`
		Meta   struct {
			ArchivedAt string `json:"archive_timestamp"`
		} `json:"thread_metadata"`
	} `json:"threads"`
	More bool `json:"has_more"`
}

// archivePages is how many pages of a hundred archived threads are read of each
// kind: who has more of them deletes by hand.
const archivePages = 10

func (h *channelHolds) readThreads(ctx context.Context, r *reads, guild discord.GuildID, c channel) error {
	var active threadPage
	if err := r.get(ctx, routeActiveThreads, inGuild(guild), &active); err != nil {
		return err
	}
	var ids []discord.ChannelID
	for _, t := range active.Threads {
		if t.Parent == c.ID {
			ids = append(ids, t.ID)
		}
	}
	h.Threads = len(ids)
	archives := []string{routePublicArchive}
	if c.Type == discord.GuildText {
		archives = append(archives, routePrivateArchive)
	}
	for _, route := range archives {
		before := map[string][]string{"limit": {"100"}}
		for page := 1; ; page++ {
			var p threadPage
			if err := r.query(ctx, route, inChannel(c.ID), before, &p); err != nil {
				return err
			}
			for _, t := range p.Threads {
				ids = append(ids, t.ID)
			}
			switch {
			case !p.More:
			case page == archivePages:
				return refused("too-many-threads", "the channel has more archived threads than can be looked through")
			case len(p.Threads) == 0:
				return incomplete("the archived threads")
			default:
				before["before"] = []string{p.Threads[len(p.Threads)-1].Meta.ArchivedAt}
				continue
			}
			break
		}
	}
	h.Archived = len(ids) - h.Threads
	slices.SortFunc(ids, discord.CompareIDs[discord.ChannelID])
	h.All = snapshot(ids)
	return nil
}

// read looks at every place that can name a channel.
func (u *channelUses) read(ctx context.Context, r *reads, guild discord.GuildID, c channel) error {
	for _, read := range []func(context.Context, *reads, discord.GuildID, channel) error{
		u.settings, u.onboarding, u.welcome, u.automod, u.events, u.stage, u.commands,
	} {
		if err := read(ctx, r, guild, c); err != nil {
			return err
		}
	}
	return nil
}

func (u *channelUses) settings(ctx context.Context, r *reads, guild discord.GuildID, c channel) error {
	var g struct {
		System  discord.ChannelID `json:"system_channel_id"`
		AFK     discord.ChannelID `json:"afk_channel_id"`
		Rules   discord.ChannelID `json:"rules_channel_id"`
		Updates discord.ChannelID `json:"public_updates_channel_id"`
		Safety  discord.ChannelID `json:"safety_alerts_channel_id"`
		Widget  discord.ChannelID `json:"widget_channel_id"`
	}
	if err := r.get(ctx, routeGuild, inGuild(guild), &g); err != nil {
		return err
	}
	for _, s := range []struct {
		name    string
		channel discord.ChannelID
	}{{"system", g.System}, {"afk", g.AFK}, {"rules", g.Rules}, {"public updates", g.Updates}, {"safety alerts", g.Safety}, {"widget", g.Widget}} {
		if s.channel == c.ID {
			u.Settings = append(u.Settings, s.name)
		}
	}
	return nil
}

func (u *channelUses) onboarding(ctx context.Context, r *reads, guild discord.GuildID, c channel) error {
	var o struct {
		Defaults []discord.ChannelID `json:"default_channel_ids"`
		Prompts  []struct {
			ID      discord.PromptID `json:"id"`
			Options []struct {
				Channels []discord.ChannelID `json:"channel_ids"`
			} `json:"options"`
		} `json:"prompts"`
	}
	if err := r.get(ctx, routeOnboarding, inGuild(guild), &o); err != nil {
		return err
	}
	if slices.Contains(o.Defaults, c.ID) {
		u.Onboarding = append(u.Onboarding, "default channels")
	}
	for _, p := range o.Prompts {
		for _, option := range p.Options {
			if slices.Contains(option.Channels, c.ID) {
				u.Onboarding = append(u.Onboarding, "prompt "+string(p.ID))
			}
		}
	}
	u.Onboarding = slices.Compact(u.Onboarding)
	return nil
}

func (u *channelUses) welcome(ctx context.Context, r *reads, guild discord.GuildID, c channel) error {
	var screen struct {
		Channels []struct {
			ID discord.ChannelID `json:"channel_id"`
		} `json:"welcome_channels"`
	}
	if err := r.get(ctx, routeWelcome, inGuild(guild), &screen); err != nil && !gone(err) {
		return err
	}
	for _, shown := range screen.Channels {
		if shown.ID == c.ID {
			u.Welcome++
		}
	}
	return nil
}

func (u *channelUses) automod(ctx context.Context, r *reads, guild discord.GuildID, c channel) error {
	var rules []struct {
		ID      discord.RuleID      `json:"id"`
		Exempt  []discord.ChannelID `json:"exempt_channels"`
		Actions []struct {
			Metadata struct {
				Channel discord.ChannelID `json:"channel_id"`
			} `json:"metadata"`
		} `json:"actions"`
	}
	if err := r.get(ctx, routeAutomod, inGuild(guild), &rules); err != nil {
		return err
	}
	for _, rule := range rules {
		names := rule.Exempt
		for _, a := range rule.Actions {
			names = append(names, a.Metadata.Channel)
		}
		if slices.Contains(names, c.ID) {
			u.Automod = append(u.Automod, rule.ID)
		}
	}
	slices.Sort(u.Automod)
	return nil
}

func (u *channelUses) events(ctx context.Context, r *reads, guild discord.GuildID, c channel) error {
	var events []struct {
		ID      discord.EventID   `json:"id"`
		Channel discord.ChannelID `json:"channel_id"`
	}
	if err := r.get(ctx, routeEvents, inGuild(guild), &events); err != nil {
		return err
	}
	for _, e := range events {
		if e.Channel == c.ID {
			u.Events = append(u.Events, e.ID)
		}
	}
	slices.Sort(u.Events)
	return nil
}

func (u *channelUses) stage(ctx context.Context, r *reads, _ discord.GuildID, c channel) error {
	if c.Type != discord.GuildStageVoice {
		return nil
	}
	var live struct {
		ID string `json:"id"`
	}
	switch err := r.get(ctx, routeStage, inChannel(c.ID), &live); {
	case err == nil:
		u.Stages = 1
		return nil
	case gone(err):
		return nil
	default:
		return err
	}
}

// grantToChannel is the type of what a command is open to.
const grantToChannel = 3

func (u *channelUses) commands(ctx context.Context, r *reads, guild discord.GuildID, c channel) error {
	var application struct {
		ID string `json:"id"`
	}
	if err := r.get(ctx, routeApplication, nil, &application); err != nil {
		return err
	}
	var commands []struct {
		ID     discord.CommandID `json:"id"`
		Grants []struct {
			ID   discord.ChannelID `json:"id"`
			Type int               `json:"type"`
		} `json:"permissions"`
	}
	at := path{"application_id": application.ID, "guild_id": string(guild)}
	if err := r.get(ctx, routeGrants, at, &commands); err != nil {
		return err
	}
	for _, command := range commands {
		for _, g := range command.Grants {
			if g.Type == grantToChannel && g.ID == c.ID {
				u.Commands = append(u.Commands, command.ID)
			}
		}
	}
	slices.Sort(u.Commands)
	return nil
}
