package discordtools

import (
	"context"
	"fmt"
	"strings"

	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

type messagesSearch struct {
	channelRef
	Query  string `json:"query" in:"local" jsonschema:"text to look for; it is not sent to Discord" minLength:"1" maxLength:"200"`
	Before string `json:"before,omitempty" as:"moment" jsonschema:"only older than this id or ISO time" minLength:"1" maxLength:"40"`
	After  string `json:"after,omitempty" as:"moment" jsonschema:"only newer than this id or ISO time" minLength:"1" maxLength:"40"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many messages to look through" minimum:"1" maximum:"100" default:"100"`
}

type messagesFound struct {
	ChannelID       discord.ChannelID `json:"channel_id" from:"@arg"`
	Query           string            `json:"query" from:"@arg"`
	Matches         []messageMatch    `json:"matches" from:"@list"`
	ScannedCount    int               `json:"scanned_count" from:"@derived"`
	OldestScannedID discord.MessageID `json:"oldest_scanned_id,omitempty" from:"@derived"`
	NewestScannedID discord.MessageID `json:"newest_scanned_id,omitempty" from:"@derived"`
	HasMore         bool              `json:"has_more,omitempty" from:"@derived" jsonschema:"more to look through follow"`
	Truncated       bool              `json:"truncated,omitempty" from:"@derived" jsonschema:"cut because of its size"`
	remarks
}

type messageMatch struct {
	MessageID discord.MessageID `json:"message_id" from:"id"`
	messageFields
}

// derive moves the ends of what was searched to what is shown, so that a next
// call finds the matches that were cut.
func (v *messagesFound) derive(call *mcpcore.Call) {
	switch n := len(v.Matches); {
	case !v.Truncated || n == 0:
	case call.Has("after"):
		v.NewestScannedID = v.Matches[0].MessageID
	default:
		v.OldestScannedID = v.Matches[n-1].MessageID
	}
}

// of counts what was looked through: matches are as many as there are.
func (v *messagesFound) of(_, limit int) {
	v.HasMore = v.Truncated || limit > 0 && v.ScannedCount >= limit
}

func (v *messagesFound) cursors(call *mcpcore.Call) []cursor {
	return ends(call, v.OldestScannedID, v.NewestScannedID)
}

func (v *messagesFound) anchor(call *mcpcore.Call) int {
	if call.Has("after") {
		return len(v.Matches) - 1
	}
	return 0
}

// Text is the matches in a fence.
func (v *messagesFound) Text() string {
	all := make([]shown, len(v.Matches))
	for i := range v.Matches {
		all[i] = shown{v.Matches[i].MessageID, &v.Matches[i].messageFields}
	}
	return fmt.Sprintf("%d of %d messages match.\n%s", len(all), v.ScannedCount, fenced(v.ChannelID, all...))
}

func searchMessages(ctx context.Context, a *api, in messagesSearch) (v messagesFound, err error) {
	reply, err := a.send(ctx)
	if err != nil {
		return v, err
	}
	var scanned messagesPage
	if err := a.project(reply, &scanned); err != nil {
		return v, err
	}
	scanned.derive(a.call)
	v = messagesFound{
		ChannelID: in.ChannelID, Query: in.Query, ScannedCount: len(scanned.Messages), remarks: scanned.remarks,
		OldestScannedID: scanned.OldestID, NewestScannedID: scanned.NewestID,
	}
	query := strings.ToLower(in.Query)
	for _, m := range scanned.Messages {
		if strings.Contains(strings.ToLower(m.text()), query) {
			v.Matches = append(v.Matches, messageMatch{m.ID, m.messageFields})
		}
	}
	return v, nil
}
