package discordtools

import (
	"context"
	"strconv"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// emojis manages a guild's emojis.
//
// Source: https://docs.discord.com/developers/resources/emoji.
func emojis() category {
	return category{Name: "emojis", Scope: mcpcore.GuildScope, Tools: []declaration{
		write[emojisCreate, emojiSaved]{
			Name:  "emojis_create",
			Title: "Create an emoji",
			Doc: `Adds an emoji to a guild. Discord shows it at 128×128; gif, webp and avif may be
				animated. How many fit depends on the guild's boosts.`,
			Route:  "POST /guilds/{guild_id}/emojis",
			Needs:  discord.CreateGuildExpressions,
			Redact: []string{"image"},
			Fence:  fence.Username,
		},
		destroy[emojiTarget, emojiDeleted]{
			Name:  "emojis_delete",
			Title: "Delete an emoji",
			Doc:   `Deletes an emoji of a guild for good.`,
			Route: "DELETE /guilds/{guild_id}/emojis/{emoji_id}",
			Calls: []string{routeEmoji},
			Needs: discord.ManageGuildExpressions,
			Facts: emojiFacts,
		},
		read[emojiOf, emojiOne]{
			Name:  "emojis_get",
			Title: "Get an emoji",
			Doc:   `Reads one emoji of a guild. In text it is written <:name:id>, in reactions name:id.`,
			Route: routeEmoji,
			Fence: fence.Username,
		},
		read[emojisList, emojisPage]{
			Name:  "emojis_list_guild",
			Title: "List emojis",
			Doc:   `Lists a guild's own emojis. In text one is written <:name:id>, in reactions name:id.`,
			Route: "GET /guilds/{guild_id}/emojis",
			Fence: fence.Username,
		},
		write[emojisModify, emojiSaved]{
			Name:       "emojis_modify",
			Title:      "Change an emoji",
			Doc:        `Renames an emoji, or says which roles may use it. Its image cannot be changed: delete it and make another.`,
			Route:      "PATCH /guilds/{guild_id}/emojis/{emoji_id}",
			Repeatable: true,
			Needs:      discord.ManageGuildExpressions,
			Rules:      []mcpcore.Rule{anyGiven("name", "roles")},
			Fence:      fence.Username,
		},
	}}
}

const routeEmoji = "GET /guilds/{guild_id}/emojis/{emoji_id}"

type emojisList struct {
	guildRef
	offset
}

// emojiOf is an emoji of a guild.
type emojiOf struct {
	guildRef
	EmojiID discord.EmojiID `json:"emoji_id" jsonschema:"emoji"`
}

type emojiTarget struct {
	emojiOf
	auditReason
}

// newEmoji is what every new emoji has.
type newEmoji struct {
	Name  string `json:"name" jsonschema:"letters, digits, underscore" minLength:"2" maxLength:"32" pattern:"^[A-Za-z0-9_]*$"`
	Image string `json:"image" as:"image" maxBytes:"262144" jsonschema:"data URI of a png, jpeg, gif, webp or avif, 256 KiB decoded; paths and addresses are not read" minLength:"1"`
}

type emojisCreate struct {
	guildRef
	newEmoji
	Roles []discord.RoleID `json:"roles,omitempty" jsonschema:"only these roles may use it" maxItems:"1521" uniqueItems:"true"`
	auditReason
}

type emojisModify struct {
	emojiOf
	Name  string           `json:"name,omitempty" jsonschema:"letters, digits, underscore" minLength:"2" maxLength:"32" pattern:"^[A-Za-z0-9_]*$"`
	Roles []discord.RoleID `json:"roles,omitempty" jsonschema:"only these roles may use it; empty for everyone" maxItems:"1521" uniqueItems:"true"`
	auditReason
}

// emojiSaved is an emoji after it was made or changed.
type emojiSaved struct {
	ID       *discord.EmojiID `json:"id"`
	Name     *string          `json:"name"`
	Animated bool             `json:"animated"`
	Roles    []discord.RoleID `json:"roles"`
}

type emojiOne struct {
	emojiSaved
	Available bool           `json:"available"`
	Managed   bool           `json:"managed,omitempty" jsonschema:"an integration's"`
	UserID    discord.UserID `json:"user_id,omitempty" from:"user.id" jsonschema:"who uploaded it"`
}

type emojisPage struct {
	Emojis []emojiOne `json:"emojis" from:"@reply"`
	part
}

type emojiDeleted struct {
	Deleted bool            `json:"deleted" from:"@true"`
	GuildID discord.GuildID `json:"guild_id" from:"@arg"`
	EmojiID discord.EmojiID `json:"emoji_id" from:"@arg"`
}

func emojiKind(animated bool) string {
	if animated {
		return "animated"
	}
	return "still"
}

func emojiFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var e struct {
		Name     string           `json:"name"`
		Animated bool             `json:"animated"`
		Roles    []discord.RoleID `json:"roles"`
		User     person           `json:"user"`
	}
	if err := a.do(ctx, routeEmoji, sub{}, &e); err != nil {
		return nil, err
	}
	roles := "all"
	if n := len(e.Roles); n > 0 {
		roles = strconv.Itoa(n)
	}
	return mcpcore.Facts{
		{Name: "emoji", Value: e.Name}, {Name: "kind", Value: emojiKind(e.Animated)}, {Name: "roles that may use it", Value: roles}, {Name: "uploaded by", Value: e.User.String()},
	}, nil
}
