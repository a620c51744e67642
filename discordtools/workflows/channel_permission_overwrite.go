package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeOverwritePut    = "PUT /channels/{channel_id}/permissions/{overwrite_id}"
	routeOverwriteDelete = "DELETE /channels/{channel_id}/permissions/{overwrite_id}"
)

type overwriteChange struct {
	GuildID   discord.GuildID          `json:"guildId" jsonschema:"guild of the channel"`
	ChannelID discord.ChannelID        `json:"channelId" jsonschema:"channel; no thread"`
	Target    string                   `json:"targetType" jsonschema:"whose permissions" enum:"role,member"`
	TargetID  discord.OverwriteID      `json:"targetId" jsonschema:"the role or the member; the guild's id is @everyone"`
	Mode      string                   `json:"mode" jsonschema:"update changes the permissions named and leaves all others; delete removes the overwrite" enum:"update,delete"`
	Allow     []discord.PermissionName `json:"allow,omitempty" jsonschema:"to allow there" maxItems:"64" uniqueItems:"true"`
	Deny      []discord.PermissionName `json:"deny,omitempty" jsonschema:"to deny there" maxItems:"64" uniqueItems:"true"`
	Inherit   []discord.PermissionName `json:"inherit,omitempty" jsonschema:"neither to allow nor to deny there" maxItems:"64" uniqueItems:"true"`
	reason
}

type overwriteState struct {
	Guild      guildSeen           `json:"guild"`
	Permission evidence            `json:"permission"`
	InChannel  []string            `json:"botPermissionsInChannel"`
	Type       discord.ChannelType `json:"channelType"`
	Before     *overwriteSeen      `json:"before" jsonschema:"null for none"`
	After      *overwriteSeen      `json:"after" jsonschema:"null for none"`
	Put        overwriteBody       `json:"put" jsonschema:"what is written in an update"`
	Others     string              `json:"others" jsonschema:"digest of all other overwrites of the channel"`
	OtherCount int                 `json:"otherOverwrites"`
}

type overwriteSeen struct {
	Allow []string `json:"allow"`
	Deny  []string `json:"deny"`
}

type overwriteBody struct {
	Type  int                   `json:"type"`
	Allow discord.PermissionSet `json:"allow"`
	Deny  discord.PermissionSet `json:"deny"`
}

