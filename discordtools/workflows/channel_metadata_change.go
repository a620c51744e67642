package workflows

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const routeRegions = "GET /guilds/{guild_id}/regions"

type channelMetadata struct {
	GuildID        discord.GuildID   `json:"guildId" jsonschema:"guild of the channel"`
	ChannelID      discord.ChannelID `json:"channelId" jsonschema:"channel to change; no thread"`
	Name           string            `json:"name,omitempty" jsonschema:"new name" minLength:"1" maxLength:"100"`
	Topic          *string           `json:"topic,omitempty" jsonschema:"topic, or a forum's guidelines; null for none; 1024 characters outside forums" minLength:"1" maxLength:"4096"`
	NSFW           bool              `json:"nsfw,omitempty" jsonschema:"whether it is age-restricted"`
	SlowMode       int               `json:"rateLimitPerUser,omitempty" jsonschema:"slow mode in seconds" minimum:"0" maximum:"21600"`
	ThreadSlowMode int               `json:"defaultThreadRateLimitPerUser,omitempty" jsonschema:"slow mode of new threads in seconds" minimum:"0" maximum:"21600"`
	ThreadArchive  int               `json:"defaultAutoArchiveDuration,omitempty" jsonschema:"minutes until new threads are archived" enum:"60,1440,4320,10080"`
	Bitrate        int               `json:"bitrate,omitempty" jsonschema:"of voice, in bits; the boosts of the guild bound it" minimum:"8000" maximum:"384000"`
	UserLimit      int               `json:"userLimit,omitempty" jsonschema:"how many may join; 0 for any; 99 at most in voice" minimum:"0" maximum:"10000"`
	Region         *string           `json:"rtcRegion,omitempty" jsonschema:"voice region of the guild; null is automatic" minLength:"1" maxLength:"100"`
	VideoQuality   int               `json:"videoQualityMode,omitempty" jsonschema:"1 auto, 2 full" enum:"1,2"`
	reason
}

// The kinds of channels that have a field.
var (
	textKinds    = []discord.ChannelType{discord.GuildText, discord.GuildAnnouncement, discord.GuildForum, discord.GuildMedia}
	voiceKinds   = []discord.ChannelType{discord.GuildVoice, discord.GuildStageVoice}
	slowKinds    = append([]discord.ChannelType{discord.GuildText, discord.GuildForum, discord.GuildMedia}, voiceKinds...)
	contentKinds = slices.Concat(textKinds, voiceKinds)
	allKinds     = append(slices.Clone(contentKinds), discord.GuildCategory)
)

// metadata are the fields that can be changed, by the argument and by Discord's
// name, with the kinds that have them and what they are where Discord leaves
// them out.
//
// Source: https://docs.discord.com/developers/resources/channel#modify-channel.
var metadata = []struct {
	arg, field string
	on         []discord.ChannelType
	unset      string
}{
	{"name", "name", allKinds, "null"},
	{"topic", "topic", textKinds, "null"},
	{"nsfw", "nsfw", contentKinds, "false"},
	{"rateLimitPerUser", "rate_limit_per_user", slowKinds, "0"},
	{"defaultThreadRateLimitPerUser", "default_thread_rate_limit_per_user", textKinds, "0"},
	{"defaultAutoArchiveDuration", "default_auto_archive_duration", textKinds, "null"},
	{"bitrate", "bitrate", voiceKinds, "null"},
	{"userLimit", "user_limit", voiceKinds, "0"},
	{"rtcRegion", "rtc_region", voiceKinds, "null"},
	{"videoQualityMode", "video_quality_mode", voiceKinds, "1"},
}

type channelMetadataState struct {
	Guild      guildSeen           `json:"guild"`
	Permission evidence            `json:"permission"`
	Channel    discord.ChannelID   `json:"channelId"`
	Type       discord.ChannelType `json:"type"`
	Requested  []string            `json:"requestedFields"`
	Changes    []fieldChange       `json:"changes"`
	Rest       string              `json:"rest" jsonschema:"digest of what the channel is besides"`
	Bitrate    int                 `json:"bitrateLimit,omitempty"`
	Regions    []voiceRegion       `json:"regions,omitempty"`
}

