package workflows

import (
	"context"
	"errors"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// syncTargets is how many overwrites one sync may change, so that a person can
// still review them.
const syncTargets = 100

type permissionSync struct {
	GuildID     discord.GuildID   `json:"guildId" jsonschema:"guild of the channel"`
	ChannelID   discord.ChannelID `json:"channelId" jsonschema:"channel whose permissions are replaced; no thread"`
	ParentID    discord.ChannelID `json:"parentId" jsonschema:"the category that it is in"`
	Replacement bool              `json:"acknowledgeFullReplacement" jsonschema:"true: all overwrites of the channel are replaced"`
	Propagation bool              `json:"acknowledgeFuturePropagation" jsonschema:"true: later changes of the category reach the channel too"`
	Stopped     bool              `json:"acknowledgeEditorsStopped" jsonschema:"true: nobody else edits the permissions of the two meanwhile"`
	reason
}

type syncState struct {
	Guild      guildSeen    `json:"guild"`
	Permission evidence     `json:"permission"`
	InChannel  []string     `json:"botPermissionsInChannel"`
	Then       []string     `json:"botPermissionsThen" jsonschema:"in the channel, when it is done"`
	Child      standsAt     `json:"channel"`
	Parent     standsAt     `json:"parent"`
	Changes    []syncChange `json:"changes"`
}

// syncChange is what becomes of one overwrite.
type syncChange struct {
	ID      discord.OverwriteID `json:"id"`
	Type    int                 `json:"type"`
	Was     *overwriteSeen      `json:"was" jsonschema:"null for none"`
	Becomes *overwriteSeen      `json:"becomes" jsonschema:"null for none"`
}

// syncPowers are what the bot needs in the channel, before and after.
const syncPowers = discord.ViewChannel | discord.ManageChannels | discord.ManageRoles

// channelPermissionSync gives a channel the permissions of its category.
func channelPermissionSync(rest discordtools.REST) mcpcore.Workflow {
	return change[permissionSync, syncState]{
		Name: "channel-permission-sync", Category: "permission-sync", Title: "Sync a channel with its category",
		Doc: `Replaces all overwrites of a channel by those of the category that it is in, so that the two are synced.
			Everything copied must be the bot's own, and the bot never shuts itself out.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope, Needs: syncPowers, NeedsIn: "channelId",
		Scopes:      []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "channels that may get the permissions of their categories"}},
		Acknowledge: []string{"acknowledgeFullReplacement", "acknowledgeFuturePropagation", "acknowledgeEditorsStopped"},
		Reads:       append([]string{routeChannel}, standingRoutes...),
		Write:       []string{routeChannelEdit},
		Plan:        planSync,
		Targets: func(in permissionSync, _ syncState) []mcpcore.Target {
			return []mcpcore.Target{theChannel(in.ChannelID), theChannel(in.ParentID)}
		},
		Apply: func(ctx context.Context, w *write, in permissionSync, s syncState) (done mcpcore.Written, err error) {
			var now channel
			if err := w.send(ctx, routeChannelEdit, inChannel(in.ChannelID), syncBody{append([]overwrite{}, s.Parent.Overwrites...)}, &now); err != nil {
				return done, err
			}
			if done.ID, err = id(now.ID); err == nil {
				err = s.synced(now)
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in permissionSync, s syncState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			now, err := r.channel(ctx, in.GuildID, in.ChannelID)
			if err != nil {
				return found, err
			}
			parent, err := r.channel(ctx, in.GuildID, in.ParentID)
			if err != nil {
				return found, err
			}
			bot, err := r.standing(ctx, in.GuildID)
			if err != nil {
				return found, err
			}
			var d drift
			d.unless(now.Parent == in.ParentID && now.Position == s.Child.Position, "position")
			d.unless(slices.Equal(sortedOverwrites(parent.Overwrites), s.Parent.Overwrites), "parent_overwrites")
			d.unless(bot.evidence().AllRoles == s.Permission.AllRoles, "roles")
			return mcpcore.Reading{Drift: d}, s.synced(now)
		},
	}.on(rest)
}

type syncBody struct {
	Overwrites []overwrite `json:"permission_overwrites"`
}

func planSync(ctx context.Context, r *reads, in permissionSync) (plan mcpcore.Change[syncState], err error) {
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	child, parent, err := r.syncPair(ctx, &bot, in)
	if err != nil {
		return plan, err
	}
	if err := bot.copies(parent.Overwrites); err != nil {
		return plan, err
	}
	may, err := bot.in(child)
	if err != nil {
		return plan, err
	}
	after := child
	after.Overwrites = parent.Overwrites
	then, err := bot.in(after)
	if err != nil {
		return plan, err
	}
	if !then.Has(syncPowers) {
		return plan, refused("lockout", "after it the bot itself would lack %s there", syncPowers&^then)
	}
	both := layout([]channel{child, parent})
	s := syncState{
		Guild: bot.Guild, Permission: bot.evidence(), InChannel: may.Names(), Then: then.Names(), Child: both[0], Parent: both[1],
		Changes: syncChanges(both[0].Overwrites, both[1].Overwrites),
	}
	if len(s.Changes) > syncTargets {
		return plan, refused("too-many-targets", "%d overwrites change, and %d can be reviewed", len(s.Changes), syncTargets)
	}
	plan = mcpcore.Change[syncState]{
		Action: "sync", State: s,
		Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "channel", Value: child.Name}, {Name: "category", Value: parent.Name}},
		Warnings: []string{
			"Whoever saw or used the channel by an overwrite of its own alone loses that.", "Later changes of the category's permissions reach the channel too.",
		},
		Risks: []string{"full-replacement", "propagates"},
	}
	for _, c := range s.Changes {
		if err := c.reviewed(r, &bot, &plan); err != nil {
			return plan, err
		}
	}
	if len(s.Changes) == 0 {
		nothing(&plan)
	}
	return plan, nil
}

// syncPair reads a channel and its category, and refuses those in which the bot
// lacks something.
func (r *reads) syncPair(ctx context.Context, bot *standing, in permissionSync) (child, parent channel, err error) {
	if child, err = r.channel(ctx, in.GuildID, in.ChannelID); err != nil {
		return child, parent, err
	}
	if err := child.direct(); err != nil {
		return child, parent, err
	}
	if child.Parent != in.ParentID {
		return child, parent, refused("other-parent", "%s is not in the category %s", in.ChannelID, in.ParentID)
	}
	if err := r.needsIn(ctx, bot, child, syncPowers); err != nil {
		return child, parent, err
	}
	if parent, err = r.channel(ctx, in.GuildID, in.ParentID); err != nil {
		return child, parent, err
	}
	if parent.Type != discord.GuildCategory || parent.Overwrites == nil {
		return child, parent, incomplete("the category " + string(in.ParentID))
	}
	return child, parent, r.needsIn(ctx, bot, parent, discord.ViewChannel)
}

// copies refuses overwrites that the bot may not write into another channel: what
// they allow and deny must be known, and its own in the guild.
func (s *standing) copies(list []overwrite) error {
	for _, o := range list {
		allow, err := o.Allow.Bits()
		if err != nil {
			return incomplete("the overwrite of " + string(o.ID))
		}
		deny, err := o.Deny.Bits()
		if err != nil {
			return incomplete("the overwrite of " + string(o.ID))
		}
		all := allow.Or(deny)
		if unknown := all.Unknown(); unknown != (discord.Bits{}) {
			return refused("unknown-bits", "the overwrite of %s has %v, which are not known here", o.ID, unknown.Names())
		}
		if s.owner() || s.held.Has(discord.Administrator) {
			continue
		}
		if all.Has(discord.ManageRoles) {
			return refused("manage-roles", "MANAGE_ROLES in a channel is for administrators to give and to take")
		}
		if err := lacks(s.held.Low(), all.Low(), "the guild, and can copy only what it has"); err != nil {
			return err
		}
	}
	return nil
}

// syncChanges are the overwrites that differ, by id.
func syncChanges(was, wanted []overwrite) (all []syncChange) {
	var ids []discord.OverwriteID
	for _, o := range slices.Concat(was, wanted) {
		ids = append(ids, o.ID)
	}
	slices.SortFunc(ids, discord.CompareIDs)
	old, made := channel{Overwrites: was}, channel{Overwrites: wanted}
	for _, id := range slices.Compact(ids) {
		before, _ := old.overwriteOf(id)
		after, _ := made.overwriteOf(id)
		if before != nil && after != nil && *before == *after {
			continue
		}
		either := before
		if either == nil {
			either = after
		}
		all = append(all, syncChange{id, either.Type, before.seen(), after.seen()})
	}
	return all
}

// reviewed adds a change to what a person reviews. A protected member's may not
// change.
func (c *syncChange) reviewed(r *reads, bot *standing, plan *mcpcore.Change[syncState]) error {
	action, who := "change", "role "+string(c.ID)
	switch {
	case c.Was == nil:
		action = "add"
	case c.Becomes == nil:
		action = "remove"
	}
	if role, there := bot.role(discord.RoleID(c.ID)); there {
		who = "role " + role.Name
	}
	if c.Type == discord.OverwriteMember {
		who = "member " + string(c.ID)
		if err := r.Call.Protected(string(c.ID)); err != nil {
			return err
		}
	}
	plan.Affected = append(plan.Affected, mcpcore.Affected{ID: string(c.ID), Action: action})
	if len(plan.Affected) <= mcpcore.FirstShown {
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: who, Value: c.Was.String() + " → " + c.Becomes.String()})
	}
	return nil
}

// synced reports another channel than was written, and one whose overwrites are not
// those of its category as it was planned with.
func (s *syncState) synced(now channel) error {
	switch {
	case now.ID != s.Child.ID || now.Guild != s.Guild.ID || now.Type != s.Child.Type:
		return errOtherChannel
	case !slices.Equal(sortedOverwrites(now.Overwrites), s.Parent.Overwrites):
		return errors.New("the overwrites are not as they were written")
	}
	return nil
}
