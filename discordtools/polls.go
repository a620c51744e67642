package discordtools

import (
	"github.com/guildwarden/guildwarden/internal/fence"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

// polls reads who voted and ends polls. A poll is sent with messages_send.
//
// Source: https://docs.discord.com/developers/resources/poll.
func polls() category {
	return category{Name: "polls", Scope: mcpcore.ChannelScope, Tools: []declaration{
		write[messageTarget, pollEnded]{
			Name:  "polls_end",
			Title: "End a poll",
			Doc: `Ends a poll at once; it cannot be opened again. Only polls that the bot itself sent can
				be ended.`,
			Route:      "POST /channels/{channel_id}/polls/{message_id}/expire",
			Repeatable: true,
			Needs:      discord.ViewChannel | discord.ManageMessages,
		},
		read[pollVoters, votersPage]{
			Name:  "polls_get_voters",
			Title: "List a poll's voters",
			Doc: `Lists who chose one answer of a poll, by user id. To go on, call again with after set to
				next_after. The answers and their ids are in the message: messages_get.`,
			Route: "GET /channels/{channel_id}/polls/{message_id}/answers/{answer_id}",
			Needs: discord.ViewChannel | discord.ReadMessageHistory,
			Set:   []added{limit(25)},
			Fence: fence.Username,
		},
	}}
}

type pollEnded struct {
	Ended bool `json:"ended" from:"@true"`
	messageEcho
}

type pollVoters struct {
	messageRef
	AnswerID int `json:"answer_id" jsonschema:"answer, counted from 1" minimum:"1"`
	userCursor
}

type votersPage struct {
	Voters []voter `json:"voters" from:"users"`
	page
	NextAfter     discord.UserID `json:"next_after,omitempty" from:"@derived"`
	UntrustedText string         `json:"untrusted_text" from:"@derived"`
}

type voter struct {
	ID         discord.UserID `json:"id"`
	Username   string         `json:"username"`
	GlobalName string         `json:"global_name,omitempty"`
}

func (v *votersPage) derive(*mcpcore.Call) {
	if v.HasMore && v.Count > 0 {
		v.NextAfter = v.Voters[v.Count-1].ID
	}
	v.UntrustedText = fencedJSON(fence.Username, v.Voters)
}
