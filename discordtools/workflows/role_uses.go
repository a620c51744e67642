package workflows

import (
	"context"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeIntegrations = "GET /guilds/{guild_id}/integrations"

// roleUses are the places of a guild that can name a role.
var roleUses = []string{
	routeMemberCounts, routeChannels,
	routeInvites, expressionKinds["emoji"].list, routeOnboarding, routeAutomod, routeIntegrations, routeApplication, routeGrants,
}

type roleUsed struct {
	Holders      int                     `json:"holders"`
	Overwrites   []discord.ChannelID     `json:"overwrites"`
	Invites      int                     `json:"invites"`
	Emojis       []discord.EmojiID       `json:"emojis"`
	Onboarding   []discord.PromptID      `json:"onboardingPrompts"`
	Automod      []discord.RuleID        `json:"automodRules"`
	Integrations []discord.IntegrationID `json:"integrations"`
	Commands     []discord.CommandID     `json:"commands"`
}

// rolePlaces are digests of all that is in the places that can name a role: the same
// before and after a role is deleted that none of it names.
type rolePlaces struct {
	Channels     string `json:"channels" jsonschema:"digest of all visible channels"`
	Invites      string `json:"invites" jsonschema:"digest of all invites, without how often they were used"`
	Emojis       string `json:"emojis" jsonschema:"digest of all emojis"`
	Onboarding   string `json:"onboarding" jsonschema:"digest of the onboarding"`
	Automod      string `json:"automod" jsonschema:"digest of all AutoMod rules"`
	Integrations string `json:"integrations" jsonschema:"digest of all integrations"`
	Commands     string `json:"commands" jsonschema:"digest of whom this bot's commands are open to"`
}

// places reports the places in which something differs.
func (d *drift) places(now, was rolePlaces) {
	d.unless(now.Channels == was.Channels, "channels")
	d.unless(now.Invites == was.Invites, "invites")
	d.unless(now.Emojis == was.Emojis, "emojis")
	d.unless(now.Onboarding == was.Onboarding, "onboarding")
	d.unless(now.Automod == was.Automod, "automod")
	d.unless(now.Integrations == was.Integrations, "integrations")
	d.unless(now.Commands == was.Commands, "application-commands")
}

// readPlaces looks at every place that can name a role.
func (s *roleStanding) readPlaces(ctx context.Context, r *reads, guild discord.GuildID, id discord.RoleID) error {
	for _, read := range []func(context.Context, *reads, discord.GuildID, discord.RoleID) error{
		s.readChannels, s.readInvites, s.readEmojis, s.readOnboarding, s.readAutomod, s.readIntegrations, s.readCommands,
	} {
		if err := read(ctx, r, guild, id); err != nil {
			return err
		}
	}
	return nil
}

func (s *roleStanding) readChannels(ctx context.Context, r *reads, guild discord.GuildID, id discord.RoleID) error {
	all, err := r.channels(ctx, guild)
	if err != nil {
		return err
	}
	s.Channels = snapshot(all)
	for _, c := range all {
		if slices.ContainsFunc(c.Overwrites, func(o overwrite) bool { return o.ID == discord.OverwriteID(id) }) {
			s.Uses.Overwrites = append(s.Uses.Overwrites, c.ID)
		}
	}
	return nil
}

func (s *roleStanding) readInvites(ctx context.Context, r *reads, guild discord.GuildID, id discord.RoleID) error {
	all, err := r.invites(ctx, guild)
	if err != nil {
		return err
	}
	seen := []inviteSeen{}
	for i := range all {
		seen = append(seen, all[i].seen(r.Call))
		for _, given := range all[i].Roles {
			if given.ID == id {
				s.Uses.Invites++
			}
		}
	}
	s.Invites = snapshot(seen)
	return nil
}

func (s *roleStanding) readEmojis(ctx context.Context, r *reads, guild discord.GuildID, id discord.RoleID) error {
	all, err := r.expressions(ctx, "emoji", guild)
	if err != nil {
		return err
	}
	s.Emojis = snapshot(all)
	for _, e := range all {
		s.Uses.Emojis = named(s.Uses.Emojis, discord.EmojiID(e.ID), e.Roles, id)
	}
	return nil
}

func (s *roleStanding) readOnboarding(ctx context.Context, r *reads, guild discord.GuildID, id discord.RoleID) error {
	var all struct {
		Enabled  bool                `json:"enabled"`
		Mode     int                 `json:"mode"`
		Defaults []discord.ChannelID `json:"default_channel_ids"`
		Prompts  []struct {
			ID       discord.PromptID `json:"id"`
			Type     int              `json:"type"`
			Title    string           `json:"title"`
			Single   bool             `json:"single_select"`
			Required bool             `json:"required"`
			Shown    bool             `json:"in_onboarding"`
			Options  []struct {
				ID       discord.Snowflake   `json:"id"`
				Title    string              `json:"title"`
				About    string              `json:"description"`
				Roles    []discord.RoleID    `json:"role_ids"`
				Channels []discord.ChannelID `json:"channel_ids"`
			} `json:"options"`
		} `json:"prompts"`
	}
	if err := r.get(ctx, routeOnboarding, inGuild(guild), &all); err != nil {
		return err
	}
	s.Onboarding = snapshot(all)
	for _, p := range all.Prompts {
		for _, o := range p.Options {
			s.Uses.Onboarding = named(s.Uses.Onboarding, p.ID, o.Roles, id)
		}
	}
	s.Uses.Onboarding = slices.Compact(s.Uses.Onboarding)
	return nil
}

func (s *roleStanding) readAutomod(ctx context.Context, r *reads, guild discord.GuildID, id discord.RoleID) error {
	all, err := r.rules(ctx, guild)
	if err != nil {
		return err
	}
	s.Automod = snapshot(all)
	for _, rule := range all {
		s.Uses.Automod = named(s.Uses.Automod, rule.ID, rule.ExemptRoles, id)
	}
	return nil
}

func (s *roleStanding) readIntegrations(ctx context.Context, r *reads, guild discord.GuildID, id discord.RoleID) error {
	type integration struct {
		ID      discord.IntegrationID `json:"id"`
		Type    string                `json:"type"`
		Name    string                `json:"name"`
		Enabled bool                  `json:"enabled"`
		Role    discord.RoleID        `json:"role_id"`
		Scopes  []string              `json:"scopes"`
	}
	var all []integration
	if err := r.get(ctx, routeIntegrations, inGuild(guild), &all); err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b integration) int { return discord.CompareIDs(a.ID, b.ID) })
	s.Integrations = snapshot(all)
	for _, i := range all {
		s.Uses.Integrations = named(s.Uses.Integrations, i.ID, []discord.RoleID{i.Role}, id)
	}
	return nil
}

