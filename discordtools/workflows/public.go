package workflows

import (
	"context"

	"github.com/guildwarden/guildwarden/internal/emoji"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// community is the feature of guilds that have what is for the public: rules, a
// welcome screen, an onboarding.
const community = "COMMUNITY"

// everyone is what a member without roles may do in a channel.
func (s *standing) everyone(c channel) (discord.Permissions, error) {
	_, held, err := s.rights("", nil)
	if err != nil {
		return 0, err
	}
	return s.inAs(c, "", nil, held)
}

// public is the channel of an id, which everyone in the guild must see.
func (s *standing) public(channels []channel, id discord.ChannelID) (c channel, err error) {
	at := indexOf(channels, id)
	if at < 0 {
		return c, refused("channel-missing", "the guild has no channel %s that the bot can see", id)
	}
	c = channels[at]
	may, err := s.everyone(c)
	if err == nil && !may.Has(discord.ViewChannel) {
		err = refused("channel-hidden", "not everyone can see the channel %s", id)
	}
	return c, err
}

// guildMark is the emoji at a channel of a welcome screen or at an answer of an
// onboarding; the zero value is none.
type guildMark struct {
	ID       discord.EmojiID `json:"emojiId,omitempty" jsonschema:"a custom emoji of the guild"`
	Name     string          `json:"emojiName,omitempty" jsonschema:"the emoji itself, or the name of the custom one"`
	Animated bool            `json:"emojiAnimated,omitempty"`
}

// String is the emoji for people, with a space behind it.
func (m guildMark) String() string {
	switch {
	case m.ID != "":
		return ":" + m.Name + ": (" + string(m.ID) + ") "
	case m.Name != "":
		return m.Name + " "
	}
	return ""
}

// guildMarkInput is how one is asked for.
type guildMarkInput struct {
	EmojiID   discord.EmojiID `json:"emojiId,omitempty" jsonschema:"a custom emoji of the guild, which everyone may use"`
	EmojiName string          `json:"emojiName,omitempty" jsonschema:"or a standard emoji, itself" minLength:"1" maxLength:"64"`
}

// guildMarks are the custom emojis of a guild.
type guildMarks map[discord.EmojiID]expression

func (r *reads) guildMarks(ctx context.Context, guild discord.GuildID) (guildMarks, error) {
	list, err := r.expressions(ctx, "emoji", guild)
	all := make(guildMarks, len(list))
	for _, e := range list {
		all[discord.EmojiID(e.ID)] = e
	}
	return all, err
}

// as is an emoji as it is named now.
func (all guildMarks) as(m guildMark) guildMark {
	if e, there := all[m.ID]; there {
		m.Name, m.Animated = e.Name, e.Animated
	}
	return m
}

// pick is the emoji that is asked for, which must be there for everyone.
func (all guildMarks) pick(in guildMarkInput) (m guildMark, err error) {
	e, there := all[in.EmojiID]
	switch {
	case in.EmojiID == "" && in.EmojiName == "":
		return m, nil
	case in.EmojiID != "" && in.EmojiName != "":
		return m, refused("emoji", "emojiId names a custom emoji and emojiName is a standard one: give one of them")
	case in.EmojiID == "" && !emoji.Is(in.EmojiName):
		return m, refused("emoji", "emojiName is not a standard emoji")
	case in.EmojiID == "":
		return guildMark{Name: in.EmojiName}, nil
	case !there:
		return m, refused("emoji-missing", "the guild has no emoji %s", in.EmojiID)
	case len(e.Roles) > 0:
		return m, refused("emoji-restricted", "the emoji %s is for some roles alone", in.EmojiID)
	}
	return guildMark{in.EmojiID, e.Name, e.Animated}, nil
}

// features reads those of a guild.
func (r *reads) features(ctx context.Context, guild discord.GuildID) ([]string, error) {
	var g struct {
		ID       discord.GuildID `json:"id"`
		Features []string        `json:"features"`
	}
	if err := r.get(ctx, routeGuild, inGuild(guild), &g); err != nil {
		return nil, err
	}
	if g.ID != guild || g.Features == nil {
		return nil, incomplete("the features of the guild")
	}
	return g.Features, nil
}
