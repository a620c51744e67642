package discordtools

import (
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// welcomeModified is a welcome screen.
//
// Source: https://docs.discord.com/developers/resources/guild#welcome-screen-object.
type welcomeModified struct {
	Description *string          `json:"description"`
	Channels    []welcomeChannel `json:"welcome_channels"`
}

type welcomeChannel struct {
	ChannelID   discord.ChannelID `json:"channel_id"`
	Description string            `json:"description"`
	emojiRef
}

type welcomeScreen struct {
	welcomeModified
	UntrustedText string `json:"untrusted_text" from:"@derived"`
}

func (v *welcomeScreen) derive(*mcpcore.Call) {
	texts := struct {
		Description *string  `json:"description"`
		Channels    []string `json:"welcome_channels"`
	}{v.Description, make([]string, len(v.Channels))}
	for i, c := range v.Channels {
		texts.Channels[i] = c.Description
	}
	v.UntrustedText = fencedJSON(fence.ChannelTopic, texts)
}

type welcomeModify struct {
	guildRef
	Enabled     bool                  `json:"enabled,omitempty" jsonschema:"whether new members see it"`
	Channels    []welcomeChannelInput `json:"welcome_channels,omitempty" jsonschema:"channels it points to" maxItems:"5"`
	Description *string               `json:"description,omitempty" jsonschema:"text above the channels; null removes it" maxLength:"140"`
	auditReason
}

type welcomeChannelInput struct {
	ChannelID   discord.ChannelID `json:"channel_id"`
	Description string            `json:"description" minLength:"1" maxLength:"50"`
	namedEmoji
}

// namedEmoji is an emoji of a welcome screen or an onboarding.
type namedEmoji struct {
	EmojiID   *discord.EmojiID `json:"emoji_id,omitempty" jsonschema:"of a custom emoji"`
	EmojiName *string          `json:"emoji_name,omitempty" jsonschema:"a unicode emoji, or the custom one's name" maxLength:"100"`
}
