package workflows

import (
	"context"
	"fmt"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type memberRole struct {
	GuildID discord.GuildID `json:"guildId" jsonschema:"guild of the member"`
	UserID  discord.UserID  `json:"userId" jsonschema:"member to change"`
	RoleID  discord.RoleID  `json:"roleId" jsonschema:"role to give or take"`
	Action  string          `json:"action" jsonschema:"what is done" enum:"add,remove"`
	reason
}

type memberRoleState struct {
	gift
	gifted
}

// memberRoleChange gives a member a role, or takes it.
func memberRoleChange(rest discordtools.REST) mcpcore.Workflow {
	return change[memberRole, memberRoleState]{
		Name: "member-role-change", Category: "member-roles", Title: "Give or take a member's role",
		Doc: `Gives one ordinary role below the bot's highest to a member below it, or takes it. The plan says what
			the member gains and loses, in the guild and in each channel. What the bot lacks itself cannot be
			given. Neither the bot nor the owner, nor who is pending or timed out, is changed.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ManageRoles, Protects: []string{"userId"},
		Scopes: append(rolesScope("roles that may be given and taken"), guildsScope("guilds whose members may be changed")),
		Reads:  giftRoutes,
		Write:  []string{routeMemberRoleGive, routeMemberRoleTake},
		Plan: func(ctx context.Context, r *reads, in memberRole) (plan mcpcore.Change[memberRoleState], err error) {
			s := memberRoleState{}
			if s.gift, err = r.gift(ctx, in.GuildID, in.RoleID, in.Action == "add"); err != nil {
				return plan, err
			}
			if s.gifted, plan.Current, err = s.to(ctx, r, in.UserID); err != nil {
				return plan, err
			}
			plan.Action, plan.State = in.Action, s
			plan.Facts = mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "role", Value: s.Role.Name}, {Name: "impact", Value: fmt.Sprint(s.Impact)}}
			plan.Unbound = mcpcore.Facts{{Name: "member", Value: s.Member.name}}
			plan.Warnings = []string{"What changes in channels that the bot cannot see is not known, nor what other bots do with the role."}
			return plan, nil
		},
		Targets: func(in memberRole, _ memberRoleState) []mcpcore.Target {
			return []mcpcore.Target{theMember(in.GuildID, in.UserID), theRole(in.RoleID)}
		},
		Apply: func(ctx context.Context, w *write, in memberRole, s memberRoleState) (mcpcore.Written, error) {
			return mcpcore.Written{ID: string(in.UserID)}, w.send(ctx, s.route(), s.path(in.UserID), nil, nil)
		},
		ReadBack: func(ctx context.Context, r *reads, in memberRole, s memberRoleState, _ mcpcore.Written) (mcpcore.Reading, error) {
			return r.given(ctx, &s.gift, s.gifted)
		},
	}.on(rest)
}
