package workflows

import (
	"context"
	"errors"
	"fmt"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// flagBypasses is the member's flag that lets them talk before they meet the
// guild's verification, the only one that can be set.
//
// Source: https://docs.discord.com/developers/resources/guild#guild-member-object-guild-member-flags.
const flagBypasses = 1 << 2

type verification struct {
	GuildID  discord.GuildID `json:"guildId" jsonschema:"guild of the member"`
	UserID   discord.UserID  `json:"userId" jsonschema:"member to change"`
	Bypasses bool            `json:"bypassesVerification" jsonschema:"whether the member need not meet the guild's verification"`
	reason
}

type verificationState struct {
	Guild      guildSeen  `json:"guild"`
	Permission evidence   `json:"permission"`
	Member     memberSeen `json:"member"`
	Was        bool       `json:"was"`
	Becomes    bool       `json:"becomes"`
	Others     string     `json:"otherFlags" jsonschema:"digest of the member's other flags, which are kept"`

	flags int `json:"-"` // what is written
}

// memberVerificationChange lets a member past the guild's verification, or stops
// it.
func memberVerificationChange(rest discordtools.REST) mcpcore.Workflow {
	return change[verification, verificationState]{
		Name: "member-verification-change", Category: "member-verification", Title: "Change whether a member is verified",
		Doc: `Sets whether one member need not meet the verification of the guild, and keeps the member's other flags.
			The member may still be pending. Bots, the owner and administrators are not changed.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Protects: []string{"userId"},
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds whose members may be let past the verification")},
		Reads:  standingRoutes,
		Write:  []string{routeMemberEdit},
		Plan:   planVerification,
		Targets: func(in verification, _ verificationState) []mcpcore.Target {
			return []mcpcore.Target{theMember(in.GuildID, in.UserID), all("members", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in verification, s verificationState) (done mcpcore.Written, err error) {
			var now member
			if err := w.send(ctx, routeMemberEdit, ofMember(in.GuildID, in.UserID), verificationBody{s.flags}, &now); err != nil {
				return done, err
			}
			if done.ID, err = id(now.User.ID); err == nil {
				err = s.set(now)
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in verification, s verificationState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			var now member
			if err := r.get(ctx, routeMember, ofMember(in.GuildID, in.UserID), &now); err != nil {
				return found, err
			}
			var d drift
			d.unless(now.Flags&^flagBypasses == s.flags&^flagBypasses, "other_flags")
			return mcpcore.Reading{Drift: d}, s.set(now)
		},
	}.on(rest)
}

type verificationBody struct {
	Flags int `json:"flags"`
}

func planVerification(ctx context.Context, r *reads, in verification) (plan mcpcore.Change[verificationState], err error) {
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	if held := bot.held.Low(); !held.Has(discord.ManageGuild) && !held.Has(discord.ManageRoles) {
		if err := bot.needs(discord.ModerateMembers | discord.KickMembers | discord.BanMembers); err != nil {
			return plan, err
		}
	}
	m, seen, err := r.memberWhole(ctx, &bot, in.UserID)
	if err != nil {
		return plan, err
	}
	if err := bot.ordinary(in.UserID, seen); err != nil {
		return plan, err
	}
	if seen.Bot {
		return plan, refused("bot", "%s is a bot, and needs no verification", in.UserID)
	}
	others := m.Flags &^ flagBypasses
	s := verificationState{
		Guild: bot.Guild, Permission: bot.evidence(), Member: *seen, Was: m.Flags&flagBypasses != 0, Becomes: in.Bypasses,
		Others: snapshot(others), flags: others,
	}
	if in.Bypasses {
		s.flags |= flagBypasses
	}
	plan = mcpcore.Change[verificationState]{
		Action: "change", State: s, Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "pending", Value: fmt.Sprint(seen.Pending)}},
		Unbound: mcpcore.Facts{{Name: "member", Value: seen.name}},
	}
	setting(&plan, field{"bypassesVerification", fmt.Sprint(s.Was), fmt.Sprint(s.Becomes)})
	if in.Bypasses {
		plan.Warnings = []string{"The member can then talk without what the guild asks of new accounts."}
	}
	return plan, nil
}

// set reports another member than was changed, and one whose flag is not as it
// was written.
func (s *verificationState) set(now member) error {
	if now.User.ID != s.Member.ID || (now.Flags&flagBypasses != 0) != s.Becomes {
		return errors.New("it is about another member, or the flag is not as it was written")
	}
	return nil
}
