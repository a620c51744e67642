package discordtools

import (
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// voice reads voice regions and who is in voice.
//
// Source: https://docs.discord.com/developers/resources/voice.
func voice() category {
	return category{Name: "voice", Scope: mcpcore.GuildScope, Tools: []declaration{
		read[struct{}, voiceRegions]{
			Name:  "voice_list_regions",
			Title: "List voice regions",
			Doc:   `Lists the voice regions that a voice or stage channel's rtc_region can name, in any guild.`,
			Route: "GET /voice/regions",
			Scope: mcpcore.GlobalScope,
		},
		read[guildRef, voiceState]{
			Name:  "voice_get_current_user_state",
			Title: "Get the bot's voice state",
			Doc:   `Reads the bot's own voice connection in a guild. When it is in no voice channel this is DISCORD_NOT_FOUND.`,
			Route: "GET /guilds/{guild_id}/voice-states/@me",
		},
		read[memberRef, voiceState]{
			Name:  "voice_get_user_state",
			Title: "Get a member's voice state",
			Doc:   `Reads a member's voice connection: channel, mute, deafen, stage. When they are in no voice channel this is DISCORD_NOT_FOUND.`,
			Route: "GET /guilds/{guild_id}/voice-states/{user_id}",
		},
	}}
}

type voiceRegions struct {
	Regions []voiceRegion `json:"regions" from:"@reply"`
	Count   int           `json:"count" from:"@count"`
}

type voiceRegion struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Optimal    bool   `json:"optimal"`
	Deprecated bool   `json:"deprecated"`
	Custom     bool   `json:"custom"`
}

type voiceState struct {
	GuildID    discord.GuildID    `json:"guild_id" from:"@arg"`
	ChannelID  *discord.ChannelID `json:"channel_id"`
	UserID     discord.UserID     `json:"user_id"`
	SessionID  string             `json:"session_id"`
	Deaf       bool               `json:"deaf"`
	Mute       bool               `json:"mute"`
	SelfDeaf   bool               `json:"self_deaf"`
	SelfMute   bool               `json:"self_mute"`
	SelfStream bool               `json:"self_stream,omitempty"`
	SelfVideo  bool               `json:"self_video"`
	Suppress   bool               `json:"suppress" jsonschema:"in the audience of a stage"`
	Request    *string            `json:"request_to_speak_timestamp"`
}

// voiceModifySelf changes the bot's part on a stage.
//
// Source: https://docs.discord.com/developers/resources/voice#modify-current-user-voice-state.
type voiceModifySelf struct {
	guildRef
	ChannelID discord.ChannelID `json:"channel_id,omitempty" jsonschema:"stage channel the bot is in"`
	Suppress  bool              `json:"suppress,omitempty" jsonschema:"true for the audience, false to speak"`
	Request   *string           `json:"request_to_speak_timestamp,omitempty" jsonschema:"raises the hand: now or later, with an offset; null lowers it" format:"date-time"`
}

type voiceModifiedSelf struct {
	OK      bool            `json:"ok" from:"@true"`
	GuildID discord.GuildID `json:"guild_id" from:"@arg"`
}

type voiceModifyUser struct {
	memberRef
	ChannelID discord.ChannelID `json:"channel_id" jsonschema:"stage channel they are in"`
	Suppress  bool              `json:"suppress,omitempty" jsonschema:"true for the audience, false to let them speak"`
	auditReason
}

type voiceModifiedUser struct {
	OK        bool              `json:"ok" from:"@true"`
	UserID    discord.UserID    `json:"user_id" from:"@arg"`
	ChannelID discord.ChannelID `json:"channel_id" from:"@arg"`
}
