package workflows

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type bulkRole struct {
	GuildID discord.GuildID  `json:"guildId" jsonschema:"guild of the members"`
	UserIDs []discord.UserID `json:"userIds" jsonschema:"members to change" minItems:"2" maxItems:"25" uniqueItems:"true"`
	RoleID  discord.RoleID   `json:"roleId" jsonschema:"role to give or take"`
	Action  string           `json:"action" jsonschema:"what is done" enum:"add,remove"`
	reason
}

type bulkRoleState struct {
	gift
	Members []bulkGifted `json:"members"`
	Whole   string       `json:"evidence" jsonschema:"digest of all that was found out about each member"`

	all []gifted `json:"-"` // in the order of the writes
	one gifted   `json:"-"` // which a child is about
}

// bulkGifted is what a plan shows of one member; its digest covers all of it.
type bulkGifted struct {
	ID       discord.UserID `json:"id"`
	Current  bool           `json:"current" jsonschema:"it is so already"`
	Gained   []string       `json:"gained"`
	Lost     []string       `json:"lost"`
	Channels int            `json:"channels" jsonschema:"in how many something changes"`
}

// bulkMemberRoleChange gives several members a role, or takes it, one by one.
func bulkMemberRoleChange(rest discordtools.REST) mcpcore.Workflow {
	return change[bulkRole, bulkRoleState]{
		Name: "bulk-member-role-change", Category: "member-roles", Title: "Give or take a role of several members",
		Doc: `Gives one ordinary role to 2 to 25 members, or takes it: one after the other, by their ids, and not
			those for whom it is so already. Each of them must pass what plan_member_role_change checks, or
			nothing is done. Each change has a receipt of its own. The first that is refused, or is not as planned,
			ends it and spends the key. Where it is only paused, the same call goes on with those that are left,
			when a person has approved them anew.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ManageRoles, Protects: []string{"userIds"},
		Scopes: append(rolesScope("roles that may be given and taken"), guildsScope("guilds whose members may be changed")),
		Reads:  giftRoutes,
		Write:  []string{routeMemberRoleGive, routeMemberRoleTake},
		Takes:  2 * time.Minute,
		Plan:   planBulkRole,
		Targets: func(in bulkRole, s bulkRoleState) []mcpcore.Target {
			targets := []mcpcore.Target{all("members", in.GuildID), theRole(in.RoleID)}
			for _, id := range in.UserIDs {
				targets = append(targets, theMember(in.GuildID, id))
			}
			return targets
		},
		Children: func(_ bulkRole, s bulkRoleState) (row []mcpcore.Child[bulkRoleState]) {
			for i, v := range s.all {
				row = append(row, mcpcore.Child[bulkRoleState]{Name: string(v.Member.ID), Current: s.Members[i].Current, State: bulkRoleState{gift: s.gift, one: v}})
			}
			return row
		},
		Apply: func(ctx context.Context, w *write, _ bulkRole, s bulkRoleState) (mcpcore.Written, error) {
			user := s.one.Member.ID
			return mcpcore.Written{ID: string(user)}, w.send(ctx, s.route(), s.path(user), nil, nil)
		},
		ReadBack: func(ctx context.Context, r *reads, _ bulkRole, s bulkRoleState, _ mcpcore.Written) (mcpcore.Reading, error) {
			return r.given(ctx, &s.gift, s.one)
		},
	}.on(rest)
}

func planBulkRole(ctx context.Context, r *reads, in bulkRole) (plan mcpcore.Change[bulkRoleState], err error) {
	s := bulkRoleState{}
	if s.gift, err = r.gift(ctx, in.GuildID, in.RoleID, in.Action == "add"); err != nil {
		return plan, err
	}
	type outcome struct {
		gifted
		Current bool `json:"current"`
	}
	whole, err := forEach(ctx, sortedUsers(in.UserIDs), func(ctx context.Context, id discord.UserID) (o outcome, err error) {
		o.gifted, o.Current, err = s.to(ctx, r, id)
		return o, err
	})
	if err != nil {
		return plan, err
	}
	for _, o := range whole {
		s.Members = append(s.Members, bulkGifted{o.Member.ID, o.Current, o.Impact.Gained, o.Impact.Lost, len(o.Impact.Channels)})
		s.all = append(s.all, o.gifted)
		if !o.Current {
			plan.Affected = append(plan.Affected, mcpcore.Affected{ID: string(o.Member.ID), Name: o.Member.name})
		}
	}
	s.Whole = snapshot(whole)
	plan.Action, plan.Current, plan.State, plan.Risks = in.Action, len(plan.Affected) == 0, s, []string{"bulk"}
	plan.Facts = mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "role", Value: s.Role.Name}}
	if first := slices.IndexFunc(whole, func(o outcome) bool { return !o.Current }); first >= 0 {
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "impact on the first", Value: fmt.Sprint(whole[first].Impact)})
	}
	plan.Warnings = []string{"What changes in channels that the bot cannot see is not known, nor what other bots do with the role."}
	return plan, nil
}
