package blueprint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Captured is a guild as a document, and what a document cannot hold of it.
type Captured struct {
	Document *Document
	Left     []string // what was left out, in sentences
}

// Capture reads a guild and writes it as a document whose plan against that guild
// is empty. It takes the requests of [Read], and one more for each channel of
// messages, whose oldest hundred are looked through for publications.
func Capture(ctx context.Context, conn Conn, id discord.GuildID, bot discord.UserID) (*Captured, error) {
	g, err := Read(ctx, conn, id, bot, nil, nil)
	if err != nil {
		return nil, err
	}
	for _, c := range g.Channels {
		if c.Type != discord.GuildText && c.Type != discord.GuildAnnouncement || !g.inChannel(c).Has(discord.ViewChannel|discord.ReadMessageHistory) {
			continue
		}
		if err := g.readHistory(ctx, conn, c.ID, nil, pageSize); err != nil {
			return nil, err
		}
	}
	return g.capture(), nil
}

// capturer writes a guild as a document.
type capturer struct {
	*Captured
	guild *Guild

	used                 map[Symbol]bool
	roles                map[discord.RoleID]Symbol
	categories, channels map[discord.ChannelID]Symbol
	byID                 map[string]Symbol // channels, for mentions
}

func (g *Guild) capture() *Captured {
	c := &capturer{
		Captured: &Captured{Document: &Document{SchemaVersion: Version}, Left: []string{}}, guild: g,
		roles: map[discord.RoleID]Symbol{}, categories: map[discord.ChannelID]Symbol{}, channels: map[discord.ChannelID]Symbol{}, byID: map[string]Symbol{},
	}
	c.captureRoles()
	c.captureChannels()
	c.captureSettings()
	c.captureOnboarding()
	c.captureRules()
	c.captureCards()
	c.prune()
	return c.Captured
}

// prune takes out what keeps the document from being valid, and says so, until
// nothing is left of that.
func (c *capturer) prune() {
	for range 4 {
		issues := c.Document.settle()
		if issues == nil {
			_, issues = Parse(c.Document.JSON()) // by its schema as well
		}
		if issues == nil {
			return
		}
		c.leave("%s %s", issues[0].Path, issues[0].Message)
		switch {
		case strings.HasPrefix(issues[0].Path, "onboarding"):
			c.Document.Onboarding = nil
		case strings.HasPrefix(issues[0].Path, "components_v2"):
			c.Document.Components = nil
		case strings.HasPrefix(issues[0].Path, "automod"):
			c.Document.AutoMod = nil
		case strings.HasPrefix(issues[0].Path, "guild.welcome_screen"):
			c.Document.Guild.Welcome = nil
		case strings.HasPrefix(issues[0].Path, "guild.community"):
			c.Document.Guild.Community = nil
		default:
			return
		}
	}
}

func (c *capturer) leave(format string, with ...any) {
	c.Left = append(c.Left, oneLine(fmt.Sprintf(format, with...)))
}

// key makes a key of a name, once in a kind.
func (c *capturer) key(name, kind string) Symbol {
	s := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return '_'
	}, strings.ReplaceAll(Plain(name), " ", "_"))
	s = strings.Trim(s, "_")
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		s = strings.TrimSuffix(kind+"_"+s, "_")
	}
	s = strings.TrimRight(s[:min(len(s), 56)], "_")
	key := Symbol(s)
	for n := 2; c.used[key]; n++ {
		key = Symbol(fmt.Sprintf("%s_%d", s, n))
	}
	c.used[key] = true
	return key
}

func (c *capturer) captureRoles() {
	c.used = map[Symbol]bool{}
	names := map[string]int{}
	for _, r := range c.guild.Roles {
		names[r.Name]++
	}
	needed := c.subjects()
	for _, r := range c.guild.Roles {
		if string(r.ID) == string(c.guild.Settings.ID) {
			continue
		}
		p := r.Permissions.set()
		risky := p & Forbidden
		switch {
		case names[r.Name] > 1:
			c.leave("role %q: several have that name", r.Name)
			continue
		case (r.Managed || risky != 0) && !needed[r.ID]:
			c.leave("role %q: %s", r.Name, why(r, risky))
			continue
		}
		key := c.key(r.Name, "role")
		c.roles[r.ID] = key
		role := Role{Key: key, Name: r.Name}
		if r.Managed || risky != 0 {
			c.leave("role %q is named as one that must exist: %s", r.Name, why(r, risky))
			role.Exists = true
		} else {
			role.Color, role.Hoist, role.Mentionable, role.Permissions = r.Color, r.Hoist, r.Mentionable, named(p)
		}
		c.Document.Roles = append(c.Document.Roles, role)
	}
}

func why(r liveRole, risky discord.Permissions) string {
	if r.Managed {
		return "it belongs to an integration"
	}
	return "it holds " + risky.String()
}

// subjects are the roles that something else names.
func (c *capturer) subjects() map[discord.RoleID]bool {
	named := map[discord.RoleID]bool{}
	for _, ch := range c.guild.Channels {
		for _, o := range ch.Overwrites {
			named[discord.RoleID(o.ID)] = true
		}
	}
	for _, r := range c.guild.Rules {
		for _, id := range r.ExemptRoles {
			named[id] = true
		}
	}
	return named
}

