package workflows

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeMyGuilds = "GET /users/@me/guilds"
	routeLeave    = "DELETE /users/@me/guilds/{guild_id}"

	myGuildsPage  = 200 // guilds on one page
	myGuildsPages = 10  // that are read; whose bot is in more guilds leaves them by hand
)

// departureClaims are all collections of a guild that some workflow claims: what
// leaves the guild leaves nobody to finish their writing.
var departureClaims = []string{
	"application-commands", "automod", "blueprint", "channels", "community", "emojis", "guild-settings", "incident-actions", "integrations", "invites",
	"members", "onboarding", "roles", "scheduled-events", "soundboard", "stickers", "templates", "webhooks", "welcome-screen", "widget-settings",
}

type departure struct {
	GuildID discord.GuildID `json:"guildId" jsonschema:"guild that the bot leaves"`
	Access  bool            `json:"acknowledgeAccessLoss" jsonschema:"true: the bot reads and does nothing there any more"`
	Reentry bool            `json:"acknowledgeSeparateReentry" jsonschema:"true: it comes back only when somebody of the guild adds it"`
	Work    bool            `json:"acknowledgeStoppedWork" jsonschema:"true: what it does there now stops, done or not"`
	reason
}

type departureState struct {
	Guild      guildSeen `json:"guild"`
	Permission evidence  `json:"permission"`
}

// guildDeparture has the bot leave a guild.
func guildDeparture(rest discordtools.REST) mcpcore.Workflow {
	return change[departure, departureState]{
		Name: "guild-departure", Category: "guild-departure", Title: "Leave a guild",
		Doc: `Has the bot leave a guild. It comes back only when somebody of the guild adds it again. What it wrote and made there stays.
			The reason is not sent: Discord takes none here.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope,
		Scopes:      []mcpcore.PolicyScope{guildsScope("guilds that the bot may leave")},
		Acknowledge: []string{"acknowledgeAccessLoss", "acknowledgeSeparateReentry", "acknowledgeStoppedWork"},
		Reads:       append(slices.Clone(standingRoutes), routeMyGuilds), Write: []string{routeLeave},
		Plan: func(ctx context.Context, r *reads, in departure) (plan mcpcore.Change[departureState], err error) {
			mine, err := r.myGuilds(ctx)
			if err != nil {
				return plan, err
			}
			if !slices.Contains(mine, in.GuildID) {
				return plan, refused("guild-missing", "the bot is in no guild %s", in.GuildID)
			}
			bot, err := r.standing(ctx, in.GuildID)
			if err != nil {
				return plan, err
			}
			if bot.owner() {
				return plan, refused("owner", "the bot owns the guild, and nobody leaves what they own")
			}
			return mcpcore.Change[departureState]{
				Action: "leave", State: departureState{bot.Guild, bot.evidence()}, Risks: []string{"irreversible"},
				Facts:    mcpcore.Facts{{Name: "guild", Value: bot.Guild.Name}},
				Unbound:  mcpcore.Facts{{Name: "guilds that the bot is in", Value: strconv.Itoa(len(mine))}},
				Warnings: []string{"The bot cannot come back by itself.", "Webhooks, commands and roles that came with the bot may go with it."},
			}, nil
		},
		Targets: func(in departure, _ departureState) (claims []mcpcore.Target) {
			for _, collection := range departureClaims {
				claims = append(claims, all(collection, in.GuildID))
			}
			return claims
		},
		Apply: func(ctx context.Context, w *write, in departure, _ departureState) (mcpcore.Written, error) {
			err := w.sendWith(ctx, routeLeave, discordtools.Request{Path: inGuild(in.GuildID)}, nil, nil)
			return mcpcore.Written{ID: string(in.GuildID)}, err
		},
		ReadBack: func(ctx context.Context, r *reads, in departure, _ departureState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			left, err := r.myGuilds(ctx)
			if err == nil && slices.Contains(left, in.GuildID) {
				err = errors.New("the bot is still in the guild")
			}
			return found, err
		},
	}.on(rest)
}

// myGuilds reads all guilds that the bot is in.
func (r *reads) myGuilds(ctx context.Context) (all []discord.GuildID, err error) {
	query := map[string][]string{"limit": {strconv.Itoa(myGuildsPage)}}
	for range myGuildsPages {
		var page []struct {
			ID discord.GuildID `json:"id"`
		}
		if err := r.query(ctx, routeMyGuilds, nil, query, &page); err != nil {
			return nil, err
		}
		for _, g := range page {
			if n := len(all); g.ID == "" || n > 0 && discord.CompareIDs(all[n-1], g.ID) >= 0 {
				return nil, incomplete("the guilds of the bot")
			}
			all = append(all, g.ID)
		}
		if len(page) < myGuildsPage {
			return all, nil
		}
		query["after"] = []string{string(all[len(all)-1])}
	}
	return nil, refused("too-many-guilds", "the bot is in %d guilds or more, too many to look through", myGuildsPage*myGuildsPages)
}
