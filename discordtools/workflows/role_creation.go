package workflows

import (
	"context"
	"fmt"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeRoleCreate = "POST /guilds/{guild_id}/roles"

type roleCreate struct {
	GuildID     discord.GuildID          `json:"guildId" jsonschema:"guild to create it in"`
	Name        string                   `json:"name" jsonschema:"name" minLength:"1" maxLength:"100"`
	Permissions []discord.PermissionName `json:"permissions,omitempty" jsonschema:"what it gives; none when left out" uniqueItems:"true"`
	Color       int                      `json:"color,omitempty" jsonschema:"0xRRGGBB as a number; 0 is none" minimum:"0" maximum:"16777215"`
	Hoist       bool                     `json:"hoist,omitempty" jsonschema:"show its members apart"`
	Mentionable bool                     `json:"mentionable,omitempty" jsonschema:"anyone may mention it"`
	reason
}

type roleCreateState struct {
	Guild      guildSeen      `json:"guild"`
	Permission evidence       `json:"permission"`
	Target     roleBody       `json:"target"`
	Gives      []string       `json:"gives" jsonschema:"the target's permissions by name"`
	Existing   discord.RoleID `json:"existingRole,omitempty"`
	Roles      int            `json:"roles"`
	RoleLimit  int            `json:"roleLimit"`
}

type roleBody struct {
	Name        string                `json:"name"`
	Permissions discord.PermissionSet `json:"permissions"`
	Colors      roleColors            `json:"colors"`
	Hoist       bool                  `json:"hoist"`
	Mentionable bool                  `json:"mentionable"`
}

func (b roleBody) role() role {
	return role{Name: b.Name, Permissions: b.Permissions, Colors: b.Colors, Hoist: b.Hoist, Mentionable: b.Mentionable}
}

// roleCreation makes a role at the bottom of the list.
func roleCreation(rest discordtools.REST) mcpcore.Workflow {
	return change[roleCreate, roleCreateState]{
		Name: "role-creation", Category: "role-creation", Title: "Create a role",
		Doc: `Creates a role above @everyone and below all others, with exactly the permissions that are named:
			only those that the bot has itself, and never ADMINISTRATOR. An equal role whose name is the same
			but for case, spaces and dashes counts as there already; an unequal one stands in the way.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ManageRoles,
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds in which roles may be created")},
		Reads:  append(slices.Clone(standingRoutes), routeRole),
		Write:  []string{routeRoleCreate},
		Plan:   planRoleCreation,
		Targets: func(in roleCreate, _ roleCreateState) []mcpcore.Target {
			return []mcpcore.Target{all("roles", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in roleCreate, s roleCreateState) (mcpcore.Written, error) {
			return w.role(ctx, in.GuildID, s.Target)
		},
		ReadBack: func(ctx context.Context, r *reads, in roleCreate, s roleCreateState, w mcpcore.Written) (mcpcore.Reading, error) {
			return r.madeRole(ctx, in.GuildID, s.Target, w)
		},
	}.on(rest)
}

// role makes a role.
func (w *write) role(ctx context.Context, guild discord.GuildID, body roleBody) (done mcpcore.Written, err error) {
	var made role
	if err := w.send(ctx, routeRoleCreate, inGuild(guild), body, &made); err != nil {
		return done, err
	}
	if done.ID, err = id(made.ID); err == nil && (made.Managed || !equalSets(made.Permissions, body.Permissions)) {
		err = fmt.Errorf("the answer is of another role than was asked for")
	}
	return done, err
}

// madeRole reads a role that was made.
func (r *reads) madeRole(ctx context.Context, guild discord.GuildID, body roleBody, w mcpcore.Written) (found mcpcore.Reading, err error) {
	var now role
	if err := r.get(ctx, routeRole, ofRole(guild, discord.RoleID(w.ID)), &now); err != nil {
		return found, err
	}
	if string(now.ID) != w.ID || now.Managed {
		return found, fmt.Errorf("what was read back is not what was made")
	}
	var d drift
	d.role(now, body.role())
	return mcpcore.Reading{Drift: d}, nil
}

// makesRoles refuses a bot that can make no roles.
func (s *standing) makesRoles() error {
	if err := s.needs(discord.ManageRoles); err != nil {
		return err
	}
	if everyone, _ := s.role(discord.RoleID(s.Guild.ID)); !s.above(everyone) {
		return refused("hierarchy", "the bot has no role above @everyone, so a new one would not stand below it")
	}
	return nil
}

// existing is the equal role that is there under the name, "" for none. An unequal
// one is refused.
func (s *standing) existing(body roleBody) (id discord.RoleID, err error) {
	var same []role
	for _, other := range s.Roles {
		if logical(other.Name) == logical(body.Name) {
			same = append(same, other)
		}
	}
	switch len(same) {
	case 0:
		return "", nil
	case 1:
	default:
		return "", refused("ambiguous", "%d roles have the name %s already", len(same), body.Name)
	}
	want := body.role()
	want.Name = same[0].Name
	var differs drift
	if differs.role(same[0], want); len(differs) > 0 || same[0].Managed {
		return "", refused("name-taken", "the role %s has that name already, and is another one", same[0].ID)
	}
	return same[0].ID, nil
}

func planRoleCreation(ctx context.Context, r *reads, in roleCreate) (plan mcpcore.Change[roleCreateState], err error) {
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	if err := bot.makesRoles(); err != nil {
		return plan, err
	}
	gives := permissionsOf(in.Permissions)
	if err := bot.gives(discord.WideBits(gives)); err != nil {
		return plan, err
	}
	s := roleCreateState{
		Guild: bot.Guild, Permission: bot.evidence(), Gives: gives.Names(), Roles: len(bot.Roles), RoleLimit: guildRoles,
		Target: roleBody{in.Name, discord.WideBits(gives).Set(), roleColors{Primary: in.Color}, in.Hoist, in.Mentionable},
	}
	plan = mcpcore.Change[roleCreateState]{
		Action: "create",
		Facts:  mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "role", Value: in.Name}, {Name: "gives", Value: gives.String()}},
	}
	if s.Existing, err = bot.existing(s.Target); err != nil {
		return plan, err
	}
	switch {
	case s.Existing != "":
		nothing(&plan)
	case len(bot.Roles) >= guildRoles:
		return plan, refused("full", "the guild has %d roles, and can have %d", len(bot.Roles), guildRoles)
	}
	plan.State = s
	return plan, nil
}
