package blueprint

import (
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// order compares the order of roles and of channels. What is made is expected
// where Discord puts it: a role below all others, a channel behind them.
func (f *Draft) order() {
	if moves, ok := f.roleMoves(); len(moves) > 0 {
		f.do(PhaseOrdering, doReorder, resRoleOrder, "roles", medium, "put the roles into their order", nil)
		f.needs |= discord.ManageRoles
		if !ok {
			f.block(CodeHierarchy, resRoleOrder, "Move the bot's role above all roles of the blueprint.", "a role that has to move is not below the bot's highest")
		}
	}
	if !f.inOrder() {
		f.do(PhaseOrdering, doReorder, resOrder, "channels", low, "put categories and channels into their order", nil)
		f.needs |= discord.ManageChannels
	}
}

// move gives something a position.
type move struct {
	ID       string `json:"id"`
	Position int    `json:"position"`
}

// roleMoves are what puts the document's roles into their order, each in a place
// that one of them has now, so that no other role moves. ok is false when the
// bot may not.
func (f *Draft) roleMoves() (moves []move, ok bool) {
	var wanted, there []*liveRole
	for _, r := range f.Document.Roles {
		l := f.Guild.role(discord.RoleID(f.Bindings.Roles[r.Key]))
		if l != nil && !r.Exists {
			wanted = append(wanted, l)
		}
	}
	for i := range f.Guild.Roles {
		if l := &f.Guild.Roles[i]; slices.Contains(wanted, l) {
			there = append(there, l)
		}
	}
	top, _ := f.Guild.rank()
	ok = true
	if slices.Equal(wanted, there) {
		return nil, ok
	}
	places := make([]int, len(there))
	for i, l := range there {
		places[i] = l.Position
		if i > 0 && places[i] <= places[i-1] { // roles that share a place
			places[i] = places[i-1] + 1
		}
	}
	for i, l := range wanted {
		if l.Position != places[i] {
			moves = append(moves, move{string(l.ID), places[i]})
			ok = ok && (f.Guild.Settings.Owner == f.Guild.Bot.ID || top != nil && below(l, top) && places[i] < top.Position)
		}
	}
	return moves, ok
}

// group is a list that Discord orders by itself: the categories, or the channels
// of a category that people write in, or speak in.
type group struct {
	parent discord.ChannelID
	kind   int
}

const (
	ofCategories = iota
	ofTexts
	ofVoices
)

// groups are the document's channels that are there, by group and in the order
// wanted. open are the keys of those that are not.
func (f *Draft) groups() (all map[group][]*liveChannel) {
	all = map[group][]*liveChannel{}
	for _, c := range f.Document.Categories {
		if l := f.Guild.channel(discord.ChannelID(f.Bindings.Categories[c.Key])); l != nil {
			g := group{kind: ofCategories}
			all[g] = append(all[g], l)
		}
	}
	for i := range f.Document.Channels {
		c := &f.Document.Channels[i]
		if l := f.Guild.channel(discord.ChannelID(f.Bindings.Channels[c.Key])); l != nil {
			g := group{discord.ChannelID(f.Bindings.Categories[c.parent()]), ofTexts}
			if c.Type.voice() {
				g.kind = ofVoices
			}
			all[g] = append(all[g], l)
		}
	}
	return all
}

// inOrder reports whether all will be in order once what is missing was made.
func (f *Draft) inOrder() bool {
	if len(f.channelMoves()) > 0 {
		return false
	}
	made := map[[2]Symbol]bool{} // lists in which something is made that others follow
	follows := func(list [2]Symbol, there bool) bool {
		if !there {
			made[list] = true
		}
		return there && made[list]
	}
	for _, c := range f.Document.Categories {
		if follows([2]Symbol{}, f.Bindings.Categories[c.Key] != "") {
			return false
		}
	}
	for i := range f.Document.Channels {
		c := &f.Document.Channels[i]
		kind := Text
		if c.Type.voice() {
			kind = Voice
		}
		// A late channel is made behind all others.
		list := [2]Symbol{c.parent(), Symbol(kind)}
		if follows(list, f.Bindings.Channels[c.Key] != "") {
			return false
		}
		if f.Bindings.Channels[c.Key] == "" && !c.Type.needsCommunity() && f.lateBefore(i, list) {
			return false
		}
	}
	return true
}

// lateBefore reports whether a channel before the i-th of its list is made
// later than it.
func (f *Draft) lateBefore(i int, list [2]Symbol) bool {
	for j := range i {
		o := &f.Document.Channels[j]
		if o.parent() == list[0] && o.Type.voice() == (list[1] == Symbol(Voice)) && o.Type.needsCommunity() && f.Bindings.Channels[o.Key] == "" {
			return true
		}
	}
	return false
}

// channelMoves are what puts the document's channels into their order, each in a
// place that one of its group has now.
func (f *Draft) channelMoves() (moves []move) {
	groups := f.groups()
	keys := make([]group, 0, len(groups))
	for g := range groups {
		keys = append(keys, g)
	}
	slices.SortFunc(keys, func(a, b group) int {
		if a.kind != b.kind {
			return a.kind - b.kind
		}
		return discord.CompareIDs(a.parent, b.parent)
	})
	for _, g := range keys {
		wanted := groups[g]
		there := slices.Clone(wanted)
		slices.SortFunc(there, func(a, b *liveChannel) int {
			return slices.IndexFunc(f.Guild.Channels, func(c liveChannel) bool { return c.ID == a.ID }) -
				slices.IndexFunc(f.Guild.Channels, func(c liveChannel) bool { return c.ID == b.ID })
		})
		if slices.Equal(wanted, there) {
			continue
		}
		last := -1
		for i, l := range wanted {
			place := max(there[i].Position, last+1)
			if last = place; l.Position != place {
				moves = append(moves, move{string(l.ID), place})
			}
		}
	}
	return moves
}
