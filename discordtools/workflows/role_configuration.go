package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/internal/emoji"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeRoleEdit = "PATCH /guilds/{guild_id}/roles/{role_id}"

type roleConfigure struct {
	GuildID     discord.GuildID          `json:"guildId" jsonschema:"guild of the role"`
	RoleID      discord.RoleID           `json:"roleId" jsonschema:"role to change"`
	Name        *string                  `json:"name,omitempty" jsonschema:"new name" minLength:"1" maxLength:"100"`
	Colors      *roleStyle               `json:"colors,omitempty" jsonschema:"new colours, all of them"`
	Hoist       *bool                    `json:"hoist,omitempty" jsonschema:"show its members apart"`
	Mentionable *bool                    `json:"mentionable,omitempty" jsonschema:"anyone may mention it"`
	Grant       []discord.PermissionName `json:"grantPermissions,omitempty" jsonschema:"permissions to add" uniqueItems:"true"`
	Revoke      []discord.PermissionName `json:"revokePermissions,omitempty" jsonschema:"permissions to take" uniqueItems:"true"`
	ClearIcon   bool                     `json:"clearIcon,omitempty" jsonschema:"true removes the icon"`
	Emoji       string                   `json:"unicodeEmoji,omitempty" jsonschema:"a standard emoji as icon" maxLength:"64"`
	Icon        string                   `json:"icon,omitempty" jsonschema:"a PNG or JPEG of 64 by 64 pixels as icon, as a data URI" maxLength:"350000"`
	reason
}

// roleConfigured is a change of a role. Desired has the icon only where it is an
// emoji or none; of an image Discord makes the hash.
type roleConfigured struct {
	Guild      guildSeen  `json:"guild"`
	Permission evidence   `json:"permission"`
	Current    role       `json:"current"`
	Desired    role       `json:"desired"`
	Changed    []string   `json:"changedFields"`
	Granted    []string   `json:"granted"`
	Revoked    []string   `json:"revoked"`
	Image      *imageSeen `json:"image"`
	Holders    int        `json:"holders"`
	Others     string     `json:"otherRoles" jsonschema:"digest of all other roles"`
}

