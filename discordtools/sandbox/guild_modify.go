package sandbox

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// guildSettingRoutes change a guild's own settings.
var guildSettingRoutes = []route{
	{method: "PATCH", path: "/guilds/{guild_id}", handle: inGuild(discord.ManageGuild, modifyGuild)},
	{method: "GET", path: "/guilds/{guild_id}/vanity-url", handle: inGuild(discord.ManageGuild, getVanity)},
	{method: "PUT", path: "/guilds/{guild_id}/incident-actions", handle: inGuild(discord.ManageGuild, setIncidents)},
}

const auditGuildUpdate = 1

var (
	errCommunityChannel = badRequest(50074, "Cannot delete a channel required for Community guilds")
	errNeedsBoosts      = forbidden(50101, "This server needs more boosts to perform this action")
)

// guildForm is a change of a guild's settings.
//
// Source: https://docs.discord.com/developers/resources/guild#modify-guild.
type guildForm struct {
	Name            opt[string]            `json:"name" minLength:"2" maxLength:"100" null:"no"`
	Description     opt[string]            `json:"description" maxLength:"300"`
	Icon            opt[string]            `json:"icon"`
	Banner          opt[string]            `json:"banner"`
	Splash          opt[string]            `json:"splash"`
	DiscoverySplash opt[string]            `json:"discovery_splash"`
	HomeHeader      opt[string]            `json:"home_header"`
	Verification    opt[int]               `json:"verification_level" enum:"0,1,2,3,4"`
	Notifications   opt[int]               `json:"default_message_notifications" enum:"0,1"`
	ContentFilter   opt[int]               `json:"explicit_content_filter" enum:"0,1,2"`
	Locale          opt[string]            `json:"preferred_locale"`
	AFKChannel      opt[discord.ChannelID] `json:"afk_channel_id"`
	AFKTimeout      opt[int]               `json:"afk_timeout" enum:"60,300,900,1800,3600"`
	SystemChannel   opt[discord.ChannelID] `json:"system_channel_id"`
	SystemFlags     opt[int]               `json:"system_channel_flags" minimum:"0"`
	RulesChannel    opt[discord.ChannelID] `json:"rules_channel_id"`
	UpdatesChannel  opt[discord.ChannelID] `json:"public_updates_channel_id"`
	SafetyChannel   opt[discord.ChannelID] `json:"safety_alerts_channel_id"`
	Features        opt[[]string]          `json:"features"`
	ProgressBar     opt[bool]              `json:"premium_progress_bar_enabled"`
	Owner           opt[discord.UserID]    `json:"owner_id" null:"no"`
}

func modifyGuild(x *exchange, g *guild) (answer, error) {
	var f guildForm
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	now := g.Guild
	now.Features = slices.Clone(g.Features)
	if err := x.ownership(g, f.Owner, &now); err != nil {
		return refuse(err)
	}
	if err := x.features(g, f.Features, &now); err != nil {
		return refuse(err)
	}
	if err := x.guildChannelsOf(g, f, &now); err != nil {
		return refuse(err)
	}
	if err := images(f, &now); err != nil {
		return refuse(err)
	}
	f.Name.into(&now.Name)
	f.Description.into(&now.Description)
	f.Verification.into(&now.Verification)
	f.Notifications.into(&now.Notifications)
	f.ContentFilter.into(&now.ContentFilter)
	f.Locale.into(&now.Locale)
	f.AFKTimeout.into(&now.AFKTimeout)
	f.SystemFlags.into(&now.SystemFlags)
	f.ProgressBar.into(&now.ProgressBar)
	old := g.Guild
	g.Guild = now
	if changes := guildChanges(old, now); len(changes) > 0 {
		x.audit(g.ID, auditGuildUpdate, string(g.ID), AuditOptions{}, changes...)
	}
	return ok(viewGuild(g))
}

