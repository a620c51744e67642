package discordtools

import (
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type messagesPins struct {
	channelRef
	Before string `json:"before,omitempty" jsonschema:"only pinned before this time" format:"date-time"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many" minimum:"1" maximum:"50" default:"50"`
}

type pinsPage struct {
	ChannelID discord.ChannelID `json:"channel_id" from:"@arg"`
	Pins      []pin             `json:"pins" from:"items"`
	toldPage
	NextBefore string `json:"next_before,omitempty" from:"@derived"`
	remarks
}

type pin struct {
	MessageID     discord.MessageID `json:"message_id" from:"message.id"`
	messageFields `from:"message"`
	PinnedAt      string `json:"pinned_at"`
}

func (v *pinsPage) derive(*mcpcore.Call) {
	v.remarks = finish(v.shown()...)
	if v.HasMore && v.Count > 0 {
		v.NextBefore = v.Pins[v.Count-1].PinnedAt
	}
}

func (v *pinsPage) shown() []shown {
	all := make([]shown, len(v.Pins))
	for i := range v.Pins {
		all[i] = shown{v.Pins[i].MessageID, &v.Pins[i].messageFields}
	}
	return all
}

// Text is the pinned messages in a fence.
func (v *pinsPage) Text() string { return fenced(v.ChannelID, v.shown()...) }
