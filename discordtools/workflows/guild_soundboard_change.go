package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/internal/emoji"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeSounds      = "GET /guilds/{guild_id}/soundboard-sounds"
	routeSoundCreate = "POST /guilds/{guild_id}/soundboard-sounds"
	routeSoundEdit   = "PATCH /guilds/{guild_id}/soundboard-sounds/{sound_id}"
	routeSoundDelete = "DELETE /guilds/{guild_id}/soundboard-sounds/{sound_id}"
)

type soundChange struct {
	GuildID   discord.GuildID  `json:"guildId" jsonschema:"guild of the sound"`
	Action    string           `json:"action" enum:"create,update,delete"`
	SoundID   discord.SoundID  `json:"soundId,omitempty" jsonschema:"sound to update or delete"`
	Name      string           `json:"name,omitempty" minLength:"2" maxLength:"32"`
	Sound     string           `json:"sound,omitempty" jsonschema:"with create, a data URI of a whole mp3 (data:audio/mpeg) or ogg (data:audio/ogg) of 512 KiB and 5.2 seconds"`
	Volume    *float64         `json:"volume,omitempty" jsonschema:"0 to 1; a new sound has 1" minimum:"0" maximum:"1"`
	EmojiID   *discord.EmojiID `json:"emojiId,omitempty" jsonschema:"a custom emoji of the guild; null removes the emoji"`
	EmojiName *string          `json:"emojiName,omitempty" jsonschema:"a unicode emoji; null removes the emoji" minLength:"1" maxLength:"32"`
	reason
}

type soundState struct {
	Guild      guildSeen  `json:"guild"`
	Permission evidence   `json:"permission"`
	Now        *soundSeen `json:"current"`
	Wanted     *soundSeen `json:"wanted"`
	Changed    []string   `json:"changedFields"`
	File       string     `json:"file,omitempty" jsonschema:"digest of what is uploaded"`
	Codec      string     `json:"codec,omitempty"`
	Lasts      int64      `json:"lastsMs,omitempty"`
	Count      int        `json:"sounds"`
	Limit      int        `json:"soundsLimit" jsonschema:"0 where the guild has more slots than its boosts give"`
	Others     string     `json:"others" jsonschema:"digest of all other sounds"`
}

// soundSeen is a sound as plans bind and show it.
type soundSeen struct {
	ID        discord.SoundID `json:"soundId,omitempty"`
	Name      string          `json:"name"`
	Volume    float64         `json:"volume"`
	EmojiID   discord.EmojiID `json:"emojiId,omitempty"`
	EmojiName string          `json:"emojiName,omitempty"`
	By        discord.UserID  `json:"uploaderId,omitempty"`
}

