package discordtools

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type permissionsExplain struct {
	guildRef
	ChannelID    discord.ChannelID        `json:"channel_id,omitempty" in:"local" jsonschema:"channel or thread in which they count"`
	UserID       discord.UserID           `json:"user_id,omitempty" in:"local" jsonschema:"member asked about"`
	RoleID       discord.RoleID           `json:"role_id,omitempty" in:"local" jsonschema:"or a role, taken by itself with @everyone"`
	Requested    []discord.PermissionName `json:"requested_permissions,omitempty" in:"local" jsonschema:"permissions asked about" minItems:"1" maxItems:"53"`
	Action       action                   `json:"action,omitempty" in:"local" jsonschema:"what is to be done" enum:"view_channel,send_messages,manage_channel,assign_role,remove_role,kick_member,ban_member,timeout_member"`
	TargetUserID discord.UserID           `json:"target_user_id,omitempty" in:"local" jsonschema:"whom kick, ban or timeout is to hit"`
	TargetRoleID discord.RoleID           `json:"target_role_id,omitempty" in:"local" jsonschema:"role to assign or remove"`
}

type permissionsExplained struct {
	GuildID     discord.GuildID          `json:"guild_id"`
	ChannelID   *discord.ChannelID       `json:"channel_id"`
	SourceID    *discord.ChannelID       `json:"permission_source_channel_id" jsonschema:"whose overwrites count: for a thread its channel"`
	SubjectType string                   `json:"subject_type"`
	SubjectID   string                   `json:"subject_id"`
	Action      *action                  `json:"action"`
	Requested   []discord.PermissionName `json:"requested_permissions"`
	Allowed     *bool                    `json:"allowed" jsonschema:"null where it cannot be told"`
	Base        discord.PermissionSet    `json:"base_permissions"`
	Effective   discord.PermissionSet    `json:"effective_permissions"`
	Unknown     discord.PermissionSet    `json:"unknown_permission_bits"`
	Missing     []discord.PermissionName `json:"missing_permissions"`
	Ineffective []discord.PermissionName `json:"ineffective_permissions" jsonschema:"held, and worth nothing for lack of another"`
	Implicit    []implicitDeny           `json:"implicit_denies"`
	Admin       bool                     `json:"administrator"`
	Owner       bool                     `json:"guild_owner"`
	TimedOut    bool                     `json:"subject_timed_out"`
	Applied     []discord.RoleID         `json:"applied_role_ids"`
	Trace       []traceStep              `json:"decision_trace"`
	Hierarchy   hierarchyCheck           `json:"role_hierarchy_check"`
	Warnings    []string                 `json:"warnings"`
	Confidence  confidence               `json:"confidence"`
}

type implicitDeny struct {
	Permission discord.PermissionName `json:"permission"`
	Lacking    []string               `json:"missing_prerequisites"`
	Reason     string                 `json:"reason"`
}

type traceStep struct {
	Stage  string                `json:"stage"`
	Before discord.PermissionSet `json:"before"`
	Allow  discord.PermissionSet `json:"allow"`
	Deny   discord.PermissionSet `json:"deny"`
	After  discord.PermissionSet `json:"after"`
	Note   string                `json:"note"`
}

type hierarchyCheck struct {
	Status    string          `json:"status"`
	Allowed   *bool           `json:"allowed"`
	ActorTop  *discord.RoleID `json:"actor_top_role_id"`
	TargetTop *discord.RoleID `json:"target_top_role_id"`
	Reason    string          `json:"reason"`
}

// evidenceOf is all that is read to explain permissions.
type evidenceOf struct {
	roles    roleSet
	owner    discord.UserID
	member   memberView
	target   memberView
	notThere bool // the target is no member
	place    place
}

