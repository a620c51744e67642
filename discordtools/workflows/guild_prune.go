package workflows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routePrune      = "POST /guilds/{guild_id}/prune"
	routePruneCount = "GET /guilds/{guild_id}/prune"
)

// staff are the permissions of roles that moderate: who holds one is not pruned.
const staff = discord.Administrator | discord.ManageGuild | discord.ManageRoles | discord.ManageChannels | discord.ManageMessages |
	discord.ManageThreads | discord.ManageWebhooks | discord.ManageNicknames | discord.ManageEvents | discord.ManageGuildExpressions |
	discord.KickMembers | discord.BanMembers | discord.ModerateMembers | discord.MuteMembers | discord.DeafenMembers |
	discord.MoveMembers | discord.ViewAuditLog | discord.MentionEveryone

type prune struct {
	GuildID  discord.GuildID  `json:"guildId" jsonschema:"guild"`
	Days     int              `json:"days" jsonschema:"inactive for so many days" minimum:"1" maximum:"30"`
	Roles    []discord.RoleID `json:"includeRoleIds,omitempty" jsonschema:"also members who hold no role but these" maxItems:"5" uniqueItems:"true"`
	Max      int              `json:"maxMembers,omitempty" jsonschema:"refuse when it would hit more; the policy's bound when left out" minimum:"1" maximum:"250"`
	NotExact bool             `json:"acknowledgeNonExactMemberSet" jsonschema:"true: Discord says how many it will kick, and not whom"`
	reason
}

type pruneState struct {
	Guild      guildSeen    `json:"guild"`
	Permission evidence     `json:"permission"`
	Days       int          `json:"days"`
	Roles      []role       `json:"includeRoles"`
	Protected  []memberSeen `json:"protected" jsonschema:"protected members, each shielded by another role"`
	Estimate   int          `json:"estimate"`
	Ceiling    int          `json:"ceiling"`

	pruned *int `json:"-"` // as the answer says
}

