package workflows

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/guildwarden/guildwarden/discordtools"
	"github.com/guildwarden/guildwarden/mcpcore"
	"github.com/guildwarden/guildwarden/mcpcore/discord"
)

const (
	routeMessageDelete = "DELETE /channels/{channel_id}/messages/{message_id}"
	routeBulkDelete    = "POST /channels/{channel_id}/messages/bulk-delete"
)

// bulkAge is Discord's limit of two weeks for deleting together, less a minute
// for clocks and for the time that the writes take.
//
// Source: https://docs.discord.com/developers/resources/message#bulk-delete-messages.
const bulkAge = 14*24*time.Hour - time.Minute

// typeAutoMod is the type of what AutoMod says; undeletable are those that
// Discord lets nobody delete.
//
// Source: https://docs.discord.com/developers/resources/message#message-object-message-types.
const typeAutoMod = 24

var undeletable = []int{1, 2, 3, 4, 5, 14, 15, 16, 17, 21}

type messageDelete struct {
	ChannelID    discord.ChannelID   `json:"channelId" jsonschema:"channel or thread of the messages"`
	MessageIDs   []discord.MessageID `json:"messageIds" jsonschema:"messages of that channel" minItems:"1" maxItems:"100" uniqueItems:"true"`
	Irreversible bool                `json:"acknowledgeIrreversible" jsonschema:"true: the messages cannot be brought back"`
	reason
}

type messageDeleteState struct {
	placeSeen
	Together []messageSeen       `json:"together" jsonschema:"deleted in one request"`
	Singly   []messageSeen       `json:"singly" jsonschema:"deleted one by one, after them"`
	Missing  []discord.MessageID `json:"missing" jsonschema:"not there, and passed over"`
}

type messageSeen struct {
	ID      discord.MessageID `json:"id"`
	Author  discord.UserID    `json:"authorId"`
	Type    int               `json:"type"`
	Pinned  bool              `json:"pinned"`
	Content string            `json:"content" jsonschema:"digest of the whole message"`
}

func (s *messageDeleteState) all() []messageSeen { return slices.Concat(s.Together, s.Singly) }

// messageDeletion deletes messages of one channel.
func messageDeletion(rest discordtools.REST) mcpcore.Workflow {
	return change[messageDelete, messageDeleteState]{
		Name: "message-deletion", Category: "deletion", Title: "Delete messages", Executes: "delete_messages",
		Doc: `Deletes up to 100 exact messages of one channel or thread: those younger than two weeks in one request, older ones
			one by one. Messages that are not there are passed over. What others, AutoMod or webhooks wrote takes
			MANAGE_MESSAGES. A request that is refused ends it, and what was deleted before stays deleted.`,
		Effect: mcpcore.Destroy, Scope: mcpcore.ChannelScope, Needs: discord.ViewChannel | discord.ReadMessageHistory,
		Scopes:      []mcpcore.PolicyScope{{Name: "channels", Arg: "channelId", Doc: "channels and threads in which messages may be deleted"}},
		Acknowledge: []string{"acknowledgeIrreversible"},
		Reads:       append(slices.Clone(placeRoutes), routeMessages),
		Write:       []string{routeBulkDelete, routeMessageDelete},
		Writes:      func(_ messageDelete, s messageDeleteState) int { return min(len(s.Together), 1) + len(s.Singly) },
		Takes:       5 * time.Minute, // Discord lets few old messages go per second
		Plan:        planMessageDeletion,
		Targets: func(in messageDelete, s messageDeleteState) (all []mcpcore.Target) {
			for _, m := range s.all() {
				all = append(all, theMessage(in.ChannelID, m.ID))
			}
			return all
		},
		Apply: applyMessageDeletion,
		ReadBack: func(ctx context.Context, r *reads, in messageDelete, s messageDeleteState, _ mcpcore.Written) (found mcpcore.Reading, err error) {
			at, err := r.place(ctx, in.ChannelID)
			if err != nil {
				return found, err
			}
			if err := at.needs(discord.ViewChannel | discord.ReadMessageHistory); err != nil {
				return found, err // what cannot be read would look deleted
			}
			var ids []discord.MessageID
			for _, m := range s.all() {
				ids = append(ids, m.ID)
			}
			left, _, err := r.messages(ctx, in.ChannelID, ids)
			for _, id := range ids {
				if _, there := left[id]; there {
					found.Failed = append(found.Failed, string(id))
				}
			}
			return found, err
		},
	}.on(rest)
}