func (a *api) evidenceOf(ctx context.Context, in permissionsExplain) (e evidenceOf, err error) {
	reads := []func() error{
		func() error {
			var guild struct {
				ID    discord.GuildID `json:"id"`
				Owner discord.UserID  `json:"owner_id"`
			}
			err := a.reading(ctx, routeGuild, atGuild(in.GuildID), &guild)
			switch e.owner = guild.Owner; {
			case err != nil:
				return err
			case guild.ID != in.GuildID:
				return flawed("guild.id", "is another guild's")
			case guild.Owner == "":
				return flawed("guild.owner_id", "is missing")
			}
			return nil
		},
		func() (err error) { e.roles, err = readRoles(ctx, a.reading, in.GuildID); return err },
	}
	if in.UserID != "" {
		reads = append(reads, func() (err error) { e.member, err = readMemberOf(ctx, a.reading, in.GuildID, in.UserID); return err })
	}
	if in.TargetUserID != "" {
		reads = append(reads, func() (err error) {
			e.target, err = readMemberOf(ctx, a.reading, in.GuildID, in.TargetUserID)
			told, ok := errors.AsType[*mcpcore.Error](err)
			if e.notThere = ok && told.Code == mcpcore.CodeNotFound && in.Action == banMember; e.notThere {
				return nil // whoever is not there can be banned
			}
			return err
		})
	}
	if in.ChannelID != "" {
		reads = append(reads, func() (err error) { e.place, err = a.readPlace(ctx, in.GuildID, in.ChannelID); return err })
	}
	if err := together(reads...); err != nil {
		return e, unsound(err)
	}
	for _, id := range []discord.RoleID{in.RoleID, in.TargetRoleID} {
		if _, there := e.roles.byID[id]; id != "" && !there {
			return e, mcpcore.Errorf(mcpcore.CodeNotFound, "the guild has no role %s", id).
				With("resource_type", "role").With("id", string(id)).With("suggested_tool", "roles_list").
				WithHint("Take the role's id from roles_list.")
		}
	}
	return e, nil
}

func explainPermissions(ctx context.Context, a *api, in permissionsExplain) (v permissionsExplained, err error) {
	e, err := a.evidenceOf(ctx, in)
	if err != nil {
		return v, err
	}
	s := subject{roles: e.roles}
	v = permissionsExplained{
		GuildID: in.GuildID, SubjectType: "role", SubjectID: string(in.RoleID), Confidence: complete,
		Requested: in.Requested, Hierarchy: hierarchyCheck{Status: "not_applicable", Reason: "What is asked does not depend on the order of roles."},
	}
	if in.RoleID != "" && in.RoleID != discord.RoleID(in.GuildID) {
		s.held = []discord.RoleID{in.RoleID}
	}
	if in.UserID != "" {
		s = e.roles.member(e.member, e.owner, a.now())
		v.SubjectType, v.SubjectID = "member", string(in.UserID)
		if e.member.Roles == nil || !s.known() {
			v.doubt("The member has roles that the guild does not describe, which may give anything.")
		}
	}
	r := s.rights()
	if in.ChannelID != "" {
		v.enter(r, e.place)
	}
	r.timeOut()
	if in.ChannelID != "" && e.place.hidden(r) {
		v.doubt("The thread is private: only those who take part in it see it, and permissions do not tell who does.")
	}
	if in.Action != "" {
		v.Action = &in.Action
		v.demand(in.Action.takes(e.place.Type))
		if in.Action.onRole() || in.Action.onMember() {
			v.Hierarchy = e.hierarchy(s, in)
		}
	}
	if v.Hierarchy.Status == "unknown" {
		v.Confidence = partial
	}
	v.judge(r, in, e.place.Type)
	v.describe(r)
	return v, nil
}

// doubt notes that the answer is not sure.
func (v *permissionsExplained) doubt(why string) {
	v.Confidence = partial
	v.Warnings = append(v.Warnings, why)
}

// enter applies the channel's overwrites, if they are known. Nothing is missing
// where they would count for nothing.
func (v *permissionsExplained) enter(r *rights, p place) {
	v.ChannelID = &p.ID
	if p.source != "" {
		v.SourceID = &p.source
	}
	switch {
	case p.known:
		r.enter(p.over)
	case !r.unlimited:
		v.doubt(p.why)
	}
	var beyond discord.Bits
	for _, s := range r.steps {
		if strings.HasPrefix(s.stage, "channel_") {
			beyond = beyond.Or(s.allow.Or(s.deny).Within(discord.GuildWide))
		}
	}
	if (beyond != discord.Bits{}) {
		v.Warnings = append(v.Warnings, "The channel's overwrites name "+strings.Join(beyond.Names(), ", ")+", in which Discord gives channels no say.")
	}
}

