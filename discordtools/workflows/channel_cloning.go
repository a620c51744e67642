package workflows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type channelClone struct {
	GuildID   discord.GuildID   `json:"guildId" jsonschema:"guild of the channel"`
	ChannelID discord.ChannelID `json:"channelId" jsonschema:"channel to clone; no thread"`
	Name      string            `json:"name" jsonschema:"name of the clone" minLength:"1" maxLength:"100"`
	reason
}

type cloneState struct {
	Guild      guildSeen           `json:"guild"`
	Permission evidence            `json:"permission"`
	InChannel  []string            `json:"botPermissionsInSource"`
	Source     discord.ChannelID   `json:"sourceId"`
	Type       discord.ChannelType `json:"type"`
	Parent     discord.ChannelID   `json:"parentId,omitempty"`
	Settings   fields              `json:"settings" jsonschema:"what is copied, by Discord's names; tags get new ids, in this order"`
	Overwrites []overwrite         `json:"overwrites"`
	Tags       []cloneTag          `json:"tags"`
	Inventory  channelInventory    `json:"visibleInventory"`
	Layout     string              `json:"layout" jsonschema:"digest of how all visible channels stand"`
}

// cloneTag is a forum's tag without its id, which a clone's has of its own.
type cloneTag struct {
	Name      string  `json:"name"`
	Moderated bool    `json:"moderated"`
	EmojiID   *string `json:"emoji_id"`
	EmojiName *string `json:"emoji_name"`
}

// What of a channel one request that creates another can carry, beside its name,
// place, overwrites and tags; and what is no setting of it.
//
// Source: https://docs.discord.com/developers/resources/guild#create-guild-channel.
var (
	cloned = []string{
		"topic", "bitrate", "user_limit", "rate_limit_per_user", "nsfw", "rtc_region", "video_quality_mode", "default_auto_archive_duration",
		"default_reaction_emoji", "default_sort_order", "default_forum_layout", "default_thread_rate_limit_per_user", "default_tag_setting",
	}
	notCloned = []string{
		"id", "guild_id", "name", "type", "parent_id", "position", "permission_overwrites", "available_tags", "last_message_id", "last_pin_timestamp",
	}
)

// channelCloning makes a channel with the settings of another.
func channelCloning(rest discordtools.REST) mcpcore.Workflow {
	return change[channelClone, cloneState]{
		Name: "channel-cloning", Noun: "channel_clone", Category: "channel-cloning", Title: "Clone a channel",
		Doc: `Creates a channel beside another one, with its kind, settings, overwrites and tags under a new name. Messages,
			threads, webhooks, invites and the channels of a category are not cloned. Tags get new ids in the same
			order. A channel with a setting that a creation cannot carry is refused, such as a forum that requires tags.`,
		Effect: mcpcore.Write, Scope: mcpcore.GuildScope, Needs: discord.ManageChannels | discord.ViewChannel,
		Scopes: []mcpcore.PolicyScope{
			guildsScope("guilds in which channels may be cloned"),
			{Name: "sources", Arg: "channelId", Doc: "channels that may be cloned"},
		},
		Reads: append([]string{routeChannels, routeChannel}, standingRoutes...),
		Write: []string{routeChannelCreate},
		Plan:  planClone,
		Targets: func(in channelClone, _ cloneState) []mcpcore.Target {
			return []mcpcore.Target{theChannel(in.ChannelID), all("channels", in.GuildID)}
		},
		Apply: func(ctx context.Context, w *write, in channelClone, s cloneState) (done mcpcore.Written, err error) {
			var made channel
			if err := w.send(ctx, routeChannelCreate, inGuild(in.GuildID), cloneBody{in.Name, s.Type, s.Parent, s.Overwrites, s.Tags, s.Settings}, &made); err != nil {
				return done, err
			}
			if done.ID, err = id(made.ID); err == nil {
				err = s.like(made)
			}
			return done, err
		},
		ReadBack: func(ctx context.Context, r *reads, in channelClone, s cloneState, w mcpcore.Written) (found mcpcore.Reading, err error) {
			now, made, err := r.fields(ctx, in.GuildID, discord.ChannelID(w.ID))
			if err != nil {
				return found, err
			}
			if err := s.like(made); err != nil {
				return found, err
			}
			d, err := s.differs(now, made, in.Name)
			if err != nil {
				return found, err
			}
			list, err := r.channels(ctx, in.GuildID)
			d.unless(snapshot(layout(list, made.ID)) == s.Layout, "layout")
			return mcpcore.Reading{Drift: d}, err
		},
	}.on(rest)
}

// cloneBody is the request, whose settings stand beside the rest.
type cloneBody struct {
	Name       string
	Type       discord.ChannelType
	Parent     discord.ChannelID
	Overwrites []overwrite
	Tags       []cloneTag
	settings   fields
}

