package workflows

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeBulkBan = "POST /guilds/{guild_id}/bulk-ban"

type bulkBan struct {
	GuildID discord.GuildID  `json:"guildId" jsonschema:"guild"`
	UserIDs []discord.UserID `json:"userIds" jsonschema:"users to ban" minItems:"2" maxItems:"200" uniqueItems:"true"`
	Erase   int              `json:"deleteMessageSeconds,omitempty" jsonschema:"delete their messages of so many seconds" minimum:"0" maximum:"604800"`
	reason
}

type bulkBanState struct {
	Guild      guildSeen `json:"guild"`
	Permission evidence  `json:"permission"`
	Erase      int       `json:"deleteMessageSeconds"`
	Members    int       `json:"members"`
	Strangers  int       `json:"strangers" jsonschema:"users who are no members"`
	Users      string    `json:"users" jsonschema:"digest of the set"`
	Standing   string    `json:"standing" jsonschema:"digest of what each of them is in the guild"`

	ids    []discord.UserID  `json:"-"` // by their number
	failed *[]discord.UserID `json:"-"` // as the answer says
}

// target is one of the users.
type bulkTarget struct {
	ID     discord.UserID `json:"id"`
	Member *memberSeen    `json:"member"`

	name string `json:"-"`
}

// bulkGuildBan bans several users with one request.
func bulkGuildBan(rest discordtools.REST) mcpcore.Workflow {
	return change[bulkBan, bulkBanState]{
		Name: "bulk-guild-ban", Category: "bulk-bans", Title: "Ban several users",
		Doc: `Bans 2 to 200 users at once, members or not. Refused as a whole when one of them is the bot, the owner, a
			bot, banned already, or not below the bot. Discord may ban only some of them: then the end is partial,
			and failed names the others.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope, Needs: discord.BanMembers | discord.ManageGuild, Protects: []string{"userIds"},
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds in which users may be banned together")},
		Reads:  append([]string{routeUser, routeBan}, standingRoutes...),
		Write:  []string{routeBulkBan},
		Takes:  2 * time.Minute, // the read-back of so many, which Discord limits
		Plan:   planBulkBan,
		Targets: func(in bulkBan, s bulkBanState) (all []mcpcore.Target) {
			for _, id := range s.ids {
				all = append(all, theMember(in.GuildID, id))
			}
			return all
		},
		Apply: func(ctx context.Context, w *write, in bulkBan, s bulkBanState) (mcpcore.Written, error) {
			var answer struct {
				Banned []discord.UserID `json:"banned_users"`
				Failed []discord.UserID `json:"failed_users"`
			}
			err := w.send(ctx, routeBulkBan, inGuild(in.GuildID), bulkBanBody{s.ids, in.Erase}, &answer)
			if err == nil && !slices.Equal(sortedUsers(slices.Concat(answer.Banned, answer.Failed)), s.ids) {
				err = fmt.Errorf("the answer speaks of %d banned and %d failed users, and not of each of the %d once", len(answer.Banned), len(answer.Failed), len(s.ids))
			}
			if err == nil {
				*s.failed = answer.Failed
			}
			return mcpcore.Written{ID: string(in.GuildID)}, err
		},
		ReadBack: func(ctx context.Context, r *reads, in bulkBan, s bulkBanState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			banned, err := forEach(ctx, s.ids, func(ctx context.Context, id discord.UserID) (bool, error) {
				return r.banned(ctx, in.GuildID, id)
			})
			if err != nil {
				return found, err
			}
			asAnswered := true
			for i, id := range s.ids {
				if !banned[i] {
					found.Failed = append(found.Failed, string(id))
				}
				asAnswered = asAnswered && banned[i] != slices.Contains(*s.failed, id)
			}
			var d drift
			d.unless(asAnswered, "bans")
			found.Drift = d
			return found, nil
		},
	}.on(rest)
}

type bulkBanBody struct {
	Users []discord.UserID `json:"user_ids"`
	Erase int              `json:"delete_message_seconds"`
}

func planBulkBan(ctx context.Context, r *reads, in bulkBan) (plan mcpcore.Change[bulkBanState], err error) {
	bot, err := r.able(ctx, in.GuildID, discord.BanMembers|discord.ManageGuild)
	if err != nil {
		return plan, err
	}
	s := bulkBanState{Guild: bot.Guild, Permission: bot.evidence(), Erase: in.Erase, ids: sortedUsers(in.UserIDs), failed: new([]discord.UserID)}
	targets, err := forEach(ctx, s.ids, func(ctx context.Context, id discord.UserID) (bulkTarget, error) { return r.bannable(ctx, &bot, id) })
	if err != nil {
		return plan, err
	}
	for _, t := range targets {
		if plan.Affected = append(plan.Affected, mcpcore.Affected{ID: string(t.ID), Name: t.name}); t.Member != nil {
			s.Members++
		}
	}
	s.Strangers, s.Users, s.Standing = len(targets)-s.Members, snapshot(s.ids), snapshot(targets)
	plan.Action, plan.State, plan.Risks = "ban", s, []string{"bulk"}
	plan.Facts = mcpcore.Facts{
		{Name: "guild", Value: s.Guild.Name}, {Name: "members among them", Value: strconv.Itoa(s.Members)}, {Name: "the set", Value: s.Users},
	}
	if in.Erase > 0 {
		plan.Risks = append(plan.Risks, "irreversible")
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("What they wrote in the last %s is deleted for good.", time.Duration(in.Erase)*time.Second))
	}
	return plan, nil
}

// bannable reads a user who is to be banned with others.
func (r *reads) bannable(ctx context.Context, bot *standing, id discord.UserID) (t bulkTarget, err error) {
	if t.Member, err = r.member(ctx, bot, id); err != nil {
		return t, err
	}
	if err := bot.acts(id, t.Member); err != nil {
		return t, err
	}
	isBot := false
	if t.ID = id; t.Member != nil {
		t.name, isBot = t.Member.name, t.Member.Bot
	} else if t.name, isBot, err = r.user(ctx, id); err != nil {
		return t, err
	}
	if isBot {
		return t, refused("bot", "the user %s is a bot", id)
	}
	banned, err := r.banned(ctx, bot.Guild.ID, id)
	if err == nil && banned {
		err = refused("banned", "the user %s is banned already", id)
	}
	return t, err
}