// channelPermissionOverwrite changes what one role or member may do in a
// channel.
func channelPermissionOverwrite(rest discordtools.REST) mcpcore.Workflow {
	return change[overwriteChange, overwriteState]{
		Name: "channel-permission-overwrite", Category: "permission-overwrites", Title: "Change permissions in a channel",
		Doc: `Changes or removes the overwrite of one role or member in one channel. An update allows, denies or
			inherits the permissions that it names and keeps all others of the overwrite. Only what the bot may do
			there itself can be given or taken, and the bot never shuts itself out.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ViewChannel | discord.ManageRoles, NeedsIn: "channelId",
		Scopes: []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "channels whose permissions may be changed"}},
		Rules:  []mcpcore.Rule{{Check: overwriteRule}},
		Reads:  append(slices.Clone(standingRoutes), routeChannel),
		Write:  []string{routeOverwritePut, routeOverwriteDelete},
		Plan:   planOverwrite,
		Targets: func(in overwriteChange, _ overwriteState) []mcpcore.Target {
			if in.Target == "member" {
				return []mcpcore.Target{theChannel(in.ChannelID), theMember(in.GuildID, discord.UserID(in.TargetID))}
			}
			return []mcpcore.Target{theChannel(in.ChannelID), theRole(discord.RoleID(in.TargetID))}
		},
		Apply: func(ctx context.Context, w *write, in overwriteChange, s overwriteState) (mcpcore.Written, error) {
			at := path{"channel_id": string(in.ChannelID), "overwrite_id": string(in.TargetID)}
			done := mcpcore.Written{ID: string(in.TargetID)}
			if in.Mode == "delete" {
				return done, w.send(ctx, routeOverwriteDelete, at, nil, nil)
			}
			return done, w.send(ctx, routeOverwritePut, at, s.Put, nil)
		},
		ReadBack: func(ctx context.Context, r *reads, in overwriteChange, s overwriteState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			c, err := r.channel(ctx, in.GuildID, in.ChannelID)
			if err != nil {
				return found, err
			}
			now, others := c.overwriteOf(in.TargetID)
			switch {
			case in.Mode == "delete" && now != nil:
				return found, errors.New("the overwrite is still there")
			case in.Mode == "update" && (now == nil || overwriteBody{now.Type, now.Allow, now.Deny} != s.Put):
				return found, errors.New("the overwrite is not as it was written")
			}
			var d drift
			d.unless(snapshot(others) == s.Others, "other_overwrites")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

// overwriteRule refuses an update of nothing, a permission named twice, and
// permissions beside a deletion.
func overwriteRule(c *mcpcore.Call) *mcpcore.Issue {
	var named [3]discord.Permissions
	for i, arg := range []string{"allow", "deny", "inherit"} {
		var names []discord.PermissionName
		if raw, given := c.Arg(arg); given {
			_ = json.Unmarshal(raw, &names) // what is no list the schema reports
		}
		named[i] = these(names)
	}
	allow, deny, inherit := named[0], named[1], named[2]
	switch mode, all := c.Text("mode"), allow|deny|inherit; {
	case mode == "delete" && all != 0:
		return issue("mode", "a deletion names no permissions")
	case mode == "update" && all == 0:
		return issue("mode", "an update names permissions in allow, deny or inherit")
	case allow&deny|allow&inherit|deny&inherit != 0:
		return issue("allow", "a permission is in one of allow, deny and inherit alone")
	}
	return nil
}

func (in *overwriteChange) kind() int {
	if in.Target == "member" {
		return discord.OverwriteMember
	}
	return discord.OverwriteRole
}

// these are permissions by their names.
func these(names []discord.PermissionName) (p discord.Permissions) {
	for _, n := range names {
		p |= n.Permission()
	}
	return p
}

func planOverwrite(ctx context.Context, r *reads, in overwriteChange) (plan mcpcore.Change[overwriteState], err error) {
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	c, err := r.channel(ctx, in.GuildID, in.ChannelID)
	if err != nil {
		return plan, err
	}
	if err := c.direct(); err != nil {
		return plan, err
	}
	may, err := bot.in(c)
	if err != nil {
		return plan, err
	}
	if err := lacks(may, discord.ViewChannel|discord.ManageRoles, "the channel"); err != nil {
		return plan, err
	}
	who, err := overwrittenBy(ctx, r, &bot, in)
	if err != nil {
		return plan, err
	}
	before, others := c.overwriteOf(in.TargetID)
	if before != nil && before.Type != in.kind() {
		return plan, refused("other-type", "the overwrite of %s is not that of a %s", in.TargetID, in.Target)
	}
	s := overwriteState{
		Guild: bot.Guild, Permission: bot.evidence(), InChannel: may.Names(), Type: c.Type, Others: snapshot(others), OtherCount: len(others),
	}
	after := c
	after.Overwrites = append([]overwrite{}, others...)
	if in.Mode == "update" {
		made, err := updated(in, before, may, bot.owner() || bot.held.Has(discord.Administrator))
		if err != nil {
			return plan, err
		}
		after.Overwrites = append(after.Overwrites, made)
		s.Put, s.After = overwriteBody{made.Type, made.Allow, made.Deny}, made.seen()
	}
	s.Before = before.seen()
	left, err := bot.in(after)
	if err != nil {
		return plan, err
	}
	if !left.Has(discord.ViewChannel | discord.ManageRoles) {
		return plan, refused("lockout", "after it the bot itself would lack %s there", (discord.ViewChannel|discord.ManageRoles)&^left)
	}
	plan = mcpcore.Change[overwriteState]{
		Action: in.Mode, State: s,
		Facts: mcpcore.Facts{
			{Name: "guild", Value: s.Guild.Name}, {Name: "channel", Value: c.Name},
			{Name: "was", Value: s.Before.String()}, {Name: "becomes", Value: s.After.String()},
		},
		Unbound: mcpcore.Facts{{Name: in.Target, Value: who}},
	}
	nothing := before == nil && s.Put.Allow == "0" && s.Put.Deny == "0"
	switch {
	case in.Mode == "delete" && before == nil, in.Mode == "update" && nothing,
		in.Mode == "update" && before != nil && overwriteBody{before.Type, before.Allow, before.Deny} == s.Put:
		plan.Action, plan.Current = "none", true
	}
	return plan, nil
}

// overwrittenBy is the name of whom the overwrite is for. A member who left can
// only lose theirs.
func overwrittenBy(ctx context.Context, r *reads, bot *standing, in overwriteChange) (string, error) {
	if in.Target == "role" {
		role, there := bot.role(discord.RoleID(in.TargetID))
		if !there {
			return "", refused("role-missing", "the guild has no role %s", in.TargetID)
		}
		return role.Name, nil
	}
	if err := r.Call.Protected(string(in.TargetID)); err != nil {
		return "", err
	}
	var m member
	switch err := r.get(ctx, routeMember, path{"guild_id": string(in.GuildID), "user_id": string(in.TargetID)}, &m); {
	case gone(err) && in.Mode == "delete":
		return "", nil
	case gone(err):
		return "", refused("member-missing", "the guild has no member %s", in.TargetID)
	case err != nil:
		return "", err
	case m.User.ID != discord.UserID(in.TargetID):
		return "", incomplete("the member " + string(in.TargetID))
	}
	return m.User.Username, nil
}

// updated is the overwrite as it becomes. What comes out of it must be known, of
// channels, and the bot's own.
func updated(in overwriteChange, before *overwrite, may discord.Permissions, all bool) (o overwrite, err error) {
	var allow, deny discord.Bits
	if before != nil {
		if allow, err = before.Allow.Bits(); err != nil {
			return o, incomplete("the overwrite")
		}
		if deny, err = before.Deny.Bits(); err != nil {
			return o, incomplete("the overwrite")
		}
	}
	yes, no, neither := these(in.Allow), these(in.Deny), these(in.Inherit)
	was := allow.Or(deny)
	named := yes | no | neither
	wide := discord.WideBits(named)
	allow, deny = allow.AndNot(wide).With(yes), deny.AndNot(wide).With(no)
	out := allow.Or(deny)
	switch {
	case was.Unknown() != discord.Bits{}:
		return o, refused("unknown-bits", "the overwrite has %v, which are not known here", was.Unknown().Names())
	case (was.Low()|named)&discord.GuildWide != 0:
		return o, refused("not-of-channels", "%s count in the guild alone", (was.Low()|named)&discord.GuildWide)
	case !all && !may.Has(out.Low()):
		return o, mcpcore.Errorf(mcpcore.CodePermission, "the bot lacks %s there, and can neither give nor take it", out.Low()&^may).
			With("missing", (out.Low() &^ may).Names())
	case !all && out.Has(discord.ManageRoles):
		return o, refused("manage-roles", "MANAGE_ROLES in a channel is for administrators to give and to take")
	}
	return overwrite{in.TargetID, in.kind(), allow.Set(), deny.Set()}, nil
}

// overwriteOf is the channel's overwrite of a role or member, nil for none, and
// all others.
func (c *channel) overwriteOf(id discord.OverwriteID) (of *overwrite, others []overwrite) {
	for _, o := range sortedOverwrites(c.Overwrites) {
		if o.ID == id {
			of = &o
		} else {
			others = append(others, o)
		}
	}
	return of, others
}

// seen is an overwrite by the names of what it allows and denies.
func (o *overwrite) seen() *overwriteSeen {
	if o == nil {
		return nil
	}
	names := func(s discord.PermissionSet) []string {
		b, err := s.Bits()
		if err != nil {
			return []string{string(s)}
		}
		return b.Names()
	}
	return &overwriteSeen{names(o.Allow), names(o.Deny)}
}

func (o *overwriteSeen) String() string {
	if o == nil {
		return "no overwrite"
	}
	return "allows " + listed(o.Allow) + ", denies " + listed(o.Deny)
}

func listed(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, " ")
}
