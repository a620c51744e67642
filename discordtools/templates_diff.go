package discordtools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type templateCompared struct {
	Template templateFields `json:"template"`
	Matches  bool           `json:"source_guild_matches" jsonschema:"the template is of that guild"`
	Drift    *drift         `json:"drift" jsonschema:"null where it is of another"`
	templateText
	remarks
}

// drift counts how a guild differs from its template.
type drift struct {
	TemplateChannels  int   `json:"template_channel_count"`
	GuildChannels     int   `json:"source_guild_channel_count"`
	ChannelsMissing   int   `json:"channels_missing_from_guild_count"`
	ChannelsAdded     int   `json:"channels_added_since_snapshot_count"`
	ChannelsBeyond    int   `json:"channels_not_representable_in_template_count"`
	TemplateRoles     int   `json:"template_role_count"`
	GuildRoles        int   `json:"source_guild_role_count"`
	RolesMissing      int   `json:"roles_missing_from_guild_count"`
	RolesAdded        int   `json:"roles_added_since_snapshot_count"`
	RolePermissions   int   `json:"role_permission_difference_count"`
	ChannelSettings   int   `json:"channel_setting_difference_count"`
	ChannelOverwrites int   `json:"permission_overwrite_difference_count"`
	Unmapped          int   `json:"unmapped_permission_overwrite_count"`
	Dirty             *bool `json:"template_marked_dirty"`
	Sync              bool  `json:"sync_recommended"`
}

// driftDetails names what differs, the first of each sort.
type driftDetails struct {
	ChannelsMissing   []channelName   `json:"channels_missing_from_guild"`
	ChannelsAdded     []channelName   `json:"channels_added_since_snapshot"`
	ChannelsBeyond    []channelName   `json:"channels_not_representable_in_template"`
	RolesMissing      []string        `json:"roles_missing_from_guild"`
	RolesAdded        []string        `json:"roles_added_since_snapshot"`
	RolePermissions   []roleDrift     `json:"role_permission_differences"`
	ChannelSettings   []settingDrift  `json:"channel_setting_differences"`
	ChannelOverwrites []overwriteName `json:"permission_overwrite_differences"`
	Unmapped          []overwriteName `json:"unmapped_permission_overwrites"`
}

type channelName struct {
	Name string              `json:"name"`
	Type discord.ChannelType `json:"type"`
}

type roleDrift struct {
	Role     string                `json:"role"`
	Template discord.PermissionSet `json:"template"`
	Guild    discord.PermissionSet `json:"guild"`
}

type settingDrift struct {
	Channel string `json:"channel"`
	Setting string `json:"setting"`
}

type overwriteName struct {
	Channel string `json:"channel"`
	Of      string `json:"of"`
}

// detailed is how many differences of one sort are named.
const detailed = 25

// unnamed says of which sorts of differences not all are named.
func (c *comparison) unnamed() (left remarks) {
	d, n := &c.drift, &c.details
	for _, sort := range []struct {
		name      string
		all, told int
	}{
		{"channels_missing_from_guild", d.ChannelsMissing, len(n.ChannelsMissing)},
		{"channels_added_since_snapshot", d.ChannelsAdded, len(n.ChannelsAdded)},
		{"channels_not_representable_in_template", d.ChannelsBeyond, len(n.ChannelsBeyond)},
		{"roles_missing_from_guild", d.RolesMissing, len(n.RolesMissing)},
		{"roles_added_since_snapshot", d.RolesAdded, len(n.RolesAdded)},
		{"role_permission_differences", d.RolePermissions, len(n.RolePermissions)},
		{"channel_setting_differences", d.ChannelSettings, len(n.ChannelSettings)},
		{"permission_overwrite_differences", d.ChannelOverwrites, len(n.ChannelOverwrites)},
		{"unmapped_permission_overwrites", d.Unmapped, len(n.Unmapped)},
	} {
		if sort.all > sort.told {
			left.Warnings = append(left.Warnings, fmt.Sprintf("%s: the first %d of %d are named", sort.name, sort.told, sort.all))
		}
	}
	return left
}

func note[T any](list *[]T, v T) {
	if len(*list) < detailed {
		*list = append(*list, v)
	}
}