// demand adds the permissions that an action takes to those asked about.
func (v *permissionsExplained) demand(p discord.Permissions) {
	for _, name := range p.Names() {
		n := discord.PermissionName(name)
		if !slices.ContainsFunc(v.Requested, func(o discord.PermissionName) bool { return o.Permission() == n.Permission() }) {
			v.Requested = append(v.Requested, n)
		}
	}
}

// judge says what of the permissions asked about is missing or worth nothing,
// and whether it is all allowed.
func (v *permissionsExplained) judge(r *rights, in permissionsExplain, t discord.ChannelType) {
	var blocks []discord.Block
	if in.ChannelID != "" {
		blocks = discord.Blocks(r.may.Low(), t)
	}
	for _, name := range v.Requested {
		p := name.Permission()
		if !r.may.Has(p) {
			v.Missing = append(v.Missing, name)
			continue
		}
		var lacking discord.Permissions
		var reasons []string
		for _, b := range blocks {
			if b.Permissions.Has(p) {
				lacking |= b.Lacking
				reasons = append(reasons, b.Reason)
			}
		}
		if lacking != 0 {
			v.Ineffective = append(v.Ineffective, name)
			v.Implicit = append(v.Implicit, implicitDeny{name, lacking.Names(), strings.Join(reasons, "; ")})
		}
	}
	switch allowed := len(v.Missing)+len(v.Ineffective) == 0; {
	case v.Hierarchy.Status == "denied":
		v.Allowed = new(bool)
	case v.Confidence == complete:
		v.Allowed = &allowed
	}
}

// describe shows how the rights came about.
func (v *permissionsExplained) describe(r *rights) {
	v.Base, v.Effective = r.base.Set(), r.may.Set()
	v.Admin, v.Owner, v.TimedOut = r.base.Has(discord.Administrator), r.owner, r.timedOut
	var seen discord.Bits
	for _, s := range r.steps {
		seen = seen.Or(s.allow).Or(s.deny)
		v.Trace = append(v.Trace, traceStep{s.stage, s.before.Set(), s.allow.Set(), s.deny.Set(), s.after.Set(), s.note})
	}
	v.Unknown = seen.Unknown().Set()
	for _, role := range r.roles.all {
		if role.ID == discord.RoleID(v.GuildID) || slices.Contains(r.subject.held, role.ID) {
			v.Applied = append(v.Applied, role.ID)
		}
	}
}

// hierarchy compares the actor's highest role with the target.
func (e evidenceOf) hierarchy(actor subject, in permissionsExplain) hierarchyCheck {
	var c hierarchyCheck
	is := func(status, reason string) hierarchyCheck {
		c.Status, c.Reason = status, reason
		if status != "unknown" {
			allowed := status == "allowed"
			c.Allowed = &allowed
		}
		return c
	}
	const denied, allowed = "denied", "allowed"
	top, known := e.roles.top(actor.held)
	if !known || e.member.Roles == nil {
		return is("unknown", "A role of the actor is not described.")
	}
	c.ActorTop = &top.ID
	var target rank
	if in.Action.onRole() {
		target = e.roles.byID[in.TargetRoleID].rank
		c.TargetTop = &target.ID
		switch {
		case target.ID == discord.RoleID(in.GuildID):
			return is(denied, "@everyone is nobody's to give or take.")
		case target.Managed:
			return is(denied, "An integration manages the role.")
		}
	} else {
		switch {
		case e.notThere:
			return is(allowed, "The target is no member, so nothing stands above it.")
		case e.target.Roles == nil:
			return is("unknown", "The target's roles are not known.")
		}
		if target, known = e.roles.top(e.target.Roles); !known {
			return is("unknown", "A role of the target is not described.")
		}
		c.TargetTop = &target.ID
		switch {
		case in.TargetUserID == e.owner:
			return is(denied, "Nobody acts on the guild's owner.")
		case in.TargetUserID == in.UserID:
			return is(denied, "Nobody does this to themselves.")
		case in.Action == timeoutMember && e.roles.member(e.target, e.owner, time.Time{}).rights().unlimited:
			return is(denied, "Administrators cannot be timed out.")
		}
	}
	switch {
	case actor.owner:
		return is(allowed, "The owner stands above everyone.")
	case top.above(target):
		return is(allowed, "The actor's highest role stands above the target's.")
	}
	return is(denied, "The actor's highest role does not stand above the target's.")
}
