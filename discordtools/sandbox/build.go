package sandbox

import (
	"fmt"
	"slices"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// The Add methods build a world for a test. They check no permissions and no
// limits, make an id where none is given and return it. What can only be a
// mistake of the caller (a place that does not exist, an id that is taken)
// panics.

// AddUser adds an account.
func (d *Discord) AddUser(u User) discord.UserID {
	d.mu.Lock()
	defer d.mu.Unlock()
	named(&d.world, &u.ID)
	unused(d.world.users, u.ID)
	d.world.users[u.ID] = &u
	return u.ID
}

// AddGuild adds a guild with its role @everyone, whose permissions are
// everyone's, and with the bot and the owner as members. A guild without an
// owner gets one.
func (d *Discord) AddGuild(g Guild, everyone discord.Permissions) discord.GuildID {
	if g.Owner == "" {
		g.Owner = d.AddUser(User{Name: "owner"})
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	named(&d.world, &g.ID)
	unused(d.world.guilds, g.ID)
	known(d.world.users, g.Owner)
	g.Features = slices.Clone(g.Features)
	joined := d.world.clock().AddDate(0, -1, 0)
	d.world.guilds[g.ID] = &guild{
		Guild: g,
		roles: map[discord.RoleID]*Role{
			discord.RoleID(g.ID): {ID: discord.RoleID(g.ID), Name: "@everyone", Permissions: everyone},
		},
		members: map[discord.UserID]*Member{
			g.Owner: {User: g.Owner, Joined: joined},
			BotID:   {User: BotID, Joined: joined},
		},
		emojis:   map[discord.EmojiID]*Emoji{},
		stickers: map[discord.StickerID]*Sticker{},
		commands: commandMap{},
		grants:   map[discord.CommandID][]CommandGrant{},
	}
	return g.ID
}

// AddRole adds a role. Position 0 means above every role there is.
func (d *Discord) AddRole(in discord.GuildID, r Role) discord.RoleID {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, in)
	named(&d.world, &r.ID)
	unused(g.roles, r.ID)
	if r.Position == 0 {
		for _, other := range g.roles {
			r.Position = max(r.Position, other.Position+1)
		}
	}
	g.roles[r.ID] = &r
	return r.ID
}

// AddMember makes a user a member, or changes the member they are. The bot gets
// its roles in this way.
func (d *Discord) AddMember(in discord.GuildID, m Member) discord.UserID {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, in)
	known(d.world.users, m.User)
	for _, r := range m.Roles {
		known(g.roles, r)
	}
	if m.Joined.IsZero() {
		m.Joined = d.world.clock().AddDate(0, -1, 0)
	}
	m.Roles = slices.Clone(m.Roles)
	g.members[m.User] = &m
	return m.User
}

// AddChannel adds a channel, a thread ([Channel.Thread] set, Parent its channel)
// or a direct message channel (no Guild, Recipients set). Position 0 means below
// the channels there are.
func (d *Discord) AddChannel(c Channel) discord.ChannelID {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := &d.world
	named(w, &c.ID)
	unused(w.channels, c.ID)
	if c.Guild != "" {
		known(w.guilds, c.Guild)
	}
	if c.Parent != "" {
		known(w.channels, c.Parent)
	}
	if c.Type.IsThread() {
		if c.Thread == nil {
			c.Thread = &Thread{Owner: BotID}
		}
		if c.Thread.ArchivedAt.IsZero() {
			c.Thread.ArchivedAt = discord.IDTime(string(c.ID))
		}
	} else if c.Guild != "" && c.Position == 0 {
		c.Position = len(w.guildChannels(c.Guild))
	}
	for i := range c.Tags {
		named(w, &c.Tags[i].ID)
	}
	w.channels[c.ID] = &channel{Channel: c.clone()}
	return c.ID
}

