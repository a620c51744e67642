package discordtools

import (
	"context"

	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// appEmojis manages the application's own emojis, which its bot can use
// everywhere.
//
// Source: https://docs.discord.com/developers/resources/emoji#application-owned-emoji.
func appEmojis() category {
	return category{Name: "app_emojis", Scope: mcpcore.ApplicationScope, Tools: []declaration{
		write[appEmojisCreate, appEmoji]{
			Name:   "app_emojis_create",
			Title:  "Create an application emoji",
			Doc:    `Adds an emoji that the bot can use in every guild, and nobody else. An application has at most 2,000. For a guild's emoji use emojis_create.`,
			Route:  "POST /applications/{application_id}/emojis",
			Redact: []string{"image"},
			Fence:  fence.Username,
		},
		destroy[appEmojiRef, appEmojiDeleted]{
			Name:  "app_emojis_delete",
			Title: "Delete an application emoji",
			Doc:   `Deletes one of the application's emojis for good, in messages already sent as well.`,
			Route: "DELETE /applications/{application_id}/emojis/{emoji_id}",
			Calls: []string{routeAppEmoji},
			Facts: appEmojiFacts,
			Run:   ofApplication[appEmojiRef, appEmojiDeleted],
		},
		read[appEmojiRef, appEmoji]{
			Name:  "app_emojis_get",
			Title: "Get an application emoji",
			Doc:   `Reads one of the application's emojis. In text the bot writes it <:name:id>, animated <a:name:id>.`,
			Route: routeAppEmoji,
			Fence: fence.Username,
		},
		read[appEmojisList, appEmojisPage]{
			Name:  "app_emojis_list",
			Title: "List application emojis",
			Doc:   `Lists the application's own emojis. In text the bot writes one <:name:id>, animated <a:name:id>.`,
			Route: "GET /applications/{application_id}/emojis",
			Fence: fence.Username,
		},
		write[appEmojisModify, appEmoji]{
			Name:       "app_emojis_modify",
			Title:      "Rename an application emoji",
			Doc:        `Renames one of the application's emojis. Its image cannot be changed: delete it and make another.`,
			Route:      "PATCH /applications/{application_id}/emojis/{emoji_id}",
			Repeatable: true,
			Fence:      fence.Username,
		},
	}}
}

const routeAppEmoji = "GET /applications/{application_id}/emojis/{emoji_id}"

type appEmojiRef struct {
	applicationRef
	EmojiID discord.EmojiID `json:"emoji_id" jsonschema:"emoji"`
}

type appEmojisCreate struct {
	applicationRef
	newEmoji
}

type appEmojisModify struct {
	appEmojiRef
	Name string `json:"name" jsonschema:"letters, digits, underscore" minLength:"2" maxLength:"32" pattern:"^[A-Za-z0-9_]*$"`
}

type appEmojisList struct {
	applicationRef
	offset
}

type appEmoji struct {
	ID       *discord.EmojiID `json:"id"`
	Name     *string          `json:"name"`
	Animated bool             `json:"animated"`
	UserID   discord.UserID   `json:"user_id,omitempty" from:"user.id" jsonschema:"who uploaded it; the bot itself where it did"`
}

type appEmojisPage struct {
	Emojis []appEmoji `json:"emojis" from:"items"`
	part
}

// whose is the application of a view that says it.
type whose struct {
	ApplicationID discord.ApplicationID `json:"application_id" from:"@derived"`
}

func (w *whose) setApplication(id discord.ApplicationID) { w.ApplicationID = id }

// ofApplication sends the call, and the view says of which application it was,
// also where the caller left it out.
func ofApplication[In, Out any, P interface {
	*Out
	setApplication(discord.ApplicationID)
}](ctx context.Context, a *api, _ In) (v Out, err error) {
	reply, err := a.send(ctx)
	if err != nil {
		return v, err
	}
	id, err := a.applicationID(ctx)
	if err != nil {
		return v, err
	}
	P(&v).setApplication(id)
	return v, a.project(reply, &v)
}

type appEmojiDeleted struct {
	Deleted bool `json:"deleted" from:"@true"`
	whose
	EmojiID discord.EmojiID `json:"emoji_id" from:"@arg"`
}

func appEmojiFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	var e struct {
		Name     string `json:"name"`
		Animated bool   `json:"animated"`
		User     person `json:"user"`
	}
	if err := a.do(ctx, routeAppEmoji, sub{}, &e); err != nil {
		return nil, err
	}
	return mcpcore.Facts{
		{Name: "emoji of the application", Value: e.Name}, {Name: "kind", Value: emojiKind(e.Animated)}, {Name: "uploaded by", Value: e.User.String()},
	}, nil
}
