package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeRolesMove = "PATCH /guilds/{guild_id}/roles"

type roleOrderAudit struct {
	GuildID discord.GuildID `json:"guildId" jsonschema:"guild of the roles"`
}

type roleOrder struct {
	GuildID   discord.GuildID `json:"guildId" jsonschema:"guild of the roles"`
	RoleID    discord.RoleID  `json:"roleId" jsonschema:"role to move"`
	AnchorID  discord.RoleID  `json:"anchorRoleId" jsonschema:"role that it is to stand next to"`
	Placement string          `json:"placement" jsonschema:"on which side of the anchor" enum:"above,below"`
	reason
}

// hierarchy is all roles of a guild, the highest first.
type hierarchy struct {
	Guild      guildSeen    `json:"guild"`
	Permission evidence     `json:"permission"`
	Roles      []rankedRole `json:"roles" jsonschema:"the highest first"`
}

type rankedRole struct {
	ID       discord.RoleID `json:"id"`
	Name     string         `json:"name"`
	Position int            `json:"position"`
	Holders  int            `json:"holders"`
	Fixed    string         `json:"fixed,omitempty" jsonschema:"why it cannot be moved"`
	Unknown  []string       `json:"unknownFields" jsonschema:"what Discord says of it that nobody here knows"`
}

type roleOrderState struct {
	Guild      guildSeen        `json:"guild"`
	Permission evidence         `json:"permission"`
	Segment    []rankedRole     `json:"segment" jsonschema:"the roles that move past each other"`
	Moves      []rolePlace      `json:"moves"`
	Desired    []discord.RoleID `json:"desired" jsonschema:"the whole hierarchy afterwards, the highest first"`
	Holders    string           `json:"holders" jsonschema:"digest of how many hold each role"`
}

type rolePlace struct {
	ID       discord.RoleID `json:"id"`
	Position int            `json:"position"`
}