// guildSoundboardChange makes, changes or deletes a sound.
func guildSoundboardChange(rest discordtools.REST) mcpcore.Workflow {
	return change[soundChange, soundState]{
		Name: "guild-soundboard-change", Category: "soundboard", Title: "Change a sound of the soundboard",
		Doc: `Creates, changes or deletes a sound of a guild's soundboard, and never plays it. What it sounds like cannot be changed: delete it
			and create another.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.GuildScope,
		Scopes: []mcpcore.PolicyScope{guildsScope("guilds whose sounds may be changed")},
		Rules:  []mcpcore.Rule{{Check: checkSoundArguments}}, Redact: []string{"sound"},
		Reads: append(slices.Clone(standingRoutes), routeSounds, expressionKinds["emoji"].list),
		Write: []string{routeSoundCreate, routeSoundEdit, routeSoundDelete},
		Plan:  planSound,
		Targets: func(in soundChange, _ soundState) []mcpcore.Target {
			return []mcpcore.Target{all("soundboard", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in soundChange, s soundState) (done mcpcore.Written, err error) {
			at := path{"guild_id": string(in.GuildID), "sound_id": string(in.SoundID)}
			var made soundWire
			switch in.Action {
			case "delete":
				return mcpcore.Written{ID: string(in.SoundID)}, w.send(ctx, routeSoundDelete, at, nil, nil)
			case "update":
				err = w.send(ctx, routeSoundEdit, at, s.patch(), &made)
			default:
				err = w.send(ctx, routeSoundCreate, inGuild(in.GuildID), s.body(in.Sound), &made)
			}
			if err != nil {
				return done, err
			}
			if done.ID, err = id(made.ID); err == nil && (made.Guild != in.GuildID || in.SoundID != "" && made.ID != in.SoundID) {
				err = errors.New("the answer is of another sound than was asked for")
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in soundChange, s soundState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			list, err := r.sounds(ctx, in.GuildID)
			if err != nil {
				return found, err
			}
			now, others := pickSound(list, discord.SoundID(w.ID))
			if (now == nil) != (s.Wanted == nil) {
				return found, errors.New("it is there where it should not be, or is not there")
			}
			var d drift
			for _, f := range now.fields(s.Wanted) {
				d.unless(f.Now == f.Wanted, f.Name)
			}
			d.unless(snapshot(others) == s.Others, "others")
			return mcpcore.Reading{Drift: d}, nil
		},
	}.on(rest)
}

// checkSoundArguments refuses arguments that do not go with the action.
func checkSoundArguments(c *mcpcore.Call) *mcpcore.Issue {
	action, name, id := c.Text("action"), c.Text("emojiName"), c.Text("emojiId")
	given := slices.DeleteFunc([]string{"name", "volume", "emojiId", "emojiName"}, func(f string) bool { return !c.Has(f) })
	switch {
	case (action == "create") == c.Has("soundId"):
		return issue("soundId", "is needed, or does not go, with the action %s", action)
	case (action == "create") != c.Has("sound"):
		return issue("sound", "is needed with create, and does not go with another action")
	case action == "create" && !c.Has("name"):
		return issue("name", "is needed for a new sound")
	case action == "update" && len(given) == 0:
		return issue("name", "or something else must be given to update")
	case action == "delete" && len(given) > 0:
		return issue(given[0], "does not go with delete")
	case c.Has("name") && len(strings.TrimSpace(c.Text("name"))) < 2:
		return issue("name", "is blank or too short")
	case name != "" && id != "":
		return issue("emojiName", "excludes emojiId; a sound has one emoji")
	case name != "" && !emoji.Is(name):
		return issue("emojiName", "is not one unicode emoji; for a custom one give emojiId")
	}
	return nil
}

func planSound(ctx context.Context, r *reads, in soundChange) (plan mcpcore.Change[soundState], err error) {
	bot, err := r.standing(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	list, err := r.sounds(ctx, in.GuildID)
	if err != nil {
		return plan, err
	}
	now, others := pickSound(list, in.SoundID)
	s := soundState{Guild: bot.Guild, Permission: bot.evidence(), Now: now, Count: len(list), Others: snapshot(others)}
	need := discord.CreateGuildExpressions
	switch {
	case in.Action == "create":
	case now == nil:
		return plan, refused("missing", "the guild has no sound %s", in.SoundID)
	case now.By != bot.Bot || bot.held.Has(discord.ManageGuildExpressions):
		need = discord.ManageGuildExpressions // for its own the bot needs either
	}
	if err := bot.needs(need); err != nil {
		return plan, err
	}
	plan = mcpcore.Change[soundState]{Action: in.Action, Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}}}
	if in.Action == "delete" {
		plan.Facts, plan.Risks = append(plan.Facts, mcpcore.Fact{Name: "sound", Value: now.Name}), []string{"irreversible"}
		plan.State = s
		return plan, nil
	}
	s.Wanted = in.onto(now, r.Call.Has)
	if err := r.soundFits(ctx, in, &s, others); err != nil {
		return plan, err
	}
	if in.Action == "create" {
		s.Wanted.By = bot.Bot
		plan.Facts = append(plan.Facts, mcpcore.Fact{Name: "lasts", Value: fmt.Sprintf("%d ms", s.Lasts)})
		now = &soundSeen{}
	}
	s.Changed = setting(&plan, now.fields(s.Wanted)...)
	plan.State = s
	return plan, nil
}

// soundFits refuses a sound that is not as one may be, or that the guild has no
// place for, and notes what its file is.
func (r *reads) soundFits(ctx context.Context, in soundChange, s *soundState, others []soundSeen) error {
	if slices.ContainsFunc(others, func(o soundSeen) bool { return strings.EqualFold(o.Name, s.Wanted.Name) }) {
		return refused("name-taken", "the guild has another sound of that name")
	}
	if s.Wanted.EmojiID != "" {
		emojis, err := r.expressions(ctx, "emoji", in.GuildID)
		if err != nil {
			return err
		}
		if one, _ := pickExpression(emojis, discord.Snowflake(s.Wanted.EmojiID)); one == nil {
			return refused("emoji-missing", "the guild has no emoji %s", s.Wanted.EmojiID)
		}
	}
	if in.Action != "create" {
		return nil
	}
	guild, err := r.boosts(ctx, in.GuildID)
	if err != nil {
		return err
	}
	if s.Limit = guild.soundSlots(); s.Limit > 0 && s.Count >= s.Limit {
		return refused("full", "there are %d sounds, and there can be %d", s.Count, s.Limit)
	}
	f, err := readSound(in.Sound)
	s.File, s.Codec, s.Lasts = digest(f.data), f.codec, f.lasts.Milliseconds()
	return err
}

// soundSlots is how many sounds fit; 0 where nobody says.
//
// Source: https://support.discord.com/hc/en-us/articles/12612888127767.
func (b boosted) soundSlots() int {
	if slices.Contains(b.Features, "MORE_SOUNDBOARD") {
		return 0
	}
	return []int{8, 24, 36, 48}[*b.Tier]
}

// onto is a sound with what was given; nil is a new one.
func (in soundChange) onto(now *soundSeen, given func(string) bool) *soundSeen {
	s := soundSeen{Volume: 1}
	if now != nil {
		s = *now
	}
	if given("name") {
		s.Name = strings.TrimSpace(in.Name)
	}
	set(&s.Volume, in.Volume)
	if given("emojiId") || given("emojiName") {
		s.EmojiID, s.EmojiName = "", ""
		set(&s.EmojiID, in.EmojiID)
		set(&s.EmojiName, in.EmojiName)
	}
	return &s
}

// fields are what can be set of a sound, as it is and as it is wanted.
func (s *soundSeen) fields(wanted *soundSeen) []field {
	if s == nil || wanted == nil {
		return nil
	}
	volume := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	picture := func(s *soundSeen) string { return emoji.Plain(s.EmojiName) + string(s.EmojiID) }
	return []field{
		{"name", s.Name, wanted.Name}, {"volume", volume(s.Volume), volume(wanted.Volume)}, {"emoji", picture(s), picture(wanted)},
	}
}

type soundWire struct {
	ID        discord.SoundID  `json:"sound_id"`
	Guild     discord.GuildID  `json:"guild_id"`
	Name      string           `json:"name"`
	Volume    *float64         `json:"volume"`
	EmojiID   *discord.EmojiID `json:"emoji_id"`
	EmojiName *string          `json:"emoji_name"`
	User      struct {
		ID discord.UserID `json:"id"`
	} `json:"user"`
}

// sounds reads all sounds of a guild, by id.
func (r *reads) sounds(ctx context.Context, guild discord.GuildID) (all []soundSeen, err error) {
	var list struct {
		Items []soundWire `json:"items"`
	}
	if err := r.get(ctx, routeSounds, inGuild(guild), &list); err != nil {
		return nil, err
	}
	for _, w := range list.Items {
		if w.ID == "" || w.Guild != guild || w.Volume == nil {
			return nil, incomplete("the sounds of the guild")
		}
		s := soundSeen{ID: w.ID, Name: w.Name, Volume: *w.Volume, By: w.User.ID}
		set(&s.EmojiID, w.EmojiID)
		set(&s.EmojiName, w.EmojiName)
		if s.EmojiID != "" {
			s.EmojiName = "" // of a custom one it may be told too
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b soundSeen) int { return discord.CompareIDs(a.ID, b.ID) })
	return all, nil
}

// pickSound is the sound of an id, and all others.
func pickSound(list []soundSeen, id discord.SoundID) (one *soundSeen, others []soundSeen) {
	return apart(list, func(s soundSeen) bool { return s.ID == id })
}

// soundBody is a new sound.
type soundBody struct {
	Name      string          `json:"name"`
	Sound     string          `json:"sound"`
	Volume    float64         `json:"volume"`
	EmojiID   discord.EmojiID `json:"emoji_id,omitempty"`
	EmojiName string          `json:"emoji_name,omitempty"`
}

func (s *soundState) body(file string) soundBody {
	return soundBody{s.Wanted.Name, file, s.Wanted.Volume, s.Wanted.EmojiID, s.Wanted.EmojiName}
}

// soundPatch is what changes.
type soundPatch struct {
	Name      string          `json:"name,omitempty"`
	Volume    *float64        `json:"volume,omitempty"`
	EmojiID   json.RawMessage `json:"emoji_id,omitempty"`
	EmojiName json.RawMessage `json:"emoji_name,omitempty"`
}

func (s *soundState) patch() (p soundPatch) {
	for _, field := range s.Changed {
		switch field {
		case "name":
			p.Name = s.Wanted.Name
		case "volume":
			p.Volume = &s.Wanted.Volume
		case "emoji":
			p.EmojiID, p.EmojiName = orNull(s.Wanted.EmojiID), orNull(s.Wanted.EmojiName)
		}
	}
	return p
}
