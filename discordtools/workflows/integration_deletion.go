package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeIntegrationDelete = "DELETE /guilds/{guild_id}/integrations/{integration_id}"
	routeGuildWebhooks     = "GET /guilds/{guild_id}/webhooks"

	// toldIntegrations is how many Discord tells of: of a full list nobody knows what
	// is missing.
	//
	// Source: https://docs.discord.com/developers/resources/guild#get-guild-integrations.
	toldIntegrations = 50
)

// What is known of integrations. What is not is no matter to guess about.
//
// Source: https://docs.discord.com/developers/resources/guild#integration-object.
var (
	integrationTypes  = []string{"discord", "twitch", "youtube", "guild_subscription"}
	integrationScopes = []string{"applications.commands", "bot", "webhook.incoming"}
	integrationFields = []string{
		"id", "name", "type", "enabled", "account", "application", "scopes", "user", "revoked", "expire_behavior", "expire_grace_period",
		"subscriber_count", "synced_at", "role_id", "syncing", "enable_emoticons",
	}
	integrationReads = append(slices.Clone(standingRoutes), routeIntegrations, routeApplication, routeGuildWebhooks)
)

type integrationDelete struct {
	GuildID       discord.GuildID       `json:"guildId" jsonschema:"guild of the integration"`
	IntegrationID discord.IntegrationID `json:"integrationId" jsonschema:"integration, from guild_list_integrations"`
	Webhooks      bool                  `json:"acknowledgeWebhookRemoval" jsonschema:"true: its webhooks are deleted with it"`
	Bot           bool                  `json:"acknowledgeBotKick" jsonschema:"true: its bot is kicked with it"`
	reason
}

type integrationDeleteState struct {
	Guild       guildSeen       `json:"guild"`
	Permission  evidence        `json:"permission"`
	Integration integrationSeen `json:"integration"`
	Bot         *memberSeen     `json:"bot" jsonschema:"its bot, where that is a member; null for none"`
	Webhooks    *int            `json:"webhooks" jsonschema:"how many it has; null where the bot here may not see them"`
	Count       int             `json:"guildIntegrations"`
	Others      string          `json:"otherIntegrations" jsonschema:"digest of all other integrations"`
}

// integrationSeen is an integration as plans bind and show it.
type integrationSeen struct {
	ID          string                `json:"id"`
	Type        string                `json:"type"`
	Name        string                `json:"name"`
	Enabled     bool                  `json:"enabled"`
	Account     string                `json:"account"`
	Application discord.ApplicationID `json:"applicationId,omitempty"`
	Bot         discord.UserID        `json:"botId,omitempty"`
	Scopes      []string              `json:"scopes"`
	Role        discord.RoleID        `json:"roleId,omitempty"`
}

// integrationWire is an integration as Discord tells it. Only those of
// applications have snowflakes for ids.
type integrationWire struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Name    string `json:"name"`
	Enabled bool   `json:"enabled"`
	Account struct {
		ID string `json:"id"`
	} `json:"account"`
	Application struct {
		ID  discord.ApplicationID `json:"id"`
		Bot struct {
			ID discord.UserID `json:"id"`
		} `json:"bot"`
	} `json:"application"`
	Scopes []string       `json:"scopes"`
	Role   discord.RoleID `json:"role_id"`
}

