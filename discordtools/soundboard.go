package discordtools

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/guildwarden/guildwarden/internal/emoji"
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// soundboard manages a guild's sounds and plays them.
//
// Source: https://docs.discord.com/developers/resources/soundboard.
func soundboard() category {
	return category{Name: "soundboard", Scope: mcpcore.GuildScope, Tools: []declaration{
		write[soundCreate, soundSaved]{
			Name:  "soundboard_create_guild_sound",
			Title: "Create a sound",
			Doc: `Adds a sound of at most 5.2 seconds to a guild's soundboard. How many fit depends on the
				guild's boosts.`,
			Route:  "POST /guilds/{guild_id}/soundboard-sounds",
			Needs:  discord.CreateGuildExpressions,
			Rules:  []mcpcore.Rule{soundEmoji},
			Redact: []string{"sound"},
			Fence:  fence.Username,
		},
		destroy[soundTarget, soundDeleted]{
			Name:  "soundboard_delete_guild_sound",
			Title: "Delete a sound",
			Doc:   `Deletes a sound of a guild for good.`,
			Route: "DELETE /guilds/{guild_id}/soundboard-sounds/{sound_id}",
			Calls: []string{routeSound},
			Needs: discord.ManageGuildExpressions,
			Facts: soundFacts,
		},
		read[soundOf, soundOne]{
			Name:  "soundboard_get_guild_sound",
			Title: "Get a sound",
			Doc:   `Reads one sound of a guild.`,
			Route: routeSound,
			Fence: fence.Username,
		},
		read[struct{}, defaultSoundsPage]{
			Name:  "soundboard_list_default_sounds",
			Title: "List Discord's sounds",
			Doc:   `Lists the sounds that Discord itself offers in every guild. Play one with soundboard_send_sound.`,
			Route: "GET /soundboard-default-sounds",
			Scope: mcpcore.GlobalScope,
			Fence: fence.Username,
		},
		read[soundsList, soundsPage]{
			Name:  "soundboard_list_guild_sounds",
			Title: "List sounds",
			Doc:   `Lists a guild's own sounds; those of every guild are in soundboard_list_default_sounds.`,
			Route: "GET /guilds/{guild_id}/soundboard-sounds",
			Fence: fence.Username,
		},
		write[soundModify, soundSaved]{
			Name:       "soundboard_modify_guild_sound",
			Title:      "Change a sound",
			Doc:        `Changes a sound's name, volume or emoji. The sound itself stays: delete it and make another.`,
			Route:      "PATCH /guilds/{guild_id}/soundboard-sounds/{sound_id}",
			Repeatable: true,
			Needs:      discord.ManageGuildExpressions,
			Rules:      []mcpcore.Rule{anyGiven("name", "volume", "emoji_id", "emoji_name"), soundEmoji},
			Fence:      fence.Username,
		},
		write[soundSend, soundSent]{
			Name:  "soundboard_send_sound",
			Title: "Play a sound",
			Doc: `Plays a sound in a voice channel. The bot must be connected there, which takes a gateway connection,
				and be neither deafened, muted nor in a stage's audience.`,
			Route:     "POST /channels/{channel_id}/send-soundboard-sound",
			Scope:     mcpcore.ChannelScope,
			Crosses:   true,
			Needs:     discord.ViewChannel | discord.Speak | discord.UseSoundboard,
			NeedsWhen: []mcpcore.Need{{Arg: "source_guild_id", Permissions: discord.UseExternalSounds}},
			NeedsIn:   "channel_id",
		},
	}}
}

const routeSound = "GET /guilds/{guild_id}/soundboard-sounds/{sound_id}"

type soundsList struct {
	guildRef
	offset
}

// soundOf is a sound of a guild.
type soundOf struct {
	guildRef
	SoundID discord.SoundID `json:"sound_id" jsonschema:"sound"`
}

type soundTarget struct {
	soundOf
	auditReason
}

type soundCreate struct {
	guildRef
	Name      string          `json:"name" jsonschema:"name" minLength:"2" maxLength:"32"`
	Sound     string          `json:"sound" as:"sound" maxBytes:"524288" jsonschema:"data URI of an mp3 or ogg (data:audio/mpeg, data:audio/ogg), 512 KiB decoded; paths and addresses are not read" minLength:"1"`
	Volume    float64         `json:"volume,omitempty" jsonschema:"0 to 1" minimum:"0" maximum:"1" default:"1"`
	EmojiID   discord.EmojiID `json:"emoji_id,omitempty" jsonschema:"a custom emoji"`
	EmojiName string          `json:"emoji_name,omitempty" jsonschema:"a unicode emoji" minLength:"1" maxLength:"32"`
	auditReason
}