// fieldChange is a field of the channel as Discord names it.
type fieldChange struct {
	Field   string          `json:"field"`
	Was     json.RawMessage `json:"was"`
	Becomes json.RawMessage `json:"becomes"`
}

type voiceRegion struct {
	ID         string `json:"id"`
	Deprecated bool   `json:"deprecated"`
}

// fields are those of a channel, by Discord's names.
type fields map[string]json.RawMessage

// channelMetadataChange changes what a channel says of itself, field by field.
func channelMetadataChange(rest discordtools.REST) mcpcore.Workflow {
	return change[channelMetadata, channelMetadataState]{
		Name: "channel-metadata-change", Category: "channel-metadata", Title: "Change a channel's fields",
		Doc: `Changes the fields of a channel that are given, and no others: name, topic, age restriction, slow
			mode, what new threads begin with, and of voice and stage channels bitrate, user limit, region and
			video quality. Discord writes names of text channels in lower case with dashes.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ViewChannel | discord.ManageChannels, NeedsIn: "channelId",
		Scopes: []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "channels that may be changed"}},
		Rules: []mcpcore.Rule{{Check: func(c *mcpcore.Call) *mcpcore.Issue {
			for _, m := range metadata {
				if c.Has(m.arg) {
					return nil
				}
			}
			return issue("channelId", "nothing is to be changed; give a field with its new value")
		}}},
		Reads: append(slices.Clone(standingRoutes), routeChannel, routeRegions),
		Write: []string{routeChannelEdit},
		Plan:  planChannelMetadata,
		Targets: func(in channelMetadata, _ channelMetadataState) []mcpcore.Target {
			return []mcpcore.Target{theChannel(in.ChannelID), all("channels", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in channelMetadata, s channelMetadataState) (done mcpcore.Written, err error) {
			var now fields
			if err := w.send(ctx, routeChannelEdit, inChannel(in.ChannelID), s.body(), &now); err != nil {
				return done, err
			}
			c, err := now.channel()
			if err != nil {
				return done, err
			}
			if done.ID, err = id(c.ID); err == nil && (c.ID != in.ChannelID || c.Guild != in.GuildID || c.Type != s.Type) {
				err = errOtherChannel
			}
			for _, f := range s.Changes {
				if text := f.Field == "name" || f.Field == "topic"; err == nil && !text && !sameScalar(now.of(f.Field), f.Becomes) {
					err = fmt.Errorf("the answer has another %s than was written", f.Field)
				}
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in channelMetadata, s channelMetadataState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			now, c, err := r.fields(ctx, in.GuildID, in.ChannelID)
			if err != nil {
				return found, err
			}
			if c.Type != s.Type {
				return found, errOtherChannel
			}
			var d drift
			for _, f := range s.Changes {
				d.unless(sameScalar(now.of(f.Field), f.Becomes) || f.Field == "name" && logical(c.Name) == logical(in.Name), f.Field)
			}
			d.unless(now.rest(s.Changes) == s.Rest, "other_fields")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

func planChannelMetadata(ctx context.Context, r *reads, in channelMetadata) (plan mcpcore.Change[channelMetadataState], err error) {
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	now, c, err := r.fields(ctx, in.GuildID, in.ChannelID)
	if err != nil {
		return plan, err
	}
	if err := c.direct(); err != nil {
		return plan, err
	}
	need := discord.ViewChannel | discord.ManageChannels
	if slices.Contains(voiceKinds, c.Type) {
		need |= discord.Connect
	}
	if err := r.needsIn(ctx, &bot, c, need); err != nil {
		return plan, err
	}
	s := channelMetadataState{Guild: bot.Guild, Permission: bot.evidence(), Channel: c.ID, Type: c.Type}
	facts := mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "channel", Value: c.Name}}
	for _, m := range metadata {
		wanted, given := r.Call.Arg(m.arg)
		switch {
		case !given:
			continue
		case !slices.Contains(m.on, c.Type):
			return plan, refused("field-not-there", "a %s has no %s", c.Type, m.arg)
		}
		s.Requested = append(s.Requested, m.arg)
		if was := now.of(m.field); !sameScalar(was, wanted) {
			s.Changes = append(s.Changes, fieldChange{m.field, was, wanted})
			facts = append(facts, mcpcore.Fact{Name: m.arg, Value: string(was) + " becomes " + string(wanted)})
		}
	}
	if err := s.bounds(ctx, r, in); err != nil {
		return plan, err
	}
	s.Rest = now.rest(s.Changes)
	plan = mcpcore.Change[channelMetadataState]{Action: "change", State: s, Facts: facts}
	if len(s.Changes) == 0 {
		plan.Action, plan.Current = "none", true
	}
	return plan, nil
}

// bounds refuses values that the channel's kind or its guild does not allow.
func (s *channelMetadataState) bounds(ctx context.Context, r *reads, in channelMetadata) error {
	switch {
	case in.Topic != nil && utf8.RuneCountInString(*in.Topic) > 1024 && !s.Type.HoldsPosts():
		return refused("topic-too-long", "outside forums a topic has at most 1024 characters")
	case s.Type == discord.GuildVoice && in.UserLimit > 99:
		return refused("user-limit", "a voice channel takes at most 99")
	}
	if in.Bitrate > 0 {
		var g struct {
			Tier     int      `json:"premium_tier"`
			Features []string `json:"features"`
		}
		if err := r.get(ctx, routeGuild, inGuild(in.GuildID), &g); err != nil {
			return err
		}
		if s.Bitrate = mostBitrate(s.Type, g.Tier, g.Features); in.Bitrate > s.Bitrate {
			return refused("bitrate", "a %s of this guild can have %d bits at most", s.Type, s.Bitrate)
		}
	}
	if in.Region == nil {
		return nil
	}
	if err := r.get(ctx, routeRegions, inGuild(in.GuildID), &s.Regions); err != nil {
		return err
	}
	slices.SortFunc(s.Regions, func(a, b voiceRegion) int { return strings.Compare(a.ID, b.ID) })
	if len(s.Regions) == 0 {
		return incomplete("the voice regions")
	}
	if !slices.Contains(s.Regions, voiceRegion{ID: *in.Region}) {
		return refused("region", "%s is no voice region of the guild that can be chosen", *in.Region)
	}
	return nil
}

// mostBitrate is what a voice or stage channel can have at most.
//
// Source: https://docs.discord.com/developers/resources/channel#modify-channel.
func mostBitrate(t discord.ChannelType, tier int, features []string) int {
	switch {
	case t == discord.GuildStageVoice:
		return 64_000
	case slices.Contains(features, "VIP_REGIONS"):
		return 384_000
	}
	return []int{96_000, 128_000, 256_000, 384_000}[max(0, min(tier, 3))]
}

// body is the request: the fields that differ, and no others.
func (s *channelMetadataState) body() fields {
	b := make(fields, len(s.Changes))
	for _, f := range s.Changes {
		b[f.Field] = f.Becomes
	}
	return b
}

// fields reads a channel of the guild with all its fields.
func (r *reads) fields(ctx context.Context, guild discord.GuildID, id discord.ChannelID) (f fields, c channel, err error) {
	if err = r.get(ctx, routeChannel, inChannel(id), &f); err != nil {
		return f, c, err
	}
	if c, err = f.channel(); err != nil {
		return f, c, incomplete("the channel " + string(id))
	}
	return f, c, c.of(guild, id)
}

func (f fields) channel() (c channel, err error) {
	raw, err := json.Marshal(f)
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(raw, &c)
}

// of is a field's value, or what it is where Discord leaves it out.
func (f fields) of(name string) json.RawMessage {
	if v, there := f[name]; there && string(v) != "null" {
		return v
	}
	for _, m := range metadata {
		if m.field == name {
			return json.RawMessage(m.unset)
		}
	}
	return json.RawMessage("null")
}

// rest is a digest of the channel without what changes and without what comes
// and goes with its messages.
func (f fields) rest(changes []fieldChange) string {
	left := maps.Clone(f)
	delete(left, "last_message_id")
	delete(left, "last_pin_timestamp")
	for _, c := range changes {
		delete(left, c.Field)
	}
	return snapshot(left)
}

// sameScalar reports whether two texts, numbers, booleans or nulls in JSON are
// the same.
func sameScalar(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	switch x.(type) {
	case map[string]any, []any:
		return false
	}
	return x == y
}