// integrationDeletion deletes an integration with its bot and its webhooks.
func integrationDeletion(rest discordtools.REST) mcpcore.Workflow {
	return change[integrationDelete, integrationDeleteState]{
		Name: "integration-deletion", Noun: "guild_integration_deletion", Category: "integrations", Title: "Delete an integration",
		Doc: `Deletes an integration of a guild, with the webhooks and the bot that came with it. Never this bot's own, that of a protected
			user or a subscription, and not where the guild has an integration of which something is not known.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope, Needs: discord.ManageGuild,
		Scopes: []mcpcore.PolicyScope{
			guildsScope("guilds whose integrations may be deleted"), {Name: "integrations", Arg: "integrationId", Doc: "integrations that may be deleted"},
		},
		Acknowledge: []string{"acknowledgeWebhookRemoval", "acknowledgeBotKick"},
		Reads:       integrationReads, Write: []string{routeIntegrationDelete},
		Plan: planIntegrationDeletion,
		Targets: func(in integrationDelete, s integrationDeleteState) []mcpcore.Target {
			g := in.GuildID
			all := []mcpcore.Target{{Kind: "integration", ID: string(in.IntegrationID)}, all("integrations", g), all("webhooks", g)}
			if s.Integration.Bot != "" {
				all = append(all, theMember(g, s.Integration.Bot))
			}
			return all
		},
		Apply: func(ctx context.Context, w *write, in integrationDelete, _ integrationDeleteState) (mcpcore.Written, error) {
			at := path{"guild_id": string(in.GuildID), "integration_id": string(in.IntegrationID)}
			return mcpcore.Written{ID: string(in.IntegrationID)}, w.send(ctx, routeIntegrationDelete, at, nil, nil)
		},
		ReadBack: func(ctx context.Context, r *reads, in integrationDelete, s integrationDeleteState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			left, err := r.integrations(ctx, in.GuildID)
			if err != nil {
				return found, err
			}
			i, others := withoutIntegration(left, in.IntegrationID)
			if i >= 0 {
				return found, errors.New("the integration is still there")
			}
			var d drift
			d.unless(others == s.Others, "other_integrations")
			if s.Bot != nil {
				var m member
				err := r.get(ctx, routeMember, ofMember(in.GuildID, s.Bot.ID), &m)
				if err != nil && !unknown(err, unknownMember, unknownUser) {
					return found, err
				}
				d.unless(err != nil, "bot_member")
			}
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

func planIntegrationDeletion(ctx context.Context, r *reads, in integrationDelete) (plan mcpcore.Change[integrationDeleteState], err error) {
	bot, err := r.able(ctx, in.GuildID, discord.ManageGuild)
	if err != nil {
		return plan, err
	}
	list, err := r.integrations(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	s := integrationDeleteState{Guild: bot.Guild, Permission: bot.evidence(), Count: len(list)}
	var i int
	if i, s.Others = withoutIntegration(list, in.IntegrationID); i < 0 {
		return plan, refused("integration-missing", "the guild has no integration %s", in.IntegrationID)
	}
	s.Integration = list[i]
	ready, err := s.ready(ctx, r, &bot)
	if err == nil {
		err = ready.refuse("integration")
	}
	if err != nil {
		return plan, err
	}
	gone := s.Integration
	plan = mcpcore.Change[integrationDeleteState]{
		Action: "delete", Risks: []string{"irreversible"}, Facts: mcpcore.Facts{
			{Name: "guild", Value: s.Guild.Name}, {Name: "integration", Value: gone.Name}, {Name: "type", Value: gone.Type}, {Name: "scopes", Value: orNone(strings.Join(gone.Scopes, " "))},
		},
		Warnings: []string{"What the integration did in the guild ends, and it is not there again unless somebody adds it anew."},
	}
	if gone.Bot != "" {
		if err := r.Call.Protected(string(gone.Bot)); err != nil {
			return plan, err
		}
		if s.Bot, err = r.member(ctx, &bot, gone.Bot); err != nil {
			return plan, err
		}
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "bot that is kicked", Value: string(gone.Bot)})
		if s.Bot != nil {
			plan.Unbound = append(plan.Unbound, mcpcore.Fact{Name: "the bot's name", Value: s.Bot.name})
		}
	}
	if s.Webhooks == nil {
		plan.Warnings = append(plan.Warnings, "The bot here may not see the guild's webhooks; those of the integration are deleted unseen.")
	} else {
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "webhooks that are deleted", Value: strconv.Itoa(*s.Webhooks)})
	}
	plan.State = s
	return plan, nil
}

// ready looks for what stands in the way, and counts the integration's webhooks
// where the bot may see them.
func (s *integrationDeleteState) ready(ctx context.Context, r *reads, bot *standing) (ready readiness, err error) {
	var own struct {
		ID discord.ApplicationID `json:"id"`
	}
	if err := r.get(ctx, routeApplication, nil, &own); err != nil {
		return ready, err
	}
	switch i := s.Integration; {
	case i.Type == "guild_subscription":
		ready.block("subscription", "it is how the guild is paid for, and no integration to delete here")
	case own.ID == "":
		return ready, incomplete("the application of the bot")
	case i.Application == own.ID, i.Bot == bot.Bot:
		ready.block("self", "it is this bot's own")
	}
	if bot.needs(discord.ManageWebhooks) != nil || s.Integration.Application == "" {
		return ready, nil
	}
	var hooks []webhook
	if err := r.get(ctx, routeGuildWebhooks, inGuild(bot.Guild.ID), &hooks); err != nil {
		return ready, err
	}
	s.Webhooks = new(int)
	for _, h := range hooks {
		if h.Application == s.Integration.Application {
			*s.Webhooks++
		}
	}
	return ready, nil
}

// integrations reads all integrations of the guild, by id. A list that may not be
// whole, or of which something is not known, is refused.
func (r *reads) integrations(ctx context.Context, guild discord.GuildID) (list []integrationSeen, err error) {
	var told []fields
	if err := r.get(ctx, routeIntegrations, inGuild(guild), &told); err != nil {
		return nil, err
	}
	if len(told) >= toldIntegrations {
		return nil, refused("too-many-integrations", "the guild has %d integrations or more, and Discord tells of no others", toldIntegrations)
	}
	for _, f := range told {
		for name := range f {
			if !slices.Contains(integrationFields, name) {
				return nil, refused("unknown-field", "Discord tells of an integration something that nobody here knows")
			}
		}
		i, err := f.integration()
		if err != nil {
			return nil, err
		}
		list = append(list, i)
	}
	slices.SortFunc(list, func(a, b integrationSeen) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}

func (f fields) integration() (i integrationSeen, err error) {
	raw, err := json.Marshal(f)
	if err != nil {
		return i, err
	}
	var w integrationWire
	if json.Unmarshal(raw, &w) != nil || w.ID == "" {
		return i, incomplete("the integrations of the guild")
	}
	if !slices.Contains(integrationTypes, w.Type) {
		return i, refused("unknown-type", "the integration %s is of a type that nobody here knows", w.ID)
	}
	for _, s := range w.Scopes {
		if !slices.Contains(integrationScopes, s) {
			return i, refused("unknown-scope", "the integration %s may do something that nobody here knows", w.ID)
		}
	}
	scopes := slices.Sorted(slices.Values(append([]string{}, w.Scopes...)))
	return integrationSeen{w.ID, w.Type, w.Name, w.Enabled, w.Account.ID, w.Application.ID, w.Application.Bot.ID, scopes, w.Role}, nil
}

// withoutIntegration is the index of an integration, -1 for none, and a digest of
// all others.
func withoutIntegration(list []integrationSeen, id discord.IntegrationID) (at int, others string) {
	at = slices.IndexFunc(list, func(i integrationSeen) bool { return i.ID == string(id) })
	return at, snapshot(slices.DeleteFunc(slices.Clone(list), func(i integrationSeen) bool { return i.ID == string(id) }))
}
