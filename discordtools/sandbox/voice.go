package sandbox

import (
	"fmt"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// voiceRoutes are voice regions and who is in voice.
var voiceRoutes = []route{
	{method: "GET", path: "/voice/regions", handle: listRegions},
	{method: "GET", path: "/guilds/{guild_id}/regions", handle: inGuild(0, func(x *exchange, _ *guild) (answer, error) { return listRegions(x) })},
	{method: "GET", path: "/guilds/{guild_id}/voice-states/@me", handle: inGuild(0, getMyVoice)},
	{method: "GET", path: "/guilds/{guild_id}/voice-states/{user_id}", handle: inGuild(0, getVoice)},
	{method: "PATCH", path: "/guilds/{guild_id}/voice-states/@me", handle: inGuild(0, modifyMyVoice)},
	{method: "PATCH", path: "/guilds/{guild_id}/voice-states/{user_id}", handle: inGuild(0, modifyVoice)},
	{method: "PUT", path: "/channels/{channel_id}/voice-status", handle: inChannel(discord.SetVoiceChannelStatus, setVoiceStatus)},
}

// Actions of the audit log about the status of a voice channel.
const (
	auditVoiceStatusSet    = 192
	auditVoiceStatusDelete = 193
)

var errUnknownVoice = notFound(10065, "Unknown Voice State")

// VoiceState is someone's connection to a voice or stage channel.
type VoiceState struct {
	User                  discord.UserID
	Channel               discord.ChannelID
	SelfMute, SelfDeaf    bool
	SelfStream, SelfVideo bool
	Suppress              bool      // in the audience of a stage
	RequestToSpeak        time.Time // zero is none
}

// AddVoiceState puts a member into a voice channel, or elsewhere if they are in
// one.
func (d *Discord) AddVoiceState(in discord.GuildID, s VoiceState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := known(d.world.guilds, in)
	known(g.members, s.User)
	if c := known(d.world.channels, s.Channel); c.Type != discord.GuildVoice && c.Type != discord.GuildStageVoice {
		panic(fmt.Sprintf("sandbox: nobody can speak in %s", c.ID))
	}
	g.setVoice(s)
}

func (g *guild) setVoice(s VoiceState) {
	if g.voice == nil {
		g.voice = map[discord.UserID]*VoiceState{}
	}
	g.voice[s.User] = &s
}

// VoiceState is a member's connection, and whether there is one.
func (d *Discord) VoiceState(in discord.GuildID, u discord.UserID) (VoiceState, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.world.guilds[in]; g != nil {
		return copied(g.voice[u])
	}
	return VoiceState{}, false
}

type regionView struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Custom     bool   `json:"custom"`
	Deprecated bool   `json:"deprecated"`
	Optimal    bool   `json:"optimal"`
}

func listRegions(*exchange) (answer, error) {
	return ok([]regionView{
		{ID: "rotterdam", Name: "Rotterdam", Optimal: true},
		{ID: "us-east", Name: "US East"},
		{ID: "japan", Name: "Japan"},
		{ID: "sydney", Name: "Sydney", Deprecated: true},
	})
}

type voiceStateView struct {
	Guild      discord.GuildID   `json:"guild_id"`
	Channel    discord.ChannelID `json:"channel_id"`
	User       discord.UserID    `json:"user_id"`
	Member     memberView        `json:"member"`
	Session    string            `json:"session_id"`
	Deaf       bool              `json:"deaf"`
	Mute       bool              `json:"mute"`
	SelfDeaf   bool              `json:"self_deaf"`
	SelfMute   bool              `json:"self_mute"`
	SelfStream bool              `json:"self_stream"`
	SelfVideo  bool              `json:"self_video"`
	Suppress   bool              `json:"suppress"`
	Request    *string           `json:"request_to_speak_timestamp"`
}

func (x *exchange) voiceState(g *guild, u discord.UserID) (answer, error) {
	s, m := g.voice[u], g.members[u]
	if s == nil || m == nil {
		return refuse(errUnknownVoice)
	}
	return ok(voiceStateView{
		Guild: g.ID, Channel: s.Channel, User: u, Member: x.member(m), Session: fmt.Sprintf("%032x", number(u)),
		Deaf: m.Deaf, Mute: m.Mute, SelfDeaf: s.SelfDeaf, SelfMute: s.SelfMute, SelfStream: s.SelfStream, SelfVideo: s.SelfVideo,
		Suppress: s.Suppress, Request: stampOrNull(s.RequestToSpeak),
	})
}