// applyMessageDeletion deletes the young messages together and then the old ones, and
// stops at the first request that is not done.
func applyMessageDeletion(ctx context.Context, w *write, in messageDelete, s messageDeleteState) (mcpcore.Written, error) {
	if len(s.Together) > 0 {
		var body struct {
			Messages []discord.MessageID `json:"messages"`
		}
		for _, m := range s.Together {
			body.Messages = append(body.Messages, m.ID)
		}
		if err := w.send(ctx, routeBulkDelete, inChannel(in.ChannelID), body, nil); err != nil {
			return mcpcore.Written{}, err
		}
	}
	for i, m := range s.Singly {
		done := len(s.Together) + i
		err := w.send(ctx, routeMessageDelete, onMessage(in.ChannelID, m.ID), nil, nil)
		if gone(err) && done > 0 {
			continue // somebody was faster, which is as good
		}
		if refusedLater(err, done) {
			break
		}
		if err != nil {
			return mcpcore.Written{}, err
		}
	}
	return mcpcore.Written{ID: string(in.ChannelID)}, nil
}

func planMessageDeletion(ctx context.Context, r *reads, in messageDelete) (plan mcpcore.Change[messageDeleteState], err error) {
	at, err := r.place(ctx, in.ChannelID)
	if err != nil {
		return plan, err
	}
	if err := at.needs(discord.ViewChannel | discord.ReadMessageHistory); err != nil {
		return plan, err
	}
	found, missing, err := r.messages(ctx, in.ChannelID, in.MessageIDs)
	if err != nil {
		return plan, err
	}
	s, names := messageDeleteState{placeSeen: at.placeSeen, Missing: missing}, map[discord.MessageID]string{}
	var foreign, pinned int
	for _, id := range slices.SortedFunc(slices.Values(in.MessageIDs), discord.CompareIDs) {
		m, there := found[id]
		if !there {
			continue
		}
		if slices.Contains(undeletable, m.Type) {
			return plan, refused("system-message", "%s is a message of Discord's own that nobody can delete", id)
		}
		if !m.wroteIt(at.bot.Bot) || m.Type == typeAutoMod {
			foreign++
		}
		if m.Pinned {
			pinned++
		}
		names[id] = excerpt(m.Content)
		seen := messageSeen{m.ID, m.Author.ID, m.Type, m.Pinned, snapshot(m)}
		if r.Call.Now().Sub(discord.IDTime(string(id))) < bulkAge {
			s.Together = append(s.Together, seen)
		} else {
			s.Singly = append(s.Singly, seen)
		}
	}
	if len(s.Together) == 1 { // Discord's bulk route takes at least two
		s.Together, s.Singly = nil, append(s.Together, s.Singly...)
	}
	if foreign > 0 || len(s.Together) > 0 {
		if err := at.needs(discord.ManageMessages); err != nil {
			return plan, err
		}
	}
	plan = mcpcore.Change[messageDeleteState]{
		Action: "delete", State: s, Risks: []string{"irreversible"}, Current: len(s.all()) == 0,
		Facts: mcpcore.Facts{{Name: "guild", Value: s.Guild.Name}, {Name: "channel", Value: s.Channel.Name}, {Name: "by others", Value: fmt.Sprint(foreign)}},
	}
	if plan.Current {
		plan.Action = "none"
	}
	if pinned > 0 {
		plan.Warnings = append(plan.Warnings, fmt.Sprintf("%d of the messages are pinned.", pinned))
	}
	for _, m := range s.all() {
		plan.Affected = append(plan.Affected, mcpcore.Affected{ID: string(m.ID), Name: names[m.ID]})
	}
	return plan, nil
}

// excerpt is the beginning of a message, for people.
func excerpt(text string) string {
	const runes = 80
	short := []rune(strings.Join(strings.Fields(text), " "))
	if len(short) > runes {
		return string(short[:runes]) + "…"
	}
	return string(short)
}
