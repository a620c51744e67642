package discord

// Set is a set of permission bits that rights are computed on: [Permissions], or
// [Bits] where bits without a name must survive.
type Set[S any] interface {
	Or(S) S
	AndNot(S) S
	Has(Permissions) bool
	With(Permissions) S
	Within(Permissions) S
}

// Or is what is in either set.
func (p Permissions) Or(q Permissions) Permissions { return p | q }

// AndNot is what is in p and not in q.
func (p Permissions) AndNot(q Permissions) Permissions { return p &^ q }

// With is the same as [Permissions.Or].
func (p Permissions) With(q Permissions) Permissions { return p | q }

// Within is what is in both sets.
func (p Permissions) Within(q Permissions) Permissions { return p & q }

// Overwrite changes permissions in one channel for a role (Type 0) or a member
// (Type 1).
type Overwrite = OverwriteOf[Permissions]

// OverwriteOf is an [Overwrite] with sets of the type S.
type OverwriteOf[S Set[S]] struct {
	ID    OverwriteID
	Type  int
	Allow S
	Deny  S
}

// The two kinds of [Overwrite].
const (
	OverwriteRole   = 0
	OverwriteMember = 1
)

// Apply is what the overwrite makes of p: first it denies, then it allows.
func (o OverwriteOf[S]) Apply(p S) S { return p.AndNot(o.Deny).Or(o.Allow) }

// Base is what a member may do in a guild before any channel is looked at: the
// bits of @everyone and of the member's roles; every known bit for the owner
// and for administrators.
func Base[S Set[S]](owner bool, roles ...S) S {
	var p S
	for _, r := range roles {
		p = p.Or(r)
	}
	if owner || p.Has(Administrator) {
		return p.With(KnownPermissions)
	}
	return p
}

// InChannel applies a channel's overwrites to base, in the order of [Layers].
// Administrators are not limited by overwrites. A thread has the overwrites of
// its parent.
func InChannel[S Set[S]](base S, everyone GuildID, member UserID, roles []RoleID, over []OverwriteOf[S]) S {
	if base.Has(Administrator) {
		return base
	}
	for _, o := range Layers(everyone, member, roles, over) {
		base = o.Apply(base)
	}
	return base
}

// Layers are the overwrites that count for a member, in the order in which they
// are applied: that of @everyone, those of all the member's roles as one, the
// member's own. What is not there is empty. everyone is the guild's id, which is
// also the id of the role @everyone.
//
// Source: https://docs.discord.com/developers/topics/permissions#permission-overwrites.
func Layers[S Set[S]](everyone GuildID, member UserID, roles []RoleID, over []OverwriteOf[S]) (layers [3]OverwriteOf[S]) {
	held := make(map[OverwriteID]bool, len(roles))
	for _, r := range roles {
		held[OverwriteID(r)] = true
	}
	for _, o := range over {
		switch {
		case o.Type == OverwriteRole && o.ID == OverwriteID(everyone):
			layers[0] = o
		case o.Type == OverwriteRole && held[o.ID]:
			layers[1].Allow = layers[1].Allow.Or(o.Allow)
			layers[1].Deny = layers[1].Deny.Or(o.Deny)
		case o.Type == OverwriteMember && o.ID == OverwriteID(member):
			layers[2] = o
		}
	}
	return layers
}

// DuringTimeout is what is left of p while the member is timed out. The owner
// and administrators cannot be timed out; the caller leaves them alone.
func DuringTimeout[S Set[S]](p S) S { return p.Within(ViewChannel | ReadMessageHistory) }
