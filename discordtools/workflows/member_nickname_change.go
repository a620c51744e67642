package workflows

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeMyMember = "PATCH /guilds/{guild_id}/members/@me"

type nickChange struct {
	GuildID discord.GuildID `json:"guildId" jsonschema:"guild of the member"`
	UserID  discord.UserID  `json:"userId" jsonschema:"member to rename; the bot's own id for itself"`
	Nick    *string         `json:"nick" jsonschema:"nickname, sent as it is given; null for none" minLength:"1" maxLength:"32"`
	reason
}

type nickState struct {
	Guild      guildSeen  `json:"guild"`
	Permission evidence   `json:"permission"`
	Self       bool       `json:"self" jsonschema:"whether it is the bot itself"`
	Member     memberSeen `json:"member"`
	Was        *string    `json:"was" jsonschema:"null for none"`
	Becomes    *string    `json:"becomes" jsonschema:"null for none"`
}

// memberNicknameChange gives a member or the bot a nickname, or takes it.
func memberNicknameChange(rest discordtools.REST) mcpcore.Workflow {
	return change[nickChange, nickState]{
		Name: "member-nickname-change", Category: "member-nicknames", Title: "Change a nickname",
		Doc: `Sets the nickname of the bot or of one member below it, or removes it. Neither the owner, an
			administrator nor who is pending is renamed. Discord trims spaces; the result then tells of drift.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Protects: []string{"userId"},
		Scopes: []mcpcore.PolicyScope{
			guildsScope("guilds in which nicknames may be changed"),
			{Name: "othersIn", Doc: "of these, the guilds in which other members than the bot may be renamed too"},
		},
		Reads: standingRoutes,
		Write: []string{routeMyMember, routeMemberEdit},
		Plan:  planNick,
		Targets: func(in nickChange, _ nickState) []mcpcore.Target {
			return []mcpcore.Target{theMember(in.GuildID, in.UserID)}
		},
		Apply: func(ctx context.Context, w *write, in nickChange, s nickState) (done mcpcore.Written, err error) {
			var now member
			body := nickBody{in.Nick}
			if s.Self {
				err = w.send(ctx, routeMyMember, inGuild(in.GuildID), body, &now)
			} else {
				err = w.send(ctx, routeMemberEdit, ofMember(in.GuildID, in.UserID), body, &now)
			}
			if err != nil {
				return done, err
			}
			if done.ID, err = id(now.User.ID); err == nil {
				err = s.named(now)
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in nickChange, s nickState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			var now member
			if err := r.get(ctx, routeMember, ofMember(in.GuildID, in.UserID), &now); err != nil {
				return found, err
			}
			var d drift
			d.unless(nickText(now.Nick) == nickText(in.Nick), "nick")
			d.unless(slices.Equal(slices.Sorted(slices.Values(now.Roles)), s.Member.Roles), "roles")
			return mcpcore.Reading{Drift: d}, s.named(now)
		},
	}.on(rest)
}

type nickBody struct {
	Nick *string `json:"nick"`
}

func planNick(ctx context.Context, r *reads, in nickChange) (plan mcpcore.Change[nickState], err error) {
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	s := nickState{Guild: bot.Guild, Permission: bot.evidence(), Self: in.UserID == bot.Bot, Becomes: in.Nick}
	need := discord.ChangeNickname
	if !s.Self {
		need = discord.ManageNicknames
		if err := r.Call.Permitted("othersIn", string(in.GuildID)); err != nil {
			return plan, err
		}
	}
	if err := bot.needs(need); err != nil {
		return plan, err
	}
	m, seen, err := r.memberWhole(ctx, &bot, in.UserID)
	if err != nil {
		return plan, err
	}
	if !s.Self {
		if err := bot.ordinary(in.UserID, seen); err != nil {
			return plan, err
		}
	}
	if seen == nil {
		return plan, incomplete("the bot's member")
	}
	if seen.Pending {
		return plan, refused("pending", "the member %s has not passed the screening yet", in.UserID)
	}
	s.Member, s.Was = *seen, m.Nick
	plan = mcpcore.Change[nickState]{
		Action: "rename", State: s, Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}},
		Unbound: mcpcore.Facts{{Name: "member", Value: m.User.Username}},
	}
	setting(&plan, field{"nickname", nickText(m.Nick), nickText(in.Nick)})
	return plan, nil
}

// nickText is a nickname in words, in quotes so that its spaces are seen and that
// none is none.
func nickText(nick *string) string {
	if nick == nil || *nick == "" {
		return "none"
	}
	return "'" + *nick + "'"
}

// named reports another member than was renamed, and one whose name differs by
// more than the spaces that Discord trims.
func (s *nickState) named(now member) error {
	trimmed := func(nick *string) string {
		if nick == nil {
			return ""
		}
		return strings.Join(strings.Fields(*nick), " ")
	}
	switch {
	case now.User.ID != s.Member.ID:
		return errors.New("it is about another member than was renamed")
	case trimmed(now.Nick) != trimmed(s.Becomes):
		return errors.New("the member has another nickname than was written")
	}
	return nil
}
