package workflows

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type dmList struct {
	dmWith
	Before discord.MessageID `json:"before,omitempty" jsonschema:"only messages before this one"`
	Limit  int               `json:"limit,omitempty" jsonschema:"how many, the newest first; 25 when left out" minimum:"1" maximum:"100" default:"25"`
}

type dmGet struct {
	dmWith
	MessageID discord.MessageID `json:"messageId"`
}

// dmMessage is a message of a conversation without what the people in it wrote.
type dmMessage struct {
	ID          discord.MessageID `json:"messageId"`
	Own         bool              `json:"own" jsonschema:"the bot wrote it"`
	Type        int               `json:"type"`
	Edited      bool              `json:"edited"`
	Embeds      int               `json:"embeds"`
	Components  int               `json:"components"`
	Attachments int               `json:"attachments"`
	Poll        bool              `json:"poll"`
}

type dmMessages struct {
	ChannelID     discord.ChannelID `json:"channelId"`
	UserID        discord.UserID    `json:"userId"`
	Messages      []dmMessage       `json:"messages" jsonschema:"the newest first"`
	UntrustedText string            `json:"untrusted_text" jsonschema:"what they say"`
}

// dmCompanions read a conversation with somebody whom the policy names.
func dmCompanions(rest discordtools.REST) []mcpcore.Tool {
	return []mcpcore.Tool{
		companion(rest, mcpcore.Tool{
			Name: "list_direct_messages", Title: "List direct messages", Category: "direct-messages", Scope: mcpcore.UserScope,
			Doc:    "Lists messages of the conversation with one person, the newest first. execute_direct_message_change tells its channelId.",
			Routes: append(slices.Clone(dmReads), routeMessages), Rules: []mcpcore.Rule{dmNeedsChannel},
		}, func(ctx context.Context, r *reads, in dmList) (v dmMessages, err error) {
			if err := r.conversation(ctx, in.ChannelID, in.UserID); err != nil {
				return v, err
			}
			var page []message
			if err := r.query(ctx, routeMessages, inChannel(in.ChannelID), dmQuery(in), &page); err != nil {
				return v, err
			}
			return r.told(ctx, in.dmWith, page)
		}),
		companion(rest, mcpcore.Tool{
			Name: "get_direct_message", Title: "Get a direct message", Category: "direct-messages", Scope: mcpcore.UserScope,
			Doc:    "Reads one message of the conversation with one person.",
			Routes: dmReads, Rules: []mcpcore.Rule{dmNeedsChannel},
		}, func(ctx context.Context, r *reads, in dmGet) (v dmMessages, err error) {
			if err := r.conversation(ctx, in.ChannelID, in.UserID); err != nil {
				return v, err
			}
			m, err := r.message(ctx, in.ChannelID, in.MessageID)
			if err != nil {
				return v, err
			}
			return r.told(ctx, in.dmWith, []message{m})
		}),
	}
}

func dmQuery(in dmList) map[string][]string {
	query := map[string][]string{"limit": {strconv.Itoa(cmp.Or(in.Limit, 25))}}
	if in.Before != "" {
		query["before"] = []string{string(in.Before)}
	}
	return query
}

var dmNeedsChannel = mcpcore.Rule{Check: func(c *mcpcore.Call) *mcpcore.Issue {
	if !c.Has("channelId") {
		return issue("channelId", "is needed")
	}
	return nil
}}

// told are messages with what they say in a fence.
func (r *reads) told(ctx context.Context, of dmWith, page []message) (v dmMessages, err error) {
	var me struct {
		ID discord.UserID `json:"id"`
	}
	if err := r.get(ctx, routeMe, nil, &me); err != nil {
		return v, err
	}
	v = dmMessages{ChannelID: of.ChannelID, UserID: of.UserID}
	var says []fence.Item
	for _, m := range page {
		if m.Channel != of.ChannelID || m.ID == "" {
			return v, incomplete("the conversation")
		}
		v.Messages = append(v.Messages, dmMessage{
			m.ID, m.wroteIt(me.ID), m.Type, m.Edited != nil, len(m.Embeds), len(m.Components), len(m.Attachments), m.Poll != nil,
		})
		says = append(says, fence.Item{ID: string(m.ID), Author: string(m.Author.ID), Content: m.Content})
	}
	v.UntrustedText = fence.Messages(string(of.ChannelID), says)
	return v, nil
}