func getMyVoice(x *exchange, g *guild) (answer, error) { return x.voiceState(g, x.actor) }

// getVoice tells of others whose channel the bot can see.
func getVoice(x *exchange, g *guild) (answer, error) {
	u := id[discord.UserID](x, "user_id")
	if s := g.voice[u]; s != nil && !x.allowed(x.channels[s.Channel], discord.ViewChannel) {
		return refuse(errMissingAccess)
	}
	return x.voiceState(g, u)
}

// onStage is the state of a user who is on the stage channel that a form
// names, or on any where it names none.
func (x *exchange) onStage(g *guild, u discord.UserID, named opt[discord.ChannelID]) (*VoiceState, *channel, error) {
	s := g.voice[u]
	if s == nil {
		return nil, nil, errUnknownVoice
	}
	c := x.channels[named.or(s.Channel)]
	switch {
	case c == nil || c.Guild != g.ID:
		return nil, nil, errUnknownChannel
	case c.Type != discord.GuildStageVoice:
		return nil, nil, errChannelType
	case c.ID != s.Channel:
		return nil, nil, errNotInVoice
	}
	return s, c, nil
}

// modifyMyVoice changes the bot's own part on a stage.
//
// Source: https://docs.discord.com/developers/resources/voice#modify-current-user-voice-state.
func modifyMyVoice(x *exchange, g *guild) (answer, error) {
	var f struct {
		Channel  opt[discord.ChannelID] `json:"channel_id"`
		Suppress opt[bool]              `json:"suppress"`
		Request  opt[time.Time]         `json:"request_to_speak_timestamp"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	s, c, err := x.onStage(g, x.actor, f.Channel)
	switch {
	case err != nil:
		return refuse(err)
	case f.Suppress.has() && !f.Suppress.value && !x.allowed(c, discord.MuteMembers):
		return refuse(errMissingPermissions)
	case f.Request.has() && !x.allowed(c, discord.RequestToSpeak):
		return refuse(errMissingPermissions)
	case f.Request.has() && f.Request.value.Before(x.now.Add(-time.Minute)):
		return refuse(invalid("request_to_speak_timestamp", "REQUEST_TO_SPEAK_IN_PAST", "Must be the present or later."))
	}
	if f.Suppress.has() {
		s.Suppress = f.Suppress.value
	}
	f.Request.into(&s.RequestToSpeak)
	return done()
}

// modifyVoice changes another's part on a stage.
//
// Source: https://docs.discord.com/developers/resources/voice#modify-user-voice-state.
func modifyVoice(x *exchange, g *guild) (answer, error) {
	var f struct {
		Channel  opt[discord.ChannelID] `json:"channel_id"`
		Suppress opt[bool]              `json:"suppress"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	u := id[discord.UserID](x, "user_id")
	s, c, err := x.onStage(g, u, f.Channel)
	switch {
	case err != nil:
		return refuse(err)
	case !x.allowed(c, discord.MuteMembers):
		return refuse(errMissingPermissions)
	case !f.Suppress.has():
		return done()
	}
	s.Suppress = f.Suppress.value
	if user := x.users[u]; s.Suppress {
		s.RequestToSpeak = time.Time{}
	} else if user != nil && !user.Bot {
		s.RequestToSpeak = x.now
	}
	return done()
}

// setVoiceStatus sets what a voice channel shows. Who is not in the channel must
// manage it. No route reads the status.
func setVoiceStatus(x *exchange, c *channel) (answer, error) {
	var f struct {
		Status opt[string] `json:"status" maxLength:"500"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	if c.Type != discord.GuildVoice {
		return refuse(errChannelType)
	}
	if s := x.guilds[c.Guild].voice[x.actor]; s == nil || s.Channel != c.ID {
		if err := x.need(c, discord.ManageChannels); err != nil {
			return refuse(err)
		}
	}
	f.Status.into(&c.Status)
	action := auditVoiceStatusSet
	if c.Status == "" {
		action = auditVoiceStatusDelete
	}
	x.audit(c.Guild, action, string(c.ID), AuditOptions{Channel: c.ID, Status: c.Status})
	return done()
}
