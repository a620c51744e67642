package discordtools

import (
	"context"
	"fmt"
	"strconv"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeRole       = "GET /guilds/{guild_id}/roles/{role_id}"
	routeRoleCounts = "GET /guilds/{guild_id}/roles/member-counts"
)

// roles reads, makes, changes, orders and deletes the roles of a guild.
//
// Source: https://docs.discord.com/developers/resources/guild#get-guild-roles.
func roles() category {
	return category{Name: "roles", Scope: mcpcore.GuildScope, Tools: []declaration{
		read[rolesList, rolesAll]{
			Name:  "roles_list",
			Title: "List roles",
			Doc: `Lists all roles of a guild with their permissions (decimal sets) and positions; a higher
				position outranks. @everyone has the guild's id.`,
			Route: routeRoles,
			Calls: []string{routeRoleCounts},
			Fence: fence.ChannelTopic,
			Run:   listRoles,
		},
		write[rolesCreate, roleMade]{
			Name:  "roles_create",
			Title: "Create a role",
			Doc: `Creates a role at the bottom of the list, with the permissions of @everyone unless
				permissions says otherwise. Move it with roles_modify_positions. The bot can grant
				only what it has itself.`,
			Route:  "POST /guilds/{guild_id}/roles",
			Needs:  discord.ManageRoles,
			Rules:  roleRules,
			Redact: []string{"icon"},
			Fence:  fence.ChannelTopic,
		},
		write[rolesModify, roleMade]{
			Name:  "roles_modify",
			Title: "Change a role",
			Doc: `Changes a role below the bot's highest; what is left out stays. permissions replaces
				the whole set: to change one bit, start from the role's own.`,
			Route:      "PATCH /guilds/{guild_id}/roles/{role_id}",
			Repeatable: true,
			Needs:      discord.ManageRoles,
			Outranks:   "role_id",
			Rules:      roleRules,
			Redact:     []string{"icon"},
			Fence:      fence.ChannelTopic,
		},
		write[rolesModifyPositions, rolesOrdered]{
			Name:  "roles_modify_positions",
			Title: "Move roles",
			Doc: `Moves roles up or down; a higher position outranks. Only roles below the bot's highest
				can be moved, and not above it. Answers with the order of all roles.`,
			Route:      "PATCH /guilds/{guild_id}/roles",
			Repeatable: true,
			Needs:      discord.ManageRoles,
			Outranks:   "positions",
			Rules:      []mcpcore.Rule{{Check: movedOnce}},
			Fence:      fence.ChannelTopic,
		},
		destroy[rolesDelete, roleDeleted]{
			Name:  "roles_delete",
			Title: "Delete a role",
			Doc: `Deletes a role for good: everybody loses it, with the access it gave. Roles of bots
				and integrations and @everyone cannot be deleted.`,
			Route:    "DELETE /guilds/{guild_id}/roles/{role_id}",
			Calls:    []string{routeRole, routeRoleCounts},
			Needs:    discord.ManageRoles,
			Outranks: "role_id",
			Facts:    roleFacts,
		},
	}}
}

type rolesList struct {
	guildRef
	WithCounts bool `json:"with_counts,omitempty" in:"local" jsonschema:"also how many members hold each role"`
	offset
}

type rolesAll struct {
	Roles []roleItem `json:"roles" from:"@reply"`
	part
	remarks
}

type roleItem struct {
	roleFields
	Managed     bool           `json:"managed"`
	BotID       discord.UserID `json:"bot_id,omitempty" from:"tags.bot_id" jsonschema:"bot whose role it is"`
	MemberCount *int           `json:"member_count,omitempty" from:"@derived"`
}

type roleFields struct {
	ID             discord.RoleID        `json:"id"`
	Name           string                `json:"name"`
	Color          int                   `json:"color"`
	SecondaryColor *int                  `json:"secondary_color,omitempty" from:"colors.secondary_color"`
	TertiaryColor  *int                  `json:"tertiary_color,omitempty" from:"colors.tertiary_color"`
	Position       int                   `json:"position"`
	Permissions    discord.PermissionSet `json:"permissions"`
	Mentionable    bool                  `json:"mentionable"`
	Hoist          bool                  `json:"hoist"`
	Icon           string                `json:"icon,omitempty"`
	UnicodeEmoji   string                `json:"unicode_emoji,omitempty"`
}

// roleCounts is how many members hold each role; Discord leaves @everyone out.
func (a *api) roleCounts(ctx context.Context) (counts map[discord.RoleID]int, err error) {
	return counts, a.do(ctx, routeRoleCounts, sub{}, &counts)
}

// listRoles marks counts that cannot be read as unknown; the roles are of use
// without them.
func listRoles(ctx context.Context, a *api, in rolesList) (v rolesAll, err error) {
	reply, err := a.send(ctx)
	if err != nil {
		return v, err
	}
	if err := a.project(reply, &v); err != nil || !in.WithCounts {
		return v, err
	}
	counts, err := a.roleCounts(ctx)
	if err != nil {
		v.Warnings = []string{"How many members hold the roles is unknown: Discord did not say."}
		return v, nil
	}
	for i := range v.Roles {
		if n, ok := counts[v.Roles[i].ID]; ok {
			v.Roles[i].MemberCount = &n
		}
	}
	return v, nil
}

