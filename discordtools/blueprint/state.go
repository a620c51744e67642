package blueprint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// state is a guild by its parts, each as a digest, so that it can be told which
// part somebody changed. Where things stand among others is a part of its own.
type state map[string]string

const (
	partGuild      = "guild"
	partOnboarding = "onboarding"
	partWelcome    = "welcome_screen"
	partRoleOrder  = "role_order"
	partOrder      = "channel_order"
	partBot        = "bot"
)

func rolePart(id discord.RoleID) string       { return "role " + string(id) }
func channelPart(id discord.ChannelID) string { return "channel " + string(id) }
func rulePart(id discord.RuleID) string       { return "automod_rule " + string(id) }

// state is the guild by its parts.
func (g *Guild) state() state {
	s := state{}
	settings := g.Settings
	settings.Features = nil // which Discord adds to by itself
	s[partGuild] = digestOf(struct {
		liveSettings
		Community bool
	}{settings, g.Settings.has(community)})
	s[partBot] = digestOf(g.Bot)
	s[partOnboarding] = digestOf(g.Onboarding)
	s[partWelcome] = digestOf(struct {
		Screen *liveWelcome
		Shown  bool
	}{g.Welcome, g.Settings.has(welcomeShown)})
	var roles, channels []string
	for _, r := range g.Roles {
		roles = append(roles, string(r.ID))
		r.Position = 0
		s[rolePart(r.ID)] = digestOf(r)
	}
	for _, c := range g.Channels {
		channels = append(channels, string(c.ID))
		c.Position = 0
		s[channelPart(c.ID)] = digestOf(c)
	}
	for _, r := range g.Rules {
		s[rulePart(r.ID)] = digestOf(r)
	}
	s[partRoleOrder], s[partOrder] = strings.Join(roles, ","), strings.Join(channels, ",")
	return s
}

// foreign lists the parts of now that are not as expected, apart from those that
// own says are ours.
func (s state) foreign(now state, own func(part string, isNew bool) bool) (all []string) {
	for part, was := range s {
		is, there := now[part]
		switch {
		case part == partRoleOrder || part == partOrder:
			if !sameOrder(was, is) && !own(part, false) {
				all = append(all, part+" changed")
			}
		case !there:
			all = append(all, part+" is gone")
		case is != was && !own(part, false):
			all = append(all, part+" changed")
		}
	}
	for part := range now {
		if _, there := s[part]; !there && !own(part, true) {
			all = append(all, part+" is new")
		}
	}
	slices.Sort(all)
	return all
}

// sameOrder reports whether what is in both lists is in the same order.
func sameOrder(a, b string) bool {
	x, y := strings.Split(a, ","), strings.Split(b, ",")
	both := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(id string) bool { return !slices.Contains(other, id) })
	}
	return slices.Equal(both(x, y), both(y, x))
}

func nobody(string, bool) bool { return false }

// told is the list of foreign changes for people.
func told(changes []string) string {
	const most = 5
	if n := len(changes); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(changes[:most], ", "), n-most)
	}
	return strings.Join(changes, ", ")
}

// touches reports which parts of the guild an operation may change.
func (f *Draft) touches(op Operation) func(part string, isNew bool) bool {
	b := f.Bindings
	own := func(parts ...string) func(string, bool) bool {
		return func(part string, _ bool) bool { return slices.Contains(parts, part) }
	}
	switch op.Resource {
	case resRole:
		if op.Action == doCreate {
			return f.newest(func(part string) bool { return f.madeRole(part, op.Key) }, partRoleOrder)
		}
		return own(rolePart(discord.RoleID(b.Roles[op.Key])))
	case resCategory, resChannel:
		if op.Action == doCreate {
			return f.newest(func(part string) bool { return f.madeChannel(part, op) }, partOrder)
		}
		return own(channelPart(discord.ChannelID(b.Categories[op.Key])), channelPart(discord.ChannelID(b.Channels[op.Key])), partOrder)
	case resRoleOrder:
		return own(partRoleOrder)
	case resOrder:
		return own(partOrder)
	case resGuild: // a new Community gets defaults of Discord's
		return func(part string, _ bool) bool {
			return part == partGuild || op.Risk == high && (part == partOnboarding || part == partWelcome || strings.HasPrefix(part, "automod_rule ") ||
				part == rolePart(discord.RoleID(f.Guild.Settings.ID)))
		}
	case resWelcome:
		return own(partWelcome)
	case resOnboarding:
		return own(partOnboarding)
	case resRule:
		if op.Action == doCreate {
			return f.newest(func(part string) bool {
				r, id := f.Document.rule(op.Key), strings.TrimPrefix(part, "automod_rule ")
				l := f.Guild.rule(discord.RuleID(id))
				return r != nil && l != nil && l.Name == r.Name && l.Trigger == r.Trigger && l.Creator == f.Guild.Bot.ID
			})
		}
		return own(rulePart(discord.RuleID(b.Rules[op.Key])))
	}
	return nobody
}

// newest takes one new part that is what was made, and the others.
func (f *Draft) newest(made func(part string) bool, others ...string) func(string, bool) bool {
	taken := ""
	return func(part string, isNew bool) bool {
		if slices.Contains(others, part) {
			return true
		}
		if !isNew || taken != "" && taken != part || !made(part) {
			return false
		}
		taken = part
		return true
	}
}

func (f *Draft) madeRole(part string, key Symbol) bool {
	r := f.Document.role(key)
	l := f.Guild.role(discord.RoleID(strings.TrimPrefix(part, "role ")))
	return r != nil && l != nil && l.Name == r.Name && !l.Managed
}

func (f *Draft) madeChannel(part string, op Operation) bool {
	l := f.Guild.channel(discord.ChannelID(strings.TrimPrefix(part, "channel ")))
	if l == nil {
		return false
	}
	if op.Resource == resCategory {
		c := f.Document.category(op.Key)
		return c != nil && l.Name == c.Name && l.Type == discord.GuildCategory
	}
	c := f.Document.channel(op.Key)
	return c != nil && l.Name == c.Name && l.Type == channelTypes[c.Type]
}