// ownership hands the guild over, which only its owner can.
func (x *exchange) ownership(g *guild, to opt[discord.UserID], now *Guild) error {
	switch {
	case !to.has() || to.value == g.Owner:
		return nil
	case g.Owner != x.actor:
		return errMissingPermissions
	case g.members[to.value] == nil:
		return errUnknownMember
	}
	now.Owner = to.value
	return nil
}

// features changes those that can be changed; all others stay as they are.
//
// Source: https://docs.discord.com/developers/resources/guild#guild-object-mutable-guild-features.
func (x *exchange) features(g *guild, want opt[[]string], now *Guild) error {
	if !want.has() {
		return nil
	}
	for _, feature := range []string{"COMMUNITY", "DISCOVERABLE", "INVITES_DISABLED", "RAID_ALERTS_DISABLED"} {
		on := slices.Contains(want.value, feature)
		if on == g.has(feature) {
			continue
		}
		if (feature == "COMMUNITY" || feature == "DISCOVERABLE") && !x.world.inGuild(g, x.actor).Has(discord.Administrator) {
			return errMissingPermissions
		}
		now.Features = slices.DeleteFunc(now.Features, func(f string) bool { return f == feature })
		if on {
			now.Features = append(now.Features, feature)
		}
	}
	return nil
}

// guildChannelsOf sets the channels with a task. A Community guild cannot do
// without its rules and updates channels.
func (x *exchange) guildChannelsOf(g *guild, f guildForm, now *Guild) error {
	for _, c := range []struct {
		name      string
		sent      opt[discord.ChannelID]
		to        *discord.ChannelID
		kind      discord.ChannelType
		community bool
	}{
		{"afk_channel_id", f.AFKChannel, &now.AFKChannel, discord.GuildVoice, false},
		{"system_channel_id", f.SystemChannel, &now.SystemChannel, discord.GuildText, false},
		{"rules_channel_id", f.RulesChannel, &now.RulesChannel, discord.GuildText, true},
		{"public_updates_channel_id", f.UpdatesChannel, &now.UpdatesChannel, discord.GuildText, true},
		{"safety_alerts_channel_id", f.SafetyChannel, &now.SafetyChannel, discord.GuildText, false},
	} {
		if c.sent.has() {
			ch := x.channels[c.sent.value]
			switch {
			case ch == nil || ch.Guild != g.ID:
				return invalid(c.name, "CHANNEL_INVALID", "Channel is not part of this guild.")
			case ch.Type != c.kind:
				return invalid(c.name, "CHANNEL_TYPE_INVALID", "Invalid channel type.")
			}
		} else if c.sent.null && c.community && slices.Contains(now.Features, "COMMUNITY") {
			return errCommunityChannel
		}
		c.sent.into(c.to)
	}
	if slices.Contains(now.Features, "COMMUNITY") && (now.RulesChannel == "" || now.UpdatesChannel == "") {
		return invalid("rules_channel_id", "GUILD_COMMUNITY_CHANNELS_REQUIRED", "A Community guild needs a rules and an updates channel.")
	}
	return nil
}

// images sets the pictures, each kept as the hash of its data.
func images(f guildForm, now *Guild) error {
	for _, p := range []struct {
		name    string
		sent    opt[string]
		to      *string
		feature string // without it the guild has no such picture
	}{
		{"icon", f.Icon, &now.Icon, ""},
		{"banner", f.Banner, &now.Banner, "BANNER"},
		{"splash", f.Splash, &now.Splash, "INVITE_SPLASH"},
		{"discovery_splash", f.DiscoverySplash, &now.DiscoverySplash, ""},
		{"home_header", f.HomeHeader, &now.HomeHeader, ""},
	} {
		if !p.sent.has() {
			p.sent.into(p.to)
			continue
		}
		if p.feature != "" && !now.has(p.feature) {
			return errNeedsBoosts
		}
		hash, err := pictureHash(p.name, p.sent.value)
		if err != nil {
			return err
		}
		*p.to = hash
	}
	return nil
}