func (s *roleStanding) readCommands(ctx context.Context, r *reads, guild discord.GuildID, id discord.RoleID) error {
	var application struct {
		ID string `json:"id"`
	}
	if err := r.get(ctx, routeApplication, nil, &application); err != nil {
		return err
	}
	type grant struct {
		ID      discord.RoleID `json:"id"`
		Type    int            `json:"type"`
		Allowed bool           `json:"permission"`
	}
	type command struct {
		ID     discord.CommandID `json:"id"`
		Grants []grant           `json:"permissions"`
	}
	var all []command
	if err := r.get(ctx, routeGrants, path{"application_id": application.ID, "guild_id": string(guild)}, &all); err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b command) int { return discord.CompareIDs(a.ID, b.ID) })
	for _, c := range all {
		slices.SortFunc(c.Grants, func(a, b grant) int { return discord.CompareIDs(a.ID, b.ID) })
		for _, g := range c.Grants {
			s.Uses.Commands = named(s.Uses.Commands, c.ID, []discord.RoleID{g.ID}, id)
		}
	}
	s.Commands = snapshot(all)
	return nil
}

// named adds what names the role.
func named[T any](to []T, what T, names []discord.RoleID, id discord.RoleID) []T {
	if slices.Contains(names, id) {
		return append(to, what)
	}
	return to
}
