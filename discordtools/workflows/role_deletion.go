package workflows

import (
	"context"
	"errors"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeRoleDelete = "DELETE /guilds/{guild_id}/roles/{role_id}"

type roleAudit struct {
	GuildID discord.GuildID `json:"guildId" jsonschema:"guild of the role"`
	RoleID  discord.RoleID  `json:"roleId" jsonschema:"role to look at"`
}

type roleDelete struct {
	GuildID      discord.GuildID `json:"guildId" jsonschema:"guild of the role"`
	RoleID       discord.RoleID  `json:"roleId" jsonschema:"role to delete"`
	Irreversible bool            `json:"acknowledgeIrreversible" jsonschema:"true: the role cannot be brought back"`
	NoRecovery   bool            `json:"acknowledgeNoRecoveryArtifact" jsonschema:"true: nothing was kept from which it could be made again"`
	reason
}

// roleStanding is a role with everything in its guild that names it.
type roleStanding struct {
	Guild      guildSeen `json:"guild"`
	Permission evidence  `json:"permission"`
	Role       role      `json:"role"`
	Uses       roleUsed  `json:"uses"`
	Blockers   []string  `json:"blockers" jsonschema:"what stands in the way of its deletion; [] for nothing"`
	Survivors  string    `json:"survivors" jsonschema:"digest of all other roles"`
	rolePlaces
}

// roleDeletion deletes a role that nobody holds and nothing names.
func roleDeletion(rest discordtools.REST) mcpcore.Workflow {
	return change[roleDelete, roleStanding]{
		Name: "role-deletion", Category: "role-deletion", Title: "Delete a role",
		Doc: `Deletes a role below the bot's highest that no member holds and that no overwrite, invite,
			emoji, onboarding option, AutoMod rule, integration or command of this bot names.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope, Needs: discord.ManageRoles | discord.ManageGuild,
		Scopes:      []mcpcore.PolicyScope{{Name: "roles", Arg: "roleId", Doc: "roles that may be deleted"}},
		Acknowledge: []string{"acknowledgeIrreversible", "acknowledgeNoRecoveryArtifact"},
		Audits: []mcpcore.Tool{companion(rest, mcpcore.Tool{
			Name: "audit_role_deletion", Title: "Look whether a role can be deleted", Category: "role-deletion",
			Doc:   "Tells who holds a role, what in its guild names it and what stands in the way of its deletion. Other bots' commands cannot be seen.",
			Scope: mcpcore.GuildScope, Needs: discord.ManageRoles | discord.ManageGuild, Routes: slices.Concat(standingRoutes, roleUses),
		}, func(ctx context.Context, r *reads, in roleAudit) (roleStanding, error) {
			s, _, err := examineRole(ctx, r, in.GuildID, in.RoleID)
			return s, err
		})},
		Reads: slices.Concat(standingRoutes, roleUses),
		Write: []string{routeRoleDelete},
		Plan: func(ctx context.Context, r *reads, in roleDelete) (plan mcpcore.Change[roleStanding], err error) {
			s, ready, err := examineRole(ctx, r, in.GuildID, in.RoleID)
			if err == nil {
				err = ready.refuse("role")
			}
			return mcpcore.Change[roleStanding]{
				Action: "delete", State: s, Risks: []string{"irreversible"},
				Facts:    mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "role", Value: s.Role.Name}},
				Warnings: []string{"Commands of other bots that are open to the role cannot be seen.", "Channels that the bot cannot see may have overwrites of the role."},
			}, err
		},
		Targets: func(in roleDelete, _ roleStanding) []mcpcore.Target {
			g := in.GuildID
			return []mcpcore.Target{
				theRole(in.RoleID), all("roles", g), all("channels", g), all("invites", g), all("emojis", g), all("onboarding", g),
				all("automod", g), all("integrations", g), all("application-commands", g),
			}
		},
		Apply: func(ctx context.Context, w *write, in roleDelete, s roleStanding) (mcpcore.Written, error) {
			err := w.send(ctx, routeRoleDelete, path{"guild_id": string(in.GuildID), "role_id": string(in.RoleID)}, nil, nil)
			return mcpcore.Written{ID: string(in.RoleID)}, err
		},
		ReadBack: func(ctx context.Context, r *reads, in roleDelete, s roleStanding, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			var left []role
			if err := r.get(ctx, routeRoles, inGuild(in.GuildID), &left); err != nil {
				return found, err
			}
			if slices.ContainsFunc(left, func(other role) bool { return other.ID == in.RoleID }) {
				return found, errors.New("the role is still there")
			}
			var now roleStanding
			if err := now.readPlaces(ctx, r, in.GuildID, in.RoleID); err != nil {
				return found, err
			}
			var d drift
			d.unless(survivors(left, in.RoleID) == s.Survivors, "roles")
			d.places(now.rolePlaces, s.rolePlaces)
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

// examineRole reads a role and all that names it.
func examineRole(ctx context.Context, r *reads, guild discord.GuildID, id discord.RoleID) (s roleStanding, ready readiness, err error) {
	bot, err := r.able(ctx, guild, discord.ManageRoles|discord.ManageGuild)
	if err != nil {
		return s, ready, err
	}
	var known bool
	if s.Role, known = bot.role(id); !known {
		return s, ready, refused("role-missing", "the guild has no role %s", id)
	}
	s.Guild, s.Permission, s.Survivors = bot.Guild, bot.evidence(), survivors(bot.Roles, id)
	switch {
	case string(id) == string(guild):
		ready.block("everyone", "@everyone cannot be deleted")
	case s.Role.Managed:
		ready.block("managed", "it belongs to a bot or an integration")
	case !bot.above(s.Role):
		ready.block("hierarchy", "it does not stand below the bot's highest role")
	}
	holders, err := r.holders(ctx, guild)
	if err != nil {
		return s, ready, err
	}
	s.Uses.Holders = holders[id]
	if err := s.readPlaces(ctx, r, guild, id); err != nil {
		return s, ready, err
	}
	u := s.Uses
	ready.free(
		use{"holders", u.Holders, "members hold it"},
		use{"overwrites", len(u.Overwrites), "channels have overwrites of it"},
		use{"invites", u.Invites, "invites give it"},
		use{"emojis", len(u.Emojis), "emojis are for it"},
		use{"onboarding", len(u.Onboarding), "prompts of the onboarding give it"},
		use{"automod", len(u.Automod), "AutoMod rules exempt it"},
		use{"integrations", len(u.Integrations), "integrations give it"},
		use{"commands", len(u.Commands), "commands of this bot name it"},
	)
	s.Blockers = ready.words
	return s, ready, nil
}

// survivors is a digest of all roles but one, without their positions, which
// move when one is deleted.
func survivors(all []role, but discord.RoleID) string {
	var left []role
	for _, r := range all {
		if r.ID != but {
			r.Position = 0
			left = append(left, r)
		}
	}
	slices.SortFunc(left, func(a, b role) int { return discord.CompareIDs(a.ID, b.ID) })
	return snapshot(left)
}
