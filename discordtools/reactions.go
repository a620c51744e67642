package discordtools

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/guildwarden/guildwarden/internal/emoji"
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// reactions adds, lists and removes reactions of messages.
//
// Source: https://docs.discord.com/developers/resources/message#create-reaction.
func reactions() category {
	return category{Name: "reactions", Scope: mcpcore.ChannelScope, Tools: []declaration{
		write[reactionRef, reacted]{
			Name:  "reactions_create",
			Title: "Add a reaction",
			Doc:   `Adds the bot's own reaction to a message. A message holds 20 different emojis.`,
			Route: "PUT /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me",
			Needs: discord.ViewChannel | discord.AddReactions,
		},
		destroy[reactionsClear, reactionsCleared]{
			Name:  "reactions_delete_all",
			Title: "Remove everybody's reactions",
			Doc: `Removes everybody's reactions from a message for good: those with one emoji, or all of
				them when emoji is left out. For one person's use reactions_delete_user.`,
			Route: "DELETE /channels/{channel_id}/messages/{message_id}/reactions",
			Calls: []string{routeClearEmoji, routeMessage},
			Needs: discord.ViewChannel | discord.ManageMessages,
			Facts: reactionFacts,
			Run:   clearReactions,
		},
		write[reactionRef, reactionGone]{
			Name:  "reactions_delete_own",
			Title: "Take back a reaction",
			Doc:   `Removes the bot's own reaction from a message.`,
			Route: "DELETE /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me",
			Needs: discord.ViewChannel,
		},
		write[reactionOfUser, reactionOfUserGone]{
			Name:  "reactions_delete_user",
			Title: "Remove somebody's reaction",
			Doc:   `Removes one person's reaction with one emoji from a message. They can react again.`,
			Route: "DELETE /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/{user_id}",
			Needs: discord.ViewChannel | discord.ManageMessages,
		},
		read[reactionsList, reactionsPage]{
			Name:  "reactions_list",
			Title: "List who reacted",
			Doc: `Lists who reacted to a message with one emoji, by user id. To go on, call again with
				after set to next_after. messages_get shows which emojis there are and how many of each.`,
			Route: "GET /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}",
			Needs: discord.ViewChannel | discord.ReadMessageHistory,
			Set:   []added{limit(25)},
			Fence: fence.Username,
		},
	}}
}

const routeClearEmoji = "DELETE /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}"

// reactionRef is an emoji under a message.
type reactionRef struct {
	messageRef
	Emoji string `json:"emoji" wire:"emoji_name" as:"emoji" jsonschema:"👍, or name:id of a custom emoji" minLength:"1" maxLength:"128"`
}

// reactionEcho is a reactionRef, repeated in a view.
type reactionEcho struct {
	messageEcho
	Emoji string `json:"emoji" from:"@arg"`
}

type reacted struct {
	Reacted bool `json:"reacted" from:"@true"`
	reactionEcho
}

type reactionGone struct {
	Deleted bool `json:"deleted" from:"@true"`
	reactionEcho
}

type reactionOfUser struct {
	reactionRef
	UserID discord.UserID `json:"user_id" jsonschema:"who reacted"`
	auditReason
}

type reactionOfUserGone struct {
	reactionGone
	UserID discord.UserID `json:"user_id" from:"@arg"`
}

type reactionsList struct {
	reactionRef
	Type int `json:"type,omitempty" jsonschema:"0 ordinary, 1 burst" enum:"0,1"`
	userCursor
}

// userCursor is a place in a list of users by id.
type userCursor struct {
	After discord.UserID `json:"after,omitempty" jsonschema:"only users with a greater id"`
	Limit int            `json:"limit,omitempty" jsonschema:"how many" minimum:"1" maximum:"100" default:"25"`
}

type reactionsPage struct {
	Users []reactor `json:"users" from:"@reply"`
	page
	NextAfter discord.UserID `json:"next_after,omitempty" from:"@derived"`
	reactionEcho
}

type reactor struct {
	UserID     discord.UserID `json:"user_id" from:"id"`
	Username   string         `json:"username"`
	GlobalName string         `json:"global_name,omitempty"`
	Bot        bool           `json:"bot"`
}

func (v *reactionsPage) derive(*mcpcore.Call) {
	if v.HasMore && v.Count > 0 {
		v.NextAfter = v.Users[v.Count-1].UserID
	}
}

type reactionsClear struct {
	messageRef
	Emoji string `json:"emoji,omitempty" in:"local" as:"emoji" jsonschema:"only this one: 👍, or name:id of a custom emoji" minLength:"1" maxLength:"128"`
	auditReason
}

type reactionsCleared struct {
	Deleted bool `json:"deleted" from:"@true"`
	messageEcho
	Scope string `json:"scope" from:"@derived" enum:"all,emoji"`
}

func clearReactions(ctx context.Context, a *api, in reactionsClear) (v reactionsCleared, err error) {
	v = reactionsCleared{Deleted: true, messageEcho: messageEcho{in.ChannelID, in.MessageID}, Scope: "all"}
	if in.Emoji == "" {
		_, err = a.send(ctx)
		return v, err
	}
	v.Scope = "emoji"
	name, err := emoji.Read(in.Emoji)
	if err != nil {
		return v, err
	}
	return v, a.do(ctx, routeClearEmoji, sub{Path: map[string]string{"emoji_name": name}}, nil)
}

// reactionFacts are the message and how many reactions of which emoji will go.
func reactionFacts(ctx context.Context, a *api) (mcpcore.Facts, error) {
	m, err := a.readMessage(ctx, routeMessage, nil)
	if err != nil {
		return nil, err
	}
	var only emoji.Emoji
	if s, err := emoji.Read(a.call.Text("emoji")); err == nil {
		only = emoji.Of(s)
	}
	var parts []string
	all := 0
	for _, r := range m.Reactions {
		if only.Name == "" || only.Same(emoji.Emoji{ID: r.EmojiID, Name: r.EmojiName}) {
			parts = append(parts, fmt.Sprintf("%d × %s", r.Count, r.EmojiName))
			all += r.Count
		}
	}
	return mcpcore.Facts{
		{Name: "author", Value: m.author.String()}, {Name: "text", Value: excerpt(m.text())},
		{Name: "reactions that will go", Value: strconv.Itoa(all)}, {Name: "emojis", Value: strings.Join(parts, ", ")},
	}, nil
}
