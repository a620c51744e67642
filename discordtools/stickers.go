package discordtools

import (
	"context"
	"slices"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// stickers manages a guild's stickers and reads Discord's own.
//
// Source: https://docs.discord.com/developers/resources/sticker.
func stickers() category {
	return category{Name: "stickers", Scope: mcpcore.GuildScope, Tools: []declaration{
		write[stickersCreate, stickerOne]{
			Name:  "stickers_create_guild_sticker",
			Title: "Create a sticker",
			Doc: `Adds a sticker of 320×320 pixels to a guild. Lottie is for verified and partnered guilds.
				How many fit depends on the guild's boosts.`,
			Route:  "POST /guilds/{guild_id}/stickers",
			Needs:  discord.CreateGuildExpressions,
			Rules:  []mcpcore.Rule{stickerType},
			Redact: []string{"file_data"},
			Fence:  fence.Embed,
		},
		destroy[stickerTarget, stickerDeleted]{
			Name:  "stickers_delete_guild_sticker",
			Title: "Delete a sticker",
			Doc:   `Deletes a sticker of a guild for good.`,
			Route: "DELETE /guilds/{guild_id}/stickers/{sticker_id}",
			Calls: []string{routeSticker},
			Needs: discord.ManageGuildExpressions,
			Facts: stickerFacts,
		},
		read[stickerRef, stickerAny]{
			Name:  "stickers_get",
			Title: "Get a sticker",
			Doc:   `Reads a sticker by its id alone: one of any guild, or one of Discord's own.`,
			Route: "GET /stickers/{sticker_id}",
			Scope: mcpcore.GlobalScope,
			Fence: fence.Embed,
		},
		read[stickerOf, stickerOne]{
			Name:  "stickers_get_guild_sticker",
			Title: "Get a guild's sticker",
			Doc:   `Reads one sticker of a guild.`,
			Route: routeSticker,
			Fence: fence.Embed,
		},
		read[stickersList, stickersPage]{
			Name:  "stickers_list_guild",
			Title: "List stickers",
			Doc:   `Lists a guild's own stickers. Send one with messages_send and sticker_ids.`,
			Route: "GET /guilds/{guild_id}/stickers",
			Fence: fence.Embed,
		},
		read[struct{}, packsPage]{
			Name:  "stickers_list_packs",
			Title: "List Discord's sticker packs",
			Doc:   `Lists the sticker packs that Discord itself offers, with their stickers.`,
			Route: "GET /sticker-packs",
			Scope: mcpcore.GlobalScope,
		},
		write[stickersModify, stickerOne]{
			Name:       "stickers_modify_guild_sticker",
			Title:      "Change a sticker",
			Doc:        `Changes a sticker's name, description or tags. Its image cannot be changed: delete it and make another.`,
			Route:      "PATCH /guilds/{guild_id}/stickers/{sticker_id}",
			Repeatable: true,
			Needs:      discord.ManageGuildExpressions,
			Rules:      []mcpcore.Rule{anyGiven("name", "description", "tags")},
			Fence:      fence.Embed,
		},
	}}
}

const routeSticker = "GET /guilds/{guild_id}/stickers/{sticker_id}"

type stickersCreate struct {
	guildRef
	Name        string `json:"name" in:"form" jsonschema:"name" minLength:"2" maxLength:"30"`
	Description string `json:"description,omitempty" in:"form" jsonschema:"what it shows" maxLength:"100"`
	Tags        string `json:"tags" in:"form" jsonschema:"words to find it by, separated by commas; by custom the name of a unicode emoji" minLength:"1" maxLength:"200"`
	Format      int    `json:"file_format,omitempty" in:"local" jsonschema:"1 PNG, 2 APNG, 3 Lottie, 4 GIF" enum:"1,2,3,4"`
	File        string `json:"file_data" in:"formfile" wire:"file" filename:"sticker" maxBytes:"524288" jsonschema:"data URI of image/png, image/apng, image/gif or application/json, 512 KiB decoded; paths and addresses are not read" minLength:"1"`
	auditReason
}

// stickerTypes are the media types of each format. A PNG may move or not.
var stickerTypes = map[int][]string{
	1: {"image/png"}, 2: {"image/png", "image/apng"}, 3: {"application/json"}, 4: {"image/gif"},
}

// stickerType refuses files that are no stickers, and those that are not what
// file_format says.
var stickerType = mcpcore.Rule{Check: func(call *mcpcore.Call) *mcpcore.Issue {
	kind, _, err := decodeDataURI(call.Text("file_data"))
	if err != nil {
		return nil // its own rule says so
	}
	wanted, _ := argument[int](call, "file_format")
	for format, types := range stickerTypes {
		if slices.Contains(types, kind) && (wanted == 0 || wanted == format) {
			return nil
		}
	}
	if types, ok := stickerTypes[wanted]; ok {
		return contradiction("file_data", "must be of type %s for this file_format", types[len(types)-1])
	}
	return &mcpcore.Issue{Path: "file_data", Message: "must be of type image/png, image/apng, image/gif or application/json", Code: mcpcore.IssueFormat}
}}

type stickersList struct {
	guildRef
	offset
}

// stickerOf is a sticker of a guild.
type stickerOf struct {
	guildRef
	StickerID discord.StickerID `json:"sticker_id" jsonschema:"sticker"`
}

type stickerTarget struct {
	stickerOf
	auditReason
}

type stickerRef struct {
	StickerID discord.StickerID `json:"sticker_id" jsonschema:"sticker"`
}

type stickersModify struct {
	stickerOf
	Name        string  `json:"name,omitempty" jsonschema:"name" minLength:"2" maxLength:"30"`
	Description *string `json:"description,omitempty" jsonschema:"what it shows; null removes it" maxLength:"100"`
	Tags        string  `json:"tags,omitempty" jsonschema:"words to find it by, separated by commas" minLength:"1" maxLength:"200"`
	auditReason
}

// stickerOne is a sticker of a guild as a view shows it.
type stickerOne struct {
	ID          discord.StickerID `json:"id"`
	Name        string            `json:"name"`
	Description *string           `json:"description"`
	Tags        string            `json:"tags"`
	FormatType  int               `json:"format_type" jsonschema:"1 PNG, 2 APNG, 3 Lottie, 4 GIF"`
	Available   bool              `json:"available"`
	UserID      discord.UserID    `json:"user_id,omitempty" from:"user.id" jsonschema:"who uploaded it"`
}

type stickerAny struct {
	stickerOne
	Type    int             `json:"type" jsonschema:"1 Discord's own, 2 a guild's"`
	GuildID discord.GuildID `json:"guild_id,omitempty"`
	PackID  string          `json:"pack_id,omitempty"`
}

// derive: Discord's own stickers do not say that they are available.
func (v *stickerAny) derive(*mcpcore.Call) { v.Available = v.Available || v.Type == 1 }

type stickersPage struct {
	Stickers []stickerOne `json:"stickers" from:"@reply"`
	part
}

type stickerDeleted struct {
	Deleted   bool              `json:"deleted" from:"@true"`
	GuildID   discord.GuildID   `json:"guild_id" from:"@arg"`
	StickerID discord.StickerID `json:"sticker_id" from:"@arg"`
}

type packsPage struct {
	Packs []stickerPack `json:"packs" from:"sticker_packs"`
	Count int           `json:"count" from:"@derived"`
}

type stickerPack struct {
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Stickers    []stickerItem `json:"stickers"`
}

func (v *packsPage) derive(*mcpcore.Call) { v.Count = len(v.Packs) }

func stickerFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var s struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Tags        string `json:"tags"`
		User        person `json:"user"`
	}
	if err := a.do(ctx, routeSticker, sub{}, &s); err != nil {
		return nil, err
	}
	return mcpcore.Facts{
		{Name: "sticker", Value: s.Name}, {Name: "description", Value: excerpt(s.Description)}, {Name: "tags", Value: s.Tags},
		{Name: "uploaded by", Value: s.User.String()},
	}, nil
}