func (c *capturer) captureChannels() {
	c.used = map[Symbol]bool{}
	ordered := slices.Clone(c.guild.Channels)
	slices.SortStableFunc(ordered, func(a, b liveChannel) int { return cmp.Compare(rankOf(a.Type), rankOf(b.Type)) })
	for _, l := range ordered {
		if l.Type != discord.GuildCategory {
			continue
		}
		if len(c.guild.channelsLike(l.Name, l.Type)) > 1 {
			c.leave("category %q: several have that name", l.Name)
			continue
		}
		key := c.key(l.Name, "category")
		c.categories[l.ID] = key
		over := c.overwrites(l)
		c.Document.Categories = append(c.Document.Categories, Category{Key: key, Name: l.Name, Private: hidden(over) && c.allHidden(l.ID), Overwrites: over})
	}
	for _, l := range ordered {
		kind := kindOf(l.Type)
		switch {
		case l.Type == discord.GuildCategory:
			continue
		case kind == "":
			c.leave("channel %q: documents do not speak of its type", l.Name)
			continue
		case l.Parent != "" && c.categories[l.Parent] == "":
			c.leave("channel %q: its category is left out", l.Name)
			continue
		}
		twins := slices.DeleteFunc(c.guild.channelsLike(l.Name, l.Type), func(o *liveChannel) bool { return o.Parent != l.Parent })
		if len(twins) > 1 {
			c.leave("channel %q: several in its category have that name", l.Name)
			continue
		}
		key := c.key(l.Name, "channel")
		c.channels[l.ID], c.byID[string(l.ID)] = key, key
		c.Document.Channels = append(c.Document.Channels, c.channel(key, kind, l))
	}
}

// allHidden reports whether every channel of a category is hidden from everyone.
func (c *capturer) allHidden(category discord.ChannelID) bool {
	for _, l := range c.guild.Channels {
		if l.Parent == category && !hidden(c.overwrites(l)) {
			return false
		}
	}
	return true
}

func (c *capturer) channel(key Symbol, kind Kind, l liveChannel) Channel {
	ch := Channel{Key: key, Name: l.Name, Type: kind, SlowMode: ptr(l.SlowMode), Overwrites: c.overwrites(l)}
	if l.Parent != "" {
		ch.Parent = ptr(c.categories[l.Parent])
		if p := c.guild.channel(l.Parent); p != nil && len(ch.Overwrites) == 0 && len(c.overwrites(*p)) > 0 {
			ch.Overwrites = nil // an empty list stands for the category's
			c.leave("channel %q has no overwrites although its category has; they are left alone", l.Name)
		}
	}
	if !kind.voice() {
		ch.Topic = ptr(text(l.Topic))
	}
	if l.NSFW {
		ch.NSFW = ptr(true)
	}
	switch {
	case kind.voice():
		ch.UserLimit = ptr(l.UserLimit)
		if l.Bitrate >= 8000 {
			ch.Bitrate = ptr(l.Bitrate)
		}
	case l.ThreadArchive > 0:
		ch.ThreadArchive = ptr(l.ThreadArchive)
	}
	if !kind.posts() {
		return ch
	}
	ch.ThreadSlowMode, ch.Layout, ch.SortOrder = ptr(l.ThreadSlowMode), ptr(l.Layout), l.SortOrder
	ch.RequireTag = ptr(l.Flags&flagRequireTag != 0)
	if l.Reaction != nil && l.Reaction.Name != nil {
		ch.Reaction = l.Reaction.Name
	}
	used := c.used
	c.used = map[Symbol]bool{}
	for _, t := range l.Tags {
		if t.EmojiID != nil {
			c.leave("tags of %q: one has an emoji of the guild's own; they are left alone", l.Name)
			ch.Tags = nil
			break
		}
		ch.Tags = append(ch.Tags, Tag{c.key(t.Name, "tag"), t.Name, t.Moderated, t.EmojiName})
	}
	c.used = used
	return ch
}

// overwrites are those of subjects that a document can name. nil leaves all
// alone, where one of them gives what a document may not.
func (c *capturer) overwrites(l liveChannel) []Overwrite {
	list := []Overwrite{}
	for _, o := range l.Overwrites {
		subject := Subject{Kind: "everyone"}
		switch key, known := c.roles[discord.RoleID(o.ID)]; {
		case string(o.ID) == string(c.guild.Settings.ID):
		case string(o.ID) == string(c.guild.Bot.ID):
			subject.Kind = "bot"
		case known:
			subject = Subject{"role", key}
		default:
			c.note("channel %q: overwrites of members and of roles that are left out stay as they are", l.Name)
			continue
		}
		allow, deny := o.Allow.set(), o.Deny.set()
		manages := allow & (discord.ManageMessages | discord.ManageThreads)
		if allow&Forbidden != 0 || (allow|deny)&guildWide != 0 || (allow|deny)&^discord.KnownPermissions != 0 || subject.Kind == "everyone" && manages != 0 {
			c.note("channel %q: its overwrites give %s; they are left alone", l.Name, allow)
			return nil
		}
		list = append(list, Overwrite{subject, named(allow), named(deny)})
	}
	return list
}

// note says something once.
func (c *capturer) note(format string, with ...any) {
	if s := oneLine(fmt.Sprintf(format, with...)); !slices.Contains(c.Left, s) {
		c.Left = append(c.Left, s)
	}
}
