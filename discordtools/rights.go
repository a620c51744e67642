package discordtools

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// What somebody may do is computed here alone, from what Discord answers: for
// the evidence that guards ask for, for lists that say what the bot can read,
// and for the tools that explain permissions.

// reader reads one thing of Discord, a route's with its path, into out.
type reader func(ctx context.Context, route string, path map[string]string, out any) error

// reading is a [reader] on the routes that the call's tool declares.
func (a *api) reading(ctx context.Context, route string, path map[string]string, out any) error {
	return a.do(ctx, route, sub{Path: path}, out)
}

// together makes reads at once. Its error is that of the first of them, in the
// order given, that failed.
func together(reads ...func() error) error {
	errs := make([]error, len(reads))
	var reading sync.WaitGroup
	for i, read := range reads {
		reading.Go(func() { errs[i] = read() })
	}
	reading.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// flaw is what is wrong with an answer of Discord, or missing in it. It is an
// [errIncomplete].
type flaw struct{ path, message string }

func (f *flaw) Error() string        { return f.path + " " + f.message }
func (f *flaw) Is(target error) bool { return target == errIncomplete }

func flawed(path, format string, args ...any) error {
	return &flaw{path, fmt.Sprintf(format, args...)}
}

// rank is a role's place.
type rank struct {
	ID       discord.RoleID `json:"id"`
	Position int            `json:"position"`
	Managed  bool           `json:"managed"`
}

// compare orders roles, the highest first: of two at one position the older one
// stands above.
//
// Source: https://docs.discord.com/developers/topics/permissions#permission-hierarchy.
func (r rank) compare(other rank) int {
	if r.Position != other.Position {
		return other.Position - r.Position
	}
	return discord.CompareIDs(r.ID, other.ID)
}

// above reports whether r stands above other.
func (r rank) above(other rank) bool { return r.compare(other) < 0 }

// guildRole is a role with what it gives.
type guildRole struct {
	rank
	Name  string                `json:"name"`
	Given discord.PermissionSet `json:"permissions"`
	bits  discord.Bits
}

// roleSet are all the roles of a guild.
type roleSet struct {
	guild discord.GuildID
	all   []guildRole // the highest first
	byID  map[discord.RoleID]guildRole
}

func (s roleSet) everyone() guildRole { return s.byID[discord.RoleID(s.guild)] }

// top is the highest of the roles, @everyone if there are none; false when one
// is not of the guild.
func (s roleSet) top(held []discord.RoleID) (top rank, known bool) {
	top = s.everyone().rank
	for _, id := range held {
		r, ok := s.byID[id]
		if !ok {
			return top, false
		}
		if r.above(top) {
			top = r.rank
		}
	}
	return top, true
}

// readRoles reads a guild's roles.
func readRoles(ctx context.Context, read reader, guild discord.GuildID) (s roleSet, err error) {
	s = roleSet{guild: guild, byID: map[discord.RoleID]guildRole{}}
	if err := read(ctx, routeRoles, atGuild(guild), &s.all); err != nil {
		return s, err
	}
	for i := range s.all {
		r := &s.all[i]
		if r.bits, err = r.Given.Bits(); err != nil {
			return s, flawed(fmt.Sprintf("roles.%d.permissions", i), "is no permission set")
		}
		if _, twice := s.byID[r.ID]; twice {
			return s, flawed(fmt.Sprintf("roles.%d.id", i), "stands twice")
		}
		s.byID[r.ID] = *r
	}
	if _, ok := s.byID[discord.RoleID(guild)]; !ok {
		return s, flawed("roles", "lacks @everyone")
	}
	slices.SortFunc(s.all, func(a, b guildRole) int { return a.compare(b.rank) })
	return s, nil
}

// memberView is a member as rights need one. Roles is nil where Discord did not
// tell them.
type memberView struct {
	User struct {
		ID discord.UserID `json:"id"`
	} `json:"user"`
	Roles   []discord.RoleID `json:"roles"`
	Timeout *time.Time       `json:"communication_disabled_until"`
}

// readMemberOf reads a member of a guild.
func readMemberOf(ctx context.Context, read reader, guild discord.GuildID, user discord.UserID) (m memberView, err error) {
	err = read(ctx, routeMember, map[string]string{"guild_id": string(guild), "user_id": string(user)}, &m)
	if err == nil && m.User.ID != user {
		err = flawed("member.user.id", "is of somebody else")
	}
	return m, err
}

// overwrite is one of a channel's, with all its bits.
type overwrite = discord.OverwriteOf[discord.Bits]

// overwritesOf reads a channel's overwrites. A channel without any says [].
func overwritesOf(given []overwriteView) ([]overwrite, error) {
	const list = "channel.permission_overwrites"
	if given == nil {
		return nil, flawed(list, "is missing")
	}
	over := make([]overwrite, len(given))
	seen := map[discord.OverwriteID]bool{}
	for i, o := range given {
		at := fmt.Sprintf("%s.%d", list, i)
		allow, allowErr := o.Allow.Bits()
		deny, denyErr := o.Deny.Bits()
		switch {
		case allowErr != nil:
			return nil, flawed(at+".allow", "is no permission set")
		case denyErr != nil:
			return nil, flawed(at+".deny", "is no permission set")
		case allow.And(deny) != discord.Bits{}:
			return nil, flawed(at, "allows and denies the same")
		case seen[o.ID]:
			return nil, flawed(at+".id", "stands twice")
		}
		seen[o.ID] = true
		over[i] = overwrite{ID: o.ID, Type: o.Type, Allow: allow, Deny: deny}
	}
	return over, nil
}

// subject is somebody whose rights are asked for.
type subject struct {
	roles    roleSet
	user     discord.UserID   // "" for what a role gives by itself
	held     []discord.RoleID // without @everyone
	owner    bool
	timedOut bool
}

// member is a member as a subject.
func (s roleSet) member(m memberView, owner discord.UserID, now time.Time) subject {
	return subject{
		roles: s, user: m.User.ID, held: m.Roles, owner: owner == m.User.ID,
		timedOut: m.Timeout != nil && m.Timeout.After(now),
	}
}

// known reports whether all roles that the subject holds are described. One that
// is not may give anything.
func (s subject) known() bool {
	_, known := s.roles.top(s.held)
	return known
}

// The stages of a computation of rights, in their order.
const (
	stageEveryone        = "guild_everyone"
	stageRoles           = "guild_roles"
	stageOwner           = "guild_owner"
	stageAdministrator   = "administrator"
	stageChannelEveryone = "channel_everyone"
	stageChannelRoles    = "channel_roles"
	stageChannelMember   = "channel_member"
	stageTimeout         = "member_timeout"
)

// step is what one stage does to the permissions: first it denies, then it
// allows.
type step struct {
	stage                      string
	before, allow, deny, after discord.Bits
	note                       string
}

// rights is what a subject may do, step by step.
type rights struct {
	subject
	may       discord.Bits // so far
	base      discord.Bits // in the guild, a timeout not counted
	unlimited bool         // the owner or an administrator: no channel and no timeout takes anything away
	steps     []step
}

// rights are the subject's in its guild.
func (s subject) rights() *rights {
	r := &rights{subject: s}
	var given discord.Bits
	for _, id := range s.held {
		given = given.Or(s.roles.byID[id].bits)
	}
	r.take(stageEveryone, overwrite{Allow: s.roles.everyone().bits}, "what @everyone gives")
	r.take(stageRoles, overwrite{Allow: given}, "what the other roles give together")
	all := overwrite{Allow: discord.WideBits(discord.KnownPermissions)}
	switch {
	case s.owner:
		r.take(stageOwner, all, "the owner may do everything")
	case r.may.Has(discord.Administrator):
		r.take(stageAdministrator, all, "an administrator may do everything, whatever a channel says")
	}
	r.unlimited = s.owner || r.may.Has(discord.Administrator)
	r.base = r.may
	return r
}

func (r *rights) take(stage string, o overwrite, note string) {
	before := r.may
	r.may = o.Apply(before)
	r.steps = append(r.steps, step{stage, before, o.Allow, o.Deny, r.may, note})
}

// enter applies a channel's overwrites. A thread has those of its parent.
func (r *rights) enter(over []overwrite) {
	if r.unlimited {
		return
	}
	layers := discord.Layers(r.roles.guild, r.user, r.held, over)
	r.take(stageChannelEveryone, layers[0], "the channel's overwrite of @everyone")
	r.take(stageChannelRoles, layers[1], "its overwrites of the other roles, as one")
	if r.user != "" {
		r.take(stageChannelMember, layers[2], "its overwrite of the member")
	}
}

// keepGuildWide undoes what overwrites did to permissions that channels have no
// say in.
func (r *rights) keepGuildWide() {
	r.may = r.may.AndNot(discord.WideBits(discord.GuildWide)).Or(r.base.Within(discord.GuildWide))
}

// timeOut applies a running timeout.
func (r *rights) timeOut() {
	if r.timedOut && !r.unlimited {
		r.take(stageTimeout, overwrite{Deny: r.may.AndNot(discord.DuringTimeout(r.may))}, "a timeout leaves seeing and reading")
	}
}