// roleOrdering moves one role next to another.
func roleOrdering(rest discordtools.REST) mcpcore.Workflow {
	return change[roleOrder, roleOrderState]{
		Name: "role-ordering", Noun: "role_order", Category: "role-ordering", Title: "Move a role",
		Doc: `Moves one role directly above or below another. All roles between them move by one place; each of
			them must be an ordinary role below the bot's highest that the bot does not hold.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ManageRoles,
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds in which roles may be moved")},
		Audits: []mcpcore.Tool{companion(rest, mcpcore.Tool{
			Name: "audit_role_order", Title: "Look at the order of roles", Category: "role-ordering",
			Doc:   "Lists the roles of a guild from the highest to @everyone, with how many hold each and why one cannot be moved.",
			Scope: mcpcore.GuildScope, Needs: discord.ManageRoles, Routes: append(slices.Clone(standingRoutes), routeMemberCounts),
		}, func(ctx context.Context, r *reads, in roleOrderAudit) (hierarchy, error) {
			_, h, err := readHierarchy(ctx, r, in.GuildID)
			return h, err
		})},
		Rules: []mcpcore.Rule{{Check: func(c *mcpcore.Call) *mcpcore.Issue {
			if c.Text("roleId") == c.Text("anchorRoleId") {
				return issue("anchorRoleId", "is the role itself")
			}
			return nil
		}}},
		Reads: append(slices.Clone(standingRoutes), routeMemberCounts),
		Write: []string{routeRolesMove},
		Plan:  planRoleOrdering,
		Targets: func(in roleOrder, _ roleOrderState) []mcpcore.Target {
			return []mcpcore.Target{all("roles", in.GuildID), theRole(in.RoleID), theRole(in.AnchorID)}
		},
		Apply: func(ctx context.Context, w *write, in roleOrder, s roleOrderState) (mcpcore.Written, error) {
			done := mcpcore.Written{ID: string(in.RoleID)}
			var now []role
			err := w.send(ctx, routeRolesMove, inGuild(in.GuildID), s.Moves, &now)
			if err == nil && !slices.Equal(order(now), s.Desired) {
				err = errors.New("the answer has the roles in another order than was asked for")
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in roleOrder, s roleOrderState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			var now []role
			if err := r.get(ctx, routeRoles, inGuild(in.GuildID), &now); err != nil {
				return found, err
			}
			counts, err := r.holders(ctx, in.GuildID)
			if err != nil {
				return found, err
			}
			if !slices.Equal(order(now), s.Desired) {
				return found, errors.New("the roles do not stand in the order that was planned")
			}
			var d drift
			d.unless(snapshot(counts) == s.Holders, "holders")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

func planRoleOrdering(ctx context.Context, r *reads, in roleOrder) (plan mcpcore.Change[roleOrderState], err error) {
	bot, h, err := readHierarchy(ctx, r, in.GuildID)
	if err != nil {
		return plan, err
	}
	place := func(id discord.RoleID) int {
		return slices.IndexFunc(h.Roles, func(r rankedRole) bool { return r.ID == id })
	}
	from, anchor := place(in.RoleID), place(in.AnchorID)
	if from < 0 || anchor < 0 {
		return plan, refused("role-missing", "the guild does not have both roles")
	}
	to := anchor
	switch {
	case in.Placement == "above" && from < anchor:
		to--
	case in.Placement == "below" && from > anchor:
		to++
	}
	top, bottom := min(from, to, anchor), max(from, to, anchor)
	s := roleOrderState{Guild: h.Guild, Permission: h.Permission, Segment: h.Roles[top : bottom+1]}
	for _, each := range s.Segment {
		if err := bot.moves(each); err != nil {
			return plan, err
		}
	}
	if err := distinct(h.Roles[max(top-1, 0):min(bottom+2, len(h.Roles))]); err != nil {
		return plan, err
	}
	s.Desired = order(bot.Roles)
	s.Desired = slices.Insert(slices.Delete(s.Desired, from, from+1), to, in.RoleID)
	plan = mcpcore.Change[roleOrderState]{
		Action: "move", Current: from == to,
		Facts: mcpcore.Facts{
			{Name: "guild", Value: s.Guild.Name}, {Name: "role", Value: h.Roles[from].Name}, {Name: in.Placement, Value: h.Roles[anchor].Name},
		},
		Warnings: []string{"Who stands above whom decides which roles and members a moderator can act on."},
	}
	counts := map[discord.RoleID]int{}
	for i, was := range h.Roles {
		if now := h.Roles[place(s.Desired[i])]; now.ID != was.ID {
			s.Moves = append(s.Moves, rolePlace{now.ID, was.Position})
			plan.Affected = append(plan.Affected, mcpcore.Affected{ID: string(now.ID), Action: fmt.Sprintf("from %d to %d", now.Position, was.Position), Name: now.Name})
		}
		if string(was.ID) != string(in.GuildID) {
			counts[was.ID] = was.Holders
		}
	}
	s.Holders = snapshot(counts)
	plan.State = s
	return plan, nil
}

// readHierarchy reads all roles with everything that Discord says of them.
func readHierarchy(ctx context.Context, r *reads, guild discord.GuildID) (bot standing, h hierarchy, err error) {
	if bot, err = r.standing(ctx, guild); err != nil {
		return bot, h, err
	}
	if err := bot.needs(discord.ManageRoles); err != nil {
		return bot, h, err
	}
	var said []map[string]json.RawMessage
	if err := r.get(ctx, routeRoles, inGuild(guild), &said); err != nil {
		return bot, h, err
	}
	counts, err := r.holders(ctx, guild)
	if err != nil {
		return bot, h, err
	}
	h = hierarchy{Guild: bot.Guild, Permission: bot.evidence()}
	for _, each := range bot.Roles {
		one := rankedRole{ID: each.ID, Name: each.Name, Position: each.Position, Holders: counts[each.ID]}
		i := slices.IndexFunc(said, func(m map[string]json.RawMessage) bool { return string(m["id"]) == `"`+string(each.ID)+`"` })
		if i < 0 || len(said) != len(bot.Roles) {
			return bot, h, incomplete("the roles of the guild")
		}
		for _, field := range slices.Sorted(maps.Keys(said[i])) {
			if !slices.Contains(roleFields, field) && string(said[i][field]) != "null" {
				one.Unknown = append(one.Unknown, field)
			}
		}
		if err := bot.moves(one); err != nil {
			one.Fixed = why(err)
		}
		h.Roles = append(h.Roles, one)
	}
	return bot, h, nil
}

// roleFields are what is known of a role.
//
// Source: https://docs.discord.com/developers/topics/permissions#role-object.
var roleFields = []string{
	"id", "name", "color", "colors", "hoist", "icon", "unicode_emoji", "position", "permissions", "managed", "mentionable", "tags", "flags",
}

// moves refuses a role that the bot cannot move, or whose place decides what the
// bot itself may do.
func (s *standing) moves(one rankedRole) error {
	r, err := s.known(one.ID)
	if err != nil {
		return err
	}
	switch {
	case len(one.Unknown) > 0:
		return refused("unknown-field", "Discord says %v of the role %s, which nobody here knows", one.Unknown, one.ID)
	case slices.Contains(s.Held, one.ID):
		return refused("held", "the bot holds the role %s", one.ID)
	}
	return s.standard(r)
}

// distinct refuses roles of which two stand at one position: which of them moves
// is not to be foreseen.
func distinct(roles []rankedRole) error {
	for i := 1; i < len(roles); i++ {
		if roles[i].Position == roles[i-1].Position {
			return refused("tied", "the roles %s and %s stand at one position; somebody must order them first", roles[i-1].ID, roles[i].ID)
		}
	}
	return nil
}

// order is the roles' ids, the highest first.
func order(roles []role) []discord.RoleID {
	sorted := slices.SortedFunc(slices.Values(roles), func(a, b role) int {
		if a.above(b) {
			return -1
		}
		return 1
	})
	ids := make([]discord.RoleID, len(sorted))
	for i, r := range sorted {
		ids[i] = r.ID
	}
	return ids
}

// why is the reason of a refusal.
func why(err error) string {
	if e, ok := errors.AsType[*mcpcore.Error](err); ok {
		word, _ := e.Fields["reason"].(string)
		return word
	}
	return ""
}