type rolesCreate struct {
	guildRef
	Name        string                `json:"name,omitempty" jsonschema:"name" minLength:"1" maxLength:"100"`
	Permissions discord.PermissionSet `json:"permissions,omitempty" jsonschema:"decimal permission set"`
	Color       int                   `json:"color,omitempty" jsonschema:"0xRRGGBB as a number; 0 is none" minimum:"0" maximum:"16777215"`
	Colors      *roleColors           `json:"colors,omitempty" jsonschema:"a gradient instead of color"`
	Hoist       bool                  `json:"hoist,omitempty" jsonschema:"show its members apart"`
	roleIcon
	Mentionable bool `json:"mentionable,omitempty" jsonschema:"anyone may mention it"`
	auditReason
}

type rolesModify struct {
	guildRef
	RoleID      discord.RoleID        `json:"role_id" jsonschema:"role; the guild's id is @everyone"`
	Name        *string               `json:"name,omitempty" jsonschema:"new name" minLength:"1" maxLength:"100"`
	Permissions discord.PermissionSet `json:"permissions,omitempty" jsonschema:"decimal permission set, replacing the old one"`
	Color       *int                  `json:"color,omitempty" jsonschema:"0xRRGGBB as a number; 0 is none" minimum:"0" maximum:"16777215"`
	Colors      *roleColors           `json:"colors,omitempty" jsonschema:"a gradient instead of color"`
	Hoist       *bool                 `json:"hoist,omitempty" jsonschema:"show its members apart"`
	roleIcon
	Mentionable *bool `json:"mentionable,omitempty" jsonschema:"anyone may mention it"`
	auditReason
}

// roleColors are up to three colours.
//
// Source: https://docs.discord.com/developers/topics/permissions#role-object-role-colors-object.
type roleColors struct {
	Primary   int  `json:"primary_color" minimum:"0" maximum:"16777215"`
	Secondary *int `json:"secondary_color,omitempty" jsonschema:"needs the guild feature ENHANCED_ROLE_COLORS" minimum:"0" maximum:"16777215"`
	Tertiary  *int `json:"tertiary_color,omitempty" jsonschema:"only 11127295, 16759788, 16761760 go together" minimum:"0" maximum:"16777215"`
}

type roleIcon struct {
	Icon         *string `json:"icon,omitempty" as:"image" jsonschema:"image as a data URI; null removes it; needs the guild feature ROLE_ICONS"`
	UnicodeEmoji *string `json:"unicode_emoji,omitempty" jsonschema:"a standard emoji as icon; null removes it; needs ROLE_ICONS" maxLength:"100"`
}

// roleRules refuse what says two things about one property.
var roleRules = []mcpcore.Rule{mcpcore.Exclusive("color", "colors"), {Check: oneIcon}}

func oneIcon(call *mcpcore.Call) *mcpcore.Issue {
	if call.Text("icon") == "" || call.Text("unicode_emoji") == "" {
		return nil
	}
	return contradiction("unicode_emoji", "excludes icon; a role has one of them")
}

type roleMade struct {
	roleFields
}

type rolesModifyPositions struct {
	guildRef
	Positions []rolePosition `json:"positions" in:"wholebody" jsonschema:"roles to move" minItems:"1"`
	auditReason
}

type rolePosition struct {
	ID       discord.RoleID `json:"id"`
	Position int            `json:"position,omitempty" minimum:"0"`
}

// movedOnce refuses a role that stands twice: which place counts is not to be
// known.
func movedOnce(call *mcpcore.Call) *mcpcore.Issue {
	positions, _ := argument[[]rolePosition](call, "positions")
	seen := map[discord.RoleID]bool{}
	for i, p := range positions {
		if seen[p.ID] {
			return contradiction(fmt.Sprintf("positions.%d.id", i), "is moved twice; give each role once")
		}
		seen[p.ID] = true
	}
	return nil
}

type rolesOrdered struct {
	Roles []rolePlace `json:"roles" from:"@reply"`
	Count int         `json:"count" from:"@count"`
}

type rolePlace struct {
	ID       discord.RoleID `json:"id"`
	Name     string         `json:"name"`
	Position int            `json:"position"`
}

type rolesDelete struct {
	guildRef
	RoleID discord.RoleID `json:"role_id" jsonschema:"role"`
	auditReason
}

type roleDeleted struct {
	Deleted bool            `json:"deleted" from:"@true"`
	RoleID  discord.RoleID  `json:"role_id" from:"@arg"`
	GuildID discord.GuildID `json:"guild_id" from:"@arg"`
}

func roleFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var r struct {
		ID       discord.RoleID `json:"id"`
		Name     string         `json:"name"`
		Position int            `json:"position"`
		Managed  bool           `json:"managed"`
	}
	if err := a.do(ctx, routeRole, sub{}, &r); err != nil {
		return nil, err
	}
	var held *int
	if counts, err := a.roleCounts(ctx); err == nil {
		if n, ok := counts[r.ID]; ok {
			held = &n
		}
	}
	facts := mcpcore.Facts{
		{Name: "role", Value: r.Name}, {Name: "position", Value: strconv.Itoa(r.Position)}, {Name: "members who hold it", Value: countOf(held)},
	}
	if r.Managed {
		facts = append(facts, mcpcore.Fact{Name: "managed", Value: "by a bot or an integration; Discord will refuse"})
	}
	return facts, nil
}