// roleConfiguration changes what a role looks like and gives.
func roleConfiguration(rest discordtools.REST) mcpcore.Workflow {
	return change[roleConfigure, roleConfigured]{
		Name: "role-configuration", Category: "role-configuration", Title: "Change a role",
		Doc: `Changes a role below the bot's highest: what is named, and nothing else. Permissions are granted and
			revoked by name and all others stay; the bot can change only what it has itself, never grants
			ADMINISTRATOR and does not take MANAGE_ROLES from itself. Who holds the role is not touched.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ManageRoles, Redact: []string{"icon"},
		Scopes: rolesScope("roles that may be changed"),
		Rules: []mcpcore.Rule{
			mcpcore.AnyOf("name", "colors", "hoist", "mentionable", "grantPermissions", "revokePermissions", "clearIcon", "unicodeEmoji", "icon"),
			mcpcore.Exclusive("clearIcon", "unicodeEmoji", "icon"),
		},
		Reads: append(slices.Clone(standingRoutes), routeRole, routeMemberCounts),
		Write: []string{routeRoleEdit},
		Plan:  planRoleConfiguration,
		Targets: func(in roleConfigure, _ roleConfigured) []mcpcore.Target {
			return []mcpcore.Target{theRole(in.RoleID), all("roles", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in roleConfigure, s roleConfigured) (done mcpcore.Written, err error) {
			var now role
			if err := w.send(ctx, routeRoleEdit, ofRole(in.GuildID, in.RoleID), s.body(in.Icon), &now); err != nil {
				return done, err
			}
			if done.ID, err = id(now.ID); err == nil && (now.ID != in.RoleID || now.Managed || !equalSets(now.Permissions, s.Desired.Permissions)) {
				err = errors.New("the answer is of another role than was changed")
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in roleConfigure, s roleConfigured, w mcpcore.Written) (found mcpcore.Reading, err error) {
			var now role
			if err := r.get(ctx, routeRole, ofRole(in.GuildID, in.RoleID), &now); err != nil {
				return found, err
			}
			if now.ID != in.RoleID || now.Managed {
				return found, errors.New("what was read back is not the role")
			}
			var list []role
			if err := r.get(ctx, routeRoles, inGuild(in.GuildID), &list); err != nil {
				return found, err
			}
			counts, err := r.holders(ctx, in.GuildID)
			if err != nil {
				return found, err
			}
			var d drift
			d.role(now, s.Desired)
			d.unless(s.iconIn(now), "icon")
			d.unless(survivors(list, in.RoleID) == s.Others, "roles")
			d.unless(counts[in.RoleID] == s.Holders, "holders")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

func planRoleConfiguration(ctx context.Context, r *reads, in roleConfigure) (plan mcpcore.Change[roleConfigured], err error) {
	bot, err := r.able(ctx, in.GuildID, discord.ManageRoles)
	if err != nil {
		return plan, err
	}
	now, err := bot.known(in.RoleID)
	if err != nil {
		return plan, err
	}
	if err := bot.manages(now); err != nil {
		return plan, err
	}
	s := roleConfigured{Guild: bot.Guild, Permission: bot.evidence(), Current: now, Desired: now, Others: survivors(bot.Roles, in.RoleID)}
	if err := s.permissions(&bot, permissionsOf(in.Grant), permissionsOf(in.Revoke)); err != nil {
		return plan, err
	}
	if err := s.looks(&bot, in); err != nil {
		return plan, err
	}
	counts, err := r.holders(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	s.Holders = counts[in.RoleID]
	return mcpcore.Change[roleConfigured]{
		Action: "update", Current: len(s.Changed) == 0, State: s,
		Facts: mcpcore.Facts{
			{Name: "guild", Value: s.Guild.Name}, {Name: "role", Value: now.Name}, {Name: "changes", Value: strings.Join(s.Changed, ", ")},
			{Name: "grants", Value: strings.Join(s.Granted, ", ")}, {Name: "revokes", Value: strings.Join(s.Revoked, ", ")},
			{Name: "members who hold it", Value: fmt.Sprint(s.Holders)},
		},
		Warnings: []string{"Whoever holds the role gets and loses at once what changes."},
	}, nil
}

// permissions works out what the role gives afterwards: all bits but the named
// ones stay.
func (s *roleConfigured) permissions(bot *standing, grant, revoke discord.Permissions) error {
	had, err := s.Current.Permissions.Bits()
	if err != nil {
		return incomplete("the permissions of the role")
	}
	if both := grant & revoke; both != 0 {
		return refused("contradiction", "%s is both granted and revoked", both)
	}
	if err := bot.gives(discord.WideBits(grant)); err != nil {
		return err
	}
	has := had.With(grant).AndNot(discord.WideBits(revoke))
	s.Granted, s.Revoked, s.Desired.Permissions = has.AndNot(had).Names(), had.AndNot(has).Names(), has.Set()
	if err := lacks(bot.held.Low(), had.AndNot(has).Low(), "the guild, and can take only what it has"); err != nil {
		return err
	}
	after := *bot
	after.Roles = slices.Clone(bot.Roles)
	after.Roles[slices.IndexFunc(after.Roles, func(r role) bool { return r.ID == s.Current.ID })].Permissions = s.Desired.Permissions
	if err := after.weigh(); err != nil {
		return err
	}
	if !after.held.Has(discord.ManageRoles) {
		return refused("lockout", "the bot would take MANAGE_ROLES from itself")
	}
	return nil
}

// looks works out what the role looks like afterwards, and what of it all changes.
func (s *roleConfigured) looks(bot *standing, in roleConfigure) (err error) {
	want := &s.Desired
	set(&want.Name, in.Name)
	set(&want.Hoist, in.Hoist)
	set(&want.Mentionable, in.Mentionable)
	if in.Colors != nil {
		if want.Colors, err = in.Colors.on(bot.Features); err != nil {
			return err
		}
	}
	var changed drift
	changed.role(*want, s.Current)
	s.Changed = changed
	switch {
	case in.Icon != "":
		if s.Image, err = readIcon(in.Icon); err != nil {
			return err
		}
		want.Icon, want.Emoji = nil, nil
	case in.Emoji != "":
		if !emoji.Is(in.Emoji) {
			return refused("emoji", "unicodeEmoji is not a standard emoji")
		}
		want.Icon, want.Emoji = nil, &in.Emoji
	case in.ClearIcon:
		want.Icon, want.Emoji = nil, nil
	}
	if s.Image != nil || !s.iconIn(s.Current) {
		s.Changed = append(s.Changed, "icon")
		if (s.Image != nil || want.Emoji != nil) && !slices.Contains(bot.Features, "ROLE_ICONS") {
			return refused("feature", "the guild has no role icons: it lacks the feature ROLE_ICONS")
		}
	}
	return nil
}

// iconIn reports whether a role has the icon that it is to have.
func (s *roleConfigured) iconIn(r role) bool {
	if s.Image != nil {
		return r.Icon != nil && r.Emoji == nil
	}
	same := func(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
	return same(r.Icon, s.Desired.Icon) && same(r.Emoji, s.Desired.Emoji)
}

// roleEdit is the request: only what changes.
type roleEdit struct {
	Name        *string                `json:"name,omitempty"`
	Permissions *discord.PermissionSet `json:"permissions,omitempty"`
	Colors      *roleColors            `json:"colors,omitempty"`
	Hoist       *bool                  `json:"hoist,omitempty"`
	Mentionable *bool                  `json:"mentionable,omitempty"`
	Icon        json.RawMessage        `json:"icon,omitempty"`
	Emoji       json.RawMessage        `json:"unicode_emoji,omitempty"`
}

func (s *roleConfigured) body(icon string) (b roleEdit) {
	for _, field := range s.Changed {
		switch field {
		case "name":
			b.Name = &s.Desired.Name
		case "permissions":
			b.Permissions = &s.Desired.Permissions
		case "colors":
			b.Colors = &s.Desired.Colors
		case "hoist":
			b.Hoist = &s.Desired.Hoist
		case "mentionable":
			b.Mentionable = &s.Desired.Mentionable
		case "icon":
			b.Icon, b.Emoji = json.RawMessage("null"), json.RawMessage("null")
			if s.Image != nil {
				b.Icon, _ = json.Marshal(icon) // a text
			} else if s.Desired.Emoji != nil {
				b.Emoji, _ = json.Marshal(*s.Desired.Emoji)
			}
		}
	}
	return b
}