// AddMessage adds a message. A message without an author is the bot's; one
// without an id is sent now, one with an id when the id says. Mentions are taken
// as they stand.
func (d *Discord) AddMessage(in discord.ChannelID, m Message) discord.MessageID {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := known(d.world.channels, in)
	named(&d.world, &m.ID)
	if _, taken := c.find(m.ID); taken != nil {
		panic(fmt.Sprintf("sandbox: message %s exists", m.ID))
	}
	if m.Author == "" {
		m.Author = BotID
	}
	m.Channel = in
	for i := range m.Attachments {
		named(&d.world, &m.Attachments[i].ID)
	}
	d.world.store(c, &m)
	return m.ID
}

// AddReaction has a user react to a message.
func (d *Discord) AddReaction(in discord.ChannelID, to discord.MessageID, e EmojiRef, by discord.UserID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, m := known(d.world.channels, in).find(to)
	if m == nil {
		panic(fmt.Sprintf("sandbox: there is no message %s", to))
	}
	i := m.reaction(e)
	if i < 0 {
		i = len(m.Reactions)
		m.Reactions = append(m.Reactions, Reaction{Emoji: e})
	}
	if r := &m.Reactions[i]; !slices.Contains(r.Users, by) {
		r.Users = append(r.Users, by)
	}
}

// AddEmoji adds an emoji of a guild.
func (d *Discord) AddEmoji(in discord.GuildID, e Emoji) discord.EmojiID {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, in)
	named(&d.world, &e.ID)
	unused(g.emojis, e.ID)
	g.emojis[e.ID] = &e
	return e.ID
}

// AddSticker adds a sticker of a guild.
func (d *Discord) AddSticker(in discord.GuildID, s Sticker) discord.StickerID {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, in)
	named(&d.world, &s.ID)
	unused(g.stickers, s.ID)
	g.stickers[s.ID] = &s
	return s.ID
}

// SetRolePermissions changes what a role may do; the guild's id names @everyone.
func (d *Discord) SetRolePermissions(in discord.GuildID, role discord.RoleID, p discord.Permissions) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known(known(d.world.guilds, in).roles, role).Permissions = p
}

// AddFeatures gives a guild features: "ROLE_ICONS".
func (d *Discord) AddFeatures(in discord.GuildID, features ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, in)
	g.Features = append(slices.Clone(g.Features), features...)
}

// SetOverwrite sets the overwrite of a role or member in a channel.
func (d *Discord) SetOverwrite(in discord.ChannelID, o discord.Overwrite) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := known(d.world.channels, in)
	if i := c.overwriteOf(o.ID); i >= 0 {
		c.Overwrites[i] = o
		return
	}
	c.Overwrites = append(c.Overwrites, o)
}

// EditChannel changes a channel or a thread as f does, without a request.
func (d *Discord) EditChannel(id discord.ChannelID, f func(c *Channel)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(&known(d.world.channels, id).Channel)
}

// EditMessage changes a message as f does, without a request.
func (d *Discord) EditMessage(in discord.ChannelID, id discord.MessageID, f func(m *Message)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, m := known(d.world.channels, in).find(id)
	if m == nil {
		panic(fmt.Sprintf("sandbox: there is no message %s", id))
	}
	f(m)
}

// IDAt makes an unused id of the moment t, for what is to be of that age.
func (d *Discord) IDAt(t time.Time) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.world.issueAt(t)
}

// named makes an id where there is none.
func named[ID ~string](w *world, id *ID) {
	if *id == "" {
		*id = ID(w.issue())
	}
	if err := discord.CheckID(string(*id)); err != nil {
		panic("sandbox: " + err.Error())
	}
}

func known[ID ~string, V any](m map[ID]*V, id ID) *V {
	v := m[id]
	if v == nil {
		panic(fmt.Sprintf("sandbox: there is no %T %s", *new(V), id))
	}
	return v
}

func unused[ID ~string, V any](m map[ID]*V, id ID) {
	if m[id] != nil {
		panic(fmt.Sprintf("sandbox: %T %s exists", *new(V), id))
	}
}