// guildPrune kicks members who were long inactive.
func guildPrune(rest discordtools.REST) mcpcore.Workflow {
	return change[prune, pruneState]{
		Name: "guild-prune", Category: "guild-prunes", Title: "Prune inactive members",
		Doc: `Kicks members who were inactive for some days and hold no role, or none but up to five that are named.
			Discord says beforehand how many that would be and never whom, so the set can change until it acts.
			More than the policy's and the request's bound are refused.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope, Needs: discord.KickMembers | discord.ManageGuild,
		Scopes: []mcpcore.PolicyScope{
			guildsScope("guilds that may be pruned"), {Name: "includeRoles", Arg: "includeRoleIds", Doc: "roles whose holders may be pruned"},
		},
		Limits:      []mcpcore.PolicyLimit{{Name: "maxMembers", Default: 25, Max: 250, Doc: "members that one prune may hit"}},
		Acknowledge: []string{"acknowledgeNonExactMemberSet"},
		Reads:       append(slices.Clone(standingRoutes), routePruneCount),
		Write:       []string{routePrune},
		Plan:        planPrune,
		Targets: func(in prune, _ pruneState) []mcpcore.Target {
			t := []mcpcore.Target{all("members", in.GuildID), theRole(discord.RoleID(in.GuildID))}
			for _, id := range in.Roles {
				t = append(t, theRole(id))
			}
			return t
		},
		Apply: func(ctx context.Context, w *write, in prune, s pruneState) (mcpcore.Written, error) {
			var answer struct {
				Pruned *int `json:"pruned"`
			}
			err := w.send(ctx, routePrune, inGuild(in.GuildID), pruneBody{in.Days, true, in.Roles}, &answer)
			if err == nil && (answer.Pruned == nil || *answer.Pruned < 0) {
				err = errors.New("the answer does not say how many were pruned")
			}
			if err == nil {
				*s.pruned = *answer.Pruned
			}
			return mcpcore.Written{ID: string(in.GuildID)}, err
		},
		ReadBack: func(ctx context.Context, r *reads, in prune, s pruneState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			left, err := r.prunable(ctx, in)
			var d drift
			d.unless(*s.pruned == s.Estimate, "pruned")
			d.unless(left == 0, "remaining")
			return mcpcore.Reading{Drift: d}, err
		},
	}.on(rest)
}

type pruneBody struct {
	Days  int              `json:"days"`
	Count bool             `json:"compute_prune_count"`
	Roles []discord.RoleID `json:"include_roles,omitempty"`
}

func planPrune(ctx context.Context, r *reads, in prune) (plan mcpcore.Change[pruneState], err error) {
	bot, err := r.able(ctx, in.GuildID, discord.KickMembers|discord.ManageGuild)
	if err != nil {
		return plan, err
	}
	s := pruneState{Guild: bot.Guild, Permission: bot.evidence(), Days: in.Days, Ceiling: r.Call.Limit("maxMembers"), pruned: new(int)}
	if in.Max > 0 {
		s.Ceiling = min(s.Ceiling, in.Max)
	}
	var names []string
	for _, id := range in.Roles {
		each, err := bot.harmless(id)
		if err != nil {
			return plan, err
		}
		s.Roles, names = append(s.Roles, each), append(names, each.Name)
	}
	if err := s.shield(ctx, r, &bot, in.Roles); err != nil {
		return plan, err
	}
	if s.Estimate, err = r.prunable(ctx, in); err != nil {
		return plan, err
	}
	if s.Estimate > s.Ceiling {
		return plan, refused("too-many", "it would hit %d members, and may hit %d", s.Estimate, s.Ceiling)
	}
	return mcpcore.Change[pruneState]{
		Action: "prune", Current: s.Estimate == 0, State: s, Estimate: s.Estimate, Risks: []string{"non-exact-member-set"},
		Facts: mcpcore.Facts{
			{Name: "guild", Value: s.Guild.Name}, {Name: "inactive for days", Value: strconv.Itoa(in.Days)},
			{Name: "who hold no role but", Value: strings.Join(names, ", ")}, {Name: "members to be kicked, as Discord estimates", Value: strconv.Itoa(s.Estimate)},
		},
		Warnings: []string{"Discord says how many it kicks, and not whom; the members can be others when it acts."},
	}, nil
}

// harmless is a role whose holders may be pruned: one that a person gives, below
// the bot, and that moderates nothing.
func (s *standing) harmless(id discord.RoleID) (role, error) {
	r, err := s.known(id)
	if err != nil {
		return r, err
	}
	if err := s.manages(r); err != nil {
		return r, err
	}
	gives, err := r.Permissions.Bits()
	if err != nil {
		return r, incomplete("the permissions of the role " + string(id))
	}
	if gives.Low()&staff != 0 || gives.Unknown() != (discord.Bits{}) {
		return r, refused("unsafe-role", "the role %s moderates: its holders are not pruned", id)
	}
	return r, nil
}

// shield demands that the bot and every protected member hold a role that keeps
// them from being pruned.
func (s *pruneState) shield(ctx context.Context, r *reads, bot *standing, roles []discord.RoleID) error {
	keeps := func(held []discord.RoleID) bool {
		return slices.ContainsFunc(held, func(id discord.RoleID) bool { return !slices.Contains(roles, id) })
	}
	if !keeps(bot.Held) {
		return refused("unshielded", "the bot holds no role but those, and would be among them")
	}
	for _, id := range slices.Sorted(slices.Values(r.Call.ProtectedUsers())) {
		m, err := r.member(ctx, bot, discord.UserID(id))
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		if !keeps(m.Roles) {
			return refused("unshielded", "the protected member %s holds no role but those, and could be among them", id)
		}
		s.Protected = append(s.Protected, *m)
	}
	return nil
}

// prunable is how many members Discord would kick.
func (r *reads) prunable(ctx context.Context, in prune) (int, error) {
	query := map[string][]string{"days": {strconv.Itoa(in.Days)}}
	if len(in.Roles) > 0 {
		ids := make([]string, len(in.Roles))
		for i, id := range in.Roles {
			ids[i] = string(id)
		}
		query["include_roles"] = []string{strings.Join(ids, ",")}
	}
	var answer struct {
		Pruned *int `json:"pruned"`
	}
	if err := r.query(ctx, routePruneCount, inGuild(in.GuildID), query, &answer); err != nil {
		return 0, err
	}
	if answer.Pruned == nil || *answer.Pruned < 0 {
		return 0, fmt.Errorf("estimate the prune: %w", incomplete("the estimate"))
	}
	return *answer.Pruned, nil
}