// pictureHash is the hash by which a picture in a data URI is known.
func pictureHash(path, uri string) (string, error) {
	kind, data, found := strings.Cut(uri, ";base64,")
	raw, err := base64.StdEncoding.DecodeString(data)
	if !found || !strings.HasPrefix(kind, "data:image/") || err != nil || len(raw) == 0 {
		return "", invalid(path, "IMAGE_INVALID", "Invalid image data")
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16]), nil
}

func guildChanges(old, now Guild) (all []AuditChange) {
	add := func(c []AuditChange) { all = append(all, c...) }
	add(changed("name", old.Name, now.Name))
	add(changed("description", textOrNull(old.Description), textOrNull(now.Description)))
	add(changed("icon_hash", textOrNull(old.Icon), textOrNull(now.Icon)))
	add(changed("banner_hash", textOrNull(old.Banner), textOrNull(now.Banner)))
	add(changed("splash_hash", textOrNull(old.Splash), textOrNull(now.Splash)))
	add(changed("discovery_splash_hash", textOrNull(old.DiscoverySplash), textOrNull(now.DiscoverySplash)))
	add(changed("owner_id", old.Owner, now.Owner))
	add(changed("verification_level", old.Verification, now.Verification))
	add(changed("default_message_notifications", old.Notifications, now.Notifications))
	add(changed("explicit_content_filter", old.ContentFilter, now.ContentFilter))
	add(changed("preferred_locale", old.Locale, now.Locale))
	add(changed("afk_channel_id", textOrNull(old.AFKChannel), textOrNull(now.AFKChannel)))
	add(changed("afk_timeout", old.AFKTimeout, now.AFKTimeout))
	add(changed("system_channel_id", textOrNull(old.SystemChannel), textOrNull(now.SystemChannel)))
	add(changed("system_channel_flags", old.SystemFlags, now.SystemFlags))
	add(changed("rules_channel_id", textOrNull(old.RulesChannel), textOrNull(now.RulesChannel)))
	add(changed("public_updates_channel_id", textOrNull(old.UpdatesChannel), textOrNull(now.UpdatesChannel)))
	add(changed("safety_alerts_channel_id", textOrNull(old.SafetyChannel), textOrNull(now.SafetyChannel)))
	add(changed("features", list(old.Features), list(now.Features)))
	add(changed("premium_progress_bar_enabled", old.ProgressBar, now.ProgressBar))
	add(changed("widget_enabled", old.WidgetEnabled, now.WidgetEnabled))
	add(changed("widget_channel_id", textOrNull(old.WidgetChannel), textOrNull(now.WidgetChannel)))
	return all
}

// setIncidents sets the deadlines that are sent, at most a day ahead; null ends
// one. Discord takes no reason for it and its audit log has no entry of it.
func setIncidents(x *exchange, g *guild) (answer, error) {
	var f struct {
		Invites opt[time.Time] `json:"invites_disabled_until"`
		DMs     opt[time.Time] `json:"dms_disabled_until"`
	}
	if err := x.bind(&f); err != nil {
		return refuse(err)
	}
	for name, until := range map[string]opt[time.Time]{"invites_disabled_until": f.Invites, "dms_disabled_until": f.DMs} {
		if until.has() && until.value.After(x.now.Add(24*time.Hour)) {
			return refuse(invalid(name, "DATE_TIME_TOO_FAR", "Must be at most 24 hours ahead."))
		}
	}
	f.Invites.into(&g.InvitesOffTill)
	f.DMs.into(&g.DMsOffTill)
	return ok(incidentsView{stampOrNull(g.InvitesOffTill), stampOrNull(g.DMsOffTill)})
}

type vanityView struct {
	Code *string `json:"code"`
	Uses int     `json:"uses"`
}

// getVanity answers no code for a guild that has none. Uses are not counted.
func getVanity(_ *exchange, g *guild) (answer, error) {
	return ok(vanityView{Code: textOrNull(g.Vanity)})
}
