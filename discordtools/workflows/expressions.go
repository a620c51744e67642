package workflows

import (
	"context"
	"regexp"
	"slices"

	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

var emojiName = regexp.MustCompile(`^[A-Za-z0-9_]*$`)

// expressionKind is where Discord has emojis or stickers.
type expressionKind struct{ list, create, edit, delete string }

func (k expressionKind) writes() []string { return []string{k.create, k.edit, k.delete} }

var expressionKinds = map[string]expressionKind{
	"emoji": {
		"GET /guilds/{guild_id}/emojis", "POST /guilds/{guild_id}/emojis",
		"PATCH /guilds/{guild_id}/emojis/{emoji_id}", "DELETE /guilds/{guild_id}/emojis/{emoji_id}",
	},
	"sticker": {
		"GET /guilds/{guild_id}/stickers", "POST /guilds/{guild_id}/stickers",
		"PATCH /guilds/{guild_id}/stickers/{sticker_id}", "DELETE /guilds/{guild_id}/stickers/{sticker_id}",
	},
}

// expression is an emoji or a sticker.
type expression struct {
	ID          discord.Snowflake `json:"id,omitempty"`
	Name        string            `json:"name"`
	Animated    bool              `json:"animated,omitempty"`
	Managed     bool              `json:"managed,omitempty"`
	Roles       []discord.RoleID  `json:"roles"`
	Description string            `json:"description,omitempty"`
	Tags        string            `json:"tags,omitempty"`
	Format      int               `json:"format,omitempty"`
	By          discord.UserID    `json:"uploaderId,omitempty"`
}

type expressionWire struct {
	ID          discord.Snowflake `json:"id"`
	Name        string            `json:"name"`
	Animated    bool              `json:"animated"`
	Managed     bool              `json:"managed"`
	Roles       []discord.RoleID  `json:"roles"`
	Description string            `json:"description"`
	Tags        string            `json:"tags"`
	Format      int               `json:"format_type"`
	User        struct {
		ID discord.UserID `json:"id"`
	} `json:"user"`
}

// expressions reads all of a kind, by id.
func (r *reads) expressions(ctx context.Context, kind string, guild discord.GuildID) (all []expression, err error) {
	var list []expressionWire
	if err := r.get(ctx, expressionKinds[kind].list, inGuild(guild), &list); err != nil {
		return nil, err
	}
	for _, w := range list {
		if w.ID == "" {
			return nil, incomplete("the guild's " + kind + "s")
		}
		e := expression{w.ID, w.Name, w.Animated, w.Managed, append([]discord.RoleID{}, w.Roles...), w.Description, w.Tags, w.Format, w.User.ID}
		slices.SortFunc(e.Roles, discord.CompareIDs)
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b expression) int { return discord.CompareIDs(a.ID, b.ID) })
	return all, nil
}

// pickExpression is the one of an id, and a digest of the others.
func pickExpression(all []expression, id discord.Snowflake) (one *expression, others string) {
	one, rest := apart(all, func(e expression) bool { return e.ID == id })
	return one, snapshot(rest)
}

// onto is an emoji or sticker with what was given.
func (in expressionChange) onto(e expression, given func(string) bool) expression {
	if given("name") {
		e.Name = in.Name
	}
	if given("roles") {
		e.Roles = in.Roles
	}
	if given("description") {
		e.Description = in.Description
	}
	if given("tags") {
		e.Tags = in.Tags
	}
	e.Roles = append([]discord.RoleID{}, e.Roles...)
	slices.SortFunc(e.Roles, discord.CompareIDs)
	return e
}

// differ are the fields in which two are not the same.
func (e expression) differ(other expression) (fields []string) {
	for _, f := range []struct {
		name string
		same bool
	}{
		{"name", e.Name == other.Name}, {"roles", slices.Equal(e.Roles, other.Roles)}, {"description", e.Description == other.Description},
		{"tags", e.Tags == other.Tags}, {"format", e.Format == other.Format && e.Animated == other.Animated},
	} {
		if !f.same {
			fields = append(fields, f.name)
		}
	}
	return fields
}

// emojiBody is a new emoji.
type emojiBody struct {
	Name  string            `json:"name"`
	Image string            `json:"image"`
	Roles *[]discord.RoleID `json:"roles,omitempty"`
}

// expressionPatch is what changes.
type expressionPatch struct {
	Name        string            `json:"name,omitempty"`
	Roles       *[]discord.RoleID `json:"roles,omitempty"`
	Description *string           `json:"description,omitempty"`
	Tags        string            `json:"tags,omitempty"`
}

func (s *expressionState) patch() (p expressionPatch) {
	for _, field := range s.Changed {
		switch field {
		case "name":
			p.Name = s.Wanted.Name
		case "roles":
			p.Roles = &s.Wanted.Roles
		case "description":
			p.Description = &s.Wanted.Description
		case "tags":
			p.Tags = s.Wanted.Tags
		}
	}
	return p
}

// boosted is what a guild's boosts and standing with Discord allow.
type boosted struct {
	Tier     *int     `json:"premium_tier"`
	Features []string `json:"features"`
}

func (r *reads) boosts(ctx context.Context, guild discord.GuildID) (b boosted, err error) {
	if err := r.get(ctx, routeGuild, inGuild(guild), &b); err != nil {
		return b, err
	}
	if b.Tier == nil || *b.Tier < 0 || *b.Tier > 3 {
		return b, incomplete("the guild's boosts")
	}
	return b, nil
}

// slots is how many of a kind fit: of emojis so many still and so many moving
// ones.
//
// Source: https://support.discord.com/hc/en-us/articles/360028038352.
func (b boosted) slots(kind string) int {
	if kind == "emoji" {
		return []int{50, 100, 150, 250}[*b.Tier]
	}
	return []int{5, 15, 30, 60}[*b.Tier]
}
