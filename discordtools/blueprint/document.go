package blueprint

import (
	"encoding/json"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// Version is the version of the document's form.
const Version = "guild_blueprint.v1"

// Symbol is a key by which a document names one of its parts.
type Symbol string

// JSONSchema is the schema that a symbol publishes.
func (Symbol) JSONSchema() string { return `{"type":"string","pattern":"^[a-z][a-z0-9_]{0,63}$"}` }

// Document is a blueprint. A part that is absent is left alone; so is a setting
// that is absent or null. Lists are in the order that is wanted, roles from the
// lowest up.
//
// Members that a comment calls derived follow from the others: [Parse] replaces
// what it is given there.
type Document struct {
	SchemaVersion string     `json:"schema_version" enum:"guild_blueprint.v1"`
	PolicyVersion string     `json:"policy_version" optional:"true" enum:"community-safe.v1" jsonschema:"derived: the safety rules that it was checked by"`
	Profile       string     `json:"profile,omitempty" maxLength:"64" jsonschema:"the family of its archetype"`
	Archetype     string     `json:"archetype,omitempty" maxLength:"64" jsonschema:"the archetype that it was compiled from"`
	Size          string     `json:"size,omitempty" enum:"small,large" jsonschema:"of the archetype"`
	Capabilities  []string   `json:"design_capabilities,omitempty" maxItems:"32" jsonschema:"what the request asked for"`
	Guild         *Settings  `json:"guild,omitempty" jsonschema:"the guild's own settings"`
	Roles         []Role     `json:"roles" optional:"true" maxItems:"250" jsonschema:"from the lowest up"`
	RoleOrder     []Symbol   `json:"role_order" optional:"true" maxItems:"250" jsonschema:"the keys of roles, from the lowest up; absent is the order of roles"`
	Categories    []Category `json:"categories" optional:"true" maxItems:"500"`
	Channels      []Channel  `json:"channels" optional:"true" maxItems:"500"`

	Onboarding *Onboarding   `json:"onboarding,omitempty" jsonschema:"replaces the guild's; needs Community"`
	AutoMod    *AutoMod      `json:"automod,omitempty"`
	Components *Publications `json:"components_v2,omitempty" jsonschema:"messages that the bot sends once"`

	Basis      *Basis      `json:"structure_basis,omitempty" jsonschema:"what it was compiled from; says nothing about the guild"`
	Bot        *Boundary   `json:"bot_boundary,omitempty" jsonschema:"derived: what the bot needs"`
	Resolution *Resolution `json:"resolution,omitempty" jsonschema:"derived: how keys become ids"`
	Safety     *Safety     `json:"safety,omitempty" jsonschema:"derived: what the check found"`
}

// Settings are a guild's own.
type Settings struct {
	Name          string     `json:"name,omitempty" minLength:"2" maxLength:"100"`
	Description   *string    `json:"description,omitempty" maxLength:"300"`
	Locale        string     `json:"preferred_locale,omitempty" minLength:"2" maxLength:"20"`
	Verification  *int       `json:"verification_level,omitempty" enum:"0,1,2,3,4"`
	Notifications *int       `json:"default_message_notifications,omitempty" enum:"0,1"`
	ContentFilter *int       `json:"explicit_content_filter,omitempty" enum:"0,1,2"`
	AFKChannel    Symbol     `json:"afk_channel_key,omitempty" jsonschema:"a voice channel"`
	AFKTimeout    *int       `json:"afk_timeout,omitempty" enum:"60,300,900,1800,3600"`
	SystemChannel Symbol     `json:"system_channel_key,omitempty" jsonschema:"a text channel"`
	Community     *Community `json:"community,omitempty" jsonschema:"makes the guild a Community; never ends it"`
	Welcome       *Welcome   `json:"welcome_screen,omitempty" jsonschema:"replaces the guild's; needs Community"`
}

// Community is what a guild needs to be a Community.
type Community struct {
	Required      bool   `json:"required" optional:"true" enum:"true" jsonschema:"derived"`
	RulesChannel  Symbol `json:"rules_channel_key" jsonschema:"a text channel for everyone"`
	Updates       Symbol `json:"public_updates_channel_key" jsonschema:"a text channel"`
	SafetyChannel Symbol `json:"safety_alerts_channel_key,omitempty" jsonschema:"a text channel"`
}

// Welcome is a welcome screen.
type Welcome struct {
	Enabled     bool             `json:"enabled"`
	Description string           `json:"description" optional:"true" maxLength:"140"`
	Keys        []Symbol         `json:"channel_keys" optional:"true" maxItems:"5" jsonschema:"in place of channels; each is described by its topic"`
	Channels    []WelcomeChannel `json:"channels,omitempty" maxItems:"5"`
}

// WelcomeChannel is a channel that a welcome screen points to.
type WelcomeChannel struct {
	Channel     Symbol  `json:"channel_key"`
	Description string  `json:"description" minLength:"1" maxLength:"50"`
	Emoji       *string `json:"emoji_name,omitempty" maxLength:"100" jsonschema:"a Unicode emoji"`
}

// Role is a role. One that Exists must be there already, under that name, and
// is neither made nor changed: it is named here for overwrites and the like.
type Role struct {
	Key         Symbol                   `json:"key"`
	Name        string                   `json:"name" minLength:"1" maxLength:"100"`
	Position    int                      `json:"position" optional:"true" minimum:"0" jsonschema:"derived: 1 is the lowest"`
	Color       int                      `json:"color" optional:"true" minimum:"0" maximum:"16777215"`
	Hoist       bool                     `json:"hoist" optional:"true"`
	Mentionable bool                     `json:"mentionable" optional:"true"`
	Permissions []discord.PermissionName `json:"permissions" optional:"true" maxItems:"64" uniqueItems:"true"`
	Exists      bool                     `json:"exists,omitempty" jsonschema:"it must be there already and is left as it is"`
}

// Category is a category.
type Category struct {
	Key        Symbol      `json:"key"`
	Name       string      `json:"name" minLength:"1" maxLength:"100"`
	Position   int         `json:"position" optional:"true" minimum:"0" jsonschema:"derived: its place in the list"`
	Private    bool        `json:"private" optional:"true" jsonschema:"hidden from everyone; no channel in it may be opened to everyone"`
	Overwrites []Overwrite `json:"overwrites,omitzero" maxItems:"100"`
}

// Overwrite is what a subject may do in a channel. A document speaks for the
// subjects that it knows, @everyone, the bot and its own roles; overwrites of
// others stay as they are.
type Overwrite struct {
	Subject Subject                  `json:"subject"`
	Allow   []discord.PermissionName `json:"allow" optional:"true" maxItems:"64" uniqueItems:"true"`
	Deny    []discord.PermissionName `json:"deny" optional:"true" maxItems:"64" uniqueItems:"true"`
}

// Subject is whom an overwrite is about.
type Subject struct {
	Kind string `json:"kind" enum:"everyone,bot,role"`
	Key  Symbol `json:"key,omitempty" jsonschema:"of a role"`
}

// Channel is a channel. Overwrites that are absent are left alone, and a new
// channel gets its category's; an empty list stands for its category's as well.
type Channel struct {
	Key        Symbol      `json:"key"`
	Name       string      `json:"name" minLength:"1" maxLength:"100"`
	Type       Kind        `json:"type"`
	Parent     *Symbol     `json:"parent_key,omitempty" jsonschema:"its category; absent for none"`
	Position   int         `json:"position" optional:"true" minimum:"0" jsonschema:"derived: its place in its category"`
	Topic      *string     `json:"topic" optional:"true" maxLength:"4096"`
	SlowMode   *int        `json:"slowmode_seconds,omitempty" minimum:"0" maximum:"21600"`
	NSFW       *bool       `json:"nsfw,omitempty"`
	Default    bool        `json:"default_onboarding" optional:"true" jsonschema:"derived: it is one of onboarding's default channels"`
	Sendable   bool        `json:"everyone_sendable" optional:"true" jsonschema:"derived: its overwrites let everyone write"`
	Tags       []Tag       `json:"forum_tags,omitzero" maxItems:"20"`
	Overwrites []Overwrite `json:"overwrites,omitzero" maxItems:"100"`

	Bitrate        *int    `json:"bitrate,omitempty" minimum:"8000" maximum:"384000"`
	UserLimit      *int    `json:"user_limit,omitempty" minimum:"0" maximum:"10000"`
	ThreadArchive  *int    `json:"thread_archive_minutes,omitempty" enum:"60,1440,4320,10080"`
	ThreadSlowMode *int    `json:"thread_slowmode_seconds,omitempty" minimum:"0" maximum:"21600"`
	SortOrder      *int    `json:"forum_sort_order,omitempty" enum:"0,1"`
	Layout         *int    `json:"forum_layout,omitempty" enum:"0,1,2"`
	Reaction       *string `json:"forum_reaction_emoji,omitempty" maxLength:"100" jsonschema:"a Unicode emoji"`
	RequireTag     *bool   `json:"forum_require_tag,omitempty"`
}

// Tag is a tag of a forum.
type Tag struct {
	Key       Symbol  `json:"key"`
	Name      string  `json:"name" minLength:"1" maxLength:"20"`
	Moderated bool    `json:"moderated" optional:"true"`
	Emoji     *string `json:"emoji_name" optional:"true" maxLength:"100" jsonschema:"a Unicode emoji"`
}

// Onboarding is what a guild asks who is new.
type Onboarding struct {
	Enabled      bool     `json:"enabled"`
	Mode         int      `json:"mode" optional:"true" enum:"0,1" jsonschema:"0 counts the default channels alone towards Discord's minimum"`
	Defaults     []Symbol `json:"default_channel_keys" optional:"true" maxItems:"500" uniqueItems:"true"`
	Prompts      []Prompt `json:"prompts" optional:"true" maxItems:"15"`
	Verification string   `json:"verification,omitempty" enum:"api_readback_then_fresh_member_client_check" jsonschema:"derived"`
}

// Prompt is a question.
type Prompt struct {
	Key          Symbol   `json:"key"`
	Type         int      `json:"type" optional:"true" enum:"0,1" jsonschema:"0 multiple choice, 1 a dropdown"`
	Title        string   `json:"title" minLength:"1" maxLength:"100"`
	Required     bool     `json:"required" optional:"true"`
	InOnboarding bool     `json:"in_onboarding" optional:"true"`
	SingleSelect bool     `json:"single_select" optional:"true"`
	Options      []Option `json:"options" minItems:"1" maxItems:"50"`
}

// Option is an answer and what choosing it gives.
type Option struct {
	Key         Symbol   `json:"key"`
	Title       string   `json:"title" minLength:"1" maxLength:"50"`
	Description string   `json:"description" optional:"true" maxLength:"100"`
	Emoji       *string  `json:"emoji_name,omitempty" maxLength:"100" jsonschema:"a Unicode emoji"`
	Roles       []Symbol `json:"role_keys" optional:"true" maxItems:"50" uniqueItems:"true"`
	Channels    []Symbol `json:"channel_keys" optional:"true" maxItems:"50" uniqueItems:"true"`
}

// AutoMod is a guild's AutoMod, as far as the document speaks of it.
type AutoMod struct {
	Rules        []Rule `json:"rules" maxItems:"10"`
	Verification string `json:"verification,omitempty" enum:"read_after_write" jsonschema:"derived"`
}

// Rule is an AutoMod rule.
type Rule struct {
	Key            Symbol   `json:"key"`
	Name           string   `json:"name" minLength:"1" maxLength:"100"`
	Event          int      `json:"event_type" enum:"1,2" jsonschema:"1 messages, 2 profiles"`
	Trigger        int      `json:"trigger_type" enum:"1,3,4,5,6" jsonschema:"1 words, 3 spam, 4 word lists, 5 mentions, 6 profiles"`
	Keywords       []string `json:"keyword_filter" optional:"true" maxItems:"1000" minLength:"1" maxLength:"60"`
	Patterns       []string `json:"regex_patterns" optional:"true" maxItems:"10" minLength:"1" maxLength:"260"`
	Presets        []int    `json:"presets" optional:"true" maxItems:"3" enum:"1,2,3" uniqueItems:"true"`
	Allowed        []string `json:"allow_list" optional:"true" maxItems:"1000" minLength:"1" maxLength:"60"`
	MentionLimit   *int     `json:"mention_total_limit" optional:"true" minimum:"0" maximum:"50"`
	RaidProtection *bool    `json:"mention_raid_protection_enabled" optional:"true"`
	Actions        []Action `json:"actions" minItems:"1" maxItems:"5"`
	ExemptRoles    []Symbol `json:"exempt_role_keys" optional:"true" maxItems:"20" uniqueItems:"true"`
	ExemptChannels []Symbol `json:"exempt_channel_keys" optional:"true" maxItems:"50" uniqueItems:"true"`
	Enabled        bool     `json:"enabled"`
}

// Action is one thing that a rule does.
type Action struct {
	Type    int     `json:"type" enum:"1,2,3,4" jsonschema:"1 block, 2 alert, 3 timeout, 4 block the member"`
	Alert   *Symbol `json:"alert_channel_key" optional:"true" jsonschema:"of 2"`
	Seconds *int    `json:"duration_seconds" optional:"true" minimum:"0" maximum:"2419200" jsonschema:"of 3"`
	Message *string `json:"custom_message" optional:"true" maxLength:"150" jsonschema:"of 1"`
}

// Publications are messages of components.
type Publications struct {
	Flags        int           `json:"flags,omitempty" enum:"32768" jsonschema:"derived"`
	Validate     bool          `json:"validate_before_send,omitempty" jsonschema:"derived"`
	Placeholders bool          `json:"resolve_channel_placeholders_before_send,omitempty" jsonschema:"derived"`
	Publications []Publication `json:"publications" maxItems:"50"`
}

// Publication is a message that the bot sends into a channel, once. In its
// texts <#{{channel:key}}> stands for a channel of the document. It notifies
// nobody.
type Publication struct {
	Key        Symbol            `json:"key"`
	Channel    Symbol            `json:"channel_key"`
	Mentions   *noMentions       `json:"allowed_mentions,omitempty" jsonschema:"derived: nobody"`
	Components []json.RawMessage `json:"components" minItems:"1" maxItems:"40" jsonschema:"a layout as components_v2_validate takes it"`
}

// noMentions is the only allowed_mentions that a publication has.
type noMentions struct {
	Parse []string `json:"parse" maxItems:"0"`
}

// Kind is a type of channel.
type Kind string

// The kinds of channels.
const (
	Text         Kind = "text"
	Voice        Kind = "voice"
	Announcement Kind = "announcement"
	Stage        Kind = "stage"
	Forum        Kind = "forum"
	Media        Kind = "media"
)

// JSONSchema is the schema that a kind publishes.
func (Kind) JSONSchema() string {
	return `{"type":"string","enum":["text","voice","announcement","stage","forum","media"]}`
}

var channelTypes = map[Kind]discord.ChannelType{
	Text: discord.GuildText, Voice: discord.GuildVoice, Announcement: discord.GuildAnnouncement,
	Stage: discord.GuildStageVoice, Forum: discord.GuildForum, Media: discord.GuildMedia,
}

// kindOf is the kind of a type of channel, "" for one that documents do not
// speak of.
func kindOf(t discord.ChannelType) Kind {
	for k, of := range channelTypes {
		if of == t {
			return k
		}
	}
	return ""
}

// needsCommunity reports whether Discord has such channels in Communities alone.
func (k Kind) needsCommunity() bool { return k != Text && k != Voice }

// posts reports whether the channel holds posts in place of messages.
func (k Kind) posts() bool { return k == Forum || k == Media }

// voice reports whether Discord lists it among the voice channels.
func (k Kind) voice() bool { return k == Voice || k == Stage }