type soundModify struct {
	soundOf
	Name      string           `json:"name,omitempty" jsonschema:"name" minLength:"2" maxLength:"32"`
	Volume    *float64         `json:"volume,omitempty" jsonschema:"0 to 1; null is 1" minimum:"0" maximum:"1"`
	EmojiID   *discord.EmojiID `json:"emoji_id,omitempty" jsonschema:"a custom emoji; null removes it"`
	EmojiName *string          `json:"emoji_name,omitempty" jsonschema:"a unicode emoji; null removes it" minLength:"1" maxLength:"32"`
	auditReason
}

type soundSend struct {
	ChannelID discord.ChannelID `json:"channel_id" jsonschema:"voice channel the bot is in"`
	SoundID   discord.SoundID   `json:"sound_id" jsonschema:"sound of the guild, or one of Discord's own"`
	SourceID  *discord.GuildID  `json:"source_guild_id,omitempty" jsonschema:"guild of the sound, where it is another"`
}

// soundEmoji refuses two emojis on one sound, and a name that is no emoji.
var soundEmoji = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	name := call.Text("emoji_name")
	switch {
	case name != "" && call.Text("emoji_id") != "":
		return contradiction("emoji_name", "excludes emoji_id; a sound has one emoji")
	case name != "" && !emoji.Is(name):
		return &mcpcore.Issue{Path: "emoji_name", Message: "must be one unicode emoji such as 🦆; for a custom one give emoji_id", Code: mcpcore.IssueFormat}
	}
	return nil
}}

// readSound demands a data URI of a sound that Discord takes.
func readSound(s string) (string, error) {
	kind, data, err := decodeDataURI(s)
	switch {
	case err != nil:
		return "", err
	case kind != "audio/mpeg" && kind != "audio/mp3" && kind != "audio/ogg":
		return "", fmt.Errorf("must be an mp3 (data:audio/mpeg) or ogg (data:audio/ogg), this is %.40s", kind)
	case len(data) == 0:
		return "", errors.New("must not be empty")
	}
	return s, nil
}

// soundSaved is a sound after it was made or changed.
type soundSaved struct {
	SoundID   discord.SoundID  `json:"sound_id"`
	Name      string           `json:"name"`
	Volume    float64          `json:"volume"`
	EmojiID   *discord.EmojiID `json:"emoji_id"`
	EmojiName *string          `json:"emoji_name"`
}

type soundItem struct {
	soundSaved
	Available bool           `json:"available"`
	UserID    discord.UserID `json:"user_id,omitempty" from:"user.id" jsonschema:"who uploaded it"`
}

type soundOne struct {
	soundItem
	GuildID       discord.GuildID `json:"guild_id"`
	UntrustedText string          `json:"untrusted_text" from:"@derived"`
}

func (v *soundOne) derive(*mcpcore.Call) {
	v.UntrustedText = fencedJSON(fence.Username, struct {
		Name string `json:"name"`
	}{v.Name})
}

type soundsPage struct {
	Sounds []soundItem `json:"sounds" from:"items"`
	part
	UntrustedNames string `json:"untrusted_names" from:"@derived"`
}

func (v *soundsPage) derive(*mcpcore.Call) { v.UntrustedNames = soundNames(v.Sounds) }

type defaultSoundsPage struct {
	Sounds         []soundItem `json:"sounds" from:"@reply"`
	Count          int         `json:"count" from:"@count"`
	UntrustedNames string      `json:"untrusted_names" from:"@derived"`
}

func (v *defaultSoundsPage) derive(*mcpcore.Call) { v.UntrustedNames = soundNames(v.Sounds) }

func soundNames(sounds []soundItem) string {
	return fencedNames(fence.Username, sounds, func(s soundItem) titled[discord.SoundID] { return titled[discord.SoundID]{s.SoundID, s.Name} })
}

type soundDeleted struct {
	Deleted bool            `json:"deleted" from:"@true"`
	SoundID discord.SoundID `json:"sound_id" from:"@arg"`
	GuildID discord.GuildID `json:"guild_id" from:"@arg"`
}

type soundSent struct {
	Sent      bool              `json:"sent" from:"@true"`
	ChannelID discord.ChannelID `json:"channel_id" from:"@arg"`
	SoundID   discord.SoundID   `json:"sound_id" from:"@arg"`
}

func soundFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var s struct {
		Name   string  `json:"name"`
		Volume float64 `json:"volume"`
		User   person  `json:"user"`
	}
	if err := a.do(ctx, routeSound, sub{}, &s); err != nil {
		return nil, err
	}
	return mcpcore.Facts{
		{Name: "sound", Value: s.Name}, {Name: "volume", Value: strconv.FormatFloat(s.Volume, 'f', -1, 64)}, {Name: "uploaded by", Value: s.User.String()},
	}, nil
}
