package blueprint

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// rules are the safety rules and Discord's limits, of a document whose names
// are in order.
func (c *checker) rules() {
	d := c.doc
	if n := len(d.Categories) + len(d.Channels); n > maxGuildChannels {
		c.fault("channels", "there are %d with the categories, and a guild has at most %d", n, maxGuildChannels)
	}
	for i, r := range d.Roles {
		at := fmt.Sprintf("roles.%d", i)
		if bad := set(r.Permissions) & Forbidden; bad != 0 {
			c.fault(at+".permissions", "a blueprint gives nobody %s; take it out, or make the role by hand and say exists: true", bad)
		}
		if r.Exists && (len(r.Permissions) > 0 || r.Color != 0 || r.Hoist || r.Mentionable) {
			c.fault(at, "a role that exists is left as it is: give its key and its name alone")
		}
		if r.Name == "@everyone" || r.Name == "everyone" || r.Name == "here" {
			c.fault(at+".name", "Discord keeps that name to itself")
		}
	}
	for i, x := range d.Categories {
		at := fmt.Sprintf("categories.%d", i)
		c.allowed(at, x.Overwrites)
		if x.Private && !hidden(x.Overwrites) {
			c.fault(at+".overwrites", "%s is private and must deny VIEW_CHANNEL to everyone", x.Key)
		}
	}
	inside := map[Symbol]int{}
	for i := range d.Channels {
		ch := &d.Channels[i]
		at := fmt.Sprintf("channels.%d", i)
		if inside[ch.parent()]++; ch.Parent != nil && inside[ch.parent()] > maxInCategory {
			c.fault(at+".parent_key", "a category has at most %d channels", maxInCategory)
		}
		c.allowed(at, ch.Overwrites)
		if p := d.category(ch.parent()); p != nil && p.Private && ch.Overwrites != nil && !hidden(d.overwrites(ch)) {
			c.fault(at+".overwrites", "%s is in a private category and must deny VIEW_CHANNEL to everyone", ch.Key)
		}
		c.kind(at, ch)
	}
	c.community()
	c.defaults()
	c.layouts()
}

// allowed checks what overwrites give.
func (c *checker) allowed(path string, list []Overwrite) {
	for i, o := range list {
		at := fmt.Sprintf("%s.overwrites.%d", path, i)
		allow, deny := set(o.Allow), set(o.Deny)
		if bad := allow & Forbidden; bad != 0 {
			c.fault(at+".allow", "a blueprint gives nobody %s", bad)
		}
		if bad := (allow | deny) & guildWide; bad != 0 {
			c.fault(at, "%s counts in the whole guild, not in a channel", bad)
		}
		if both := allow & deny; both != 0 {
			c.fault(at, "%s is allowed and denied at once", both)
		}
		if bad := allow & (discord.ManageMessages | discord.ManageThreads); bad != 0 && o.Subject.Kind == "everyone" {
			c.fault(at+".allow", "a blueprint does not give everyone %s", bad)
		}
		for _, p := range prerequisites {
			if allow.Has(p.of) && deny.Has(p.needs) {
				c.fault(at, "%s does nothing while %s is denied", p.of, p.needs)
			}
		}
	}
}

// kind checks what goes with a kind of channel.
func (c *checker) kind(at string, ch *Channel) {
	if kept := channelName(ch.Name); (ch.Type == Text || ch.Type == Announcement) && ch.Name != kept {
		c.fault(at+".name", "Discord would call it %q; give that", kept)
	}
	longest := 1024
	if ch.Type.posts() {
		longest = 4096
	}
	if ch.Topic != nil && utf8.RuneCountInString(*ch.Topic) > longest {
		c.fault(at+".topic", "a %s channel's has at most %d characters", ch.Type, longest)
	}
	if len(ch.Tags) > 0 && !ch.Type.posts() {
		c.fault(at+".forum_tags", "a %s channel has no tags", ch.Type)
	}
	names := map[string]bool{}
	for i, t := range ch.Tags {
		if names[t.Name] {
			c.fault(fmt.Sprintf("%s.forum_tags.%d.name", at, i), "another tag has it")
		}
		names[t.Name] = true
	}
	if (ch.Bitrate != nil || ch.UserLimit != nil) && !ch.Type.voice() {
		c.fault(at, "a %s channel has no bitrate and no user limit", ch.Type)
	}
	if ch.Type == Voice && ch.UserLimit != nil && *ch.UserLimit > 99 {
		c.fault(at+".user_limit", "a voice channel's is at most 99")
	}
	if (ch.SortOrder != nil || ch.Layout != nil || ch.Reaction != nil || ch.RequireTag != nil) && !ch.Type.posts() {
		c.fault(at, "a %s channel has no settings of a forum", ch.Type)
	}
}

// channelName is a name as Discord keeps it of channels for messages.
func channelName(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == ' ' || r == '-' }), "-")
}

// community checks what Discord demands of a Community.
func (c *checker) community() {
	d := c.doc
	s := d.Guild
	if s == nil {
		return
	}
	if m := s.Community; m != nil {
		if ch := d.channel(m.RulesChannel); hidden(d.overwrites(ch)) {
			c.fault("guild.community.rules_channel_key", "everyone must see %s", m.RulesChannel)
		}
	}
	if w := s.Welcome; w != nil {
		if len(w.Channels) > maxWelcome {
			c.fault("guild.welcome_screen.channels", "a welcome screen has at most %d", maxWelcome)
		}
		for i, x := range w.Channels {
			ch := d.channel(x.Channel)
			if ch.Type.voice() || hidden(d.overwrites(ch)) {
				c.fault(fmt.Sprintf("guild.welcome_screen.channels.%d.channel_key", i), "%s must be a channel of texts that everyone sees", x.Channel)
			}
		}
	}
}

// defaults checks what Discord demands of an onboarding.
func (c *checker) defaults() {
	o := c.doc.Onboarding
	if o == nil {
		return
	}
	counted := map[Symbol]bool{}
	for _, key := range o.Defaults {
		counted[key] = true
		if ch := c.doc.channel(key); hidden(c.doc.overwrites(ch)) {
			c.fault("onboarding.default_channel_keys", "everyone must see %s", key)
		}
	}
	if o.Mode == 1 {
		for _, p := range o.Prompts {
			for _, x := range p.Options {
				for _, key := range x.Channels {
					counted[key] = true
				}
			}
		}
	}
	sendable := 0
	for key := range counted {
		if c.doc.channel(key).Sendable {
			sendable++
		}
	}
	if o.Enabled && (len(counted) < minDefaults || sendable < minSendable) {
		c.fault("onboarding.default_channel_keys", "an onboarding needs at least %d channels, of which everyone can write in %d; here are %d and %d",
			minDefaults, minSendable, len(counted), sendable)
	}
}