// comparedChannel is a channel of either side. Its settings are those that
// Discord tells of it.
type comparedChannel struct {
	channelName
	over     []comparedOverwrite
	settings map[string]json.RawMessage
	matched  bool
}

func (c *comparedChannel) UnmarshalJSON(raw []byte) error {
	var told struct {
		channelName
		Over []comparedOverwrite `json:"permission_overwrites"`
	}
	if err := json.Unmarshal(raw, &told); err != nil {
		return err
	}
	c.channelName, c.over = told.channelName, told.Over
	return json.Unmarshal(raw, &c.settings)
}

// key is what channels are matched by.
func (c *comparedChannel) key() channelName { return channelName{folded(c.Name), c.Type} }

func folded(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// localID is an id of a guild, or a snapshot's own number, which may come as one.
type localID string

func (l *localID) UnmarshalJSON(raw []byte) error {
	if *l = ""; string(raw) != "null" {
		*l = localID(strings.Trim(string(raw), `"`))
	}
	return nil
}

type comparedOverwrite struct {
	ID    localID               `json:"id"`
	Type  int                   `json:"type"`
	Allow discord.PermissionSet `json:"allow"`
	Deny  discord.PermissionSet `json:"deny"`
}

type comparedRole struct {
	ID          localID               `json:"id"`
	Name        string                `json:"name"`
	Permissions discord.PermissionSet `json:"permissions"`
	Managed     bool                  `json:"managed"`
	matched     bool
}

// side is one of what is compared.
type side struct {
	Roles    []*comparedRole    `json:"roles"`
	Channels []*comparedChannel `json:"channels"`
}

func compareTemplate(ctx context.Context, a *api, in templatesDiff) (v templateCompared, err error) {
	a.tell(ctx, 0, 3, "reading the template")
	reply, err := a.send(ctx)
	if err != nil {
		return v, err
	}
	t, err := a.template(reply)
	if err != nil {
		return v, err
	}
	v.Template = t.templateFields
	v.Matches = t.SourceGuildID == in.GuildID
	said := contents{Name: t.Name, Description: t.Description}
	if v.Matches {
		var held struct {
			Snapshot side `json:"serialized_source_guild"`
		}
		if err := json.Unmarshal(reply.Body, &held); err != nil {
			return v, fmt.Errorf("read snapshot: %w", err)
		}
		a.tell(ctx, 1, 3, "reading the guild")
		var guild side
		if err := together(
			func() error { return a.reading(ctx, routeGuildChannels, atGuild(in.GuildID), &guild.Channels) },
			func() error { return a.reading(ctx, routeRoles, atGuild(in.GuildID), &guild.Roles) },
		); err != nil {
			return v, err
		}
		guild.Roles = slices.DeleteFunc(guild.Roles, func(r *comparedRole) bool { return r.Managed })
		a.tell(ctx, 2, 3, fmt.Sprintf("comparing %d channels and %d roles", len(guild.Channels), len(guild.Roles)))
		c := comparison{template: held.Snapshot, guild: guild}
		c.run(t.IsDirty)
		v.Drift, said.Drift, v.remarks = &c.drift, &c.details, c.unnamed()
	}
	v.speak(struct {
		templateFields
		Matches bool   `json:"source_guild_matches"`
		Drift   *drift `json:"drift"`
	}{v.Template, v.Matches, v.Drift}, said)
	return v, nil
}

// comparison is a template held against its guild.
type comparison struct {
	template, guild side
	drift           drift
	details         driftDetails
	named           [2]map[localID]string // of the template and the guild: roles whose name is theirs alone
}

func (c *comparison) run(dirty *bool) {
	c.drift.TemplateChannels, c.drift.GuildChannels = len(c.template.Channels), len(c.guild.Channels)
	c.drift.TemplateRoles, c.drift.GuildRoles = len(c.template.Roles), len(c.guild.Roles)
	c.roles()
	c.channels()
	d := &c.drift
	d.Dirty = dirty
	d.Sync = dirty != nil && *dirty || d.ChannelsMissing+d.ChannelsAdded+d.RolesMissing+d.RolesAdded+d.RolePermissions+
		d.ChannelSettings+d.ChannelOverwrites+d.Unmapped > 0
}

// roles matches roles by their names; of several those with the same
// permissions.
func (c *comparison) roles() {
	for _, r := range c.template.Roles {
		var best *comparedRole
		for _, other := range c.guild.Roles {
			if !other.matched && folded(other.Name) == folded(r.Name) && (best == nil || !same(best.Permissions, r.Permissions) && same(other.Permissions, r.Permissions)) {
				best = other
			}
		}
		if best == nil {
			c.drift.RolesMissing++
			note(&c.details.RolesMissing, r.Name)
			continue
		}
		best.matched = true
		if !same(best.Permissions, r.Permissions) {
			c.drift.RolePermissions++
			note(&c.details.RolePermissions, roleDrift{r.Name, r.Permissions, best.Permissions})
		}
	}
	for _, r := range c.guild.Roles {
		if !r.matched {
			c.drift.RolesAdded++
			note(&c.details.RolesAdded, r.Name)
		}
	}
	for i, roles := range [2][]*comparedRole{c.template.Roles, c.guild.Roles} {
		c.named[i] = map[localID]string{}
		for _, r := range roles {
			if count(c.template.Roles, r.Name) < 2 && count(c.guild.Roles, r.Name) < 2 {
				c.named[i][r.ID] = folded(r.Name)
			}
		}
	}
}

func count(roles []*comparedRole, name string) (n int) {
	for _, r := range roles {
		if folded(r.Name) == folded(name) {
			n++
		}
	}
	return n
}

// same compares sets by their bits. What is no set is the same as nothing.
func same(a, b discord.PermissionSet) bool {
	x, errX := a.Bits()
	y, errY := b.Bits()
	return errX == nil && errY == nil && x == y
}

// channels matches channels by type and name; of several those with the most
// equal settings.
func (c *comparison) channels() {
	for _, ch := range c.template.Channels {
		var best *comparedChannel
		most := -1
		for _, other := range c.guild.Channels {
			if other.matched || other.key() != ch.key() {
				continue
			}
			if _, equal := ch.settingsAgainst(other); equal > most {
				best, most = other, equal
			}
		}
		if best == nil {
			c.drift.ChannelsMissing++
			note(&c.details.ChannelsMissing, ch.channelName)
			continue
		}
		best.matched = true
		differing, _ := ch.settingsAgainst(best)
		for _, setting := range differing {
			c.drift.ChannelSettings++
			note(&c.details.ChannelSettings, settingDrift{ch.Name, setting})
		}
		c.overwrites(ch, best)
	}
	for _, ch := range c.guild.Channels {
		switch {
		case ch.matched:
		case inTemplates(ch.Type):
			c.drift.ChannelsAdded++
			note(&c.details.ChannelsAdded, ch.channelName)
		default:
			c.drift.ChannelsBeyond++
			note(&c.details.ChannelsBeyond, ch.channelName)
		}
	}
}

// inTemplates reports whether templates hold channels of this type: they leave
// out announcement, stage and media channels.
func inTemplates(t discord.ChannelType) bool {
	return t == discord.GuildText || t == discord.GuildVoice || t == discord.GuildCategory || t == discord.GuildForum
}

// overwrites compares the overwrites of matched channels: a role's by its name, if
// no other has it, a member's by the id.
func (c *comparison) overwrites(template, guild *comparedChannel) {
	type grant struct{ allow, deny discord.PermissionSet }
	var sides [2]map[string]grant
	for i, ch := range [2]*comparedChannel{template, guild} {
		sides[i] = map[string]grant{}
		for _, o := range ch.over {
			of, known := c.named[i][o.ID]
			if o.Type == discord.OverwriteMember {
				of, known = "member "+string(o.ID), true
			}
			if !known {
				c.drift.Unmapped++
				note(&c.details.Unmapped, overwriteName{ch.Name, string(o.ID)})
				continue
			}
			sides[i][of] = grant{o.Allow, o.Deny}
		}
	}
	differ := func(of string) {
		c.drift.ChannelOverwrites++
		note(&c.details.ChannelOverwrites, overwriteName{template.Name, of})
	}
	for _, of := range slices.Sorted(maps.Keys(sides[0])) {
		held := sides[0][of]
		if now, there := sides[1][of]; !there || !same(now.allow, held.allow) || !same(now.deny, held.deny) {
			differ(of)
		}
	}
	for _, of := range slices.Sorted(maps.Keys(sides[1])) {
		if _, there := sides[0][of]; !there {
			differ(of)
		}
	}
}