func (b cloneBody) MarshalJSON() ([]byte, error) {
	all := maps.Clone(b.settings)
	put := func(name string, v any, there bool) (err error) {
		if there {
			all[name], err = json.Marshal(v)
		}
		return err
	}
	err := errors.Join(
		put("name", b.Name, true), put("type", b.Type, true), put("permission_overwrites", b.Overwrites, true),
		put("parent_id", b.Parent, b.Parent != ""), put("available_tags", b.Tags, len(b.Tags) > 0),
	)
	if err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

func planClone(ctx context.Context, r *reads, in channelClone) (plan mcpcore.Change[cloneState], err error) {
	bot, err := r.able(ctx, in.GuildID, discord.ManageChannels)
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
	if !slices.Contains(allKinds, c.Type) {
		return plan, refused("kind", "a %s cannot be cloned", c.Type)
	}
	may, err := bot.in(c)
	if err != nil {
		return plan, err
	}
	if err := lacks(may, discord.ViewChannel, "the channel"); err != nil {
		return plan, err
	}
	if err := bot.copies(c.Overwrites); err != nil {
		return plan, err
	}
	s := cloneState{
		Guild: bot.Guild, Permission: bot.evidence(), InChannel: may.Names(), Source: c.ID, Type: c.Type, Parent: c.Parent,
		Overwrites: append([]overwrite{}, sortedOverwrites(c.Overwrites)...),
	}
	if s.Settings, err = now.cloned(); err != nil {
		return plan, err
	}
	if s.Tags, err = now.tags(); err != nil {
		return plan, err
	}
	if err := s.place(ctx, r, &bot); err != nil {
		return plan, err
	}
	plan = mcpcore.Change[cloneState]{
		Action: "create", State: s,
		Facts: mcpcore.Facts{
			{Name: "guild", Value: s.Guild.Name}, {Name: "clones", Value: c.Type.String() + " " + c.Name}, {Name: "creates", Value: in.Name},
			{Name: "copies", Value: fmt.Sprintf("%d settings, %d overwrites, %d tags", len(s.Settings), len(s.Overwrites), len(s.Tags))},
		},
		Warnings: []string{"The inventory holds the channels that the bot can see; there may be others."},
	}
	_, err = joining(&plan, "channels", []discord.ChannelID(nil), s.Inventory.Guild, guildChannels)
	return plan, err
}

// cloned are the settings that a creation carries. One that it does not is
// refused.
func (f fields) cloned() (fields, error) {
	all := fields{}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		value := string(f[name])
		switch {
		case value == "null", slices.Contains(notCloned, name), name == "flags" && value == "0":
		case slices.Contains(cloned, name):
			all[name] = f[name]
		default:
			return nil, refused("not-carried", "the channel has %s, which no creation carries", name)
		}
	}
	return all, nil
}

// tags are a forum's, in their order.
func (f fields) tags() (all []cloneTag, err error) {
	if raw, there := f["available_tags"]; there && json.Unmarshal(raw, &all) != nil {
		return nil, incomplete("the tags of the channel")
	}
	return all, nil
}

// place looks whether the guild and the category have room, and how all channels
// stand.
func (s *cloneState) place(ctx context.Context, r *reads, bot *standing) error {
	list, err := r.channels(ctx, s.Guild.ID)
	if err != nil {
		return err
	}
	s.Layout = snapshot(layout(list))
	s.Inventory = channelInventory{Guild: len(list), GuildLimit: guildChannels, ParentLimit: categoryChildren, Channels: snapshot(list)}
	for _, c := range list {
		if s.Parent != "" && c.Parent == s.Parent {
			s.Inventory.Parent++
		}
	}
	if s.Parent == "" {
		return nil
	}
	i := slices.IndexFunc(list, func(c channel) bool { return c.ID == s.Parent })
	if i < 0 {
		return refused("parent-missing", "%s is no category of the guild that the bot can see", s.Parent)
	}
	if s.Inventory.Parent >= categoryChildren {
		return refused("parent-full", "the category has %d channels, and can have %d", s.Inventory.Parent, categoryChildren)
	}
	return r.needsIn(ctx, bot, list[i], discord.ManageChannels|discord.ViewChannel)
}

// like reports a channel that is no clone of the source.
func (s *cloneState) like(made channel) error {
	if made.ID == s.Source || made.Guild != s.Guild.ID || made.Type != s.Type {
		return errors.New("it is about another channel than was asked for")
	}
	return nil
}

// differs are the fields in which the clone is not as its source.
func (s *cloneState) differs(now fields, made channel, name string) (d drift, err error) {
	tags, err := now.tags()
	if err != nil {
		return d, err
	}
	d.unless(logical(made.Name) == logical(name), "name")
	d.unless(made.Parent == s.Parent, "parent_id")
	d.unless(slices.Equal(sortedOverwrites(made.Overwrites), s.Overwrites), "permission_overwrites")
	d.unless(len(tags) == 0 && len(s.Tags) == 0 || reflect.DeepEqual(tags, s.Tags), "available_tags")
	for _, field := range cloned {
		d.unless(sameJSON(now[field], s.Settings[field]), field)
	}
	return d, nil
}

// sameJSON reports whether two values are the same; what is not there is null.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return (len(a) == 0 || json.Unmarshal(a, &x) == nil) && (len(b) == 0 || json.Unmarshal(b, &y) == nil) && reflect.DeepEqual(x, y)
}
